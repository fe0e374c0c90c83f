//! Random sequences of edits: after each the state must be that of a program that was never another.

use crate::compare::Counts;
use crate::random::{self, Dice, RandomProgram};
use crate::{MOST_FACTS, case, case_of, fixtures, pool, random_programs, seeds};
use classfile::{ClassBytes, ClassSource, Layer};
use ir::{Body, MethodId, Program, ProgramDelta};
use pointsto::PointsTo;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// Deletes statements of methods that run, and puts some of them back.
struct Statements {
    dice: Dice,
    left: usize,
    /// The bodies before, to be put back.
    before: Vec<(MethodId, Arc<Body>)>,
}

impl Statements {
    fn next(&mut self, program: &mut Program, solver: &PointsTo) -> Option<(String, ProgramDelta)> {
        self.left = self.left.checked_sub(1)?;
        if !self.before.is_empty() && self.dice.chance(40) {
            let at = self.dice.below(self.before.len());
            let (method, body) = self.before.remove(at);
            let delta = program.diff_body(method, Body::clone(&body));
            return Some((format!("{} as it was", program.method_display(method)), delta));
        }
        let mut methods: Vec<MethodId> = solver.acts().map(|act| solver.method(act)).collect();
        methods.sort_unstable();
        methods.dedup();
        let only_app = self.dice.chance(85);
        methods.retain(|&method| {
            let layer = program.class(program.method(method).class).layer;
            (layer == Layer::App || !only_app) && program.lowered(method).is_some()
        });
        for _ in 0..30 {
            let method = self.dice.pick(&methods);
            let body = program.body(method)?;
            let stmt = ir::StmtId(self.dice.below(body.stmts.bound()) as u32);
            let Some(without) = body.without(stmt) else { continue };
            self.before.push((method, body));
            let what = format!("{} without {stmt:?}", program.method_display(method));
            return Some((what, program.diff_body(method, without)));
        }
        None
    }
}

fn edited(cases: &mut dyn Iterator<Item = &crate::Case>, edits: usize) -> Counts {
    let mut counts = Counts::default();
    for (at, case) in cases.enumerate() {
        let mut edits = Statements { dice: Dice::new(at as u64), left: edits, before: Vec::new() };
        let mut next = |program: &mut Program, solver: &PointsTo| edits.next(program, solver);
        // At one thread and at several by turns.
        let pool = pool([1, 4][at % 2]);
        counts.add(pool.install(|| case.agree_under_edits(MOST_FACTS, &mut next)));
    }
    counts
}

#[test]
fn statements_of_random_programs_come_and_go() {
    let counts = edited(&mut random_programs().iter().step_by(4), 12);
    println!("states after edits of random programs: {counts:?}");
}

#[test]
fn statements_of_fixtures_come_and_go() {
    let counts = edited(&mut fixtures("").iter().step_by(15), 12);
    println!("states after edits of fixtures: {counts:?}");
}

/// How many versions of each random program there are.
const VERSIONS: u64 = 3;

/// A program put together from several versions of its classes, some of which may be missing. They need not fit.
#[derive(Clone)]
struct Mixed {
    versions: Vec<Arc<dyn ClassSource>>,
    chosen: BTreeMap<String, Option<usize>>,
}

impl ClassSource for Mixed {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        let version = self.chosen.get(name).copied().unwrap_or(Some(0))?;
        self.versions[version].find(name)
    }

    fn app_classes(&self) -> Vec<String> {
        self.chosen.keys().cloned().collect()
    }

    fn resources(&self, path: &str) -> Vec<Vec<u8>> {
        self.versions[0].resources(path)
    }
}

/// Classes become those of other versions, go missing and come back, one at a time or all at once.
fn class_edits(mut program: Mixed, seed: u64, case: &crate::Case, edits: usize) -> Counts {
    let names: Vec<String> = program.chosen.keys().cloned().collect();
    let mut dice = Dice::new(seed);
    let mut left = edits;
    case.agree_under_edits(MOST_FACTS, &mut |old, _| {
        left = left.checked_sub(1)?;
        let changed =
            if dice.chance(10) { names.clone() } else { vec![names[dice.below(names.len())].clone()] };
        let version = if dice.chance(15) { None } else { Some(dice.below(program.versions.len())) };
        for name in &changed {
            program.chosen.insert(name.clone(), version.or((changed.len() > 1).then_some(0)));
        }
        let what = if changed.len() > 1 { "everything" } else { changed[0].as_str() };
        let delta = old.diff(Arc::new(program.clone()), &changed);
        Some((format!("{what} {version:?}"), delta))
    })
}

#[test]
fn classes_of_random_programs_change() {
    let seeds: Vec<u64> = seeds().step_by(4).collect();
    let versions: Vec<Vec<RandomProgram>> = (0..VERSIONS)
        .map(|version| {
            let named = |&seed: &u64| random::program_named(format!("R{seed}"), seed + 100_000 * version);
            seeds.iter().map(named).collect()
        })
        .collect();
    let mut sources: Vec<Arc<dyn ClassSource>> = Vec::new();
    for (version, programs) in versions.iter().enumerate() {
        let mut source = String::from(random::IMPORTS);
        for program in programs {
            let _ = writeln!(source, "{}", program.source);
        }
        sources.push(case::open(&case::compile_source(&format!("Version{version}"), source)));
    }
    let mut all: Vec<String> = sources.iter().flat_map(|source| source.app_classes()).collect();
    all.sort();
    all.dedup();
    let mut counts = Counts::default();
    for program in versions.into_iter().next().into_iter().flatten() {
        let prefix = format!("{}$", program.name);
        let own = all.iter().filter(|name| name.starts_with(&prefix));
        let mixed =
            Mixed { versions: sources.clone(), chosen: own.map(|name| (name.clone(), Some(0))).collect() };
        let seed = program.origin_budget + program.source.len() as u64;
        let case = case_of(program, Arc::new(mixed.clone()));
        counts.add(class_edits(mixed, seed, &case, 12));
    }
    println!("states after edits of classes: {counts:?}");
}
