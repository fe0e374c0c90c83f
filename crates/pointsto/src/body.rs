//! The constraints of a body: one rule per statement, for the activation that runs it.

use crate::graph::Use;
use crate::rule::Leaf;
use crate::solver::Solver;
use crate::state::{Call, Target};
use crate::types::*;
use ir::{CallKind, Const, MethodRef, StmtId, StmtKind, Var, access};

impl Solver<'_> {
    /// The constraints of all statements come or go.
    pub(crate) fn run_body(&mut self, act: Act) {
        self.run_lock(act);
        let Some(body) = self.state.frames[act].shape.body.clone() else { return };
        for (stmt, info) in body.stmts.iter() {
            self.run_stmt(act, stmt, &info.kind);
        }
    }

    /// A static synchronized method locks its class's literal.
    pub(crate) fn run_lock(&mut self, act: Act) {
        let info = self.program.method(self.state.acts[act].method);
        let locks = access::STATIC | access::SYNCHRONIZED;
        if info.access & locks == locks {
            let literal = self.literal(info.class);
            self.leaf(Leaf::Locks(literal));
        }
    }

    pub(crate) fn run_stmt(&mut self, act: Act, stmt: StmtId, kind: &StmtKind) {
        self.now.calls = 0;
        match kind {
            // x = new C  ⟹  o ∈ pts(x)
            &StmtKind::New { dst, class } => {
                self.initialise(class);
                self.allocate(act, stmt, dst, class);
            }
            &StmtKind::NewArray { dst, class, empty } => {
                let obj = self.allocate(act, stmt, dst, class);
                if let (Some(obj), true) = (obj, empty) {
                    self.state.empty_arrays.insert(obj);
                }
            }
            StmtKind::Const { dst, value } => self.add_const(act, *dst, value),
            // x = y  ⟹  y → x
            &StmtKind::Copy { dst, src } => self.assign(act, src, dst, None),
            &StmtKind::Cast { dst, src, class } => self.assign(act, src, dst, Some(class)),
            StmtKind::Phi { dst, srcs } => {
                for &src in srcs {
                    self.assign(act, src, *dst, None);
                }
            }
            // The exceptions of a context meet in one node; the handler's type picks.
            &StmtKind::Catch { dst, class } => {
                if let Some(dst) = self.var(act, dst) {
                    let thrown = self.exceptions(self.state.acts[act].ctx);
                    self.edge(thrown, dst, class);
                }
            }
            &StmtKind::Throw { value } => {
                if let Some(value) = self.var(act, value) {
                    let thrown = self.exceptions(self.state.acts[act].ctx);
                    self.edge(value, thrown, Some(self.names.throwable));
                }
            }
            &StmtKind::Load { dst, base, field } => {
                // Primitive fields are resolved too: later stages look at every access.
                if let Some(field) = self.program.resolve_field(field)
                    && let (Some(dst), Some(base)) = (self.var(act, dst), self.var(act, base))
                {
                    self.on(base, Use::Load { field, dst });
                }
            }
            &StmtKind::Store { base, field, src } => {
                if let Some(field) = self.program.resolve_field(field)
                    && let (Some(base), Some(src)) = (self.var(act, base), self.var(act, src))
                {
                    self.on(base, Use::Store { field, src });
                }
            }
            &StmtKind::LoadStatic { dst, field } => {
                if let Some(field) = self.program.resolve_field(field) {
                    self.initialise(self.program.field(field).class);
                    if let Some(dst) = self.var(act, dst) {
                        let slot = self.slot(Slot::Static(field));
                        self.edge(slot, dst, None);
                    }
                }
            }
            &StmtKind::StoreStatic { field, src } => {
                if let Some(field) = self.program.resolve_field(field) {
                    self.initialise(self.program.field(field).class);
                    if let Some(src) = self.var(act, src) {
                        let slot = self.slot(Slot::Static(field));
                        let filter = self.program.field(field).class_of;
                        self.edge(src, slot, filter);
                    }
                }
            }
            &StmtKind::LoadElem { dst, base, .. } => {
                if let (Some(dst), Some(base)) = (self.var(act, dst), self.var(act, base)) {
                    self.on(base, Use::LoadElem { dst });
                }
            }
            &StmtKind::StoreElem { base, src, .. } => {
                if let (Some(base), Some(src)) = (self.var(act, base), self.var(act, src)) {
                    self.on(base, Use::StoreElem { src });
                }
            }
            StmtKind::Call { dst, kind, target, args } => {
                self.add_call(act, stmt, *dst, *kind, *target, args)
            }
            StmtKind::Lambda { dst, interface, selector, target, target_kind, captures } => {
                let lambda = LambdaTarget {
                    selector: *selector,
                    target: *target,
                    kind: *target_kind,
                    captures: captures.len() as u32,
                };
                let site = Site::Alloc(self.state.acts[act].method, stmt);
                let ctx = self.heap_ctx(self.state.acts[act].ctx, site);
                let obj = self.object(Object { site, ctx, class: *interface });
                self.state.lambdas.insert(obj, lambda);
                for (n, &capture) in captures.iter().enumerate() {
                    if let Some(src) = self.var(act, capture) {
                        let field = self.model_field(&format!("capture{n}"));
                        let slot = self.slot(Slot::Field(obj, field));
                        self.edge(src, slot, None);
                    }
                }
                if let Some(dst) = self.var(act, *dst) {
                    self.fact(dst, obj);
                }
            }
            StmtKind::Concat { dst, args } => {
                let string = self.merged_object(self.names.string);
                if let Some(dst) = self.var(act, *dst) {
                    self.fact(dst, string);
                }
                self.call_to_string(act, stmt, args);
            }
            StmtKind::RecordMethod { dst, .. } => {
                if let Some(dst) = self.var(act, *dst) {
                    let string = self.merged_object(self.names.string);
                    self.fact(dst, string);
                }
            }
            &StmtKind::Dynamic { dst, class, .. } => {
                let place = self.place(act, stmt);
                self.leaf(Leaf::Dynamic(place));
                if let (Some(dst), Some(class)) = (dst.and_then(|dst| self.var(act, dst)), class) {
                    let obj = self.opaque_object(class);
                    self.fact(dst, obj);
                }
            }
            &StmtKind::Return { value: Some(value) } => {
                if let Some(value) = self.var(act, value) {
                    let ret = self.state.frames[act].ret;
                    let filter = self.program.method(self.state.acts[act].method).result;
                    self.edge(value, ret, filter);
                }
            }
            StmtKind::Return { value: None }
            | StmtKind::MonitorEnter { .. }
            | StmtKind::MonitorExit { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Branch { .. }
            | StmtKind::Switch { .. }
            | StmtKind::Nothing => {}
        }
    }

    fn assign(&mut self, act: Act, src: Var, dst: Var, filter: Option<ir::ClassId>) {
        if let (Some(src), Some(dst)) = (self.var(act, src), self.var(act, dst)) {
            self.edge(src, dst, filter);
        }
    }

    fn allocate(&mut self, act: Act, stmt: StmtId, dst: Var, class: ir::ClassId) -> Option<Obj> {
        let dst = self.var(act, dst)?;
        let Activation { ctx, method } = self.state.acts[act];
        let obj = self.new_object(ctx, Site::Alloc(method, stmt), class);
        self.fact(dst, obj);
        Some(obj)
    }

    /// The object of an allocation in a context: merged classes have one for all.
    pub(crate) fn new_object(&mut self, ctx: Ctx, site: Site, class: ir::ClassId) -> Obj {
        let traits = self.state.traits.of(self.program, self.models, class);
        if traits.merged {
            return self.merged_object(class);
        }
        let ctx = if traits.throwable { self.state.code_ctx(ctx) } else { ctx };
        let ctx = self.heap_ctx(ctx, site);
        self.object(Object { site, ctx, class })
    }

    fn add_const(&mut self, act: Act, dst: Var, value: &Const) {
        let Some(dst) = self.var(act, dst) else { return };
        let obj = match *value {
            Const::String(_) => self.merged_object(self.names.string),
            Const::Class(class) => self.literal(class),
            Const::Other(class) => self.opaque_object(class),
            Const::MethodHandle(_) => {
                let class = self.program.class_id("java/lang/invoke/MethodHandle");
                self.opaque_object(class)
            }
            Const::Null | Const::Int(_) | Const::Float => return,
        };
        self.fact(dst, obj);
    }

    fn add_call(
        &mut self,
        act: Act,
        stmt: StmtId,
        dst: Option<Var>,
        kind: CallKind,
        target: MethodRef,
        args: &[Var],
    ) {
        let nodes: Vec<_> = args.iter().map(|&arg| self.var(act, arg)).collect();
        let dst = dst.and_then(|dst| self.var(act, dst));
        let has_receiver = kind != CallKind::Static;
        let receiver = if has_receiver { nodes.first().copied().flatten() } else { None };
        let resolved = match kind {
            CallKind::Virtual => None,
            CallKind::Special | CallKind::Static => {
                let resolved = self.program.resolve_method(target);
                if resolved.is_none() {
                    let place = self.place(act, stmt);
                    self.unresolved(place, dst, target.selector);
                    return;
                }
                resolved
            }
        };
        let target = resolved.map_or(Target::Virtual(target), Target::Fixed);
        let place = self.place(act, stmt);
        let call = self.own_call(Call { dst, ..Call::new(place, target, nodes, has_receiver) });
        match (kind, receiver) {
            (CallKind::Static, _) => self.call_static(call),
            (_, Some(receiver)) => self.on(receiver, Use::Receive(call)),
            (_, None) => {}
        }
    }

    fn call_to_string(&mut self, act: Act, stmt: StmtId, args: &[Var]) {
        let selector = self.program.selector("toString", "()Ljava/lang/String;");
        for &arg in args {
            if let Some(node) = self.var(act, arg) {
                let target = Target::Virtual(MethodRef { class: self.names.object, selector });
                let args = vec![Some(node)];
                let place = self.place(act, stmt);
                let call = self.own_call(Call::new(place, target, args, true));
                self.on(node, Use::Receive(call));
            }
        }
    }
}
