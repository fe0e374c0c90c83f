//! Models at work: the steps of a modelled method become constraints in terms of the call's own values.
//! Steps about order and locks mean nothing here; later stages read them.

use crate::graph::{CallId, Node, Use};
use crate::rule::{Leaf, Rule, RuleId};
use crate::solver::Solver;
use crate::state::{Call, ExpandedCall, Frame, Home, Placed, Target};
use crate::types::*;
use ir::{Body, ClassId, Const, FieldId, MethodId, StmtId, StmtKind, Var};
use models::{Member, ModelId, Operand, Root, Source, Spawn, Step};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// One expansion in progress: the call, and the model's own values.
struct Expansion {
    call: CallId,
    model: ModelId,
    step: u16,
    method: MethodId,
    /// The receivers that this method is called on: other objects that get to the call run other methods.
    this: Option<Node>,
    /// What this method returns, once it is asked for.
    ret: Option<Node>,
    temps: FxHashMap<u8, Node>,
}

/// Where the assignments of a model are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Assigns {
    /// At the call: the model stands for the method, or its code is shared by many callers.
    AtCall,
    /// In the code of the one container it belongs to, where the containers that others call it on are not mixed in.
    Inside,
}

impl Solver<'_> {
    pub(crate) fn expand(
        &mut self,
        call: CallId,
        model: ModelId,
        method: MethodId,
        receiver: Option<Obj>,
        assigns: Assigns,
    ) {
        let selector = self.program.method(method).selector;
        let rule = self.state.rules.id(Rule::Expanded(call, model, selector, assigns));
        self.state.rules.held[rule].method.get_or_insert(method);
        if let Some(receiver) = receiver {
            let this = self.node_of(rule, 0);
            self.fact(this, receiver);
        }
        self.rule(Rule::Expanded(call, model, selector, assigns));
    }

    pub(crate) fn run_expanded(
        &mut self,
        rule: RuleId,
        call: CallId,
        model: ModelId,
        method: Option<MethodId>,
        assigns: Assigns,
    ) {
        let Some(method) = method else { return };
        let this = self.state.rules.held[rule].nodes.first().copied();
        // The first of its nodes is for the receivers, if it has any.
        self.now.nodes = usize::from(this.is_some());
        let place = self.state.calls[call].place;
        self.leaf(Leaf::Expands(place, ExpandedCall { model, call, this }));
        // Beside a body the result is the body's.
        let ret = self.models.model(model).keep_body.then(|| self.result(call));
        let mut expansion =
            Expansion { call, model, step: 0, method, this, ret, temps: FxHashMap::default() };
        let steps = self.models.model(model).steps.clone();
        for (n, step) in steps.iter().enumerate() {
            if assigns == Assigns::AtCall || !matches!(step, Step::Assign { .. }) {
                expansion.step = n as u16;
                self.expand_step(&mut expansion, model, n as u16, step);
            }
        }
    }

    /// The assignments of a model beside the code it says more about, in terms of that code's parameters.
    pub(crate) fn run_expanded_inside(&mut self, act: Act, model: ModelId) {
        let Frame { shape, ret, .. } = self.state.frames[act].clone();
        let method = self.state.acts[act].method;
        let Some(body) = shape.body.as_ref() else { return };
        let place = self.place(act, StmtId(0));
        let args = body.params.iter().map(|&param| self.var(act, param)).collect();
        let has_receiver = self.program.method(method).access & ir::access::STATIC == 0;
        let call = Call::new(place, Target::Fixed(method), args, has_receiver);
        let call = self.own_call(Call { dst: Some(ret), by_model: true, ..call });
        let mut expansion = Expansion {
            call,
            model,
            step: 0,
            method,
            this: None,
            ret: Some(ret),
            temps: FxHashMap::default(),
        };
        let steps = self.models.model(model).steps.clone();
        for (n, step) in steps.iter().enumerate() {
            if let Step::Assign { dst, src } = step {
                self.expand_assign(&mut expansion, n as u16, dst, src);
            }
        }
    }

    fn expand_step(&mut self, at: &mut Expansion, model: ModelId, n: u16, step: &Step) {
        match step {
            Step::Assign { dst, src } => self.expand_assign(at, n, dst, src),
            Step::Call { dst, receiver, method, args } => {
                let result = dst.as_ref().map(|dst| self.destination(at, dst));
                // A modelled method that is spawned runs what it calls in the new origin.
                let spawn = self.state.calls[at.call].spawn;
                self.expand_call(at, receiver, method, args, result, spawn);
            }
            Step::Spawn(spawn) => self.expand_spawn(at, model, n, spawn),
            Step::StoreHandle { handle, base, src } => {
                if let (Some(handle), Some(base), Some(src)) =
                    (self.value(at, handle), self.value(at, base), self.value(at, src))
                {
                    self.on(handle, Use::HandleStore { base, src });
                }
            }
            Step::StoreUnsafe { base, src } => {
                if let (Some(base), Some(src)) = (self.value(at, base), self.value(at, src)) {
                    self.on(base, Use::UnsafeStore { src });
                }
            }
            Step::Escape { value } => {
                let class = match value.root {
                    Root::Param(n) => self.declared_param(at.method, n),
                    _ => None,
                };
                if let (Some(node), Some(class)) = (self.value(at, value), class) {
                    self.on(node, Use::Escape { call: at.call, class });
                }
            }
            Step::Join { .. }
            | Step::Covers { .. }
            | Step::Permits { .. }
            | Step::JoinAll { .. }
            | Step::Acquire { .. }
            | Step::Release { .. }
            | Step::View { .. }
            | Step::Signal { .. }
            | Step::Await { .. }
            | Step::Read { .. }
            | Step::Write { .. }
            | Step::Give { .. }
            | Step::Take { .. }
            | Step::PerThread { .. }
            | Step::Pause
            | Step::Publish { .. } => {}
        }
    }

    fn expand_assign(&mut self, at: &mut Expansion, n: u16, dst: &Operand, src: &Source) {
        let to = self.destination(at, dst);
        let call = at.call;
        match src {
            Source::Value(operand) => {
                if let Some(from) = self.value(at, operand) {
                    self.edge(from, to, None);
                }
            }
            Source::New { class, .. } => {
                let class = self.program.class_id(&class.replace('.', "/"));
                let obj = self.model_object(call, n, class);
                self.fact(to, obj);
            }
            Source::NewResult => {
                if let Some(class) = self.program.method(at.method).result {
                    let obj = self.model_object(call, n, class);
                    self.fact(to, obj);
                }
            }
            Source::The { class, .. } => {
                let class = self.program.class_id(&class.replace('.', "/"));
                let obj = self.object(Object { site: Site::The, ctx: self.shared, class });
                self.fact(to, obj);
            }
            Source::Copy(operand) => {
                if let Some(from) = self.value(at, operand) {
                    self.on(from, Use::Copy { call, dst: to, step: n });
                }
            }
            Source::ClassNamed(operand) => {
                match self
                    .constant_string(at, operand)
                    .map(|name| self.program.class_id(&name.replace('.', "/")))
                {
                    Some(class) => {
                        self.initialise(class);
                        let literal = self.literal(class);
                        self.fact(to, literal);
                    }
                    None => self.reflective(call),
                }
            }
            Source::InstanceOf(operand) => {
                if let Some(from) = self.value(at, operand) {
                    self.on(from, Use::Instantiate { call, dst: to, step: n });
                }
            }
            Source::ClassOf(operand) => {
                if let Some(from) = self.value(at, operand) {
                    self.on(from, Use::ClassOf { dst: to });
                }
            }
            Source::Services(operand) => {
                if let Some(from) = self.value(at, operand) {
                    self.on(from, Use::Services { call, dst: to, step: n });
                }
            }
            Source::FieldHandle { class, name } => {
                let field = self.constant_field(at, class, name);
                let result = self.program.method(at.method).result.unwrap_or(self.names.object);
                let obj = self.model_object(call, n, result);
                match field {
                    Some(field) => {
                        self.state.handles.insert(obj, field);
                    }
                    None => self.reflective(call),
                }
                self.fact(to, obj);
            }
            Source::LoadHandle { handle, base } => {
                if let (Some(handle), Some(base)) = (self.value(at, handle), self.value(at, base)) {
                    self.on(handle, Use::HandleLoad { base, dst: to });
                }
            }
            Source::LoadUnsafe(operand) => {
                if let Some(base) = self.value(at, operand) {
                    self.on(base, Use::UnsafeLoad { dst: to });
                }
            }
            Source::CurrentThread | Source::Opaque => {
                if let Some(class) = self.program.method(at.method).result {
                    let obj = self.opaque_object(class);
                    self.fact(to, obj);
                }
            }
        }
    }

    fn expand_spawn(&mut self, at: &mut Expansion, model: ModelId, n: u16, spawn: &Spawn) {
        let result = spawn.result.as_ref().map(|result| self.destination(at, result));
        let in_place = spawn.when_parallel && !self.is_parallel_stream(at.call);
        let origin = (!in_place).then_some((model, n));
        self.expand_call(at, &spawn.receiver, &spawn.method, &spawn.args, result, origin);
    }

    fn expand_call(
        &mut self,
        at: &mut Expansion,
        receiver: &Operand,
        method: &str,
        args: &[Operand],
        dst: Option<Node>,
        spawn: Option<(ModelId, u16)>,
    ) {
        let Some(this) = self.value(at, receiver) else { return };
        let Call { place, by_model, .. } = self.state.calls[at.call];
        let name = self.program.names.intern(method);
        let mut nodes = vec![Some(this)];
        for arg in args {
            let node = self.value(at, arg);
            nodes.push(node);
        }
        let target = Target::Named(name, args.len() as u8);
        let call = Call { dst, spawn, by_model: true, ..Call::new(place, target, nodes, true) };
        if by_model {
            self.nested_call(at, call);
        } else {
            let call = self.own_call(call);
            self.on(this, Use::Receive(call));
        }
    }

    /// What a step calls where a model's call is expanded is one call per statement, with the values of all:
    /// models that call each other would go on forever.
    fn nested_call(&mut self, at: &Expansion, call: Call) {
        let rule = self.rule(Rule::Nested(call.place, at.model, at.step, call.spawn));
        let known = self.state.rules.held[rule].calls.first().copied();
        let merged = known.unwrap_or_else(|| {
            let args: Vec<_> = (0..call.args.len()).map(|n| Some(self.node_of(rule, n))).collect();
            let dst = call.dst.map(|_| self.node_of(rule, call.args.len()));
            let merged = self.state.new_call(Call { args, dst, ..call.clone() });
            self.state.rules.held[rule].calls.push(merged);
            merged
        });
        let Call { args, dst, .. } = self.state.calls[merged].clone();
        for (from, to) in call.args.into_iter().zip(args) {
            if let (Some(from), Some(to)) = (from, to) {
                self.edge(from, to, None);
            }
        }
        if let (Some(from), Some(to)) = (dst, call.dst) {
            self.edge(from, to, None);
        }
    }

    pub(crate) fn run_nested(&mut self, rule: RuleId) {
        let Some(&call) = self.state.rules.held[rule].calls.first() else { return };
        if let Some(&Some(this)) = self.state.calls[call].args.first() {
            self.on(this, Use::Receive(call));
        }
    }

    /// The node holding an operand's value; `None` for primitives.
    fn value(&mut self, at: &mut Expansion, operand: &Operand) -> Option<Node> {
        let mut node = self.root(at, operand.root)?;
        for member in &operand.path {
            let dst = self.own_node();
            let use_ = match member {
                Member::Elements => Use::LoadElem { dst },
                Member::Model(name) => Use::Load { field: self.model_field(name), dst },
            };
            self.on(node, use_);
            node = dst;
        }
        Some(node)
    }

    /// A node whose content flows into the operand.
    fn destination(&mut self, at: &mut Expansion, operand: &Operand) -> Node {
        let Some((last, path)) = operand.path.split_last() else {
            return self.root(at, operand.root).unwrap_or_else(|| self.own_node());
        };
        let src = self.own_node();
        let base = Operand { root: operand.root, path: path.to_vec() };
        if let Some(base) = self.value(at, &base) {
            let use_ = match last {
                Member::Elements => Use::StoreElem { src },
                Member::Model(name) => Use::Store { field: self.model_field(name), src },
            };
            self.on(base, use_);
        }
        src
    }

    fn root(&mut self, at: &mut Expansion, root: Root) -> Option<Node> {
        let call = &self.state.calls[at.call];
        match root {
            Root::This => at.this.or(call.args.first().copied().flatten().filter(|_| call.has_receiver)),
            Root::Param(n) => {
                call.args.get(usize::from(n) + usize::from(call.has_receiver)).copied().flatten()
            }
            Root::Ret => Some(match at.ret {
                Some(ret) => ret,
                None => {
                    let (ret, dst) = (self.own_node(), self.result(at.call));
                    self.edge(ret, dst, None);
                    at.ret = Some(ret);
                    ret
                }
            }),
            Root::Temp(n) => Some(match at.temps.get(&n) {
                Some(&node) => node,
                None => {
                    let node = self.own_node();
                    at.temps.insert(n, node);
                    node
                }
            }),
        }
    }

    /// Where the result of a call goes. One that nobody keeps still has to exist: futures and threads are found
    /// through it.
    fn result(&mut self, call: CallId) -> Node {
        let Call { dst, unkept, .. } = self.state.calls[call];
        dst.or(unkept).unwrap_or_else(|| {
            let node = self.state.graph.add_node();
            let (_, act) = self.place_of(call);
            *self.state.homes.at(node) = Home::Act(act);
            self.state.calls[call].unkept = Some(node);
            node
        })
    }

    pub(crate) fn model_object(&mut self, call: CallId, step: u16, class: ClassId) -> Obj {
        let Placed { act, stmt, .. } = self.state.places[self.state.calls[call].place];
        let Activation { ctx, method } = self.state.acts[act];
        self.new_object(ctx, Site::Model(method, stmt, step), class)
    }

    pub(crate) fn reflective(&mut self, call: CallId) {
        let (place, _) = self.place_of(call);
        self.leaf(Leaf::Reflective(place));
    }

    fn declared_param(&self, method: MethodId, n: u8) -> Option<ClassId> {
        let info = self.program.method(method);
        let shift = usize::from(info.access & ir::access::STATIC == 0);
        info.params.get(usize::from(n) + shift).copied().flatten()
    }

    /// The variable behind an operand of the statement's own call, with the body it belongs to.
    fn operand_var(&self, call: CallId, operand: &Operand) -> Option<(std::sync::Arc<Body>, Var)> {
        let Placed { act, stmt, calls, .. } = &self.state.places[self.state.calls[call].place];
        if calls.first() != Some(&call) {
            return None;
        }
        let body = self.state.frames[*act].shape.body.clone()?;
        let StmtKind::Call { args, .. } = &body.stmts.get(*stmt)?.kind else { return None };
        let var = match operand.root {
            Root::This => *args.first()?,
            Root::Param(n) => *args.get(usize::from(n) + usize::from(self.state.calls[call].has_receiver))?,
            Root::Ret | Root::Temp(_) => return None,
        };
        operand.path.is_empty().then_some((body, var))
    }

    fn constant(&self, at: &Expansion, operand: &Operand) -> Option<Const> {
        let (body, mut var) = self.operand_var(at.call, operand)?;
        loop {
            match &body.stmts[body.vars[var].def?].kind {
                StmtKind::Const { value, .. } => return Some(value.clone()),
                &StmtKind::Copy { src, .. } | &StmtKind::Cast { src, .. } => var = src,
                _ => return None,
            }
        }
    }

    fn constant_string(&self, at: &Expansion, operand: &Operand) -> Option<String> {
        match self.constant(at, operand)? {
            Const::String(name) => Some(self.program.names[name].to_string()),
            _ => None,
        }
    }

    fn constant_field(&mut self, at: &Expansion, class: &Operand, name: &Operand) -> Option<FieldId> {
        let Const::Class(class) = self.constant(at, class)? else { return None };
        let name = self.constant_string(at, name)?;
        let fields = self.program.load(class).fields.clone();
        fields.into_iter().find(|&field| &self.program.names[self.program.field(field).name] == name.as_str())
    }

    /// Does the definition chain of the receiver contain `parallel()` or `parallelStream()`? It ends where a
    /// collection gives a stream: how the collection came to be does not matter.
    fn is_parallel_stream(&self, call: CallId) -> bool {
        let this = Operand { root: Root::This, path: Vec::new() };
        let Some((body, mut var)) = self.operand_var(call, &this) else { return false };
        // Each step goes to an earlier definition; phis end the chain.
        for _ in 0..body.vars.len() {
            let Some(def) = body.vars[var].def else { return false };
            match &body.stmts[def].kind {
                StmtKind::Call { target, args, .. } => {
                    match self.program.selector_text(target.selector).0 {
                        "parallel" | "parallelStream" => return true,
                        "sequential" | "stream" => return false,
                        _ => {}
                    }
                    let Some(&receiver) = args.first() else { return false };
                    var = receiver;
                }
                &StmtKind::Copy { src, .. } | &StmtKind::Cast { src, .. } => var = src,
                _ => return false,
            }
        }
        false
    }
}
