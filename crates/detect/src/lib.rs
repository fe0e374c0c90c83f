//! Races and deadlocks from points-to, order and locks: each check a small predicate with its reason.
//! Knows nothing of how the stages before it work, nor of how findings are shown.

mod about;
mod access;
mod anchor;
mod answer;
mod apart;
mod asked;
mod cache;
mod confidence;
mod crowd;
mod deadlock;
mod dealt;
mod declared;
mod describe;
mod finding;
mod frames;
mod group;
mod memory;
mod names;
mod own;
mod pair;
mod race;
mod steps;
mod told;
mod users;
mod verdict;
mod view;
mod ways;
mod words;

pub use about::{Covers, Uses, head_after, is_reached};
pub use answer::{Answer, Answers, Claims, Memory, Sureness};
pub use deadlock::Cycle;

use access::Accesses;
use asked::Questions;
use cache::Caches;
use crowd::Crowds;
use deadlock::Deadlocks;
use describe::Describe;
use finding::{Findings, Teller};
use findings::{Confidence, Finding};
use group::Groups;
use happens_before::HappensBefore;
use ir::Program;
use memory::Memory as Touches;
use models::{Knowledge, Models};
use pair::Judge;
use pointsto::{Act, PointsTo};
use race::Races;
use std::sync::Arc;
use track::{Changes, Kind, Sizes};
use ways::Ways;
use words::Words;

/// The solved stages detection reads.
#[derive(Clone, Copy)]
pub struct Stages<'a> {
    pub program: &'a Program,
    pub models: &'a Models,
    /// What annotations and settings mean.
    pub knowledge: &'a Knowledge,
    pub pointsto: &'a PointsTo,
    pub happens_before: &'a HappensBefore,
}

/// What was found so far, and everything that it follows from, each part with what it was worked out from.
pub struct Detect {
    follows: bool,
    least: Confidence,
    ways: Ways,
    words: Words,
    accesses: Accesses,
    caches: Caches,
    memory: Touches,
    questions: Questions,
    races: Races,
    crowds: Crowds,
    groups: Groups,
    findings: Findings,
    deadlocks: Deadlocks,
}

impl Detect {
    /// `follows`: changes will come, so that what was read is remembered. Races that are less sure than `least` are told
    /// in brief: what and where, not how it comes to that.
    pub fn new(follows: bool, least: Confidence) -> Detect {
        Detect {
            follows,
            least,
            ways: Ways::new(),
            words: Words::new(follows),
            accesses: Accesses::new(follows),
            caches: Caches::new(follows),
            memory: Touches::new(follows),
            questions: Questions::new(follows),
            races: Races::new(follows),
            crowds: Crowds::new(follows),
            groups: Groups::new(follows),
            findings: Findings::new(follows, least),
            deadlocks: Deadlocks::new(follows),
        }
    }

    /// Follows a change of order and locks; a cold run is one large change. All findings, in no particular order; what is
    /// told as before is the same one.
    pub fn apply(&mut self, stages: &Stages<'_>, changes: &mut Changes) -> Vec<Arc<Finding>> {
        let mut findings = self.races(stages, changes);
        findings.extend(self.deadlocks(stages, changes));
        findings
    }

    /// The first half of it.
    pub fn races(&mut self, stages: &Stages<'_>, changes: &mut Changes) -> Vec<Arc<Finding>> {
        if changes.everything {
            *self = Detect::new(self.follows, self.least);
        }
        if changes.of::<Act>(Kind::Runs).next().is_some() {
            changes.add(dealt::ANY_ACT);
        }
        self.ways.update(stages, changes);
        self.words.update(stages, changes);
        let describe = Describe::new(stages, &self.ways, &self.words);
        let differing = self.accesses.update(stages, changes);
        self.caches.update(stages, &self.accesses, &differing, changes);
        let dirty = self.memory.update(stages, &describe.content, &self.accesses, &differing, changes);
        let is_read = |read| {
            self.races.reads(read)
                || self.crowds.reads(read)
                || self.groups.reads(read)
                || self.findings.reads(read)
        };
        self.questions.update(stages, &describe, is_read, changes);
        let judge = Judge {
            stages,
            describe: &describe,
            accesses: &self.accesses,
            memory: &self.memory,
            questions: &self.questions,
            caches: &self.caches,
        };
        let mut differing = self.races.update(&judge, dirty, changes);
        differing.extend(self.crowds.update(&judge, &self.races, &differing, changes));
        let regrouped = self.groups.update(&judge, (&self.races, &self.crowds), &differing, changes);
        let teller = Teller { judge: &judge, races: &self.races, groups: &self.groups };
        self.findings.update(&teller, regrouped, changes);
        self.findings.all(&teller)
    }

    /// The second half, after the first.
    pub fn deadlocks(&mut self, stages: &Stages<'_>, changes: &mut Changes) -> Vec<Arc<Finding>> {
        self.deadlocks.update(stages, &Describe::new(stages, &self.ways, &self.words), changes);
        self.deadlocks.all()
    }

    /// How many pairs of statements there are by name alone, and how many survive each stage.
    pub fn pairs(&self) -> Vec<(String, u64)> {
        self.races.counts(&self.accesses)
    }

    /// How many pairs of statements the last update judged.
    pub fn judged_last(&self) -> usize {
        self.races.judged_last()
    }

    /// How many entries each table has.
    pub fn sizes(&self, sizes: &mut Sizes) {
        self.accesses.sizes(sizes);
        self.caches.sizes(sizes);
        self.memory.sizes(sizes);
        self.questions.sizes(sizes);
        self.races.sizes(sizes);
        self.crowds.sizes(sizes);
        self.groups.sizes(sizes);
        self.findings.sizes(sizes);
        self.deadlocks.sizes(sizes);
    }
}
