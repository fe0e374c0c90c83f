//! What a person would call an object: the expression at the place where it is locked or touched.

use crate::Stages;
use ir::{Body, Const, StmtId, StmtKind, Var, access};
use models::Step;
use pointsto::{Act, Obj};

/// The lock that a statement takes, or a synchronized method.
pub(crate) fn lock(stages: &Stages<'_>, act: Act, stmt: Option<StmtId>) -> String {
    let method = stages.pointsto.method(act);
    let info = stages.program.method(method);
    let Some(stmt) = stmt else {
        let is_static = info.access & access::STATIC != 0;
        return if is_static { class_literal(stages, info.class) } else { "this".to_string() };
    };
    let Some(body) = stages.program.lowered(method) else { return "a lock".to_string() };
    let var = match body.stmts.get(stmt).map(|stmt| &stmt.kind) {
        Some(StmtKind::MonitorEnter { lock }) => *lock,
        Some(StmtKind::Call { args, .. }) if !args.is_empty() => args[0],
        _ => return "a lock".to_string(),
    };
    value(stages, act, body, var).unwrap_or_else(|| "a lock".to_string())
}

/// What the statement calls an object whose elements it touches or that it hands to a call.
pub(crate) fn touched(stages: &Stages<'_>, (act, stmt): (Act, StmtId), obj: Obj) -> Option<String> {
    let body = stages.program.lowered(stages.pointsto.method(act)).filter(|_| stages.pointsto.runs(act))?;
    let is_meant = |var: &&Var| stages.pointsto.pts(act, **var).contains(obj);
    let var = match &body.stmts.get(stmt)?.kind {
        StmtKind::LoadElem { base, .. } | StmtKind::StoreElem { base, .. } => Some(base),
        StmtKind::Call { args, .. } => args.iter().find(is_meant),
        _ => None,
    };
    value(stages, act, body, *var?)
}

fn class_literal(stages: &Stages<'_>, class: ir::ClassId) -> String {
    format!("{}.class", stages.program.class_display(class))
}

/// The expression a variable stands for, as short as it can be understood.
fn value(stages: &Stages<'_>, act: Act, body: &Body, mut var: Var) -> Option<String> {
    let program = stages.program;
    let method = stages.pointsto.method(act);
    for _ in 0..body.vars.len() {
        let info = &body.vars[var];
        let is_static = program.method(method).access & access::STATIC != 0;
        if !is_static && body.params.first() == Some(&var) {
            return Some("this".to_string());
        }
        let Some(def) = info.def else { break };
        match &body.stmts[def].kind {
            &StmtKind::Copy { src, .. } | &StmtKind::Cast { src, .. } => var = src,
            &StmtKind::Load { field, .. } | &StmtKind::LoadStatic { field, .. } => {
                return Some(match program.find_field(field) {
                    Some(field) => program.field_display(field),
                    None => program.names[field.name].to_string(),
                });
            }
            &StmtKind::Const { value: Const::Class(class), .. } => {
                return Some(class_literal(stages, class));
            }
            _ if info.name.is_some() => break,
            StmtKind::New { class, .. } => return Some(format!("new {}", program.class_display(*class))),
            // readLock() and the like: the lock is the receiver.
            StmtKind::Call { args, .. } if is_view(stages, act, def) && !args.is_empty() => var = args[0],
            StmtKind::Call { target, .. } => {
                return Some(format!("{}()", program.selector_text(target.selector).0));
            }
            StmtKind::LoadElem { base, .. } => {
                let base = value(stages, act, body, *base).unwrap_or_else(|| "a lock".to_string());
                return Some(format!("{base}[]"));
            }
            _ => break,
        }
    }
    body.vars[var].name.map(|name| program.names[name].to_string())
}

fn is_view(stages: &Stages<'_>, act: Act, stmt: StmtId) -> bool {
    let models = stages.pointsto.models_at(act, stmt);
    models
        .iter()
        .any(|&model| stages.models.model(model).steps.iter().any(|step| matches!(step, Step::View { .. })))
}
