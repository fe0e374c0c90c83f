//! Races and deadlocks from points-to, order and locks: each check a small predicate with its reason.
//! Knows nothing of how the stages before it work, nor of how findings are shown.

mod access;
mod anchor;
mod apart;
mod cache;
mod confidence;
mod crowd;
mod deadlock;
mod dealt;
mod describe;
mod group;
mod kind;
mod names;
mod own;
mod race;
mod view;

use arena::Delta;
use describe::Describe;
use findings::Finding;
use happens_before::HappensBefore;
use ir::Program;
use models::Models;
use pointsto::PointsTo;
use track::Changes;

/// The solved stages detection reads.
#[derive(Clone, Copy)]
pub struct Stages<'a> {
    pub program: &'a Program,
    pub models: &'a Models,
    pub pointsto: &'a PointsTo,
    pub happens_before: &'a HappensBefore,
}

/// Findings so far, and how many pairs survived each stage.
#[derive(Default)]
pub struct Detect {
    follows: bool,
    findings: Vec<Finding>,
    pairs: Vec<(String, u64)>,
}

impl Detect {
    /// `follows`: changes will come, so that what was read is remembered.
    pub fn new(follows: bool) -> Detect {
        Detect { follows, ..Detect::default() }
    }

    /// Follows a change of order and locks; a cold run is one large change.
    pub fn apply(&mut self, stages: &Stages<'_>, changes: &Changes) -> Delta<Finding> {
        let _ = (changes, self.follows);
        let describe = Describe::new(stages);
        let races = race::find(stages, &describe);
        let mut findings = races.findings;
        findings.extend(deadlock::find(stages, &describe));
        self.pairs = races.pairs;
        let removed = std::mem::replace(&mut self.findings, findings.clone());
        Delta { added: findings, removed }
    }

    pub fn pairs(&self) -> &[(String, u64)] {
        &self.pairs
    }
}
