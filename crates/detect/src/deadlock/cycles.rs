//! Cycles in the graph of locks: each step is an origin that holds one lock and wants the next; the origins may
//! overlap, and no gate lock keeps them apart.

use super::chosen::{Chosen, Turns};
use super::doubt::{Doubt, Doubts};
use super::graph::{Choice, Graph, Number, global_keys, numbered};
use super::long::{Known, Long};
use super::{Spot, point, wanted_at};
use crate::Stages;
use crate::confidence::is_merged;
use crate::declared::are_never_parallel;
use crate::describe::Describe;
use crate::users::is_in_users_code;
use findings::Confidence;
use happens_before::{HeldLock, Nesting, Origin, Wanted};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;
use track::{Kind, Read};

/// Longest cycle looked for; longer ones have not been seen in practice and cost exponentially.
pub(super) const LONGEST: usize = 4;

/// One for each step of a cycle, of which tens of thousands are looked at.
pub(super) type Few<T> = SmallVec<[T; LONGEST]>;

/// Of the cycles that look the same to their reader, those tried until one of them is likely.
pub(super) const TRIES: u32 = 8;

/// One thread in a cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Side {
    /// Which nesting.
    pub(super) at: usize,
    pub(super) origin: Origin,
    pub(super) from: Number,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cycle {
    pub(super) sides: Few<Side>,
    pub(super) doubts: Doubts,
    calls: usize,
}

/// Cycles over locks that are made in the same places.
#[derive(Debug, PartialEq)]
pub(super) struct Group {
    pub(super) sites: Few<u32>,
    pub(super) best: Cycle,
    /// Of each kind the nestings of one.
    pub(super) kinds: BTreeMap<Few<u32>, Few<usize>>,
}

/// All there are, but for those that contain one that is told anyway.
pub(super) fn groups(
    stages: &Stages<'_>,
    describe: &Describe<'_>,
    graph: &Graph,
    chosen: &Chosen,
) -> Vec<Group> {
    track::note(Read::all(Kind::LockGraph));
    let search = Search::new(stages, describe, graph, chosen);
    let mut groups: BTreeMap<Few<u32>, Group> = BTreeMap::new();
    search.cycles(&mut |cycle| {
        let sites = graph.sites(cycle.sides.iter().map(|side| side.from));
        let kinds: Few<u32> = cycle.sides.iter().map(|side| graph.kinds[side.at]).collect();
        let nestings = || cycle.sides.iter().map(|side| side.at).collect();
        match groups.get_mut(&sites) {
            None => {
                let kinds = BTreeMap::from([(kinds, nestings())]);
                groups.insert(sites.clone(), Group { sites, best: cycle, kinds });
            }
            Some(group) => {
                group.kinds.entry(kinds).or_insert_with(nestings);
                if search.ranks(&cycle, &group.best).is_lt() {
                    group.best = cycle;
                }
            }
        }
    });
    let is_told_already = |group: &Group| {
        let is_inside =
            |other: &Group| other.sites.iter().all(|site| group.sites.binary_search(site).is_ok());
        let mut smaller = groups.values().filter(|other| other.sites.len() < group.sites.len());
        smaller
            .any(|other| other.best.doubts.confidence() <= group.best.doubts.confidence() && is_inside(other))
    };
    let told: Vec<bool> = groups.values().map(|group| !is_told_already(group)).collect();
    groups.into_values().zip(told).filter_map(|(group, is_told)| is_told.then_some(group)).collect()
}

pub(super) struct Search<'a> {
    stages: &'a Stages<'a>,
    describe: &'a Describe<'a>,
    pub(super) graph: &'a Graph,
    chosen: &'a Chosen,
    /// By nesting, for each of its origins whether the code of several is analysed together there.
    merged: Vec<Vec<bool>>,
    /// By nesting; whether the user's own code takes part in it.
    users: Vec<bool>,
    /// By nesting; equal for those that want their locks in the same statement.
    spots: Vec<u32>,
    /// By nesting; equal for those that meet the same others: same spot, origins and gates. Thousands of nestings are
    /// a few hundred such.
    crowds: Vec<u32>,
    known: RefCell<Answers>,
}

/// All that decides which origins make a cycle: for each step its crowd, and whether the lock it holds is one.
type Steps = [Option<(u32, bool)>; LONGEST];

/// What was found out on the way.
#[derive(Default)]
struct Answers {
    /// Two crowds of which some origins may be there at once.
    together: FxHashMap<[u32; 2], bool>,
    /// Two spots, with one origin at each.
    met: FxHashMap<[(u32, Origin); 2], bool>,
    chosen: FxHashMap<(usize, Origin), bool>,
    /// For each step of a cycle which of its origins it is.
    assigned: FxHashMap<Steps, Option<Rc<[usize]>>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        stages: &'a Stages<'a>,
        describe: &'a Describe<'a>,
        graph: &'a Graph,
        chosen: &'a Chosen,
    ) -> Search<'a> {
        let merged = graph.nestings.iter().map(|nesting| {
            nesting.origins.iter().map(|&origin| is_merged(stages, nesting.act, origin)).collect()
        });
        let spots = numbered(graph.nestings.iter().map(|nesting| (nesting.act, nesting.stmt)));
        let crowds = graph.nestings.iter().zip(&spots).map(|(nesting, &spot)| {
            let gates = nesting.locks.iter().map(|lock| (lock.shared, global_keys(lock).collect::<Vec<_>>()));
            (spot, &nesting.origins, gates.collect::<Vec<_>>())
        });
        Search {
            stages,
            describe,
            graph,
            chosen,
            merged: merged.collect(),
            users: graph.nestings.iter().map(|nesting| is_in_users_code(stages, nesting)).collect(),
            crowds: numbered(crowds),
            spots,
            known: RefCell::default(),
        }
    }

    /// Surest first, then the shortest way, then by where the locks are wanted: methods by name, and no lines, which
    /// change with whatever is typed above.
    fn ranks(&self, a: &Cycle, b: &Cycle) -> Ordering {
        let rank = |cycle: &Cycle| (cycle.doubts.rank(), cycle.calls);
        rank(a).cmp(&rank(b)).then_with(|| {
            let (a, b) = (self.spots_wanted(a), self.spots_wanted(b));
            let differ = a.iter().zip(&b).map(|(&a, &b)| self.by_content(a, b));
            differ.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        })
    }

    /// Where the locks are wanted, in the order of content.
    fn spots_wanted(&self, cycle: &Cycle) -> Vec<Option<Spot>> {
        let spot = |side: &Side| wanted_at(self.stages, &self.graph.nestings[side.at]);
        let mut spots: Vec<Option<Spot>> = cycle.sides.iter().map(spot).collect();
        spots.sort_by(|&a, &b| self.by_content(a, b));
        spots
    }

    fn by_content(&self, a: Option<Spot>, b: Option<Spot>) -> Ordering {
        match (a, b) {
            (Some((one, first)), Some((other, second))) => {
                self.describe.content.methods(one, other).then(first.cmp(&second))
            }
            _ => a.is_some().cmp(&b.is_some()),
        }
    }

    /// All pairs, and of longer cycles over the same locks the best; none through all the locks of a shorter one that
    /// is likely.
    fn cycles(&self, found: &mut dyn FnMut(Cycle)) {
        let mut tried: FxHashMap<[Outline; 2], Tried> = FxHashMap::default();
        let mut known = Known::default();
        let mut add = |path: &[Choice], must_be_likely: bool, known: &mut Known| {
            let cycle = self.cycle(path)?;
            let (confidence, doubts) = cycle.doubts.rank();
            if must_be_likely && confidence == Confidence::Low {
                return None;
            }
            let sites = self.graph.sites(path.iter().map(|choice| choice.from));
            known.add(sites, (confidence, doubts, cycle.calls));
            found(cycle);
            Some(confidence)
        };
        for (&(from, to), edges) in &self.graph.edges {
            let back = if from <= to { self.graph.edges.get(&(to, from)) } else { None };
            // One abstract lock may stand for several objects.
            if from == to && self.graph.are_one[from as usize] {
                continue;
            }
            for &there in edges {
                for &back in back.into_iter().flatten() {
                    let path = [there, back];
                    if self.blocks(&back, &there)
                        && self.blocks(&there, &back)
                        && self.compatible(&there, &back)
                    {
                        let mut outline = path.map(|choice| self.outline(&choice));
                        outline.sort_unstable();
                        let tried = tried.entry(outline).or_default();
                        if tried.times < TRIES {
                            tried.times += 1;
                            // One that looks the same and is no better tells nothing new.
                            if !(tried.is_found && self.is_known_better(&path, &known)) {
                                let confidence = add(&path, false, &mut known);
                                tried.is_found |= confidence.is_some();
                                if confidence.is_some_and(|confidence| confidence != Confidence::Low) {
                                    tried.times = TRIES;
                                }
                            }
                        }
                    }
                }
            }
        }
        for length in 3..=LONGEST {
            let shorter = known.sites();
            for start in self.graph.numbers() {
                Long::new(self, &shorter, start, length).run(&mut known, &mut add);
            }
        }
    }

    /// Is a cycle through these at best unlikely, and another over the same locks better than that?
    fn is_known_better(&self, path: &[Choice], known: &Known) -> bool {
        let doubts = path.iter().map(|choice| choice.doubts).fold(Doubts::default(), Doubts::with);
        let (confidence, doubtful) = doubts.rank();
        let calls = path.iter().map(|choice| choice.calls).sum();
        let sites = || self.graph.sites(path.iter().map(|choice| choice.from));
        confidence == Confidence::Low && known.is_surely_better(&sites(), (confidence, doubtful, calls))
    }

    /// What a step looks like to its reader.
    fn outline(&self, choice: &Choice) -> Outline {
        let from = choice.from as usize;
        (self.graph.kinds[choice.at], self.graph.sites[from], self.graph.are_one[from])
    }

    /// The lock that `waiter` wants is one that `holder` holds in a mode that keeps it waiting.
    pub(super) fn blocks(&self, holder: &Choice, waiter: &Choice) -> bool {
        let Wanted::Lock(wanted) = &self.graph.nestings[waiter.at].wants else { return false };
        !(wanted.shared && self.graph.nestings[holder.at].held.shared)
    }

    /// Some origins may be there at the same time, with no gate lock around both.
    pub(super) fn compatible(&self, a: &Choice, b: &Choice) -> bool {
        let [one, other] = [a, b].map(|choice| self.crowds[choice.at]);
        let key = [one.min(other), one.max(other)];
        if let Some(&known) = self.known.borrow().together.get(&key) {
            return known;
        }
        let (first, second) = (&self.graph.nestings[a.at], &self.graph.nestings[b.at]);
        let mut pairs = first.origins.iter().flat_map(|&p| second.origins.iter().map(move |&q| (p, q)));
        let together = !is_gated(first, second) && pairs.any(|(p, q)| self.may_meet((a.at, p), (b.at, q)));
        self.known.borrow_mut().together.insert(key, together);
        together
    }

    fn may_meet(&self, a: (usize, Origin), b: (usize, Origin)) -> bool {
        let hb = self.stages.happens_before;
        let (p, q) = (a.1, b.1);
        if p == q && !hb.origin(p).overlaps_itself {
            return false;
        }
        let [one, other] = [a, b].map(|(at, origin)| (self.spots[at], origin));
        let key = [one.min(other), one.max(other)];
        if let Some(&known) = self.known.borrow().met.get(&key) {
            return known;
        }
        let [first, second] = [a, b].map(|(at, origin)| point(origin, &self.graph.nestings[at]));
        let may_meet =
            hb.ordered(&first, &second).is_none() && !are_never_parallel(self.stages, &first, &second);
        self.known.borrow_mut().met.insert(key, may_meet);
        may_meet
    }

    /// The path with origins that may all meet, if possible without doubts about their code. None if it is all in
    /// dependencies.
    pub(super) fn cycle(&self, path: &[Choice]) -> Option<Cycle> {
        if !path.iter().any(|choice| self.users[choice.at]) {
            return None;
        }
        let origins = self.assigned(path)?;
        let side = |(choice, &n): (&Choice, &usize)| {
            let origin = self.graph.nestings[choice.at].origins[n];
            Side { at: choice.at, origin, from: choice.from }
        };
        let sides: Few<Side> = path.iter().zip(&*origins).map(side).collect();
        Some(Cycle {
            doubts: self.doubts(path, &origins, &sides),
            sides,
            calls: path.iter().map(|choice| choice.calls).sum(),
        })
    }

    /// For each step which of its origins it is, the first that fit.
    fn assigned(&self, path: &[Choice]) -> Option<Rc<[usize]>> {
        let mut steps: Steps = [None; LONGEST];
        for (step, choice) in steps.iter_mut().zip(path) {
            *step = Some((self.crowds[choice.at], self.graph.are_one[choice.from as usize]));
        }
        if let Some(known) = self.known.borrow().assigned.get(&steps) {
            return known.clone();
        }
        let mut origins = Vec::with_capacity(path.len());
        let is_found = self.assign(path, &mut origins, true) || self.assign(path, &mut origins, false);
        let assigned: Option<Rc<[usize]>> = is_found.then(|| origins.into());
        self.known.borrow_mut().assigned.insert(steps, assigned.clone());
        assigned
    }

    fn assign(&self, path: &[Choice], taken: &mut Vec<usize>, must_be_clear: bool) -> bool {
        let Some(choice) = path.get(taken.len()) else { return true };
        let who = |choice: &Choice, n: usize| (choice.at, self.graph.nestings[choice.at].origins[n]);
        for n in 0..self.graph.nestings[choice.at].origins.len() {
            let is_allowed = !(must_be_clear && self.is_merged(choice, n));
            let meets = |(other, &m): (&Choice, &usize)| self.may_meet(who(other, m), who(choice, n));
            if is_allowed && path.iter().zip(&*taken).all(meets) {
                taken.push(n);
                if self.assign(path, taken, must_be_clear) {
                    return true;
                }
                taken.pop();
            }
        }
        false
    }

    fn is_merged(&self, choice: &Choice, n: usize) -> bool {
        self.merged[choice.at][n] && !self.graph.are_one[choice.from as usize]
    }

    fn doubts(&self, path: &[Choice], origins: &[usize], sides: &[Side]) -> Doubts {
        let forced = path.iter().map(|choice| choice.doubts);
        let mut doubts = forced.fold(Doubts::default(), Doubts::with);
        let mut merged = path.iter().zip(origins).map(|(choice, &n)| self.is_merged(choice, n));
        doubts.add(Doubt::ManyLocks, path.iter().any(|choice| !self.graph.are_one[choice.from as usize]));
        doubts.add(Doubt::MergedCode, merged.any(|is_merged| is_merged));
        doubts.add(Doubt::Chosen, sides.iter().all(|side| self.is_chosen(side)));
        doubts
    }

    fn is_chosen(&self, side: &Side) -> bool {
        let key = (side.at, side.origin);
        if let Some(&known) = self.known.borrow().chosen.get(&key) {
            return known;
        }
        let turns = Turns::new(&self.graph.nestings[side.at], side.origin);
        let is_chosen = turns.is_some_and(|turns| self.chosen.contains(self.stages, turns));
        self.known.borrow_mut().chosen.insert(key, is_chosen);
        is_chosen
    }
}

/// Cycles of one outline: how many were tried, and whether one of them is possible.
#[derive(Default)]
struct Tried {
    times: u32,
    is_found: bool,
}

/// The kind of a nesting, where the lock it holds is made, and whether that is one lock.
type Outline = (u32, u32, bool);

/// Both hold one lock that keeps them apart.
pub(super) fn is_gated(a: &Nesting, b: &Nesting) -> bool {
    let is_common = |gate: &HeldLock, other: &HeldLock| {
        !(gate.shared && other.shared) && global_keys(gate).any(|key| other.keys.contains(key))
    };
    a.locks.iter().any(|gate| b.locks.iter().any(|other| is_common(gate, other)))
}
