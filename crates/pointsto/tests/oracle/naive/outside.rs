//! Where the program meets what is not analysed: opaque calls, calls back from them, reflection.

use super::{Call, Gap, Kind, Naive, Place, Target};
use classfile::Layer;
use ir::{ClassId, MethodId, MethodRef, OBJECT_CLASS, access};
use pointsto::{Obj, Site};
use std::rc::Rc;

impl Naive<'_> {
    /// The result is an object of the declared type; whatever is passed in may be called back as what it is
    /// declared there.
    pub(super) fn run_opaque(&mut self, call: &Rc<Call>, method: MethodId, receiver: Option<Obj>) {
        let info = self.program.method(method).clone();
        if let Some(receiver) = receiver.filter(|_| !self.is_constructor(method)) {
            self.call_back(call, receiver, info.class);
        }
        if let (Some(dst), Some(class)) = (&call.dst, info.result) {
            let obj = self.outside_object(class);
            self.add(dst, obj);
        }
        let receivers = usize::from(call.has_receiver);
        for (arg, class) in call.args.iter().zip(&info.params).skip(receivers) {
            if let Some(class) = *class {
                self.escape(call, arg, class);
            }
        }
    }

    pub(super) fn escape(&mut self, call: &Call, value: &Place, class: ClassId) {
        for obj in self.read(value) {
            self.call_back(call, obj, class);
        }
    }

    /// What an application object overrides of a type it is handed out as is called, with values from outside.
    fn call_back(&mut self, call: &Call, obj: Obj, class: ClassId) {
        let object = self.facts.objects[obj];
        let is_lambda = self.lambdas.contains_key(&obj);
        let owner = match object.site {
            Site::Opaque => return,
            Site::Alloc(maker, _) if is_lambda => self.program.method(maker).class,
            _ => object.class,
        };
        if self.program.class(owner).layer == Layer::Jdk {
            return;
        }
        for method in self.overridable(class) {
            let info = self.program.method(method).clone();
            if !is_lambda && !self.is_overridden(object.class, method) {
                continue;
            }
            let mut args = vec![Place::Just(obj)];
            for class in &info.params[1..] {
                args.push(match *class {
                    Some(class) => Place::Just(self.outside_object(class)),
                    None => Place::Nothing,
                });
            }
            self.make(Call {
                act: call.act,
                stmt: call.stmt,
                kind: Kind::Derived,
                target: Target::Virtual(MethodRef { class: info.class, selector: info.selector }),
                args,
                has_receiver: true,
                dst: None,
                spawn: None,
                lambda: None,
            });
        }
    }

    /// Does the class run code of its own, not of the JDK, for this method?
    fn is_overridden(&mut self, class: ClassId, method: MethodId) -> bool {
        let selector = self.program.method(method).selector;
        self.program.dispatch(class, selector).is_some_and(|target| {
            let owner = self.program.method(target).class;
            self.program.class(owner).layer != Layer::Jdk
        })
    }

    /// Instance methods of a type and its supertypes that a subclass may override, without Object's.
    fn overridable(&mut self, class: ClassId) -> Vec<MethodId> {
        self.program.load(class);
        let classes: Vec<ClassId> = self.program.supertypes(class).collect();
        let classes = classes.into_iter().filter(|&class| class != OBJECT_CLASS);
        let methods = classes.flat_map(|class| self.program.class(class).methods.iter().copied());
        let fixed = access::STATIC | access::PRIVATE | access::FINAL;
        let is_open = |&method: &MethodId| {
            let info = self.program.method(method);
            info.access & fixed == 0 && !self.name_of(info.selector).starts_with('<')
        };
        methods.filter(is_open).collect()
    }

    /// An instance of a class literal, through any constructor, with values from outside.
    pub(super) fn instantiate(&mut self, call: &Call, literal: Obj, dst: &Place, step: u16) {
        match self.facts.objects[literal].site {
            Site::Literal(class) => self.construct(call, class, dst, step),
            _ => self.reflective(call),
        }
    }

    fn construct(&mut self, call: &Call, class: ClassId, dst: &Place, step: u16) {
        let info = self.program.load(class);
        if info.is_array || info.access & (access::INTERFACE | access::ABSTRACT) != 0 {
            return;
        }
        self.initialise(class);
        let made = self.model_object(call, step, class);
        self.add(dst, made);
        for method in self.constructors(class) {
            let params = self.program.method(method).params.clone();
            let mut args = vec![Place::Just(made)];
            for class in &params[1..] {
                args.push(match *class {
                    Some(class) => Place::Just(self.outside_object(class)),
                    None => Place::Nothing,
                });
            }
            self.make(Call {
                act: call.act,
                stmt: call.stmt,
                kind: if call.kind == Kind::Model { Kind::Model } else { Kind::Derived },
                target: Target::Fixed(method),
                args,
                has_receiver: true,
                dst: None,
                spawn: None,
                lambda: None,
            });
        }
    }

    /// Instances of the providers that `META-INF/services` lists for a class literal.
    pub(super) fn services(&mut self, call: &Call, literal: Obj, dst: &Place, step: u16) {
        let Site::Literal(class) = self.facts.objects[literal].site else { return self.reflective(call) };
        let name = self.program.names[self.program.class(class).name].replace('/', ".");
        for text in self.program.source().clone().resources(&format!("META-INF/services/{name}")) {
            let text = String::from_utf8_lossy(&text).into_owned();
            for line in text.lines() {
                let provider = line.split('#').next().unwrap_or_default().trim();
                if !provider.is_empty() {
                    let provider = self.program.class_id(&provider.replace('.', "/"));
                    self.construct(call, provider, dst, step);
                }
            }
        }
    }

    /// A new object with the contents of another; of merged objects and literals there is only one.
    pub(super) fn copy(&mut self, call: &Call, obj: Obj, dst: &Place, step: u16) {
        let object = self.facts.objects[obj];
        if matches!(object.site, Site::Merged | Site::Literal(_)) {
            return self.add(dst, obj);
        }
        let made = self.model_object(call, step, object.class);
        self.add(dst, made);
        let (from, to) = (self.reference_slots(obj), self.reference_slots(made));
        for ((from, _), (to, _)) in from.into_iter().zip(to) {
            self.flow(&Place::Slot(from), &Place::Slot(to), None);
        }
    }

    pub(super) fn reflective(&mut self, call: &Call) {
        self.gap(Gap::Reflective(call.act.method, call.stmt));
    }
}
