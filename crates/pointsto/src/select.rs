//! Which origins and entry points get a context of their own: as many as can be afforded.
//!
//! First everything is surveyed in one context for all application code; this tells how much code each origin and
//! entry point runs. Then it is solved with contexts for the small ones. Where contexts multiply beyond measure,
//! only the smallest keep theirs, then none; in the end there are only those of the survey. The choice depends on the
//! program alone.

use crate::dependencies::{Dependencies, Surveyed};
use crate::graph::Shuffle;
use crate::sizes::Sizes;
use crate::solver::{Options, Roots, Solver};
use crate::state::PointsTo;
use crate::told::PointsToDelta;
use crate::traits::TraitTable;
use crate::types::*;
use classfile::Layer;
use ir::{MethodId, Program};
use models::Models;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// With contexts there may be this many facts, or so many times those without.
const MOST_FACTS: u64 = 3_000_000;
const MOST_GROWTH: u64 = 10;
/// There are hardly ever fewer than so many times those without.
const LEAST_GROWTH: u64 = 2;
/// The same with the JDK's inner workings.
const MOST_FULL_FACTS: u64 = 25_000_000;
/// And so many activations: order and locks are worked out for each, and each origin that runs it.
const MOST_ACTS: usize = 80_000;
/// Activations, counted for each origin that runs them, may be one for so many facts of the budget: what order and locks
/// take follows from that.
const FACTS_PER_RUN: u64 = 2;
/// Where an origin may be alive is asked of what each origin runs that leads to it: so many activations for each fact of
/// the budget.
const QUESTIONS_PER_FACT: u64 = 5;
/// What is the smallest: this part of the budget.
const SMALLEST: u64 = 20;

/// How large the solution may get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) facts: u64,
    pub(crate) acts: usize,
    /// Activations of code of dependencies.
    pub(crate) in_dependencies: usize,
}

impl Limit {
    pub(crate) const NONE: Limit = Limit { facts: u64::MAX, acts: usize::MAX, in_dependencies: usize::MAX };

    /// All of these only grow while a program is solved, so that it does not matter when they are looked at.
    pub(crate) fn admits(&self, state: &PointsTo) -> bool {
        state.facts() <= self.facts
            && state.running <= self.acts
            && state.running_in_dependencies <= self.in_dependencies
    }
}

/// Code that may get a context of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Own {
    /// Origins of the tasks made here.
    Task(Site),
    Main(MethodId),
}

/// Which code is told apart.
#[derive(Default, Clone, Serialize, Deserialize)]
pub(crate) enum Contexts {
    /// Only containers: enough to see who runs how much code.
    #[default]
    Survey,
    /// What has been chosen, besides constructors, inherited code and helpers.
    Own(FxHashSet<Own>),
}

impl Choice {
    pub(crate) fn contexts(&self) -> Contexts {
        Contexts::Own(self.own.iter().map(|&(_, own)| own).collect())
    }

    /// Can the stages after this one afford it?
    pub(crate) fn is_affordable(&self, options: &Options) -> bool {
        self.runs <= options.budget / FACTS_PER_RUN && self.questions <= most_questions(options)
    }

    pub(crate) fn questions(&self) -> u64 {
        self.questions
    }

    pub(crate) fn gave_up(&self) -> bool {
        self.gave_up
    }

    pub(crate) fn merged_origins(&self) -> u64 {
        let kept = self.own.iter().filter(|(_, own)| matches!(own, Own::Task(_))).count();
        (self.origins - kept) as u64
    }
}

impl Contexts {
    /// Code that only one of the two tells apart.
    pub(crate) fn difference(&self, other: &Contexts) -> FxHashSet<Own> {
        match (self, other) {
            (Contexts::Own(left), Contexts::Own(right)) => {
                left.symmetric_difference(right).copied().collect()
            }
            (Contexts::Own(all), Contexts::Survey) | (Contexts::Survey, Contexts::Own(all)) => all.clone(),
            (Contexts::Survey, Contexts::Survey) => FxHashSet::default(),
        }
    }

    /// Statements of a method have other numbers now.
    pub(crate) fn rename(&mut self, renamed: &dyn Fn(Site) -> Site) {
        if let Contexts::Own(chosen) = self {
            let rename = |own| match own {
                Own::Task(site) => Own::Task(renamed(site)),
                main @ Own::Main(_) => main,
            };
            *chosen = chosen.drain().map(rename).collect();
        }
    }

    pub(crate) fn has(&self, own: Own) -> bool {
        matches!(self, Contexts::Own(chosen) if chosen.contains(&own))
    }
}

/// What was chosen, and what for.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Choice {
    /// Everything with contexts of their own, smallest first, before any was given up.
    own: Vec<(u64, Own)>,
    origins: usize,
    /// How far it went: whether the solution with all of them was too large.
    gave_up: bool,
    /// Activations of the survey, counted for each origin that runs them.
    runs: u64,
    /// The same, each counted for every origin that the one that runs it leads to.
    questions: u64,
}

/// Less code with contexts of its own: the smallest, and if all are, none.
fn only_smallest(own: &mut Vec<(u64, Own)>, options: &Options) {
    let smallest = own.iter().filter(|&&(facts, _)| facts <= options.origin_budget / SMALLEST).count();
    own.truncate(if smallest < own.len() { smallest } else { 0 });
}

pub(crate) fn most_questions(options: &Options) -> u64 {
    options.budget.saturating_mul(QUESTIONS_PER_FACT)
}

impl PointsTo {
    /// Solves for the given roots, from nothing.
    pub fn apply(
        &mut self,
        program: &mut Program,
        models: &mut Models,
        roots: &Roots,
        options: &Options,
        progress: &dyn Fn(u64),
    ) -> PointsToDelta {
        let surveyed = Surveyed::new(program, models, roots, options, progress);
        self.apply_surveyed(surveyed, program, models, roots, options, progress)
    }

    /// The same after the survey.
    pub(crate) fn apply_surveyed(
        &mut self,
        surveyed: Surveyed,
        program: &mut Program,
        models: &mut Models,
        roots: &Roots,
        options: &Options,
        progress: &dyn Fn(u64),
    ) -> PointsToDelta {
        let Surveyed { mut survey, refused, left_out } = surveyed;
        // The choice of entry points is not followed.
        let options = &Options { follow: options.follow && left_out.is_empty(), ..options.clone() };
        let entries = roots.entries.iter().copied().filter(|entry| !left_out.contains(entry));
        let roots = &Roots { entries: entries.collect(), ..roots.clone() };
        let choice = survey.choose(program, roots, options);
        let told = self.apply_after(survey, choice, program, models, roots, options, progress);
        self.refused = refused;
        self.left_out = left_out;
        told
    }

    /// Solves with as many contexts as can be afforded, given the survey and what was chosen by it.
    #[expect(clippy::too_many_arguments, reason = "everything a solution depends on")]
    pub(crate) fn apply_after(
        &mut self,
        survey: Box<PointsTo>,
        mut choice: Choice,
        program: &mut Program,
        models: &mut Models,
        roots: &Roots,
        options: &Options,
        progress: &dyn Fn(u64),
    ) -> PointsToDelta {
        let limit = survey.limit(options, &choice);
        let dependencies = survey.traits.dependencies();
        let refused = self.refused.take();
        let survey_facts = survey.facts();
        let survey = options.follow.then_some(survey);
        let mut own = choice.own.clone();
        // With contexts there are several times as many facts: it need not be tried where that is too much.
        if survey_facts.saturating_mul(LEAST_GROWTH) > limit.facts && !own.is_empty() {
            choice.gave_up = true;
            only_smallest(&mut own, options);
        }
        let mut solve = |state: &mut PointsTo, contexts: Contexts, limit: Limit| {
            state.solve(program, models, roots, options, (dependencies, contexts), limit, progress)
        };
        while !solve(self, Contexts::Own(own.iter().map(|&(_, own)| own).collect()), limit) {
            choice.gave_up = true;
            if own.is_empty() {
                solve(self, Contexts::Survey, Limit::NONE);
                break;
            }
            only_smallest(&mut own, options);
        }
        let kept = own.iter().filter(|(_, own)| matches!(own, Own::Task(_))).count();
        self.merged_origins = (choice.origins - kept) as u64;
        self.survey = survey;
        self.refused = refused;
        self.choice = choice;
        self.roots = roots.clone();
        PointsToDelta::from_nothing()
    }

    pub(crate) fn limit(&self, options: &Options, choice: &Choice) -> Limit {
        // As many origins run each of them as in the survey, about.
        let acts = options.budget / FACTS_PER_RUN * self.running as u64 / choice.runs.max(1);
        let acts = (acts as usize).clamp(self.running, MOST_ACTS.max(self.running));
        let facts = MOST_FACTS.max(self.facts() * MOST_GROWTH).min(options.budget.max(self.facts()));
        let (facts, acts) = match options.full_jdk {
            true => (MOST_FULL_FACTS.max(options.budget), MOST_ACTS),
            false => (facts, acts),
        };
        Limit { facts, acts, in_dependencies: usize::MAX }
    }

    pub(crate) fn choose(&mut self, program: &Program, roots: &Roots, options: &Options) -> Choice {
        let mut sizes = std::mem::take(&mut self.sizes);
        let spawned = self.spawns.iter().map(|spawn| spawn.entry);
        sizes.keep(&spawned.chain(self.entries.iter().copied()).collect());
        let origins = self.origin_sizes(program, &mut sizes);
        let own = self.small(&origins, roots, options, &mut sizes);
        let tasks: FxHashSet<(Obj, Act)> =
            self.spawns.iter().map(|spawn| (spawn.task, spawn.entry)).collect();
        let mut begun: BTreeMap<Act, u64> = BTreeMap::new();
        let entries = tasks.iter().map(|&(_, entry)| entry).chain(self.entries.iter().copied());
        entries.for_each(|entry| *begun.entry(entry).or_default() += 1);
        let runs = begun.iter().map(|(&entry, count)| count * sizes.acts(self, entry)).sum::<u64>();
        // As many as there can be; only if that is too much it is worth to count them.
        let most = runs.saturating_mul(begun.values().sum());
        let questions = match most <= most_questions(options) {
            true => most,
            false => self.questions(&begun, &mut sizes),
        };
        self.sizes = sizes;
        Choice { own, origins: origins.len(), gave_up: false, runs, questions }
    }

    /// For each origin what it runs, once for every origin that it leads to. Origins that begin alike are alike.
    fn questions(&self, begun: &BTreeMap<Act, u64>, sizes: &mut Sizes) -> u64 {
        let mut spawns: Vec<(Act, Act)> = self.spawns.iter().map(|spawn| (spawn.from, spawn.entry)).collect();
        spawns.sort_unstable();
        spawns.dedup();
        let mut starts: BTreeMap<Act, FxHashSet<Act>> = BTreeMap::new();
        for &entry in begun.keys() {
            let started = spawns.iter().filter(|&&(from, _)| sizes.runs(self, entry, from));
            starts.insert(entry, started.map(|&(_, started)| started).collect());
        }
        let led_to = |entry: Act| -> u64 {
            let mut seen: FxHashSet<Act> = FxHashSet::default();
            let mut left = vec![entry];
            while let Some(next) = left.pop() {
                left.extend(starts.get(&next).into_iter().flatten().filter(|&&started| seen.insert(started)));
            }
            seen.iter().filter_map(|started| begun.get(started)).sum()
        };
        begun.iter().map(|(&entry, count)| count * sizes.acts(self, entry) * led_to(entry)).sum()
    }

    /// From nothing, with given contexts; false if it gets too large.
    #[expect(clippy::too_many_arguments, reason = "everything a solution depends on")]
    pub(crate) fn solve(
        &mut self,
        program: &mut Program,
        models: &mut Models,
        roots: &Roots,
        options: &Options,
        (dependencies, told_apart): (Dependencies, Contexts),
        limit: Limit,
        progress: &dyn Fn(u64),
    ) -> bool {
        let traits = TraitTable::new(options, dependencies);
        *self = PointsTo { traits, told_apart, ..PointsTo::default() };
        self.roots = roots.clone();
        self.graph.shuffle = options.shuffle.map(Shuffle::new);
        self.graph.flow.shuffle = self.graph.shuffle.clone();
        let mut solver = Solver::new(self, program, models);
        solver.roots(roots, true);
        let fits = solver.run(limit, progress);
        self.rest();
        self.touched = Default::default();
        fits
    }

    /// What is small enough, smallest first: origins each by itself, entry points all but the largest together:
    /// they share static fields, so that the objects of large ones meet everywhere.
    fn small(
        &self,
        origins: &BTreeMap<Site, u64>,
        roots: &Roots,
        options: &Options,
        sizes: &mut Sizes,
    ) -> Vec<(u64, Own)> {
        let tasks = origins.iter().map(|(&site, &facts)| (facts, Own::Task(site)));
        let mut small: Vec<(u64, Own)> = tasks.filter(|&(facts, _)| facts <= options.origin_budget).collect();
        let is_root = |act: &Act| roots.entries.contains(&self.acts[*act].method);
        let mains = self.entries.iter().copied().filter(is_root);
        let mut mains: Vec<(u64, Own)> =
            mains.map(|act| (sizes.of(self, act), Own::Main(self.acts[act].method))).collect();
        mains.sort_unstable();
        mains.pop();
        let mut sum = 0;
        small.extend(mains.into_iter().take_while(|(facts, _)| {
            sum += facts;
            sum <= options.origin_budget
        }));
        small.sort_unstable();
        small
    }

    /// For each site of application code that makes spawned tasks, the facts of the application code they run.
    fn origin_sizes(&self, program: &Program, sizes: &mut Sizes) -> BTreeMap<Site, u64> {
        let mut by_site: BTreeMap<Site, u64> = BTreeMap::new();
        for spawn in &self.spawns {
            let site = self.objects[spawn.task].site;
            let (Site::Alloc(maker, _) | Site::Model(maker, ..)) = site else { continue };
            if program.class(program.method(maker).class).layer == Layer::Jdk {
                continue;
            }
            let entry = by_site.entry(site).or_default();
            *entry = sizes.of(self, spawn.entry).max(*entry);
        }
        by_site
    }
}
