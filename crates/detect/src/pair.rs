//! Judging one pair of statements: every instance of it (objects, activations, origins) is put to the predicates of
//! `verdict`, until one is surely a race. A function of the pair alone, whatever others there are.

use crate::Stages;
use crate::access::{Access, AccessId, Accesses, Location};
use crate::anchor::Anchor;
use crate::asked::Questions;
use crate::cache::Caches;
use crate::confidence::Doubts;
use crate::declared;
use crate::describe::Describe;
use crate::memory::{Memory, TouchId};
use crate::verdict::{self, Believed, Run, Verdict};
use findings::{Confidence, Dismissed};
use happens_before::{Origin, Protection};
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

/// Witnesses looked at for one pair of statements, beyond which further objects hardly tell anything new.
const TRIES: u32 = 8;

/// How many places are put in order at first: mostly these settle a pair.
const FIRST: usize = 8;

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

/// What is known of a pair so far.
#[derive(Default)]
struct Progress {
    /// The strongest reason that ruled out an instance of the pair.
    dismissed: Option<Dismissed>,
    best: Option<Witness>,
    tries: u32,
}

impl Progress {
    fn dismiss(&mut self, why: Dismissed) {
        self.dismissed = self.dismissed.max(Some(why));
    }

    fn verdict(self) -> Option<Verdict> {
        self.best.map(Verdict::Race).or(self.dismissed.map(Verdict::Dismissed))
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
    pub(crate) fn look_at(&self, pair: Pair) -> Option<Verdict> {
        let (first, second) = self.in_order(pair);
        let mut common = self.common(first, second);
        // In which order matters only if something survives, and mostly nothing does.
        let mut progress = None;
        self.fold(first == second, &common, &mut progress, |progress| progress.best.is_some());
        if progress.as_ref().is_some_and(|progress| progress.best.is_some()) {
            progress = self.fold_in_order(first == second, &mut common);
        }
        progress.and_then(Progress::verdict)
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
                        let progress = progress.get_or_insert_default();
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
        let declared = || declared::dismissed(self.stages, location, left, right);
        if let Some(why) = verdict::by_access(left, right).or_else(declared) {
            return progress.dismiss(why);
        }
        // Whoever comes with the same locks of callers is kept apart by locks alike.
        let comers = |act| self.questions.comers(self.stages, act);
        let (mine, theirs) = (comers(left.act), comers(right.act));
        let mut locked: FxHashMap<(u32, u32), Protection<'_>> = FxHashMap::default();
        for &(p, with) in mine.iter() {
            for &(q, other) in theirs.iter() {
                let protection = locked
                    .entry((with, other))
                    .or_insert_with(|| self.by_locks(location, (left, p), (right, q)));
                match self.judge(location, (left, p), (right, q), protection, progress.dismissed) {
                    Err(why) => progress.dismiss(why),
                    Ok(Believed { doubts, anchors }) => {
                        progress.tries += 1;
                        let (origins, confidence) = ((p, q), doubts.confidence());
                        if progress.best.as_ref().is_none_or(|old| confidence < old.confidence) {
                            let writes = (left.write, right.write);
                            let witness =
                                Witness { a, b, writes, origins, location, confidence, doubts, anchors };
                            progress.best = Some(witness);
                        }
                        if progress.is_settled() {
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Every predicate in turn, the locks of the two being known.
    fn judge(
        &self,
        location: Location,
        left: Run<'_>,
        right: Run<'_>,
        protection: &Protection<'_>,
        known: Option<Dismissed>,
    ) -> Result<Believed, Dismissed> {
        let is_locked = matches!(protection, Protection::Yes(_));
        // No reason says more than a lock: order would add nothing.
        if is_locked && known == Some(Dismissed::CommonLock) {
            return Err(Dismissed::CommonLock);
        }
        match self.by_order(location, left, right) {
            Some(why) => Err(why),
            None if is_locked => Err(Dismissed::CommonLock),
            None if self.is_never_parallel(left, right) => Err(Dismissed::NeverParallel),
            None => self.by_paths(location, left, right, protection),
        }
    }
}
