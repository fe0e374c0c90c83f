//! What one execution of a method may have started before it comes to one of its statements. Knows spawns, calls
//! and the flow inside a body; knows neither joins nor who called the method.

use crate::bits::Bits;
use crate::flow::{Flow, after};
use crate::origins::Origins;
use crate::types::Origin;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::StmtId;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Starts {
    /// Statements that start something, themselves or through what they call, with an index into `sets`.
    acts: FxHashMap<Act, Vec<(StmtId, usize)>>,
    /// What is started, and all that is started by it in turn.
    sets: Vec<Bits>,
}

impl Starts {
    pub fn new(world: &World<'_>, origins: &Origins) -> Starts {
        let mut starts = Starts::default();
        let below = below(origins);
        for site in &origins.sites {
            starts.acts.entry(site.act).or_default().push((site.stmt, starts.sets.len()));
            starts.sets.push(below[site.child].clone());
        }
        // Callees come first, so what a component calls is known before the component is.
        let components = &world.components;
        let mut of_component: Vec<Option<usize>> = vec![None; components.bound()];
        for component in components.in_order() {
            let mut all = Bits::new();
            for &act in components.members(component) {
                for &(_, set) in starts.acts.get(&act).into_iter().flatten() {
                    all.union_with(&starts.sets[set]);
                }
                for (_, callee) in world.pointsto.calls(act) {
                    if let Some(set) = of_component[components.of(callee) as usize] {
                        all.union_with(&starts.sets[set]);
                    }
                }
            }
            if all.iter().next().is_none() {
                continue;
            }
            of_component[component as usize] = Some(starts.sets.len());
            starts.sets.push(all);
            for &act in components.members(component) {
                let calls = world.pointsto.calls(act);
                let starting = calls
                    .filter_map(|(stmt, callee)| Some((stmt, of_component[components.of(callee) as usize]?)));
                starts.acts.entry(act).or_default().extend(starting);
            }
        }
        starts
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
        let starts = self.acts.get(&act).into_iter().flatten();
        let stmts: BTreeSet<StmtId> =
            starts.filter(|&&(_, set)| what(&self.sets[set])).map(|&(stmt, _)| stmt).collect();
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
