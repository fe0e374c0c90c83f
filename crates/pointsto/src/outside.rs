//! Where the analysed program meets what is not analysed: opaque calls, callbacks from them, reflection,
//! copies made by the JVM.

use crate::graph::{CallId, Node, Use};
use crate::rule::{Leaf, Rule};
use crate::solver::Solver;
use crate::state::{Call, Place, Target};
use crate::types::*;
use classfile::Layer;
use ir::{ClassId, MethodId, MethodRef, access};

impl Solver<'_> {
    /// A call into code that is not analysed: the result is an object of the declared type, and application
    /// objects passed in may be called back. Constructors are taken not to call what is not constructed yet.
    pub(crate) fn call_opaque(&mut self, call: CallId, method: MethodId, receiver: Option<Obj>) {
        let info = self.program.method(method);
        let is_init = self.program.selector_text(info.selector).0 == "<init>";
        if let Some(receiver) = receiver.filter(|_| !is_init) {
            self.call_back(call, receiver, info.class);
        }
        self.rule(Rule::OpaqueCall(call, method));
    }

    pub(crate) fn run_opaque_call(&mut self, call: CallId, method: MethodId) {
        let info = self.program.method(method).clone();
        let (_, act) = self.place_of(call);
        let Call { args, dst, has_receiver, .. } = self.state.calls[call].clone();
        let caller = self.program.method(self.state.acts[act].method).class;
        if self.program.class(caller).layer == Layer::App {
            self.leaf(Leaf::Opaque(call, method));
        }
        if let (Some(dst), Some(class)) = (dst, info.result) {
            let obj = self.opaque_object(class);
            self.fact(dst, obj);
        }
        for (n, arg) in args.into_iter().enumerate().skip(usize::from(has_receiver)) {
            if let (Some(node), Some(Some(class))) = (arg, info.params.get(n)) {
                self.on(node, Use::Escape { call, class: *class });
            }
        }
    }

    /// An application object is handed out as a `class`: whatever it overrides of that type may be called, with
    /// arguments from outside.
    pub(crate) fn call_back(&mut self, call: CallId, obj: Obj, class: ClassId) {
        let object = self.state.objects[obj];
        if class == self.names.object || object.site == Site::Opaque {
            return;
        }
        if self.state.lambdas.contains_key(&obj) {
            if let Site::Alloc(maker, _) = object.site
                && self.program.class(self.program.method(maker).class).layer == Layer::Jdk
            {
                return;
            }
        } else if self.program.class(object.class).layer == Layer::Jdk {
            return;
        }
        let (place, _) = self.place_of(call);
        self.rule(Rule::CalledBack(place, obj, class));
    }

    pub(crate) fn run_called_back(&mut self, place: Place, obj: Obj, class: ClassId) {
        self.leaf(Leaf::CalledBack(place, obj));
        let object = self.state.objects[obj];
        for method in self.overridable(class) {
            let selector = self.program.method(method).selector;
            let own = match self.state.lambdas.get(&obj) {
                Some(_) => true,
                None => self.program.dispatch(object.class, selector).is_some_and(|target| {
                    let owner = self.program.method(target).class;
                    self.program.class(owner).layer != Layer::Jdk
                }),
            };
            if own {
                self.call_from_outside(place, obj, method);
            }
        }
    }

    fn call_from_outside(&mut self, place: Place, obj: Obj, method: MethodId) {
        let info = self.program.method(method).clone();
        let mut args = Vec::new();
        for (n, class) in info.params.iter().enumerate() {
            args.push(class.map(|class| {
                let node = self.own_node();
                let value = if n == 0 { obj } else { self.opaque_object(class) };
                self.fact(node, value);
                node
            }));
        }
        let Some(Some(this)) = args.first().copied() else { return };
        let target = Target::Virtual(MethodRef { class: info.class, selector: info.selector });
        let call = self.own_call(Call::new(place, target, args, true));
        self.on(this, Use::Receive(call));
    }

    /// Instance methods of a type and its supertypes that a subclass may override, without Object's.
    fn overridable(&mut self, class: ClassId) -> Vec<MethodId> {
        let mut methods = Vec::new();
        let mut todo = vec![class];
        let mut seen = vec![class];
        while let Some(class) = todo.pop() {
            if class == self.names.object {
                continue;
            }
            let info = self.program.load(class).clone();
            for &method in &info.methods {
                let fixed = access::STATIC | access::PRIVATE | access::FINAL;
                let name = self.program.selector_text(self.program.method(method).selector).0;
                if self.program.method(method).access & fixed == 0 && !name.starts_with('<') {
                    methods.push(method);
                }
            }
            for next in info.interfaces.iter().copied().chain(info.super_class) {
                if !seen.contains(&next) {
                    seen.push(next);
                    todo.push(next);
                }
            }
        }
        methods
    }

    /// `Class.newInstance` and friends: a class literal's instances, constructed.
    pub(crate) fn instantiate(&mut self, call: CallId, obj: Obj, dst: Node, step: u16) {
        match self.state.objects[obj].site {
            Site::Literal(class) => self.construct(call, class, dst, step),
            _ => self.reflective(call),
        }
    }

    fn construct(&mut self, call: CallId, class: ClassId, dst: Node, step: u16) {
        let info = self.program.load(class).clone();
        if info.access & (access::INTERFACE | access::ABSTRACT) != 0 || info.is_array {
            return;
        }
        self.rule(Rule::Constructed(call, class, dst, step));
    }

    pub(crate) fn run_constructed(&mut self, call: CallId, class: ClassId, dst: Node, step: u16) {
        let info = self.program.load(class).clone();
        self.initialise(class);
        let made = self.model_object(call, step, class);
        self.fact(dst, made);
        let Call { place, by_model, .. } = self.state.calls[call];
        for &method in &info.methods {
            if self.program.selector_text(self.program.method(method).selector).0 != "<init>" {
                continue;
            }
            let params = self.program.method(method).params.clone();
            let mut args = Vec::new();
            for (n, class) in params.into_iter().enumerate() {
                args.push(class.map(|class| {
                    let node = self.own_node();
                    let value = if n == 0 { made } else { self.opaque_object(class) };
                    self.fact(node, value);
                    node
                }));
            }
            let Some(Some(this)) = args.first().copied() else { continue };
            let target = Target::Fixed(method);
            let inner = self.own_call(Call { by_model, ..Call::new(place, target, args, true) });
            self.on(this, Use::Receive(inner));
        }
    }

    /// Providers that `META-INF/services` lists for a class literal.
    pub(crate) fn services(&mut self, call: CallId, obj: Obj, dst: Node, step: u16) {
        let Site::Literal(class) = self.state.objects[obj].site else {
            self.reflective(call);
            return;
        };
        let name = self.program.names[self.program.class(class).name].replace('/', ".");
        for text in self.program.resources(&format!("META-INF/services/{name}")) {
            let text = String::from_utf8_lossy(&text).into_owned();
            let providers = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            for provider in providers.filter(|line| !line.is_empty()) {
                let provider = self.program.class_id(&provider.replace('.', "/"));
                self.construct(call, provider, dst, step);
            }
        }
    }

    /// `clone` and `Arrays.copyOf`: a new object with the same contents.
    pub(crate) fn copy(&mut self, call: CallId, obj: Obj, dst: Node, step: u16) {
        let object = self.state.objects[obj];
        if matches!(object.site, Site::Merged | Site::Literal(_)) {
            self.fact(dst, obj);
            return;
        }
        let made = self.model_object(call, step, object.class);
        self.fact(dst, made);
        if made == obj {
            return;
        }
        for (from, to) in self.reference_slots(obj).into_iter().zip(self.reference_slots(made)) {
            let (from, to) = (self.slot(from), self.slot(to));
            self.edge(from, to, None);
        }
    }
}
