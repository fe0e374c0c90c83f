//! What the stages before have found out, read together: bodies with their flow, calls, and what modelled
//! calls do to order and locks. Owns indices over them; decides nothing.

use crate::bits::Bits;
use crate::branches::Edge;
use crate::components::Components;
use crate::content::{Calls, Content};
use crate::flow::{Flow, Resolver};
use crate::reach::{Throws, never_taken};
use arena::{Id, IdSet, IndexVec};
use classfile::Layer;
use ir::{
    CallKind, ClassId, Const, LambdaKind, MethodId, MethodRef, Program, Selector, StmtId, StmtKind, Var,
};
use models::{Models, Operand, Root, Step};
use pointsto::{Act, Obj, PointsTo, Slot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Variables that may hold more objects than this are not searched for lambdas.
const MOST_LAMBDAS: usize = 64;

pub struct World<'a> {
    pub program: &'a Program,
    pub models: &'a Models,
    pub pointsto: &'a PointsTo,
    pub content: Content<'a>,
    /// In the order of content.
    pub calls: Calls<'a>,
    pub components: Components,
    flows: Vec<OnceLock<Option<Arc<Flow>>>>,
    /// By method.
    never_taken: Vec<OnceLock<Vec<Edge>>>,
    resolver: Mutex<Resolver<'a>>,
    sync: IndexVec<Act, Vec<(StmtId, &'a Step)>>,
    acts_of: FxHashMap<MethodId, Vec<Act>>,
    permits: FxHashMap<Obj, Permits>,
    /// What lambdas run.
    lambda_targets: FxHashSet<Selector>,
    slots_of: OnceLock<FxHashMap<Obj, Vec<Slot>>>,
    throws: OnceLock<Throws>,
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
    pub fn new(program: &'a Program, models: &'a Models, pointsto: &'a PointsTo) -> World<'a> {
        let methods = program.methods().len();
        let content = Content::new(program, pointsto);
        let calls = Calls::new(content);
        let mut world = World {
            program,
            models,
            pointsto,
            content,
            components: Components::new(pointsto, &content, &calls),
            calls,
            flows: std::iter::repeat_with(OnceLock::new).take(methods).collect(),
            never_taken: std::iter::repeat_with(OnceLock::new).take(methods).collect(),
            resolver: Mutex::new(Resolver::new(program)),
            sync: IndexVec::new(),
            acts_of: FxHashMap::default(),
            permits: FxHashMap::default(),
            lambda_targets: FxHashSet::default(),
            slots_of: OnceLock::new(),
            throws: OnceLock::new(),
        };
        for act in pointsto.acts() {
            world.acts_of.entry(pointsto.method(act)).or_default().push(act);
            *world.sync.at(act) = world.sync_steps(act);
        }
        let lambdas = pointsto.objects().filter_map(|obj| pointsto.lambda(obj));
        world.lambda_targets = lambdas.map(|lambda| lambda.target.selector).collect();
        world.find_permits();
        world
    }

    /// The flow of an activation's body; `None` if it has none.
    pub fn flow(&self, act: Act) -> Option<&Arc<Flow>> {
        self.method_flow(self.pointsto.method(act))
    }

    pub fn method_flow(&self, method: MethodId) -> Option<&Arc<Flow>> {
        let make = || {
            let body = self.program.lowered(method)?.clone();
            Some(Arc::new(Flow::new(&mut self.resolver(), method, body)))
        };
        self.flows.get(method.index())?.get_or_init(make).as_ref()
    }

    fn resolver(&self) -> MutexGuard<'_, Resolver<'a>> {
        self.resolver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Flows made so far, by method.
    pub fn into_flows(self) -> FxHashMap<MethodId, Arc<Flow>> {
        let made = self.flows.into_iter().enumerate();
        made.filter_map(|(at, cell)| Some((MethodId::new(at), cell.into_inner()??))).collect()
    }

    pub fn acts_of(&self, method: MethodId) -> &[Act] {
        self.acts_of.get(&method).map_or(&[], Vec::as_slice)
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
        self.program.class(self.program.method(method).class).layer == Layer::Jdk
    }

    /// Steps about order and locks at the calls of an activation, by statement.
    pub fn sync(&self, act: Act) -> &[(StmtId, &'a Step)] {
        self.sync.get(act).map_or(&[], Vec::as_slice)
    }

    /// All steps of the models expanded at a statement.
    pub fn steps(&self, act: Act, stmt: StmtId) -> impl Iterator<Item = &'a Step> + use<'a> {
        let models = self.models;
        self.pointsto.models_at(act, stmt).iter().flat_map(move |&id| &models.model(id).steps)
    }

    pub fn permits(&self, obj: Obj) -> Option<Permits> {
        self.permits.get(&obj).copied()
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
        self.resolver().field(field)
    }

    /// What the method declares to throw that a call names.
    pub fn declared(&self, target: MethodRef) -> &'a [ClassId] {
        let method = self.resolver().method(target);
        method.map_or(&[], |method| self.program.method(method).throws.as_slice())
    }

    /// Edges of a body that nobody ever takes.
    pub fn never_taken(&self, flow: &Flow) -> &[Edge] {
        let known = self.never_taken.get(flow.method.index());
        known.map_or(&[], |known| known.get_or_init(|| never_taken(self, flow)))
    }

    /// What is thrown on purpose.
    pub fn throws(&self) -> &Throws {
        self.throws.get_or_init(|| Throws::new(self))
    }

    /// Heap locations of an object, with what they hold.
    pub fn slots_of(&self, obj: Obj) -> impl Iterator<Item = (Slot, &IdSet<Obj>)> {
        let index = self.slots_of.get_or_init(|| {
            let mut index: FxHashMap<Obj, Vec<Slot>> = FxHashMap::default();
            for (slot, _) in self.pointsto.slots() {
                if let Slot::Field(base, _) | Slot::Elements(base) = slot {
                    index.entry(base).or_default().push(slot);
                }
            }
            index.values_mut().for_each(|slots| slots.sort_unstable());
            index
        });
        index.get(&obj).into_iter().flatten().map(|&slot| (slot, self.pointsto.held(slot)))
    }

    /// Methods that some activation runs, ascending.
    pub fn methods(&self) -> Vec<MethodId> {
        let mut methods: Vec<MethodId> = self.acts_of.keys().copied().collect();
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
        let method = self.program.method(self.pointsto.method(callee));
        if !self.lambda_targets.contains(&method.selector) {
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
        let method = self.program.method(self.pointsto.method(callee));
        self.program.selector_text(target.selector).0 != self.program.selector_text(method.selector).0
    }

    /// All acts that reach one of `from` over calls, `from` included.
    pub fn callers_of(&self, from: impl IntoIterator<Item = Act>) -> Bits {
        let mut seen = Bits::new();
        let mut left: Vec<Act> = from.into_iter().filter(|act| seen.insert(act.index())).collect();
        while let Some(act) = left.pop() {
            for &(caller, _) in self.pointsto.callers(act) {
                if seen.insert(caller.index()) {
                    left.push(caller);
                }
            }
        }
        seen
    }

    fn sync_steps(&self, act: Act) -> Vec<(StmtId, &'a Step)> {
        let mut found = Vec::new();
        let Some(body) = self.program.lowered(self.pointsto.method(act)) else { return found };
        for (stmt, info) in body.stmts.iter() {
            if !matches!(info.kind, StmtKind::Call { .. }) {
                continue;
            }
            for &model in self.pointsto.models_at(act, stmt) {
                let steps = self.models.model(model).steps.iter().filter(|step| is_sync(step));
                found.extend(steps.map(|step| (stmt, step)));
            }
        }
        found
    }

    fn find_permits(&mut self) {
        let mut permits: FxHashMap<Obj, Permits> = FxHashMap::default();
        for act in self.pointsto.acts() {
            for &(stmt, step) in self.sync(act) {
                let Step::Permits { of, count } = step else { continue };
                let count = self.operand_var(act, stmt, count).and_then(|var| self.constant(act, var));
                let kind = match count {
                    Some(0) => Permits::Order,
                    Some(1) => Permits::Lock,
                    _ => Permits::Other,
                };
                for obj in self.operand(act, stmt, of).iter() {
                    let known = *permits.entry(obj).or_insert(kind);
                    if known != kind {
                        permits.insert(obj, Permits::Other);
                    }
                }
            }
        }
        self.permits = permits;
    }
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
