//! Every access of the program to shared memory: fields, statics, array elements, and the contents of library
//! containers at the call that touches them.

use crate::Stages;
use crate::declared::{self, Declaration};
use crate::view::member_var;
use arena::IdSet;
use classfile::Layer;
use happens_before::{Freshness, Origin, Point};
use ir::{Body, CallKind, Const, FieldId, MethodId, StmtId, StmtKind, Var, access};
use models::{Root, Step};
use pointsto::{Act, Obj, Site};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use track::{Changes, Kind, Memo, Sizes};

/// Fewer activations than this are looked at one after the other.
const MANY: usize = 64;

/// One of the accesses of an activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AccessId {
    pub(crate) act: Act,
    pub(crate) stmt: StmtId,
    /// In one statement by its operands.
    pub(crate) nth: u32,
}

impl AccessId {
    pub(crate) fn by(self, origin: Origin) -> Point {
        Point { origin, act: self.act, stmt: self.stmt }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum What {
    Field(FieldId),
    Static(FieldId),
    Elements,
    /// What a library container holds.
    Contents,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) act: Act,
    pub(crate) stmt: StmtId,
    nth: u32,
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
    pub(crate) declared: Declaration,
    /// What can be raced on; nothing before publication.
    objects: Box<[Obj]>,
}

/// A piece of memory the analysis tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Location {
    pub(crate) what: What,
    /// `None` for statics.
    pub(crate) obj: Option<Obj>,
}

impl Access {
    pub(crate) fn id(&self) -> AccessId {
        AccessId { act: self.act, stmt: self.stmt, nth: self.nth }
    }

    /// The locations that only this one of the two touches, if they differ in nothing else.
    pub(crate) fn only(&self, other: &Access) -> Option<Vec<Location>> {
        let without = |access: &Access| Access { objects: [].into(), ..access.clone() };
        let is_other = |location: &Location| location.obj.is_some_and(|obj| !other.objects.contains(&obj));
        (without(self) == without(other)).then(|| self.locations().filter(is_other).collect())
    }

    pub(crate) fn locations(&self) -> impl Iterator<Item = Location> {
        let what = self.what;
        let is_static = matches!(what, What::Static(_));
        let objects = self.objects.iter().map(move |&obj| Location { what, obj: Some(obj) });
        is_static.then_some(Location { what, obj: None }).into_iter().chain(objects)
    }
}

/// What an activation touches, by statement, and who runs it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) origins: Box<[Origin]>,
    pub(crate) accesses: Vec<Access>,
}

pub(crate) struct Accesses {
    by_act: Memo<Act, Touched>,
    /// Activations below this have been looked at.
    bound: u32,
}

impl Accesses {
    pub(crate) fn new(follows: bool) -> Accesses {
        Accesses { by_act: Memo::new(Kind::Accesses, follows), bound: 0 }
    }

    /// Looks again at activations about which something changed; each that touches other memory now, with what it
    /// touched before.
    pub(crate) fn update(&mut self, stages: &Stages<'_>, changes: &Changes) -> Vec<(Act, Touched)> {
        let mut acts = self.by_act.stale(changes);
        let bound = stages.pointsto.act_bound() as u32;
        acts.extend((self.bound..bound).map(Act));
        self.bound = bound;
        let look = |&act: &Act| (act, self.by_act.record(|| touched(stages, act)));
        let looked: Vec<_> = if acts.len() < MANY {
            acts.iter().map(look).collect()
        } else {
            acts.par_iter().map(look).collect()
        };
        let mut differing = Vec::new();
        for (act, (touched, reads)) in looked {
            let differs = self.by_act.peek(act).unwrap_or(&Touched::default()) != &touched;
            let before = self.by_act.set(act, Some(touched), reads);
            if differs {
                differing.push((act, before.unwrap_or_default()));
            }
        }
        differing
    }

    pub(crate) fn of(&self, act: Act) -> &Touched {
        self.by_act.peek(act).unwrap_or_else(|| unreachable!("all activations have been looked at"))
    }

    /// The same for who does not know whether it was looked at.
    pub(crate) fn find(&self, act: Act) -> Option<&Touched> {
        self.by_act.peek(act)
    }

    pub(crate) fn get(&self, id: AccessId) -> &Access {
        let accesses = &self.of(id.act).accesses;
        let at = accesses.binary_search_by_key(&id, Access::id);
        &accesses[at.unwrap_or_else(|_| unreachable!("whoever knows an access hears when it goes"))]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Access> {
        self.by_act.iter().flat_map(|(_, touched)| &touched.accesses)
    }

    pub(crate) fn sizes(&self, sizes: &mut Sizes) {
        self.by_act.sizes(sizes);
    }
}

/// What an activation touches; nothing if nobody runs it.
fn touched(stages: &Stages<'_>, act: Act) -> Touched {
    let mut touched = Touched::default();
    if !stages.pointsto.runs(act) {
        return touched;
    }
    touched.origins = stages.happens_before.origins_of(act).into();
    let method = stages.pointsto.method(act);
    if touched.origins.is_empty() {
        return touched;
    }
    let Some(body) = stages.program.lowered(method) else { return touched };
    let thread = declared::thread_of(stages, method);
    let of = Of { act, method, body, thread: thread.as_ref() };
    match layer(stages, method) {
        Layer::Jdk => touched.collect_library(stages, of),
        layer => touched.collect_body(stages, of, layer == Layer::App),
    }
    touched
}

/// An activation that is looked at.
#[derive(Clone, Copy)]
struct Of<'b> {
    act: Act,
    method: MethodId,
    body: &'b Body,
    /// The thread that the method is declared to be confined to.
    thread: Option<&'b Arc<str>>,
}

impl Of<'_> {
    fn access(
        &self,
        stages: &Stages<'_>,
        stmt: StmtId,
        what: What,
        write: bool,
        base: Option<Var>,
    ) -> Access {
        let memory = declared::of_memory(stages, self.body, what, base);
        Access {
            act: self.act,
            stmt,
            nth: 0,
            method: self.method,
            what,
            write,
            base,
            index: None,
            in_app: true,
            published: true,
            taken: false,
            declared: Declaration { memory, thread: self.thread.cloned() },
            objects: [].into(),
        }
    }
}

impl Touched {
    fn collect_body(&mut self, stages: &Stages<'_>, of: Of<'_>, in_app: bool) {
        let (program, Of { act, body, .. }) = (stages.program, of);
        for (stmt, info) in body.stmts.iter() {
            let found = match info.kind {
                StmtKind::Load { base, field, .. } => (program.find_field(field), Some(base), false, None),
                StmtKind::Store { base, field, .. } => (program.find_field(field), Some(base), true, None),
                StmtKind::LoadStatic { field, .. } => (program.find_field(field), None, false, None),
                StmtKind::StoreStatic { field, .. } => (program.find_field(field), None, true, None),
                StmtKind::LoadElem { base, index, .. } => (None, Some(base), false, Some(index)),
                StmtKind::StoreElem { base, index, .. } => (None, Some(base), true, Some(index)),
                StmtKind::Call { .. } => {
                    self.collect_contents(stages, of, stmt, in_app);
                    continue;
                }
                _ => continue,
            };
            let access = |what, write, base| Access { in_app, ..of.access(stages, stmt, what, write, base) };
            match found {
                (_, Some(base), write, Some(index)) => {
                    let access =
                        Access { index: constant(body, index), ..access(What::Elements, write, Some(base)) };
                    self.add(stages, access, stages.pointsto.pts(act, base));
                }
                (Some(field), Some(base), write, None) if may_race(stages, field) => {
                    let access = access(What::Field(field), write, Some(base));
                    self.add(stages, access, stages.pointsto.pts(act, base));
                }
                (Some(field), None, write, None) if may_race(stages, field) => {
                    self.push(access(What::Static(field), write, None));
                }
                _ => {}
            }
        }
    }

    /// Library wrappers (synchronized and unmodifiable views) touch the user's container on the user's behalf.
    fn collect_library(&mut self, stages: &Stages<'_>, of: Of<'_>) {
        for (stmt, info) in of.body.stmts.iter() {
            if let StmtKind::Call { .. } = info.kind {
                self.collect_contents(stages, of, stmt, true);
            }
        }
    }

    fn collect_contents(&mut self, stages: &Stages<'_>, of: Of<'_>, stmt: StmtId, in_app: bool) {
        let Of { act, method, body, .. } = of;
        // One access per container operand; a call that both reads and writes is a write.
        let of_library = layer(stages, method) == Layer::Jdk;
        // By where the operand is defined: the numbers of variables tell what the body was before.
        let mut touched: BTreeMap<Option<Defined>, (bool, IdSet<Obj>)> = BTreeMap::new();
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
                    let entry = touched.entry(base.map(|base| (body.vars[base].def, base))).or_default();
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
        // What is touched by way of an iterator that the call makes for itself is the operand that it goes over.
        if let Some((write, mut rest)) = touched.remove(&None) {
            for (is_written, objects) in touched.values_mut() {
                *is_written |= write && objects.intersects(&rest);
                rest.subtract(objects);
            }
            touched.insert(None, (write, rest));
        }
        for (base, (write, mut objects)) in touched {
            let base = base.map(|(_, base)| base);
            if of_library {
                objects = objects.iter().filter(|&obj| is_users(stages, obj)).collect();
            }
            let is_array = |obj: &Obj| stages.program.class(stages.pointsto.object(*obj).class).is_array;
            let (arrays, containers): (Vec<Obj>, Vec<Obj>) = objects.iter().partition(is_array);
            for (what, objects) in [(What::Elements, arrays), (What::Contents, containers)] {
                if !objects.is_empty() {
                    let access = Access { in_app, ..of.access(stages, stmt, what, write, base) };
                    self.add(stages, access, &objects.into_iter().collect());
                }
            }
        }
    }

    fn add(&mut self, stages: &Stages<'_>, mut access: Access, objects: &IdSet<Obj>) {
        let fresh = access
            .base
            .map_or(Freshness::No, |base| stages.happens_before.fresh(access.act, access.stmt, base));
        access.published = fresh != Freshness::Unpublished;
        access.taken = fresh == Freshness::Taken;
        if access.published {
            let can_race = |obj: &Obj| can_race_on(stages, access.what, *obj);
            access.objects = objects.iter().filter(can_race).collect();
        }
        self.push(access);
    }

    fn push(&mut self, access: Access) {
        let of_stmt = self.accesses.iter().rev().take_while(|before| before.stmt == access.stmt);
        let nth = of_stmt.count() as u32;
        self.accesses.push(Access { nth, ..access });
    }
}

/// A merged object stands for unrelated values, an empty array holds none: nothing to race on.
fn can_race_on(stages: &Stages<'_>, what: What, obj: Obj) -> bool {
    let is_empty = || what == What::Elements && stages.pointsto.is_empty_array(obj);
    stages.pointsto.object(obj).site != Site::Merged && !is_empty()
}

/// A variable after the statement that defines it, if any does.
type Defined = (Option<StmtId>, Var);

/// Is the receiver the first parameter of the calling method?
fn calls_itself(body: &Body, stmt: StmtId) -> bool {
    let StmtKind::Call { args, kind, .. } = &body.stmts[stmt].kind else { return false };
    *kind != CallKind::Static && args.first() == body.params.first()
}

fn layer(stages: &Stages<'_>, method: MethodId) -> Layer {
    stages.program.class(stages.program.method_ref(method).class).layer
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
