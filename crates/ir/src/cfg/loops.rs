//! Natural loops, and cycles of any kind. Works on edges and dominators alone.

use super::{Dominators, Edges};
use crate::body::{BlockId, Body};
use arena::{Id, IndexVec};

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
