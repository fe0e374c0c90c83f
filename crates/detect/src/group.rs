//! Which surviving pairs have one cause, and the finding that tells it. Knows objects, their parts and who calls
//! into them; decides no order and no lock.

use crate::Stages;
use crate::access::{Access, Accesses, Location, What};
use crate::anchor::Anchor;
use crate::describe::Describe;
use crate::race::Witness;
use findings::{AccessKind, Confidence, Engine, Finding, Place, Rule, fingerprint};
use happens_before::{Content, Origin, Point};
use ir::{ClassId, MethodId};
use pointsto::{Act, Obj, Site};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Further pairs of one cause that are listed.
pub(crate) const MOST_ALSO: usize = 50;

/// Causes on one piece of memory, alike in all but their operations, that are told one by one. Where there are more,
/// every operation is at odds with every other, and that is the cause.
const MOST_CAUSES: usize = 8;

/// The object a piece of memory belongs to, by where it is made; the class for statics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Whole {
    Object(ClassId, Site),
    Statics(ClassId),
}

/// How a thread comes to touch an object: the method of the object that it calls, from which method outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Operation {
    method: MethodId,
    caller: Option<MethodId>,
}

/// What two witnesses of one cause have in common, any of these.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Tie {
    /// What is hardly believed is told once per piece of memory.
    Doubtful(What, Option<Whole>),
    /// Two operations on one object, whatever they do to its fields and parts.
    SameOperations(Whole, Operation, Operation),
    /// One operation on the object that takes no lock, whatever it meets.
    Unlocked(Whole, Operation),
    /// One method of the object's own that touches this memory without a lock, whatever it meets there.
    UnlockedOn(What, Whole, Operation),
}

/// A witness as it is told.
struct Told<'w> {
    witness: &'w Witness,
    /// The shown place of each side.
    places: (Place, Place),
    ties: Vec<Tie>,
    /// Called from outside the object, on how many sides.
    operated: usize,
    /// One side holds a lock, the other none: somebody thought of one.
    one_locked: bool,
    both_locked: bool,
    memory: Memory,
}

/// A field; or elements and contents, with their object.
type Memory = (What, Option<Whole>);
/// How sure a pair is, and whether both sides hold a lock.
type Sureness = (Confidence, bool);

/// One finding per cause.
pub(crate) fn findings(
    stages: &Stages<'_>,
    describe: &Describe<'_>,
    accesses: &Accesses,
    witnesses: &[Witness],
) -> Vec<Finding> {
    let told: Vec<Told<'_>> =
        witnesses.par_iter().map(|witness| tell(stages, describe, accesses, witness)).collect();
    let mut groups = Groups::new(told.len());
    let mut first: BTreeMap<&Tie, usize> = BTreeMap::new();
    for (at, told) in told.iter().enumerate() {
        for tie in &told.ties {
            let known = *first.entry(tie).or_insert(at);
            groups.join(known, at);
        }
    }
    join_crowds(&mut groups, &told);
    let members: Vec<Vec<&Told<'_>>> = groups.members(&told).into_values().collect();
    let mut findings: Vec<Finding> =
        members.into_par_iter().map(|group| finding(describe, accesses, group)).collect();
    findings.sort();
    keep_apart(&mut findings);
    findings
}

/// Makes one of groups on the same memory that are too many to be told one by one.
fn join_crowds(groups: &mut Groups, told: &[Told<'_>]) {
    let mut alike: BTreeMap<(BTreeSet<Memory>, Option<Sureness>), Vec<usize>> = BTreeMap::new();
    for (at, members) in groups.members(told) {
        let memory = members.iter().map(|told| told.memory).collect();
        let surest = members.iter().map(|told| (told.witness.confidence, told.both_locked)).min();
        alike.entry((memory, surest)).or_default().push(at);
    }
    for crowd in alike.into_values().filter(|crowd| crowd.len() > MOST_CAUSES) {
        crowd.iter().for_each(|&at| groups.join(crowd[0], at));
    }
}

fn tell<'w>(
    stages: &Stages<'_>,
    describe: &Describe<'_>,
    accesses: &Accesses,
    witness: &'w Witness,
) -> Told<'w> {
    let sides = sides(accesses, witness);
    let whole = whole(stages, &describe.content, witness);
    let ways = sides.map(|(point, anchor)| describe.way(point, anchor));
    let place = |way: &[(Act, ir::StmtId)]| way.last().map(|&(act, stmt)| describe.place(act, stmt));
    let places = (place(&ways[0]).unwrap_or_default(), place(&ways[1]).unwrap_or_default());
    let (mut operated, mut one_locked, mut both_locked) = (0, false, false);
    let unnamed = whole_of_unnamed(witness.location, whole);
    let ties = match whole {
        Some(whole) if witness.confidence < Confidence::Low => {
            let family = family(stages, witness.location);
            let alike = witness.origins.0 == witness.origins.1;
            let mut operations = [&ways[0], &ways[1]].map(|way| operation(stages, way, &family, alike));
            let locked = [0, 1].map(|at| {
                let (point, anchor) = sides[at];
                stages.happens_before.holds_any(&point) || anchor.is_some_and(|way| !way.locked.is_empty())
            });
            operated = operations.iter().filter(|operation| operation.caller.is_some()).count();
            one_locked = locked[0] != locked[1];
            both_locked = locked[0] && locked[1];
            let tie = |operation: Operation| match operation.caller {
                Some(_) => Tie::Unlocked(whole, operation),
                None => Tie::UnlockedOn(witness.location.what, whole, operation),
            };
            let unlocked = (0..2).filter(|&at| !locked[at]);
            let mut ties: Vec<Tie> = unlocked.map(|at| tie(operations[at])).collect();
            operations.sort();
            ties.push(Tie::SameOperations(whole, operations[0], operations[1]));
            ties
        }
        _ => vec![Tie::Doubtful(witness.location.what, unnamed)],
    };
    let memory = (witness.location.what, unnamed);
    Told { witness, places, ties, operated, one_locked, both_locked, memory }
}

/// Fields are told apart by their names, elements and contents by their object.
fn whole_of_unnamed(location: Location, whole: Option<Whole>) -> Option<Whole> {
    match location.what {
        What::Elements | What::Contents => whole,
        What::Field(_) | What::Static(_) => None,
    }
}

fn sides<'w>(accesses: &Accesses, witness: &'w Witness) -> [(Point, Option<&'w Anchor>); 2] {
    let point = |origin: Origin, access: &Access| Point { origin, act: access.act, stmt: access.stmt };
    let anchors = witness.anchors.as_ref();
    [
        (point(witness.origins.0, &accesses.all[witness.a]), anchors.map(|(anchor, _)| anchor)),
        (point(witness.origins.1, &accesses.all[witness.b]), anchors.map(|(_, anchor)| anchor)),
    ]
}

fn whole(stages: &Stages<'_>, content: &Content<'_>, witness: &Witness) -> Option<Whole> {
    match (witness.location.what, witness.location.obj) {
        (What::Static(field), _) => Some(Whole::Statics(stages.program.field(field).class)),
        (_, Some(obj)) => {
            // Of several wholes, the one through which it was reached.
            let ways = witness.anchors.iter().flat_map(|(way, other)| [way, other]);
            let reached = ways.map(|way| owner(stages, way)).find(|&owner| owner != obj).unwrap_or(obj);
            let tops = stages.happens_before.wholes(reached).into_iter();
            let top = tops.min_by(|&a, &b| content.objects(a, b))?;
            let object = stages.pointsto.object(top);
            Some(Whole::Object(object.class, object.site))
        }
        (_, None) => None,
    }
}

/// The outermost object on the way of which the accessed one is a part.
fn owner(stages: &Stages<'_>, way: &Anchor) -> Obj {
    let private = way.fields.iter().take_while(|&&field| stages.happens_before.is_private(field)).count();
    let of_part = |level: &&crate::anchor::Level| level.depth <= private;
    way.levels.iter().rfind(of_part).unwrap_or(way.top()).obj
}

/// The object and everything it is a part of.
fn family(stages: &Stages<'_>, location: Location) -> BTreeSet<Obj> {
    let mut family: BTreeSet<Obj> = location.obj.into_iter().collect();
    let mut left: Vec<Obj> = family.iter().copied().collect();
    while let Some(part) = left.pop() {
        let wholes = stages.happens_before.parts_of(part);
        left.extend(wholes.into_iter().filter(|&whole| family.insert(whole)));
    }
    family
}

/// The outermost method on the object that leads to the access without leaving the object. Without a caller
/// outside, the thread begins in the object: then the method that touches it, or for threads of one kind, which
/// run all of it, the first one.
fn operation(
    stages: &Stages<'_>,
    way: &[(Act, ir::StmtId)],
    family: &BTreeSet<Obj>,
    alike: bool,
) -> Operation {
    let method = |at: usize| stages.pointsto.method(way[at].0);
    let is_inside = |&(act, _): &(Act, ir::StmtId)| {
        let body = stages.program.lowered(stages.pointsto.method(act));
        let this = body.and_then(|body| body.params.first().copied());
        let is_static = stages.program.method(stages.pointsto.method(act)).is_static();
        let objects = this.filter(|_| !is_static).map(|this| stages.pointsto.pts(act, this));
        objects.is_some_and(|objects| family.iter().any(|&obj| objects.contains(obj)))
    };
    let inner = way.len() - 1;
    let inside = way.iter().rev().take_while(|frame| is_inside(frame)).count();
    match inside {
        0 => Operation { method: method(inner), caller: None },
        _ if inside < way.len() => {
            let first = way.len() - inside;
            Operation { method: method(first), caller: Some(method(first - 1)) }
        }
        _ => Operation { method: method(if alike { 0 } else { inner }), caller: None },
    }
}

fn finding(describe: &Describe<'_>, accesses: &Accesses, mut group: Vec<&Told<'_>>) -> Finding {
    // The surest pair stands for the group; then operations on the object, a forgotten lock, two writes before a
    // write and a read, the earliest lines.
    let reads = |told: &Told<'_>| {
        let sides = [&accesses.all[told.witness.a], &accesses.all[told.witness.b]];
        sides.iter().filter(|access| !access.write).count()
    };
    group.sort_by_cached_key(|told| {
        let name = describe.location(told.witness.location);
        (told.witness.confidence, 2 - told.operated, !told.one_locked, reads(told), told.places.clone(), name)
    });
    let best = group[0].witness;
    let (a, b) = (&accesses.all[best.a], &accesses.all[best.b]);
    let [left, right] = sides(accesses, best);
    let (mut first, mut second) = ((a, left, right.0), (b, right, left.0));
    // The write comes first; between two writes the earlier line.
    let (place, other) = &group[0].places;
    if !first.0.write && second.0.write || first.0.write == second.0.write && other < place {
        std::mem::swap(&mut first, &mut second);
    }
    let kind = |access: &Access| if access.write { AccessKind::Write } else { AccessKind::Read };
    let sites = [first, second]
        .map(|(access, (point, anchor), other)| describe.site_against(point, kind(access), anchor, other));
    let name = describe.location(best.location);
    let verb = |access: &Access| if access.write { "written" } else { "read" };
    let (p, q) = (first.1.0.origin, second.1.0.origin);
    let who = if p == q { "several instances of one thread" } else { "two threads" };
    let shown = describe.headline(best.location, [left, right]);
    let message = format!("{shown} is {} by {who}", both(verb(first.0), verb(second.0)));
    let mut also: Vec<(Place, Place)> = group[1..].iter().map(|told| told.places.clone()).collect();
    also.sort();
    also.dedup();
    also.retain(|(a, b)| (a, b) != (place, other) && (b, a) != (place, other));
    let mut why = describe.why_race(p, q, &best.doubts);
    if also.len() > MOST_ALSO {
        also.truncate(MOST_ALSO);
        why.push(format!(
            "more than {MOST_ALSO} other pairs of places have the same cause; not all are listed"
        ));
    }
    let mut sides = [(first.0, &sites[0]), (second.0, &sites[1])]
        .map(|(access, site)| format!("{:?} {}", kind(access), site.method));
    sides.sort();
    let object = best.location.obj.and_then(|obj| describe.object_place(obj));
    let file_of_unnamed = match best.location.what {
        What::Elements | What::Contents => object.as_ref().map_or("", |place| &place.file),
        What::Field(_) | What::Static(_) => "",
    };
    let fields: BTreeSet<String> =
        group.iter().map(|told| describe.location(told.witness.location)).collect();
    Finding {
        id: fingerprint(&["race", &name, file_of_unnamed, &sides[0], &sides[1]]),
        rule: Rule::Race,
        confidence: best.confidence,
        engines: vec![Engine::WholeProgram],
        message,
        field: Some(name),
        object,
        why,
        fields: if fields.len() > 1 { fields.into_iter().collect() } else { Vec::new() },
        also,
        sites: sites.into_iter().collect(),
    }
}

fn both(a: &str, b: &str) -> String {
    if a == b { a.to_string() } else { format!("{a} and {b}") }
}

/// Findings that differ only in their object, or in who calls, get ids that say so.
fn keep_apart(findings: &mut [Finding]) {
    let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, finding) in findings.iter().enumerate() {
        by_id.entry(finding.id.clone()).or_default().push(at);
    }
    for (id, alike) in by_id.into_iter().filter(|(_, alike)| alike.len() > 1) {
        let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        for at in alike {
            let object = findings[at].object.as_ref().map_or_else(String::new, |place| place.file.clone());
            let mut ways: Vec<String> = findings[at].sites.iter().map(methods).collect();
            ways.sort();
            ways.extend([id.clone(), object]);
            let twin = seen.entry(ways.clone()).or_default();
            ways.push(twin.to_string());
            *twin += 1;
            let parts: Vec<&str> = ways.iter().map(String::as_str).collect();
            findings[at].id = fingerprint(&parts);
        }
    }
}

fn methods(site: &findings::Site) -> String {
    let methods: Vec<&str> = site.trace.iter().map(|frame| frame.method.as_str()).collect();
    methods.join(" ")
}

/// Disjoint sets; each is known by its least member.
struct Groups {
    parents: Vec<usize>,
}

impl Groups {
    fn new(count: usize) -> Groups {
        Groups { parents: (0..count).collect() }
    }

    fn of(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn members<'t, 'w>(&mut self, told: &'t [Told<'w>]) -> BTreeMap<usize, Vec<&'t Told<'w>>> {
        let mut members: BTreeMap<usize, Vec<&Told<'_>>> = BTreeMap::new();
        for (at, told) in told.iter().enumerate() {
            members.entry(self.of(at)).or_default().push(told);
        }
        members
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.parents[a.max(b)] = a.min(b);
    }
}
