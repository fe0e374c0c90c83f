//! What keeps two accesses to one object apart, seen from the ways the object takes to them: that it is unknown
//! to others there, order, and locks held anywhere on the way.

use crate::Stages;
use crate::anchor::{Anchor, Level};
use happens_before::{AccessPoint, Freshness, Guard, GuardReason, Ordered, Origin, Point, Protection};
use ir::StmtId;
use std::cell::OnceCell;

/// The ways of one access: who runs it, whether it writes, how the object gets there.
#[derive(Clone, Copy)]
pub(crate) struct Side<'x> {
    pub(crate) origin: Origin,
    pub(crate) is_write: bool,
    pub(crate) ways: &'x [Anchor],
}

/// Two ways that nothing keeps apart, or only a guess about locks.
pub(crate) struct Meeting<'x, 's> {
    pub(crate) ways: (&'x Anchor, &'x Anchor),
    pub(crate) guard: Option<Guard<'s>>,
}

/// The first pair of ways that nothing keeps apart; if there is none, one that only a guess keeps apart.
pub(crate) fn meeting<'x, 's>(stages: &Stages<'s>, a: Side<'x>, b: Side<'x>) -> Option<Meeting<'x, 's>> {
    let is_known = |way: &&'x Anchor| !is_fresh(stages, way);
    let known = |ways: &'x [Anchor]| ways.iter().filter(is_known).map(|way| (way, OnceCell::new()));
    let mut weak = None;
    let theirs: Vec<(&Anchor, OnceCell<bool>)> = known(b.ways).collect();
    for (x, x_starts) in known(a.ways) {
        for (y, y_starts) in &theirs {
            // Once for each way, not for each pair.
            let starts_other = || {
                *x_starts.get_or_init(|| starts(stages, x, b.origin))
                    || *y_starts.get_or_init(|| starts(stages, y, a.origin))
            };
            if are_parts_of_two(stages, x, y)
                || are_ordered(stages, (a.origin, x), (b.origin, y), starts_other)
            {
                continue;
            }
            match protection(stages, (a, x), (b, y)) {
                Protection::Yes(_) => {}
                Protection::No => return Some(Meeting { ways: (x, y), guard: None }),
                Protection::Weak(guard) => {
                    weak.get_or_insert(Meeting { ways: (x, y), guard: Some(guard) });
                }
            }
        }
    }
    weak
}

/// Is the object still unknown to others at a call on the way? An owner speaks for what it alone holds.
fn is_fresh(stages: &Stages<'_>, way: &Anchor) -> bool {
    let hb = stages.happens_before;
    let speaks = |level: &Level| {
        let fields = &way.fields[..level.depth];
        let parts = way.levels.iter().filter(|part| part.depth < level.depth);
        fields.iter().all(|&field| hb.is_private(field)) && parts.into_iter().all(|part| hb.is_part(part.obj))
    };
    way.levels.iter().filter(|level| way.is_call(level) && speaks(level)).any(|level| {
        let still = |stmt| hb.fresh(level.act, stmt, level.base) == Freshness::Unpublished;
        after(stages, level).is_some_and(still)
    })
}

/// What holds of an object at the call that leads to the access holds at the access if the call changes nothing
/// about it: if it still holds after the call.
fn after(stages: &Stages<'_>, level: &Level) -> Option<StmtId> {
    let body = stages.program.lowered(stages.pointsto.method(level.act))?;
    body.next_in_block(level.stmt)
}

/// Do the ways lead to parts of two wholes, or to two parts of one? What is in a field that only ever gets objects
/// made for it is nowhere else.
fn are_parts_of_two(stages: &Stages<'_>, x: &Anchor, y: &Anchor) -> bool {
    let owner =
        |way: &Anchor, depth| way.levels.iter().find(|level| level.depth == depth).map(|level| level.obj);
    for (at, (left, right)) in x.fields.iter().zip(&y.fields).enumerate() {
        let are_private = [left, right].iter().all(|&&field| stages.happens_before.is_private(field));
        if !are_private {
            return false;
        }
        if left != right || owner(x, at + 1) != owner(y, at + 1) {
            return true;
        }
    }
    false
}

/// Two ways are ordered if the calls they come from are, and nothing on the way down from there starts the other
/// side; or if the statements after those calls are ordered as well.
fn are_ordered(
    stages: &Stages<'_>,
    (p, x): (Origin, &Anchor),
    (q, y): (Origin, &Anchor),
    starts_other: impl Fn() -> bool,
) -> bool {
    let hb = stages.happens_before;
    let point = |origin, way: &Anchor| Point { origin, act: way.top().act, stmt: way.top().stmt };
    let (left, right) = (point(p, x), point(q, y));
    let Some(order) = hb.ordered(&left, &right) else { return false };
    // A signal may be given, or awaited, on the way down.
    if order != Ordered::SignalAwait && !starts_other() {
        return true;
    }
    let points = |point: Point, way: &Anchor| -> Option<Vec<Point>> {
        let mut points = vec![point];
        if way.is_call(way.top()) {
            points.push(Point { stmt: after(stages, way.top())?, ..point });
        }
        Some(points)
    };
    let (Some(left), Some(right)) = (points(left, x), points(right, y)) else { return false };
    left.iter().all(|a| right.iter().all(|b| hb.ordered(a, b).is_some()))
}

/// May the origin have been started between the top of the way and the access?
fn starts(stages: &Stages<'_>, way: &Anchor, origin: Origin) -> bool {
    let top = (way.top().act, way.top().stmt);
    let inner = way.levels.iter().filter(|level| (level.act, level.stmt) != top);
    inner.into_iter().any(|level| stages.happens_before.started_before(level.act, level.stmt, origin))
}

/// Do locks exclude the two ways? All frames count: what is held at a call is held at the access below it.
fn protection<'s>(
    stages: &Stages<'s>,
    (a, x): (Side<'_>, &Anchor),
    (b, y): (Side<'_>, &Anchor),
) -> Protection<'s> {
    let hb = stages.happens_before;
    let mut weak = None;
    for left in x.locked.iter().map(|&at| &x.levels[at]) {
        for right in y.locked.iter().map(|&at| &y.levels[at]) {
            // Paths are told from the object; they compare only where both sides tell them from the same one.
            let same = (left.obj, &x.fields[..left.depth]) == (right.obj, &y.fields[..right.depth]);
            let at = |side: Side<'_>, level: &Level| AccessPoint {
                point: Point { origin: side.origin, act: level.act, stmt: level.stmt },
                base: same.then_some(level.base),
                object: same.then_some(level.obj),
                is_write: side.is_write,
            };
            let one_whole =
                hb.unique(left.obj) || x.fields[..left.depth].iter().all(|&field| hb.is_private(field));
            match hb.protects(&at(a, left), &at(b, right)) {
                Protection::Yes(guard) if one_whole || guard.why == GuardReason::SameObject => {
                    return Protection::Yes(guard);
                }
                Protection::Yes(guard) => weak = Some(Guard { why: GuardReason::MaybeSameOwner, ..guard }),
                Protection::Weak(guard) if same => {
                    weak.get_or_insert(guard);
                }
                Protection::Weak(_) | Protection::No => {}
            }
        }
    }
    weak.map_or(Protection::No, Protection::Weak)
}
