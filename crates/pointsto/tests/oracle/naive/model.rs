//! The steps of models, carried out with the values of the call they stand for.

use super::{Call, Expansion, Kind, Naive, Nested, Place, Role, Target};
use classfile::Layer;
use ir::{Body, ClassId, Const, FieldId, MethodId, OBJECT_CLASS, StmtKind, Var, access};
use models::{Member, ModelId, Operand, Root, Source, Spawn, Step};
use pointsto::{Obj, Object, Site};
use std::rc::Rc;
use std::sync::Arc;

/// What a step calls.
struct Invocation<'s> {
    receiver: &'s Operand,
    method: &'s str,
    args: &'s [Operand],
    result: Option<&'s Operand>,
}

impl Naive<'_> {
    /// At a call: all steps, or all but those that are made inside.
    pub(super) fn expand(&mut self, at: &Rc<Expansion>, receiver: Option<Obj>, is_inside: bool) {
        self.changed |= self.facts.expansions.insert((at.call.act, at.call.stmt, at.model));
        if let Some(receiver) = receiver {
            self.add(&Place::Receivers(at.clone()), receiver);
        }
        self.run_steps(at, |step| !is_inside || !matches!(step, Step::Assign { .. }));
        if at.role == Role::Instead {
            self.flow(&Place::Made(at.clone()), &result(&at.call), None);
        }
    }

    /// Only what it assigns.
    pub(super) fn assign_inside(&mut self, at: &Rc<Expansion>) {
        self.run_steps(at, |step| matches!(step, Step::Assign { .. }));
    }

    fn run_steps(&mut self, at: &Rc<Expansion>, is_taken: impl Fn(&Step) -> bool) {
        let steps = self.models.model(at.model).steps.clone();
        for (n, step) in steps.iter().enumerate().filter(|(_, step)| is_taken(step)) {
            self.run_step(at, n as u16, step);
        }
    }

    fn run_step(&mut self, at: &Rc<Expansion>, n: u16, step: &Step) {
        match step {
            Step::Assign { dst, src } => {
                let dst = self.place(at, dst);
                self.assign(at, n, &dst, src);
            }
            // A modelled method that is spawned runs what it calls in the new origin.
            Step::Call { dst, receiver, method, args } => {
                let invocation = Invocation { receiver, method, args, result: dst.as_ref() };
                self.call_named(at, n, &invocation, at.call.spawn);
            }
            Step::Spawn(spawn) => {
                let Spawn { receiver, method, args, result, .. } = spawn;
                let invocation = Invocation { receiver, method, args, result: result.as_ref() };
                let in_place = spawn.when_parallel && !self.is_parallel_stream(&at.call);
                let origin = if in_place { None } else { Some((at.model, n)) };
                self.call_named(at, n, &invocation, origin);
            }
            Step::StoreHandle { handle, base, src } => {
                let (handle, base, src) = (self.place(at, handle), self.place(at, base), self.place(at, src));
                for handle in self.read(&handle) {
                    let to = self.behind(handle, &base);
                    self.flow(&src, &to, None);
                }
            }
            Step::StoreUnsafe { base, src } => {
                let (base, src) = (self.place(at, base), self.place(at, src));
                for obj in self.read(&base) {
                    for (slot, filter) in self.reference_slots(obj) {
                        self.flow(&src, &Place::Slot(slot), filter);
                    }
                }
            }
            Step::Escape { value } => {
                if let Root::Param(n) = value.root
                    && let Some(class) = self.declared_param(at.method, n)
                {
                    let value = self.place(at, value);
                    self.escape(&at.call, &value, class);
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

    fn assign(&mut self, at: &Rc<Expansion>, n: u16, dst: &Place, src: &Source) {
        let call = &at.call;
        let result = self.program.method(at.method).result;
        match src {
            Source::Value(value) => {
                let value = self.place(at, value);
                self.flow(&value, dst, None);
            }
            Source::New { class, .. } => {
                let class = self.program.class_id(class);
                let obj = self.model_object(call, n, class);
                self.add(dst, obj);
            }
            Source::NewResult => {
                if let Some(class) = result {
                    let obj = self.model_object(call, n, class);
                    self.add(dst, obj);
                }
            }
            Source::The { class, .. } => {
                let class = self.program.class_id(class);
                let obj = self.object(Object { site: Site::The, ctx: self.shared, class });
                self.add(dst, obj);
            }
            Source::Copy(of) => {
                let of = self.place(at, of);
                for obj in self.read(&of) {
                    self.copy(call, obj, dst, n);
                }
            }
            Source::ClassNamed(name) => match self.constant_string(call, name) {
                Some(name) => {
                    let class = self.program.class_id(&name.replace('.', "/"));
                    self.initialise(class);
                    let literal = self.literal(class);
                    self.add(dst, literal);
                }
                None => self.reflective(call),
            },
            Source::InstanceOf(class) => {
                let class = self.place(at, class);
                for literal in self.read(&class) {
                    self.instantiate(call, literal, dst, n);
                }
            }
            Source::ClassOf(value) => {
                let value = self.place(at, value);
                for obj in self.read(&value) {
                    let class = self.class_of(obj);
                    let literal = match self.program.class(class).layer {
                        Layer::Jdk => {
                            let class = self.program.class_id("java/lang/Class");
                            self.merged_object(class)
                        }
                        _ => self.literal(class),
                    };
                    self.add(dst, literal);
                }
            }
            Source::Services(class) => {
                let class = self.place(at, class);
                for literal in self.read(&class) {
                    self.services(call, literal, dst, n);
                }
            }
            Source::FieldHandle { class, name } => {
                let handle = self.model_object(call, n, result.unwrap_or(OBJECT_CLASS));
                match self.constant_field(call, class, name) {
                    Some(field) => {
                        self.changed |= self.handles.insert(handle, field).is_none();
                    }
                    None => self.reflective(call),
                }
                self.add(dst, handle);
            }
            Source::LoadHandle { handle, base } => {
                let (handle, base) = (self.place(at, handle), self.place(at, base));
                for handle in self.read(&handle) {
                    let from = self.behind(handle, &base);
                    self.flow(&from, dst, None);
                }
            }
            Source::LoadUnsafe(base) => {
                let base = self.place(at, base);
                for obj in self.read(&base) {
                    for (slot, _) in self.reference_slots(obj) {
                        self.flow(&Place::Slot(slot), dst, None);
                    }
                }
            }
            Source::CurrentThread | Source::Opaque => {
                if let Some(class) = result {
                    let obj = self.outside_object(class);
                    self.add(dst, obj);
                }
            }
        }
    }

    /// What a handle stands for in the objects of `base`: its field, or the elements if it has none.
    fn behind(&self, handle: Obj, base: &Place) -> Place {
        match self.handles.get(&handle) {
            Some(&field) => Place::Field(Box::new(base.clone()), field),
            None => Place::Elements(Box::new(base.clone())),
        }
    }

    /// A model calls a method of an object. Where a model already made the call it is expanded for, all such
    /// calls of a step at a statement are one: models that call each other would go on forever.
    fn call_named(
        &mut self,
        at: &Rc<Expansion>,
        step: u16,
        invocation: &Invocation<'_>,
        spawn: Option<(ModelId, u16)>,
    ) {
        let Invocation { receiver, method, args, result } = *invocation;
        let Call { act, stmt, kind, .. } = *at.call;
        let name = self.program.names.intern(method);
        let target = Target::Named(name, args.len());
        let mut passed = vec![self.place(at, receiver)];
        if passed[0] == Place::Nothing {
            return;
        }
        for arg in args {
            passed.push(self.place(at, arg));
        }
        let mut dst = result.map(|result| self.place(at, result));
        let nested = Nested { act, stmt, model: at.model, step, spawn };
        if kind == Kind::Model {
            for (n, arg) in passed.iter_mut().enumerate() {
                let merged = Place::Passed(nested, n);
                self.flow(arg, &merged, None);
                *arg = merged;
            }
            dst = dst.map(|dst| {
                self.flow(&Place::Returned(nested), &dst, None);
                Place::Returned(nested)
            });
        }
        self.make(Call {
            act,
            stmt,
            kind: Kind::Model,
            target,
            args: passed,
            has_receiver: true,
            dst,
            spawn,
            lambda: None,
        });
    }

    fn place(&mut self, at: &Rc<Expansion>, operand: &Operand) -> Place {
        let call = &at.call;
        let receivers = usize::from(call.has_receiver);
        let root = match operand.root {
            Root::This if !call.has_receiver => Place::Nothing,
            Root::This if at.role == Role::Inside => call.args[0].clone(),
            Root::This => Place::Receivers(at.clone()),
            Root::Param(n) => call.args.get(usize::from(n) + receivers).cloned().unwrap_or(Place::Nothing),
            Root::Ret if at.role == Role::Instead => Place::Made(at.clone()),
            Root::Ret => result(call),
            Root::Temp(n) => Place::Temp(at.clone(), n),
        };
        operand.path.iter().fold(root, |place, member| match member {
            _ if place == Place::Nothing => Place::Nothing,
            Member::Elements => Place::Elements(Box::new(place)),
            Member::Model(name) => Place::Field(Box::new(place), self.model_field(name)),
        })
    }

    /// The object made by a step at a statement.
    pub(super) fn model_object(&mut self, call: &Call, step: u16, class: ClassId) -> Obj {
        self.new_object(call.act.ctx, Site::Model(call.act.method, call.stmt, step), class)
    }

    fn declared_param(&self, method: MethodId, n: u8) -> Option<ClassId> {
        let info = self.program.method(method);
        let receivers = usize::from(info.access & access::STATIC == 0);
        info.params.get(usize::from(n) + receivers).copied().flatten()
    }

    /// The variable that the statement itself passes for an operand.
    fn operand_var(&mut self, call: &Call, operand: &Operand) -> Option<(Arc<Body>, Var)> {
        if call.kind != Kind::Own || !operand.path.is_empty() {
            return None;
        }
        let body = self.body(call.act.method)?;
        let StmtKind::Call { args, .. } = &body.stmts[call.stmt].kind else { return None };
        let position = match operand.root {
            Root::This => 0,
            Root::Param(n) => usize::from(n) + usize::from(call.has_receiver),
            Root::Ret | Root::Temp(_) => return None,
        };
        let var = *args.get(position)?;
        Some((body, var))
    }

    fn constant(&mut self, call: &Call, operand: &Operand) -> Option<Const> {
        let (body, mut var) = self.operand_var(call, operand)?;
        loop {
            match &body.stmts[body.vars[var].def?].kind {
                StmtKind::Const { value, .. } => return Some(value.clone()),
                &(StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. }) => var = src,
                _ => return None,
            }
        }
    }

    fn constant_string(&mut self, call: &Call, operand: &Operand) -> Option<String> {
        match self.constant(call, operand)? {
            Const::String(text) => Some(self.program.names[text].to_string()),
            _ => None,
        }
    }

    fn constant_field(&mut self, call: &Call, class: &Operand, name: &Operand) -> Option<FieldId> {
        let Const::Class(class) = self.constant(call, class)? else { return None };
        let name = self.constant_string(call, name)?;
        let fields = self.program.load(class).fields.clone();
        fields.into_iter().find(|&field| self.program.names[self.program.field(field).name] == *name)
    }

    /// Is the statement called on a stream that was made parallel, by the chain of calls in its own body?
    fn is_parallel_stream(&mut self, call: &Call) -> bool {
        let this = Operand { root: Root::This, path: Vec::new() };
        let Some((body, mut var)) = self.operand_var(call, &this) else { return false };
        loop {
            let Some(def) = body.vars[var].def else { return false };
            var = match &body.stmts[def].kind {
                StmtKind::Call { target, args, .. } => match self.name_of(target.selector) {
                    "parallel" | "parallelStream" => return true,
                    "sequential" | "stream" => return false,
                    _ => match args.first() {
                        Some(&receiver) => receiver,
                        None => return false,
                    },
                },
                &(StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. }) => src,
                _ => return false,
            };
        }
    }
}

/// Where the result of a call goes; one that is not kept exists all the same.
fn result(call: &Rc<Call>) -> Place {
    call.dst.clone().unwrap_or_else(|| Place::Unkept(call.clone()))
}
