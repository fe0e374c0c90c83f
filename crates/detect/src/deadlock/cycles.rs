//! Cycles in the graph of locks: each edge is an origin that holds one lock and wants the next; the origins may
//! overlap, and no gate lock keeps them apart.

use super::doubt::{self, Doubt};
use super::{LockSite, lock_site, point};
use crate::Stages;
use crate::describe::Describe;
use findings::{Confidence, Place};
use happens_before::{HeldLock, LockKey, LockNode, Nesting, Origin, Wanted};
use ir::{MethodId, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Longest cycle looked for; longer ones have not been seen in practice and cost exponentially.
const LONGEST: usize = 4;
/// Steps of the search per start lock, so that a tangle of merged objects cannot hang the analysis.
const STEPS: usize = 20_000;

/// A lock that may be more objects than this is anybody's guess, and no edge of a cycle.
const MOST_OBJECTS: usize = 64;
/// Of the ways to want one lock under another, the shortest; a tangle has thousands, all told as one.
const NEAREST: usize = 32;

/// Of the cycles that look the same to their reader, those tried until one of them is likely.
const TRIES: u32 = 8;

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
type Number = u32;

#[derive(Clone, Copy)]
struct Edge {
    /// Which nesting.
    at: usize,
    from: Number,
    to: Number,
}

/// A search for cycles of more than two locks, of which `start` is the smallest.
struct Long<'a> {
    start: Number,
    length: usize,
    distances: BTreeMap<Number, usize>,
    /// By the locks in them.
    shorter: &'a FxHashMap<u32, Vec<Vec<u32>>>,
    steps: usize,
}

/// Where the lock is held and where the next is wanted, and whether somebody has to call back in between.
type Kind = (MethodId, Option<StmtId>, MethodId, Option<StmtId>, bool);

fn kind(stages: &Stages<'_>, nesting: &Nesting) -> Kind {
    let (holder, wants) = (stages.pointsto.method(nesting.held.act), stages.pointsto.method(nesting.act));
    (holder, nesting.held.stmt, wants, nesting.stmt, nesting.called_back)
}

pub(crate) struct Search<'a> {
    stages: &'a Stages<'a>,
    nestings: &'a [Nesting],
    /// Where each nesting wants its lock.
    places: Vec<Place>,
    nodes: Vec<LockNode>,
    /// By lock; equal for those that are made in one place.
    sites: Vec<u32>,
    /// Equal for nestings that differ in context only.
    kinds: Vec<u32>,
    /// Which nestings hold the one lock and want the other.
    edges: BTreeMap<(Number, Number), Vec<usize>>,
    onto: BTreeMap<Number, BTreeSet<Number>>,
    into: BTreeMap<Number, BTreeSet<Number>>,
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
        for between in edges.values_mut() {
            between.sort_by_key(|&at| (nestings[at].calls.len(), at));
            between.truncate(NEAREST);
        }
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

    /// All cycles, short ones first; none through all the locks of a shorter one that is likely.
    pub(crate) fn cycles(&self, found: &mut dyn FnMut(Cycle<'a>)) {
        let mut tried: FxHashMap<Vec<(u32, u32, bool)>, u32> = FxHashMap::default();
        let mut likely: BTreeSet<Vec<u32>> = BTreeSet::new();
        let mut add = |path: &[Edge], likely: &mut BTreeSet<Vec<u32>>| {
            let tries = tried.entry(self.outline(path)).or_default();
            if *tries == TRIES {
                return;
            }
            *tries += 1;
            if let Some(cycle) = self.cycle(path) {
                if doubt::of(&cycle.doubts) != Confidence::Low {
                    *tries = TRIES;
                    likely.insert(self.sites(path));
                }
                found(cycle);
            }
        };
        for (&(from, to), edges) in &self.edges {
            let back = if from <= to { self.edges.get(&(to, from)) } else { None };
            // One abstract lock may stand for several objects.
            if from == to && self.is_one_lock(from) {
                continue;
            }
            for &edge in edges {
                for &other in back.into_iter().flatten() {
                    let path = [Edge { at: edge, from, to }, Edge { at: other, from: to, to: from }];
                    if self.blocks(&path[1], &path[0])
                        && self.blocks(&path[0], &path[1])
                        && self.compatible(&path[0], &path[1])
                    {
                        add(&path, &mut likely);
                    }
                }
            }
        }
        for length in 3..=LONGEST {
            let mut shorter: FxHashMap<u32, Vec<Vec<u32>>> = FxHashMap::default();
            for sites in &likely {
                sites.iter().for_each(|&site| shorter.entry(site).or_default().push(sites.clone()));
            }
            for start in self.starts() {
                let distances = self.distances(start, length);
                let mut long = Long { start, length, distances, shorter: &shorter, steps: 0 };
                self.extend(&mut long, start, &mut Vec::new(), &mut |path| add(path, &mut likely));
            }
        }
    }

    fn is_one_lock(&self, lock: Number) -> bool {
        self.stages.happens_before.is_one_lock(self.nodes[lock as usize])
    }

    fn starts(&self) -> BTreeSet<Number> {
        self.edges.keys().map(|&(from, _)| from).collect()
    }

    /// Edges from each lock that lead back to the start, over locks that are not smaller.
    fn distances(&self, start: Number, most: usize) -> BTreeMap<Number, usize> {
        let mut distances = BTreeMap::from([(start, 0)]);
        let mut last = vec![start];
        for distance in 1..most {
            let mut next = Vec::new();
            for to in last {
                for &from in self.into.get(&to).into_iter().flatten().filter(|&&from| from > start) {
                    if let Entry::Vacant(entry) = distances.entry(from) {
                        entry.insert(distance);
                        next.push(from);
                    }
                }
            }
            last = next;
        }
        distances
    }

    /// What a cycle looks like to its reader.
    fn outline(&self, path: &[Edge]) -> Vec<(u32, u32, bool)> {
        let outline =
            |edge: &Edge| (self.kinds[edge.at], self.sites[edge.from as usize], self.is_one_lock(edge.from));
        let mut sides: Vec<_> = path.iter().map(outline).collect();
        sides.sort_unstable();
        sides
    }

    fn sites(&self, path: &[Edge]) -> Vec<u32> {
        let mut sites: Vec<u32> = path.iter().map(|edge| self.sites[edge.from as usize]).collect();
        sites.sort_unstable();
        sites.dedup();
        sites
    }

    fn extend(&self, long: &mut Long<'_>, at: Number, path: &mut Vec<Edge>, found: &mut dyn FnMut(&[Edge])) {
        let left = long.length - path.len();
        for &to in self.onto.get(&at).into_iter().flatten() {
            let is_visited = path.iter().any(|earlier| earlier.from == to) || to == at;
            let leads_back = long.distances.get(&to).is_some_and(|&distance| distance < left);
            if !leads_back || (to == long.start) != (left == 1) || is_visited && to != long.start {
                continue;
            }
            for &nesting in &self.edges[&(at, to)] {
                long.steps += 1;
                if long.steps > STEPS {
                    return;
                }
                let edge = Edge { at: nesting, from: at, to };
                let fits = path.iter().all(|earlier| self.compatible(earlier, &edge))
                    && path.last().is_none_or(|previous| self.blocks(&edge, previous));
                if !fits {
                    continue;
                }
                path.push(edge);
                let sites = self.sites(path);
                if !has_shorter(long.shorter, &sites, self.sites[at as usize]) {
                    if left > 1 {
                        self.extend(long, to, path, found);
                    } else if self.blocks(&path[0], &edge) {
                        found(path);
                    }
                }
                path.pop();
            }
        }
    }

    /// The lock that `waiter` wants is one that `holder` holds in a mode that keeps it waiting.
    fn blocks(&self, holder: &Edge, waiter: &Edge) -> bool {
        let Wanted::Lock(wanted) = &self.nestings[waiter.at].wants else { return false };
        !(wanted.shared && self.nestings[holder.at].held.shared)
    }

    /// Some origins may be there at the same time, with no gate lock around both.
    fn compatible(&self, a: &Edge, b: &Edge) -> bool {
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
        (p != q || hb.origins()[p].overlaps_itself) && hb.ordered(&point(p, a), &point(q, b)).is_none()
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

/// Are all the locks of a shorter cycle through `last` among the sorted `sites`?
fn has_shorter(shorter: &FxHashMap<u32, Vec<Vec<u32>>>, sites: &[u32], last: u32) -> bool {
    let is_inside = |shorter: &Vec<u32>| shorter.iter().all(|site| sites.binary_search(site).is_ok());
    shorter.get(&last).is_some_and(|shorter| shorter.iter().any(is_inside))
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
