//! Questions about a body's control flow: orders, dominators, loops. Works on edges alone; statements and their
//! meaning are not looked at.

mod dominators;
mod loops;

pub use dominators::Dominators;
pub(crate) use dominators::{immediate_dominators, spans};
pub use loops::{Loop, Loops, blocks_in_cycles};

use crate::body::{Block, BlockId, Body, Stmt, StmtId};
use arena::Id;

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
        (first..end)
            .map(move |at| (StmtId(at), &self.stmts[StmtId(at)]))
            .filter(|(_, stmt)| !stmt.is_nothing())
    }

    /// The statement after this one, if it is in the same block.
    pub fn next_in_block(&self, stmt: StmtId) -> Option<StmtId> {
        let end = self.blocks[self.stmts.get(stmt)?.block].end;
        (stmt.0 + 1..end).map(StmtId).find(|&next| self.stmts.get(next).is_some())
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
