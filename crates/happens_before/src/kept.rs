//! Indices over the stages before that outlive an update: flows of bodies, activations by method, steps that matter to
//! order and locks, slots by object, the call graph with its cycles collapsed. Brought up to date from what changed;
//! read through [`World`].

use crate::above::Above;
use crate::branches::Edge;
use crate::components::Components;
use crate::content::{Calls, Content, SortedCalls};
use crate::flow::Flow;
use crate::reach::never_taken;
use crate::resolver::Resolver;
use crate::world::{Permits, World};
use arena::Id;
use ir::{MethodId, Program, Selector, StmtId, StmtKind};
use models::{ModelId, Models, Source, Step};
use pointsto::{Act, Obj, PointsTo, PointsToDelta, Slot};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use track::{Asked, Changes, Kind, Memo, Read, Single, Sizes};

pub struct Kept {
    pub flows: Flows,
    /// Edges of a body that nobody ever takes.
    pub never_taken: Memo<MethodId, Vec<Edge>>,
    /// Activations that have any.
    pub steps: BTreeMap<Act, Vec<ActStep>>,
    pub acts_of: FxHashMap<MethodId, Vec<Act>>,
    pub permits: Single<FxHashMap<Obj, Permits>>,
    /// What lambdas run, and how many of them.
    pub lambdas: FxHashMap<Selector, usize>,
    pub slots_of: FxHashMap<Obj, BTreeSet<Slot>>,
    pub calls: SortedCalls,
    pub components: Components,
    pub above: Above,
    /// By component: the calls from others.
    pub entering: Asked<u32, Arc<[(Act, StmtId)]>>,
    follows: bool,
}

/// A step of a model expanded at a call, about order and locks or about copies of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActStep {
    pub stmt: StmtId,
    pub model: ModelId,
    pub step: u16,
    pub copies: bool,
}

/// What references mean in one revision of the program.
pub struct Resolved<'a> {
    pub resolver: Resolver<'a>,
    /// Steps about order and locks.
    pub sync: FxHashMap<Act, Vec<(StmtId, &'a Step)>>,
}

/// Flows by method, made when first asked for.
#[derive(Default)]
pub struct Flows {
    made: Vec<OnceLock<Option<Arc<Flow>>>>,
}

impl Flows {
    pub fn of(&self, method: MethodId, make: impl FnOnce() -> Option<Arc<Flow>>) -> Option<&Arc<Flow>> {
        self.made.get(method.index())?.get_or_init(make).as_ref()
    }

    /// If it was made.
    pub fn get(&self, method: &MethodId) -> Option<&Arc<Flow>> {
        track::note(Read::of(Kind::Body, *method));
        self.made.get(method.index())?.get()?.as_ref()
    }
}

pub fn make_flow(program: &Program, resolver: &Resolver<'_>, method: MethodId) -> Option<Arc<Flow>> {
    let body = program.lowered(method)?.clone();
    Some(Arc::new(Flow::new(resolver, method, body)))
}

impl Kept {
    pub fn new(follows: bool) -> Kept {
        Kept {
            flows: Flows::default(),
            never_taken: Memo::new(Kind::NeverTaken, follows),
            steps: BTreeMap::new(),
            acts_of: FxHashMap::default(),
            permits: Single::default(),
            lambdas: FxHashMap::default(),
            slots_of: FxHashMap::default(),
            calls: SortedCalls::default(),
            components: Components::default(),
            above: Above::default(),
            entering: Asked::new(Kind::Entering, follows),
            follows,
        }
    }

    /// Returns what references mean in this revision of the program.
    pub fn update<'a>(
        &mut self,
        program: &'a Program,
        models: &'a Models,
        pointsto: &PointsTo,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) -> Resolved<'a> {
        if changes.everything {
            *self = Kept::new(self.follows);
        }
        let resolver = Resolver::new(program);
        let edited = self.forget_flows(program, &resolver, delta, changes);
        self.update_acts(pointsto, delta, changes);
        self.make_flows(program, &resolver, pointsto, delta, &edited, changes);
        self.update_steps(program, models, pointsto, delta, changes);
        self.update_objects(pointsto, delta, changes);
        self.calls.update(pointsto, delta);
        let content = Content::new(program, pointsto);
        let calls = Calls::new(content, &self.calls);
        if changes.everything {
            self.components = Components::new(pointsto, &content, &calls);
        } else {
            self.components.update(pointsto, &content, &calls, delta, changes);
            self.above.update(pointsto, &self.components, changes);
            let components = &self.components;
            self.entering.refresh(changes, |&component| components.callers(pointsto, component).collect());
        }
        let resolved = self.resolve(program, models);
        self.update_never_taken((program, models, pointsto, &resolved), delta, changes);
        let mut permits = std::mem::take(&mut self.permits);
        let world = World::new(program, models, pointsto, self, &resolved);
        let before = permits.update(self.follows, changes, || find_permits(&world));
        if before.is_some_and(|before| before != permits.value) {
            changes.add(Read::all(Kind::Permits));
        }
        self.permits = permits;
        resolved
    }

    fn resolve<'a>(&self, program: &'a Program, models: &'a Models) -> Resolved<'a> {
        let step = |at: &ActStep| (at.stmt, &models.model(at.model).steps[at.step as usize]);
        let of_act = |steps: &Vec<ActStep>| steps.iter().filter(|at| !at.copies).map(step).collect();
        let sync = self.steps.iter().map(|(&act, steps)| (act, of_act(steps))).collect();
        Resolved { resolver: Resolver::new(program), sync }
    }

    fn update_never_taken(
        &mut self,
        (program, models, pointsto, resolved): (&Program, &Models, &PointsTo, &Resolved<'_>),
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        let follows = self.follows;
        let mut memo = std::mem::replace(&mut self.never_taken, Memo::new(Kind::NeverTaken, follows));
        let mut methods: BTreeSet<MethodId> = memo.stale(changes).into_iter().collect();
        match changes.everything {
            true => methods.extend(self.acts_of.keys()),
            false => methods.extend(delta.acts.added.iter().map(|&act| pointsto.method(act))),
        }
        let methods: Vec<MethodId> = methods.into_iter().collect();
        let world = World::new(program, models, pointsto, self, resolved);
        memo.update(&methods, changes, |method| {
            let edges = never_taken(&world, world.method_flow(method)?);
            (!edges.is_empty()).then_some(edges)
        });
        self.never_taken = memo;
    }

    /// Every method that runs has its flow, whoever asks.
    fn make_flows(
        &self,
        program: &Program,
        resolver: &Resolver<'_>,
        pointsto: &PointsTo,
        delta: &PointsToDelta,
        edited: &[MethodId],
        changes: &Changes,
    ) {
        let make = |method: MethodId| {
            self.flows.of(method, || make_flow(program, resolver, method));
        };
        if changes.everything {
            let methods: Vec<MethodId> = self.acts_of.keys().copied().collect();
            methods.into_par_iter().for_each(make);
        } else {
            let methods = delta.moved.iter().chain(edited).copied();
            let begun = delta.acts.added.iter().map(|&act| pointsto.method(act));
            methods.filter(|method| self.acts_of.contains_key(method)).chain(begun).for_each(make);
        }
    }

    /// What the same body refers to may be something else now, or be known at last. Returns methods with
    /// another flow.
    fn forget_flows(
        &mut self,
        program: &Program,
        resolver: &Resolver<'_>,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) -> Vec<MethodId> {
        self.flows.made.resize_with(program.methods().len(), OnceLock::new);
        let mut edited: Vec<MethodId> = changes.of(Kind::Body).collect();
        for method in edited.iter().chain(&delta.moved) {
            self.flows.made[method.index()].take();
        }
        if changes.everything || !changes.iter().any(|read| read.is_of_classes()) {
            return edited;
        }
        for at in 0..self.flows.made.len() {
            let Some(Some(flow)) = self.flows.made[at].get() else { continue };
            if !flow.reads.iter().any(|&read| changes.contains(read)) {
                continue;
            }
            let again = make_flow(program, resolver, flow.method);
            if again.as_ref().is_none_or(|again| !again.is_same(flow)) {
                changes.add(Read::of(Kind::Body, flow.method));
                edited.push(flow.method);
            }
            self.flows.made[at] = OnceLock::from(again);
        }
        edited
    }

    fn update_acts(&mut self, pointsto: &PointsTo, delta: &PointsToDelta, changes: &Changes) {
        if changes.everything {
            for act in pointsto.acts() {
                self.acts_of.entry(pointsto.method(act)).or_default().push(act);
            }
            return;
        }
        for &act in &delta.acts.added {
            let acts = self.acts_of.entry(pointsto.method(act)).or_default();
            if let Err(at) = acts.binary_search(&act) {
                acts.insert(at, act);
            }
        }
        for &act in &delta.acts.removed {
            let method = pointsto.method(act);
            let acts = self.acts_of.entry(method).or_default();
            acts.retain(|&other| other != act);
            if acts.is_empty() {
                self.acts_of.remove(&method);
            }
        }
    }

    fn update_steps(
        &mut self,
        program: &Program,
        models: &Models,
        pointsto: &PointsTo,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        let acts: BTreeSet<Act> = if changes.everything {
            pointsto.acts().collect()
        } else {
            let of_bodies = delta.bodies.iter().filter_map(|method| self.acts_of.get(method)).flatten();
            let acts = of_bodies.chain(&delta.models).chain(&delta.acts.added).chain(&delta.acts.removed);
            acts.copied().collect()
        };
        for act in acts {
            let steps = if pointsto.runs(act) { steps(program, models, pointsto, act) } else { Vec::new() };
            let before = match steps.is_empty() {
                true => self.steps.remove(&act).unwrap_or_default(),
                false => self.steps.insert(act, steps.clone()).unwrap_or_default(),
            };
            if before != steps {
                changes.add(Read::of(Kind::Sync, act));
                changes.add(Read::all(Kind::Sync));
            }
        }
    }

    fn update_objects(&mut self, pointsto: &PointsTo, delta: &PointsToDelta, changes: &mut Changes) {
        let selector = |obj: Obj| pointsto.lambda(obj).map(|lambda| lambda.target.selector);
        if changes.everything {
            for selector in pointsto.objects().filter_map(selector) {
                *self.lambdas.entry(selector).or_default() += 1;
            }
            for (slot, _) in pointsto.slots() {
                self.add_slot(slot);
            }
            return;
        }
        for selector in delta.objects.added.iter().copied().filter_map(selector) {
            let count = self.lambdas.entry(selector).or_default();
            *count += 1;
            if *count == 1 {
                changes.add(Read::of(Kind::Lambdas, selector));
            }
        }
        for selector in delta.objects.removed.iter().copied().filter_map(selector) {
            let count = self.lambdas.entry(selector).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.lambdas.remove(&selector);
                changes.add(Read::of(Kind::Lambdas, selector));
            }
        }
        for &(slot, _) in &delta.slots {
            if !pointsto.held(slot).is_empty() {
                self.add_slot(slot);
            } else if let Slot::Field(base, _) | Slot::Elements(base) = slot
                && let Some(slots) = self.slots_of.get_mut(&base)
            {
                slots.remove(&slot);
                if slots.is_empty() {
                    self.slots_of.remove(&base);
                }
            }
        }
    }

    fn add_slot(&mut self, slot: Slot) {
        if let Slot::Field(base, _) | Slot::Elements(base) = slot {
            self.slots_of.entry(base).or_default().insert(slot);
        }
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.never_taken.sizes(sizes);
        self.components.sizes(sizes);
        self.above.sizes(sizes);
        self.entering.sizes(sizes);
        sizes.add("flows", self.flows.made.iter().filter(|flow| flow.get().is_some()).count());
        sizes.add("steps", self.steps.len());
        sizes.add("methods that run", self.acts_of.len());
        sizes.add("objects with slots", self.slots_of.len());
    }
}

/// Steps at the calls of an activation.
fn steps(program: &Program, models: &Models, pointsto: &PointsTo, act: Act) -> Vec<ActStep> {
    let mut found = Vec::new();
    let Some(body) = program.lowered(pointsto.method(act)) else { return found };
    for (stmt, info) in body.stmts.iter() {
        if !matches!(info.kind, StmtKind::Call { .. }) {
            continue;
        }
        for &model in pointsto.models_at(act, stmt) {
            for (at, step) in models.model(model).steps.iter().enumerate() {
                let copies = matches!(step, Step::Assign { src: Source::Copy(_), .. });
                if copies || is_sync(step) {
                    found.push(ActStep { stmt, model, step: at as u16, copies });
                }
            }
        }
    }
    found
}

fn is_sync(step: &Step) -> bool {
    matches!(
        step,
        Step::Join { .. }
            | Step::JoinAll { .. }
            | Step::Covers { .. }
            | Step::Acquire { .. }
            | Step::Release { .. }
            | Step::View { .. }
            | Step::Signal { .. }
            | Step::Await { .. }
            | Step::Permits { .. }
            | Step::PerThread { .. }
            | Step::Pause
    )
}

fn find_permits(world: &World<'_>) -> FxHashMap<Obj, Permits> {
    let mut permits: FxHashMap<Obj, Permits> = FxHashMap::default();
    for act in world.syncing() {
        for &(stmt, step) in world.sync(act) {
            let Step::Permits { of, count } = step else { continue };
            let count = world.operand_var(act, stmt, count).and_then(|var| world.constant(act, var));
            let kind = match count {
                Some(0) => Permits::Order,
                Some(1) => Permits::Lock,
                _ => Permits::Other,
            };
            for obj in world.operand(act, stmt, of).iter() {
                let known = *permits.entry(obj).or_insert(kind);
                if known != kind {
                    permits.insert(obj, Permits::Other);
                }
            }
        }
    }
    permits
}
