//! Waiting for the end of an origin while holding a lock that it needs.

use super::doubt::{Doubt, Doubts};
use super::{LockSite, Spot, deadlock, holding_site, lock_site, shown};
use crate::Stages;
use crate::describe::Describe;
use crate::users::{is_in_users_code, is_users};
use findings::{AccessKind, Finding, Place};
use happens_before::{Acquisition, Content, LockNode, Nesting, Origin, Point, Wanted};
use ir::StmtId;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// One wait under a lock of one kind, with those it may wait for.
struct Wait<'a> {
    waiter: (&'a Nesting, Origin),
    other: (&'a Acquisition, Origin),
    doubts: Doubts,
    /// Where those take the lock.
    places: BTreeSet<Place>,
}

pub(super) fn find(stages: &Stages<'_>, describe: &Describe<'_>) -> Vec<Finding> {
    let (hb, content) = (stages.happens_before, &describe.content);
    let waiting = || hb.nestings().iter().filter(|nesting| matches!(nesting.wants, Wanted::End(_)));
    let held = waiting().flat_map(|nesting| nesting.held.nodes.iter().copied());
    let mut by_node: BTreeMap<LockNode, Vec<&Acquisition>> = held.map(|node| (node, Vec::new())).collect();
    for acquisition in hb.acquisitions() {
        for node in &acquisition.lock.nodes {
            if let Some(taking) = by_node.get_mut(node) {
                taking.push(acquisition);
            }
        }
    }
    for taking in by_node.values_mut() {
        taking.sort_by(|a, b| content.locks(&a.lock, &b.lock));
    }
    let mut found: BTreeMap<(LockSite, Spot), Wait<'_>> = BTreeMap::new();
    for nesting in waiting() {
        let (Wanted::End(ends), Some(&waiter)) = (&nesting.wants, nesting.origins.first()) else { continue };
        for node in in_order(content, &nesting.held.nodes) {
            for &other in by_node.get(&node).into_iter().flatten() {
                let taking = ends.iter().filter(|end| takes(stages, end.origin, other));
                let Some(end) = taking.min_by_key(|end| (end.is_timed, !end.is_certain)) else { continue };
                if other.lock.shared && nesting.held.shared {
                    continue;
                }
                let is_others = !is_users(stages, stages.pointsto.method(other.lock.act));
                if is_others && !is_in_users_code(stages, nesting) {
                    continue;
                }
                let mut doubts = Doubts::default();
                doubts.add(Doubt::ManyLocks, !hb.is_one_lock(node));
                doubts.add_way(nesting);
                doubts.add(Doubt::Timed, end.is_timed);
                doubts.add(Doubt::OtherEnd, !end.is_certain);
                let place = describe.lock_place(stages.pointsto.method(other.lock.act), other.lock.stmt);
                let spot = (stages.pointsto.method(nesting.act), nesting.stmt);
                let rank = |wait: &Wait<'_>| (wait.doubts.confidence(), wait.waiter.0.calls.len());
                let wait = Wait {
                    waiter: (nesting, waiter),
                    other: (other, end.origin),
                    doubts,
                    places: BTreeSet::new(),
                };
                match found.entry((lock_site(stages, node), spot)) {
                    Entry::Vacant(entry) => entry.insert(wait).places.insert(place),
                    Entry::Occupied(mut entry) => {
                        let mut places = std::mem::take(&mut entry.get_mut().places);
                        places.insert(place);
                        if rank(&wait) < rank(entry.get()) {
                            entry.insert(wait);
                        }
                        entry.get_mut().places = places;
                        false
                    }
                };
            }
        }
    }
    found.into_values().map(|wait| finding(stages, describe, &wait)).collect()
}

fn in_order(content: &Content<'_>, nodes: &[LockNode]) -> Vec<LockNode> {
    let mut nodes = nodes.to_vec();
    nodes.sort_by(|&a, &b| content.lock_nodes(a, b));
    nodes
}

/// Does the origin take the lock, and not hold it already then?
fn takes(stages: &Stages<'_>, origin: Origin, acquisition: &Acquisition) -> bool {
    let hb = stages.happens_before;
    let is_wanted = |key| acquisition.lock.keys.contains(key);
    // A synchronized method holds its own lock at its first statement: that is not what callers hold.
    let is_own = |lock: &happens_before::HeldLock| acquisition.stmt.is_none() && lock.act == acquisition.act;
    hb.executes(origin, acquisition.act)
        && !hb
            .held(&acquired_at(origin, acquisition))
            .iter()
            .any(|lock| !is_own(lock) && lock.keys.iter().any(is_wanted))
}

fn acquired_at(origin: Origin, acquisition: &Acquisition) -> Point {
    Point { origin, act: acquisition.act, stmt: acquisition.stmt.unwrap_or(StmtId(0)) }
}

fn finding(stages: &Stages<'_>, describe: &Describe<'_>, wait: &Wait<'_>) -> Finding {
    let (nesting, origin) = wait.waiter;
    let first = holding_site(describe, origin, nesting, AccessKind::Wait);
    let (other, origin) = wait.other;
    let mut second = describe.site(acquired_at(origin, other), AccessKind::Acquire);
    let wanted = describe.lock(&other.lock);
    second.locks.retain(|lock| *lock != wanted);
    second.place = wanted.place.clone();
    second.acquires = Some(wanted);
    let name = first.holds.as_ref().map(|lock| lock.name.as_str()).unwrap_or_default();
    let name = match in_order(&describe.content, &wait.waiter.0.held.nodes).first() {
        Some(&node) => shown(stages, node, name),
        None => name.to_string(),
    };
    let stalls = if wait.doubts.contains(Doubt::Timed) { ", until its time is over," } else { "" };
    let message =
        format!("a thread waits{stalls} for another to end while it holds a lock the other needs: {name}");
    let mut why = vec!["the awaited thread cannot end before it gets the lock".to_string()];
    why.extend(wait.doubts.iter().map(Doubt::text));
    let others = wait.places.iter().filter(|&place| *place != second.place);
    let also = others.map(|place| (first.place.clone(), place.clone())).collect();
    Finding { also, ..deadlock(wait.doubts, message, why, vec![first, second]) }
}
