//! What keeps two accesses to one object apart, seen from the ways the object takes to them: that it is unknown
//! to others there, order, and locks held anywhere on the way.

use crate::Stages;
use crate::anchor::Anchor;
use happens_before::{AccessPoint, Guard, GuardReason, Holder, Ordered, Origin, Point, Protection};
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
    let is_known = |way: &&'x Anchor| !way.is_fresh;
    let known = |side: Side<'x>| {
        side.ways.iter().filter(is_known).map(move |way| (way, holders(stages, side, way), OnceCell::new()))
    };
    let mut weak = None;
    let theirs: Vec<(&Anchor, Holders, OnceCell<bool>)> = known(b).collect();
    for (x, mine, x_starts) in known(a) {
        for (y, their, y_starts) in &theirs {
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
            match protection(stages, (x, &mine), (y, their)) {
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
            points.push(Point { stmt: way.after?, ..point });
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

/// The frames of a way that hold locks.
type Holders = Vec<Holder>;

fn holders(stages: &Stages<'_>, side: Side<'_>, way: &Anchor) -> Holders {
    let holder = |&at: &usize| {
        let level = &way.levels[at];
        stages.happens_before.holder(AccessPoint {
            point: Point { origin: side.origin, act: level.act, stmt: level.stmt },
            base: Some(level.base),
            object: Some(level.obj),
            is_write: side.is_write,
        })
    };
    way.locked.iter().map(holder).collect()
}

/// Do locks exclude the two ways? All frames count: what is held at a call is held at the access below it.
fn protection<'s>(
    stages: &Stages<'s>,
    (x, mine): (&Anchor, &Holders),
    (y, theirs): (&Anchor, &Holders),
) -> Protection<'s> {
    let hb = stages.happens_before;
    let mut weak = None;
    for (&left, first) in x.locked.iter().zip(mine) {
        for (&right, second) in y.locked.iter().zip(theirs) {
            let (left, right) = (&x.levels[left], &y.levels[right]);
            // Paths are told from the object; they compare only where both sides tell them from the same one.
            let same = (left.obj, &x.fields[..left.depth]) == (right.obj, &y.fields[..right.depth]);
            let protection = match same {
                true => hb.protects(first, second),
                false => hb.share(first, second).map_or(Protection::No, Protection::Yes),
            };
            let one_whole =
                || hb.unique(left.obj) || x.fields[..left.depth].iter().all(|&field| hb.is_private(field));
            match protection {
                Protection::Yes(guard) if guard.why == GuardReason::SameObject || one_whole() => {
                    return Protection::Yes(guard);
                }
                Protection::Yes(guard) => weak = Some(Guard { why: GuardReason::MaybeSameOwner, ..guard }),
                Protection::Weak(guard) => {
                    weak.get_or_insert(guard);
                }
                Protection::No => {}
            }
        }
    }
    weak.map_or(Protection::No, Protection::Weak)
}
