//! Models at work: the steps of a modelled method become constraints in terms of the call's own values.
//! Steps about order and locks mean nothing here; later stages read them.

use crate::graph::{CallId, Node, Use};
use crate::solver::Solver;
use crate::state::{Call, ExpandedCall, Frame, Target};
use crate::types::*;
use ir::{Body, ClassId, Const, FieldId, MethodId, StmtId, StmtKind, Var};
use models::{Member, ModelId, Operand, Root, Source, Spawn, Step};
use rustc_hash::FxHashMap;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
        let key = (call, model, self.program.method(method).selector, assigns);
        let known = self.state.expanded.get(&key).copied();
        let this = known.unwrap_or_else(|| receiver.map(|_| self.state.graph.add_node()));
        if let (Some(this), Some(receiver)) = (this, receiver) {
            self.state.graph.add_fact(this, receiver);
        }
        if known.is_some() {
            return;
        }
        self.state.expanded.insert(key, this);
        let Call { act, stmt, .. } = self.state.calls[call];
        self.state.expansions.entry((act, stmt)).or_default().push(model);
        let at = ExpandedCall { model, call, this };
        self.state.expanded_calls.entry((act, stmt)).or_default().push(at);
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
    pub(crate) fn expand_inside(&mut self, act: Act, model: ModelId, method: MethodId) {
        let Frame { shape, ret, .. } = self.state.frames[act].clone();
        let Some(body) = shape.body.as_ref().filter(|_| self.state.expanded_inside.insert((act, model)))
        else {
            return;
        };
        let call = self.new_call(Call {
            act,
            stmt: StmtId(0),
            target: Target::Fixed(method),
            args: body.params.iter().map(|&param| self.var(act, param)).collect(),
            has_receiver: self.program.method(method).access & ir::access::STATIC == 0,
            dst: Some(ret),
            spawn: None,
            lambda: None,
            by_model: true,
        });
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
                    self.state.graph.add_use(handle, Use::HandleStore { base, src });
                }
            }
            Step::StoreUnsafe { base, src } => {
                if let (Some(base), Some(src)) = (self.value(at, base), self.value(at, src)) {
                    self.state.graph.add_use(base, Use::UnsafeStore { src });
                }
            }
            Step::Escape { value } => {
                let class = match value.root {
                    Root::Param(n) => self.declared_param(at.method, n),
                    _ => None,
                };
                if let (Some(node), Some(class)) = (self.value(at, value), class) {
                    self.state.graph.add_use(node, Use::Escape { call: at.call, class });
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
                self.state.graph.add_fact(to, obj);
            }
            Source::NewResult => {
                if let Some(class) = self.program.method(at.method).result {
                    let obj = self.model_object(call, n, class);
                    self.state.graph.add_fact(to, obj);
                }
            }
            Source::The { class, .. } => {
                let class = self.program.class_id(&class.replace('.', "/"));
                let obj = self.object(Object { site: Site::The, ctx: self.shared, class });
                self.state.graph.add_fact(to, obj);
            }
            Source::Copy(operand) => {
                if let Some(from) = self.value(at, operand) {
                    self.state.graph.add_use(from, Use::Copy { call, dst: to, step: n });
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
                        self.state.graph.add_fact(to, literal);
                    }
                    None => self.reflective(call),
                }
            }
            Source::InstanceOf(operand) => {
                if let Some(from) = self.value(at, operand) {
                    self.state.graph.add_use(from, Use::Instantiate { call, dst: to, step: n });
                }
            }
            Source::ClassOf(operand) => {
                if let Some(from) = self.value(at, operand) {
                    self.state.graph.add_use(from, Use::ClassOf { dst: to });
                }
            }
            Source::Services(operand) => {
                if let Some(from) = self.value(at, operand) {
                    self.state.graph.add_use(from, Use::Services { call, dst: to, step: n });
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
                self.state.graph.add_fact(to, obj);
            }
            Source::LoadHandle { handle, base } => {
                if let (Some(handle), Some(base)) = (self.value(at, handle), self.value(at, base)) {
                    self.state.graph.add_use(handle, Use::HandleLoad { base, dst: to });
                }
            }
            Source::LoadUnsafe(operand) => {
                if let Some(base) = self.value(at, operand) {
                    self.state.graph.add_use(base, Use::UnsafeLoad { dst: to });
                }
            }
            Source::CurrentThread | Source::Opaque => {
                if let Some(class) = self.program.method(at.method).result {
                    let obj = self.opaque_object(class);
                    self.state.graph.add_fact(to, obj);
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
        let Call { act, stmt, by_model, .. } = self.state.calls[at.call];
        let name = self.program.names.intern(method);
        let mut nodes = vec![Some(this)];
        for arg in args {
            let node = self.value(at, arg);
            nodes.push(node);
        }
        let target = Target::Named(name, args.len() as u8);
        let call = Call {
            act,
            stmt,
            target,
            args: nodes,
            has_receiver: true,
            dst,
            spawn,
            lambda: None,
            by_model: true,
        };
        if by_model {
            self.nested_call(at, call);
        } else {
            let call = self.new_call(call);
            self.state.graph.add_use(this, Use::Receive(call));
        }
    }

    /// What a step calls where a model's call is expanded is one call per statement, with the values of all:
    /// models that call each other would go on forever.
    fn nested_call(&mut self, at: &Expansion, call: Call) {
        let key = (call.act, call.stmt, at.model, at.step, call.spawn);
        let merged = match self.state.nested_calls.get(&key) {
            Some(&merged) => merged,
            None => {
                let args: Vec<_> = call.args.iter().map(|_| Some(self.state.graph.add_node())).collect();
                let dst = call.dst.map(|_| self.state.graph.add_node());
                let this = args[0];
                let merged = self.new_call(Call { args, dst, ..call.clone() });
                self.state.nested_calls.insert(key, merged);
                if let Some(this) = this {
                    self.state.graph.add_use(this, Use::Receive(merged));
                }
                merged
            }
        };
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

    /// The node holding an operand's value; `None` for primitives.
    fn value(&mut self, at: &mut Expansion, operand: &Operand) -> Option<Node> {
        let mut node = self.root(at, operand.root)?;
        for member in &operand.path {
            let dst = self.state.graph.add_node();
            let use_ = match member {
                Member::Elements => Use::LoadElem { dst },
                Member::Model(name) => Use::Load { field: self.model_field(name), dst },
            };
            self.state.graph.add_use(node, use_);
            node = dst;
        }
        Some(node)
    }

    /// A node whose content flows into the operand.
    fn destination(&mut self, at: &mut Expansion, operand: &Operand) -> Node {
        let Some((last, path)) = operand.path.split_last() else {
            return self.root(at, operand.root).unwrap_or_else(|| self.state.graph.add_node());
        };
        let src = self.state.graph.add_node();
        let base = Operand { root: operand.root, path: path.to_vec() };
        if let Some(base) = self.value(at, &base) {
            let use_ = match last {
                Member::Elements => Use::StoreElem { src },
                Member::Model(name) => Use::Store { field: self.model_field(name), src },
            };
            self.state.graph.add_use(base, use_);
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
                    let (ret, dst) = (self.state.graph.add_node(), self.result(at.call));
                    self.edge(ret, dst, None);
                    at.ret = Some(ret);
                    ret
                }
            }),
            Root::Temp(n) => Some(match at.temps.get(&n) {
                Some(&node) => node,
                None => {
                    let node = self.state.graph.add_node();
                    at.temps.insert(n, node);
                    node
                }
            }),
        }
    }

    /// Where the result of a call goes. One that nobody keeps still has to exist: futures and threads are found
    /// through it.
    fn result(&mut self, call: CallId) -> Node {
        if let Some(dst) = self.state.calls[call].dst.or(self.state.unkept.get(&call).copied()) {
            return dst;
        }
        let dst = self.state.graph.add_node();
        self.state.unkept.insert(call, dst);
        dst
    }

    pub(crate) fn model_object(&mut self, call: CallId, step: u16, class: ClassId) -> Obj {
        let Call { act, stmt, .. } = self.state.calls[call];
        let Activation { ctx, method } = self.state.acts[act];
        self.new_object(ctx, Site::Model(method, stmt, step), class)
    }

    pub(crate) fn reflective(&mut self, call: CallId) {
        let Call { act, stmt, .. } = self.state.calls[call];
        self.state.gaps.reflective_calls.insert((self.state.acts[act].method, stmt));
    }

    fn declared_param(&self, method: MethodId, n: u8) -> Option<ClassId> {
        let info = self.program.method(method);
        let shift = usize::from(info.access & ir::access::STATIC == 0);
        info.params.get(usize::from(n) + shift).copied().flatten()
    }

    /// The variable behind an operand of the statement's own call, with the body it belongs to.
    fn operand_var(&self, call: CallId, operand: &Operand) -> Option<(std::sync::Arc<Body>, Var)> {
        let Call { act, stmt, .. } = self.state.calls[call];
        if self.state.own_calls.get(&(act, stmt)) != Some(&call) {
            return None;
        }
        let body = self.state.frames[act].shape.body.clone()?;
        let StmtKind::Call { args, .. } = &body.stmts[stmt].kind else { return None };
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
