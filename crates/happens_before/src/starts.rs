//! What one execution of a method may have started before it comes to one of its statements. Knows spawns, calls
//! and the flow inside a body; knows neither joins nor who called the method.

use crate::bits::Bits;
use crate::flow::{Flow, after};
use crate::leading::{Done, Leading};
use crate::origins::Origins;
use crate::types::Origin;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::StmtId;
use pointsto::{Act, PointsToDelta};
use std::collections::BTreeSet;
use track::{Changes, Kind};

#[derive(Debug)]
pub struct Starts {
    /// What is started, and all that is started by it in turn.
    leading: Leading,
}

impl Default for Starts {
    fn default() -> Starts {
        Starts { leading: Leading::new(Kind::Starts) }
    }
}

impl Starts {
    pub fn update(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        let below = below(origins);
        let mut done = Done::default();
        for site in &origins.sites {
            done.entry(site.act).or_default().push((site.stmt, below[site.child].clone()));
        }
        self.leading.update(world, done, delta, changes);
    }

    /// May an execution of the body have started the origin, or one that leads to it, before the statement?
    pub fn before(&self, flow: &Flow, act: Act, stmt: StmtId, origin: Origin) -> bool {
        self.starting(flow, act, stmt, |set| set.contains(origin.index()))
    }

    /// Anything at all?
    pub fn any_before(&self, flow: &Flow, act: Act, stmt: StmtId) -> bool {
        self.starting(flow, act, stmt, |_| true)
    }

    fn starting(&self, flow: &Flow, act: Act, stmt: StmtId, what: impl Fn(&Bits) -> bool) -> bool {
        let starts = self.leading.of(act).iter();
        let stmts: BTreeSet<StmtId> =
            starts.filter(|(_, started)| what(started)).map(|&(stmt, _)| stmt).collect();
        !stmts.is_empty() && after(flow, stmts, None).contains(stmt.index())
    }
}

/// Each origin with all that it leads to.
fn below(origins: &Origins) -> IndexVec<Origin, Bits> {
    let mut children: IndexVec<Origin, BTreeSet<Origin>> =
        origins.info.ids().map(|_| BTreeSet::new()).collect();
    for (child, info) in origins.info.iter() {
        for by in &info.spawned_by {
            children[by.parent].insert(child);
        }
    }
    let all_below = |origin: Origin| {
        let mut seen = Bits::new();
        let mut left = vec![origin];
        while let Some(next) = left.pop() {
            if seen.insert(next.index()) {
                left.extend(&children[next]);
            }
        }
        seen
    };
    origins.info.ids().map(all_below).collect()
}
