//! Runs the constraints to their fixpoint: activates methods, fires uses, keeps the state consistent.
//! The rules themselves live next door: bodies in `lower`, calls in `call`, models in `expand`.

use crate::flow::Reached;
use crate::graph::{CallId, Node, Use, UseId};
use crate::retract::Doubts;
use crate::rule::{Effect, Leaf, Rule, RuleId};
use crate::select::{Limit, Own};
use crate::state::{Call, Frame, Home, Nodes, Place, Placed, PointsTo, Shape};
use crate::support::Reason;
use crate::types::*;
use arena::IdSet;
use classfile::Layer;
use ir::{ClassId, FieldId, MethodId, Program, StmtId, Var, access};
use models::Models;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// Choices that shape the analysis.
#[derive(Debug, Clone)]
pub struct Options {
    pub full_jdk: bool,
    /// Class-name prefixes in internal form that are not analysed.
    pub exclude: Vec<String>,
    /// Facts the code of one origin may have for it to get a context of its own.
    pub origin_budget: u64,
    /// Facts that one solution may have: decides how many contexts there are, and which entry points are left out.
    pub budget: u64,
    /// Methods of dependencies that may be reached for dependencies to be analysed; with more they are opaque.
    pub dependency_budget: usize,
    /// Edits will come: keep what following them takes. Without it every update starts from nothing.
    pub follow: bool,
    /// Facts that an update takes away one by one and tells as new ones, however few there are besides. When there are
    /// more, and more than half of all, beginning anew is less work than to follow.
    pub most_taken: u64,
    /// For tests: takes its work in an order of this seed, so that ids are handed out in another order.
    #[doc(hidden)]
    pub shuffle: Option<u64>,
}

impl Options {
    /// A few seconds of work.
    pub const BUDGET: u64 = 4_000_000;

    /// What a budget means for dependencies.
    pub fn dependency_budget(budget: u64) -> usize {
        (budget / FACTS_PER_METHOD) as usize
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            full_jdk: false,
            exclude: Vec::new(),
            origin_budget: 40_000,
            budget: Options::BUDGET,
            dependency_budget: Options::dependency_budget(Options::BUDGET),
            follow: true,
            most_taken: 100_000,
            shuffle: None,
        }
    }
}

/// For so many facts of the budget one method of dependencies is analysed.
const FACTS_PER_METHOD: u64 = 1_000;

/// Where execution begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roots {
    /// Entry points of the application.
    pub entries: Vec<MethodId>,
    /// What the JVM runs before: `System.initPhase1`.
    pub boot: Vec<MethodId>,
}

/// How much is done in one round: uses fired and rules run, and nodes visited.
const FIRINGS: usize = 1000;
const VISITS: usize = 500;
/// Less than this is not worth a thread.
const FEW: usize = 50;

pub(crate) struct Solver<'a> {
    pub(crate) state: &'a mut PointsTo,
    pub(crate) program: &'a mut Program,
    pub(crate) models: &'a mut Models,
    pub(crate) shared: Ctx,
    pub(crate) entry: Ctx,
    pub(crate) names: WellKnown,
    /// What is being run, so that its effects know why they are there.
    pub(crate) now: Now,
    pub(crate) doubts: Doubts,
}

/// The rule, statement or use that is being run.
pub(crate) struct Now {
    pub(crate) by: Reason,
    /// Whether its effects come, or are taken back.
    pub(crate) adding: bool,
    /// The rule whose effects are written down.
    pub(crate) rule: Option<RuleId>,
    pub(crate) effects: Vec<Effect>,
    /// How many nodes and calls it has asked for.
    pub(crate) nodes: usize,
    pub(crate) calls: usize,
}

/// Classes the JVM itself gives a meaning.
pub(crate) struct WellKnown {
    pub(crate) object: ClassId,
    pub(crate) string: ClassId,
    pub(crate) class: ClassId,
    pub(crate) throwable: ClassId,
}

impl<'a> Solver<'a> {
    pub(crate) fn new(state: &'a mut PointsTo, program: &'a mut Program, models: &'a mut Models) -> Self {
        let shared = state.contexts.intern(Context::Shared);
        let entry = state.contexts.intern(Context::Entry);
        let names = WellKnown {
            object: program.class_id("java/lang/Object"),
            string: program.class_id("java/lang/String"),
            class: program.class_id("java/lang/Class"),
            throwable: program.class_id("java/lang/Throwable"),
        };
        let now = Now { by: Reason::Root, adding: true, rule: None, effects: Vec::new(), nodes: 0, calls: 0 };
        Solver { state, program, models, shared, entry, names, now, doubts: Doubts::default() }
    }

    /// To the fixpoint, unless it gets too large on the way: then false. Progress is in methods lowered.
    pub(crate) fn run(&mut self, limit: Limit, progress: &dyn Fn(u64)) -> bool {
        self.state.graph.begin();
        let mut reached = VecDeque::new();
        loop {
            let program = &mut *self.program;
            self.state.graph.exchange(&mut |sub, sup| program.is_subtype(sub, sup));
            if !limit.admits(self.state) {
                return false;
            }
            if reached.is_empty() && self.state.rules.pending.is_empty() && self.state.graph.is_at_rest() {
                self.state.graph.tell();
                return true;
            }
            progress(self.program.body_count() as u64);
            let more = self.round(&mut reached);
            reached.extend(more);
        }
    }

    /// Rules run and uses fire while objects flow, some of each. Neither sees what the other does before the next
    /// round, so it is all the same whether they work at the same time.
    fn round(&mut self, reached: &mut VecDeque<Reached>) -> Vec<Reached> {
        let mut flow = std::mem::take(&mut self.state.graph.flow);
        let is_worth_it = reached.len() + self.state.rules.pending.len() > FEW && flow.pending() > FEW;
        let fire = || self.fire_some(reached);
        let propagate = || flow.propagate(VISITS);
        let ((), more) = if is_worth_it { rayon::join(fire, propagate) } else { in_turn(fire, propagate) };
        self.state.graph.flow = flow;
        more
    }

    fn fire_some(&mut self, reached: &mut VecDeque<Reached>) {
        let mut left = FIRINGS;
        while left > 0 {
            self.state.graph.shuffled(&mut self.state.rules.pending);
            if let Some(rule) = self.state.rules.pending.pop() {
                self.run_rule(rule);
                left -= 1;
            } else if let Some(Reached { mut uses, objects }) = reached.pop_front() {
                self.state.graph.shuffled(&mut uses);
                for id in uses {
                    self.fire_all(id, &objects);
                    left = left.saturating_sub(objects.len());
                }
            } else {
                return;
            }
        }
    }

    fn fire_all(&mut self, id: UseId, objects: &IdSet<Obj>) {
        let what = self.state.graph.uses[id].what;
        let mut objects: Vec<Obj> = objects.iter().collect();
        self.state.graph.shuffled(&mut objects);
        for obj in objects {
            self.begin(Reason::Fired(id, obj), true);
            self.fire(what, obj);
        }
    }

    pub(crate) fn begin(&mut self, by: Reason, adding: bool) {
        (self.now.by, self.now.adding, self.now.rule) = (by, adding, None);
        (self.now.nodes, self.now.calls) = (0, 0);
    }

    /// Where the program begins.
    pub(crate) fn roots(&mut self, roots: &Roots, adding: bool) {
        self.begin(Reason::Root, adding);
        for &method in &roots.boot {
            let act = self.act(self.shared, method);
            self.rule(Rule::Boot(act));
        }
        for &method in &roots.entries {
            let ctx = self.entry_ctx(method);
            self.rule(Rule::Entry(ctx, method));
        }
    }

    pub(crate) fn run_rule(&mut self, id: RuleId) {
        let held = &mut self.state.rules.held[id];
        if !held.alive || std::mem::replace(&mut held.ran, true) {
            return;
        }
        let (what, method) = (held.what, held.method);
        self.begin(Reason::Rule(id), true);
        if let Rule::Active(act) = what {
            self.count_running(act, true);
            self.state.frames[act].runs = true;
            self.state.touched.begun.insert(act);
            self.run_body(act);
            return;
        }
        self.now.rule = Some(id);
        match what {
            Rule::Active(_) => {}
            Rule::Initialised(class) => self.run_initialised(class),
            Rule::Boot(act) => {
                self.rule(Rule::Active(act));
                self.leaf(Leaf::Initializer(act));
            }
            Rule::Entry(ctx, method) => self.run_entry(ctx, method),
            Rule::Connected(call, callee) => self.run_connected(call, callee),
            Rule::Expanded(call, model, _, assigns) => self.run_expanded(id, call, model, method, assigns),
            Rule::ExpandedInside(act, model) => self.run_expanded_inside(act, model),
            Rule::Nested(..) => self.run_nested(id),
            Rule::LambdaCalled(call) => self.run_lambda_called(call),
            Rule::LambdaMade(call, obj) => self.run_lambda_made(call, obj),
            Rule::OpaqueCall(call, method) => self.run_opaque_call(call, method),
            Rule::CalledBack(place, obj, class) => self.run_called_back(place, obj, class),
            Rule::Constructed(call, class, dst, step) => self.run_constructed(call, class, dst, step),
            Rule::Thrown(from, to) => {
                let (from, to) = (self.exceptions(from), self.exceptions(to));
                self.edge(from, to, None);
            }
            Rule::OpaqueArray(obj) => self.run_opaque_array(obj),
        }
        // Exactly as long as it is: there are very many.
        self.state.rules.held[id].effects = self.now.effects.as_slice().into();
        self.now.effects.clear();
    }

    /// The effects of a rule that no longer holds.
    pub(crate) fn unrun_rule(&mut self, id: RuleId) {
        let held = &mut self.state.rules.held[id];
        held.alive = false;
        if !std::mem::take(&mut held.ran) {
            return;
        }
        let effects = std::mem::take(&mut held.effects);
        if let Rule::Active(act) = held.what {
            self.count_running(act, false);
            self.state.frames[act].runs = false;
            self.state.touched.ended.insert(act);
            self.begin(Reason::Rule(id), false);
            self.run_body(act);
        }
        for effect in effects {
            self.unsupport(effect, Reason::Rule(id));
        }
    }

    /// An activation begins or ceases to run.
    fn count_running(&mut self, act: Act, begins: bool) {
        let method = self.state.acts[act].method;
        let is_there =
            begins && self.program.class(self.program.method(method).class).layer == Layer::Library;
        self.state.running = if begins { self.state.running + 1 } else { self.state.running - 1 };
        self.state.count_in_dependencies(act, is_there);
    }

    /// The effect comes or goes, by what is being run.
    fn effect(&mut self, effect: Effect) {
        let by = self.now.by;
        if !self.now.adding {
            self.unsupport(effect, by);
            return;
        }
        match effect {
            Effect::Fact(node, obj) => self.state.graph.support_fact(node, obj, by),
            Effect::Edge(edge) => self.state.graph.support_edge(edge, by),
            Effect::Use(use_) => self.state.graph.support_use(use_, by),
            Effect::Rule(rule) => {
                let held = &mut self.state.rules.held[rule];
                held.supports.add(by);
                if !held.alive {
                    self.state.rules.revive(rule);
                }
            }
            Effect::Leaf(leaf) => {
                let count = self.state.leaves.entry(leaf).or_default();
                *count += 1;
                if *count == 1 {
                    self.state.leaf_changed(leaf, true);
                }
            }
        }
        if self.now.rule.is_some() {
            self.now.effects.push(effect);
        }
    }

    pub(crate) fn fact(&mut self, node: Node, obj: Obj) {
        self.effect(Effect::Fact(node, obj));
    }

    pub(crate) fn edge(&mut self, src: Node, dst: Node, filter: Option<ClassId>) {
        if src != dst {
            let filter = filter.filter(|&class| class != self.names.object);
            let edge = self.state.graph.edge(src, dst, filter);
            self.effect(Effect::Edge(edge));
        }
    }

    /// From now on the use fires for what reaches the node.
    pub(crate) fn on(&mut self, node: Node, use_: Use) {
        let use_ = self.state.graph.place_use(node, use_);
        self.effect(Effect::Use(use_));
    }

    pub(crate) fn rule(&mut self, rule: Rule) -> RuleId {
        let id = self.state.rules.id(rule);
        self.effect(Effect::Rule(id));
        id
    }

    pub(crate) fn leaf(&mut self, leaf: Leaf) {
        self.effect(Effect::Leaf(leaf));
    }

    /// A node of the running rule's own: the same one whenever the rule is run.
    pub(crate) fn own_node(&mut self) -> Node {
        let Some(rule) = self.now.rule else {
            debug_assert!(false, "only rules have nodes of their own");
            return self.state.graph.add_node();
        };
        let at = self.now.nodes;
        self.now.nodes += 1;
        self.node_of(rule, at)
    }

    /// The node that a rule makes as its `at`th.
    pub(crate) fn node_of(&mut self, rule: RuleId, at: usize) -> Node {
        while self.state.rules.held[rule].nodes.len() <= at {
            let node = self.state.graph.add_node();
            *self.state.homes.at(node) = self.home(rule);
            self.state.rules.held[rule].nodes.push(node);
        }
        self.state.rules.held[rule].nodes[at]
    }

    /// The activation at whose statement a rule with nodes of its own holds.
    fn home(&self, rule: RuleId) -> Home {
        let at = |place: Place| Home::Act(self.state.places[place].act);
        match self.state.rules.held[rule].what {
            Rule::Expanded(call, ..) | Rule::LambdaMade(call, _) | Rule::Constructed(call, ..) => {
                at(self.state.calls[call].place)
            }
            Rule::Nested(place, ..) | Rule::CalledBack(place, ..) => at(place),
            Rule::ExpandedInside(act, _) => Home::Act(act),
            _ => Home::Context,
        }
    }

    /// A call of the running rule's own, or of the statement's: the same one whenever it is run, unless it has
    /// changed.
    pub(crate) fn own_call(&mut self, call: Call) -> CallId {
        let at = self.now.calls;
        self.now.calls += 1;
        let state = &mut *self.state;
        let known = match self.now.rule {
            Some(rule) => &mut state.rules.held[rule].calls,
            None => &mut state.places[call.place].calls,
        };
        if let Some(&id) = known.get(at) {
            if state.calls[id].is(&call) {
                return id;
            }
            self.doubts.calls.push(id);
        }
        let id = match state.free_calls.pop() {
            Some(id) => {
                state.calls[id] = call;
                id
            }
            None => state.calls.push(call),
        };
        known.truncate(at);
        known.push(id);
        id
    }

    /// Where a call is made.
    pub(crate) fn place_of(&self, call: CallId) -> (Place, Act) {
        let place = self.state.calls[call].place;
        (place, self.state.places[place].act)
    }

    pub(crate) fn place(&mut self, act: Act, stmt: StmtId) -> Place {
        let state = &mut *self.state;
        *state.place_ids.entry((act, stmt)).or_insert_with(|| {
            let placed = Placed::new(act, stmt);
            let place = match state.free_places.pop() {
                Some(place) => {
                    state.places[place] = placed;
                    place
                }
                None => state.places.push(placed),
            };
            state.frames[act].places.push(place);
            place
        })
    }

    fn entry_ctx(&mut self, method: MethodId) -> Ctx {
        if self.state.told_apart.has(Own::Main(method)) {
            self.context(Context::Main(method))
        } else {
            self.entry
        }
    }

    fn run_entry(&mut self, ctx: Ctx, method: MethodId) {
        self.initialise(self.program.method(method).class);
        let act = self.act(ctx, method);
        self.rule(Rule::Active(act));
        self.leaf(Leaf::Entry(act));
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
                self.fact(node, obj);
            }
        }
    }

    /// The object an instance entry point is called on: made outside, through any of its constructors.
    fn outside_receiver(&mut self, ctx: Ctx, class: ClassId) -> Obj {
        let obj = self.object(Object { site: Site::The, ctx, class });
        let methods = self.program.class(class).methods.clone();
        for method in methods {
            if self.program.selector_text(self.program.method(method).selector).0 == "<init>" {
                self.rule(Rule::Entry(ctx, method));
            }
        }
        obj
    }

    /// The activation, whether it runs or not.
    pub(crate) fn act(&mut self, ctx: Ctx, method: MethodId) -> Act {
        let (act, new) = self.state.acts.intern_new(Activation { ctx, method });
        if new {
            let shape = self.shape(method);
            let first = self.state.graph.add_nodes(shape.count + 1);
            let ret = Node(first.0 + shape.count as u32);
            for node in first.0..=ret.0 {
                *self.state.homes.at(Node(node)) = Home::Act(act);
            }
            let (nodes, is_stale) = (Nodes::From(first), shape.body.is_none());
            self.state.frames.push(Frame {
                shape,
                nodes,
                ret,
                places: Vec::new(),
                runs: false,
                in_dependencies: false,
                is_stale,
            });
            self.state.acts_of.entry(method).or_default().push(act);
            self.state.callees.push(Default::default());
            self.state.callers.push(Default::default());
        } else if self.state.frames[act].is_stale {
            let shape = self.shape(method);
            self.reshape(act, &shape, &vec![None; shape.count]);
        }
        act
    }

    pub(crate) fn shape(&mut self, method: MethodId) -> Arc<Shape> {
        if let Some(shape) = self.state.shapes.get(&method) {
            return shape.clone();
        }
        let shape = Arc::new(Shape::new(self.program.body(method)));
        // Should the method get a body, nobody tells.
        if let Some(body) = &shape.body {
            self.state.shapes.insert(method, shape.clone());
            self.come_back(method, body);
        }
        shape
    }

    pub(crate) fn var(&self, act: Act, var: Var) -> Option<Node> {
        self.state.frames[act].node(var)
    }

    pub(crate) fn slot(&mut self, slot: Slot) -> Node {
        if let Some(&node) = self.state.slots.get(&slot) {
            return node;
        }
        let node = self.state.graph.add_node();
        *self.state.homes.at(node) = Home::Slot(slot);
        self.state.slots.insert(slot, node);
        node
    }

    pub(crate) fn object(&mut self, object: Object) -> Obj {
        let (obj, new) = self.state.objects.intern_new(object);
        if new {
            self.program.load(object.class);
            self.state.graph.add_object(object.class);
            if let Site::Alloc(method, _) | Site::Model(method, ..) = object.site {
                self.state.named_after.entry(method).or_default().objects.push(obj);
            }
        }
        obj
    }

    pub(crate) fn context(&mut self, context: Context) -> Ctx {
        let (ctx, new) = self.state.contexts.intern_new(context);
        if let (Context::Call(_, method, _) | Context::Helper(_, method, _), true) = (context, new) {
            self.state.named_after.entry(method).or_default().contexts.push(ctx);
        }
        ctx
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
        if callee != caller {
            self.rule(Rule::Thrown(callee, caller));
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
        self.rule(Rule::Initialised(class));
    }

    fn run_initialised(&mut self, class: ClassId) {
        if let Some(above) = self.program.load(class).super_class {
            self.initialise(above);
        }
        if self.state.traits.of(self.program, self.models, class).opaque {
            return;
        }
        let selector = self.program.selector("<clinit>", "()V");
        let own = self.program.class(class).methods.clone();
        if let Some(&method) = own.iter().find(|&&m| self.program.method(m).selector == selector) {
            let ctx = if self.program.class(class).layer == Layer::Jdk { self.shared } else { self.entry };
            let act = self.act(ctx, method);
            self.rule(Rule::Active(act));
            self.leaf(Leaf::Initializer(act));
        }
    }

    /// One rule per kind of use: the object `obj` has reached the node the use sits on.
    pub(crate) fn fire(&mut self, use_: Use, obj: Obj) {
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
                self.fact(dst, literal);
            }
            Use::Copy { call, dst, step } => self.copy(call, obj, dst, step),
            Use::Services { call, dst, step } => self.services(call, obj, dst, step),
            Use::HandleLoad { base, dst } => {
                let use_ = match self.state.handles.get(&obj) {
                    Some(&field) => Use::Load { field, dst },
                    None => Use::LoadElem { dst },
                };
                self.on(base, use_);
            }
            Use::HandleStore { base, src } => {
                let use_ = match self.state.handles.get(&obj) {
                    Some(&field) => Use::Store { field, src },
                    None => Use::StoreElem { src },
                };
                self.on(base, use_);
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

    pub(crate) fn merged_object(&mut self, class: ClassId) -> Obj {
        self.object(Object { site: Site::Merged, ctx: self.shared, class })
    }

    pub(crate) fn literal(&mut self, class: ClassId) -> Obj {
        let site = Site::Literal(class);
        self.object(Object { site, ctx: self.shared, class: self.names.class })
    }

    /// The object that stands for values of this declared type from outside.
    pub(crate) fn opaque_object(&mut self, class: ClassId) -> Obj {
        if self.state.traits.of(self.program, self.models, class).merged {
            return self.merged_object(class);
        }
        let obj = self.object(Object { site: Site::Opaque, ctx: self.shared, class });
        if self.program.class(class).element.is_some() {
            self.rule(Rule::OpaqueArray(obj));
        }
        obj
    }

    fn run_opaque_array(&mut self, obj: Obj) {
        if let Some(element) = self.program.class(self.state.objects[obj].class).element {
            let element = self.opaque_object(element);
            let node = self.slot(Slot::Elements(obj));
            self.fact(node, element);
        }
    }

    /// Context for objects allocated by an activation. Chains of tasks that allocate tasks are cut at two, even
    /// where constructors or containers stand between them.
    pub(crate) fn heap_ctx(&self, ctx: Ctx, site: Site) -> Ctx {
        if self.state.told_apart.has(Own::Task(site))
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

fn in_turn<A, B>(first: impl FnOnce() -> A, second: impl FnOnce() -> B) -> (A, B) {
    (first(), second())
}
