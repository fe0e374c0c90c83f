//! The pairs of statements that meet on some memory, and how far each of them comes; kept up to date by difference. Knows
//! which pairs are to be judged again, and leaves the judging to others.

use crate::access::{Accesses, What};
use crate::memory::{KindId, Memory, TouchId};
use crate::pair::{Judge, Pair, Witness};
use crate::verdict::{Stage, Verdict};
use ir::{MethodId, StmtId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Memo, Sizes};

const STAGES: [(Stage, &str); 4] = [
    (Stage::SameObject, "may touch the same object"),
    (Stage::TwoOrigins, "by two threads on one object"),
    (Stage::Overlapping, "at the same time"),
    (Stage::Unlocked, "without a common lock"),
];

/// Fewer pairs than this are judged one after the other.
const MANY: usize = 64;

pub(crate) struct Races {
    judged: Memo<Pair, Verdict>,
    /// For each statement those with which it is a pair, by kind.
    partners: BTreeMap<(KindId, TouchId), BTreeSet<TouchId>>,
    /// How many pairs came as far as each stage.
    counts: [u64; STAGES.len()],
    /// How many pairs of a kind survive.
    surviving: FxHashMap<KindId, usize>,
    /// How many pairs the last update judged.
    judged_last: usize,
}

impl Races {
    pub(crate) fn new(follows: bool) -> Races {
        Races {
            judged: Memo::new(Kind::Pair, follows),
            partners: BTreeMap::new(),
            counts: Default::default(),
            surviving: FxHashMap::default(),
            judged_last: 0,
        }
    }

    /// Was a pair judged by this?
    pub(crate) fn reads(&self, read: track::Read) -> bool {
        self.judged.reads(read)
    }

    /// Judges again what may come out otherwise now: the `dirty` ones, because they meet elsewhere. Tells which pairs do.
    pub(crate) fn update(
        &mut self,
        judge: &Judge<'_>,
        dirty: BTreeSet<Pair>,
        changes: &Changes,
    ) -> BTreeSet<Pair> {
        let stale = self.judged.stale(changes);
        let stale = stale.into_iter().filter(|pair| !dirty.contains(pair));
        // A statement that is gone meets nobody: it has to be known only to whom it met before.
        let is_there = |touch: TouchId| !judge.memory.places(touch).is_empty();
        let is_one =
            |pair: &&Pair| is_there(pair.0) && is_there(pair.1) || self.judged.peek(**pair).is_some();
        let pairs: Vec<Pair> = stale.chain(dirty.iter().filter(is_one).copied()).collect();
        self.judged_last = pairs.len();
        self.judge_all(judge, pairs)
    }

    /// Those that come out otherwise.
    fn judge_all(&mut self, judge: &Judge<'_>, pairs: Vec<Pair>) -> BTreeSet<Pair> {
        // Most pairs meet nowhere, and did not before.
        let look = |&pair: &Pair| {
            let (judged, reads) = self.judged.record(|| judge.look_at(pair));
            let is_one = judged.is_some() || self.judged.peek(pair).is_some();
            is_one.then_some((pair, (judged, reads)))
        };
        let looked: Vec<_> = if pairs.len() < MANY {
            pairs.iter().filter_map(look).collect()
        } else {
            pairs.par_iter().filter_map(look).collect()
        };
        let mut differing = BTreeSet::new();
        for (pair, (judged, reads)) in looked {
            if self.judged.peek(pair) != judged.as_ref() {
                differing.insert(pair);
            }
            self.count(judge.memory, pair, judged.as_ref());
            match judged {
                Some(judged) => _ = self.judged.set(pair, Some(judged), reads),
                None => _ = self.judged.remove(pair),
            }
        }
        differing
    }

    /// Counts a pair as it is now instead of as it was.
    fn count(&mut self, memory: &Memory, pair: Pair, now: Option<&Verdict>) {
        let kind = memory.kind_of(pair.0);
        let before = self.judged.peek(pair);
        for (count, (stage, _)) in self.counts.iter_mut().zip(STAGES) {
            let comes =
                |judged: Option<&Verdict>| u64::from(judged.is_some_and(|judged| judged.stage() >= stage));
            *count = *count + comes(now) - comes(before);
        }
        let survives = |judged: Option<&Verdict>| usize::from(judged.and_then(Verdict::witness).is_some());
        let surviving = self.surviving.entry(kind).or_default();
        *surviving = *surviving + survives(now) - survives(before);
        if before.is_some() != now.is_some() {
            for (one, other) in [(pair.0, pair.1), (pair.1, pair.0)] {
                let partners = self.partners.entry((kind, one)).or_default();
                if now.is_some() {
                    partners.insert(other);
                } else {
                    partners.remove(&other);
                }
            }
        }
    }

    /// How many pairs the last update judged.
    pub(crate) fn judged_last(&self) -> usize {
        self.judged_last
    }

    pub(crate) fn witness(&self, pair: Pair) -> Option<&Witness> {
        self.judged.peek(pair)?.witness()
    }

    /// What was concluded about a pair, if it meets at all.
    pub(crate) fn verdict(&self, pair: Pair) -> Option<&Verdict> {
        self.judged.peek(pair)
    }

    /// Statements with which a statement was judged, each with the verdict.
    pub(crate) fn judged_with(
        &self,
        kind: KindId,
        touch: TouchId,
    ) -> impl Iterator<Item = (TouchId, &Verdict)> {
        let others = self.partners.get(&(kind, touch)).into_iter().flatten();
        others.filter_map(move |&other| Some((other, self.verdict(Pair::of(touch, other))?)))
    }

    pub(crate) fn surviving(&self, kind: KindId) -> usize {
        self.surviving.get(&kind).copied().unwrap_or(0)
    }

    /// The surviving pairs of a kind, with their witnesses.
    pub(crate) fn of_kind(&self, kind: KindId) -> impl Iterator<Item = (Pair, &Witness)> {
        let touches = self.partners.range((kind, TouchId(0))..=(kind, TouchId(u32::MAX)));
        let later = |(&(_, one), others): (&(KindId, TouchId), &'_ BTreeSet<TouchId>)| {
            others.range(one..).map(|&other| Pair(one, other)).collect::<Vec<_>>()
        };
        touches.flat_map(later).filter_map(|pair| Some((pair, self.witness(pair)?)))
    }

    /// How many pairs there are by name alone, and how many survive each stage.
    pub(crate) fn counts(&self, accesses: &Accesses) -> Vec<(String, u64)> {
        let mut counts = vec![
            ("accesses to the same field, one a write".to_string(), same_field_pairs(accesses, false)),
            ("after publication".to_string(), same_field_pairs(accesses, true)),
        ];
        counts.extend(STAGES.iter().zip(self.counts).map(|((_, name), count)| (name.to_string(), count)));
        counts
    }

    pub(crate) fn sizes(&self, sizes: &mut Sizes) {
        self.judged.sizes(sizes);
        sizes.add("partners", self.partners.len());
    }
}

/// Pairs of statements by name alone: same field (or both array elements), one of them a write.
fn same_field_pairs(accesses: &Accesses, only_published: bool) -> u64 {
    let mut by_field: FxHashMap<What, FxHashMap<(MethodId, StmtId), bool>> = FxHashMap::default();
    for access in accesses.iter().filter(|access| access.published || !only_published) {
        *by_field.entry(access.what).or_default().entry((access.method, access.stmt)).or_default() |=
            access.write;
    }
    let pairs = |sites: &FxHashMap<(MethodId, StmtId), bool>| {
        let writes = sites.values().filter(|&&write| write).count() as u64;
        let reads = sites.len() as u64 - writes;
        writes * (writes + 1) / 2 + writes * reads
    };
    by_field.values().map(pairs).sum()
}
