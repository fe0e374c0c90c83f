//! The ways of one access by what they have in common: where they come from, and frames that hold locks. What two of
//! those have to do with each other is worked out once, however many ways share them.

use crate::Stages;
use crate::anchor::{Anchor, Level};
use crate::apart::Side;
use crate::steps::Steps;
use happens_before::{AccessPoint, Guard, GuardReason, Holder, Ordered, Origin, Point, Protection};
use ir::{FieldId, StmtId};
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// Ways on which the object is known to others.
pub(crate) struct Ways<'x> {
    stages: &'x Stages<'x>,
    steps: &'x Steps,
    side: Side<'x>,
    pub(crate) ways: Vec<Way<'x>>,
    passed: Numbers<Passed>,
    frames: Numbers<Frame<'x>>,
    holders: Vec<Holder>,
}

/// A way, with the numbers of its parts as soon as they are asked for.
pub(crate) struct Way<'x> {
    pub(crate) way: &'x Anchor,
    is_numbered: bool,
    /// The statements it passes, from the outermost call to the access.
    passed: Vec<usize>,
    pub(crate) frames: Vec<usize>,
    /// The first statement passed below which the other side is not started.
    settled: OnceCell<usize>,
}

/// A statement on a way: the access, or a call that leads to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Passed {
    point: Point,
    /// What the access is over by: the statement itself, or if it is a call the one after it, where that is known.
    end: Option<Point>,
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
    pub(crate) fn new(stages: &'x Stages<'x>, steps: &'x Steps, side: Side<'x>) -> Ways<'x> {
        let way = |way| Way {
            way,
            is_numbered: false,
            passed: Vec::new(),
            frames: Vec::new(),
            settled: OnceCell::new(),
        };
        let ways = side.ways.iter().filter(|way| !way.is_fresh).map(way).collect();
        Ways {
            stages,
            steps,
            side,
            ways,
            passed: Numbers::new(),
            frames: Numbers::new(),
            holders: Vec::new(),
        }
    }

    /// Makes the numbers of a way known.
    pub(crate) fn number(&mut self, at: usize) {
        let Way { way, is_numbered, .. } = self.ways[at];
        if is_numbered {
            return;
        }
        let passed = way.statements().into_iter().map(|(act, stmt)| self.pass(way, act, stmt)).collect();
        let frames = way.locked.iter().map(|&at| self.frame(way, at)).collect();
        let numbered = &mut self.ways[at];
        (numbered.is_numbered, numbered.passed, numbered.frames) = (true, passed, frames);
    }

    fn pass(&mut self, way: &Anchor, act: Act, stmt: StmtId) -> usize {
        let point = Point { origin: self.side.origin, act, stmt };
        let end = match way.is_access(act, stmt) {
            true => Some(point),
            false => self.steps.next(self.stages, act, stmt).map(|stmt| Point { stmt, ..point }),
        };
        self.passed.of(Passed { point, end })
    }

    /// Is the origin not started between a statement that the way passes and the access?
    fn stays_so(&self, (way, at): (&Way<'_>, usize), origin: Origin) -> bool {
        let point = |at: usize| self.passed.values[way.passed[at]].point;
        let settled = || {
            let is_started = |&at: &usize| {
                let Point { act, stmt, .. } = point(at);
                self.steps.is_started(self.stages, act, stmt, origin)
            };
            (1..way.passed.len()).rev().find(is_started).unwrap_or(0)
        };
        *way.settled.get_or_init(settled) <= at || {
            let Point { act, stmt, .. } = point(at);
            !self.stages.happens_before.starts_during(act, stmt, origin)
        }
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

/// How two statements that ways pass are ordered.
struct Order {
    order: Option<Ordered>,
    /// Whether a signal comes after all that the one does and before all that the other does.
    is_signalled: OnceCell<bool>,
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

    /// Two ways are ordered if statements that they pass are, and nothing on the way down from there changes that.
    /// Inside a call the other side may be started and joined again, so that it is not enough if call and return are
    /// both ordered with it.
    pub(crate) fn order(
        &mut self,
        (x, mine): (&Way<'_>, &Ways<'_>),
        (y, theirs): (&Way<'_>, &Ways<'_>),
    ) -> Option<Ordered> {
        let along_one = (0..x.passed.len()).map(|at| (at, 0));
        let along_other = (1..y.passed.len()).map(|at| (0, at));
        along_one.chain(along_other).find_map(|at| self.order_at(at, (x, mine), (y, theirs)))
    }

    fn order_at(
        &mut self,
        (left, right): (usize, usize),
        (x, mine): (&Way<'_>, &Ways<'_>),
        (y, theirs): (&Way<'_>, &Ways<'_>),
    ) -> Option<Ordered> {
        let hb = self.stages.happens_before;
        let (one, other) = (x.passed[left], y.passed[right]);
        let (first, second) = (&mine.passed.values[one], &theirs.passed.values[other]);
        let known = self.orders.entry((one, other)).or_insert_with(|| {
            let order = hb.ordered(&first.point, &second.point);
            Order { order, is_signalled: OnceCell::new() }
        });
        let order = known.order?;
        let holds = match order {
            // A signal may be given, or awaited, on the way down.
            Ordered::SignalAwait => *known.is_signalled.get_or_init(|| {
                first.end.is_some_and(|end| hb.is_signalled(&end, &second.point))
                    || second.end.is_some_and(|end| hb.is_signalled(&end, &first.point))
            }),
            _ => {
                let (p, q) = (mine.side.origin, theirs.side.origin);
                mine.stays_so((x, left), q) && theirs.stays_so((y, right), p)
            }
        };
        holds.then_some(order)
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
