//! What one execution of a method may have started before it comes to one of its statements. Knows spawns, calls
//! and the flow inside a body; knows neither joins nor who called the method.

use crate::bits::Bits;
use crate::flow::{Flow, after};
use crate::kept::Flows;
use crate::leading::{Done, Leading};
use crate::origins::Origins;
use crate::types::Origin;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::{MethodId, StmtId};
use pointsto::{Act, PointsToDelta};
use std::collections::BTreeSet;
use std::sync::Arc;
use track::{Changes, Kind, Sizes};

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
    pub fn before(&self, flows: &Flows, at: (MethodId, Act, StmtId), origin: Origin) -> bool {
        self.starting(flows, at, |set| set.contains(origin.index()))
    }

    /// Anything at all?
    pub fn any_before(&self, flows: &Flows, at: (MethodId, Act, StmtId)) -> bool {
        self.starting(flows, at, |_| true)
    }

    /// Most start nothing, whatever their statements are.
    fn starting(
        &self,
        flows: &Flows,
        (method, act, stmt): (MethodId, Act, StmtId),
        what: impl Fn(&Bits) -> bool,
    ) -> bool {
        let starts = self.leading.of(act).iter();
        let stmts: BTreeSet<StmtId> =
            starts.filter(|(_, started)| what(started)).map(|&(stmt, _)| stmt).collect();
        let is_after = |flow: &Arc<Flow>| after(flow, stmts.iter().copied(), None).contains(stmt.index());
        !stmts.is_empty() && flows.get(&method).is_none_or(is_after)
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.leading.sizes(sizes);
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
