//! What descriptions ask of bodies: where a statement is, what its lock or object is called. Each answered once, so that
//! an edit of a body that many findings pass concerns those of which a word is another. Knows no finding.

use crate::Stages;
use crate::names;
use findings::Place;
use happens_before::HeldLock;
use ir::{MethodId, Program, StmtId};
use models::Step;
use pointsto::{Act, Obj};
use track::{Asked, Changes, Kind, Read, note};

pub(crate) struct Words {
    /// Of a statement, or of a method.
    places: Asked<(MethodId, Option<StmtId>), Place>,
    after: Asked<(MethodId, StmtId), Option<StmtId>>,
    locks: Asked<(Act, Option<StmtId>), String>,
    touched: Asked<(Act, StmtId, Obj), Option<String>>,
    submitted: Asked<(Act, StmtId), bool>,
}

impl Words {
    pub(crate) fn new(follows: bool) -> Words {
        Words {
            places: Asked::new(Kind::Places, follows),
            after: Asked::new(Kind::After, follows),
            locks: Asked::new(Kind::LockNames, follows),
            touched: Asked::new(Kind::ObjectNames, follows),
            submitted: Asked::new(Kind::Submitted, follows),
        }
    }

    pub(crate) fn update(&mut self, stages: &Stages<'_>, changes: &mut Changes) {
        self.places.refresh(changes, |&(method, stmt)| place(stages, method, stmt));
        self.after.refresh(changes, |&(method, stmt)| after(stages, method, stmt));
        self.locks.refresh(changes, |&(act, stmt)| names::lock(stages, act, stmt));
        self.touched.refresh(changes, |&(act, stmt, obj)| names::touched(stages, (act, stmt), obj));
        self.submitted.refresh(changes, |&(act, stmt)| is_submitted(stages, act, stmt));
    }

    /// Where a statement is; without one, the first line of the method that has one.
    pub(crate) fn place(&self, stages: &Stages<'_>, method: MethodId, stmt: Option<StmtId>) -> Place {
        self.places.ask(&(method, stmt), || place(stages, method, stmt))
    }

    /// The statement after one, in its body.
    pub(crate) fn after(&self, stages: &Stages<'_>, method: MethodId, stmt: StmtId) -> Option<StmtId> {
        self.after.ask(&(method, stmt), || after(stages, method, stmt))
    }

    pub(crate) fn lock(&self, stages: &Stages<'_>, lock: &HeldLock) -> String {
        self.locks.ask(&(lock.act, lock.stmt), || names::lock(stages, lock.act, lock.stmt))
    }

    /// What the statement calls an object.
    pub(crate) fn touched(
        &self,
        stages: &Stages<'_>,
        (act, stmt): (Act, StmtId),
        obj: Obj,
    ) -> Option<String> {
        self.touched.ask(&(act, stmt, obj), || names::touched(stages, (act, stmt), obj))
    }

    /// Does the statement hand a task to somebody who runs it, rather than start a thread?
    pub(crate) fn is_submitted(&self, stages: &Stages<'_>, act: Act, stmt: StmtId) -> bool {
        self.submitted.ask(&(act, stmt), || is_submitted(stages, act, stmt))
    }
}

fn place(stages: &Stages<'_>, method: MethodId, stmt: Option<StmtId>) -> Place {
    let program = stages.program;
    note(Read::of(Kind::Lines, method));
    let line = line(program, method, stmt).unwrap_or(0);
    Place { file: program.class_file(program.method(method).class), line }
}

/// The line of a statement; without one, the first line of the method that has one.
pub(crate) fn line(program: &Program, method: MethodId, stmt: Option<StmtId>) -> Option<u32> {
    let stmts = &program.lowered(method)?.stmts;
    match stmt {
        Some(stmt) => Some(stmts.get(stmt)?.line),
        None => stmts.iter().map(|(_, stmt)| stmt.line).filter(|&line| line > 0).min().or(Some(0)),
    }
}

fn after(stages: &Stages<'_>, method: MethodId, stmt: StmtId) -> Option<StmtId> {
    stages.program.lowered(method)?.stmts.after(stmt)
}

fn is_submitted(stages: &Stages<'_>, act: Act, stmt: StmtId) -> bool {
    stages.pointsto.models_at(act, stmt).iter().any(|&model| {
        let steps = &stages.models.model(model).steps;
        steps.iter().any(|step| matches!(step, Step::Spawn(spawn) if spawn.executor.is_some()))
    })
}
