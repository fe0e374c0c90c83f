//! Data races: pairs of accesses that survive every stage. Same location, at least one write, origins that may
//! overlap, an object both can reach, no common lock, not before publication.

use crate::Stages;
use crate::access::{Access, AccessId, Accesses, Location, What};
use crate::confidence::{self, Doubt};
use crate::describe::Describe;
use findings::{AccessKind, Confidence, Engine, Finding, Place, Rule, fingerprint};
use happens_before::{AccessPoint, Freshness, Origin, Point, Protection};
use ir::{MethodId, StmtId};
use pointsto::Obj;
use rayon::prelude::*;
use std::collections::BTreeMap;

pub(crate) struct Races {
    pub(crate) findings: Vec<Finding>,
    pub(crate) pairs: Vec<(String, u64)>,
}

/// How far a pair of statements came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    SameObject,
    Published,
    TwoOrigins,
    Overlapping,
    Unlocked,
}

const STAGES: [(Stage, &str); 5] = [
    (Stage::SameObject, "may touch the same object"),
    (Stage::Published, "after publication"),
    (Stage::TwoOrigins, "by two threads on one object"),
    (Stage::Overlapping, "at the same time"),
    (Stage::Unlocked, "without a common lock"),
];

/// A surviving pair: who, on what, and how sure.
#[derive(Debug, Clone)]
struct Witness {
    a: AccessId,
    b: AccessId,
    origins: (Origin, Origin),
    location: Location,
    doubts: Vec<Doubt>,
    confidence: Confidence,
}

/// Two statements, lower first.
type Pair = ((MethodId, StmtId), (MethodId, StmtId));

pub(crate) fn find(stages: &Stages<'_>) -> Races {
    let accesses = Accesses::collect(stages);
    let locations: Vec<(&Location, &Vec<AccessId>)> = accesses.by_location.iter().collect();
    // Locations are independent; collecting keeps their order, so the result does not depend on the threads.
    let checked: Vec<BTreeMap<(What, Pair), (Stage, Option<Witness>)>> = locations
        .par_iter()
        .map(|(location, ids)| check_location(stages, &accesses, **location, ids))
        .collect();
    let mut pairs: BTreeMap<(What, Pair), (Stage, Option<Witness>)> = BTreeMap::new();
    for (key, (stage, witness)) in checked.into_iter().flatten() {
        let best = pairs.entry(key).or_insert((stage, None));
        best.0 = best.0.max(stage);
        if let Some(witness) = witness
            && best.1.as_ref().is_none_or(|old| witness.confidence < old.confidence)
        {
            best.1 = Some(witness);
        }
    }
    let mut counts =
        vec![("accesses to the same field, one a write".to_string(), same_field_pairs(&accesses))];
    for (stage, name) in STAGES {
        let count = pairs.values().filter(|(reached, _)| *reached >= stage).count();
        counts.push((name.to_string(), count as u64));
    }
    let witnesses: Vec<Witness> = pairs.into_values().filter_map(|(_, witness)| witness).collect();
    let findings = group(stages, &accesses, witnesses);
    Races { findings, pairs: counts }
}

/// Pairs of statements before any analysis: same field (or both array elements), one of them a write.
fn same_field_pairs(accesses: &Accesses) -> u64 {
    let mut by_field: BTreeMap<What, BTreeMap<(MethodId, StmtId), bool>> = BTreeMap::new();
    for (_, access) in accesses.all.iter() {
        *by_field.entry(access.what).or_default().entry((access.method, access.stmt)).or_default() |=
            access.write;
    }
    let pairs = |sites: &BTreeMap<(MethodId, StmtId), bool>| {
        let writes = sites.values().filter(|&&write| write).count() as u64;
        let reads = sites.len() as u64 - writes;
        writes * (writes + 1) / 2 + writes * reads
    };
    by_field.values().map(pairs).sum()
}

fn check_location(
    stages: &Stages<'_>,
    accesses: &Accesses,
    location: Location,
    ids: &[AccessId],
) -> BTreeMap<(What, Pair), (Stage, Option<Witness>)> {
    let mut pairs = BTreeMap::new();
    for (n, &a) in ids.iter().enumerate() {
        for &b in &ids[n..] {
            let (left, right) = (&accesses.all[a], &accesses.all[b]);
            if !(left.write || right.write) || !(left.in_app || right.in_app) {
                continue;
            }
            let (stage, witness) = check_pair(stages, accesses, location, a, b);
            let best = pairs.entry((left.what, pair_of(left, right))).or_insert((stage, None));
            best.0 = best.0.max(stage);
            if let Some(witness) = witness
                && best.1.as_ref().is_none_or(|old: &Witness| witness.confidence < old.confidence)
            {
                best.1 = Some(witness);
            }
        }
    }
    pairs
}

fn pair_of(a: &Access, b: &Access) -> Pair {
    let (a, b) = ((a.method, a.stmt), (b.method, b.stmt));
    if a <= b { (a, b) } else { (b, a) }
}

/// One pair of accesses on one location: every stage in turn, the best witness over all pairs of origins.
fn check_pair(
    stages: &Stages<'_>,
    accesses: &Accesses,
    location: Location,
    a: AccessId,
    b: AccessId,
) -> (Stage, Option<Witness>) {
    let hb = stages.happens_before;
    let (left, right) = (&accesses.all[a], &accesses.all[b]);
    if let (Some(i), Some(j)) = (left.index, right.index)
        && i != j
    {
        return (Stage::SameObject, None);
    }
    let fresh =
        |access: &Access| access.base.map_or(Freshness::No, |base| hb.fresh(access.act, access.stmt, base));
    let handed_over = match (fresh(left), fresh(right)) {
        (Freshness::Unpublished, _) | (_, Freshness::Unpublished) => return (Stage::SameObject, None),
        (Freshness::Taken, Freshness::Taken) => true,
        _ => false,
    };
    if handed_over {
        return (Stage::Published, None);
    }
    let mut reached = Stage::Published;
    let mut best: Option<Witness> = None;
    for &p in hb.origins_of(left.act) {
        for &q in hb.origins_of(right.act) {
            let same = p == q;
            if same
                && (!hb.origins()[p].overlaps_itself
                    || location.obj.is_some_and(|obj| hb.instance_local(p, obj)))
            {
                continue;
            }
            reached = reached.max(Stage::TwoOrigins);
            let points = (
                Point { origin: p, act: left.act, stmt: left.stmt },
                Point { origin: q, act: right.act, stmt: right.stmt },
            );
            if hb.ordered(&points.0, &points.1).is_some() {
                continue;
            }
            reached = reached.max(Stage::Overlapping);
            let point = |point: Point, access: &Access| AccessPoint {
                point,
                base: access.base,
                object: location.obj,
                is_write: access.write,
            };
            let protection = hb.protects(&point(points.0, left), &point(points.1, right));
            if let Protection::Yes(_) = protection {
                continue;
            }
            reached = Stage::Unlocked;
            let doubts = confidence::doubts(stages, left, right, location, &protection);
            let confidence = confidence::of(&doubts);
            if best.as_ref().is_none_or(|old| confidence < old.confidence) {
                best = Some(Witness { a, b, origins: (p, q), location, doubts, confidence });
            }
            if confidence == Confidence::High {
                return (reached, best);
            }
        }
    }
    (reached, best)
}

/// One finding per cause: the same memory, the same two methods.
fn group(stages: &Stages<'_>, accesses: &Accesses, witnesses: Vec<Witness>) -> Vec<Finding> {
    let describe = Describe::new(stages);
    let mut groups: BTreeMap<(What, Option<Obj>, MethodId, MethodId), Vec<Witness>> = BTreeMap::new();
    for witness in witnesses {
        let (a, b) = (&accesses.all[witness.a], &accesses.all[witness.b]);
        let shown = |access: &Access, origin: Origin| {
            let point = Point { origin, act: access.act, stmt: access.stmt };
            stages.pointsto.method(describe.users_point(point).act)
        };
        let (m, n) = (shown(a, witness.origins.0), shown(b, witness.origins.1));
        let methods = if m <= n { (m, n) } else { (n, m) };
        // Elements and contents have no name of their own: the object tells them apart.
        let obj = match witness.location.what {
            What::Elements | What::Contents => witness.location.obj,
            What::Field(_) | What::Static(_) => None,
        };
        groups.entry((witness.location.what, obj, methods.0, methods.1)).or_default().push(witness);
    }
    groups.into_values().map(|group| finding(stages, accesses, group)).collect()
}

fn finding(stages: &Stages<'_>, accesses: &Accesses, mut group: Vec<Witness>) -> Finding {
    let describe = Describe::new(stages);
    let place = |access: &Access, origin: Origin| {
        let shown = describe.users_point(Point { origin, act: access.act, stmt: access.stmt });
        describe.place(shown.act, shown.stmt)
    };
    let places = |witness: &Witness| -> (Place, Place) {
        let (a, b) = (&accesses.all[witness.a], &accesses.all[witness.b]);
        (place(a, witness.origins.0), place(b, witness.origins.1))
    };
    // The surest pair stands for the group, two writes before a write and a read, then the earliest lines.
    let reads = |witness: &Witness| {
        let sides = [&accesses.all[witness.a], &accesses.all[witness.b]];
        sides.iter().filter(|access| !access.write).count()
    };
    group.sort_by_key(|witness| (witness.confidence, reads(witness), places(witness)));
    let best = &group[0];
    let (a, b) = (&accesses.all[best.a], &accesses.all[best.b]);
    let (mut first, mut second) = ((a, best.origins.0), (b, best.origins.1));
    // The write comes first; between two writes the earlier line.
    if !first.0.write && second.0.write || first.0.write == second.0.write && places(best).1 < places(best).0
    {
        std::mem::swap(&mut first, &mut second);
    }
    let kind = |access: &Access| if access.write { AccessKind::Write } else { AccessKind::Read };
    let sites = [first, second].map(|(access, origin)| {
        describe.site(Point { origin, act: access.act, stmt: access.stmt }, kind(access))
    });
    let name = describe.location(best.location);
    let verb = |access: &Access| if access.write { "written" } else { "read" };
    let message = if first.1 == second.1 {
        format!("{name} is {} by several instances of one thread", both(verb(first.0), verb(second.0)))
    } else {
        format!("{name} is {} by two threads", both(verb(first.0), verb(second.0)))
    };
    let mut also: Vec<(Place, Place)> = group[1..].iter().map(places).collect();
    let shown = places(best);
    also.sort();
    also.dedup();
    also.retain(|pair| *pair != shown && (pair.1.clone(), pair.0.clone()) != shown);
    let mut sides = [(first.0, &sites[0]), (second.0, &sites[1])]
        .map(|(access, site)| format!("{:?} {}", kind(access), site.method));
    sides.sort();
    let object = best.location.obj.and_then(|obj| describe.object_place(obj));
    let kind_of_memory = match best.location.what {
        What::Elements | What::Contents => {
            object.as_ref().map(|place| place.file.clone()).unwrap_or_default()
        }
        _ => String::new(),
    };
    Finding {
        id: fingerprint(&["race", &name, &kind_of_memory, &sides[0], &sides[1]]),
        rule: Rule::Race,
        confidence: best.confidence,
        engines: vec![Engine::WholeProgram],
        message,
        field: Some(name),
        object,
        sites: sites.into_iter().collect(),
        why: describe.why_race(first.1, second.1, &best.doubts),
        also,
    }
}

fn both(a: &str, b: &str) -> String {
    if a == b { a.to_string() } else { format!("{a} and {b}") }
}
