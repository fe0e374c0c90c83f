//! Cycles in the graph of locks: each edge is an origin that holds one lock and wants the next; the origins may
//! overlap, and no gate lock keeps them apart.

use super::doubt::{self, Doubt, Forced};
use super::long::{Known, Long};
use super::{LockSite, lock_site, point};
use crate::Stages;
use crate::describe::Describe;
use findings::{Confidence, Place};
use happens_before::{HeldLock, LockKey, LockNode, Nesting, Origin, Wanted};
use ir::{MethodId, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Longest cycle looked for; longer ones have not been seen in practice and cost exponentially.
const LONGEST: usize = 4;
/// A lock that may be more objects than this is anybody's guess, and no edge of a cycle.
const MOST_OBJECTS: usize = 64;
/// Of the ways to want one lock under another, the shortest; a tangle has thousands, all told as one.
const NEAREST: usize = 32;

/// Of the cycles that look the same to their reader, those tried until one of them is likely.
pub(super) const TRIES: u32 = 8;

/// One thread in a cycle.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) nesting: &'a Nesting,
    pub(crate) origin: Origin,
    pub(crate) from: LockNode,
    pub(crate) to: LockNode,
    at: usize,
}

pub(crate) struct Cycle<'a> {
    pub(crate) sides: Vec<Side<'a>>,
    pub(crate) doubts: Vec<Doubt>,
}

/// The number of a lock, in the order of content.
pub(super) type Number = u32;

#[derive(Clone, Copy)]
pub(super) struct Edge {
    /// Which nesting.
    pub(super) at: usize,
    pub(super) from: Number,
    pub(super) to: Number,
}

/// A nesting that may be chosen for one step of a circle.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub(super) edge: Edge,
    pub(super) doubts: Forced,
    pub(super) calls: usize,
}

/// Where the lock is held and where the next is wanted, and whether somebody has to call back in between.
type Kind = (MethodId, Option<StmtId>, MethodId, Option<StmtId>, bool);

fn kind(stages: &Stages<'_>, nesting: &Nesting) -> Kind {
    let (holder, wants) = (stages.pointsto.method(nesting.held.act), stages.pointsto.method(nesting.act));
    (holder, nesting.held.stmt, wants, nesting.stmt, nesting.called_back)
}

pub(crate) struct Search<'a> {
    pub(super) stages: &'a Stages<'a>,
    pub(super) nestings: &'a [Nesting],
    /// Where each nesting wants its lock.
    places: Vec<Place>,
    pub(super) nodes: Vec<LockNode>,
    /// By lock; equal for those that are made in one place.
    pub(super) sites: Vec<u32>,
    /// Equal for nestings that differ in context only.
    kinds: Vec<u32>,
    /// Which nestings hold the one lock and want the other.
    pub(super) edges: BTreeMap<(Number, Number), Vec<Choice>>,
    pub(super) onto: BTreeMap<Number, BTreeSet<Number>>,
    pub(super) into: BTreeMap<Number, BTreeSet<Number>>,
    /// Two origins that may be in two nestings at once.
    together: RefCell<FxHashMap<(usize, usize), bool>>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(stages: &'a Stages<'a>, describe: &Describe<'_>) -> Search<'a> {
        let nestings = stages.happens_before.nestings();
        let nodes = nodes(describe, nestings);
        let numbers: FxHashMap<LockNode, Number> = nodes.iter().copied().zip(0..).collect();
        let mut edges: BTreeMap<(Number, Number), Vec<usize>> = BTreeMap::new();
        let mut onto: BTreeMap<Number, BTreeSet<Number>> = BTreeMap::new();
        let mut into: BTreeMap<Number, BTreeSet<Number>> = BTreeMap::new();
        let mut places = Vec::new();
        let mut known_kinds: FxHashMap<Kind, u32> = FxHashMap::default();
        let mut kinds = Vec::new();
        let mut known_variants = FxHashMap::default();
        let mut known = FxHashSet::default();
        for (at, nesting) in nestings.iter().enumerate() {
            let next = known_kinds.len() as u32;
            kinds.push(*known_kinds.entry(kind(stages, nesting)).or_insert(next));
            let Wanted::Lock(wanted) = &nesting.wants else {
                places.push(Place::default());
                continue;
            };
            places.push(describe.lock(wanted).place);
            if nesting.held.nodes.len().max(wanted.nodes.len()) > MOST_OBJECTS {
                continue;
            }
            let gates: Vec<&LockKey> = nesting.locks.iter().flat_map(global_keys).collect();
            let next = known_variants.len() as u32;
            let variant = *known_variants.entry((kinds[at], &nesting.origins, gates)).or_insert(next);
            for from in nesting.held.nodes.iter().map(|node| numbers[node]) {
                for to in wanted.nodes.iter().map(|node| numbers[node]) {
                    // The same in another context.
                    if !known.insert((variant, from, to)) {
                        continue;
                    }
                    edges.entry((from, to)).or_default().push(at);
                    onto.entry(from).or_default().insert(to);
                    into.entry(to).or_default().insert(from);
                }
            }
        }
        let choices = |((from, to), mut between): ((Number, Number), Vec<usize>)| {
            between.sort_by_key(|&at| (nestings[at].calls.len(), at));
            let choices = between.into_iter().take(NEAREST).map(|at| {
                let [held, wanted] = [from, to].map(|lock| nodes[lock as usize]);
                let doubts = Forced::new(stages, &nestings[at], held, wanted);
                Choice { edge: Edge { at, from, to }, doubts, calls: nestings[at].calls.len() }
            });
            ((from, to), choices.collect())
        };
        let edges = edges.into_iter().map(choices).collect();
        let mut known_sites: FxHashMap<LockSite, u32> = FxHashMap::default();
        let mut sites = Vec::new();
        for &node in &nodes {
            let next = known_sites.len() as u32;
            sites.push(*known_sites.entry(lock_site(stages, node)).or_insert(next));
        }
        Search {
            nodes,
            sites,
            stages,
            nestings,
            places,
            kinds,
            edges,
            onto,
            into,
            together: RefCell::default(),
        }
    }

    /// Where the locks are wanted.
    pub(crate) fn places(&self, cycle: &Cycle<'_>) -> Vec<&Place> {
        cycle.sides.iter().map(|side| &self.places[side.at]).collect()
    }

    pub(crate) fn kinds(&self, cycle: &Cycle<'_>) -> Vec<u32> {
        cycle.sides.iter().map(|side| self.kinds[side.at]).collect()
    }

    /// Surest first, then the shortest way, then by place.
    pub(crate) fn rank(&self, cycle: &Cycle<'_>) -> (Confidence, usize, usize, Vec<&Place>) {
        let length = cycle.sides.iter().map(|side| side.nesting.calls.len()).sum();
        let mut places = self.places(cycle);
        places.sort();
        (doubt::of(&cycle.doubts), cycle.doubts.len(), length, places)
    }

    /// All pairs, and of longer cycles over the same locks the best; none through all the locks of a shorter one that
    /// is likely.
    pub(crate) fn cycles(&self, found: &mut dyn FnMut(Cycle<'a>)) {
        let mut tried: FxHashMap<Vec<(u32, u32, bool)>, u32> = FxHashMap::default();
        let mut known = Known::default();
        let mut add = |path: &[Edge], must_be_likely: bool, known: &mut Known| {
            let cycle = self.cycle(path)?;
            let (confidence, doubts, calls, _) = self.rank(&cycle);
            if must_be_likely && confidence == Confidence::Low {
                return None;
            }
            known.add(self.sites(path.iter().map(|edge| edge.from)), (confidence, doubts, calls));
            found(cycle);
            Some(confidence)
        };
        for (&(from, to), edges) in &self.edges {
            let back = if from <= to { self.edges.get(&(to, from)) } else { None };
            // One abstract lock may stand for several objects.
            if from == to && self.is_one_lock(from) {
                continue;
            }
            for there in edges {
                for back in back.into_iter().flatten() {
                    let path = [there.edge, back.edge];
                    if self.blocks(&path[1], &path[0])
                        && self.blocks(&path[0], &path[1])
                        && self.compatible(&path[0], &path[1])
                    {
                        let tries = tried.entry(self.outline(&path)).or_default();
                        if *tries < TRIES {
                            let is_likely = |confidence| confidence != Confidence::Low;
                            let is_found = add(&path, false, &mut known).is_some_and(is_likely);
                            *tries = if is_found { TRIES } else { *tries + 1 };
                        }
                    }
                }
            }
        }
        for length in 3..=LONGEST {
            let shorter = known.sites();
            for start in self.starts() {
                Long::new(self, &shorter, start, length).run(&mut known, &mut add);
            }
        }
    }

    pub(super) fn is_one_lock(&self, lock: Number) -> bool {
        self.stages.happens_before.is_one_lock(self.nodes[lock as usize])
    }

    fn starts(&self) -> BTreeSet<Number> {
        self.edges.keys().map(|&(from, _)| from).collect()
    }

    /// What a cycle looks like to its reader.
    fn outline(&self, path: &[Edge]) -> Vec<(u32, u32, bool)> {
        let outline =
            |edge: &Edge| (self.kinds[edge.at], self.sites[edge.from as usize], self.is_one_lock(edge.from));
        let mut sides: Vec<_> = path.iter().map(outline).collect();
        sides.sort_unstable();
        sides
    }

    pub(super) fn sites(&self, locks: impl Iterator<Item = Number>) -> Vec<u32> {
        let mut sites: Vec<u32> = locks.map(|lock| self.sites[lock as usize]).collect();
        sites.sort_unstable();
        sites.dedup();
        sites
    }

    /// The lock that `waiter` wants is one that `holder` holds in a mode that keeps it waiting.
    pub(super) fn blocks(&self, holder: &Edge, waiter: &Edge) -> bool {
        let Wanted::Lock(wanted) = &self.nestings[waiter.at].wants else { return false };
        !(wanted.shared && self.nestings[holder.at].held.shared)
    }

    /// Some origins may be there at the same time, with no gate lock around both.
    pub(super) fn compatible(&self, a: &Edge, b: &Edge) -> bool {
        let key = (a.at.min(b.at), a.at.max(b.at));
        if let Some(&known) = self.together.borrow().get(&key) {
            return known;
        }
        let (first, second) = (&self.nestings[a.at], &self.nestings[b.at]);
        let mut pairs = first.origins.iter().flat_map(|&p| second.origins.iter().map(move |&q| (p, q)));
        let together = !is_gated(first, second) && pairs.any(|(p, q)| self.may_meet((first, p), (second, q)));
        self.together.borrow_mut().insert(key, together);
        together
    }

    fn may_meet(&self, (a, p): (&Nesting, Origin), (b, q): (&Nesting, Origin)) -> bool {
        let hb = self.stages.happens_before;
        (p != q || hb.origin(p).overlaps_itself) && hb.ordered(&point(p, a), &point(q, b)).is_none()
    }

    /// The path with origins that may all meet, if possible without doubts about their code.
    fn cycle(&self, path: &[Edge]) -> Option<Cycle<'a>> {
        let is_clear = |side: &Side<'_>| !doubt::is_in_merged_code(self.stages, side);
        let sides =
            self.assign(path, Vec::new(), &is_clear).or_else(|| self.assign(path, Vec::new(), &|_| true))?;
        Some(Cycle { doubts: doubt::doubts(self.stages, &sides), sides })
    }

    /// Origins for each edge, the first that fit.
    fn assign(
        &self,
        path: &[Edge],
        sides: Vec<Side<'a>>,
        is_allowed: &dyn Fn(&Side<'_>) -> bool,
    ) -> Option<Vec<Side<'a>>> {
        let Some(edge) = path.get(sides.len()) else { return Some(sides) };
        let nesting = &self.nestings[edge.at];
        nesting.origins.iter().find_map(|&origin| {
            let [from, to] = [edge.from, edge.to].map(|lock| self.nodes[lock as usize]);
            let side = Side { nesting, origin, from, to, at: edge.at };
            let meets = |other: &Side<'_>| self.may_meet((other.nesting, other.origin), (nesting, origin));
            if !is_allowed(&side) || !sides.iter().all(meets) {
                return None;
            }
            let sides = sides.iter().copied().chain([side]).collect();
            self.assign(path, sides, is_allowed)
        })
    }
}

/// All locks that may be in a cycle, in the order of content.
fn nodes(describe: &Describe<'_>, nestings: &[Nesting]) -> Vec<LockNode> {
    let mut nodes = BTreeSet::new();
    for nesting in nestings {
        if let Wanted::Lock(wanted) = &nesting.wants
            && nesting.held.nodes.len().max(wanted.nodes.len()) <= MOST_OBJECTS
        {
            nodes.extend(nesting.held.nodes.iter().chain(&wanted.nodes));
        }
    }
    let mut nodes: Vec<LockNode> = nodes.into_iter().collect();
    nodes.sort_by(|&a, &b| describe.content.lock_nodes(a, b));
    nodes
}

/// Both hold one lock that keeps them apart.
fn is_gated(a: &Nesting, b: &Nesting) -> bool {
    let is_common = |gate: &HeldLock, other: &HeldLock| {
        !(gate.shared && other.shared) && global_keys(gate).any(|key| other.keys.contains(key))
    };
    a.locks.iter().any(|gate| b.locks.iter().any(|other| is_common(gate, other)))
}

/// Keys that mean the same lock in every method.
fn global_keys(lock: &HeldLock) -> impl Iterator<Item = &LockKey> {
    lock.keys.iter().filter(|key| !matches!(key, LockKey::Path { .. }))
}
