//! Where the object of an access comes from: the callers that did not get it, nor its owner, as a parameter.
//! Locks and order are asked there too, so that code shared by many objects is judged per object.

use crate::Stages;
use happens_before::Origin;
use ir::{Body, FieldId, StmtId, StmtKind, Var};
use pointsto::{Act, Obj, Slot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// More callers than this say nothing in particular: then the access itself stands for all.
const MOST: usize = 24;
/// Owners looked through between the accessed object and the one a caller passes.
const OWNERS: usize = 2;

/// A way an object reaches an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) act: Act,
    /// The access itself, or the call that leads to it.
    pub(crate) stmt: StmtId,
    /// Refers to `obj`.
    pub(crate) base: Var,
    /// The accessed object, or the owner it is reached from.
    pub(crate) obj: Obj,
    /// Fields from the owner to the accessed object.
    pub(crate) fields: Vec<FieldId>,
    /// Calls from here down to the access, outermost first, without the access.
    pub(crate) calls: Vec<(Act, StmtId)>,
}

type Key = (Origin, Act, StmtId, Var, Obj);

pub(crate) struct Anchors<'a> {
    stages: &'a Stages<'a>,
    known: FxHashMap<Key, Rc<[Anchor]>>,
}

impl<'a> Anchors<'a> {
    pub(crate) fn new(stages: &'a Stages<'a>) -> Anchors<'a> {
        Anchors { stages, known: FxHashMap::default() }
    }

    /// All ways `obj` may be what `base` refers to at the access, in code this origin runs; none means it cannot.
    pub(crate) fn of(&mut self, origin: Origin, act: Act, stmt: StmtId, base: Var, obj: Obj) -> Rc<[Anchor]> {
        let key = (origin, act, stmt, base, obj);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let start = Anchor { act, stmt, base, obj, fields: Vec::new(), calls: Vec::new() };
        let mut found = Vec::new();
        let complete = self.climb(origin, start.clone(), &mut FxHashSet::default(), &mut found);
        let anchors: Rc<[Anchor]> = if complete { found.into() } else { vec![start].into() };
        self.known.insert(key, anchors.clone());
        anchors
    }

    /// False if there are too many.
    fn climb(
        &self,
        origin: Origin,
        mut at: Anchor,
        seen: &mut FxHashSet<(Act, StmtId, Var, Obj)>,
        found: &mut Vec<Anchor>,
    ) -> bool {
        let Some(body) = self.stages.program.lowered(self.stages.pointsto.method(at.act)) else {
            return false;
        };
        at.base = plain(body, at.base);
        if !seen.insert((at.act, at.stmt, at.base, at.obj)) {
            return true;
        }
        if let Some(param) = body.params.iter().position(|&param| param == at.base) {
            return self.climb_callers(origin, at, param, seen, found);
        }
        match body.vars[at.base].def.map(|def| &body.stmts[def].kind) {
            Some(&StmtKind::Load { base, field, .. }) if at.fields.len() < OWNERS => {
                self.climb_owners(origin, at, base, field, seen, found)
            }
            _ => {
                found.push(at);
                found.len() <= MOST
            }
        }
    }

    fn climb_callers(
        &self,
        origin: Origin,
        at: Anchor,
        param: usize,
        seen: &mut FxHashSet<(Act, StmtId, Var, Obj)>,
        found: &mut Vec<Anchor>,
    ) -> bool {
        let Stages { pointsto, happens_before, .. } = *self.stages;
        let mut stays = happens_before.origins()[origin].entry == at.act;
        for &(caller, stmt) in pointsto.callers(at.act) {
            if !happens_before.executes(origin).contains(caller) {
                continue;
            }
            let Some(arg) = self.argument(caller, stmt, at.act, param) else {
                stays = true;
                continue;
            };
            if !pointsto.pts(caller, arg).contains(at.obj) {
                continue;
            }
            let mut calls = vec![(caller, stmt)];
            calls.extend(&at.calls);
            let next = Anchor { act: caller, stmt, base: arg, calls, ..at.clone() };
            if !self.climb(origin, next, seen, found) {
                return false;
            }
        }
        if stays {
            found.push(at);
        }
        found.len() <= MOST
    }

    fn climb_owners(
        &self,
        origin: Origin,
        at: Anchor,
        base: Var,
        field: ir::FieldRef,
        seen: &mut FxHashSet<(Act, StmtId, Var, Obj)>,
        found: &mut Vec<Anchor>,
    ) -> bool {
        let pointsto = self.stages.pointsto;
        let Some(field) = self.stages.program.find_field(field) else { return false };
        for owner in pointsto.pts(at.act, base).iter() {
            if !pointsto.held(Slot::Field(owner, field)).contains(at.obj) {
                continue;
            }
            let mut fields = vec![field];
            fields.extend(&at.fields);
            let next = Anchor { base, obj: owner, fields, ..at.clone() };
            if !self.climb(origin, next, seen, found) {
                return false;
            }
        }
        found.len() <= MOST
    }

    /// The variable a plain call passes; `None` where a lambda or a model stands between.
    fn argument(&self, caller: Act, stmt: StmtId, callee: Act, param: usize) -> Option<Var> {
        let Stages { program, pointsto, .. } = *self.stages;
        let body = program.lowered(pointsto.method(caller))?;
        let StmtKind::Call { target, args, .. } = &body.stmts[stmt].kind else { return None };
        let method = program.method(pointsto.method(callee));
        let same_name = program.selector_text(target.selector).0 == program.selector_text(method.selector).0;
        if same_name && args.len() == method.params.len() { args.get(param).copied() } else { None }
    }
}

/// Through copies and casts.
fn plain(body: &Body, mut var: Var) -> Var {
    for _ in 0..body.vars.len() {
        match body.vars[var].def.map(|def| &body.stmts[def].kind) {
            Some(&StmtKind::Copy { src, .. } | &StmtKind::Cast { src, .. }) => var = src,
            _ => break,
        }
    }
    var
}
