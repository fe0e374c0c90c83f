//! Calls: dispatch on each receiver, choice of the callee's context, parameters and results.

use crate::expand::Assigns;
use crate::graph::{CallId, Node, Use};
use crate::rule::{Leaf, Rule};
use crate::select::{Contexts, Own};
use crate::solver::Solver;
use crate::state::{Call, Place, Placed, Target};
use crate::types::*;
use classfile::Layer;
use ir::{ClassId, LambdaKind, Loaded, MethodId, MethodRef, Selector, access};

impl Solver<'_> {
    /// `obj` has reached the receiver of the call.
    pub(crate) fn receive(&mut self, call: CallId, obj: Obj) {
        let target = self.state.calls[call].target;
        if let Some(&lambda) = self.state.lambdas.get(&obj)
            && self.names_lambda(target, lambda.selector)
        {
            self.call_lambda(call, obj, lambda);
            return;
        }
        let class = self.state.objects[obj].class;
        let method = match target {
            Target::Fixed(method) => Some(method),
            // Objects from outside and those of models may be of an abstract type.
            Target::Virtual(target) => self
                .program
                .dispatch_call(class, target)
                .or_else(|| self.program.resolve_method(MethodRef { class, selector: target.selector })),
            Target::Named(name, args) => self.method_named(class, name, args),
        };
        match method {
            Some(method) => {
                // The object may be here by imprecision only.
                let declared = self.program.method(method).class;
                if self.program.is_subtype(class, declared) {
                    self.call_method(call, method, Some(obj));
                }
            }
            None => self.miss(call, class),
        }
    }

    fn names_lambda(&self, target: Target, selector: Selector) -> bool {
        let own = self.program.selector_text(selector).0;
        match target {
            Target::Fixed(_) => false,
            // Bridges differ in the descriptor only.
            Target::Virtual(called) => self.program.selector_text(called.selector).0 == own,
            Target::Named(name, _) => &self.program.names[name] == own,
        }
    }

    /// An object whose class has no such method: it got here by imprecision, or its class is not on the path.
    fn miss(&mut self, call: CallId, class: ClassId) {
        if self.program.class(class).loaded == Loaded::Missing
            && let Call { place, dst, target: Target::Virtual(target), .. } = self.state.calls[call]
        {
            self.unresolved(place, dst, target.selector);
        }
    }

    /// A call whose target is not on the class path: the result is any object of the declared type.
    pub(crate) fn unresolved(&mut self, place: Place, dst: Option<Node>, selector: Selector) {
        self.leaf(Leaf::Unresolved(place));
        let descriptor = self.program.selector_text(selector).1.to_string();
        let result = ir::descriptor::result(&descriptor).flatten().and_then(|result| result.class());
        if let (Some(dst), Some(class)) = (dst, result) {
            let class = self.program.class_id(class);
            let obj = self.opaque_object(class);
            self.fact(dst, obj);
        }
    }

    pub(crate) fn call_static(&mut self, call: CallId) {
        if let Target::Fixed(method) = self.state.calls[call].target {
            self.initialise(self.program.method(method).class);
            self.call_method(call, method, None);
        }
    }

    /// The call runs `method`, on `receiver` unless it is static.
    pub(crate) fn call_method(&mut self, call: CallId, method: MethodId, receiver: Option<Obj>) {
        let model = self.models.of(self.program, method);
        let (is_own, keeps_body) = match model.map(|model| self.models.model(model)) {
            Some(model) => (model.own, model.keep_body),
            None => (false, true),
        };
        // What an `own` model says holds for plain calls; who spawns it says what runs.
        if is_own && self.state.calls[call].spawn.is_some() {
            return;
        }
        let ctx = if keeps_body { self.analysed_ctx(call, method, receiver) } else { None };
        let is_inside = ctx.is_some_and(|ctx| matches!(self.state.contexts[ctx], Context::Container(_)));
        if let Some(model) = model {
            let assigns = if is_inside { Assigns::Inside } else { Assigns::AtCall };
            self.expand(call, model, method, receiver, assigns);
        }
        match ctx {
            Some(ctx) => {
                let callee = self.connect(call, method, ctx, receiver);
                if let (Some(model), true) = (model, is_inside) {
                    self.rule(Rule::ExpandedInside(callee, model));
                }
            }
            None if keeps_body => {
                let info = self.program.method(method);
                if info.access & access::NATIVE != 0 && self.program.class(info.class).layer != Layer::Jdk {
                    self.leaf(Leaf::Native(method));
                }
                self.call_opaque(call, method, receiver);
            }
            None => {}
        }
    }

    /// The context that the method's code runs in; `None` if it is not analysed.
    fn analysed_ctx(&mut self, call: CallId, method: MethodId, receiver: Option<Obj>) -> Option<Ctx> {
        let info = self.program.method(method);
        let (class, has_code) = (info.class, info.has_code);
        let is_analysed = has_code && !self.state.traits.of(self.program, self.models, class).opaque;
        is_analysed.then(|| self.callee_ctx(call, method, receiver))
    }

    /// receiver ∈ pts(this), for each receiver.
    fn connect(&mut self, call: CallId, method: MethodId, ctx: Ctx, receiver: Option<Obj>) -> Act {
        let callee = self.act(ctx, method);
        self.rule(Rule::Connected(call, callee));
        let Some(body) = self.state.frames[callee].shape.body.clone() else { return callee };
        let Call { place, spawn, has_receiver, lambda, .. } = self.state.calls[call];
        if let (Some(receiver), Some(&this)) = (receiver, body.params.first())
            && has_receiver
            && let Some(this) = self.var(callee, this)
        {
            self.fact(this, receiver);
        }
        if let (Some((model, step)), Some(task)) = (spawn, lambda.or(receiver)) {
            self.leaf(Leaf::Spawns { at: place, model, step, task, entry: callee });
        }
        callee
    }

    /// Arguments → parameters; result → destination.
    pub(crate) fn run_connected(&mut self, call: CallId, callee: Act) {
        self.rule(Rule::Active(callee));
        let Some(body) = self.state.frames[callee].shape.body.clone() else { return };
        let Activation { ctx, method } = self.state.acts[callee];
        let Call { place, args, spawn, dst, has_receiver, .. } = self.state.calls[call].clone();
        if spawn.is_none() {
            self.leaf(Leaf::Calls(place, callee));
            let caller = self.state.places[place].act;
            self.throw_to_caller(ctx, self.state.acts[caller].ctx);
        }
        let types = self.program.method(method).params.clone();
        for (n, &param) in body.params.iter().enumerate().skip(usize::from(has_receiver)) {
            if let (Some(Some(arg)), Some(param)) = (args.get(n).copied(), self.var(callee, param)) {
                self.edge(arg, param, types.get(n).copied().flatten());
            }
        }
        if let Some(dst) = dst {
            let ret = self.state.frames[callee].ret;
            self.edge(ret, dst, None);
        }
    }

    /// Application code keeps the origin that runs it; called back from the JDK it takes its receiver's.
    /// Constructors take the object they make, inherited methods the class of their receiver, static methods the
    /// call. Container code takes the container; other JDK code is shared.
    fn callee_ctx(&mut self, call: CallId, method: MethodId, receiver: Option<Obj>) -> Ctx {
        let Call { place, spawn, lambda, .. } = self.state.calls[call];
        let Placed { act, stmt, .. } = self.state.places[place];
        let Activation { ctx: caller, method: calling } = self.state.acts[act];
        let class = self.program.method(method).class;
        let traits = self.state.traits.of(self.program, self.models, class);
        let is_survey = matches!(self.state.told_apart, Contexts::Survey);
        if traits.layer != Layer::Jdk {
            let runner = lambda.or(receiver);
            let is_init = self.program.selector_text(self.program.method(method).selector).0 == "<init>";
            return match (spawn, runner, receiver) {
                (Some(_), Some(task), _) => self.origin_ctx(task),
                (None, _, Some(made)) if is_init && !is_survey => self.constructor_ctx(made, caller),
                _ if is_survey => self.application_ctx(caller, runner),
                _ => {
                    let ctx = self.application_ctx(caller, runner);
                    match (lambda, receiver) {
                        (None, Some(obj)) => self.inherited_ctx(ctx, class, obj),
                        (None, None) if self.passes_objects(method) => {
                            self.context(Context::Helper(ctx, calling, stmt))
                        }
                        _ => ctx,
                    }
                }
            };
        }
        if !traits.container {
            return match receiver {
                Some(obj)
                    if !is_survey
                        && self.program.class(self.state.objects[obj].class).layer != Layer::Jdk =>
                {
                    self.inherited_ctx(self.shared, class, obj)
                }
                _ => self.shared,
            };
        }
        let is_library =
            |ctx: Ctx| matches!(self.state.contexts[ctx], Context::Container(_) | Context::Call(..));
        match receiver {
            Some(obj) if is_library(self.state.objects[obj].ctx) => self.state.objects[obj].ctx,
            Some(obj) => self.context(Context::Container(obj)),
            None if is_library(caller) => caller,
            None => self.context(Context::Call(caller, calling, stmt)),
        }
    }

    /// A method of `class` called on an instance of a subclass.
    fn inherited_ctx(&mut self, ctx: Ctx, class: ClassId, receiver: Obj) -> Ctx {
        match self.state.objects[receiver].class {
            own if own == class => ctx,
            own => self.context(Context::Inherited(ctx, own)),
        }
    }

    /// Takes or returns objects that are told apart.
    fn passes_objects(&mut self, method: MethodId) -> bool {
        let info = self.program.method(method);
        let classes: Vec<ClassId> = info.params.iter().copied().flatten().chain(info.result).collect();
        classes.into_iter().any(|class| !self.state.traits.of(self.program, self.models, class).merged)
    }

    fn application_ctx(&self, caller: Ctx, runner: Option<Obj>) -> Ctx {
        let is_application = |ctx: Ctx| self.state.is_application(ctx);
        let caller = self.state.code_ctx(caller);
        let of_runner = runner.map(|obj| self.state.code_ctx(self.state.objects[obj].ctx));
        match of_runner {
            _ if is_application(caller) => caller,
            Some(ctx) if is_application(ctx) => ctx,
            _ => self.entry,
        }
    }

    /// What a constructor stores and allocates belongs to the object it makes (to the origin, for a task that
    /// has one). Objects made by constructors of objects made by constructors are as deep as it goes.
    fn constructor_ctx(&mut self, made: Obj, caller: Ctx) -> Ctx {
        if self.has_own_context(made) {
            return self.origin_ctx(made);
        }
        let around = self.state.around(self.state.objects[made].ctx).map(|ctx| self.state.contexts[ctx]);
        let depth = around
            .take_while(|ctx| !matches!(ctx, Context::Origin(_)))
            .filter(|ctx| matches!(ctx, Context::Made(_)))
            .count();
        let class = self.state.objects[made].class;
        if depth < 2 && !self.state.traits.of(self.program, self.models, class).throwable {
            self.context(Context::Made(made))
        } else {
            self.application_ctx(caller, Some(made))
        }
    }

    fn has_own_context(&self, task: Obj) -> bool {
        self.state.told_apart.has(Own::Task(self.state.objects[task].site))
    }

    /// The context of the origin that runs this task, if it is small enough to have one.
    fn origin_ctx(&mut self, task: Obj) -> Ctx {
        if self.has_own_context(task) { self.context(Context::Origin(task)) } else { self.entry }
    }

    /// Runs a lambda's target: captured values first, then the call's arguments. The lambda object stands for
    /// the task if the call starts an origin.
    fn call_lambda(&mut self, call: CallId, obj: Obj, lambda: LambdaTarget) {
        let Call { place, dst, .. } = self.state.calls[call];
        let Some(method) = self.program.resolve_method(lambda.target) else {
            self.unresolved(place, dst, lambda.target.selector);
            return;
        };
        if matches!(lambda.kind, LambdaKind::Static | LambdaKind::New) {
            self.initialise(lambda.target.class);
        }
        if lambda.kind == LambdaKind::New {
            self.rule(Rule::LambdaMade(call, obj));
            return;
        }
        let inner = self.behind_lambda(call, obj, lambda, method);
        if lambda.kind == LambdaKind::Static || matches!(inner.args.first(), Some(Some(_))) {
            let inner = self.lambda_call(inner);
            self.rule(Rule::LambdaCalled(inner));
        }
    }

    /// The call that a lambda makes when it is called.
    fn behind_lambda(&mut self, call: CallId, obj: Obj, lambda: LambdaTarget, method: MethodId) -> Call {
        let outer = self.state.calls[call].clone();
        let mut args: Vec<Option<Node>> = Vec::new();
        for n in 0..lambda.captures {
            let field = self.model_field(&format!("capture{n}"));
            args.push(Some(self.slot(Slot::Field(obj, field))));
        }
        args.extend(outer.args.iter().skip(1).copied());
        args.truncate(self.program.method(method).params.len());
        let target = match lambda.kind {
            LambdaKind::Virtual => Target::Virtual(lambda.target),
            _ => Target::Fixed(method),
        };
        let has_receiver = lambda.kind != LambdaKind::Static;
        Call { target, args, has_receiver, unkept: None, lambda: outer.lambda.or(Some(obj)), ..outer }
    }

    /// The same lambda called with the same values is the same call: lambdas may call themselves.
    fn lambda_call(&mut self, call: Call) -> CallId {
        if let Some(&known) = self.state.lambda_calls.get(&call) {
            return known;
        }
        let id = self.state.new_call(call.clone());
        self.state.lambda_calls.insert(call, id);
        id
    }

    pub(crate) fn run_lambda_called(&mut self, call: CallId) {
        let Call { target, has_receiver, .. } = self.state.calls[call];
        match (target, self.state.calls[call].args.first()) {
            (Target::Fixed(method), _) if !has_receiver => self.call_method(call, method, None),
            (_, Some(&Some(this))) => self.on(this, Use::Receive(call)),
            _ => {}
        }
    }

    pub(crate) fn run_lambda_made(&mut self, call: CallId, obj: Obj) {
        let Some(&lambda) = self.state.lambdas.get(&obj) else { return };
        let Some(method) = self.program.resolve_method(lambda.target) else { return };
        let Site::Alloc(maker, place) = self.state.objects[obj].site else { return };
        let (_, act) = self.place_of(call);
        let ctx = self.state.acts[act].ctx;
        let made = self.new_object(ctx, Site::Model(maker, place, u16::MAX), lambda.target.class);
        if let Some(dst) = self.state.calls[call].dst {
            self.fact(dst, made);
        }
        let this = self.own_node();
        let mut inner = self.behind_lambda(call, obj, lambda, method);
        (inner.dst, inner.spawn, inner.lambda) = (None, None, None);
        inner.args.insert(0, Some(this));
        let inner = self.own_call(inner);
        self.on(this, Use::Receive(inner));
        self.fact(this, made);
    }

    /// A public or inherited method by name and arity, as models name them.
    fn method_named(&mut self, class: ClassId, name: arena::Name, args: u8) -> Option<MethodId> {
        let mut next = Some(class);
        let mut found = None;
        while let Some(class) = next {
            let class = self.program.load(class).clone();
            found = class.methods.iter().copied().find(|&m| {
                let method = self.program.method(m);
                let flags = access::STATIC | access::BRIDGE | access::ABSTRACT;
                let (own, _) = self.program.selector_text(method.selector);
                own == &self.program.names[name]
                    && method.params.len() == usize::from(args) + 1
                    && method.access & flags == 0
            });
            if found.is_some() {
                break;
            }
            next = class.super_class;
        }
        found.or_else(|| {
            let method = self.interface_method(class, name, args)?;
            let selector = self.program.method(method).selector;
            self.program.dispatch(class, selector).or(Some(method))
        })
    }

    fn interface_method(&mut self, class: ClassId, name: arena::Name, args: u8) -> Option<MethodId> {
        let info = self.program.load(class).clone();
        let own = info.methods.iter().copied().find(|&m| {
            let method = self.program.method(m);
            self.program.selector_text(method.selector).0 == &self.program.names[name]
                && method.params.len() == usize::from(args) + 1
                && method.access & access::STATIC == 0
        });
        if own.is_some() {
            return own;
        }
        let supers: Vec<ClassId> = info.interfaces.iter().copied().chain(info.super_class).collect();
        supers.into_iter().find_map(|class| self.interface_method(class, name, args))
    }
}
