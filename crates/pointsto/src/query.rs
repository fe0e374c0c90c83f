//! The solved state, as later stages read it.

use crate::graph::{CallId, Node};
use crate::rule::Leaf;
use crate::state::{ExpandedCall, Gaps, Place, Placed, PointsTo};
use crate::types::*;
use arena::IdSet;
use classfile::Layer;
use ir::{ClassId, FieldId, MethodId, Program, StmtId, StmtKind, Var};
use models::{Member, ModelId, Operand, Root};
use track::{Kind, Read, note};

impl PointsTo {
    /// All reachable activations, ascending.
    pub fn acts(&self) -> impl Iterator<Item = Act> + '_ {
        self.frames.ids().filter(|&act| self.frames[act].runs)
    }

    /// Does the activation run, or did it only once?
    pub fn runs(&self, act: Act) -> bool {
        note(Read::of(Kind::Runs, act));
        self.frames[act].runs
    }

    pub fn act_count(&self) -> usize {
        self.running
    }

    /// Every activation has an index below this.
    pub fn act_bound(&self) -> usize {
        self.frames.len()
    }

    pub fn method(&self, act: Act) -> MethodId {
        self.acts[act].method
    }

    pub fn ctx(&self, act: Act) -> Ctx {
        self.acts[act].ctx
    }

    /// The activation of a method in a context, if it is reachable.
    pub fn act(&self, activation: Activation) -> Option<Act> {
        self.acts.get(&activation).filter(|&act| self.runs(act))
    }

    pub fn context(&self, ctx: Ctx) -> Context {
        self.contexts[ctx]
    }

    /// The context without constructors, inheritance and helpers: who runs the code.
    pub fn code_ctx(&self, mut ctx: Ctx) -> Ctx {
        loop {
            ctx = match self.contexts[ctx] {
                Context::Made(obj) => self.objects[obj].ctx,
                Context::Inherited(outer, _) | Context::Helper(outer, ..) => outer,
                _ => return ctx,
            }
        }
    }

    /// The application's code, unless it is that of a constructor, a helper or inherited.
    pub(crate) fn is_application(&self, ctx: Ctx) -> bool {
        matches!(self.contexts[ctx], Context::Entry | Context::Main(_) | Context::Origin(_))
    }

    /// The context, then the one that its object or call belongs to, and so on outwards.
    pub(crate) fn around(&self, ctx: Ctx) -> impl Iterator<Item = Ctx> + '_ {
        std::iter::successors(Some(ctx), |&ctx| match self.contexts[ctx] {
            Context::Shared | Context::Entry | Context::Main(_) => None,
            Context::Origin(obj) | Context::Made(obj) | Context::Container(obj) => {
                Some(self.objects[obj].ctx)
            }
            Context::Call(outer, ..) | Context::Inherited(outer, _) | Context::Helper(outer, ..) => {
                Some(outer)
            }
        })
    }

    pub fn object(&self, obj: Obj) -> &Object {
        note(Read::of(Kind::Object, obj));
        &self.objects[obj]
    }

    /// An array of length 0: it has no elements to touch.
    pub fn is_empty_array(&self, obj: Obj) -> bool {
        self.empty_arrays.contains(&obj)
    }

    /// Objects that anything may point to, and literals of classes that their static methods lock; ascending.
    pub fn objects(&self) -> impl Iterator<Item = Obj> + '_ {
        let is_there =
            |&obj: &Obj| self.graph.flow.held[obj] > 0 || self.leaves.contains_key(&Leaf::Locks(obj));
        self.objects.items().ids().filter(is_there)
    }

    /// Every object has an index below this.
    pub fn object_bound(&self) -> usize {
        self.objects.len()
    }

    pub fn lambda(&self, obj: Obj) -> Option<&LambdaTarget> {
        self.lambdas.get(&obj)
    }

    /// Objects a variable may point to (empty for primitives).
    pub fn pts(&self, act: Act, var: Var) -> &IdSet<Obj> {
        self.note_body(act);
        self.frames[act].node(var).map_or(&self.no_objects, |node| self.node(node))
    }

    fn node(&self, node: Node) -> &IdSet<Obj> {
        note(Read::of(Kind::Node, node));
        self.graph.pts(node)
    }

    /// Variables and statements have the numbers that the body gives them, while the activation runs.
    fn note_body(&self, act: Act) {
        note(Read::of(Kind::Body, self.method(act)));
        note(Read::of(Kind::Runs, act));
    }

    /// What a heap location may hold.
    pub fn held(&self, slot: Slot) -> &IdSet<Obj> {
        note(slot.read());
        match self.slots.get(&slot) {
            Some(&node) => self.graph.pts(node),
            None => &self.no_objects,
        }
    }

    /// All heap locations that may hold something, in no particular order.
    pub fn slots(&self) -> impl Iterator<Item = (Slot, &IdSet<Obj>)> {
        let slots = self.slots.iter().map(|(&slot, &node)| (slot, self.graph.pts(node)));
        slots.filter(|(_, held)| !held.is_empty())
    }

    /// Objects a model's operand denotes at a call statement of `act`.
    pub fn operand(&self, act: Act, stmt: StmtId, operand: &Operand) -> IdSet<Obj> {
        let mut objects = IdSet::new();
        for node in self.operand_roots(act, stmt, operand.root) {
            objects.union_with(self.node(node));
        }
        self.members(objects, &operand.path)
    }

    /// Objects an operand of one model denotes at a call statement of `act`: for the call itself, and for each
    /// that models and lambdas make on its behalf. Receivers are those whose method the model is of. With the
    /// argument that its root is, if it is one.
    pub fn operands(
        &self,
        act: Act,
        stmt: StmtId,
        model: ModelId,
        operand: &Operand,
    ) -> Vec<(Option<Var>, IdSet<Obj>)> {
        let frame = &self.frames[act];
        let args = match frame.shape.body.as_ref().map(|body| &body.stmts[stmt].kind) {
            Some(StmtKind::Call { args, .. }) => args.as_slice(),
            _ => &[],
        };
        let node = |var: Var| frame.node(var);
        let found = |at: ExpandedCall| {
            let root = self.operand_root(at.call, operand.root)?;
            let var = args.iter().copied().find(|&var| node(var) == Some(root));
            let objects = at.this.filter(|_| operand.root == Root::This).unwrap_or(root);
            Some((var, self.members(self.node(objects).clone(), &operand.path)))
        };
        self.expanded_at(act, stmt).filter(|at| at.model == model).filter_map(found).collect()
    }

    /// The one object of a class that models name without making it, as `the java.awt.EventQueue`. Once there is one, it
    /// stays the same.
    pub fn the_object(&self, class: ClassId) -> Option<Obj> {
        let ctx = self.contexts.get(&Context::Shared)?;
        self.objects.get(&Object { site: Site::The, ctx, class })
    }

    /// What is held at the end of a path from objects.
    fn members(&self, mut objects: IdSet<Obj>, path: &[Member]) -> IdSet<Obj> {
        for member in path {
            let bases = objects;
            objects = IdSet::new();
            for base in bases.iter() {
                if let Some(slot) = self.member(base, member) {
                    objects.union_with(self.held(slot));
                }
            }
        }
        objects
    }

    fn member(&self, base: Obj, member: &Member) -> Option<Slot> {
        match member {
            Member::Elements => Some(Slot::Elements(base)),
            Member::Model(name) => self.model_field(name).map(|field| Slot::Field(base, field)),
        }
    }

    /// Objects from which a model's operand leads to `obj` at a call statement: `obj` itself if it has no path.
    pub fn holders(&self, act: Act, stmt: StmtId, operand: &Operand, obj: Obj) -> IdSet<Obj> {
        let roots = self.operand(act, stmt, &Operand { root: operand.root, path: Vec::new() });
        let leads = |root: &Obj| {
            let mut objects = IdSet::from_iter([*root]);
            for member in &operand.path {
                let slots = objects.iter().filter_map(|base| self.member(base, member));
                objects = slots.flat_map(|slot| self.held(slot).iter()).collect();
            }
            objects.contains(obj)
        };
        roots.iter().filter(leads).collect()
    }

    /// Does the variable hold all objects that the root of a model's operand denotes at a call statement?
    pub fn holds_operand(&self, act: Act, stmt: StmtId, root: Root, var: Var) -> bool {
        let own = self.frames[act].node(var);
        let mut roots = self.operand_roots(act, stmt, root);
        roots.all(|node| Some(node) == own || self.node(node).is_subset(self.pts(act, var)))
    }

    fn operand_roots(&self, act: Act, stmt: StmtId, root: Root) -> impl Iterator<Item = Node> + '_ {
        self.expanded_at(act, stmt).filter_map(move |at| self.operand_root(at.call, root))
    }

    fn expanded_at(&self, act: Act, stmt: StmtId) -> impl Iterator<Item = ExpandedCall> + '_ {
        self.note_body(act);
        note(Read::of(Kind::Models, act));
        let place = self.place_ids.get(&(act, stmt));
        place.into_iter().flat_map(|&place| self.places[place].expanded.iter().copied())
    }

    fn operand_root(&self, id: CallId, root: Root) -> Option<Node> {
        let call = &self.calls[id];
        match root {
            Root::This if call.has_receiver => call.args[0],
            Root::Param(n) => call.args.get(n as usize + usize::from(call.has_receiver)).copied().flatten(),
            Root::Ret => call.dst.or(call.unkept),
            Root::This | Root::Temp(_) => None,
        }
    }

    /// Activations that run in place at this statement, ascending. Class initialisers are not among them.
    pub fn callees(&self, act: Act, stmt: StmtId) -> &[Act] {
        note(Read::of(Kind::Callees, act));
        let callees = &self.callees[act];
        let from = callees.stmts.partition_point(|&s| s < stmt);
        let to = callees.stmts.partition_point(|&s| s <= stmt);
        &callees.acts[from..to]
    }

    /// All `(statement, callee)` of an activation, sorted.
    pub fn calls(&self, act: Act) -> impl Iterator<Item = (StmtId, Act)> + '_ {
        note(Read::of(Kind::Callees, act));
        let callees = &self.callees[act];
        callees.stmts.iter().copied().zip(callees.acts.iter().copied())
    }

    /// Statements that run this activation in place, sorted.
    pub fn callers(&self, act: Act) -> &[(Act, StmtId)] {
        note(Read::of(Kind::Callers, act));
        &self.callers[act]
    }

    /// Models expanded at a call statement, ascending.
    pub fn models_at(&self, act: Act, stmt: StmtId) -> &[ModelId] {
        self.note_body(act);
        note(Read::of(Kind::Models, act));
        self.place_ids.get(&(act, stmt)).map_or(&[], |&place| self.places[place].models.as_slice())
    }

    /// Objects handed to code that is not analysed, at the statements where it is taken to call them back.
    pub fn called_back(&self) -> impl Iterator<Item = (Act, StmtId, Obj)> + '_ {
        note(Read::all(Kind::CalledBack));
        self.called_back.iter().map(|&(place, obj)| {
            let Placed { act, stmt, .. } = self.places[place];
            (act, stmt, obj)
        })
    }

    /// Sorted.
    pub fn spawns(&self) -> &[SpawnEdge] {
        note(Read::all(Kind::Roots));
        &self.spawns
    }

    /// Entry points (`main` and what the user named).
    pub fn entries(&self) -> &[Act] {
        note(Read::all(Kind::Roots));
        &self.entries
    }

    /// Class initialisers that may run, and the JVM's own start-up.
    pub fn initializers(&self) -> &[Act] {
        note(Read::all(Kind::Roots));
        &self.initializers
    }

    /// What was not looked into.
    pub fn gaps(&self, program: &Program) -> Gaps {
        let mut gaps = Gaps {
            merged_origins: self.merged_origins,
            is_cut: self.refused.is_some(),
            left_out: self.left_out.clone(),
            ..Gaps::default()
        };
        let at = |place: Place| (self.acts[self.places[place].act].method, self.places[place].stmt);
        for &leaf in &self.gaps {
            match leaf {
                Leaf::Opaque(_, method) => {
                    *gaps.opaque_calls.entry(program.method(method).class).or_default() += 1
                }
                Leaf::Native(method) => _ = gaps.native_calls.insert(method),
                Leaf::Reflective(place) => _ = gaps.reflective_calls.insert(at(place)),
                Leaf::Dynamic(place) => _ = gaps.dynamic_calls.insert(at(place)),
                Leaf::Unresolved(place) => _ = gaps.unresolved_calls.insert(at(place)),
                Leaf::Calls(..)
                | Leaf::Spawns { .. }
                | Leaf::Expands(..)
                | Leaf::Initializer(_)
                | Leaf::Entry(_)
                | Leaf::Locks(_)
                | Leaf::CalledBack(..) => {}
            }
        }
        let is_of_dependency = |class: &ClassId| program.class(*class).layer == Layer::Library;
        gaps.opaque_dependencies = gaps.is_cut && gaps.opaque_calls.keys().any(is_of_dependency);
        gaps
    }

    pub fn facts(&self) -> u64 {
        self.graph.flow.facts
    }

    /// Of those that point to anything.
    pub fn variable_count(&self) -> usize {
        self.graph.flow.nodes.iter().filter(|(_, pointer)| !pointer.pts.is_empty()).count()
    }

    /// The solution without contexts, if it was kept.
    pub fn survey(&self) -> Option<&PointsTo> {
        self.survey.as_deref()
    }

    pub fn edge_count(&self) -> usize {
        self.graph.edge_count()
    }

    fn model_field(&self, name: &str) -> Option<FieldId> {
        self.model_fields.get(name).copied()
    }
}
