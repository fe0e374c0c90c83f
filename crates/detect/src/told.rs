//! One surviving pair as it is told: where, which operations on which object it is about, and what it has in common with
//! others of the same cause. Knows objects, their parts and who calls into them; decides no order and no lock.

use crate::Stages;
use crate::access::{Location, What};
use crate::anchor::{Anchor, Level};
use crate::describe::Describe;
use crate::pair::Witness;
use crate::steps::Steps;
use findings::{Confidence, Place};
use happens_before::{Content, Point};
use ir::{ClassId, MethodId, StmtId};
use pointsto::{Act, Obj, Site};
use std::collections::BTreeSet;

/// The object a piece of memory belongs to, by where it is made; the class for statics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Whole {
    Object(ClassId, Site),
    Statics(ClassId),
}

/// How a thread comes to touch an object: the method of the object that it calls, from which method outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Operation {
    method: MethodId,
    caller: Option<MethodId>,
}

/// What two witnesses of one cause have in common, any of these.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tie {
    /// Two operations on one object, whatever they do to its fields and parts.
    SameOperations(Whole, Operation, Operation),
    /// One operation on the object that takes no lock, whatever it meets.
    Unlocked(Whole, Operation),
    /// One method of the object's own that touches this memory without a lock, whatever it meets there.
    UnlockedOn(What, Whole, Operation),
}

#[derive(Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) confidence: Confidence,
    /// The shown place of each side.
    pub(crate) places: (Place, Place),
    /// The methods that these are in.
    pub(crate) methods: (MethodId, MethodId),
    /// None for what is hardly believed: that is told once per piece of memory.
    pub(crate) ties: Vec<Tie>,
    /// Called from outside the object, on how many sides.
    pub(crate) operated: usize,
    /// Reads among the two.
    pub(crate) reads: usize,
    /// One side holds a lock, the other none: somebody thought of one.
    pub(crate) one_locked: bool,
    pub(crate) both_locked: bool,
    /// Which sides hold a lock; not asked for what is hardly believed.
    pub(crate) locked: (bool, bool),
    pub(crate) memory: Memory,
}

/// A field; or elements and contents, with their object.
pub(crate) type Memory = (What, Option<Whole>);
pub(crate) fn tell(stages: &Stages<'_>, describe: &Describe<'_>, steps: &Steps, witness: &Witness) -> Told {
    let sides = sides(witness);
    let [(place, method), (other, other_method)] = sides.map(|(point, anchor)| {
        let (act, stmt) = describe.shown(point, anchor);
        (describe.place(act, stmt), stages.pointsto.method(act))
    });
    let whole = whole(stages, &describe.content, witness);
    let mut told = Told {
        confidence: witness.confidence,
        places: (place, other),
        methods: (method, other_method),
        ties: Vec::new(),
        operated: 0,
        reads: usize::from(!witness.writes.0) + usize::from(!witness.writes.1),
        one_locked: false,
        both_locked: false,
        locked: (false, false),
        memory: (witness.location.what, whole_of_unnamed(witness.location, whole)),
    };
    let Some(whole) = whole.filter(|_| witness.confidence < Confidence::Low) else { return told };
    let family = family(stages, witness.location);
    let alike = witness.origins.0 == witness.origins.1;
    let mut operations =
        sides.map(|(point, anchor)| operation(stages, steps, &describe.way(point, anchor), &family, alike));
    let locked = sides.map(|(point, anchor)| {
        stages.happens_before.holds_any(&point) || anchor.is_some_and(|way| !way.locked.is_empty())
    });
    told.operated = operations.iter().filter(|operation| operation.caller.is_some()).count();
    told.one_locked = locked[0] != locked[1];
    told.both_locked = locked[0] && locked[1];
    told.locked = (locked[0], locked[1]);
    let tie = |operation: Operation| match operation.caller {
        Some(_) => Tie::Unlocked(whole, operation),
        None => Tie::UnlockedOn(witness.location.what, whole, operation),
    };
    let unlocked = (0..2).filter(|&at| !locked[at]);
    told.ties = unlocked.map(|at| tie(operations[at])).collect();
    operations.sort();
    told.ties.push(Tie::SameOperations(whole, operations[0], operations[1]));
    told
}

/// Fields are told apart by their names, elements and contents by their object.
fn whole_of_unnamed(location: Location, whole: Option<Whole>) -> Option<Whole> {
    match location.what {
        What::Elements | What::Contents => whole,
        What::Field(_) | What::Static(_) => None,
    }
}

pub(crate) fn sides(witness: &Witness) -> [(Point, Option<&Anchor>); 2] {
    let anchors = witness.anchors.as_ref();
    [
        (witness.a.by(witness.origins.0), anchors.map(|ways| &ways.0)),
        (witness.b.by(witness.origins.1), anchors.map(|ways| &ways.1)),
    ]
}

fn whole(stages: &Stages<'_>, content: &Content<'_>, witness: &Witness) -> Option<Whole> {
    match (witness.location.what, witness.location.obj) {
        (What::Static(field), _) => Some(Whole::Statics(stages.program.field_ref(field).class)),
        (_, Some(obj)) => {
            // Of several wholes, the one through which it was reached.
            let ways = witness.anchors.iter().flat_map(|ways| [&ways.0, &ways.1]);
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
    let of_part = |level: &&Level| level.depth <= private;
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
    steps: &Steps,
    way: &[(Act, StmtId)],
    family: &BTreeSet<Obj>,
    alike: bool,
) -> Operation {
    let method = |at: usize| stages.pointsto.method(way[at].0);
    let is_inside = |&(act, _): &(Act, StmtId)| {
        let objects = steps.receivers(stages, act);
        family.iter().any(|&obj| objects.contains(obj))
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
