//! Deadlocks: threads that wait for each other in a circle of locks, or for the end of a thread that needs one.
//! One finding for each set of locks; decides no order, and knows nothing of how locks came to be held.

mod cycles;
mod doubt;
mod long;
mod waits;

use crate::Stages;
use crate::describe::Describe;
use cycles::{Cycle, Search, Side};
use doubt::Doubt;
use findings::{AccessKind, Confidence, Engine, Finding, Place, Rule, fingerprint};
use happens_before::{LockNode, Nesting, Origin, Point, Wanted};
use ir::{ClassId, StmtId};
use pointsto::Site;
use std::collections::{BTreeMap, BTreeSet};

/// What locks have in common that are made in one place: the same cause, whichever of them it is.
type LockSite = (Option<Site>, ClassId);

/// Cycles over the same locks.
struct Group<'a> {
    best: Cycle<'a>,
    /// One of each kind.
    kinds: BTreeMap<Vec<u32>, Vec<Place>>,
}

pub(crate) fn find(stages: &Stages<'_>, describe: &Describe<'_>) -> Vec<Finding> {
    let search = Search::new(stages, describe);
    let mut groups: BTreeMap<BTreeSet<LockSite>, Group<'_>> = BTreeMap::new();
    search.cycles(&mut |cycle| {
        let sites = cycle.sides.iter().map(|side| lock_site(stages, side.from)).collect();
        let kinds = search.kinds(&cycle);
        let places = || search.places(&cycle).into_iter().cloned().collect();
        match groups.get_mut(&sites) {
            None => {
                let kinds = BTreeMap::from([(kinds, places())]);
                groups.insert(sites, Group { best: cycle, kinds });
            }
            Some(group) => {
                group.kinds.entry(kinds).or_insert_with(places);
                if search.rank(&cycle) < search.rank(&group.best) {
                    group.best = cycle;
                }
            }
        }
    });
    let confidence = |group: &Group<'_>| doubt::of(&group.best.doubts);
    let is_told_already = |sites: &BTreeSet<LockSite>, group: &Group<'_>| {
        let mut others = groups.iter().filter(|(smaller, _)| smaller.len() < sites.len());
        others.any(|(smaller, other)| smaller.is_subset(sites) && confidence(other) <= confidence(group))
    };
    let told = groups.iter().filter(|(sites, group)| !is_told_already(sites, group));
    let mut findings: Vec<Finding> =
        told.map(|(_, group)| cycle_finding(stages, describe, &search, group)).collect();
    findings.extend(waits::find(stages, describe));
    dedupe(findings)
}

fn lock_site(stages: &Stages<'_>, node: LockNode) -> LockSite {
    match node {
        LockNode::Object(object) | LockNode::Part { object, .. } => {
            let object = stages.pointsto.object(object);
            (Some(object.site), object.class)
        }
        LockNode::Class(class) => (None, class),
    }
}

fn point(origin: Origin, nesting: &Nesting) -> Point {
    Point { origin, act: nesting.act, stmt: nesting.stmt.unwrap_or(StmtId(0)) }
}

fn cycle_finding(
    stages: &Stages<'_>,
    describe: &Describe<'_>,
    search: &Search<'_>,
    group: &Group<'_>,
) -> Finding {
    let cycle = &group.best;
    let mut sites: Vec<findings::Site> =
        cycle.sides.iter().map(|side| wanting_site(describe, side)).collect();
    // Begin at the first place, so that the same cycle reads the same whichever lock has the smallest id.
    let first =
        (0..sites.len()).min_by_key(|&n| (sites[n].place.clone(), sites[n].method.clone())).unwrap_or(0);
    sites.rotate_left(first);
    let sides = cycle.sides.iter().cycle().skip(first);
    let held = sides.zip(&sites).filter_map(|(side, site)| Some((side, site.holds.as_ref()?)));
    let names: Vec<String> = held.map(|(side, lock)| shown(stages, side.from, &lock.name)).collect();
    let names = names.join(" -> ");
    let message = match cycle.sides.as_slice() {
        [a, b] if lock_site(stages, a.from) == lock_site(stages, b.from) => {
            let (_, class) = lock_site(stages, a.from);
            let kind = stages.program.class_display(class);
            format!("two threads lock two objects of one kind, {kind}, in opposite order")
        }
        [_, _] => format!("two threads take two locks in opposite order: {names}"),
        sides => format!("{} threads wait for each other in a circle of locks: {names}", sides.len()),
    };
    let mut why =
        vec!["the threads may run at the same time and no other lock is held around both".to_string()];
    why.extend(cycle.doubts.iter().map(Doubt::text));
    let also = also(search.places(cycle), group.kinds.values());
    Finding { also, ..deadlock(doubt::of(&cycle.doubts), message, why, sites) }
}

/// A lock by its field or class; where that is not its name, with its class: `bank.Account (this)`.
fn shown(stages: &Stages<'_>, lock: LockNode, name: &str) -> String {
    let (_, class) = lock_site(stages, lock);
    match name.contains('.') {
        true => name.to_string(),
        false => format!("{} ({name})", stages.program.class_display(class)),
    }
}

/// Pairs of places other than those shown, each once.
fn also<'a>(mut shown: Vec<&Place>, all: impl Iterator<Item = &'a Vec<Place>>) -> Vec<(Place, Place)> {
    shown.sort();
    let mut also = BTreeSet::new();
    for places in all {
        let mut places: Vec<&Place> = places.iter().collect();
        places.sort();
        if let ([a, b], true) = (places.as_slice(), places != shown) {
            also.insert((Place::clone(a), Place::clone(b)));
        }
    }
    also.into_iter().collect()
}

/// One side: the way through the place where the held lock is taken, and all that is held on it.
fn wanting_site(describe: &Describe<'_>, side: &Side<'_>) -> findings::Site {
    let mut site = holding_site(describe, side.origin, side.nesting, AccessKind::Acquire);
    if let Wanted::Lock(wanted) = &side.nesting.wants {
        let wanted = describe.lock(wanted);
        site.place = wanted.place.clone();
        site.acquires = Some(wanted);
    }
    site
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
        fields: Vec::new(),
        also: Vec::new(),
    }
}

/// The same words for the same methods are one finding.
fn dedupe(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| (&a.id, a.confidence, a).cmp(&(&b.id, b.confidence, b)));
    findings.dedup_by(|later, first| later.id == first.id);
    findings
}
