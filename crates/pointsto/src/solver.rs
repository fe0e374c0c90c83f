//! Runs the constraints to their fixpoint: activates methods, fires uses, keeps the state consistent.
//! The rules themselves live next door: bodies in `lower`, calls in `call`, models in `expand`.

use crate::graph::{Node, Use};
use crate::select::{Contexts, Limit, Own};
use crate::state::{Frame, PointsTo, Shape};
use crate::traits::TraitTable;
use crate::types::*;
use classfile::Layer;
use ir::{ClassId, FieldId, MethodId, Program, StmtId, Var, access};
use models::Models;
use std::sync::Arc;

/// Choices that shape the analysis.
#[derive(Debug, Clone)]
pub struct Options {
    pub full_jdk: bool,
    /// Class-name prefixes in internal form that are not analysed.
    pub exclude: Vec<String>,
    /// Facts the code of one origin may have for it to get a context of its own.
    pub origin_budget: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { full_jdk: false, exclude: Vec::new(), origin_budget: 40_000 }
    }
}

/// Where execution begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// Entry points of the application.
    pub entries: Vec<MethodId>,
    /// What the JVM runs before: `System.initPhase1`.
    pub boot: Vec<MethodId>,
}

pub(crate) struct Solver<'a> {
    pub(crate) state: &'a mut PointsTo,
    pub(crate) program: &'a mut Program,
    pub(crate) models: &'a mut Models,
    pub(crate) traits: TraitTable,
    pub(crate) told_apart: Contexts,
    pub(crate) pending: Vec<Act>,
    pub(crate) shared: Ctx,
    pub(crate) entry: Ctx,
    pub(crate) names: WellKnown,
}

/// Classes the JVM itself gives a meaning.
pub(crate) struct WellKnown {
    pub(crate) object: ClassId,
    pub(crate) string: ClassId,
    pub(crate) class: ClassId,
    pub(crate) throwable: ClassId,
}

impl<'a> Solver<'a> {
    pub(crate) fn new(
        state: &'a mut PointsTo,
        program: &'a mut Program,
        models: &'a mut Models,
        options: &Options,
        told_apart: Contexts,
    ) -> Self {
        let shared = state.contexts.intern(Context::Shared);
        let entry = state.contexts.intern(Context::Entry);
        let names = WellKnown {
            object: program.class_id("java/lang/Object"),
            string: program.class_id("java/lang/String"),
            class: program.class_id("java/lang/Class"),
            throwable: program.class_id("java/lang/Throwable"),
        };
        let traits = TraitTable::new(options);
        Solver { state, program, models, traits, told_apart, pending: Vec::new(), shared, entry, names }
    }

    /// To the fixpoint, unless it gets too large on the way: then false.
    pub(crate) fn run(mut self, roots: &Roots, limit: Limit, progress: &dyn Fn(u64)) -> bool {
        for &method in &roots.boot {
            let act = self.activate(self.shared, method);
            self.state.initializers.push(act);
        }
        for &method in &roots.entries {
            let ctx = self.entry_ctx(method);
            self.add_entry(ctx, method);
        }
        let mut steps = 0u64;
        loop {
            while let Some(act) = self.pending.pop() {
                self.add_body(act);
            }
            let program = &mut *self.program;
            let next = self.state.graph.next_uses(&mut |sub, sup| program.is_subtype(sub, sup));
            let Some((uses, objects)) = next else { break };
            for use_ in uses {
                for obj in objects.iter() {
                    self.fire(use_, obj);
                }
            }
            if self.state.graph.facts > limit.facts || self.state.frames.len() > limit.acts {
                return false;
            }
            steps += 1;
            if steps & 0xfff == 0 {
                progress(self.state.graph.facts);
            }
        }
        self.rest();
        true
    }

    fn entry_ctx(&mut self, method: MethodId) -> Ctx {
        if self.told_apart.has(Own::Main(method)) {
            self.state.contexts.intern(Context::Main(method))
        } else {
            self.entry
        }
    }

    fn add_entry(&mut self, ctx: Ctx, method: MethodId) {
        self.initialise(self.program.method(method).class);
        let act = self.activate(ctx, method);
        if self.state.entries.contains(&act) {
            return;
        }
        self.state.entries.push(act);
        // Arguments come from outside: one object of each declared type.
        let Some(body) = self.state.frames[act].shape.body.clone() else { return };
        let info = self.program.method(method).clone();
        let is_instance = info.access & access::STATIC == 0;
        for (n, (&var, class)) in body.params.iter().zip(info.params).enumerate() {
            if let (Some(node), Some(class)) = (self.var(act, var), class) {
                let obj = if n == 0 && is_instance {
                    self.outside_receiver(ctx, class)
                } else {
                    self.opaque_object(class)
                };
                self.state.graph.add_fact(node, obj);
            }
        }
    }

    /// The object an instance entry point is called on: made outside, through any of its constructors.
    fn outside_receiver(&mut self, ctx: Ctx, class: ClassId) -> Obj {
        let obj = self.object(Object { site: Site::The, ctx, class });
        let methods = self.program.class(class).methods.clone();
        for method in methods {
            if self.program.selector_text(self.program.method(method).selector).0 == "<init>" {
                self.add_entry(ctx, method);
            }
        }
        obj
    }

    /// The activation, reachable from now on. A static synchronized method locks its class's literal.
    pub(crate) fn activate(&mut self, ctx: Ctx, method: MethodId) -> Act {
        let (act, new) = self.state.acts.intern_new(Activation { ctx, method });
        if new {
            let info = self.program.method(method);
            let locks = access::STATIC | access::SYNCHRONIZED;
            if info.access & locks == locks {
                self.literal(info.class);
            }
            let shape = match self.state.shapes.get(&method) {
                Some(shape) => shape.clone(),
                None => {
                    let shape = Arc::new(Shape::new(self.program.body(method)));
                    self.state.shapes.insert(method, shape.clone());
                    shape
                }
            };
            let first = self.state.graph.add_nodes(shape.count + 1);
            let ret = Node(first.0 + shape.count as u32);
            self.state.frames.push(Frame { shape, first, ret });
            self.state.callees.push(Default::default());
            self.state.callers.push(Default::default());
            self.pending.push(act);
        }
        act
    }

    pub(crate) fn var(&self, act: Act, var: Var) -> Option<Node> {
        let frame = &self.state.frames[act];
        frame.shape.index(var).map(|index| Node(frame.first.0 + index))
    }

    pub(crate) fn slot(&mut self, slot: Slot) -> Node {
        if let Some(&node) = self.state.slots.get(&slot) {
            return node;
        }
        let node = self.state.graph.add_node();
        self.state.slots.insert(slot, node);
        node
    }

    pub(crate) fn object(&mut self, object: Object) -> Obj {
        let (obj, new) = self.state.objects.intern_new(object);
        if new {
            self.program.load(object.class);
            self.state.graph.add_object(obj, object.class);
        }
        obj
    }

    pub(crate) fn edge(&mut self, src: Node, dst: Node, filter: Option<ClassId>) {
        let filter = filter.filter(|&class| class != self.names.object);
        let program = &mut *self.program;
        self.state.graph.add_edge(src, dst, filter, &mut |sub, sup| program.is_subtype(sub, sup));
    }

    /// Where the exceptions of a context meet.
    pub(crate) fn exceptions(&mut self, ctx: Ctx) -> Node {
        let ctx = self.throwing_ctx(ctx);
        if let Some(&node) = self.state.exceptions.get(&ctx) {
            return node;
        }
        let node = self.state.graph.add_node();
        self.state.exceptions.insert(ctx, node);
        node
    }

    /// What a callee throws may reach its caller.
    pub(crate) fn throw_to_caller(&mut self, callee: Ctx, caller: Ctx) {
        let (callee, caller) = (self.throwing_ctx(callee), self.throwing_ctx(caller));
        if callee != caller && self.state.thrown_between.insert((callee, caller)) {
            let (from, to) = (self.exceptions(callee), self.exceptions(caller));
            self.edge(from, to, None);
        }
    }

    fn throwing_ctx(&self, ctx: Ctx) -> Ctx {
        let ctx = self.state.code_ctx(ctx);
        if self.state.is_application(ctx) { ctx } else { self.shared }
    }

    pub(crate) fn model_field(&mut self, name: &str) -> FieldId {
        if let Some(&field) = self.state.model_fields.get(name) {
            return field;
        }
        let field = self.program.model_field(self.names.object, name);
        self.state.model_fields.insert(name.to_string(), field);
        field
    }

    /// Runs the initialiser of a class and of its superclasses, once.
    pub(crate) fn initialise(&mut self, class: ClassId) {
        let mut next = Some(class);
        while let Some(class) = next {
            if !self.state.initialised.insert(class) {
                return;
            }
            next = self.program.load(class).super_class;
            if self.traits.of(self.program, self.models, class).opaque {
                continue;
            }
            let selector = self.program.selector("<clinit>", "()V");
            let own = self.program.class(class).methods.clone();
            if let Some(&method) = own.iter().find(|&&m| self.program.method(m).selector == selector) {
                let ctx =
                    if self.program.class(class).layer == Layer::Jdk { self.shared } else { self.entry };
                let act = self.activate(ctx, method);
                self.state.initializers.push(act);
            }
        }
    }

    /// One rule per kind of use: the object `obj` has reached the node the use sits on.
    fn fire(&mut self, use_: Use, obj: Obj) {
        match use_ {
            // dst = x.f, o ∈ pts(x)  ⟹  o.f → dst
            Use::Load { field, dst } => {
                if let Some(slot) = self.field_of(obj, field) {
                    let node = self.slot(slot);
                    self.edge(node, dst, None);
                }
            }
            // x.f = src, o ∈ pts(x)  ⟹  src → o.f, only what the field's type admits
            Use::Store { field, src } => {
                if let Some(slot) = self.field_of(obj, field) {
                    let node = self.slot(slot);
                    let filter = self.program.field(field).class_of;
                    self.edge(src, node, filter);
                }
            }
            Use::LoadElem { dst } => {
                if self.is_array(obj) {
                    let node = self.slot(Slot::Elements(obj));
                    self.edge(node, dst, None);
                }
            }
            Use::StoreElem { src } => {
                if self.is_array(obj) && !self.state.empty_arrays.contains(&obj) {
                    let node = self.slot(Slot::Elements(obj));
                    let filter = self.program.class(self.state.objects[obj].class).element;
                    self.edge(src, node, filter);
                }
            }
            Use::Receive(call) => self.receive(call, obj),
            Use::Instantiate { call, dst, step } => self.instantiate(call, obj, dst, step),
            // o.getClass(): the classes of JDK objects are one, else reflection in the JDK makes objects of all.
            Use::ClassOf { dst } => {
                let class = self.state.objects[obj].class;
                let literal = match self.program.class(class).layer {
                    Layer::Jdk => self.merged_object(self.names.class),
                    _ => self.literal(class),
                };
                self.state.graph.add_fact(dst, literal);
            }
            Use::Copy { call, dst, step } => self.copy(call, obj, dst, step),
            Use::Services { call, dst, step } => self.services(call, obj, dst, step),
            Use::HandleLoad { base, dst } => {
                let use_ = match self.state.handles.get(&obj) {
                    Some(&field) => Use::Load { field, dst },
                    None => Use::LoadElem { dst },
                };
                self.state.graph.add_use(base, use_);
            }
            Use::HandleStore { base, src } => {
                let use_ = match self.state.handles.get(&obj) {
                    Some(&field) => Use::Store { field, src },
                    None => Use::StoreElem { src },
                };
                self.state.graph.add_use(base, use_);
            }
            Use::UnsafeLoad { dst } => {
                for slot in self.reference_slots(obj) {
                    let node = self.slot(slot);
                    self.edge(node, dst, None);
                }
            }
            Use::UnsafeStore { src } => {
                for slot in self.reference_slots(obj) {
                    let filter = match slot {
                        Slot::Field(_, field) => self.program.field(field).class_of,
                        _ => self.program.class(self.state.objects[obj].class).element,
                    };
                    let node = self.slot(slot);
                    self.edge(src, node, filter);
                }
            }
            Use::Escape { call, class } => self.call_back(call, obj, class),
        }
    }

    /// The slot of a field in an object; `None` if objects of this class have no such field.
    fn field_of(&mut self, obj: Obj, field: FieldId) -> Option<Slot> {
        let declared = self.program.field(field).class;
        let class = self.state.objects[obj].class;
        let has = declared == self.names.object || self.program.is_subtype(class, declared);
        has.then_some(Slot::Field(obj, field))
    }

    fn is_array(&self, obj: Obj) -> bool {
        self.program.class(self.state.objects[obj].class).is_array
    }

    /// All reference fields and elements of an object.
    pub(crate) fn reference_slots(&mut self, obj: Obj) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut next = Some(self.state.objects[obj].class);
        if self.is_array(obj) {
            return vec![Slot::Elements(obj)];
        }
        while let Some(class) = next {
            let class = self.program.load(class).clone();
            for &field in &class.fields {
                let info = self.program.field(field);
                if info.class_of.is_some() && info.access & access::STATIC == 0 {
                    slots.push(Slot::Field(obj, field));
                }
            }
            next = class.super_class;
        }
        slots
    }

    /// Sorts what the queries promise sorted.
    fn rest(&mut self) {
        for callees in self.state.callees.iter_mut() {
            let mut pairs: Vec<(StmtId, Act)> =
                callees.stmts.iter().copied().zip(callees.acts.iter().copied()).collect();
            pairs.sort_unstable();
            pairs.dedup();
            (callees.stmts, callees.acts) = pairs.into_iter().unzip();
        }
        for callers in self.state.callers.iter_mut() {
            callers.sort_unstable();
            callers.dedup();
        }
        for models in self.state.expansions.values_mut() {
            models.sort_unstable();
            models.dedup();
        }
        self.state.spawns.sort_unstable();
        self.state.spawns.dedup();
        self.state.initializers.sort_unstable();
        self.state.initializers.dedup();
    }

    pub(crate) fn merged_object(&mut self, class: ClassId) -> Obj {
        self.object(Object { site: Site::Merged, ctx: self.shared, class })
    }

    pub(crate) fn literal(&mut self, class: ClassId) -> Obj {
        let site = Site::Literal(class);
        self.object(Object { site, ctx: self.shared, class: self.names.class })
    }

    /// The object that stands for values of this declared type from outside.
    pub(crate) fn opaque_object(&mut self, class: ClassId) -> Obj {
        if self.traits.of(self.program, self.models, class).merged {
            return self.merged_object(class);
        }
        let known = self.state.objects.len();
        let obj = self.object(Object { site: Site::Opaque, ctx: self.shared, class });
        if obj.0 as usize >= known
            && let Some(element) = self.program.class(class).element
        {
            let element = self.opaque_object(element);
            let node = self.slot(Slot::Elements(obj));
            self.state.graph.add_fact(node, element);
        }
        obj
    }

    /// Context for objects allocated by an activation. Chains of tasks that allocate tasks are cut at two, even
    /// where constructors or containers stand between them.
    pub(crate) fn heap_ctx(&self, ctx: Ctx, site: Site) -> Ctx {
        if self.told_apart.has(Own::Task(site))
            && let Some(task) = self.task_behind(ctx)
            && let outer = self.state.objects[task].ctx
            && self.task_behind(outer).is_some()
        {
            return outer;
        }
        ctx
    }

    /// The task of the innermost origin around a context.
    fn task_behind(&self, ctx: Ctx) -> Option<Obj> {
        self.state.around(ctx).find_map(|ctx| match self.state.contexts[ctx] {
            Context::Origin(task) => Some(task),
            _ => None,
        })
    }
}
