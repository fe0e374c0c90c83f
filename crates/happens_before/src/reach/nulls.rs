//! Tests for null of values that never are: the way on which such a value is null is never taken, as in what the
//! compiler makes of a try-with-resources. Knows what makes values; follows no fields and no merged values.

use crate::branches::{Edge, tests};
use crate::flow::Flow;
use crate::world::World;
use ir::{CallKind, Const, MethodId, StmtId, StmtKind, Var};
use models::{Operand, Root, Source, Step};
use pointsto::Act;

/// Static methods followed to what they return.
const DEEPEST: u32 = 4;

/// Edges of a body that nobody ever takes.
pub fn never_taken(world: &World<'_>, flow: &Flow) -> Vec<Edge> {
    let tested = tests(flow).into_iter().filter(|test| flow.body.vars[test.value].is_ref);
    tested
        .filter(|test| is_made(world, flow, test.value, DEEPEST))
        .map(|test| (test.from, test.zero))
        .collect()
}

/// Is the value certainly an object, whoever runs the body?
fn is_made(world: &World<'_>, flow: &Flow, var: Var, depth: u32) -> bool {
    match flow.definition(flow.source(var)) {
        Some((_, StmtKind::New { .. } | StmtKind::NewArray { .. } | StmtKind::Lambda { .. })) => true,
        Some((_, StmtKind::Const { value, .. })) => !matches!(value, Const::Null),
        Some((stmt, StmtKind::Call { kind: CallKind::Static, .. })) => {
            let acts = world.acts_of(flow.method);
            !acts.is_empty() && acts.iter().all(|&act| returns_made(world, act, stmt, depth))
        }
        _ => false,
    }
}

/// Does the call return an object that its models make, or that whatever it calls has made?
fn returns_made(world: &World<'_>, act: Act, stmt: StmtId, depth: u32) -> bool {
    if !world.pointsto.models_at(act, stmt).is_empty() {
        let mut sources = world.steps(act, stmt).filter_map(returned).peekable();
        return sources.peek().is_some() && sources.all(|is_new| is_new);
    }
    let callees = world.pointsto.callees(act, stmt);
    let makes = |method: MethodId| {
        world.method_flow(method).is_some_and(|flow| {
            let mut returns = flow.body.stmts.iter().filter_map(|(_, stmt)| match stmt.kind {
                StmtKind::Return { value } => Some(value),
                _ => None,
            });
            returns.all(|value| value.is_some_and(|value| is_made(world, flow, value, depth - 1)))
        })
    };
    depth > 0 && !callees.is_empty() && callees.iter().all(|&callee| makes(world.pointsto.method(callee)))
}

/// If the step gives the call its result: is that a new object?
fn returned(step: &Step) -> Option<bool> {
    let is_ret = |operand: &Operand| operand.root == Root::Ret && operand.path.is_empty();
    match step {
        Step::Assign { dst, src } => {
            is_ret(dst).then_some(matches!(src, Source::New { .. } | Source::NewResult | Source::The { .. }))
        }
        Step::Call { dst: Some(dst), .. } => is_ret(dst).then_some(false),
        Step::Spawn(spawn) => spawn.result.as_ref().filter(|result| is_ret(result)).map(|_| false),
        _ => None,
    }
}
