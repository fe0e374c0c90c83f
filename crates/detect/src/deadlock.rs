//! Deadlocks: cycles in the lock-dependency graph. Each edge is an origin that holds one lock and wants the
//! next; the origins may overlap, no gate lock keeps them apart, re-entrance does not count.

use crate::Stages;
use crate::confidence::is_merged;
use crate::describe::Describe;
use classfile::Layer;
use findings::{AccessKind, Confidence, Engine, Finding, Rule, fingerprint};
use happens_before::{Acquisition, HeldDuring, HeldLock, LockKey, Origin, PathStep, Point, Wanted};
use ir::{MethodId, StmtId};
use pointsto::{Act, Obj, Site};
use std::collections::{BTreeMap, BTreeSet};

/// Longest cycle looked for; longer ones have not been seen in practice and cost exponentially.
const LONGEST: usize = 6;
/// Steps of the search per start lock, so that a tangle of merged objects cannot hang the analysis.
const STEPS: usize = 50_000;

/// `acquisition` holds `held` and wants `wanted`.
#[derive(Clone, Copy)]
struct Edge<'a> {
    acquisition: &'a Acquisition,
    held: &'a HeldDuring,
    from: Obj,
    to: Obj,
    /// What the holder waits for is in shared mode.
    wants_shared: bool,
}

/// Where an acquisition is: the statement, or the entry of a synchronized method.
type Spot = (MethodId, Option<StmtId>);

pub(crate) fn find(stages: &Stages<'_>, describe: &Describe<'_>) -> Vec<Finding> {
    let search = Search { stages, edges: edges(stages) };
    let mut found: BTreeMap<BTreeSet<Spot>, (Confidence, Vec<Edge<'_>>)> = BTreeMap::new();
    let mut reported: BTreeSet<BTreeSet<Obj>> = BTreeSet::new();
    for length in 2..=LONGEST {
        let mut this_length = BTreeSet::new();
        for &start in search.edges.keys() {
            search.cycles_from(start, length, &mut |cycle| {
                let locks: BTreeSet<Obj> = cycle.iter().map(|edge| edge.from).collect();
                if reported.iter().any(|smaller| smaller.is_subset(&locks)) {
                    return;
                }
                let confidence = search.confidence(cycle);
                let spots = cycle.iter().map(|edge| spot(stages, edge.acquisition)).collect();
                let best = found.entry(spots).or_insert_with(|| (confidence, cycle.to_vec()));
                if confidence < best.0 {
                    *best = (confidence, cycle.to_vec());
                }
                this_length.insert(locks);
            });
        }
        reported.extend(this_length);
    }
    let mut findings: Vec<Finding> = found
        .into_values()
        .map(|(confidence, cycle)| cycle_finding(stages, describe, confidence, &cycle))
        .collect();
    findings.extend(waits(stages, describe));
    dedupe(findings)
}

fn spot(stages: &Stages<'_>, acquisition: &Acquisition) -> Spot {
    (stages.pointsto.method(acquisition.act), acquisition.stmt)
}

/// held → wanted, by lock held; acquisitions of a lock that is held already (re-entrance) give none.
fn edges<'a>(stages: &Stages<'a>) -> BTreeMap<Obj, Vec<Edge<'a>>> {
    let mut edges: BTreeMap<Obj, Vec<Edge<'a>>> = BTreeMap::new();
    for acquisition in stages.happens_before.acquisitions() {
        let Wanted::Lock(wanted) = &acquisition.wants else { continue };
        let reentrant = acquisition.held.iter().any(|held| same_lock(stages, &held.lock, wanted));
        if reentrant || is_jdk(stages, acquisition.act) {
            continue;
        }
        for held in acquisition.held.iter().filter(|held| !is_jdk(stages, held.lock.act)) {
            for from in lock_objects(stages, &held.lock) {
                for to in lock_objects(stages, wanted) {
                    let edge = Edge { acquisition, held, from, to, wants_shared: wanted.shared };
                    edges.entry(from).or_default().push(edge);
                }
            }
        }
    }
    edges
}

/// The JDK's own locks are its own affair: nobody can change the order in which it takes them.
fn is_jdk(stages: &Stages<'_>, act: Act) -> bool {
    let class = stages.program.method(stages.pointsto.method(act)).class;
    stages.program.class(class).layer == Layer::Jdk
}

/// Objects a lock may be, without those that stand for unrelated values.
fn lock_objects(stages: &Stages<'_>, lock: &HeldLock) -> impl Iterator<Item = Obj> {
    let real = |obj: &Obj| !matches!(stages.pointsto.object(*obj).site, Site::Merged | Site::Opaque);
    lock.objects.iter().copied().filter(real)
}

/// Certainly one lock object: a common key, or the same single unique object.
fn same_lock(stages: &Stages<'_>, a: &HeldLock, b: &HeldLock) -> bool {
    let common = a.keys.iter().any(|key| b.keys.contains(key));
    let one = |lock: &HeldLock| match lock.objects.as_slice() {
        &[obj] if stages.happens_before.unique(obj) => Some(obj),
        _ => None,
    };
    common || one(a).is_some() && one(a) == one(b)
}

struct Search<'s, 'a> {
    stages: &'s Stages<'a>,
    edges: BTreeMap<Obj, Vec<Edge<'a>>>,
}

impl<'a> Search<'_, 'a> {
    /// All cycles of one length whose smallest lock is `start`.
    fn cycles_from(&self, start: Obj, length: usize, found: &mut dyn FnMut(&[Edge<'a>])) {
        let mut steps = 0;
        self.extend(start, start, length, &mut Vec::new(), &mut steps, found);
    }

    fn extend(
        &self,
        start: Obj,
        at: Obj,
        length: usize,
        path: &mut Vec<Edge<'a>>,
        steps: &mut usize,
        found: &mut dyn FnMut(&[Edge<'a>]),
    ) {
        for &edge in self.edges.get(&at).into_iter().flatten() {
            *steps += 1;
            if *steps > STEPS {
                return;
            }
            let last = path.len() + 1 == length;
            let closes = last && edge.to == start;
            // One abstract lock may stand for several objects, so that a cycle of two may go through one node.
            let through_one_node =
                length == 2 && edge.from == edge.to && !self.stages.happens_before.unique(at);
            let revisits = path.iter().any(|earlier| earlier.from == edge.to) || edge.to == at;
            if edge.to < start || last && !closes || revisits && !closes && !through_one_node {
                continue;
            }
            if path.iter().any(|earlier| !self.compatible(earlier, &edge))
                || !self.blocks_previous(path, &edge)
            {
                continue;
            }
            path.push(edge);
            if !closes {
                self.extend(start, edge.to, length, path, steps, found);
            } else if self.closes(path) {
                found(path);
            }
            path.pop();
        }
    }

    /// The lock the previous edge wants is one this edge holds in a mode that keeps it waiting.
    fn blocks_previous(&self, path: &[Edge<'a>], edge: &Edge<'a>) -> bool {
        path.last().is_none_or(|previous| !(previous.wants_shared && edge.held.lock.shared))
    }

    fn closes(&self, path: &[Edge<'a>]) -> bool {
        let (first, last) = (&path[0], &path[path.len() - 1]);
        !(last.wants_shared && first.held.lock.shared)
    }

    /// Two edges by origins that may be there at the same time, with no gate lock around both.
    fn compatible(&self, a: &Edge<'a>, b: &Edge<'a>) -> bool {
        if std::ptr::eq(a.acquisition, b.acquisition)
            && !self.stages.happens_before.origins()[a.acquisition.origin].overlaps_itself
        {
            return false;
        }
        let ordered = self.stages.happens_before.ordered(&point(a.acquisition), &point(b.acquisition));
        ordered.is_none() && !self.gated(a, b)
    }

    fn gated(&self, a: &Edge<'a>, b: &Edge<'a>) -> bool {
        let gates = |edge: &Edge<'a>| {
            let cycle_lock = edge.from;
            edge.acquisition.held.iter().filter(move |held| !held.lock.objects.contains(&cycle_lock))
        };
        gates(a).any(|gate| {
            gates(b).any(|other| {
                gate.always
                    && other.always
                    && !(gate.lock.shared && other.lock.shared)
                    && gate.lock.keys.iter().any(|key| is_global(key) && other.lock.keys.contains(key))
            })
        })
    }

    fn confidence(&self, cycle: &[Edge<'a>]) -> Confidence {
        let hb = self.stages.happens_before;
        let sure = |edge: &Edge<'a>| hb.unique(edge.from) && edge.held.always;
        // Parents before children, one node of a list after the other: an order that cannot turn around.
        let downwards = |edge: &Edge<'a>| edge.from == edge.to && is_owner(edge);
        let merged = |edge: &Edge<'a>| {
            !hb.unique(edge.from) && is_merged(self.stages, edge.acquisition.act, edge.acquisition.origin)
        };
        if cycle.iter().any(|edge| downwards(edge) || merged(edge)) {
            Confidence::Low
        } else if cycle.iter().all(sure) {
            Confidence::High
        } else {
            Confidence::Medium
        }
    }
}

/// The lock held belongs to the object that refers to the one wanted.
fn is_owner(edge: &Edge<'_>) -> bool {
    let Wanted::Lock(wanted) = &edge.acquisition.wants else { return false };
    let from_wanted = |key: &LockKey| match key {
        LockKey::Path { root, steps } => {
            let owns = steps.iter().any(|step| matches!(step, PathStep::Owner(_) | PathStep::OwnerArray));
            let leads_on = |other: &LockKey| match other {
                LockKey::Path { root: start, steps: longer } => {
                    start == root && longer.len() > steps.len() && longer.starts_with(steps)
                }
                _ => false,
            };
            owns || wanted.keys.iter().any(leads_on)
        }
        _ => false,
    };
    edge.held.lock.keys.iter().any(from_wanted)
}

/// The same key means the same lock in every method.
fn is_global(key: &LockKey) -> bool {
    !matches!(key, LockKey::Path { .. })
}

fn point(acquisition: &Acquisition) -> Point {
    Point { origin: acquisition.origin, act: acquisition.act, stmt: acquisition.stmt.unwrap_or(StmtId(0)) }
}

/// Waiting for the end of an origin while holding a lock that it needs.
fn waits(stages: &Stages<'_>, describe: &Describe<'_>) -> Vec<Finding> {
    let acquisitions = stages.happens_before.acquisitions();
    let mut by_origin: BTreeMap<Origin, Vec<&Acquisition>> = BTreeMap::new();
    for acquisition in acquisitions {
        by_origin.entry(acquisition.origin).or_default().push(acquisition);
    }
    let mut found: BTreeMap<(Spot, Spot), (Confidence, Finding)> = BTreeMap::new();
    for waiter in acquisitions {
        let Wanted::End(ends) = &waiter.wants else { continue };
        for held in &waiter.held {
            for other in ends.iter().flat_map(|end| by_origin.get(end).into_iter().flatten()) {
                let Wanted::Lock(wanted) = &other.wants else { continue };
                let common = lock_objects(stages, &held.lock).find(|obj| wanted.objects.contains(obj));
                let reentrant = other.held.iter().any(|own| same_lock(stages, &own.lock, wanted));
                let theirs = is_jdk(stages, waiter.act) || is_jdk(stages, other.act);
                let Some(lock) =
                    common.filter(|_| !(theirs || reentrant || wanted.shared && held.lock.shared))
                else {
                    continue;
                };
                let sure = held.always && stages.happens_before.unique(lock);
                let confidence = if sure { Confidence::High } else { Confidence::Medium };
                let key = (spot(stages, waiter), spot(stages, other));
                if found.get(&key).is_none_or(|old| confidence < old.0) {
                    let finding = wait_finding(describe, confidence, waiter, held, other, wanted);
                    found.insert(key, (confidence, finding));
                }
            }
        }
    }
    found.into_values().map(|(_, finding)| finding).collect()
}

fn cycle_finding(
    stages: &Stages<'_>,
    describe: &Describe<'_>,
    confidence: Confidence,
    cycle: &[Edge<'_>],
) -> Finding {
    let mut sites = Vec::new();
    for edge in cycle {
        let Wanted::Lock(wanted) = &edge.acquisition.wants else { continue };
        let mut site = acquire_site(describe, edge.acquisition, AccessKind::Acquire);
        site.holds = Some(describe.lock(&edge.held.lock));
        let wanted = describe.lock(wanted);
        site.place = wanted.place.clone();
        site.acquires = Some(wanted);
        sites.push(site);
    }
    // Begin at the first place, so that the same cycle reads the same whichever lock has the smallest id.
    let first =
        (0..sites.len()).min_by_key(|&n| (sites[n].place.clone(), sites[n].method.clone())).unwrap_or(0);
    sites.rotate_left(first);
    let names: Vec<&str> =
        sites.iter().filter_map(|site| site.holds.as_ref()).map(|lock| lock.name.as_str()).collect();
    let names = names.join(" -> ");
    let kind = |edge: &Edge<'_>| stages.program.class_display(stages.pointsto.object(edge.from).class);
    let message = match cycle {
        [edge, _] if edge.from == edge.to => {
            format!("two threads lock two objects of one kind, {}, in opposite order", kind(edge))
        }
        [_, _] => format!("two threads take two locks in opposite order: {names}"),
        _ => format!("{} threads wait for each other in a circle of locks: {names}", cycle.len()),
    };
    let mut why =
        vec!["the threads may run at the same time and no other lock is held around both".to_string()];
    if confidence != Confidence::High {
        why.push(
            "several lock objects are allocated there; the threads may not meet on the same ones".to_string(),
        );
    }
    deadlock(confidence, message, why, sites)
}

/// One side; its locks are those held before the acquisition.
fn acquire_site(describe: &Describe<'_>, acquisition: &Acquisition, access: AccessKind) -> findings::Site {
    let mut site = describe.site(point(acquisition), access);
    site.locks =
        acquisition.held.iter().filter(|held| held.always).map(|held| describe.lock(&held.lock)).collect();
    site.locks.sort();
    site.locks.dedup();
    site
}

fn wait_finding(
    describe: &Describe<'_>,
    confidence: Confidence,
    waiter: &Acquisition,
    held: &HeldDuring,
    other: &Acquisition,
    wanted: &HeldLock,
) -> Finding {
    let mut first = acquire_site(describe, waiter, AccessKind::Wait);
    first.holds = Some(describe.lock(&held.lock));
    let mut second = acquire_site(describe, other, AccessKind::Acquire);
    let wanted = describe.lock(wanted);
    second.place = wanted.place.clone();
    second.acquires = Some(wanted);
    let name = first.holds.as_ref().map(|lock| lock.name.clone()).unwrap_or_default();
    let message = format!("a thread waits for another to end while it holds a lock the other needs: {name}");
    let why = vec!["the awaited thread cannot end before it gets the lock".to_string()];
    deadlock(confidence, message, why, vec![first, second])
}

fn deadlock(
    confidence: Confidence,
    message: String,
    why: Vec<String>,
    sites: Vec<findings::Site>,
) -> Finding {
    let mut parts: Vec<String> = sites
        .iter()
        .map(|site| {
            let name = |lock: &Option<findings::LockUse>| {
                lock.as_ref().map(|lock| lock.name.clone()).unwrap_or_default()
            };
            format!("{:?} {} {} {}", site.access, site.method, name(&site.holds), name(&site.acquires))
        })
        .collect();
    parts.sort();
    let mut all: Vec<&str> = vec!["deadlock"];
    all.extend(parts.iter().map(String::as_str));
    Finding {
        id: fingerprint(&all),
        rule: Rule::Deadlock,
        confidence,
        engines: vec![Engine::WholeProgram],
        message,
        field: None,
        object: None,
        sites,
        why,
        also: Vec::new(),
    }
}

/// The same cause seen through several origins is one finding.
fn dedupe(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| (&a.id, a.confidence).cmp(&(&b.id, b.confidence)));
    findings.dedup_by(|later, first| later.id == first.id);
    findings
}
