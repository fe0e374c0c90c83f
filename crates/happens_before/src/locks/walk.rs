//! What happens while one lock is held: a walk from its holder over the calls made meanwhile, with the locks
//! certainly held and the objects that can get there on the way. Knows one holder at a time, and no origin.

use super::near::Near;
use super::passing::{Passing, Restriction};
use super::steps::Step;
use super::table::SetId;
use super::telling::Telling;
use pointsto::Act;
use std::collections::BTreeSet;

pub struct Walker<'a, 'k, 'w> {
    pub telling: &'a mut Telling<'k, 'w>,
    pub passing: &'a mut Passing,
}

/// Where the walk begins.
pub struct Start {
    pub act: Act,
    /// What callers certainly hold.
    pub entry: SetId,
    pub params: Restriction,
}

/// An activation as the walk gets there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// Certainly held at its entry, in its own terms.
    pub held: SetId,
    pub params: Restriction,
}

/// By number of the edge: what was passed on last, and what came of it. Most walks from one holder pass the same.
pub type LastPassed = Vec<Option<(Node, Option<Node>)>>;

pub struct Walk<'a> {
    pub near: &'a Near,
    pub start: Node,
    /// By number; those that nothing gets to are not visited.
    pub nodes: Vec<Option<Node>>,
    /// By number of the edge: what the call passes on.
    pub passed: Vec<Option<Node>>,
}

impl Walk<'_> {
    pub fn visited(&self) -> usize {
        self.nodes.iter().flatten().count()
    }
}

impl Walker<'_, '_, '_> {
    /// held(m) = ⋂ over calls (c, s) on the walk: told in m's terms, held(c) ∪ held(c, s); objects with ⋃. Callers
    /// come first as far as they can, and are met in the order of content.
    pub fn walk<'n>(&mut self, start: &Start, near: &'n Near, last: &mut LastPassed) -> Walk<'n> {
        last.resize(near.edges.len(), None);
        let first = Node { held: start.entry, params: start.params };
        let mut passed = vec![None; near.edges.len()];
        let mut nodes: Vec<Option<Node>> = vec![None; near.acts.len()];
        let mut left = BTreeSet::new();
        let mut progress = Progress { near, last, passed: &mut passed, left: &mut left };
        self.pass(near.start(), &first, &mut progress);
        while let Some(at) = progress.left.pop_first() {
            let mut found: Option<Node> = nodes[at];
            for node in progress.passed[near.arriving(at)].iter().flatten() {
                match &mut found {
                    None => found = Some(*node),
                    Some(found) => self.add(found, node),
                }
            }
            let Some(found) = found else { continue };
            if nodes[at].as_ref() != Some(&found) {
                self.pass(at, &found, &mut progress);
                nodes[at] = Some(found);
            }
        }
        Walk { near, start: first, nodes, passed }
    }

    /// Another way to the same activation.
    fn add(&mut self, known: &mut Node, other: &Node) {
        known.held = self.telling.meet(known.held, other.held);
        known.params = self.passing.widened(known.params, other.params);
    }

    fn pass(&mut self, from: usize, node: &Node, progress: &mut Progress<'_>) {
        let near = progress.near;
        for &edge in near.leaving(from) {
            let (step, to) = (near.edges[edge].step, near.edges[edge].to);
            let entered = match progress.last[edge] {
                Some((before, entered)) if before == *node => entered,
                _ => self.enter(step, node),
            };
            progress.last[edge] = Some((*node, entered));
            if entered.is_some() && progress.passed[edge] != entered {
                progress.passed[edge] = entered;
                progress.left.insert(to);
            }
        }
    }

    /// What a call passes on.
    fn enter(&mut self, step: Step, node: &Node) -> Option<Node> {
        let params = self.passing.enter(self.telling.keys, step.call, node.params)?;
        let held = self.telling.union(node.held, step.held);
        Some(Node { held: self.telling.set_down(step.call, held), params })
    }
}

/// How far a walk has come.
struct Progress<'a> {
    near: &'a Near,
    last: &'a mut LastPassed,
    passed: &'a mut Vec<Option<Node>>,
    left: &'a mut BTreeSet<usize>,
}
