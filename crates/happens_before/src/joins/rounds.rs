//! Loops that join: does every round join the value it has got, and which ways out mean that there are no more?
//! Knows one body; what is joined, and whether the loop starts it, is the asker's affair.

use super::{Edge, Join};
use crate::branches::tests;
use crate::flow::Flow;
use crate::world::World;
use ir::cfg::Loop;
use ir::{BlockId, Cond, FieldId, StmtId, StmtKind, Var};
use models::{Source, Step};
use std::collections::BTreeSet;

/// For each loop around a join, innermost first: the edges on which it is left with everybody joined.
///
/// - Every round that comes back to the header has passed a join of the value, or has seen that there is nobody
///   to join: the value is null, or the thread that asks.
/// - Of the ways out, those count that a round always comes by and that depend on what the value was got with
///   (an iterator, an index), or test it for null; if there are none, the first that a round always comes by.
/// - An exception that nobody throws on purpose does not happen, so that what it leads to counts as well.
/// - What is thrown by a join that has waited only where it returns goes on without it.
/// - An inner loop that has the value from outside (and tries again, say) is taken to run, and to have joined it.
pub fn finished(world: &World<'_>, flow: &Flow, join: &Join, joins: &[&Join]) -> Vec<Vec<Edge>> {
    let mut passed = Passed::new(world, flow, join, joins);
    let thrown = join.kills.returns.iter().flat_map(|&(_, stmt)| flow.failures(stmt));
    let thrown: Vec<Edge> = thrown.map(|&(stmt, handler)| (flow.body.stmts[stmt].block, handler)).collect();
    let mut found = Vec::new();
    for around in flow.loops_around(join.stmt) {
        let rounds = Rounds { flow, around };
        let starts: Vec<BlockId> = std::iter::once(around.header)
            .chain(
                thrown.iter().map(|&(_, handler)| handler).filter(|handler| around.blocks.contains(handler)),
            )
            .collect();
        if rounds.walk(starts, |block| passed.ends(flow, block), &passed.edges).1 {
            found.push(Vec::new());
            continue;
        }
        let mut exits = rounds.exits(join);
        exits.retain(|exit| !thrown.contains(exit));
        passed.edges.extend(&exits);
        found.push(if is_renewed(flow, around, join) { exits } else { Vec::new() });
    }
    found
}

/// Is the joined value made, or got, inside the loop, and not by `new`?
fn is_renewed(flow: &Flow, around: &Loop, join: &Join) -> bool {
    join.var.is_none_or(|var| {
        flow.definition(flow.source(var)).is_some_and(|(def, kind)| {
            !matches!(kind, StmtKind::New { .. }) && around.blocks.contains(&flow.body.stmts[def].block)
        })
    })
}

/// Where a round has done its duty.
struct Passed {
    stmts: Vec<StmtId>,
    edges: Vec<Edge>,
}

impl Passed {
    fn new(world: &World<'_>, flow: &Flow, join: &Join, joins: &[&Join]) -> Passed {
        let mut passed = Passed { stmts: Vec::new(), edges: Vec::new() };
        let is_value = |var: Var| join.var.is_some_and(|value| is_same(flow, var, value));
        for other in joins {
            let is_own = other.stmt == join.stmt;
            if other.waits_for == join.waits_for && (is_own || other.var.is_some_and(is_value)) {
                passed.stmts.extend(other.kills.passed().map(|(_, stmt)| stmt));
                passed.edges.extend(other.kills.edges.iter().map(|&(_, from, to)| (from, to)));
            }
        }
        let is_null = tests(flow).into_iter().filter(|test| is_value(test.value));
        passed.edges.extend(is_null.map(|test| (test.from, test.zero)));
        let asks = |var: Var| {
            flow.definition(flow.source(var)).is_some_and(|(def, _)| {
                let is_current =
                    |step: &Step| matches!(step, Step::Assign { src: Source::CurrentThread, .. });
                world.steps(join.act, def).any(is_current)
            })
        };
        for (from, block) in flow.body.blocks.iter() {
            let Some(StmtKind::Branch { cond, a, b: Some(b) }) =
                flow.body.last_stmt(from).map(|last| &last.kind)
            else {
                continue;
            };
            let ([taken, fallen], Cond::Eq | Cond::Ne) = (&block.succs[..], cond) else { continue };
            if is_value(*a) && asks(*b) || asks(*a) && is_value(*b) {
                passed.edges.push((from, if *cond == Cond::Eq { *taken } else { *fallen }));
            }
        }
        passed
    }

    fn ends(&self, flow: &Flow, block: BlockId) -> bool {
        self.stmts.iter().any(|&stmt| flow.body.stmts[stmt].block == block)
    }
}

/// One variable, or got twice in the same way: `if (threads[i] != null) threads[i].join()`.
fn is_same(flow: &Flow, a: Var, b: Var) -> bool {
    let (a, b) = (flow.source(a), flow.source(b));
    if a == b {
        return true;
    }
    let (Some((at, first)), Some((other, second))) = (flow.definition(a), flow.definition(b)) else {
        return false;
    };
    match (first, second) {
        (StmtKind::Const { value, .. }, StmtKind::Const { value: other, .. }) => value == other,
        (StmtKind::LoadStatic { .. }, StmtKind::LoadStatic { .. }) => flow.field(at) == flow.field(other),
        (StmtKind::Load { base: a, .. }, StmtKind::Load { base: b, .. }) => {
            flow.field(at) == flow.field(other) && is_same(flow, *a, *b)
        }
        (StmtKind::LoadElem { base: a, index: i, .. }, StmtKind::LoadElem { base: b, index: j, .. }) => {
            is_same(flow, *a, *b) && is_same(flow, *i, *j)
        }
        // `threads.get(i)`
        (StmtKind::Call { target, args, .. }, StmtKind::Call { target: other, args: others, .. }) => {
            target == other
                && args.len() == 2
                && !flow.body.vars[args[1]].is_ref
                && args.iter().zip(others).all(|(&a, &b)| is_same(flow, a, b))
        }
        _ => false,
    }
}

/// The rounds of one loop, as far as nobody throws by accident.
struct Rounds<'a> {
    flow: &'a Flow,
    around: &'a Loop,
}

impl Rounds<'_> {
    /// Normal successors, and the handlers of what is thrown on purpose.
    fn successors(&self, block: BlockId) -> Vec<BlockId> {
        let info = &self.flow.body.blocks[block];
        let mut all = info.succs.clone();
        for &(stmt, handler) in self.flow.handlers_in(block, StmtId(info.first)) {
            if matches!(self.flow.body.stmts[stmt].kind, StmtKind::Throw { .. }) {
                all.push(handler);
            }
        }
        all
    }

    /// Does a round come back to the header without one of these?
    fn reaches_itself(&self, ends: impl Fn(BlockId) -> bool, edges: &[Edge]) -> bool {
        self.walk(vec![self.around.header], ends, edges).1
    }

    /// The blocks of a round from these on, nearest first, and whether it comes back to the header.
    fn walk(
        &self,
        mut blocks: Vec<BlockId>,
        ends: impl Fn(BlockId) -> bool,
        edges: &[Edge],
    ) -> (Vec<BlockId>, bool) {
        let mut returns = false;
        let mut at = 0;
        while at < blocks.len() {
            let block = blocks[at];
            at += 1;
            if ends(block) {
                continue;
            }
            for to in self.successors(block) {
                if edges.contains(&(block, to)) || !self.around.blocks.contains(&to) {
                    continue;
                }
                returns |= to == self.around.header;
                if !blocks.contains(&to) {
                    blocks.push(to);
                }
            }
        }
        (blocks, returns)
    }

    /// The ways out that a loop through everybody takes at its end, or by accident.
    fn exits(&self, join: &Join) -> Vec<Edge> {
        let (plain, _) = self.walk(vec![self.around.header], |_| false, &[]);
        let is_plain = |&(from, to): &Edge| plain.contains(&from) && self.successors(from).contains(&to);
        let (chosen, mut exits): (Vec<Edge>, Vec<Edge>) =
            self.flow.exits(self.around).into_iter().partition(is_plain);
        let always = plain.iter().filter(|&&block| !self.reaches_itself(|other| other == block, &[]));
        let always: Vec<Edge> = always
            .flat_map(|&block| chosen.iter().copied().filter(move |&(from, _)| from == block))
            .collect();
        let at_end: Vec<Edge> =
            always.iter().copied().filter(|&edge| self.asks_for_more(edge, join)).collect();
        exits.extend(if at_end.is_empty() { always.into_iter().take(1).collect() } else { at_end });
        exits
    }

    /// Does the way out depend on what the joined value is got with?
    fn asks_for_more(&self, (from, _): Edge, join: &Join) -> bool {
        let Some(value) = join.var.map(|var| self.flow.source(var)) else { return false };
        let Some(StmtKind::Branch { a, b, .. }) = self.flow.body.last_stmt(from).map(|last| &last.kind)
        else {
            return false;
        };
        if b.is_none() && self.flow.source(*a) == value {
            return true;
        }
        let Some((_, got)) = self.flow.definition(value) else { return false };
        let with = self.made_of(got.uses().collect(), value);
        let asked = self.made_of(std::iter::once(*a).chain(*b).collect(), value);
        !with.is_disjoint(&asked)
    }

    /// The parameters, fields and merged values that these are computed from, not looking behind `hidden`.
    fn made_of(&self, mut left: Vec<Var>, hidden: Var) -> BTreeSet<Part> {
        let mut seen = BTreeSet::new();
        let mut parts = BTreeSet::new();
        while let Some(var) = left.pop().map(|var| self.flow.source(var)) {
            if var == hidden || !seen.insert(var) {
                continue;
            }
            match self.flow.definition(var) {
                Some((_, StmtKind::Const { .. })) => {}
                Some((stmt, StmtKind::Load { .. } | StmtKind::LoadStatic { .. })) => {
                    parts.extend(self.flow.field(stmt).map(Part::Field));
                }
                Some((_, StmtKind::Phi { .. } | StmtKind::New { .. } | StmtKind::NewArray { .. })) | None => {
                    parts.insert(Part::Var(var));
                }
                Some((_, kind)) => {
                    parts.insert(Part::Var(var));
                    left.extend(kind.uses());
                }
            }
        }
        parts
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Var(Var),
    Field(FieldId),
}
