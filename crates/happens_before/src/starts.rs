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
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use track::{Changes, Kind, Read, Sizes};

#[derive(Debug)]
pub struct Starts {
    /// What is started, and all that is started by it in turn.
    leading: Leading,
    /// The same by where that is decided.
    deciding: Leading,
    /// Below that: statements of methods that get the task.
    passing: FxHashMap<(Act, StmtId), Bits>,
}

impl Default for Starts {
    fn default() -> Starts {
        let (leading, deciding) = (Leading::new(Kind::Starts), Leading::new(Kind::Decides));
        Starts { leading, deciding, passing: FxHashMap::default() }
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
        let (mut started, mut decided) = (Done::default(), Done::default());
        let mut passing: FxHashMap<(Act, StmtId), Bits> = FxHashMap::default();
        for site in &origins.sites {
            let child = &below[site.child];
            started.entry(site.act).or_default().push((site.stmt, child.clone()));
            for &(act, stmt) in &site.events {
                decided.entry(act).or_default().push((stmt, child.clone()));
            }
            for &frame in &site.passing {
                passing.entry(frame).or_default().union_with(child);
            }
        }
        self.leading.update(world, started, delta, changes);
        self.deciding.update(world, decided, delta, changes);
        let before = std::mem::replace(&mut self.passing, passing);
        if !changes.everything {
            let frames: BTreeSet<&(Act, StmtId)> = before.keys().chain(self.passing.keys()).collect();
            let differs = |frame: &&&(Act, StmtId)| before.get(frame) != self.passing.get(frame);
            frames.iter().filter(differs).for_each(|(act, _)| changes.add(Read::of(Kind::Decides, *act)));
        }
    }

    /// May the statement start the origin, or one that leads to it? Not if it only runs code that starts, for another
    /// caller, a task that this caller brings.
    pub fn during(&self, act: Act, stmt: StmtId, origin: Origin) -> bool {
        let mut deciding = self.deciding.of(act).iter().filter(|&&(at, _)| at == stmt);
        let passing = self.passing.get(&(act, stmt));
        deciding.any(|(_, started)| started.contains(origin.index()))
            || passing.is_some_and(|started| started.contains(origin.index()))
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
        self.deciding.sizes(sizes);
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
