//! Joins blocks that were only cut apart for the sake of lowering: borders of handler ranges, catch stubs, jumps
//! to what only they reach. Moves no statement and changes no edge that matters.

use crate::body::{Block, BlockId, Body, StmtKind};
use arena::{Id, IndexVec};

/// `P → S`, the only edge out of P and into S, is removed
/// - if neither can throw to a handler,
/// - if P holds nothing but its catch and phis: handlers of S see those as well as before,
/// - if S is empty and has no handlers.
pub(super) fn merge(body: &mut Body) {
    if body.blocks.len() < 2 {
        return;
    }
    let mut into: IndexVec<BlockId, BlockId> = body.blocks.ids().collect();
    let mut merged = false;
    for id in body.blocks.ids() {
        if into[id] != id {
            continue;
        }
        while let [succ] = body.blocks[id].succs[..]
            && may_merge(body, id, succ)
        {
            merged = true;
            into[succ] = id;
            let Block { end, succs, handlers, first, .. } = std::mem::take(&mut body.blocks[succ]);
            let block = &mut body.blocks[id];
            if end > first {
                block.end = end;
            }
            block.succs = succs;
            block.handlers.extend(handlers);
        }
    }
    if merged {
        renumber(body, &into);
    }
}

fn may_merge(body: &Body, id: BlockId, succ: BlockId) -> bool {
    let (block, next) = (&body.blocks[id], &body.blocks[succ]);
    let chooses = matches!(body.last_stmt(id).map(|stmt| &stmt.kind), Some(StmtKind::Switch { .. }));
    if next.preds.len() != 1 || succ == id || chooses {
        return false;
    }
    if next.handlers.is_empty() && next.first == next.end {
        return true;
    }
    if !block.handlers.is_empty() {
        return false;
    }
    let adjoins = block.end == next.first;
    let joins_only = || {
        body.block_stmts(id)
            .all(|(_, stmt)| matches!(stmt.kind, StmtKind::Catch { .. } | StmtKind::Phi { .. }))
    };
    adjoins && (next.handlers.is_empty() || joins_only())
}

/// `into` names the block that each block became part of: itself, or an earlier one that stays.
fn renumber(body: &mut Body, into: &IndexVec<BlockId, BlockId>) {
    let mut numbers: IndexVec<BlockId, BlockId> = IndexVec::new();
    let mut kept = 0;
    for (id, &target) in into.iter() {
        let number = if target == id { BlockId::new(kept) } else { numbers[target] };
        kept += usize::from(target == id);
        numbers.push(number);
    }
    let mut old = std::mem::take(&mut body.blocks);
    for id in into.ids().filter(|&id| into[id] == id) {
        body.blocks.push(std::mem::take(&mut old[id]));
    }
    for id in body.blocks.ids() {
        let block = &mut body.blocks[id];
        let edges = block.succs.iter_mut().chain(&mut block.handlers).chain(&mut block.preds);
        edges.for_each(|edge| *edge = numbers[*edge]);
    }
    for stmt in body.stmts.iter_mut() {
        stmt.block = numbers[stmt.block];
    }
}
