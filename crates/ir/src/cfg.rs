//! Questions about a body's control flow: orders, dominators, loops. Works on edges alone; statements and their
//! meaning are not looked at.

use crate::body::{Block, BlockId, Body, Stmt, StmtId};
use arena::{Id, IndexVec};

/// Which edges count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edges {
    /// Only `succs`.
    Normal,
    /// `succs` and `handlers`.
    All,
}

impl Body {
    pub fn entry(&self) -> BlockId {
        BlockId(0)
    }

    /// The statements of a block in order.
    pub fn block_stmts(&self, block: BlockId) -> impl DoubleEndedIterator<Item = (StmtId, &Stmt)> {
        let Block { first, end, .. } = self.blocks[block];
        (first..end).map(move |at| (StmtId(at), &self.stmts[StmtId(at)]))
    }

    /// The last statement of a block, if it has any.
    pub fn last_stmt(&self, block: BlockId) -> Option<&Stmt> {
        self.block_stmts(block).next_back().map(|(_, stmt)| stmt)
    }

    /// Successors along the chosen edges.
    pub fn successors(&self, block: BlockId, edges: Edges) -> impl Iterator<Item = BlockId> + '_ {
        let block = &self.blocks[block];
        let handlers = match edges {
            Edges::Normal => &[][..],
            Edges::All => &block.handlers,
        };
        block.succs.iter().chain(handlers).copied()
    }

    /// Blocks reachable from the entry along the chosen edges, each before its successors except along back
    /// edges. With [`Edges::All`] that is every block.
    pub fn reverse_postorder(&self, edges: Edges) -> Vec<BlockId> {
        let mut seen = vec![false; self.blocks.len()];
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut stack = Vec::new();
        let push = |block: BlockId, stack: &mut Vec<_>, seen: &mut Vec<bool>| {
            if !std::mem::replace(&mut seen[block.index()], true) {
                // Highest first: the lowest successor then follows right after its predecessor.
                let mut next: Vec<BlockId> = self.successors(block, edges).collect();
                next.sort_unstable();
                stack.push((block, next));
            }
        };
        if !self.blocks.is_empty() {
            push(self.entry(), &mut stack, &mut seen);
        }
        while let Some((block, next)) = stack.last_mut() {
            let block = *block;
            match next.pop() {
                Some(next) => push(next, &mut stack, &mut seen),
                None => {
                    order.push(block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        order
    }
}

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

/// Natural loops, nested; loops with one header are one loop.
#[derive(Debug, Clone, Default)]
pub struct Loops {
    /// Outer loops before the loops inside them.
    pub loops: Vec<Loop>,
    innermost: Vec<Option<u32>>,
}

#[derive(Debug, Clone)]
pub struct Loop {
    pub header: BlockId,
    /// Ascending, the header included.
    pub blocks: Vec<BlockId>,
}

impl Loops {
    /// A back edge leads to a block that dominates its start; other cycles (irreducible ones, which no Java
    /// compiler emits) have no header and are no loops here: see [`blocks_in_cycles`].
    pub fn new(body: &Body, dominators: &Dominators, edges: Edges) -> Loops {
        let mut members: IndexVec<BlockId, Vec<BlockId>> = body.blocks.ids().map(|_| Vec::new()).collect();
        let mut preds: IndexVec<BlockId, Vec<BlockId>> = body.blocks.ids().map(|_| Vec::new()).collect();
        for block in body.blocks.ids().filter(|&block| dominators.is_reachable(block)) {
            for next in body.successors(block, edges) {
                preds[next].push(block);
                if dominators.dominates(next, block) {
                    members[next].push(block);
                }
            }
        }
        let mut loops = Loops { loops: Vec::new(), innermost: vec![None; body.blocks.len()] };
        for header in body.blocks.ids().filter(|&header| !members[header].is_empty()) {
            let mut inside = vec![false; body.blocks.len()];
            inside[header.index()] = true;
            let mut left = members[header].clone();
            while let Some(block) = left.pop() {
                if !std::mem::replace(&mut inside[block.index()], true) {
                    left.extend(&preds[block]);
                }
            }
            let blocks = body.blocks.ids().filter(|block| inside[block.index()]).collect();
            loops.loops.push(Loop { header, blocks });
        }
        loops.loops.sort_by_key(|found| (std::cmp::Reverse(found.blocks.len()), found.header));
        for (at, found) in loops.loops.iter().enumerate() {
            for block in &found.blocks {
                loops.innermost[block.index()] = Some(at as u32);
            }
        }
        loops
    }

    /// The innermost loop around a block.
    pub fn innermost(&self, block: BlockId) -> Option<&Loop> {
        self.innermost[block.index()].map(|at| &self.loops[at as usize])
    }

    /// The header of the innermost loop around a block.
    pub fn header(&self, block: BlockId) -> Option<BlockId> {
        self.innermost(block).map(|found| found.header)
    }
}

/// Blocks that can be run again after they were run once: reachable from themselves. Covers irreducible cycles.
pub fn blocks_in_cycles(body: &Body, edges: Edges) -> Vec<bool> {
    // Tarjan's components with an explicit stack; a component of one block is a cycle only with a self edge.
    const UNSEEN: u32 = u32::MAX;
    let count = body.blocks.len();
    let (mut index, mut low) = (vec![UNSEEN; count], vec![0u32; count]);
    let mut on_stack = vec![false; count];
    let (mut component, mut work) = (Vec::new(), Vec::new());
    let mut cyclic = vec![false; count];
    let mut clock = 0;
    let start = |block: usize, clock: &mut u32, index: &mut [u32], low: &mut [u32]| {
        index[block] = *clock;
        low[block] = *clock;
        *clock += 1;
        body.successors(BlockId::new(block), edges).map(BlockId::index).collect::<Vec<_>>()
    };
    for root in 0..count {
        if index[root] != UNSEEN {
            continue;
        }
        work.push((root, start(root, &mut clock, &mut index, &mut low)));
        component.push(root);
        on_stack[root] = true;
        while let Some((block, next)) = work.last_mut() {
            let block = *block;
            match next.pop() {
                Some(to) if index[to] == UNSEEN => {
                    work.push((to, start(to, &mut clock, &mut index, &mut low)));
                    component.push(to);
                    on_stack[to] = true;
                }
                Some(to) => {
                    cyclic[block] |= to == block;
                    if on_stack[to] {
                        low[block] = low[block].min(index[to]);
                    }
                }
                None => {
                    work.pop();
                    if let Some((parent, _)) = work.last() {
                        low[*parent] = low[*parent].min(low[block]);
                    }
                    if low[block] == index[block] {
                        let at = component.iter().rposition(|&member| member == block).unwrap_or(0);
                        let several = component.len() - at > 1;
                        for member in component.drain(at..) {
                            on_stack[member] = false;
                            cyclic[member] |= several;
                        }
                    }
                }
            }
        }
    }
    cyclic
}
