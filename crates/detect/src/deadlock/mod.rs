//! Deadlocks: threads that wait for each other in a circle of locks, or for the end of a thread that needs one.
//! One finding for each set of locks; decides no order, and knows nothing of how locks came to be held.

mod answer;
mod chosen;
mod cycles;
mod doubt;
mod graph;
mod long;
#[cfg(debug_assertions)]
mod naive;
mod waits;

use crate::Stages;
use crate::describe::Describe;
use crate::finding::keep_apart;
pub(crate) use answer::LockOrder;
use chosen::Chosen;
use cycles::{Few, Group, groups};
use doubt::{Doubt, Doubts};
use findings::{AccessKind, Confidence, Engine, Finding, Place, Rule, fingerprint, unnumbered};
use graph::Graph;
use happens_before::{HeldLock, LockNode, Nesting, Origin, Point, Wanted};
use ir::{ClassId, MethodId, StmtId};
use pointsto::Site;
use std::collections::BTreeSet;
use std::sync::Arc;
use track::{Changes, Kind, Read, Single, Sizes};

/// A lock-order cycle as somebody else sees it.
#[derive(Debug, Clone, Copy)]
pub struct Cycle<'a> {
    /// For each step, where the lock is taken that is held and the one that is waited for.
    pub edges: &'a [[Place; 2]],
}

/// What locks have in common that are made in one place: the same cause, whichever of them it is.
type LockSite = (Option<Site>, ClassId);

/// Where a lock is taken or an end awaited: the statement, or the entry of a synchronized method.
type Spot = (MethodId, Option<StmtId>);

/// What was found so far: which cycles there are, and apart from that how each is told.
pub(crate) struct Deadlocks {
    follows: bool,
    graph: Single<Graph>,
    chosen: Chosen,
    groups: Single<Vec<Group>>,
    told: Vec<Told>,
    waits: Single<Vec<Arc<Finding>>>,
}

/// A cycle with its finding, `None` until it is described.
struct Told {
    cause: Cause,
    finding: Single<Option<Arc<Finding>>>,
}

/// All that a finding tells of a cycle.
#[derive(PartialEq)]
struct Cause {
    sides: Vec<Side>,
    doubts: Doubts,
    /// Where pairs of locks are wanted in cycles over the same ones.
    wanted: BTreeSet<[Spot; 2]>,
}

/// One thread in a cycle, and the lock it holds.
#[derive(PartialEq)]
struct Side {
    nesting: Nesting,
    origin: Origin,
    from: LockNode,
}

impl Deadlocks {
    pub(crate) fn new(follows: bool) -> Deadlocks {
        Deadlocks {
            follows,
            graph: Single::default(),
            chosen: Chosen::new(follows),
            groups: Single::default(),
            told: Vec::new(),
            waits: Single::default(),
        }
    }

    /// Searches again if there may be other cycles now, and describes again what is told otherwise.
    pub(crate) fn update(&mut self, stages: &Stages<'_>, describe: &Describe<'_>, changes: &mut Changes) {
        let before = self.graph.update(self.follows, changes, || Graph::new(stages, describe));
        if before.as_ref().is_some_and(|before| !before.is_like(&self.graph.value)) {
            changes.add(Read::all(Kind::LockGraph));
        }
        let found = &self.groups;
        self.chosen.update(stages, |read| found.reads(read), changes);
        let Deadlocks { graph, chosen, .. } = self;
        let search = || groups(stages, describe, &graph.value, chosen);
        let is_searched = self.groups.update(self.follows, changes, search).is_some();
        #[cfg(debug_assertions)]
        if is_searched {
            naive::compare(stages, describe, &graph.value, chosen, &self.groups.value);
        }
        if is_searched || before.is_some() {
            self.gather(stages);
        }
        for told in &mut self.told {
            told.update(stages, describe, self.follows, changes);
        }
        let find = || waits::find(stages, describe).into_iter().map(Arc::new).collect();
        self.waits.update(self.follows, changes, find);
    }

    /// What is told as before keeps its finding.
    fn gather(&mut self, stages: &Stages<'_>) {
        let mut before = std::mem::take(&mut self.told);
        for group in &self.groups.value {
            let cause = Cause::new(stages, &self.graph.value, group);
            let told = match before.iter().position(|told| told.cause == cause) {
                Some(at) => before.swap_remove(at),
                None => Told { cause, finding: Single::default() },
            };
            self.told.push(told);
        }
    }

    /// All findings. The same words for the same methods are one.
    pub(crate) fn all(&self) -> Vec<Arc<Finding>> {
        let told = self.told.iter().filter_map(|told| told.finding.value.as_ref());
        let mut findings: Vec<Arc<Finding>> = told.chain(&self.waits.value).cloned().collect();
        findings.sort_by_cached_key(|finding| (finding.id.clone(), words(finding), finding.clone()));
        findings.dedup_by(|later, first| later.id == first.id && words(later) == words(first));
        for alike in findings.chunk_by_mut(|a, b| a.id == b.id).filter(|alike| alike.len() > 1) {
            let mut twins: Vec<Finding> = alike.iter().map(|finding| Finding::clone(finding)).collect();
            keep_apart(&mut twins);
            alike.iter_mut().zip(twins).for_each(|(finding, twin)| *finding = Arc::new(twin));
        }
        findings
    }

    pub(crate) fn sizes(&self, sizes: &mut Sizes) {
        self.chosen.sizes(sizes);
        sizes.add("told deadlocks", self.told.len());
    }
}

impl Told {
    fn update(&mut self, stages: &Stages<'_>, describe: &Describe<'_>, follows: bool, changes: &Changes) {
        let everything = Changes::everything();
        let changes = if self.finding.value.is_some() { changes } else { &everything };
        let finding = || Some(Arc::new(cycle_finding(stages, describe, &self.cause)));
        let before = self.finding.update(follows, changes, finding);
        // Who keeps the older one need not compare.
        if let Some(before) = before.filter(|before| before.is_some() && *before == self.finding.value) {
            self.finding.value = before;
        }
    }
}

impl Cause {
    fn new(stages: &Stages<'_>, graph: &Graph, group: &Group) -> Cause {
        let sides = group.best.sides.iter().map(|side| Side {
            nesting: graph.nestings[side.at].clone(),
            origin: side.origin,
            from: graph.nodes[side.from as usize],
        });
        let spots = |nestings: &Few<usize>| {
            let mut spots = nestings.iter().filter_map(|&at| wanted_at(stages, &graph.nestings[at]));
            match (spots.next(), spots.next(), spots.next()) {
                (Some(one), Some(other), None) => Some([one.min(other), one.max(other)]),
                _ => None,
            }
        };
        let wanted = group.kinds.values().filter_map(spots).collect();
        Cause { sides: sides.collect(), doubts: group.best.doubts, wanted }
    }
}

/// Where a nesting wants its lock.
fn wanted_at(stages: &Stages<'_>, nesting: &Nesting) -> Option<Spot> {
    match &nesting.wants {
        Wanted::Lock(wanted) => Some((stages.pointsto.method(wanted.act), wanted.stmt)),
        Wanted::End(_) => None,
    }
}

fn lock_site(stages: &Stages<'_>, node: LockNode) -> LockSite {
    match node {
        LockNode::Object(object) | LockNode::Part { object, .. } | LockNode::Explicit { object, .. } => {
            let object = stages.pointsto.object(object);
            (Some(object.site), object.class)
        }
        LockNode::Class(class) => (None, class),
    }
}

fn point(origin: Origin, nesting: &Nesting) -> Point {
    Point { origin, act: nesting.act, stmt: nesting.stmt.unwrap_or(StmtId(0)) }
}

fn cycle_finding(stages: &Stages<'_>, describe: &Describe<'_>, cycle: &Cause) -> Finding {
    let mut sites: Vec<findings::Site> =
        cycle.sides.iter().map(|side| wanting_site(describe, side)).collect();
    // Begin at the first place, so that the same cycle reads the same whichever lock has the smallest id.
    let first =
        (0..sites.len()).min_by_key(|&n| (sites[n].place.clone(), sites[n].method.clone())).unwrap_or(0);
    sites.rotate_left(first);
    let sides = cycle.sides.iter().cycle().skip(first);
    let held = sides.zip(&sites).filter_map(|(side, site)| Some((side, site.holds.as_ref()?)));
    let held: Vec<(LockNode, String)> =
        held.map(|(side, lock)| (side.from, shown(stages, side.from, &lock.name))).collect();
    let message = match held.as_slice() {
        [(a, _), (b, _)] if lock_site(stages, *a) == lock_site(stages, *b) => {
            let (_, class) = lock_site(stages, *a);
            let kind = stages.program.class_display(class);
            format!("lock-order inversion: two threads lock two objects of {kind} in opposite order")
        }
        [(a, first), (b, second)] => {
            // Two objects of one class, made in two places.
            let [first, second] = match first == second {
                true => [allocated(describe, *a, first), allocated(describe, *b, second)],
                false => [first.clone(), second.clone()],
            };
            format!("lock-order inversion: {first} → {second} in one thread, {second} → {first} in another")
        }
        locks => {
            let names = locks.iter().chain(locks.first()).map(|(_, name)| name.as_str());
            let names = names.collect::<Vec<_>>().join(" → ");
            format!("{} threads wait for each other in a lock-order cycle: {names}", locks.len())
        }
    };
    let mut why =
        vec!["the threads may run at the same time and no other lock is held around both".to_string()];
    why.extend(cycle.doubts.iter().map(Doubt::text));
    let also = also(stages, describe, cycle);
    Finding { also, ..deadlock(cycle.doubts, message, why, sites) }
}

/// A lock by its field or class; where that is not its name, with its class: `bank.Account (this)`.
fn shown(stages: &Stages<'_>, lock: LockNode, name: &str) -> String {
    let (_, class) = lock_site(stages, lock);
    match name.contains('.') {
        true => name.to_string(),
        false => format!("{} ({name})", stages.program.class_display(class)),
    }
}

/// A lock with the place where it is allocated, if that is known.
fn allocated(describe: &Describe<'_>, lock: LockNode, name: &str) -> String {
    let place = match lock {
        LockNode::Object(object) | LockNode::Part { object, .. } | LockNode::Explicit { object, .. } => {
            describe.object_place(object)
        }
        LockNode::Class(_) => None,
    };
    place.map_or_else(|| name.to_string(), |place| format!("{name} of {}:{}", place.file, place.line))
}

/// Pairs of places other than those shown, each once.
fn also(stages: &Stages<'_>, describe: &Describe<'_>, cycle: &Cause) -> Vec<(Place, Place)> {
    let place = |(method, stmt): Spot| describe.lock_place(method, stmt);
    let shown = cycle.sides.iter().filter_map(|side| wanted_at(stages, &side.nesting));
    let mut shown: Vec<Place> = shown.map(place).collect();
    shown.sort();
    let mut also = BTreeSet::new();
    for spots in &cycle.wanted {
        let mut places = spots.map(place);
        places.sort();
        if shown != places {
            let [one, other] = places;
            also.insert((one, other));
        }
    }
    also.into_iter().collect()
}

/// One side: the way through the place where the held lock is taken, and all that is held on it.
fn wanting_site(describe: &Describe<'_>, side: &Side) -> findings::Site {
    let mut site = holding_site(describe, side.origin, &side.nesting, AccessKind::Acquire);
    if let Wanted::Lock(wanted) = &side.nesting.wants {
        site.acquires = Some(describe.lock(wanted));
        site.place = describe.lock(wanted).place;
        tell_apart(describe, side, wanted, &mut site);
    }
    site
}

/// Where both locks have one name, says which object each of them is.
fn tell_apart(describe: &Describe<'_>, side: &Side, wanted: &HeldLock, site: &mut findings::Site) {
    let (Some(holds), Some(acquires)) = (&mut site.holds, &mut site.acquires) else { return };
    if holds.name != acquires.name {
        return;
    }
    let held = &side.nesting.held;
    let object = describe.lock_object(held, &describe.calls_to_lock(side.origin, held));
    acquires.object = describe.lock_object(wanted, &side.nesting.calls);
    if acquires.object == object {
        acquires.object = format!("another {object}");
    }
    for lock in site.locks.iter_mut().filter(|lock| *lock == holds) {
        lock.object.clone_from(&object);
    }
    holds.object = object;
}

fn holding_site(
    describe: &Describe<'_>,
    origin: Origin,
    nesting: &Nesting,
    access: AccessKind,
) -> findings::Site {
    let mut site = describe.site_by_calls(point(origin, nesting), access, &nesting.calls);
    let holds = describe.lock(&nesting.held);
    site.locks = nesting.locks.iter().map(|lock| describe.lock(lock)).collect();
    site.locks.push(holds.clone());
    site.locks.sort();
    site.locks.dedup();
    site.holds = Some(holds);
    site
}

/// Calls on all sides together that a reader still follows; over more, something is easily overlooked.
const MOST_CALLS: usize = 8;

fn deadlock(doubts: Doubts, message: String, mut why: Vec<String>, sites: Vec<findings::Site>) -> Finding {
    let mut confidence = doubts.confidence();
    if confidence == Confidence::High && sites.iter().map(|site| site.trace.len()).sum::<usize>() > MOST_CALLS
    {
        confidence = Confidence::Medium;
        why.push("many calls away: one of the calls may lead elsewhere".into());
    }
    let mut parts: Vec<String> = sites.iter().map(side_words).map(|words| unnumbered(&words)).collect();
    parts.sort();
    let mut all: Vec<&str> = vec!["deadlock"];
    all.extend(parts.iter().map(String::as_str));
    Finding {
        id: fingerprint(&all),
        rule: Rule::Deadlock,
        confidence,
        limit: Some(confidence),
        engines: vec![Engine::WholeProgram],
        message,
        field: None,
        object: None,
        sites,
        why,
        ..Finding::default()
    }
}

/// Everything that identifies a finding, as the class files name it.
fn words(finding: &Finding) -> Vec<String> {
    let mut words: Vec<String> = finding.sites.iter().map(side_words).collect();
    words.sort();
    words
}

fn side_words(site: &findings::Site) -> String {
    let name =
        |lock: &Option<findings::LockUse>| lock.as_ref().map(|lock| lock.name.clone()).unwrap_or_default();
    format!("{:?} {} {} {}", site.access, site.method, name(&site.holds), name(&site.acquires))
}
