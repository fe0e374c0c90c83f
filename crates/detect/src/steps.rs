//! What the search for the ways of objects asks of the code it passes: where a variable comes from, what follows a
//! statement, what may have been started by then. Each answered once, so that an edit of a body that many ways pass
//! concerns those for which an answer is another. Knows nothing of ways.

use crate::Stages;
use crate::anchor::plain;
use crate::asked::is_there;
use arena::IdSet;
use happens_before::{Content, Origin};
use ir::{FieldId, FieldRef, MethodId, StmtId, StmtKind, Var};
use pointsto::{Act, Obj, Slot};
use std::sync::Arc;
use track::{Asked, Changes, Kind, Read};

/// A variable behind copies and casts, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Value {
    pub(crate) var: Var,
    pub(crate) from: From,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum From {
    Parameter(usize),
    Field(Var, FieldRef),
    Elsewhere,
}

/// A load of an object from a field of what a variable refers to.
pub(crate) type Load = (Act, Var, FieldId, Obj);

pub(crate) struct Steps {
    values: Asked<(MethodId, Var), Option<Value>>,
    next: Asked<(MethodId, StmtId), Option<StmtId>>,
    owners: Asked<Load, Arc<[Obj]>>,
    receivers: Asked<Act, Arc<IdSet<Obj>>>,
    /// Of an origin, or of any.
    started: Asked<(Act, StmtId, Option<Origin>), bool>,
}

impl Steps {
    pub(crate) fn new(follows: bool) -> Steps {
        Steps {
            values: Asked::new(Kind::Values, follows),
            next: Asked::new(Kind::Next, follows),
            owners: Asked::new(Kind::Owning, follows),
            receivers: Asked::new(Kind::Receivers, follows),
            started: Asked::new(Kind::StartedBefore, follows),
        }
    }

    /// `is_read`: whether anybody has read an answer.
    pub(crate) fn update(
        &mut self,
        stages: &Stages<'_>,
        content: &Content<'_>,
        is_read: impl Fn(Read) -> bool,
        changes: &mut Changes,
    ) {
        self.values.refresh_read(changes, &is_read, |&(method, var)| value(stages, method, var));
        self.next.refresh_read(changes, &is_read, |&(method, stmt)| next(stages, method, stmt));
        self.owners.refresh_read(changes, &is_read, |&load| owners(stages, content, load));
        self.receivers.refresh(changes, |&act| receivers(stages, act));
        self.started.refresh_read(changes, &is_read, |&(act, stmt, what)| started(stages, act, stmt, what));
    }

    /// `None` if there is no such variable.
    pub(crate) fn value(&self, stages: &Stages<'_>, act: Act, var: Var) -> Option<Value> {
        let method = stages.pointsto.method(act);
        self.values.ask(&(method, var), || value(stages, method, var))
    }

    /// The statement after one, in its block.
    pub(crate) fn next(&self, stages: &Stages<'_>, act: Act, stmt: StmtId) -> Option<StmtId> {
        let method = stages.pointsto.method(act);
        self.next.ask(&(method, stmt), || next(stages, method, stmt))
    }

    /// The objects that hold the one that is loaded, in the order of content.
    pub(crate) fn owners(&self, stages: &Stages<'_>, content: &Content<'_>, load: Load) -> Arc<[Obj]> {
        self.owners.ask(&load, || owners(stages, content, load))
    }

    /// What `this` may be; nothing for static methods.
    pub(crate) fn receivers(&self, stages: &Stages<'_>, act: Act) -> Arc<IdSet<Obj>> {
        self.receivers.ask(&act, || receivers(stages, act))
    }

    /// In one execution of the method, may anything have been started before the statement runs?
    pub(crate) fn anything_started(&self, stages: &Stages<'_>, act: Act, stmt: StmtId) -> bool {
        self.started.ask(&(act, stmt, None), || started(stages, act, stmt, None))
    }

    /// May the origin, or one that leads to it?
    pub(crate) fn is_started(&self, stages: &Stages<'_>, act: Act, stmt: StmtId, origin: Origin) -> bool {
        self.started.ask(&(act, stmt, Some(origin)), || started(stages, act, stmt, Some(origin)))
    }
}

fn value(stages: &Stages<'_>, method: MethodId, var: Var) -> Option<Value> {
    let body = stages.program.lowered(method).filter(|body| body.vars.get(var).is_some())?;
    let var = plain(body, var);
    let from = match body.params.iter().position(|&param| param == var) {
        Some(param) => From::Parameter(param),
        None => match body.vars[var].def.map(|def| &body.stmts[def].kind) {
            Some(&StmtKind::Load { base, field, .. }) => From::Field(base, field),
            _ => From::Elsewhere,
        },
    };
    Some(Value { var, from })
}

fn next(stages: &Stages<'_>, method: MethodId, stmt: StmtId) -> Option<StmtId> {
    let body = stages.program.lowered(method)?;
    body.next_in_block(stmt)
}

fn owners(stages: &Stages<'_>, content: &Content<'_>, (act, base, field, obj): Load) -> Arc<[Obj]> {
    let pointsto = stages.pointsto;
    if !is_there(stages, act, base) {
        return [].into();
    }
    let holds = |owner: &Obj| pointsto.held(Slot::Field(*owner, field)).contains(obj);
    let mut owners: Vec<Obj> = pointsto.pts(act, base).iter().filter(holds).collect();
    owners.sort_by(|&a, &b| content.objects(a, b));
    owners.into()
}

fn receivers(stages: &Stages<'_>, act: Act) -> Arc<IdSet<Obj>> {
    let method = stages.pointsto.method(act);
    let body = stages.program.lowered(method).filter(|_| !stages.program.method(method).is_static());
    let this = body.filter(|_| stages.pointsto.runs(act)).and_then(|body| body.params.first());
    this.map(|&this| stages.pointsto.pts(act, this).clone()).unwrap_or_default().into()
}

fn started(stages: &Stages<'_>, act: Act, stmt: StmtId, what: Option<Origin>) -> bool {
    match what {
        Some(origin) => stages.happens_before.started_before(act, stmt, origin),
        None => stages.happens_before.anything_started_before(act, stmt),
    }
}
