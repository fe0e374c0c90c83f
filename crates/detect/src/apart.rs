//! What keeps two accesses to one object apart, seen from the ways the object takes to them: that it is unknown
//! to others there, order, and locks held anywhere on the way.
//! The many ways to an access share their frames and where they come from, so that each two of those are compared once.

use crate::Stages;
use crate::anchor::Anchor;
use crate::frames::{Known, Ways};
use crate::steps::Steps;
use crate::verdict::reason;
use findings::Dismissed;
use happens_before::{Guard, Origin, Protection};

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

/// The first pair of ways that nothing keeps apart; if there is none, one that only a guess keeps apart. Otherwise the
/// strongest reason that rules one out.
pub(crate) fn meeting<'x, 's>(
    stages: &'x Stages<'s>,
    steps: &'x Steps,
    a: Side<'x>,
    b: Side<'x>,
) -> Result<Meeting<'x, 's>, Dismissed> {
    let (mut mine, mut theirs) = (Ways::new(stages, steps, a), Ways::new(stages, steps, b));
    let mut known = Known::new(stages);
    let mut weak = None;
    // Where no way is left, the object is unknown to others on each of them.
    let mut dismissed = Dismissed::Unpublished;
    for left in 0..mine.ways.len() {
        for right in 0..theirs.ways.len() {
            mine.number(left);
            theirs.number(right);
            let (x, y) = (&mine.ways[left], &theirs.ways[right]);
            if are_parts_of_two(stages, x.way, y.way) {
                dismissed = dismissed.max(Dismissed::DifferentOwners);
                continue;
            }
            if let Some(order) = known.order((x, &mine), (y, &theirs)) {
                dismissed = dismissed.max(reason(order));
                continue;
            }
            match known.protection((&x.frames, &mine), (&y.frames, &theirs)) {
                Protection::Yes(_) => dismissed = dismissed.max(Dismissed::CommonLock),
                Protection::No => return Ok(Meeting { ways: (x.way, y.way), guard: None }),
                Protection::Weak(guard) => {
                    weak.get_or_insert(Meeting { ways: (x.way, y.way), guard: Some(guard) });
                }
            }
        }
    }
    weak.ok_or(dismissed)
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
