//! Which variable of a method holds what a model's operand denotes: an argument of the call, or the container behind
//! a view or iterator, found in the models and bodies of the calls that made it.

use crate::Stages;
use classfile::Layer;
use ir::{Body, CallKind, StmtId, StmtKind, Var};
use models::{Member, Model, Operand, Root, Source, Step};
use pointsto::Act;
use std::collections::BTreeSet;

/// Calls followed back and down: views of views, iterators of them, methods that return what others make.
const DEEPEST: usize = 8;

/// The variable that holds what is found along the path of a model's operand, from the argument it begins with.
pub(crate) fn member_var(
    stages: &Stages<'_>,
    act: Act,
    body: &Body,
    from: Var,
    path: &[Member],
) -> Option<Var> {
    resolve(stages, act, body, from, path, DEEPEST)
}

fn argument(body: &Body, stmt: StmtId, root: Root) -> Option<Var> {
    let StmtKind::Call { args, kind, .. } = &body.stmts[stmt].kind else { return None };
    let receiver = usize::from(*kind != CallKind::Static);
    match root {
        Root::This => args.first().copied(),
        Root::Param(n) => args.get(usize::from(n) + receiver).copied(),
        Root::Ret | Root::Temp(_) => None,
    }
}

/// The variable that holds a member of what another holds.
fn resolve(
    stages: &Stages<'_>,
    act: Act,
    body: &Body,
    var: Var,
    path: &[Member],
    depth: usize,
) -> Option<Var> {
    if path.is_empty() {
        return Some(var);
    }
    let depth = depth.checked_sub(1)?;
    let call = body.vars[only_value(body, var)?].def?;
    let StmtKind::Call { args, .. } = &body.stmts[call].kind else { return None };
    let mut found = BTreeSet::new();
    for &model in stages.pointsto.models_at(act, call) {
        let of = Operand { root: Root::Ret, path: path.to_vec() };
        match assigned(stages.models.model(model), of) {
            Assigned::One(value) if !stages.pointsto.operand(act, call, &value).is_empty() => {
                let var = argument(body, call, value.root)?;
                found.insert(resolve(stages, act, body, var, &value.path, depth)?);
            }
            Assigned::One(_) | Assigned::Nothing => {}
            Assigned::Unclear => return None,
        }
    }
    for &callee in stages.pointsto.callees(act, call) {
        match returned(stages, callee, path, depth) {
            Some(param) => found.extend(args.get(param)),
            None if makes_result(stages, callee) => {}
            None => return None,
        }
    }
    let mut found = found.into_iter();
    found.next().filter(|_| found.next().is_none())
}

/// The parameter of which a method returns a view.
fn returned(stages: &Stages<'_>, act: Act, path: &[Member], depth: usize) -> Option<usize> {
    let body = stages.program.lowered(stages.pointsto.method(act))?;
    let mut found = BTreeSet::new();
    for (_, stmt) in body.stmts.iter() {
        if let StmtKind::Return { value: Some(value) } = stmt.kind {
            found.insert(only_value(body, resolve(stages, act, body, value, path, depth)?)?);
        }
    }
    let mut found = found.into_iter();
    let var = found.next().filter(|_| found.next().is_none())?;
    body.params.iter().position(|&param| param == var)
}

/// Does a library method return objects of its own, which only models relate to containers?
fn makes_result(stages: &Stages<'_>, act: Act) -> bool {
    let method = stages.pointsto.method(act);
    let class = stages.program.method_ref(method).class;
    let Some(body) = stages.program.lowered(method) else { return false };
    let is_made = |var: Var| {
        let kinds =
            values(body, var).into_iter().map(|var| body.vars[var].def.map(|def| &body.stmts[def].kind));
        kinds.into_iter().all(|kind| matches!(kind, Some(StmtKind::New { .. } | StmtKind::Load { .. })))
    };
    stages.program.class(class).layer == Layer::Jdk
        && body.stmts.iter().all(|(_, stmt)| match stmt.kind {
            StmtKind::Return { value: Some(value) } => is_made(value),
            _ => true,
        })
}

/// Through copies, casts and phis, if they all come from one place.
fn only_value(body: &Body, var: Var) -> Option<Var> {
    let values = values(body, var);
    values.first().copied().filter(|_| values.len() == 1)
}

/// Where a value may come from, through copies, casts and phis.
pub(crate) fn values(body: &Body, var: Var) -> Vec<Var> {
    let mut seen = BTreeSet::from([var]);
    let mut left = vec![var];
    let mut found = Vec::new();
    while let Some(var) = left.pop() {
        match body.vars[var].def.map(|def| &body.stmts[def].kind) {
            Some(StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. }) => {
                left.extend(seen.insert(*src).then_some(*src));
            }
            Some(StmtKind::Phi { srcs, .. }) => left.extend(srcs.iter().filter(|&&src| seen.insert(src))),
            _ => found.push(var),
        }
    }
    found
}

/// What a model puts somewhere, in terms of its receiver and parameters.
enum Assigned {
    Nothing,
    One(Operand),
    Unclear,
}

fn assigned(model: &Model, mut operand: Operand) -> Assigned {
    for _ in 0..DEEPEST {
        if matches!(operand.root, Root::This | Root::Param(_)) {
            return Assigned::One(operand);
        }
        let mut found = None;
        for step in &model.steps {
            let Step::Assign { dst, src } = step else { continue };
            if dst.root != operand.root || !operand.path.starts_with(&dst.path) {
                continue;
            }
            match src {
                Source::Value(value) if found.is_none() => {
                    let rest = operand.path[dst.path.len()..].iter();
                    let path = value.path.iter().chain(rest).cloned().collect();
                    found = Some(Operand { root: value.root, path });
                }
                // The object itself, whose members other steps name.
                Source::New { .. } | Source::NewResult if operand.path.len() > dst.path.len() => {}
                _ => return Assigned::Unclear,
            }
        }
        match found {
            Some(next) => operand = next,
            None => return Assigned::Nothing,
        }
    }
    Assigned::Unclear
}
