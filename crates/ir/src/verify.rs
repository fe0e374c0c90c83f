//! An independent check that a body is what [`Body`] promises, for tests and fuzzing. Shares no code with
//! lowering; says nothing of whether the statements mean what the bytecode meant.

use crate::body::{BlockId, Body, StmtId, StmtKind, Var};
use crate::cfg::{immediate_dominators, spans};
use arena::Id;

/// The first broken promise found.
pub fn verify(body: &Body) -> Result<(), String> {
    blocks(body)?;
    shape(body)?;
    definitions(body)?;
    dominance(body)
}

/// Blocks partition the statements; edges and predecessors agree.
fn blocks(body: &Body) -> Result<(), String> {
    ensure(!body.blocks.is_empty(), || "no blocks".to_owned())?;
    ensure(body.blocks[BlockId(0)].preds.is_empty(), || "the entry has predecessors".to_owned())?;
    let mut next = 0;
    for (id, block) in body.blocks.iter() {
        ensure(block.first >= next && block.end >= block.first, || {
            format!("{id:?} has no range of statements")
        })?;
        let mut free = (next..block.first).map(StmtId);
        ensure(free.all(|at| body.stmts.get(at).is_none()), || "statements outside blocks".to_owned())?;
        next = block.end;
        let mut ends = [block.first, block.end.wrapping_sub(1)].map(StmtId).into_iter();
        let is_empty = block.first == block.end;
        ensure(is_empty || ends.all(|at| body.stmts.get(at).is_some()), || {
            format!("{id:?} begins or ends with a free number")
        })?;
        for (at, stmt) in body.block_stmts(id) {
            ensure(stmt.block == id, || format!("{at:?} stands in another block"))?;
        }
    }
    ensure(next as usize == body.stmts.bound(), || "statements outside blocks".to_owned())?;
    let mut forward = Vec::new();
    for (id, block) in body.blocks.iter() {
        forward.extend(block.succs.iter().chain(&block.handlers).map(|&to| (to, id)));
    }
    let mut backward = Vec::new();
    for (id, block) in body.blocks.iter() {
        backward.extend(block.preds.iter().map(|&from| (id, from)));
    }
    forward.sort_unstable();
    backward.sort_unstable();
    ensure(forward == backward, || "edges and predecessors differ".to_owned())
}

/// Statements stand where they may: `Catch` first in handlers, then phis; control statements last.
fn shape(body: &Body) -> Result<(), String> {
    let mut is_handler = vec![false; body.blocks.len()];
    let mut is_normal = vec![false; body.blocks.len()];
    for (_, block) in body.blocks.iter() {
        block.handlers.iter().for_each(|handler| is_handler[handler.index()] = true);
        block.succs.iter().for_each(|succ| is_normal[succ.index()] = true);
    }
    for (id, block) in body.blocks.iter() {
        let wrong = |what: &str| format!("{id:?}: {what}");
        ensure(!(is_handler[id.index()] && is_normal[id.index()]), || wrong("handler entered normally"))?;
        let mut may_catch = is_handler[id.index()];
        let mut may_phi = true;
        for (at, stmt) in body.block_stmts(id) {
            let is_last = at.0 + 1 == block.end;
            match &stmt.kind {
                StmtKind::Catch { .. } => ensure(may_catch, || wrong("catch out of place"))?,
                StmtKind::Phi { srcs, .. } => {
                    ensure(may_phi && !may_catch, || wrong("phi out of place"))?;
                    ensure(srcs.len() == block.preds.len(), || wrong("phi sources and predecessors differ"))?;
                }
                StmtKind::Branch { .. } => ensure(is_last && block.succs.len() == 2, || wrong("branch"))?,
                StmtKind::Switch { .. } => ensure(is_last && !block.succs.is_empty(), || wrong("switch"))?,
                StmtKind::Throw { .. } | StmtKind::Return { .. } => {
                    ensure(is_last && block.succs.is_empty(), || wrong("leaving statement"))?;
                }
                _ => ensure(!may_catch, || wrong("handler without catch"))?,
            }
            may_phi &= matches!(stmt.kind, StmtKind::Catch { .. } | StmtKind::Phi { .. });
            may_catch = false;
        }
        ensure(!may_catch, || wrong("handler without catch"))?;
        let last = body.last_stmt(id).map(|stmt| &stmt.kind);
        let leaves = matches!(last, Some(StmtKind::Throw { .. } | StmtKind::Return { .. }));
        let chooses = matches!(last, Some(StmtKind::Branch { .. } | StmtKind::Switch { .. }));
        ensure(leaves || chooses || block.succs.len() == 1, || wrong("must go on to one block"))?;
    }
    Ok(())
}

/// Every variable has at most one definition, and `VarInfo::def` tells it.
fn definitions(body: &Body) -> Result<(), String> {
    let mut found: Vec<Option<StmtId>> = vec![None; body.vars.len()];
    for (id, stmt) in body.stmts.iter() {
        if let Some(var) = stmt.kind.def() {
            let known = found.get(var.index()).is_some_and(Option::is_none);
            ensure(known, || format!("{var:?} is defined twice or out of range"))?;
            found[var.index()] = Some(id);
        }
    }
    for (var, info) in body.vars.iter() {
        ensure(info.def == found[var.index()], || format!("{var:?} does not know its definition"))?;
    }
    let distinct: std::collections::BTreeSet<Var> = body.params.iter().copied().collect();
    ensure(distinct.len() == body.params.len(), || "a parameter twice".to_owned())?;
    for &param in &body.params {
        let info = body.vars.get(param);
        ensure(info.is_some_and(|info| info.def.is_none()), || format!("parameter {param:?}"))?;
    }
    Ok(())
}

/// Every use is dominated by its definition. Exceptions leave a block after its phis, before anything else it
/// does: each block counts as two nodes, its joins `2b` and the rest `2b + 1`, with handlers reached from the first.
fn dominance(body: &Body) -> Result<(), String> {
    let count = body.blocks.len();
    let successors = |node: usize| -> Vec<usize> {
        let block = &body.blocks[BlockId::new(node / 2)];
        let handlers = block.handlers.iter().map(|handler| handler.index() * 2);
        let succs = block.succs.iter().map(|succ| succ.index() * 2);
        if node.is_multiple_of(2) {
            std::iter::once(node + 1).chain(handlers).collect()
        } else {
            succs.collect()
        }
    };
    let order = postorder(count * 2, successors);
    ensure(order.len() == count * 2, || "unreachable block".to_owned())?;
    let mut position = vec![0; count * 2];
    for (at, &node) in order.iter().rev().enumerate() {
        position[node] = at;
    }
    let numbered = |at: usize| -> Vec<usize> {
        successors(order[order.len() - 1 - at]).into_iter().map(|next| position[next]).collect()
    };
    let spans = spans(&immediate_dominators(order.len(), numbered));
    let dominates = |a: usize, b: usize| {
        let ((start, end), (at, _)) = (spans[position[a]], spans[position[b]]);
        start <= at && at < end
    };
    let node_of = |id: StmtId| {
        let stmt = &body.stmts[id];
        let joins = matches!(stmt.kind, StmtKind::Phi { .. } | StmtKind::Catch { .. });
        stmt.block.index() * 2 + usize::from(!joins)
    };
    // `at` is the node a value is needed in, `before` the statement needing it if in the same node.
    let check = |var: Var, at: usize, before: Option<StmtId>| {
        ensure(var.index() < body.vars.len(), || format!("{var:?} out of range"))?;
        let Some(def) = body.vars[var].def else { return Ok(()) };
        let ok = match before {
            Some(user) if node_of(def) == at => def < user,
            _ => dominates(node_of(def), at),
        };
        ensure(ok, || format!("{var:?} used in {:?} without being defined", BlockId::new(at / 2)))
    };
    for (id, stmt) in body.stmts.iter() {
        if let StmtKind::Phi { srcs, .. } = &stmt.kind {
            for (&src, &pred) in srcs.iter().zip(&body.blocks[stmt.block].preds) {
                let exceptional = body.blocks[pred].handlers.contains(&stmt.block);
                check(src, pred.index() * 2 + usize::from(!exceptional), None)?;
            }
        } else {
            for used in stmt.kind.uses() {
                check(used, node_of(id), Some(id))?;
            }
        }
    }
    Ok(())
}

fn postorder(count: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut stack = vec![(0, successors(0))];
    seen[0] = true;
    while let Some((node, next)) = stack.last_mut() {
        match next.pop() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                stack.push((next, successors(next)));
            }
            Some(_) => {}
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
