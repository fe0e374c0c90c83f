//! The ways of one access by what they have in common: where they come from, and frames that hold locks. What two of
//! those have to do with each other is worked out once, however many ways share them.

use crate::Stages;
use crate::anchor::{Anchor, Level};
use crate::apart::Side;
use happens_before::{AccessPoint, Guard, GuardReason, Holder, Ordered, Point, Protection};
use ir::{FieldId, StmtId};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// Ways on which the object is known to others.
pub(crate) struct Ways<'x> {
    stages: &'x Stages<'x>,
    side: Side<'x>,
    pub(crate) ways: Vec<Way<'x>>,
    tops: Numbers<Top>,
    frames: Numbers<Frame<'x>>,
    holders: Vec<Holder>,
}

/// A way, with the numbers of its parts as soon as they are asked for.
pub(crate) struct Way<'x> {
    pub(crate) way: &'x Anchor,
    is_numbered: bool,
    pub(crate) top: usize,
    pub(crate) frames: Vec<usize>,
    /// Whether the other side may be started on the way down.
    pub(crate) starts: OnceCell<bool>,
}

/// Where a way comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Top {
    point: Point,
    /// If that is a call, the statement after it.
    after: Option<Option<StmtId>>,
}

impl Top {
    /// All that has to be ordered if something happens on the way down; `None` if that is not known.
    fn points(&self) -> Option<Vec<Point>> {
        let after = self.after.map(|after| Some(Point { stmt: after?, ..self.point }));
        match after {
            Some(after) => Some(vec![self.point, after?]),
            None => Some(vec![self.point]),
        }
    }
}

/// A frame that holds locks, and the fields from what it knows to the object.
type Frame<'x> = (Level, &'x [FieldId]);

/// Values with numbers in the order in which they came.
struct Numbers<T> {
    numbers: FxHashMap<T, usize>,
    values: Vec<T>,
}

impl<T: Copy + Eq + std::hash::Hash> Numbers<T> {
    fn new() -> Numbers<T> {
        Numbers { numbers: FxHashMap::default(), values: Vec::new() }
    }

    fn of(&mut self, value: T) -> usize {
        *self.numbers.entry(value).or_insert_with(|| {
            self.values.push(value);
            self.values.len() - 1
        })
    }
}

impl<'x> Ways<'x> {
    pub(crate) fn new(stages: &'x Stages<'x>, side: Side<'x>) -> Ways<'x> {
        let way = |way| Way { way, is_numbered: false, top: 0, frames: Vec::new(), starts: OnceCell::new() };
        let ways = side.ways.iter().filter(|way| !way.is_fresh).map(way).collect();
        Ways { stages, side, ways, tops: Numbers::new(), frames: Numbers::new(), holders: Vec::new() }
    }

    /// Makes the numbers of a way known.
    pub(crate) fn number(&mut self, at: usize) {
        let Way { way, is_numbered, .. } = self.ways[at];
        if is_numbered {
            return;
        }
        let (top, is_call) = (way.top(), way.is_call(way.top()));
        let point = Point { origin: self.side.origin, act: top.act, stmt: top.stmt };
        let top = self.tops.of(Top { point, after: is_call.then_some(way.after) });
        let frames = way.locked.iter().map(|&at| self.frame(way, at)).collect();
        let numbered = &mut self.ways[at];
        (numbered.is_numbered, numbered.top, numbered.frames) = (true, top, frames);
    }

    fn frame(&mut self, way: &'x Anchor, at: usize) -> usize {
        let level = way.levels[at];
        let number = self.frames.of((level, &way.fields[..level.depth]));
        if number == self.holders.len() {
            self.holders.push(self.stages.happens_before.holder(AccessPoint {
                point: Point { origin: self.side.origin, act: level.act, stmt: level.stmt },
                base: Some(level.base),
                object: Some(level.obj),
                is_write: self.side.is_write,
            }));
        }
        number
    }
}

/// What is known of parts of two sides, by their numbers.
pub(crate) struct Known<'x, 's> {
    stages: &'x Stages<'s>,
    orders: FxHashMap<(usize, usize), Order>,
    locks: FxHashMap<(usize, usize), Locked<'s>>,
}

/// How the statements are ordered where two ways come from.
struct Order {
    order: Option<Ordered>,
    /// Whether those after them are ordered as well.
    stays: OnceCell<bool>,
}

/// Do the locks of two frames exclude each other?
#[derive(Clone, Copy)]
enum Locked<'s> {
    Surely(Guard<'s>),
    /// If the object comes from one owner.
    PerOwner(Guard<'s>),
    Perhaps(Guard<'s>),
    No,
}

impl<'x, 's> Known<'x, 's> {
    pub(crate) fn new(stages: &'x Stages<'s>) -> Known<'x, 's> {
        Known { stages, orders: FxHashMap::default(), locks: FxHashMap::default() }
    }

    /// Two ways are ordered if the calls they come from are, and nothing on the way down from there starts the other
    /// side; or if the statements after those calls are ordered as well.
    pub(crate) fn order(
        &mut self,
        (top, mine): (usize, &Ways<'_>),
        (other, theirs): (usize, &Ways<'_>),
        starts_other: impl Fn() -> bool,
    ) -> Option<Ordered> {
        let hb = self.stages.happens_before;
        let (x, y) = (&mine.tops.values[top], &theirs.tops.values[other]);
        let known = self.orders.entry((top, other)).or_insert_with(|| {
            let order = hb.ordered(&x.point, &y.point);
            Order { order, stays: OnceCell::new() }
        });
        let order = known.order?;
        // A signal may be given, or awaited, on the way down.
        if order != Ordered::SignalAwait && !starts_other() {
            return Some(order);
        }
        let stays = || {
            let (Some(left), Some(right)) = (x.points(), y.points()) else { return false };
            left.iter().all(|a| right.iter().all(|b| hb.ordered(a, b).is_some()))
        };
        known.stays.get_or_init(stays).then_some(order)
    }

    /// Do locks exclude the two ways? All frames count: what is held at a call is held at the access below it.
    pub(crate) fn protection(
        &mut self,
        (frames, mine): (&[usize], &Ways<'_>),
        (others, theirs): (&[usize], &Ways<'_>),
    ) -> Protection<'s> {
        let mut weak = None;
        for &left in frames {
            for &right in others {
                let stages = self.stages;
                let locked = || locked(stages, (mine, left), (theirs, right));
                match *self.locks.entry((left, right)).or_insert_with(locked) {
                    Locked::Surely(guard) => return Protection::Yes(guard),
                    Locked::PerOwner(guard) => weak = Some(guard),
                    Locked::Perhaps(guard) => _ = weak.get_or_insert(guard),
                    Locked::No => {}
                }
            }
        }
        weak.map_or(Protection::No, Protection::Weak)
    }
}

fn locked<'s>(
    stages: &Stages<'s>,
    (mine, one): (&Ways<'_>, usize),
    (theirs, other): (&Ways<'_>, usize),
) -> Locked<'s> {
    let hb = stages.happens_before;
    let ((left, fields), (right, others)) = (mine.frames.values[one], theirs.frames.values[other]);
    let (first, second) = (&mine.holders[one], &theirs.holders[other]);
    // Paths are told from the object; they compare only where both sides tell them from the same one.
    let protection = match (left.obj, fields) == (right.obj, others) {
        true => hb.protects(first, second),
        false => hb.share(first, second).map_or(Protection::No, Protection::Yes),
    };
    let one_whole = || hb.unique(left.obj) || fields.iter().all(|&field| hb.is_private(field));
    match protection {
        Protection::Yes(guard) if guard.why == GuardReason::SameObject || one_whole() => {
            Locked::Surely(guard)
        }
        Protection::Yes(guard) => Locked::PerOwner(Guard { why: GuardReason::MaybeSameOwner, ..guard }),
        Protection::Weak(guard) => Locked::Perhaps(guard),
        Protection::No => Locked::No,
    }
}
