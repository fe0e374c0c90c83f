//! Ways through the call graph, from where a thread starts down to an activation: the shortest, and of those the one
//! whose last calls come first by content. Kept up to date by difference: a search from the start sees all calls, and
//! hardly any edit changes how far away something is.

use crate::Stages;
use arena::Id;
use happens_before::{Content, Origin, OriginKind};
use ir::StmtId;
use pointsto::Act;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::{Arc, OnceLock};
use track::{Changes, Kind, Read};

/// How far away what is never reached is.
const NEVER: u32 = u32::MAX;

/// A copy shares what is known so far.
#[derive(Clone)]
pub(crate) struct Ways {
    /// For each origin that was asked about, how many calls each activation is away from its start.
    distances: Vec<OnceLock<Arc<Vec<u32>>>>,
}

impl Ways {
    pub(crate) fn new() -> Ways {
        Ways { distances: Vec::new() }
    }

    pub(crate) fn update(&mut self, stages: &Stages<'_>, changes: &mut Changes) {
        let bound = stages.happens_before.origin_bound();
        self.distances.resize_with(bound, OnceLock::new);
        if changes.is_empty() {
            return;
        }
        let called: Vec<Act> = changes.of(Kind::Callers).collect();
        let starts_anew = changes.contains(Read::all(Kind::Roots));
        for (at, distances) in self.distances.iter_mut().enumerate() {
            if let Some(distances) = distances.get_mut() {
                let origin = Origin::new(at);
                let starts = starts(stages, origin);
                let distances = Arc::make_mut(distances);
                let differing = match starts_anew {
                    true => begin_anew(stages, &starts, distances),
                    false => follow(stages, &starts, distances, &called),
                };
                differing.into_iter().for_each(|act| changes.add(Read::pair(Kind::Distance, origin, act)));
            }
        }
    }

    /// The shortest chain of calls from the start of the origin down to the activation, without it.
    pub(crate) fn calls(
        &self,
        stages: &Stages<'_>,
        content: &Content<'_>,
        origin: Origin,
        act: Act,
    ) -> Vec<(Act, StmtId)> {
        let mut calls = Vec::new();
        let mut at = act;
        let mut left = self.distance(stages, origin, at).unwrap_or(0);
        while left > 0 {
            let is_nearer =
                |&&(caller, _): &&(Act, StmtId)| self.distance(stages, origin, caller) == Some(left - 1);
            let callers = stages.happens_before.calls(*content).callers(at);
            let Some(&(caller, stmt)) = callers.iter().find(is_nearer) else { break };
            calls.push((caller, stmt));
            (at, left) = (caller, left - 1);
        }
        calls.reverse();
        calls
    }

    /// How many calls the activation is away from where the origin starts; `None` if it is not run.
    pub(crate) fn distance(&self, stages: &Stages<'_>, origin: Origin, act: Act) -> Option<u32> {
        track::note(Read::pair(Kind::Distance, origin, act));
        let distances = self.distances[origin.index()]
            .get_or_init(|| track::unnoted(|| Arc::new(search(stages, &starts(stages, origin)))));
        distances.get(act.index()).copied().filter(|&distance| distance != NEVER)
    }
}

/// Everything the origin starts with.
fn starts(stages: &Stages<'_>, origin: Origin) -> Vec<Act> {
    let info = stages.happens_before.origin(origin);
    match info.kind {
        OriginKind::Initialization => stages.pointsto.initializers().to_vec(),
        OriginKind::Entry | OriginKind::Task => vec![info.entry],
        OriginKind::Gone => Vec::new(),
    }
}

fn search(stages: &Stages<'_>, starts: &[Act]) -> Vec<u32> {
    let mut distances = vec![NEVER; stages.pointsto.act_bound()];
    starts.iter().for_each(|start| distances[start.index()] = 0);
    let mut todo: VecDeque<Act> = starts.iter().copied().collect();
    while let Some(act) = todo.pop_front() {
        let next = distances[act.index()] + 1;
        for (_, callee) in stages.pointsto.calls(act) {
            if distances[callee.index()] == NEVER {
                distances[callee.index()] = next;
                todo.push_back(callee);
            }
        }
    }
    distances
}

/// Follows a change of where the origin starts; those that are farther away now, or nearer.
fn begin_anew(stages: &Stages<'_>, starts: &[Act], distances: &mut Vec<u32>) -> Vec<Act> {
    let before = std::mem::replace(distances, search(stages, starts));
    let differs = |at: &usize| before.get(*at).unwrap_or(&NEVER) != &distances[*at];
    (0..distances.len()).filter(differs).map(Act::new).collect()
}

/// Follows a change of who calls these activations; those that are farther away now, or nearer.
fn follow(stages: &Stages<'_>, starts: &[Act], distances: &mut Vec<u32>, called: &[Act]) -> Vec<Act> {
    let pointsto = stages.pointsto;
    distances.resize(pointsto.act_bound(), NEVER);
    let mut before: BTreeMap<Act, u32> = BTreeMap::new();
    // First those that nothing nearer leads to any more, the nearest first.
    let mut todo: BinaryHeap<Reverse<(u32, Act)>> =
        called.iter().map(|&act| Reverse((distances[act.index()], act))).collect();
    while let Some(Reverse((distance, act))) = todo.pop() {
        let is_led_to =
            |&(caller, _): &(Act, StmtId)| distances[caller.index()].checked_add(1) == Some(distance);
        if distance == NEVER
            || distances[act.index()] != distance
            || starts.contains(&act)
            || pointsto.callers(act).iter().any(is_led_to)
        {
            continue;
        }
        before.insert(act, distance);
        distances[act.index()] = NEVER;
        let below = pointsto.calls(act).filter(|(_, callee)| distances[callee.index()] == distance + 1);
        todo.extend(below.map(|(_, callee)| Reverse((distance + 1, callee))));
    }
    // Then the new distances of those, and of whatever is nearer by new calls.
    let looked_at = before.keys().chain(called);
    let nearest = |act: &Act| {
        let callers = pointsto.callers(*act).iter().map(|(caller, _)| distances[caller.index()]);
        Some((callers.min()?.checked_add(1)?, *act))
    };
    let mut todo: BinaryHeap<Reverse<(u32, Act)>> = looked_at.filter_map(nearest).map(Reverse).collect();
    while let Some(Reverse((distance, act))) = todo.pop() {
        if distance >= distances[act.index()] {
            continue;
        }
        before.entry(act).or_insert(distances[act.index()]);
        distances[act.index()] = distance;
        todo.extend(pointsto.calls(act).map(|(_, callee)| Reverse((distance + 1, callee))));
    }
    before.retain(|act, old| distances[act.index()] != *old);
    before.into_keys().collect()
}
