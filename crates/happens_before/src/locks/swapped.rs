//! Two variables that are the same two values, one way round or the other: whoever has locked both has locked
//! both values. `first = c ? a : b; second = c ? b : a` Knows one body; holds no lock itself.

use super::paths::{Path, Paths};
use crate::flow::Flow;
use ir::{BlockId, Cond, StmtKind, Var};
use pointsto::Act;

/// What decides between two values: where it is the same, the same way is taken.
#[derive(PartialEq)]
enum Decision {
    /// The way by which this block was entered.
    Entered(BlockId),
    /// Values that never change compare alike whenever they are compared.
    Compared(Cond, Path, Option<Path>),
}

/// The values that the two variables are, if they certainly are one each.
pub fn swapped(paths: &Paths, flow: &Flow, act: Act, a: Var, b: Var) -> Option<[Var; 2]> {
    let ((block, first), (other, second)) = (merged(flow, a)?, merged(flow, b)?);
    let ((why, [x, y]), (other_why, others)) = match block == other {
        true => ((Decision::Entered(block), first), (Decision::Entered(other), second)),
        false => (compared(paths, flow, act, block, first)?, compared(paths, flow, act, other, second)?),
    };
    (x != y && others == [y, x] && why == other_why).then_some([x, y])
}

/// Where a variable becomes one of two values, and which, by the predecessor.
fn merged(flow: &Flow, var: Var) -> Option<(BlockId, [Var; 2])> {
    let (def, StmtKind::Phi { srcs, .. }) = flow.definition(flow.source(var))? else { return None };
    let &[a, b] = &srcs[..] else { return None };
    Some((flow.body.stmts[def].block, [flow.source(a), flow.source(b)]))
}

/// The comparison that chooses the predecessor of a block, with what is chosen if it holds, and if it does not.
fn compared(
    paths: &Paths,
    flow: &Flow,
    act: Act,
    block: BlockId,
    [a, b]: [Var; 2],
) -> Option<(Decision, [Var; 2])> {
    let &[first, second] = &flow.body.blocks[block].preds[..] else { return None };
    let ((from, entered), (other, also)) = (branch(flow, first, block)?, branch(flow, second, block)?);
    let StmtKind::Branch { cond, a: left, b: right } = flow.body.last_stmt(from)?.kind else { return None };
    let &[taken, fallen] = &flow.body.blocks[from].succs[..] else { return None };
    let values = match (entered, also) {
        _ if from != other || taken == fallen => return None,
        ways if ways == (taken, fallen) => [a, b],
        ways if ways == (fallen, taken) => [b, a],
        _ => return None,
    };
    let path = |var: Var| paths.path(flow, act, var);
    Some((Decision::Compared(cond, path(left), right.map(path)), values))
}

/// The branch that leads to the block by this predecessor, and nowhere else, with what it enters.
fn branch(flow: &Flow, pred: BlockId, block: BlockId) -> Option<(BlockId, BlockId)> {
    let last = flow.body.last_stmt(pred);
    if last.is_some_and(|last| matches!(last.kind, StmtKind::Branch { .. })) {
        return Some((pred, block));
    }
    let &[from] = &flow.body.blocks[pred].preds[..] else { return None };
    Some((from, pred))
}
