//! Calls: which methods run, in which context, with which values.

use super::{Call, Expansion, Gap, Kind, Naive, Place, Role, Spawn, Target};
use classfile::Layer;
use ir::{ClassId, LambdaKind, Loaded, MethodId, MethodRef, Selector, StmtId, access};
use pointsto::{Context, Ctx, LambdaTarget, Obj, Object, Site, Slot};
use std::rc::Rc;

impl Naive<'_> {
    /// Makes a call for every object its receiver may be. Once per round is enough, and ends recursion.
    pub(super) fn make(&mut self, call: Call) {
        let call = Rc::new(call);
        if !self.made.insert(call.clone()) {
            return;
        }
        if call.has_receiver {
            for obj in self.read(&call.args[0]) {
                self.receive(&call, obj);
            }
        } else if let Target::Fixed(method) = call.target {
            self.initialise(self.program.method(method).class);
            self.run_method(&call, method, None);
        }
    }

    fn receive(&mut self, call: &Rc<Call>, obj: Obj) {
        if let Some(&lambda) = self.lambdas.get(&obj)
            && self.means_lambda(call.target, lambda.selector)
        {
            return self.run_lambda(call, obj, lambda);
        }
        let class = self.class_of(obj);
        let method = match call.target {
            Target::Fixed(method) => Some(method),
            // Objects from outside and objects made by models may be of an abstract type.
            Target::Virtual(target) => self
                .program
                .dispatch_call(class, target)
                .or_else(|| self.program.resolve_method(MethodRef { class, selector: target.selector })),
            Target::Named(name, args) => self.method_named(class, name, args),
        };
        match (method, call.target) {
            (Some(method), _) => {
                // Some objects are here only because the analysis is imprecise.
                let owner = self.program.method(method).class;
                if self.program.is_subtype(class, owner) {
                    self.run_method(call, method, Some(obj));
                }
            }
            (None, Target::Virtual(target)) if self.program.class(class).loaded == Loaded::Missing => {
                self.unresolved(call, target.selector)
            }
            (None, _) => {}
        }
    }

    /// A lambda implements the method of its interface; bridges to that differ in the descriptor only.
    fn means_lambda(&self, target: Target, selector: Selector) -> bool {
        match target {
            Target::Virtual(called) => self.name_of(called.selector) == self.name_of(selector),
            Target::Named(name, _) => &self.program.names[name] == self.name_of(selector),
            Target::Fixed(_) => false,
        }
    }

    /// The target is not on the class path: any object of the declared type may be the result.
    pub(super) fn unresolved(&mut self, call: &Call, selector: Selector) {
        self.gap(Gap::Unresolved(call.act.method, call.stmt));
        let descriptor = self.program.selector_text(selector).1.to_string();
        let class = ir::descriptor::result(&descriptor).flatten().and_then(|declared| declared.class());
        if let (Some(class), Some(dst)) = (class, &call.dst) {
            let class = self.program.class_id(class);
            let obj = self.outside_object(class);
            self.add(dst, obj);
        }
    }

    /// A model stands for the method, or beside it; what is not analysed is opaque; otherwise its body runs.
    fn run_method(&mut self, call: &Rc<Call>, method: MethodId, receiver: Option<Obj>) {
        let info = self.program.method(method).clone();
        let model = self.models.of(self.program, method);
        let (is_own, keeps_body) = match model.map(|model| self.models.model(model)) {
            Some(model) => (model.own, model.keep_body),
            None => (false, true),
        };
        // What an `own` model says holds for plain calls; who spawns it says what runs.
        if is_own && call.spawn.is_some() {
            return;
        }
        let is_analysed = info.has_code && !self.traits(info.class).opaque;
        let ctx = (keeps_body && is_analysed).then(|| self.callee_ctx(call, method, receiver));
        // In a container's own code the model's assignments are made there, in terms of its parameters.
        let is_inside = ctx.is_some_and(|ctx| matches!(self.facts.contexts[ctx], Context::Container(_)));
        if let Some(model) = model {
            let role = if keeps_body { Role::Beside } else { Role::Instead };
            let at = Expansion { call: call.clone(), model, method, role };
            self.expand(&Rc::new(at), receiver, is_inside);
        }
        let Some(ctx) = ctx else {
            if keeps_body {
                let is_jdk = self.program.class(info.class).layer == Layer::Jdk;
                if info.access & access::NATIVE != 0 && !is_jdk {
                    self.gap(Gap::Native(method));
                }
                self.run_opaque(call, method, receiver);
            }
            return;
        };
        let callee = self.reach(ctx, method);
        let Some(body) = self.body(method) else { return };
        if let Some((model, step)) = call.spawn {
            let task = call.lambda.or(receiver).expect("origins run an object");
            let Call { act: from, stmt, .. } = **call;
            self.changed |= self.facts.spawns.insert(Spawn { from, stmt, model, step, task, entry: callee });
        } else {
            self.changed |= self.facts.calls.insert((call.act, call.stmt, callee));
            // What a callee throws may reach its caller.
            self.flow(&self.thrown(ctx), &self.thrown(call.act.ctx), None);
        }
        // The receiver itself is passed, not everything its variable may hold.
        for (n, &param) in body.params.iter().enumerate() {
            let to = self.var(callee, &body, param);
            match (receiver, call.args.get(n)) {
                (Some(receiver), _) if n == 0 => self.add(&to, receiver),
                (_, Some(arg)) => self.flow(arg, &to, info.params.get(n).copied().flatten()),
                (_, None) => {}
            }
        }
        if let Some(dst) = &call.dst {
            self.flow(&Place::Result(callee), dst, None);
        }
        if let (Some(model), true) = (model, is_inside) {
            let args = body.params.iter().map(|&param| self.var(callee, &body, param)).collect();
            let has_receiver = info.access & access::STATIC == 0;
            let inside = Call {
                act: callee,
                stmt: StmtId(0),
                kind: Kind::Model,
                target: Target::Fixed(method),
                args,
                has_receiver,
                dst: Some(Place::Result(callee)),
                spawn: None,
                lambda: None,
            };
            let at = Expansion { call: Rc::new(inside), model, method, role: Role::Inside };
            self.assign_inside(&Rc::new(at));
        }
    }

    fn callee_ctx(&mut self, call: &Call, method: MethodId, receiver: Option<Obj>) -> Ctx {
        let traits = self.traits(self.program.method(method).class);
        if traits.layer != Layer::Jdk {
            return self.application_ctx(call, method, receiver);
        }
        if !traits.container {
            return self.inherited_ctx(
                self.shared,
                method,
                receiver.filter(|&obj| self.program.class(self.facts.objects[obj].class).layer != Layer::Jdk),
            );
        }
        // A container's code takes the container, and so does the code of everything made inside it. Static
        // methods of containers take the call, or the container they are called from.
        match receiver {
            Some(obj) => {
                let ctx = self.facts.objects[obj].ctx;
                if self.is_container_ctx(ctx) {
                    ctx
                } else {
                    self.facts.contexts.intern(Context::Container(obj))
                }
            }
            None if self.is_container_ctx(call.act.ctx) => call.act.ctx,
            None => self.facts.contexts.intern(Context::Call(call.act.ctx, call.act.method, call.stmt)),
        }
    }

    /// A task runs in its own context, its constructor included. Other constructors take the object they make,
    /// if there are not two around it already. Otherwise the application's code keeps the context that it is
    /// called from; called by the JDK, it takes the one its object was made in.
    fn application_ctx(&mut self, call: &Call, method: MethodId, receiver: Option<Obj>) -> Ctx {
        let runner = call.lambda.or(receiver);
        if let (Some(_), Some(task)) = (call.spawn, runner) {
            return self.own_ctx(task).unwrap_or(self.entry);
        }
        if let Some(made) = receiver.filter(|_| self.is_constructor(method) && !self.is_survey) {
            if let Some(ctx) = self.own_ctx(made) {
                return ctx;
            }
            let Object { class, ctx, .. } = self.facts.objects[made];
            if self.facts.constructors_around(ctx) < 2 && !self.is_throwable(class) {
                return self.facts.contexts.intern(Context::Made(made));
            }
        }
        let made_in = runner.or(receiver).map(|obj| self.facts.objects[obj].ctx);
        let choices = [Some(call.act.ctx), made_in].into_iter().flatten();
        let mut choices = choices.map(|ctx| self.facts.code_ctx(ctx));
        let ctx = choices.find(|&ctx| self.is_application_ctx(ctx)).unwrap_or(self.entry);
        if self.is_survey || call.lambda.is_some() || receiver.is_some() && self.is_constructor(method) {
            return ctx;
        }
        let info = self.program.method(method).clone();
        let types = info.params.iter().copied().flatten().chain(info.result).collect::<Vec<_>>();
        let passes_objects = types.into_iter().any(|class| !self.traits(class).merged);
        match receiver {
            None if passes_objects => {
                self.facts.contexts.intern(Context::Helper(ctx, call.act.method, call.stmt))
            }
            _ => self.inherited_ctx(ctx, method, receiver),
        }
    }

    /// What an object inherits is told apart by its class.
    fn inherited_ctx(&mut self, ctx: Ctx, method: MethodId, receiver: Option<Obj>) -> Ctx {
        let declared = self.program.method(method).class;
        match receiver.map(|obj| self.facts.objects[obj].class) {
            Some(class) if class != declared && !self.is_survey => {
                self.facts.contexts.intern(Context::Inherited(ctx, class))
            }
            _ => ctx,
        }
    }

    /// The context of a task's origin, if origins from its site have their own.
    fn own_ctx(&mut self, task: Obj) -> Option<Ctx> {
        let is_small = self.small.contains(&self.facts.objects[task].site);
        is_small.then(|| self.facts.contexts.intern(Context::Origin(task)))
    }

    pub(super) fn is_application_ctx(&self, ctx: Ctx) -> bool {
        matches!(self.facts.contexts[ctx], Context::Entry | Context::Main(_) | Context::Origin(_))
    }

    fn is_container_ctx(&self, ctx: Ctx) -> bool {
        matches!(self.facts.contexts[ctx], Context::Container(_) | Context::Call(..))
    }

    /// The target of a lambda runs with the captured values, then those of the call.
    fn run_lambda(&mut self, call: &Rc<Call>, obj: Obj, lambda: LambdaTarget) {
        let Some(method) = self.program.resolve_method(lambda.target) else {
            return self.unresolved(call, lambda.target.selector);
        };
        let mut args: Vec<Place> = (0..lambda.captures as usize).map(|n| self.capture(obj, n)).collect();
        args.extend(call.args.iter().skip(1).cloned());
        let kind = if call.kind == Kind::Model { Kind::Model } else { Kind::Derived };
        let inner = Call {
            kind,
            target: Target::Fixed(method),
            args,
            has_receiver: true,
            // Of lambdas behind lambdas, the outermost is what was started.
            lambda: call.lambda.or(Some(obj)),
            ..(**call).clone()
        };
        match lambda.kind {
            LambdaKind::Static => {
                self.initialise(lambda.target.class);
                self.make(Call { has_receiver: false, ..inner });
            }
            LambdaKind::Virtual if !inner.args.is_empty() => {
                self.make(Call { target: Target::Virtual(lambda.target), ..inner })
            }
            LambdaKind::Special if !inner.args.is_empty() => self.make(inner),
            LambdaKind::Virtual | LambdaKind::Special => {}
            // C::new  ⟹  an object of the class is the result, made by the lambda's statement in the context
            // of the caller
            LambdaKind::New => {
                self.initialise(lambda.target.class);
                let Site::Alloc(maker, place) = self.facts.objects[obj].site else { return };
                let site = Site::Model(maker, place, u16::MAX);
                let made = self.new_object(call.act.ctx, site, lambda.target.class);
                if let Some(dst) = &call.dst {
                    self.add(dst, made);
                }
                let mut args = inner.args.clone();
                args.insert(0, Place::Just(made));
                self.make(Call { args, dst: None, spawn: None, lambda: None, ..inner });
            }
        }
    }

    pub(super) fn capture(&mut self, obj: Obj, n: usize) -> Place {
        let field = self.model_field(&format!("capture{n}"));
        Place::Slot(Slot::Field(obj, field))
    }

    /// The method that an object of the class runs when a model calls it by name: the nearest that has code,
    /// or else what the nearest declaration in an interface leads to.
    fn method_named(&mut self, class: ClassId, name: arena::Name, args: usize) -> Option<MethodId> {
        self.program.load(class);
        let classes: Vec<ClassId> = self.program.superclasses(class).collect();
        let hidden = access::STATIC | access::BRIDGE | access::ABSTRACT;
        for class in classes {
            if let Some(found) = self.declared_named(class, name, args, hidden) {
                return Some(found);
            }
        }
        let declared = self.declared_above(class, name, args)?;
        let selector = self.program.method(declared).selector;
        self.program.dispatch(class, selector).or(Some(declared))
    }

    fn declared_above(&mut self, class: ClassId, name: arena::Name, args: usize) -> Option<MethodId> {
        if let Some(found) = self.declared_named(class, name, args, access::STATIC) {
            return Some(found);
        }
        let info = self.program.load(class).clone();
        let mut supertypes = info.interfaces.into_iter().chain(info.super_class);
        supertypes.find_map(|class| self.declared_above(class, name, args))
    }

    fn declared_named(
        &mut self,
        class: ClassId,
        name: arena::Name,
        args: usize,
        hidden: u16,
    ) -> Option<MethodId> {
        let methods = self.program.load(class).methods.clone();
        methods.into_iter().find(|&method| {
            let info = self.program.method(method);
            self.name_of(info.selector) == &self.program.names[name]
                && info.params.len() == args + 1
                && info.access & hidden == 0
        })
    }
}
