//! The verdict on one pair of accesses: a race with its witness, or the reason that rules it out. The predicates stand
//! here one below the other, each with its reason; which pairs are asked about, and how often, is decided elsewhere.

use crate::access::{Access, Location};
use crate::anchor::{Anchor, Climbed};
use crate::apart::{self, Meeting, Side};
use crate::confidence::{self, Doubt, Doubts};
use crate::declared;
use crate::pair::{Judge, Witness};
use findings::{Confidence, Dismissed};
use happens_before::{AccessPoint, Ordered, Origin, Point, Protection};

/// What is concluded about a pair of statements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    Race(Witness),
    /// Of several instances of the pair, by the reason that says most.
    Dismissed(Dismissed),
}

impl Verdict {
    pub(crate) fn witness(&self) -> Option<&Witness> {
        match self {
            Verdict::Race(witness) => Some(witness),
            Verdict::Dismissed(_) => None,
        }
    }

    /// The last stage that the pair survives.
    pub(crate) fn stage(&self) -> Stage {
        match self {
            Verdict::Race(_) => Stage::Unlocked,
            Verdict::Dismissed(why) => Stage::survived(*why),
        }
    }
}

/// The stages that statistics count (Chord's figure 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    SameObject,
    TwoOrigins,
    Overlapping,
    Unlocked,
}

impl Stage {
    /// How far a pair comes that is dismissed for this reason.
    fn survived(why: Dismissed) -> Stage {
        match why {
            Dismissed::NoCycle
            | Dismissed::DifferentObjects
            | Dismissed::SingleThread
            | Dismissed::DifferentElements
            | Dismissed::Unpublished
            | Dismissed::HandedOver
            | Dismissed::PerInstance
            | Dismissed::TaskOwned
            | Dismissed::DifferentOwners
            | Dismissed::DeclaredImmutable
            | Dismissed::DeclaredConfined => Stage::SameObject,
            Dismissed::DifferentPrograms
            | Dismissed::ClassInitialization
            | Dismissed::SerialExecutor
            | Dismissed::Sequential
            | Dismissed::StartOrJoin
            | Dismissed::Signal
            | Dismissed::NeverParallel => Stage::TwoOrigins,
            Dismissed::CommonLock => Stage::Overlapping,
        }
    }
}

/// Why a pair is believed.
pub(crate) struct Believed {
    pub(crate) anchors: Option<Box<(Anchor, Anchor)>>,
    pub(crate) doubts: Doubts,
}

/// One access as one origin runs it.
pub(crate) type Run<'a> = (&'a Access, Origin);

/// What the accesses themselves say, whoever runs them.
pub(crate) fn by_access(left: &Access, right: &Access) -> Option<Dismissed> {
    let are_other_elements = matches!((left.index, right.index), (Some(i), Some(j)) if i != j);
    let rules = [
        (are_other_elements, Dismissed::DifferentElements),
        (left.taken && right.taken, Dismissed::HandedOver),
    ];
    rules.into_iter().find_map(|(holds, why)| holds.then_some(why))
}

impl Judge<'_> {
    /// What threads and order say: may two origins be at these accesses to one object at the same time?
    pub(crate) fn by_order(
        &self,
        location: Location,
        (left, p): Run<'_>,
        (right, q): Run<'_>,
    ) -> Option<Dismissed> {
        let (stages, hb) = (self.stages, self.stages.happens_before);
        if p == q {
            if !hb.origin(p).overlaps_itself {
                return Some(Dismissed::SingleThread);
            }
            if location.obj.is_some_and(|obj| hb.instance_local(p, obj)) {
                return Some(Dismissed::PerInstance);
            }
            if let (Some(obj), Some(base), Some(other)) = (location.obj, left.base, right.base)
                && self.questions.is_own(stages, p, (left.act, base, obj))
                && self.questions.is_own(stages, p, (right.act, other, obj))
            {
                return Some(Dismissed::TaskOwned);
            }
        }
        let point = |origin, access: &Access| Point { origin, act: access.act, stmt: access.stmt };
        let by_program = || {
            let program = (stages.program, stages.pointsto);
            let is_other = |obj| !hb.in_one_program(program, (p, q), obj);
            location.obj.is_some_and(is_other).then_some(Dismissed::DifferentPrograms)
        };
        hb.ordered(&point(p, left), &point(q, right)).map(reason).or_else(by_program)
    }

    /// What locks say, given those that are held at the accesses themselves and by all their callers.
    pub(crate) fn by_locks(
        &self,
        location: Location,
        (left, p): Run<'_>,
        (right, q): Run<'_>,
    ) -> Protection<'_> {
        let hb = self.stages.happens_before;
        let point = |access: &Access, origin| AccessPoint {
            point: Point { origin, act: access.act, stmt: access.stmt },
            base: access.base,
            object: location.obj,
            is_write: access.write,
        };
        hb.protects(&hb.holder(point(left, p)), &hb.holder(point(right, q)))
    }

    /// What is declared about the methods by which two origins come to the accesses.
    pub(crate) fn is_never_parallel(&self, (left, p): Run<'_>, (right, q): Run<'_>) -> bool {
        declared::are_never_parallel(self.stages, &left.id().by(p), &right.id().by(q))
    }

    /// What the call paths say by which the object comes to the accesses; asked last, because it takes longest.
    pub(crate) fn by_paths(
        &self,
        location: Location,
        (left, p): Run<'_>,
        (right, q): Run<'_>,
        protection: &Protection<'_>,
    ) -> Result<Believed, Dismissed> {
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
            let Meeting { ways: (x, y), guard } = apart::meeting(stages, &self.questions.steps, a, b)?;
            anchors = Some(Box::new((x.clone(), y.clone())));
            if let Some(guard) = guard {
                doubts = doubts_with(&Protection::Weak(guard));
            }
            let mut all = ways.0.iter().chain(ways.1.iter());
            if p == q && self.questions.is_dealt(stages, p, obj, &mut all) {
                doubts.add(Doubt::Dealt);
            }
        }
        Ok(Believed { anchors, doubts })
    }
}

/// The reason that an order is.
pub(crate) fn reason(order: Ordered) -> Dismissed {
    match order {
        Ordered::SameOrigin => Dismissed::SingleThread,
        Ordered::BeforeStartOrAfterJoin => Dismissed::StartOrJoin,
        Ordered::Sequential => Dismissed::Sequential,
        Ordered::SerialExecutor(_) => Dismissed::SerialExecutor,
        Ordered::SignalAwait => Dismissed::Signal,
        Ordered::ClassInitialization => Dismissed::ClassInitialization,
        Ordered::DifferentPrograms => Dismissed::DifferentPrograms,
    }
}
