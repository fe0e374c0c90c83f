//! What a branch tells about the value it tests: the edges taken only if it was zero, false or null, and only if
//! it was not. Knows one body; where the value comes from is the asker's affair.

use crate::bits::Bits;
use crate::flow::Flow;
use crate::reach::Kills;
use arena::Id;
use ir::{BlockId, Cond, Const, Op, StmtId, StmtKind, Var};
use models::Outcome;
use pointsto::Act;

pub type Edge = (BlockId, BlockId);

/// A branch that compares a value with zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Test {
    /// Where the value was made.
    pub value: Var,
    pub from: BlockId,
    /// Entered only if the value was zero.
    pub zero: BlockId,
    /// Entered only if it was not.
    pub nonzero: BlockId,
}

impl Test {
    fn edge(&self, truth: bool) -> Edge {
        (self.from, if truth { self.nonzero } else { self.zero })
    }
}

pub fn tests(flow: &Flow) -> Vec<Test> {
    flow.body.blocks.ids().filter_map(|from| test(flow, from)).collect()
}

/// What the branch at the end of a block tests.
pub fn test(flow: &Flow, from: BlockId) -> Option<Test> {
    let StmtKind::Branch { cond, a, b } = flow.body.last_stmt(from)?.kind else { return None };
    let [taken, fallen] = flow.body.blocks[from].succs[..] else { return None };
    if taken == fallen || b.is_some_and(|b| !is_zero(flow, b)) {
        return None;
    }
    // What is wider than a word is compared first, and then the result with zero.
    let value = match flow.definition(flow.source(a)) {
        Some((_, StmtKind::Compute { args, op: Op::Compare, .. })) => match args[..] {
            [value, other] if is_zero(flow, other) => value,
            _ => return None,
        },
        _ => a,
    };
    let (zero, nonzero) = match cond {
        Cond::Ne => (fallen, taken),
        Cond::Eq => (taken, fallen),
        Cond::Lt | Cond::Ge | Cond::Gt | Cond::Le => return None,
    };
    Some(Test { value: flow.source(value), from, zero, nonzero })
}

pub fn is_zero(flow: &Flow, var: Var) -> bool {
    truth_of(flow, var) == Some(false)
}

/// Is it certainly something other than zero?
pub fn is_nonzero(flow: &Flow, var: Var) -> bool {
    let made = |kind: &StmtKind| {
        matches!(kind, StmtKind::New { .. } | StmtKind::NewArray { .. } | StmtKind::Lambda { .. })
    };
    truth_of(flow, var) == Some(true) || flow.definition(flow.source(var)).is_some_and(|(_, kind)| made(kind))
}

/// Is the constant other than zero?
fn truth_of(flow: &Flow, var: Var) -> Option<bool> {
    match flow.definition(flow.source(var))?.1 {
        StmtKind::Const { value: Const::Null, .. } => Some(false),
        StmtKind::Const { value: Const::Int(number), .. } => Some(*number != 0),
        _ => None,
    }
}

/// Edges taken only if the value was true (false). `boolean late = !latch.await(…);` keeps the result of the
/// branch in constants that meet: whoever sees one of them knows which way was taken.
pub fn edges_where(flow: &Flow, var: Var, truth: bool) -> Vec<Edge> {
    let tests = tests(flow);
    let value = flow.source(var);
    let of = |value: Var, truth: bool| {
        tests.iter().filter(move |test| test.value == value).map(move |test| test.edge(truth))
    };
    let mut edges: Vec<Edge> = of(value, truth).collect();
    if edges.is_empty() {
        return edges;
    }
    let mut open: Option<Bits> = None;
    let mut kept = Vec::new();
    for test in &tests {
        let Some((def, StmtKind::Phi { srcs, .. })) = flow.definition(test.value) else { continue };
        let truths: Option<Vec<bool>> = srcs.iter().map(|&src| truth_of(flow, src)).collect();
        let Some(truths) = truths else { continue };
        let open = open.get_or_insert_with(|| avoiding(flow, &edges));
        let block = flow.body.stmts[def].block;
        let preds = &flow.body.blocks[block].preds;
        let tells = |seen: bool| {
            let came = preds.iter().zip(&truths).filter(|&(_, &truth)| truth == seen);
            came.clone().next().is_some()
                && came
                    .clone()
                    .all(|(&pred, _)| !open.contains(pred.index()) || edges.contains(&(pred, block)))
        };
        kept.extend([true, false].into_iter().filter(|&seen| tells(seen)).map(|seen| test.edge(seen)));
    }
    edges.extend(kept);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Blocks reachable from the entry without taking one of the edges.
fn avoiding(flow: &Flow, edges: &[Edge]) -> Bits {
    let mut seen = Bits::with_len(flow.body.blocks.len());
    let mut left = vec![flow.body.entry()];
    while let Some(block) = left.pop() {
        if seen.insert(block.index()) {
            let next = flow.successors(block).into_iter().filter(|&to| !edges.contains(&(block, to)));
            left.extend(next);
        }
    }
    seen
}

/// Where a call whose result says whether it has waited has done so: at the call, or on the edges that know.
pub fn waited(flow: &Flow, act: Act, stmt: StmtId, when: Outcome) -> Kills {
    let result = flow.body.stmts[stmt].kind.def();
    let is_tested = || result.is_some_and(|result| tests(flow).iter().any(|test| test.value == result));
    let truth = match when {
        Outcome::Returned => return Kills::at_return(act, stmt),
        Outcome::Any => None,
        Outcome::NotFalse if !is_tested() => None,
        Outcome::True | Outcome::NotFalse => Some(true),
        Outcome::False => Some(false),
    };
    let Some(truth) = truth else { return Kills::at(act, stmt) };
    let mut edges = result.map_or_else(Vec::new, |result| edges_where(flow, result, truth));
    edges.extend(interrupted(flow, &edges));
    if when == Outcome::NotFalse {
        edges.extend(flow.interrupts(flow.body.stmts[stmt].block));
    }
    Kills { edges: edges.into_iter().map(|(from, to)| (act, from, to)).collect(), ..Kills::default() }
}

/// Nobody interrupts a loop that waits until one of these edges can be taken.
pub fn interrupted(flow: &Flow, edges: &[Edge]) -> Vec<Edge> {
    let mut found = Vec::new();
    for &(from, to) in edges {
        for around in flow.loops_with(from).filter(|around| !around.blocks.contains(&to)) {
            let leaving = around.blocks.iter().flat_map(|&block| flow.interrupts(block));
            found.extend(leaving.filter(|(_, to)| !around.blocks.contains(to)));
        }
    }
    found
}
