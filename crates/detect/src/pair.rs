//! Judging one pair of statements: does it survive every stage? Same location, at least one write, origins that may
//! overlap, an object both can reach, no common lock. A function of the pair alone, whatever others there are.

use crate::Stages;
use crate::access::{Access, AccessId, Accesses, Location};
use crate::anchor::{Anchor, Climbed};
use crate::apart::{self, Meeting, Side};
use crate::asked::Questions;
use crate::cache::Caches;
use crate::confidence::{self, Doubt, Doubts};
use crate::describe::Describe;
use crate::memory::{Memory, TouchId};
use findings::Confidence;
use happens_before::{AccessPoint, Origin, Point, Protection};
use pointsto::Obj;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use track::Read;

/// Two statements that touch the same kind of memory, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair(pub(crate) TouchId, pub(crate) TouchId);

impl Pair {
    pub(crate) fn of(one: TouchId, other: TouchId) -> Pair {
        Pair(one.min(other), one.max(other))
    }
}

impl track::Key for Pair {
    fn read(self, kind: track::Kind) -> Read {
        Read::pair(kind, self.0, self.1)
    }
}

/// How far a pair of statements came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    SameObject,
    TwoOrigins,
    Overlapping,
    Unlocked,
}

/// Witnesses looked at for one pair of statements, beyond which further objects hardly tell anything new.
const TRIES: u32 = 8;

/// How many places are put in order at first: mostly these settle a pair.
const FIRST: usize = 8;

/// What is found out about a pair of statements.
#[derive(Debug, PartialEq)]
pub(crate) struct Judged {
    pub(crate) stage: Stage,
    pub(crate) best: Option<Witness>,
}

/// A surviving pair: who, on what, and how sure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Witness {
    pub(crate) a: AccessId,
    pub(crate) b: AccessId,
    /// Which of them write: another statement may have the number of one that is gone.
    pub(crate) writes: (bool, bool),
    pub(crate) origins: (Origin, Origin),
    pub(crate) location: Location,
    pub(crate) confidence: Confidence,
    pub(crate) doubts: Doubts,
    /// Through which callers the object comes, where that matters.
    pub(crate) anchors: Option<Box<(Anchor, Anchor)>>,
}

/// Why a pair is believed.
struct Reasons {
    anchors: Option<Box<(Anchor, Anchor)>>,
    doubts: Doubts,
}

/// What is known of a pair so far.
struct Progress {
    stage: Stage,
    best: Option<Witness>,
    tries: u32,
}

impl Progress {
    fn new() -> Progress {
        Progress { stage: Stage::SameObject, best: None, tries: 0 }
    }

    fn is_settled(&self) -> bool {
        self.tries >= TRIES || self.best.as_ref().is_some_and(|best| best.confidence == Confidence::High)
    }
}

/// A location, and the accesses to it of either statement.
type Common<'a> = (Location, &'a [AccessId], &'a [AccessId]);

/// Looks at pairs.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'a> {
    pub(crate) stages: &'a Stages<'a>,
    pub(crate) describe: &'a Describe<'a>,
    pub(crate) accesses: &'a Accesses,
    pub(crate) memory: &'a Memory,
    pub(crate) questions: &'a Questions,
    pub(crate) caches: &'a Caches,
}

impl Judge<'_> {
    /// `None` if the two do not meet at all.
    pub(crate) fn look_at(&self, pair: Pair) -> Option<Judged> {
        let (first, second) = self.in_order(pair);
        let mut common = self.common(first, second);
        // In which order matters only if something survives, and mostly nothing does.
        let mut progress = None;
        self.fold(first == second, &common, &mut progress, |progress| progress.best.is_some());
        if progress.as_ref().is_some_and(|progress| progress.best.is_some()) {
            progress = self.fold_in_order(first == second, &mut common);
        }
        progress.map(|Progress { stage, best, .. }| Judged { stage, best })
    }

    /// The same in the order of objects, of which mostly the first few settle it.
    fn fold_in_order(&self, is_one: bool, common: &mut [Common<'_>]) -> Option<Progress> {
        let mut progress: Option<Progress> = None;
        let exists_once = |obj: Obj| self.stages.happens_before.unique(obj);
        // Objects that exist once come first: they tell most.
        let is_last = |location: &Location| location.obj.is_some_and(|obj| !exists_once(obj));
        let mut keyed: Vec<(bool, Common<'_>)> =
            common.iter().map(|&common| (is_last(&common.0), common)).collect();
        let (mut left, mut count) = (&mut keyed[..], FIRST);
        while !left.is_empty() && !progress.as_ref().is_some_and(Progress::is_settled) {
            let order = |a: &(bool, Common<'_>), b: &(bool, Common<'_>)| self.places(a, b);
            if count < left.len() {
                left.select_nth_unstable_by(count, order);
            }
            let (next, rest) = left.split_at_mut(count.min(left.len()));
            next.sort_by(order);
            let next: Vec<Common<'_>> = next.iter().map(|&(_, common)| common).collect();
            self.fold(is_one, &next, &mut progress, Progress::is_settled);
            (left, count) = (rest, count * FIRST);
        }
        progress
    }

    /// Looks at all accesses where two statements meet, until there is enough.
    fn fold(
        &self,
        is_one: bool,
        common: &[Common<'_>],
        progress: &mut Option<Progress>,
        is_enough: impl Fn(&Progress) -> bool,
    ) {
        'all: for &(location, mine, theirs) in common {
            for (n, &a) in mine.iter().enumerate() {
                // With itself each pair of accesses once.
                for &b in if is_one { &theirs[n..] } else { theirs } {
                    let (left, right) = (self.accesses.get(a), self.accesses.get(b));
                    if (left.write || right.write) && (left.in_app || right.in_app) {
                        let progress = progress.get_or_insert_with(Progress::new);
                        self.check(location, (a, left), (b, right), progress);
                        if is_enough(progress) {
                            break 'all;
                        }
                    }
                }
            }
        }
    }

    /// The statements of a pair, the first by content first.
    pub(crate) fn in_order(&self, pair: Pair) -> (TouchId, TouchId) {
        match self.memory.statements(&self.describe.content, pair.0, pair.1) {
            Ordering::Greater => (pair.1, pair.0),
            _ => (pair.0, pair.1),
        }
    }

    /// The order of two pairs by content.
    pub(crate) fn pairs(&self, a: Pair, b: Pair) -> Ordering {
        let (content, memory) = (&self.describe.content, self.memory);
        let ((first, second), (one, other)) = (self.in_order(a), self.in_order(b));
        memory
            .kinds(content, memory.kind_of(first), memory.kind_of(one))
            .then_with(|| memory.statements(content, first, one))
            .then_with(|| memory.statements(content, second, other))
    }

    /// Where the two meet.
    fn common(&self, first: TouchId, second: TouchId) -> Vec<Common<'_>> {
        let what = self.memory.what(first);
        let (mine, theirs) = (self.memory.places(first), self.memory.places(second));
        let mut common = Vec::new();
        let mut rest = theirs;
        for (obj, ids) in mine {
            rest = &rest[rest.partition_point(|(other, _)| other < obj)..];
            let location = Location { what, obj: *obj };
            if let Some((other, met)) = rest.first()
                && other == obj
                && self.memory.is_shared(location)
            {
                common.push((location, ids.as_slice(), met.as_slice()));
            }
        }
        common
    }

    /// The order of two places, given whether they come last.
    fn places(&self, a: &(bool, Common<'_>), b: &(bool, Common<'_>)) -> Ordering {
        a.0.cmp(&b.0).then_with(|| match (a.1.0.obj, b.1.0.obj) {
            (Some(obj), Some(other)) => self.describe.content.objects(obj, other),
            (obj, other) => obj.is_some().cmp(&other.is_some()),
        })
    }

    /// One pair of accesses on one location: the best witness over all pairs of origins.
    fn check(
        &self,
        location: Location,
        (a, left): (AccessId, &Access),
        (b, right): (AccessId, &Access),
        progress: &mut Progress,
    ) {
        let hb = self.stages.happens_before;
        let apart = matches!((left.index, right.index), (Some(i), Some(j)) if i != j);
        if apart || left.taken && right.taken {
            return;
        }
        // Whoever comes with the same locks of callers is kept apart by locks alike.
        let comers = |act| self.questions.comers(self.stages, act);
        let (mine, theirs) = (comers(left.act), comers(right.act));
        let mut locked: FxHashMap<(u32, u32), Protection<'_>> = FxHashMap::default();
        for &(p, with) in mine.iter() {
            for &(q, other) in theirs.iter() {
                let protection = locked.entry((with, other)).or_insert_with(|| {
                    let points = access_points(location, (left, p), (right, q));
                    hb.protects(&hb.holder(points.0), &hb.holder(points.1))
                });
                if let Protection::Yes(_) = protection {
                    if progress.stage < Stage::Overlapping {
                        let stage = self.meet(location, (left, p), (right, q)).err();
                        progress.stage = progress.stage.max(stage.unwrap_or(Stage::Overlapping));
                    }
                    continue;
                }
                let Reasons { doubts, anchors } =
                    match self.judge(location, (left, p), (right, q), protection) {
                        Ok(reasons) => reasons,
                        Err(stage) => {
                            progress.stage = progress.stage.max(stage);
                            continue;
                        }
                    };
                progress.stage = Stage::Unlocked;
                progress.tries += 1;
                let (origins, confidence) = ((p, q), doubts.confidence());
                if progress.best.as_ref().is_none_or(|old| confidence < old.confidence) {
                    let writes = (left.write, right.write);
                    let witness = Witness { a, b, writes, origins, location, confidence, doubts, anchors };
                    progress.best = Some(witness);
                }
                if progress.is_settled() {
                    return;
                }
            }
        }
    }

    /// May the two run at the same time on one object? How far the pair comes, if not.
    fn meet(
        &self,
        location: Location,
        (left, p): (&Access, Origin),
        (right, q): (&Access, Origin),
    ) -> Result<(), Stage> {
        let (stages, hb) = (self.stages, self.stages.happens_before);
        let origin = hb.origin(p);
        if p == q && (!origin.overlaps_itself || location.obj.is_some_and(|obj| hb.instance_local(p, obj))) {
            return Err(Stage::SameObject);
        }
        if p == q
            && let (Some(obj), Some(base), Some(other)) = (location.obj, left.base, right.base)
            && self.questions.is_own(stages, p, (left.act, base, obj))
            && self.questions.is_own(stages, p, (right.act, other, obj))
        {
            return Err(Stage::SameObject);
        }
        let point = |origin, access: &Access| Point { origin, act: access.act, stmt: access.stmt };
        if hb.ordered(&point(p, left), &point(q, right)).is_some() {
            return Err(Stage::TwoOrigins);
        }
        Ok(())
    }

    /// Every stage in turn, the locks of the two being known. How far the pair comes, if it does not survive.
    fn judge(
        &self,
        location: Location,
        (left, p): (&Access, Origin),
        (right, q): (&Access, Origin),
        protection: &Protection<'_>,
    ) -> Result<Reasons, Stage> {
        self.meet(location, (left, p), (right, q))?;
        let (stages, known) = (self.stages, (self.questions, self.caches));
        let doubts_with = |protection: &Protection<'_>| {
            confidence::doubts(stages, known, (left, p), (right, q), location, protection)
        };
        let mut anchors = None;
        let mut doubts = doubts_with(protection);
        // A closer look, unless it would not be shown anyway.
        if doubts.confidence() < Confidence::Low
            && let (Some(obj), Some(base), Some(other)) = (location.obj, left.base, right.base)
        {
            let ways = |origin, access: &Access, base| {
                let climbed = Climbed { origin, act: access.act, stmt: access.stmt, base, obj };
                self.questions.anchors(stages, self.describe, climbed)
            };
            let ways = (ways(p, left, base), ways(q, right, other));
            let side = |origin, access: &Access, ways| Side { origin, is_write: access.write, ways };
            let (a, b) = (side(p, left, &ways.0), side(q, right, &ways.1));
            let Some(Meeting { ways: (x, y), guard }) = apart::meeting(stages, &self.questions.steps, a, b)
            else {
                return Err(Stage::Overlapping);
            };
            anchors = Some(Box::new((x.clone(), y.clone())));
            if let Some(guard) = guard {
                doubts = doubts_with(&Protection::Weak(guard));
            }
            let mut all = ways.0.iter().chain(ways.1.iter());
            if p == q && self.questions.is_dealt(stages, p, obj, &mut all) {
                doubts.add(Doubt::Dealt);
            }
        }
        Ok(Reasons { anchors, doubts })
    }
}

fn access_points(
    location: Location,
    (left, p): (&Access, Origin),
    (right, q): (&Access, Origin),
) -> (AccessPoint, AccessPoint) {
    let access_point = |origin, access: &Access| AccessPoint {
        point: Point { origin, act: access.act, stmt: access.stmt },
        base: access.base,
        object: location.obj,
        is_write: access.write,
    };
    (access_point(p, left), access_point(q, right))
}
