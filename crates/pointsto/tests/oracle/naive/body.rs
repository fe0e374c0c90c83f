//! One rule per statement.

use super::{Call, Gap, Kind, Naive, Place, Target};
use ir::{Body, CallKind, Const, MethodRef, OBJECT_CLASS, StmtId, StmtKind, Var};
use pointsto::{Activation, LambdaTarget, Object, Site, Slot};

impl Naive<'_> {
    pub(super) fn run_body(&mut self, act: Activation) {
        let Some(body) = self.body(act.method) else { return };
        for (stmt, info) in body.stmts.iter() {
            self.run_stmt(act, &body, stmt, &info.kind);
        }
    }

    fn run_stmt(&mut self, act: Activation, body: &Body, stmt: StmtId, kind: &StmtKind) {
        let at = |var: Var| if body.vars[var].is_ref { Place::Var(act, var) } else { Place::Nothing };
        let site = Site::Alloc(act.method, stmt);
        match kind {
            // x = new C  ⟹  o ∈ x
            &StmtKind::New { dst, class } => {
                self.initialise(class);
                let obj = self.new_object(act.ctx, site, class);
                self.add(&at(dst), obj);
            }
            &StmtKind::NewArray { dst, class, empty } => {
                let obj = self.new_object(act.ctx, site, class);
                self.add(&at(dst), obj);
                if empty {
                    self.empty.insert(obj);
                }
            }
            StmtKind::Const { dst, value } => self.run_const(&at(*dst), value),
            // x = y  ⟹  y → x
            &StmtKind::Copy { dst, src } => self.flow(&at(src), &at(dst), None),
            &StmtKind::Cast { dst, src, class } => self.flow(&at(src), &at(dst), Some(class)),
            StmtKind::Phi { dst, srcs } => {
                for &src in srcs {
                    self.flow(&at(src), &at(*dst), None);
                }
            }
            // Whatever is thrown in a context is caught by every handler of its type there.
            &StmtKind::Throw { value } => {
                let throwable = self.program.class_id("java/lang/Throwable");
                self.flow(&at(value), &self.thrown(act.ctx), Some(throwable));
            }
            &StmtKind::Catch { dst, class } => self.flow(&self.thrown(act.ctx), &at(dst), class),
            // x = y.f, o ∈ y  ⟹  o.f → x
            &StmtKind::Load { dst, base, field } => {
                if let Some(field) = self.program.resolve_field(field) {
                    self.flow(&Place::Field(Box::new(at(base)), field), &at(dst), None);
                }
            }
            // x.f = y, o ∈ x  ⟹  y → o.f
            &StmtKind::Store { base, field, src } => {
                if let Some(field) = self.program.resolve_field(field) {
                    self.flow(&at(src), &Place::Field(Box::new(at(base)), field), None);
                }
            }
            &StmtKind::LoadStatic { dst, field } => {
                if let Some(field) = self.program.resolve_field(field) {
                    self.initialise(self.program.field(field).class);
                    self.flow(&Place::Slot(Slot::Static(field)), &at(dst), None);
                }
            }
            &StmtKind::StoreStatic { field, src } => {
                if let Some(field) = self.program.resolve_field(field) {
                    let info = self.program.field(field);
                    let (class, filter) = (info.class, info.class_of);
                    self.initialise(class);
                    self.flow(&at(src), &Place::Slot(Slot::Static(field)), filter);
                }
            }
            &StmtKind::LoadElem { dst, base, .. } => {
                self.flow(&Place::Elements(Box::new(at(base))), &at(dst), None);
            }
            &StmtKind::StoreElem { base, src, .. } => {
                self.flow(&at(src), &Place::Elements(Box::new(at(base))), None);
            }
            StmtKind::Call { dst, kind, target, args } => {
                let args = args.iter().map(|&arg| at(arg)).collect();
                let dst = dst.map(at).filter(|dst| *dst != Place::Nothing);
                self.run_call(act, stmt, *kind, *target, args, dst);
            }
            // An object that remembers what to run, and with which captured values.
            StmtKind::Lambda { dst, interface, selector, target, target_kind, captures } => {
                let ctx = self.heap_ctx(act.ctx, site);
                let obj = self.object(Object { site, ctx, class: *interface });
                let lambda = LambdaTarget {
                    selector: *selector,
                    target: *target,
                    kind: *target_kind,
                    captures: captures.len() as u32,
                };
                self.lambdas.insert(obj, lambda);
                for (n, &capture) in captures.iter().enumerate() {
                    let slot = self.capture(obj, n);
                    self.flow(&at(capture), &slot, None);
                }
                self.add(&at(*dst), obj);
            }
            // A string comes out, and everything that goes in is asked for its own.
            StmtKind::Concat { dst, args } => {
                let string = self.string();
                self.add(&at(*dst), string);
                let selector = self.program.selector("toString", "()Ljava/lang/String;");
                for &arg in args {
                    self.make(Call {
                        act,
                        stmt,
                        kind: Kind::Derived,
                        target: Target::Virtual(MethodRef { class: OBJECT_CLASS, selector }),
                        args: vec![at(arg)],
                        has_receiver: true,
                        dst: None,
                        spawn: None,
                        lambda: None,
                    });
                }
            }
            StmtKind::RecordMethod { dst, .. } => {
                let string = self.string();
                self.add(&at(*dst), string);
            }
            &StmtKind::Dynamic { dst, class, .. } => {
                self.gap(Gap::Dynamic(act.method, stmt));
                if let (Some(dst), Some(class)) = (dst, class) {
                    let obj = self.outside_object(class);
                    self.add(&at(dst), obj);
                }
            }
            &StmtKind::Return { value: Some(value) } => {
                let filter = self.program.method(act.method).result;
                self.flow(&at(value), &Place::Result(act), filter);
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

    fn run_const(&mut self, dst: &Place, value: &Const) {
        let obj = match *value {
            Const::Null | Const::Int(_) | Const::Float => return,
            Const::String(_) => self.string(),
            Const::Class(class) => self.literal(class),
            Const::Other(class) => self.outside_object(class),
            Const::MethodHandle(_) => {
                let class = self.program.class_id("java/lang/invoke/MethodHandle");
                self.outside_object(class)
            }
        };
        self.add(dst, obj);
    }

    fn run_call(
        &mut self,
        act: Activation,
        stmt: StmtId,
        kind: CallKind,
        target: MethodRef,
        args: Vec<Place>,
        dst: Option<Place>,
    ) {
        let has_receiver = kind != CallKind::Static;
        let mut call = Call {
            act,
            stmt,
            kind: Kind::Own,
            target: Target::Virtual(target),
            args,
            has_receiver,
            dst,
            spawn: None,
            lambda: None,
        };
        if kind != CallKind::Virtual {
            match self.program.resolve_method(target) {
                Some(method) => call.target = Target::Fixed(method),
                None => return self.unresolved(&call, target.selector),
            }
        }
        self.make(call);
    }
}
