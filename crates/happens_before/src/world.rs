//! What the stages before have found out, read together: bodies with their flow, calls, and what modelled
//! calls do to order and locks. Decides nothing; what it is asked is noted.

use crate::above::Callers;
use crate::branches::Edge;
use crate::components::Components;
use crate::content::{Calls, Content};
use crate::flow::Flow;
use crate::kept::{ActStep, Flows, Kept, Resolved, make_flow};
use crate::reach::Throws;
use arena::IdSet;
use classfile::Layer;
use ir::{
    CallKind, ClassId, Const, LambdaKind, MethodId, MethodRef, Program, Selector, StmtId, StmtKind, Var,
};
use models::{Models, Operand, Root, Step};
use pointsto::{Act, Obj, PointsTo, Slot};
use std::sync::Arc;
use track::{Changes, Kind, Read, note};

/// Variables that may hold more objects than this are not searched for lambdas.
const MOST_LAMBDAS: usize = 64;

/// What the stages before have found out, as it is now.
#[derive(Clone, Copy)]
pub struct World<'a> {
    pub program: &'a Program,
    pub models: &'a Models,
    pub pointsto: &'a PointsTo,
    pub content: Content<'a>,
    /// In the order of content.
    pub calls: Calls<'a>,
    pub components: &'a Components,
    kept: &'a Kept,
    resolved: &'a Resolved<'a>,
    throws: Option<&'a Throws>,
}

/// What a semaphore is used for, by its initial permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permits {
    /// One: a lock.
    Lock,
    /// None: an order.
    Order,
    /// Neither.
    Other,
}

/// A value a callee's parameter is bound to at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    pub param: usize,
    /// A variable of the caller.
    pub var: Var,
    /// The parameter is what this lambda variable has captured at this position.
    pub capture: Option<u16>,
}

impl<'a> World<'a> {
    pub fn new(
        program: &'a Program,
        models: &'a Models,
        pointsto: &'a PointsTo,
        kept: &'a Kept,
        resolved: &'a Resolved<'a>,
    ) -> World<'a> {
        let content = Content::new(program, pointsto);
        World {
            program,
            models,
            pointsto,
            content,
            calls: Calls::new(content, &kept.calls),
            components: &kept.components,
            kept,
            resolved,
            throws: None,
        }
    }

    /// The same, knowing what is thrown.
    pub fn with_throws(self, throws: &'a Throws) -> World<'a> {
        World { throws: Some(throws), ..self }
    }

    /// The flow of an activation's body; `None` if it has none.
    pub fn flow(&self, act: Act) -> Option<&'a Arc<Flow>> {
        self.method_flow(self.pointsto.method(act))
    }

    pub fn method_flow(&self, method: MethodId) -> Option<&'a Arc<Flow>> {
        note(Read::of(Kind::Body, method));
        self.kept.flows.of(method, || make_flow(self.program, &self.resolved.resolver, method))
    }

    pub fn flows(&self) -> &'a Flows {
        &self.kept.flows
    }

    pub fn acts_of(&self, method: MethodId) -> &'a [Act] {
        note(Read::of(Kind::ActsOf, method));
        self.kept.acts_of.get(&method).map_or(&[], Vec::as_slice)
    }

    /// Activations of methods whose body or declaration says something else.
    pub fn edited(&self, changes: &Changes) -> Vec<Act> {
        let methods = changes.of(Kind::Body).chain(changes.of(Kind::Method));
        methods.flat_map(|method| self.acts_of(method)).copied().collect()
    }

    pub fn is_jdk(&self, act: Act) -> bool {
        self.is_jdk_method(self.pointsto.method(act))
    }

    pub fn is_static(&self, act: Act) -> bool {
        self.program.method(self.pointsto.method(act)).is_static()
    }

    pub fn is_constructor_call(&self, flow: &Flow, stmt: StmtId) -> bool {
        match &flow.body.stmts[stmt].kind {
            StmtKind::Call { target, .. } => self.program.selector_text(target.selector).0 == "<init>",
            _ => false,
        }
    }

    pub fn is_jdk_method(&self, method: MethodId) -> bool {
        self.program.class(self.program.method_ref(method).class).layer == Layer::Jdk
    }

    /// Steps about order and locks at the calls of an activation, by statement.
    pub fn sync(&self, act: Act) -> &'a [(StmtId, &'a Step)] {
        note(Read::of(Kind::Sync, act));
        self.resolved.sync.get(&act).map_or(&[], Vec::as_slice)
    }

    fn step(&self, at: &ActStep) -> &'a Step {
        &self.models.model(at.model).steps[at.step as usize]
    }

    /// Activations with steps about order and locks, ascending.
    pub fn syncing(&self) -> impl Iterator<Item = Act> + 'a {
        note(Read::all(Kind::Sync));
        self.kept.steps.keys().copied()
    }

    /// Steps that copy an object, field by field.
    pub fn copies(&self) -> Vec<(Act, StmtId, &'a Step)> {
        note(Read::all(Kind::Sync));
        let all = self.kept.steps.iter().flat_map(|(&act, steps)| steps.iter().map(move |step| (act, step)));
        let copies = all.filter(|(_, step)| step.copies);
        copies.map(|(act, step)| (act, step.stmt, self.step(step))).collect()
    }

    /// All steps of the models expanded at a statement.
    pub fn steps(&self, act: Act, stmt: StmtId) -> impl Iterator<Item = &'a Step> + use<'a> {
        let models = self.models;
        self.pointsto.models_at(act, stmt).iter().flat_map(move |&id| &models.model(id).steps)
    }

    pub fn permits(&self, obj: Obj) -> Option<Permits> {
        note(Read::all(Kind::Permits));
        self.kept.permits.value.get(&obj).copied()
    }

    /// Do these objects, used as a lock, exclude anybody?
    pub fn are_locks(&self, objects: &IdSet<Obj>) -> bool {
        objects.iter().all(|obj| self.permits(obj).is_none_or(|permits| permits == Permits::Lock))
    }

    /// The variable a model's operand is, if it is one and the model is of the called method itself (and not of
    /// one run on its behalf).
    pub fn operand_var(&self, act: Act, stmt: StmtId, operand: &Operand) -> Option<Var> {
        if !operand.path.is_empty() {
            return None;
        }
        let flow = self.flow(act)?;
        let StmtKind::Call { dst, kind, args, .. } = &flow.body.stmts[stmt].kind else { return None };
        let receiver = usize::from(*kind != CallKind::Static);
        let var = match operand.root {
            Root::This if receiver == 1 => *args.first()?,
            Root::Param(n) => *args.get(n as usize + receiver)?,
            Root::Ret => (*dst)?,
            Root::This | Root::Temp(_) => return None,
        };
        let holds = !flow.body.vars[var].is_ref || self.pointsto.holds_operand(act, stmt, operand.root, var);
        holds.then_some(var)
    }

    pub fn operand(&self, act: Act, stmt: StmtId, operand: &Operand) -> IdSet<Obj> {
        self.pointsto.operand(act, stmt, operand)
    }

    pub fn constant(&self, act: Act, var: Var) -> Option<i64> {
        let flow = self.flow(act)?;
        match flow.definition(flow.source(var))?.1 {
            StmtKind::Const { value: Const::Int(value), .. } => Some(*value),
            _ => None,
        }
    }

    pub fn resolve_field(&self, field: ir::FieldRef) -> Option<ir::FieldId> {
        self.resolved.resolver.field(field)
    }

    /// What the method declares to throw that a call names.
    pub fn declared(&self, target: MethodRef) -> &'a [ClassId] {
        let method = self.resolved.resolver.method(target);
        method.map_or(&[], |method| self.program.method(method).throws.as_slice())
    }

    /// Edges of a body that nobody ever takes.
    pub fn never_taken(&self, flow: &Flow) -> &'a [Edge] {
        self.kept.never_taken.get(flow.method).map_or(&[], Vec::as_slice)
    }

    /// What is thrown on purpose.
    pub fn throws(&self) -> &'a Throws {
        self.throws.unwrap_or_else(|| unreachable!("throws are found out before they are asked for"))
    }

    /// Heap locations of an object that hold something, with what they hold.
    pub fn slots_of(&self, obj: Obj) -> impl Iterator<Item = (Slot, &'a IdSet<Obj>)> + use<'a> {
        note(Read::of(Kind::Slots, obj));
        let pointsto = self.pointsto;
        self.kept.slots_of.get(&obj).into_iter().flatten().map(move |&slot| (slot, pointsto.held(slot)))
    }

    /// Methods that some activation runs, ascending.
    pub fn methods(&self) -> Vec<MethodId> {
        let mut methods: Vec<MethodId> = self.kept.acts_of.keys().copied().collect();
        methods.sort_unstable();
        methods
    }

    /// What the callee's parameters are at a call: arguments, or values captured by a lambda argument.
    pub fn bindings(&self, caller: Act, stmt: StmtId, callee: Act) -> Vec<Binding> {
        let Some(flow) = self.flow(caller) else { return Vec::new() };
        let StmtKind::Call { target, args, kind, .. } = &flow.body.stmts[stmt].kind else {
            return Vec::new();
        };
        let method = self.program.method(self.pointsto.method(callee));
        let own_name = self.program.selector_text(target.selector).0;
        let name = self.program.selector_text(method.selector).0;
        let plain = |args: &[Var]| {
            let args = args.iter().enumerate();
            args.map(|(param, &var)| Binding { param, var, capture: None }).collect::<Vec<_>>()
        };
        for (at, &arg) in args.iter().enumerate() {
            let Some(captures) = self.lambda_captures(caller, arg, callee) else { continue };
            let mut bound: Vec<Binding> = (0..captures as usize)
                .map(|n| Binding { param: n, var: arg, capture: Some(n as u16) })
                .collect();
            if at == 0 && *kind == CallKind::Virtual {
                let passed = args.iter().skip(1).enumerate();
                bound.extend(passed.map(|(n, &var)| Binding {
                    param: captures as usize + n,
                    var,
                    capture: None,
                }));
            }
            return bound;
        }
        if own_name == name && method.params.len() == args.len() {
            return plain(args);
        }
        for step in self.steps(caller, stmt) {
            if let Step::Call { receiver, method: called, args, .. } = step
                && called == name
                && !method.is_static()
            {
                let operands = std::iter::once(receiver).chain(args).enumerate();
                return operands
                    .filter_map(|(param, operand)| {
                        let var = self.operand_var(caller, stmt, operand)?;
                        Some(Binding { param, var, capture: None })
                    })
                    .collect();
            }
        }
        Vec::new()
    }

    /// Is the callee what the statement itself calls, argument for parameter?
    pub fn bindings_are_plain(&self, caller: Act, stmt: StmtId, callee: Act) -> bool {
        let Some(flow) = self.flow(caller) else { return false };
        let StmtKind::Call { target, args, .. } = &flow.body.stmts[stmt].kind else { return false };
        let method = self.program.method(self.pointsto.method(callee));
        let name = |selector: Selector| self.program.selector_text(selector).0;
        (target.selector == method.selector || name(target.selector) == name(method.selector))
            && method.params.len() == args.len()
            && args.first().is_none_or(|&arg| self.lambda_captures(caller, arg, callee).is_none())
    }

    /// How many values a lambda in `var` that runs `callee` has captured.
    fn lambda_captures(&self, act: Act, var: Var, callee: Act) -> Option<u32> {
        let method = self.program.method_ref(self.pointsto.method(callee));
        note(Read::of(Kind::Lambdas, method.selector));
        if !self.kept.lambdas.contains_key(&method.selector) {
            return None;
        }
        let objects = self.pointsto.pts(act, var);
        if objects.len() > MOST_LAMBDAS {
            return None;
        }
        let captures = objects.iter().filter_map(|obj| {
            let lambda = self.pointsto.lambda(obj)?;
            let same = lambda.target.selector == method.selector
                && (lambda.target.class == method.class || lambda.kind == LambdaKind::Virtual);
            same.then_some(lambda.captures)
        });
        captures.min()
    }

    /// Callees that the statement does not name itself but a model of it runs, possibly many times.
    pub fn runs_for_model(&self, caller: Act, stmt: StmtId, callee: Act) -> bool {
        if self.pointsto.models_at(caller, stmt).is_empty() {
            return false;
        }
        let Some(flow) = self.flow(caller) else { return true };
        let StmtKind::Call { target, .. } = &flow.body.stmts[stmt].kind else { return true };
        let method = self.program.method_ref(self.pointsto.method(callee));
        self.program.selector_text(target.selector).0 != self.program.selector_text(method.selector).0
    }

    /// Statements of other components that call a member of this one.
    pub fn entering(&self, component: u32) -> Arc<[(Act, StmtId)]> {
        self.kept.entering.ask(&component, || self.components.callers(self.pointsto, component).collect())
    }

    /// All acts that reach one of `from` over calls, `from` included.
    pub fn callers_of(&self, from: impl IntoIterator<Item = Act>) -> Callers {
        self.kept.above.of(self.pointsto, from)
    }
}
