//! Every access of the program to shared memory: fields, statics, array elements, and the contents of library
//! containers at the call that touches them.

use crate::Stages;
use crate::cache::caches;
use crate::view::member_var;
use arena::{IdSet, define_id};
use classfile::Layer;
use happens_before::Freshness;
use ir::{Body, CallKind, Const, FieldId, MethodId, StmtId, StmtKind, Var, access};
use models::{Root, Step};
use pointsto::{Act, Obj, Site};
use std::collections::{BTreeMap, BTreeSet};

define_id! {
    /// An access, in order of activation and statement.
    AccessId
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum What {
    Field(FieldId),
    Static(FieldId),
    Elements,
    /// What a library container holds.
    Contents,
}

#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) act: Act,
    pub(crate) stmt: StmtId,
    pub(crate) method: MethodId,
    pub(crate) what: What,
    pub(crate) write: bool,
    /// The variable that refers to the accessed object; `None` for statics.
    pub(crate) base: Option<Var>,
    /// A constant array index.
    pub(crate) index: Option<i64>,
    pub(crate) in_app: bool,
    /// Somebody else may know the object by now.
    pub(crate) published: bool,
    /// The object was handed over by a queue, or is kept per thread.
    pub(crate) taken: bool,
}

/// A piece of memory the analysis tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Location {
    pub(crate) what: What,
    /// `None` for statics.
    pub(crate) obj: Option<Obj>,
}

#[derive(Default)]
pub(crate) struct Accesses {
    pub(crate) all: arena::IndexVec<AccessId, Access>,
    /// Accesses by location; only locations that are written at all.
    pub(crate) by_location: BTreeMap<Location, Vec<AccessId>>,
    /// Fields that threads fill when they first need them, all with the same value.
    pub(crate) caches: BTreeSet<FieldId>,
}

impl Accesses {
    pub(crate) fn collect(stages: &Stages<'_>) -> Accesses {
        let mut accesses = Accesses::default();
        for act in stages.pointsto.acts() {
            if stages.happens_before.origins_of(act).is_empty() {
                continue;
            }
            let method = stages.pointsto.method(act);
            let Some(body) = stages.program.lowered(method) else { continue };
            match layer(stages, method) {
                Layer::Jdk => accesses.collect_library(stages, act, method, body),
                layer => accesses.collect_body(stages, act, method, body, layer == Layer::App),
            }
        }
        let all = &accesses.all;
        accesses.by_location.retain(|_, ids| ids.iter().any(|&id| all[id].write));
        accesses.caches = caches(stages, &accesses);
        accesses
    }

    fn collect_body(&mut self, stages: &Stages<'_>, act: Act, method: MethodId, body: &Body, in_app: bool) {
        let program = stages.program;
        for (stmt, info) in body.stmts.iter() {
            let access = |what, write, base, index| Access {
                act,
                stmt,
                method,
                what,
                write,
                base,
                index,
                in_app,
                published: true,
                taken: false,
            };
            let found = match info.kind {
                StmtKind::Load { base, field, .. } => (program.find_field(field), Some(base), false, None),
                StmtKind::Store { base, field, .. } => (program.find_field(field), Some(base), true, None),
                StmtKind::LoadStatic { field, .. } => (program.find_field(field), None, false, None),
                StmtKind::StoreStatic { field, .. } => (program.find_field(field), None, true, None),
                StmtKind::LoadElem { base, index, .. } => (None, Some(base), false, Some(index)),
                StmtKind::StoreElem { base, index, .. } => (None, Some(base), true, Some(index)),
                StmtKind::Call { .. } => {
                    self.collect_contents(stages, act, stmt, method, body, in_app);
                    continue;
                }
                _ => continue,
            };
            match found {
                (_, Some(base), write, Some(index)) => {
                    let objects = stages.pointsto.pts(act, base);
                    self.add(
                        stages,
                        access(What::Elements, write, Some(base), constant(body, index)),
                        objects,
                    );
                }
                (Some(field), base, write, None) if may_race(stages, field) => {
                    let what = if base.is_some() { What::Field(field) } else { What::Static(field) };
                    match base {
                        Some(base) => {
                            let objects = stages.pointsto.pts(act, base);
                            self.add(stages, access(what, write, Some(base), None), objects);
                        }
                        None => {
                            let id = self.all.push(access(what, write, None, None));
                            self.by_location.entry(Location { what, obj: None }).or_default().push(id);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Library wrappers (synchronized and unmodifiable views) touch the user's container on the user's behalf.
    fn collect_library(&mut self, stages: &Stages<'_>, act: Act, method: MethodId, body: &Body) {
        for (stmt, info) in body.stmts.iter() {
            if let StmtKind::Call { .. } = info.kind {
                self.collect_contents(stages, act, stmt, method, body, true);
            }
        }
    }

    fn collect_contents(
        &mut self,
        stages: &Stages<'_>,
        act: Act,
        stmt: StmtId,
        method: MethodId,
        body: &Body,
        in_app: bool,
    ) {
        // One access per container operand; a call that both reads and writes is a write.
        let of_library = layer(stages, method) == Layer::Jdk;
        let mut touched: BTreeMap<Option<Var>, (bool, IdSet<Obj>)> = BTreeMap::new();
        for &model in stages.pointsto.models_at(act, stmt) {
            for step in &stages.models.model(model).steps {
                let (on, write) = match step {
                    Step::Read { on } => (on, false),
                    Step::Write { on } => (on, true),
                    _ => continue,
                };
                // What a view does to itself is told by the model of the call into it.
                if of_library && !on.path.is_empty() && on.root == Root::This && calls_itself(body, stmt) {
                    continue;
                }
                let mut touch = |base: Option<Var>, objects: IdSet<Obj>| {
                    let entry = touched.entry(base).or_default();
                    entry.0 |= write;
                    entry.1.union_with(&objects);
                };
                for (var, objects) in stages.pointsto.operands(act, stmt, model, on) {
                    let base = var.and_then(|var| member_var(stages, act, body, var, &on.path));
                    // Views that share an abstract object are of what each was made of.
                    let made_of = base.filter(|_| !on.path.is_empty());
                    match made_of.map(|base| stages.pointsto.pts(act, base)) {
                        Some(made_of) => {
                            touch(base, objects.iter().filter(|&obj| made_of.contains(obj)).collect());
                        }
                        None => touch(base, objects),
                    }
                }
            }
        }
        for (base, (write, mut objects)) in touched {
            if of_library {
                objects = objects.iter().filter(|&obj| is_users(stages, obj)).collect();
            }
            let is_array = |obj: &Obj| stages.program.class(stages.pointsto.object(*obj).class).is_array;
            let (arrays, containers): (Vec<Obj>, Vec<Obj>) = objects.iter().partition(is_array);
            for (what, objects) in [(What::Elements, arrays), (What::Contents, containers)] {
                if !objects.is_empty() {
                    let (published, taken) = (true, false);
                    let access = Access {
                        act,
                        stmt,
                        method,
                        what,
                        write,
                        base,
                        index: None,
                        in_app,
                        published,
                        taken,
                    };
                    self.add(stages, access, &objects.into_iter().collect());
                }
            }
        }
    }

    fn add(&mut self, stages: &Stages<'_>, mut access: Access, objects: &IdSet<Obj>) {
        let what = access.what;
        let fresh = access
            .base
            .map_or(Freshness::No, |base| stages.happens_before.fresh(access.act, access.stmt, base));
        access.published = fresh != Freshness::Unpublished;
        access.taken = fresh == Freshness::Taken;
        let published = access.published;
        let id = self.all.push(access);
        if !published {
            return;
        }
        for obj in objects.iter() {
            // A merged object stands for unrelated values, an empty array holds none: nothing to race on.
            let object = stages.pointsto.object(obj);
            if object.site != Site::Merged && !(what == What::Elements && stages.pointsto.is_empty_array(obj))
            {
                self.by_location.entry(Location { what, obj: Some(obj) }).or_default().push(id);
            }
        }
    }
}

/// Is the receiver the first parameter of the calling method?
fn calls_itself(body: &Body, stmt: StmtId) -> bool {
    let StmtKind::Call { args, kind, .. } = &body.stmts[stmt].kind else { return false };
    *kind != CallKind::Static && args.first() == body.params.first()
}

fn layer(stages: &Stages<'_>, method: MethodId) -> Layer {
    stages.program.class(stages.program.method(method).class).layer
}

/// Allocated by a statement outside the JDK, in its own right.
fn is_users(stages: &Stages<'_>, obj: Obj) -> bool {
    match stages.pointsto.object(obj).site {
        Site::Alloc(method, _) | Site::Model(method, ..) => layer(stages, method) != Layer::Jdk,
        Site::Merged | Site::The | Site::Literal(_) | Site::Opaque => false,
    }
}

/// Volatile fields are synchronised, final ones never change, synthetic ones are the compiler's.
fn may_race(stages: &Stages<'_>, field: FieldId) -> bool {
    let safe = access::VOLATILE | access::FINAL | access::SYNTHETIC;
    stages.program.field(field).access & safe == 0
}

fn constant(body: &Body, var: Var) -> Option<i64> {
    match body.stmts[body.vars[var].def?].kind {
        StmtKind::Const { value: Const::Int(value), .. } => Some(value),
        _ => None,
    }
}
