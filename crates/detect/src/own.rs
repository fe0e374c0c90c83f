//! Where a thread has an object from. If only from its own task object, by fields that no two objects share, then
//! two instances that each have a task of their own never meet there; from memory that all instances know, they
//! do. Knows calls and loads, no order.

use crate::Stages;
use crate::anchor::{argument, plain, runs_on_task};
use happens_before::Origin;
use ir::{StmtId, StmtKind, Var};
use models::{Root, Source, Step};
use pointsto::{Act, Obj, Slot};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Places looked at for one object before it counts as anybody's.
const MOST: usize = 4000;

/// A variable that refers to an object.
pub(crate) type Known = (Act, Var, Obj);

#[derive(Clone, Copy)]
pub(crate) struct Own<'a> {
    pub(crate) stages: &'a Stages<'a>,
}

impl Own<'_> {
    /// Does each instance of the origin run on a task of its own?
    pub(crate) fn may_be_own(&self, origin: Origin) -> bool {
        let info = self.stages.happens_before.origin(origin);
        info.own_task && runs_on_task(self.stages, info)
    }

    /// Is what the variable refers to the origin's own task, or a part of it, wherever this origin runs this code?
    pub(crate) fn is_own(&self, origin: Origin, known: Known) -> bool {
        let mut seen = FxHashSet::from_iter([known]);
        let mut left = vec![known];
        while let Some(next) = left.pop() {
            let Some(sources) = self.sources(origin, next).filter(|_| seen.len() <= MOST) else {
                return false;
            };
            left.extend(sources.into_iter().filter(|&source| seen.insert(source)));
        }
        true
    }

    /// Where the variable has the object from; `None` if that may be somewhere else.
    fn sources(&self, origin: Origin, (act, base, obj): Known) -> Option<Vec<Known>> {
        let Stages { program, pointsto, happens_before, .. } = *self.stages;
        let body = program.lowered(pointsto.method(act))?;
        let base = plain(body, base);
        if let Some(param) = body.params.iter().position(|&param| param == base) {
            let info = happens_before.origin(origin);
            if act == info.entry && (param != 0 || Some(obj) != info.task) {
                return None;
            }
            return self.arguments(origin, act, param, obj).collect();
        }
        match &body.stmts[body.vars[base].def?].kind {
            StmtKind::Phi { srcs, .. } => {
                let sources = srcs.iter().filter(|&&src| pointsto.pts(act, src).contains(obj));
                Some(sources.map(|&src| (act, src, obj)).collect())
            }
            &StmtKind::Load { base: owner, field, .. } => {
                let field = program.find_field(field).filter(|&field| happens_before.is_private(field))?;
                let owners = pointsto.pts(act, owner).iter();
                let holds = |whole: &Obj| pointsto.held(Slot::Field(*whole, field)).contains(obj);
                Some(owners.filter(holds).map(|whole| (act, owner, whole)).collect())
            }
            _ => None,
        }
    }

    /// What the origin's callers pass; `None` where that is no plain call.
    fn arguments(
        &self,
        origin: Origin,
        act: Act,
        param: usize,
        obj: Obj,
    ) -> impl Iterator<Item = Option<Known>> + '_ {
        let Stages { pointsto, happens_before, .. } = *self.stages;
        let callers =
            pointsto.callers(act).iter().filter(move |(caller, _)| happens_before.executes(origin, *caller));
        callers.filter_map(move |&(caller, stmt)| match argument(self.stages, caller, stmt, act, param) {
            Some(arg) => pointsto.pts(caller, arg).contains(obj).then_some(Some((caller, arg, obj))),
            None => Some(None),
        })
    }

    /// Where the variable has the object from, or the one it is loaded from; `None` if all instances look there.
    pub(crate) fn not_fetched(&self, origin: Origin, known: Known) -> Option<Arc<[Known]>> {
        self.sources_anywhere(origin, known).map(Into::into)
    }

    fn sources_anywhere(&self, origin: Origin, (act, base, obj): Known) -> Option<Vec<Known>> {
        let Stages { program, pointsto, happens_before, .. } = *self.stages;
        let Some(body) = program.lowered(pointsto.method(act)) else { return Some(Vec::new()) };
        let base = plain(body, base);
        if let Some(param) = body.params.iter().position(|&param| param == base) {
            return Some(self.arguments(origin, act, param, obj).flatten().collect());
        }
        let from = |owner: Var, slot: &dyn Fn(Obj) -> Slot| {
            let owners = pointsto.pts(act, owner).iter();
            let mut owners = owners.filter(|&whole| pointsto.held(slot(whole)).contains(obj));
            owners.try_fold(Vec::new(), |mut sources, whole| {
                sources.push((act, owner, whole));
                (!happens_before.unique(whole)).then_some(sources)
            })
        };
        let Some(def) = body.vars[base].def else { return Some(Vec::new()) };
        match &body.stmts[def].kind {
            StmtKind::Phi { srcs, .. } => {
                let sources = srcs.iter().filter(|&&src| pointsto.pts(act, src).contains(obj));
                Some(sources.map(|&src| (act, src, obj)).collect())
            }
            &StmtKind::Load { base: owner, field, .. } => {
                let Some(field) = program.find_field(field) else { return Some(Vec::new()) };
                from(owner, &|whole| Slot::Field(whole, field))
            }
            &StmtKind::LoadElem { base: array, .. } => from(array, &Slot::Elements),
            StmtKind::LoadStatic { .. } => None,
            StmtKind::Call { args, .. } => self.not_fetched_by_call(act, def, args, obj),
            _ => Some(Vec::new()),
        }
    }

    fn not_fetched_by_call(&self, act: Act, stmt: StmtId, args: &[Var], obj: Obj) -> Option<Vec<Known>> {
        let Stages { program, pointsto, models, happens_before, .. } = *self.stages;
        let mut sources = Vec::new();
        if self.takes_out(act, stmt, args, obj) {
            return Some(sources);
        }
        for &callee in pointsto.callees(act, stmt) {
            let Some(body) = program.lowered(pointsto.method(callee)) else { continue };
            let returned = body.stmts.iter().filter_map(|(_, info)| match info.kind {
                StmtKind::Return { value } => value,
                _ => None,
            });
            let returned = returned.filter(|&value| pointsto.pts(callee, value).contains(obj));
            sources.extend(returned.map(|value| (callee, value, obj)));
        }
        for step in pointsto.models_at(act, stmt).iter().flat_map(|&id| &models.model(id).steps) {
            let Step::Assign { dst, src: Source::Value(value) } = step else { continue };
            if dst.root != Root::Ret {
                continue;
            }
            for whole in pointsto.holders(act, stmt, value, obj).iter() {
                if whole != obj && happens_before.unique(whole) {
                    return None;
                }
                let passed = args.iter().filter(|&&arg| pointsto.pts(act, arg).contains(whole));
                sources.extend(passed.map(|&arg| (act, arg, whole)));
            }
        }
        Some(sources)
    }

    /// Is what the library returns in there no more? It says that the result is taken; or it changes a container
    /// without being given the object, or code that makes it, to put there.
    fn takes_out(&self, act: Act, stmt: StmtId, args: &[Var], obj: Obj) -> bool {
        let Stages { pointsto, models, .. } = *self.stages;
        let steps = || pointsto.models_at(act, stmt).iter().flat_map(|&id| &models.model(id).steps);
        let changes = |step: &Step| matches!(step, Step::Write { on } if on.root == Root::This);
        let is_put = |&given: &Var| {
            pointsto.pts(act, given).iter().any(|given| given == obj || pointsto.lambda(given).is_some())
        };
        steps().any(|step| matches!(step, Step::Take { .. }))
            || steps().any(changes) && !args.iter().skip(1).any(is_put)
    }
}

/// May the origin have loaded the object, or what it was reached from, where all its instances look: from a static,
/// or from an object that exists once? Then it may be one that another instance has put there.
pub(crate) fn is_fetched(known: Known, sources: impl Fn(Known) -> Option<Arc<[Known]>>) -> bool {
    let mut seen = FxHashSet::from_iter([known]);
    let mut left = vec![known];
    // Step by step, so that it does not depend on the order of the sources which are looked at before it is too much.
    while !left.is_empty() && seen.len() <= MOST {
        let mut further = Vec::new();
        for next in left {
            let Some(found) = sources(next) else { return true };
            further.extend(found.iter().copied().filter(|&source| seen.insert(source)));
        }
        left = further;
    }
    false
}
