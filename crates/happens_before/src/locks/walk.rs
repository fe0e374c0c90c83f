//! What happens while one lock is held: a walk from its holder over the calls made meanwhile, with the locks
//! certainly held and the objects that can get there on the way. Knows one holder at a time, and no origin.

use super::near::Near;
use super::passing::{Passing, Restriction};
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
    pub fn walk<'n>(&mut self, start: &Start, near: &'n Near) -> Walk<'n> {
        let first = Node { held: start.entry, params: start.params };
        let mut passed = vec![None; near.edges.len()];
        let mut nodes: Vec<Option<Node>> = vec![None; near.acts.len()];
        let mut left = BTreeSet::new();
        self.pass(near, near.start(), &first, &mut passed, &mut left);
        while let Some(at) = left.pop_first() {
            let mut found: Option<Node> = nodes[at];
            for node in passed[near.arriving(at)].iter().flatten() {
                match &mut found {
                    None => found = Some(*node),
                    Some(found) => self.add(found, node),
                }
            }
            let Some(found) = found else { continue };
            if nodes[at].as_ref() != Some(&found) {
                self.pass(near, at, &found, &mut passed, &mut left);
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

    fn pass(
        &mut self,
        near: &Near,
        from: usize,
        node: &Node,
        passed: &mut [Option<Node>],
        left: &mut BTreeSet<usize>,
    ) {
        for &edge in near.leaving(from) {
            let (step, to) = (near.edges[edge].step, near.edges[edge].to);
            let entered = self.passing.enter(self.telling.keys, step.call, node.params);
            let Some(params) = entered else { continue };
            let held = self.telling.union(node.held, step.held);
            let held = self.telling.set_down(step.call, held);
            let entered = Some(Node { held, params });
            if passed[edge] != entered {
                passed[edge] = entered;
                left.insert(to);
            }
        }
    }
}
