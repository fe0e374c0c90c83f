//! Which blocks every path passes. Works on edges alone.

use super::Edges;
use crate::body::{BlockId, Body};
use arena::{Id, IndexVec};

/// Which blocks every path from the entry passes.
#[derive(Debug, Clone)]
pub struct Dominators {
    /// Position in the dominator tree's preorder and the end of its subtree; `None` if unreachable.
    spans: IndexVec<BlockId, Option<(u32, u32)>>,
    immediate: IndexVec<BlockId, Option<BlockId>>,
}

impl Dominators {
    pub fn new(body: &Body, edges: Edges) -> Dominators {
        let order = body.reverse_postorder(edges);
        let successors = |at: usize| body.successors(order[at], edges).map(BlockId::index);
        let mut position = vec![usize::MAX; body.blocks.len()];
        for (at, block) in order.iter().enumerate() {
            position[block.index()] = at;
        }
        let tree =
            immediate_dominators(order.len(), |at| successors(at).map(|block| position[block]).collect());
        let spans_by_position = spans(&tree);
        let mut dominators = Dominators {
            spans: body.blocks.ids().map(|_| None).collect(),
            immediate: body.blocks.ids().map(|_| None).collect(),
        };
        for (at, &block) in order.iter().enumerate() {
            dominators.spans[block] = Some(spans_by_position[at]);
            dominators.immediate[block] = (at > 0).then(|| order[tree[at]]);
        }
        dominators
    }

    /// Does every path from the entry to `b` pass `a`? A block dominates itself; nothing dominates or is
    /// dominated by a block that cannot be reached.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        match (self.spans[a], self.spans[b]) {
            (Some((start, end)), Some((at, _))) => start <= at && at < end,
            _ => false,
        }
    }

    /// The closest other block that dominates this one; `None` for the entry and unreachable blocks.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.immediate[block]
    }

    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.spans[block].is_some()
    }
}

/// Cooper, Harvey and Kennedy: nodes are numbered in reverse postorder from 0; the result for 0 is 0.
pub(crate) fn immediate_dominators(count: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut preds: Vec<Vec<u32>> = vec![Vec::new(); count];
    for at in 0..count {
        for next in successors(at) {
            preds[next].push(at as u32);
        }
    }
    let mut tree = vec![usize::MAX; count];
    if count > 0 {
        tree[0] = 0;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for at in 1..count {
            let mut best = usize::MAX;
            for &pred in &preds[at] {
                let pred = pred as usize;
                if tree[pred] == usize::MAX {
                    continue;
                }
                best = if best == usize::MAX { pred } else { common(&tree, best, pred) };
            }
            changed |= tree[at] != best;
            tree[at] = best;
        }
    }
    tree
}

fn common(tree: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while a > b {
            a = tree[a];
        }
        while b > a {
            b = tree[b];
        }
    }
    a
}

/// Preorder spans of the tree; parents have lower numbers than their children.
pub(crate) fn spans(tree: &[usize]) -> Vec<(u32, u32)> {
    let mut sizes = vec![1u32; tree.len()];
    for at in (1..tree.len()).rev() {
        sizes[tree[at]] += sizes[at];
    }
    let mut spans = vec![(0, 0); tree.len()];
    let mut next = vec![0; tree.len()];
    for at in 0..tree.len() {
        let start = if at == 0 { 0 } else { next[tree[at]] };
        if at > 0 {
            next[tree[at]] += sizes[at];
        }
        next[at] = start + 1;
        spans[at] = (start, start + sizes[at]);
    }
    spans
}
