//! Brings what the solver and the naive evaluator found into one form and lists where they differ.

use crate::naive::{Facts, Gap, Objects, Place, Spawn};
use arena::Interner;
use ir::{Program, StmtId, Var};
use models::ModelId;
use pointsto::{Act, Activation, Context, Ctx, Obj, Object, PointsTo, Site, Slot};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

/// How much was compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub programs: usize,
    pub acts: usize,
    pub variables: usize,
    pub facts: usize,
    pub spawns: usize,
    /// Edits after which everything was solved anew.
    pub rebuilt: usize,
}

impl Counts {
    pub fn add(&mut self, other: Counts) {
        self.programs += other.programs;
        self.acts += other.acts;
        self.variables += other.variables;
        self.facts += other.facts;
        self.spawns += other.spawns;
        self.rebuilt += other.rebuilt;
    }
}

/// Lists what only one of the two found, in words.
pub fn compare(program: &mut Program, solver: &PointsTo, naive: Facts) -> (Vec<String>, Counts) {
    let mut ids = Ids { contexts: naive.contexts.clone(), objects: naive.objects.clone() };
    let left = of_solver(program, solver, &mut ids);
    let right = of_naive(naive);
    let counts = Counts {
        programs: 1,
        acts: right.acts.len(),
        variables: left.variables,
        facts: right.vars.values().chain(right.slots.values()).map(BTreeSet::len).sum(),
        spawns: right.spawns.len(),
        rebuilt: 0,
    };
    let names = Names { program, ids: &ids };
    let mut lines = Vec::new();
    differences(&mut lines, "activation", &left.acts, &right.acts, |&act| names.act(act));
    differences(&mut lines, "entry", &left.entries, &right.entries, |&act| names.act(act));
    differences(&mut lines, "initialiser", &left.initialisers, &right.initialisers, |&act| names.act(act));
    differences(&mut lines, "call", &left.calls, &right.calls, |&(from, stmt, to)| {
        format!("{} at {stmt:?} calls {}", names.act(from), names.act(to))
    });
    differences(&mut lines, "spawn", &left.spawns, &right.spawns, |spawn| {
        let Spawn { from, stmt, model, step, task, entry } = *spawn;
        let (from, task, entry) = (names.act(from), names.obj(task), names.act(entry));
        format!("{from} at {stmt:?} runs {entry} of {task} by step {step} of {model:?}")
    });
    differences(&mut lines, "model", &left.expansions, &right.expansions, |&(act, stmt, model)| {
        format!("{model:?} in {} at {stmt:?}", names.act(act))
    });
    differences(&mut lines, "gap", &left.gaps, &right.gaps, |gap| format!("{gap:?}"));
    held(&mut lines, &names, &left.vars, &right.vars, |&(act, var)| format!("{var:?} of {}", names.act(act)));
    held(&mut lines, &names, &left.slots, &right.slots, |&slot| names.slot(slot));
    if left.merged_origins != right.merged_origins {
        lines.push(format!("merged origins: {} against {}", left.merged_origins, right.merged_origins));
    }
    (lines, counts)
}

/// Contexts and objects by structure, with the evaluator's ids.
struct Ids {
    contexts: Interner<Ctx, Context>,
    objects: Interner<Obj, Object>,
}

impl Ids {
    fn ctx(&mut self, solver: &PointsTo, ctx: Ctx) -> Ctx {
        let context = match solver.context(ctx) {
            Context::Origin(task) => Context::Origin(self.obj(solver, task)),
            Context::Made(made) => Context::Made(self.obj(solver, made)),
            Context::Container(container) => Context::Container(self.obj(solver, container)),
            Context::Call(caller, method, stmt) => Context::Call(self.ctx(solver, caller), method, stmt),
            Context::Inherited(outer, class) => Context::Inherited(self.ctx(solver, outer), class),
            Context::Helper(outer, method, stmt) => Context::Helper(self.ctx(solver, outer), method, stmt),
            plain @ (Context::Shared | Context::Entry | Context::Main(_)) => plain,
        };
        self.contexts.intern(context)
    }

    fn obj(&mut self, solver: &PointsTo, obj: Obj) -> Obj {
        let object = *solver.object(obj);
        let ctx = self.ctx(solver, object.ctx);
        self.objects.intern(Object { ctx, ..object })
    }

    fn act(&mut self, solver: &PointsTo, act: Act) -> Activation {
        Activation { ctx: self.ctx(solver, solver.ctx(act)), method: solver.method(act) }
    }
}

/// Everything that is compared.
#[derive(Default)]
struct View {
    acts: BTreeSet<Activation>,
    entries: BTreeSet<Activation>,
    initialisers: BTreeSet<Activation>,
    /// Only what holds something.
    vars: BTreeMap<(Activation, Var), Objects>,
    slots: BTreeMap<Slot, Objects>,
    calls: BTreeSet<(Activation, StmtId, Activation)>,
    spawns: BTreeSet<Spawn>,
    expansions: BTreeSet<(Activation, StmtId, ModelId)>,
    gaps: BTreeSet<Gap>,
    merged_origins: usize,
    variables: usize,
}

fn of_solver(program: &mut Program, solver: &PointsTo, ids: &mut Ids) -> View {
    let mut view = View::default();
    let acts: BTreeMap<Act, Activation> = solver.acts().map(|act| (act, ids.act(solver, act))).collect();
    let objects: Vec<Obj> = (0..solver.object_bound()).map(|obj| ids.obj(solver, Obj(obj as u32))).collect();
    let translated =
        |set: &arena::IdSet<Obj>| -> Objects { set.iter().map(|obj| objects[obj.0 as usize]).collect() };
    for (&id, &act) in &acts {
        view.acts.insert(act);
        view.calls.extend(solver.calls(id).map(|(stmt, callee)| (act, stmt, acts[&callee])));
        let callers = solver.callers(id).iter();
        let called: BTreeSet<_> = callers.map(|&(caller, stmt)| (acts[&caller], stmt, act)).collect();
        assert!(solver.callers(id).is_sorted());
        view.calls.extend(called);
        let Some(body) = program.body(act.method) else { continue };
        for (var, info) in body.vars.iter() {
            view.variables += usize::from(info.is_ref);
            let held = translated(solver.pts(id, var));
            if !held.is_empty() {
                view.vars.insert((act, var), held);
            }
        }
        for stmt in body.stmts.ids() {
            view.expansions.extend(solver.models_at(id, stmt).iter().map(|&model| (act, stmt, model)));
        }
    }
    for (slot, held) in solver.slots().filter(|(_, held)| !held.is_empty()) {
        let slot = match slot {
            Slot::Field(obj, field) => Slot::Field(objects[obj.0 as usize], field),
            Slot::Elements(obj) => Slot::Elements(objects[obj.0 as usize]),
            Slot::Static(field) => Slot::Static(field),
        };
        view.slots.insert(slot, translated(held));
    }
    view.spawns.extend(solver.spawns().iter().map(|spawn| Spawn {
        from: acts[&spawn.from],
        stmt: spawn.stmt,
        model: spawn.model,
        step: spawn.step,
        task: objects[spawn.task.0 as usize],
        entry: acts[&spawn.entry],
    }));
    view.entries.extend(solver.entries().iter().map(|act| acts[act]));
    view.initialisers.extend(solver.initializers().iter().map(|act| acts[act]));
    let gaps = solver.gaps(program);
    view.gaps.extend(gaps.native_calls.iter().map(|&method| Gap::Native(method)));
    view.gaps.extend(gaps.reflective_calls.iter().map(|&(method, stmt)| Gap::Reflective(method, stmt)));
    view.gaps.extend(gaps.dynamic_calls.iter().map(|&(method, stmt)| Gap::Dynamic(method, stmt)));
    view.gaps.extend(gaps.unresolved_calls.iter().map(|&(method, stmt)| Gap::Unresolved(method, stmt)));
    view.merged_origins = gaps.merged_origins as usize;
    view
}

fn of_naive(facts: Facts) -> View {
    let mut view = View {
        acts: facts.acts,
        entries: facts.entries,
        initialisers: facts.initialisers,
        calls: facts.calls,
        spawns: facts.spawns,
        expansions: facts.expansions,
        gaps: facts.gaps,
        merged_origins: facts.merged_origins,
        ..View::default()
    };
    for (place, held) in facts.held {
        match place {
            Place::Var(act, var) => {
                view.vars.insert((act, var), held);
            }
            Place::Slot(slot) => {
                view.slots.insert(slot, held);
            }
            _ => {}
        }
    }
    view
}

fn differences<T: Ord + Debug>(
    lines: &mut Vec<String>,
    what: &str,
    solver: &BTreeSet<T>,
    naive: &BTreeSet<T>,
    describe: impl Fn(&T) -> String,
) {
    lines.extend(
        solver.difference(naive).map(|item| format!("{what} of the solver only: {}", describe(item))),
    );
    lines.extend(
        naive.difference(solver).map(|item| format!("{what} of the oracle only: {}", describe(item))),
    );
}

fn held<K: Ord>(
    lines: &mut Vec<String>,
    names: &Names<'_>,
    solver: &BTreeMap<K, Objects>,
    naive: &BTreeMap<K, Objects>,
    describe: impl Fn(&K) -> String,
) {
    let nothing = Objects::new();
    let keys: BTreeSet<&K> = solver.keys().chain(naive.keys()).collect();
    for key in keys {
        let left = solver.get(key).unwrap_or(&nothing);
        let right = naive.get(key).unwrap_or(&nothing);
        let what = format!("{} holds", describe(key));
        differences(lines, &what, left, right, |&obj| names.obj(obj));
    }
}

/// Words for what differs.
struct Names<'a> {
    program: &'a Program,
    ids: &'a Ids,
}

impl Names<'_> {
    fn act(&self, act: Activation) -> String {
        format!("{} in {}", self.program.method_display(act.method), self.ctx(act.ctx))
    }

    fn ctx(&self, ctx: Ctx) -> String {
        match self.ids.contexts[ctx] {
            Context::Shared => "shared".to_string(),
            Context::Entry => "entry".to_string(),
            Context::Main(method) => format!("entry {}", self.program.method_display(method)),
            Context::Inherited(outer, class) => {
                format!("{} in {}", self.program.class_display(class), self.ctx(outer))
            }
            Context::Origin(task) => format!("origin {}", self.obj(task)),
            Context::Made(made) => format!("constructor of {}", self.obj(made)),
            Context::Container(container) => format!("container {}", self.obj(container)),
            Context::Call(caller, method, stmt) | Context::Helper(caller, method, stmt) => {
                format!("call {stmt:?} of {} in {}", self.program.method_display(method), self.ctx(caller))
            }
        }
    }

    fn obj(&self, obj: Obj) -> String {
        let object = self.ids.objects[obj];
        let class = self.program.class_display(object.class);
        let site = match object.site {
            Site::Alloc(method, stmt) => format!("{stmt:?} of {}", self.program.method_display(method)),
            Site::Model(method, stmt, step) => {
                format!("step {step} at {stmt:?} of {}", self.program.method_display(method))
            }
            Site::Literal(of) => format!("literal {}", self.program.class_display(of)),
            other => format!("{other:?}"),
        };
        format!("<{class} from {site} in {}>", self.ctx(object.ctx))
    }

    fn slot(&self, slot: Slot) -> String {
        match slot {
            Slot::Field(obj, field) => format!("{}.{}", self.obj(obj), self.program.field_display(field)),
            Slot::Elements(obj) => format!("{}[]", self.obj(obj)),
            Slot::Static(field) => self.program.field_display(field).to_string(),
        }
    }
}
