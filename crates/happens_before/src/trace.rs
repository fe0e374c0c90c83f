//! How execution comes to an activation: call paths inside an origin, and the chain of spawns that led to it.
//! Shortest and smallest first; knows nothing of order.

use crate::origins::Origins;
use crate::types::{Origin, SpawnedBy};
use ir::StmtId;
use pointsto::{Act, PointsTo};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The shortest call path from one of the roots to `act`, as the calls made on it; empty for a root. Among
/// equally short ones, the one with the smallest ids.
pub fn call_path(pointsto: &PointsTo, roots: &[Act], act: Act) -> Vec<(Act, StmtId)> {
    let mut from: FxHashMap<Act, Option<(Act, StmtId)>> = roots.iter().map(|&root| (root, None)).collect();
    let mut left: VecDeque<Act> = roots.iter().copied().collect();
    while let Some(next) = left.pop_front() {
        if next == act {
            break;
        }
        for (stmt, callee) in pointsto.calls(next) {
            from.entry(callee).or_insert_with(|| {
                left.push_back(callee);
                Some((next, stmt))
            });
        }
    }
    let mut path = Vec::new();
    let mut at = act;
    while let Some(&Some((caller, stmt))) = from.get(&at) {
        path.push((caller, stmt));
        at = caller;
    }
    path.reverse();
    path
}

/// The shortest chain of spawns from an origin nobody spawned to this one, outermost first.
pub fn spawn_chain(origins: &Origins, origin: Origin) -> Vec<SpawnedBy> {
    let mut towards: FxHashMap<Origin, Option<(Origin, SpawnedBy)>> = FxHashMap::default();
    towards.insert(origin, None);
    let mut left = VecDeque::from([origin]);
    while let Some(next) = left.pop_front() {
        let by = &origins.info[next].spawned_by;
        if by.is_empty() {
            let mut chain = Vec::new();
            let mut at = next;
            while let Some(&Some((child, spawn))) = towards.get(&at) {
                chain.push(spawn);
                at = child;
            }
            return chain;
        }
        for &spawn in by {
            towards.entry(spawn.parent).or_insert_with(|| {
                left.push_back(spawn.parent);
                Some((next, spawn))
            });
        }
    }
    Vec::new()
}
