//! The graph of locks: which nestings hold one lock and want another, as far as a cycle may go that way. Knows no
//! order, and nothing of how cycles are searched.

use super::cycles::Few;
use super::doubt::{Doubt, Doubts};
use super::{LockSite, lock_site};
use crate::Stages;
use crate::confidence::is_merged;
use crate::describe::Describe;
use findings::Confidence;
use happens_before::{HeldLock, LockKey, LockNode, Nesting, Origin, Wanted};
use ir::{MethodId, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// A lock that may be more objects than this is anybody's guess, and no edge of a cycle.
const MOST_OBJECTS: usize = 64;
/// Of the ways to want one lock under another, the shortest; a tangle has thousands, all told as one.
const NEAREST: usize = 32;

/// The number of a lock, in the order of content.
pub(super) type Number = u32;

/// A nesting that may be chosen for a step from one lock to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    /// Which nesting.
    pub(super) at: usize,
    pub(super) from: Number,
    pub(super) to: Number,
    /// What a cycle with it cannot be rid of.
    pub(super) doubts: Doubts,
    pub(super) calls: usize,
}

impl Choice {
    /// Whether a cycle with it may be told with more than low confidence.
    pub(super) fn is_likely(&self) -> bool {
        self.doubts.confidence() != Confidence::Low
    }
}

#[derive(Default)]
pub(super) struct Graph {
    /// Those that may be chosen, in the order of content.
    pub(super) nestings: Vec<Nesting>,
    /// By nesting; equal for those that differ in context only.
    pub(super) kinds: Vec<u32>,
    pub(super) nodes: Vec<LockNode>,
    /// By lock; equal for those that are made in one place.
    pub(super) sites: Vec<u32>,
    /// By lock: whether it stands for at most one.
    pub(super) are_one: Vec<bool>,
    /// Which nestings hold the one lock and want the other.
    pub(super) edges: BTreeMap<(Number, Number), Vec<Choice>>,
    /// By lock, in order: those that are wanted under it, and whether that may be likely; those under which it is
    /// wanted.
    pub(super) onto: Vec<Vec<(Number, bool)>>,
    pub(super) into: Vec<Vec<Number>>,
}

impl Graph {
    pub(super) fn new(stages: &Stages<'_>, describe: &Describe<'_>) -> Graph {
        let all = stages.happens_before.nestings();
        let mut graph = Graph { nodes: nodes(describe, all), ..Graph::default() };
        graph.are_one = graph.nodes.iter().map(|&node| stages.happens_before.is_one_lock(node)).collect();
        graph.sites = numbered(graph.nodes.iter().map(|&node| -> LockSite { lock_site(stages, node) }));
        let between = graph.between(stages, all);
        let chosen: BTreeSet<usize> = between.values().flatten().copied().collect();
        let numbers: FxHashMap<usize, usize> = chosen.iter().copied().zip(0..).collect();
        graph.nestings = chosen.into_iter().map(|at| all[at].clone()).collect();
        graph.kinds = numbered(graph.nestings.iter().map(|nesting| kind(stages, nesting)));
        graph.onto = vec![Vec::new(); graph.nodes.len()];
        graph.into = vec![Vec::new(); graph.nodes.len()];
        for ((from, to), nestings) in between {
            let choice = |at: &usize| graph.choice(stages, numbers[at], from, to);
            let choices: Vec<Choice> = nestings.iter().map(choice).collect();
            graph.onto[from as usize].push((to, choices.iter().any(Choice::is_likely)));
            graph.edges.insert((from, to), choices);
            graph.into[to as usize].push(from);
        }
        graph
    }

    /// The nearest nestings from one lock to another, each kind once: what is the same in another context is left out.
    fn between(&self, stages: &Stages<'_>, all: &[Nesting]) -> BTreeMap<(Number, Number), Vec<usize>> {
        let numbers: FxHashMap<LockNode, Number> = self.nodes.iter().copied().zip(0..).collect();
        let numbered = |set: &[LockNode]| set.iter().map(|node| numbers[node]).collect();
        let sets: FxHashMap<&[LockNode], Vec<Number>> =
            sets(all).into_iter().map(|set| (set, numbered(set))).collect();
        let mut variants: FxHashMap<_, u32> = FxHashMap::default();
        let mut known = FxHashSet::default();
        let mut full = FxHashSet::default();
        let mut between: FxHashMap<(Number, Number), Vec<usize>> = FxHashMap::default();
        // The nearest come first.
        for (at, nesting) in all.iter().enumerate() {
            let Some(wanted) = wanted(nesting) else { continue };
            let steps = (nesting.held.nodes.as_slice(), wanted.nodes.as_slice());
            if full.contains(&steps) {
                continue;
            }
            let gates: Vec<&LockKey> = nesting.locks.iter().flat_map(global_keys).collect();
            let next = variants.len() as u32;
            let variant = *variants.entry((kind(stages, nesting), &nesting.origins, gates)).or_insert(next);
            let mut is_full = true;
            for &from in &sets[steps.0] {
                for &to in &sets[steps.1] {
                    let nestings = between.entry((from, to)).or_default();
                    if nestings.len() < NEAREST && known.insert((variant, from, to)) {
                        nestings.push(at);
                    }
                    is_full &= nestings.len() == NEAREST;
                }
            }
            if is_full {
                full.insert(steps);
            }
        }
        between.into_iter().collect()
    }

    fn choice(&self, stages: &Stages<'_>, at: usize, from: Number, to: Number) -> Choice {
        let nesting = &self.nestings[at];
        let is_merged = |&origin: &Origin| is_merged(stages, nesting.act, origin);
        let is_one_kind = self.sites[from as usize] == self.sites[to as usize];
        let mut doubts = Doubts::default();
        doubts.add(Doubt::Downwards, nesting.is_reached && is_one_kind);
        doubts.add_way(nesting);
        doubts.add(Doubt::MergedCode, !self.are_one[from as usize] && nesting.origins.iter().all(is_merged));
        Choice { at, from, to, doubts, calls: nesting.calls.len() }
    }

    /// Is it the same to whoever searches it? By which calls a nesting comes about is told, and else nobody asks.
    pub(super) fn is_like(&self, other: &Graph) -> bool {
        self.nestings.len() == other.nestings.len()
            && self.nestings.iter().zip(&other.nestings).all(|(a, b)| is_like(a, b))
            && self.kinds == other.kinds
            && self.nodes == other.nodes
            && self.sites == other.sites
            && self.are_one == other.are_one
            && self.edges == other.edges
    }

    /// Of all locks.
    pub(super) fn numbers(&self) -> impl Iterator<Item = Number> {
        0..self.nodes.len() as Number
    }

    /// Where the locks are made, each place once.
    pub(super) fn sites(&self, locks: impl Iterator<Item = Number>) -> Few<u32> {
        let mut sites: Few<u32> = locks.map(|lock| self.sites[lock as usize]).collect();
        sites.sort_unstable();
        sites.dedup();
        sites
    }
}

fn is_like(a: &Nesting, b: &Nesting) -> bool {
    let Nesting { origins, held, wants, act, stmt, locks, calls, called_back, choices, is_reached } = a;
    (act, stmt, called_back, choices, is_reached)
        == (&b.act, &b.stmt, &b.called_back, &b.choices, &b.is_reached)
        && calls.len() == b.calls.len()
        && (origins, held, wants, locks) == (&b.origins, &b.held, &b.wants, &b.locks)
}

/// What a nesting wants, if it may be an edge.
fn wanted(nesting: &Nesting) -> Option<&HeldLock> {
    match &nesting.wants {
        Wanted::Lock(wanted) => {
            Some(wanted).filter(|wanted| nesting.held.nodes.len().max(wanted.nodes.len()) <= MOST_OBJECTS)
        }
        Wanted::End(_) => None,
    }
}

/// What the held and the wanted lock of each nesting may be that may be an edge. Few sets are in many nestings.
fn sets(nestings: &[Nesting]) -> FxHashSet<&[LockNode]> {
    fn both(nesting: &Nesting) -> Option<[&[LockNode]; 2]> {
        Some([&nesting.held.nodes, &wanted(nesting)?.nodes])
    }
    nestings.iter().filter_map(both).flatten().collect()
}

/// All locks that may be in a cycle, in the order of content.
fn nodes(describe: &Describe<'_>, nestings: &[Nesting]) -> Vec<LockNode> {
    let nodes: BTreeSet<LockNode> = sets(nestings).into_iter().flatten().copied().collect();
    let mut nodes: Vec<LockNode> = nodes.into_iter().collect();
    nodes.sort_by(|&a, &b| describe.content.lock_nodes(a, b));
    nodes
}

/// Where the lock is held and where the next is wanted, and whether somebody has to call back in between.
type Kind = (MethodId, Option<StmtId>, MethodId, Option<StmtId>, bool);

fn kind(stages: &Stages<'_>, nesting: &Nesting) -> Kind {
    let (holder, wants) = (stages.pointsto.method(nesting.held.act), stages.pointsto.method(nesting.act));
    (holder, nesting.held.stmt, wants, nesting.stmt, nesting.called_back)
}

/// For each the number of the first that equals it.
pub(super) fn numbered<T: std::hash::Hash + Eq>(items: impl Iterator<Item = T>) -> Vec<u32> {
    let mut known: FxHashMap<T, u32> = FxHashMap::default();
    let number = |item| {
        let next = known.len() as u32;
        *known.entry(item).or_insert(next)
    };
    items.map(number).collect()
}

/// Keys that mean the same lock in every method.
pub(super) fn global_keys(lock: &HeldLock) -> impl Iterator<Item = &LockKey> {
    lock.keys.iter().filter(|key| !matches!(key, LockKey::Path { .. }))
}
