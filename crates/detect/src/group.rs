//! Which surviving pairs have one cause, kept up to date as pairs come and go. Knows what pairs have in common; leaves
//! the words to others.

use crate::crowd::Crowds;
use crate::pair::{Judge, Pair};
use crate::race::Races;
use crate::told::{Memory, Tie, Told, tell};
use crate::users::is_users;
use findings::Confidence;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Memo, Read, Sizes};

/// Causes on one piece of memory, alike in all but their operations, that are told one by one. Where there are more,
/// every operation is at odds with every other, and that is the cause.
const MOST_CAUSES: usize = 8;
/// Fewer pairs than this are told one after the other.
const MANY: usize = 64;

/// How sure a pair is, and whether both sides hold a lock.
type Sureness = (Confidence, bool);

pub(crate) struct Groups {
    told: Memo<Pair, Told>,
    /// Pairs that have nothing in common with others but their memory. Most are hardly believed.
    by_memory: FxHashMap<Memory, Untied>,
    /// Memory of which some are believed.
    believed: BTreeSet<Memory>,
    /// Pairs with ties.
    tied: BTreeSet<Pair>,
}

#[derive(Default)]
struct Untied {
    pairs: BTreeSet<Pair>,
    /// How many of them are believed.
    believed: usize,
}

/// What is to be looked at again.
#[derive(Default)]
pub(crate) struct Regrouped {
    /// Pairs that are told otherwise.
    pub(crate) pairs: BTreeSet<Pair>,
    /// Memory with such pairs that have no ties.
    pub(crate) memory: BTreeSet<Memory>,
    /// Whether any that is believed is among them.
    pub(crate) is_believed: bool,
}

/// Where a pair belongs.
#[derive(Clone, Copy)]
struct Belongs {
    memory: Memory,
    is_tied: bool,
    is_believed: bool,
}

impl Belongs {
    fn of(told: &Told) -> Belongs {
        let is_believed = told.confidence < Confidence::Low;
        Belongs { memory: told.memory, is_tied: !told.ties.is_empty(), is_believed }
    }
}

impl Groups {
    pub(crate) fn new(follows: bool) -> Groups {
        Groups {
            told: Memo::new(Kind::Group, follows),
            by_memory: FxHashMap::default(),
            believed: BTreeSet::new(),
            tied: BTreeSet::new(),
        }
    }

    /// Follows pairs that come out otherwise.
    pub(crate) fn update(
        &mut self,
        judge: &Judge<'_>,
        (races, crowds): (&Races, &Crowds),
        differing: &BTreeSet<Pair>,
        changes: &Changes,
    ) -> Regrouped {
        let mut pairs = self.told.stale(changes);
        pairs.retain(|pair| !differing.contains(pair));
        pairs.extend(differing);
        let look = |&pair: &Pair| {
            let told = self.told.record(|| {
                let is_told = !crowds.leave_out(judge.memory.kind_of(pair.0), pair);
                let witness = races.witness(pair).filter(|_| is_told)?;
                let told = tell(judge.stages, judge.describe, &judge.questions.steps, witness);
                let methods = [told.methods.0, told.methods.1];
                methods.iter().any(|&method| is_users(judge.stages, method)).then_some(told)
            });
            (pair, told)
        };
        let looked: Vec<_> = if pairs.len() < MANY {
            pairs.iter().map(look).collect()
        } else {
            pairs.par_iter().map(look).collect()
        };
        let mut regrouped = Regrouped::default();
        for (pair, (told, reads)) in looked {
            let differs = differing.contains(&pair) || self.told.peek(pair) != told.as_ref();
            let now = told.as_ref().map(Belongs::of);
            let before = match told {
                Some(told) => self.told.set(pair, Some(told), reads),
                None => self.told.remove(pair),
            };
            if differs {
                let before = before.as_ref().map(Belongs::of);
                before.iter().for_each(|&before| self.take_out(pair, before));
                now.iter().for_each(|&now| self.put_in(pair, now));
                for belongs in [before, now].into_iter().flatten() {
                    regrouped.pairs.insert(pair);
                    regrouped.is_believed |= belongs.is_believed || self.believed.contains(&belongs.memory);
                    regrouped.memory.extend((!belongs.is_tied).then_some(belongs.memory));
                }
            }
        }
        regrouped
    }

    fn take_out(&mut self, pair: Pair, belongs: Belongs) {
        if belongs.is_tied {
            self.tied.remove(&pair);
        } else if let Some(alike) = self.by_memory.get_mut(&belongs.memory) {
            alike.pairs.remove(&pair);
            alike.believed -= usize::from(belongs.is_believed);
            if alike.believed == 0 {
                self.believed.remove(&belongs.memory);
            }
            if alike.pairs.is_empty() {
                self.by_memory.remove(&belongs.memory);
            }
        }
    }

    fn put_in(&mut self, pair: Pair, belongs: Belongs) {
        if belongs.is_tied {
            self.tied.insert(pair);
            return;
        }
        let alike = self.by_memory.entry(belongs.memory).or_default();
        alike.pairs.insert(pair);
        if belongs.is_believed {
            alike.believed += 1;
            self.believed.insert(belongs.memory);
        }
    }

    /// `None` for a pair that is left out, or survives no more.
    pub(crate) fn get(&self, pair: Pair) -> Option<&Told> {
        self.told.peek(pair)
    }

    pub(crate) fn told(&self, pair: Pair) -> &Told {
        self.get(pair).unwrap_or_else(|| unreachable!("pairs in groups are told"))
    }

    /// The pairs on some memory if they are hardly believed. Nothing joins them with others.
    pub(crate) fn doubtful(&self, memory: Memory) -> Option<Vec<Pair>> {
        let alike = self.by_memory.get(&memory).filter(|alike| alike.believed == 0)?;
        Some(alike.pairs.iter().copied().collect())
    }

    /// All others by cause.
    pub(crate) fn believed(&self) -> Vec<Vec<Pair>> {
        let mut pairs: Vec<Pair> = self.tied.iter().copied().collect();
        let mut groups = Disjoint::new(pairs.len());
        let mut first: BTreeMap<&Tie, usize> = BTreeMap::new();
        for (at, &pair) in pairs.iter().enumerate() {
            for tie in &self.told(pair).ties {
                let known = *first.entry(tie).or_insert(at);
                groups.join(known, at);
            }
        }
        for memory in &self.believed {
            let alike = &self.by_memory[memory].pairs;
            let first = groups.add(alike.len());
            pairs.extend(alike);
            (first..pairs.len()).for_each(|at| groups.join(first, at));
        }
        self.join_crowds(&mut groups, &pairs);
        groups.members(&pairs).into_values().collect()
    }

    /// Makes one of groups on the same memory that are too many to be told one by one.
    fn join_crowds(&self, groups: &mut Disjoint, pairs: &[Pair]) {
        let mut alike: BTreeMap<(BTreeSet<Memory>, Option<Sureness>), Vec<usize>> = BTreeMap::new();
        for (at, members) in groups.members(pairs) {
            let told = || members.iter().map(|&pair| self.told(pair));
            let memory = told().map(|told| told.memory).collect();
            let surest = told().map(|told| (told.confidence, told.both_locked)).min();
            alike.entry((memory, surest)).or_default().push(at);
        }
        for crowd in alike.into_values().filter(|crowd| crowd.len() > MOST_CAUSES) {
            crowd.iter().for_each(|&at| groups.join(crowd[0], at));
        }
    }

    /// Does anything here rest on this?
    pub(crate) fn reads(&self, read: Read) -> bool {
        self.told.reads(read)
    }

    pub(crate) fn sizes(&self, sizes: &mut Sizes) {
        self.told.sizes(sizes);
        sizes.add("memory with pairs", self.by_memory.len());
        sizes.add("tied pairs", self.tied.len());
    }
}

/// Disjoint sets; each is known by its least member.
struct Disjoint {
    parents: Vec<usize>,
}

impl Disjoint {
    fn new(count: usize) -> Disjoint {
        Disjoint { parents: (0..count).collect() }
    }

    /// Adds this many sets, and gives the first.
    fn add(&mut self, count: usize) -> usize {
        let first = self.parents.len();
        self.parents.extend(first..first + count);
        first
    }

    fn of(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn members(&mut self, pairs: &[Pair]) -> BTreeMap<usize, Vec<Pair>> {
        let mut members: BTreeMap<usize, Vec<Pair>> = BTreeMap::new();
        for (at, &pair) in pairs.iter().enumerate() {
            members.entry(self.of(at)).or_default().push(pair);
        }
        members
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.parents[a.max(b)] = a.min(b);
    }
}
