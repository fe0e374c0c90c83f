//! What names in outlines mean: fields, methods, models, and who may be called. Owns the program and the models;
//! answers any number of threads, and answers the same to all.

use crate::outline::{Event, Outline, Value, ValueId};
use crate::path::{Path, Step};
use crate::stale::Stale;
use classfile::{ClassSource, Layer};
use ir::{CallKind, ClassId, FieldId, FieldRef, Loaded, MethodId, MethodRef, Program, Selector, access};
use models::{Knowledge, Model, Models, Says};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, RwLock};

/// More implementations than this tell nothing: a call to all of them is a call to none.
const MOST_TARGETS: usize = 8;
/// So many answers take some hundred megabytes.
const MANY: usize = 200_000;

/// What was found out already is not written: it is asked for again.
#[derive(Serialize, Deserialize)]
pub struct Link {
    pub program: Mutex<Program>,
    #[serde(skip)]
    models: Mutex<Models>,
    /// By what stands in the code, and what is known of the receiver.
    #[serde(skip)]
    callees: RwLock<FxHashMap<(MethodRef, Receiver), Arc<Callee>>>,
    fields: FxHashMap<FieldRef, FieldId>,
    infos: FxHashMap<FieldId, FieldInfo>,
    /// Methods with code, by selector.
    bodies: FxHashMap<Selector, Vec<MethodId>>,
    /// Methods that only known code can call.
    closed: FxHashSet<MethodId>,
    /// Interfaces that say something about threads.
    quiet: FxHashSet<ClassId>,
    /// Methods that return the same whenever they are called.
    functional: FxHashSet<MethodId>,
    /// The application's classes that extend one of its classes.
    #[serde(skip)]
    extended: RwLock<Option<Arc<Extended>>>,
    /// What a class answers with when it is called as a function or a task.
    #[serde(skip)]
    answers: RwLock<FxHashMap<ClassId, Arc<[MethodId]>>>,
}

/// Direct subclasses, by the class that they extend.
type Extended = FxHashMap<ClassId, Vec<ClassId>>;

/// On what a method is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Receiver {
    /// Nothing is dispatched.
    None,
    Any,
    Exactly(ClassId),
}

/// What a call may run.
#[derive(Debug, Clone, Default)]
pub struct Callee {
    pub model: Option<Arc<Model>>,
    /// Methods of the program, in the order of their names; none if there are too many.
    pub targets: Vec<MethodId>,
    /// The method that is meant, whether it has a body or not.
    pub named: Option<MethodId>,
    pub is_static: bool,
    /// A function of a functional interface, or of something that is only known as an interface.
    pub is_interface: bool,
    pub too_many: bool,
    /// An interface of the program or a library without an implementation here, that says nothing about threads.
    pub is_stranger: bool,
    /// Parameters, without the receiver, that take functions: the method that is called then, and how many operands
    /// it has.
    pub functions: Vec<Option<(Arc<str>, u8)>>,
    /// The class that declares it, and its name.
    pub owner: Option<ClassId>,
    pub name: Arc<str>,
    /// Of class, name and parameters.
    pub digest: u64,
}

/// What is known of a field.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FieldInfo {
    pub access: u16,
    pub digest: u64,
    /// The only class of objects that are ever put in.
    pub holds: Holds,
    /// It stands for the lock in another field of the same object, in this mode.
    pub view: Option<(FieldId, bool)>,
    /// The way back from what is put in to the object that has this field: by which field of its own.
    pub back: Agreed<FieldId>,
    /// A field of what is put in that holds what another field of the same object holds: `cond.lock` and `lock`, where
    /// `cond` is made with `lock`.
    pub alias: Agreed<(FieldId, FieldId)>,
    /// Whether all that is put in are executors that run one task after the other.
    pub serial: Option<bool>,
}

/// What holds of everything that is ever put into a field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Agreed<T> {
    #[default]
    Nothing,
    Always(T),
    NotAlways,
}

impl<T: PartialEq> Agreed<T> {
    pub fn and(self, one: Option<T>) -> Agreed<T> {
        match (self, one) {
            (Agreed::Nothing, Some(one)) => Agreed::Always(one),
            (Agreed::Always(known), Some(one)) if known == one => Agreed::Always(known),
            _ => Agreed::NotAlways,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Holds {
    #[default]
    Nothing,
    Only(ClassId),
    Several,
}

impl Holds {
    pub fn and(self, class: Option<ClassId>) -> Holds {
        match (self, class) {
            (Holds::Nothing, Some(class)) => Holds::Only(class),
            (Holds::Only(known), Some(class)) if known == class => self,
            _ => Holds::Several,
        }
    }
}

/// What is known of a field by what is put into it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known {
    pub holds: Holds,
    pub view: Option<(FieldId, bool)>,
    pub back: Agreed<FieldId>,
    pub alias: Agreed<(FieldId, FieldId)>,
    pub serial: Option<bool>,
}

impl FieldInfo {
    fn known(&self) -> Known {
        let FieldInfo { holds, view, back, alias, serial, .. } = *self;
        Known { holds, view, back, alias, serial }
    }

    pub fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }
}

pub fn digest(of: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

impl Link {
    pub fn new(program: Program, models: Models) -> Link {
        Link {
            program: Mutex::new(program),
            models: Mutex::new(models),
            callees: RwLock::default(),
            fields: FxHashMap::default(),
            infos: FxHashMap::default(),
            bodies: FxHashMap::default(),
            closed: FxHashSet::default(),
            quiet: FxHashSet::default(),
            functional: FxHashSet::default(),
            extended: RwLock::default(),
            answers: RwLock::default(),
        }
    }

    /// One that was read, with what is not written.
    pub fn over(mut self, source: Arc<dyn ClassSource>, models: Models) -> Link {
        let program = std::mem::replace(self.program(), Program::new(source.clone()));
        *self.program() = program.over(source);
        self.models = Mutex::new(models);
        self
    }

    pub fn program(&mut self) -> &mut Program {
        self.program.get_mut().expect("nobody panics with it")
    }

    /// Whether an interface says something about threads.
    pub fn set_quiet(&mut self, class: ClassId, is_quiet: bool) {
        put(&mut self.quiet, class, is_quiet);
    }

    /// Whether a method returns the same whenever it is called, as it says itself.
    pub fn set_functional(&mut self, method: MethodId, is_functional: bool) {
        put(&mut self.functional, method, is_functional);
    }

    pub fn is_functional(&self, callee: &Callee) -> bool {
        callee.named.is_some_and(|method| self.functional.contains(&method))
    }

    /// A method of the program that can be called.
    pub fn add_method(&mut self, knowledge: &Knowledge, method: MethodId) {
        let selector = self.program().method_ref(method).selector;
        self.bodies.entry(selector).or_default().push(method);
        self.update_method(knowledge, method);
    }

    /// It is declared otherwise, perhaps.
    pub fn update_method(&mut self, knowledge: &Knowledge, method: MethodId) {
        let program = self.program();
        let is_closed = is_closed(program, method) || is_mangled(program, knowledge, method);
        put(&mut self.closed, method, is_closed);
    }

    pub fn remove_method(&mut self, method: MethodId) {
        let selector = self.program().method_ref(method).selector;
        self.closed.remove(&method);
        if let Some(bodies) = self.bodies.get_mut(&selector) {
            bodies.retain(|&other| other != method);
        }
    }

    /// What was found out about names that mean something else now.
    pub fn forget(&mut self, stale: &Stale) {
        if !stale.classes.is_empty() || !stale.selectors.is_empty() {
            self.callees.get_mut().expect("nobody panics with it").clear();
            self.answers.get_mut().expect("nobody panics with it").clear();
            *self.extended.get_mut().expect("nobody panics with it") = None;
            self.models.get_mut().expect("nobody panics with it").forget();
        }
        self.fields.retain(|field, _| !stale.classes.contains(&field.class));
        let program = self.program.get_mut().expect("nobody panics with it");
        for &field in &stale.fields {
            if let Some(known) = self.infos.get_mut(&field) {
                let Known { holds, view, back, alias, serial } = known.known();
                *known = FieldInfo { holds, view, back, alias, serial, ..info(program, field) };
            }
        }
    }

    /// Is every call of it known, unless somebody adds a class?
    pub fn is_closed(&self, method: MethodId) -> bool {
        self.closed.contains(&method)
    }

    /// Methods with this selector that have code.
    pub fn bodies(&self, selector: Selector) -> &[MethodId] {
        self.bodies.get(&selector).map_or(&[], Vec::as_slice)
    }

    /// May it be called from where nobody sees it: by a library, or through a type that too many are below?
    pub fn is_called_elsewhere(&self, program: &Program, method: MethodId) -> bool {
        let entry = program.method(method);
        if entry.access & (access::PRIVATE | access::STATIC) != 0 {
            return false;
        }
        let are_many = self.bodies(entry.selector).len() > MOST_TARGETS;
        program.supertypes(entry.class).filter(|&above| above != entry.class).any(|above| {
            let declares =
                program.declared_method(MethodRef { class: above, selector: entry.selector }).is_some();
            declares && (are_many || program.class(above).layer != Layer::App)
        })
    }

    /// Looks up the fields that an outline names.
    pub fn add_fields(&mut self, outline: &Outline) {
        let in_values = outline.values.iter().filter_map(|value| match value {
            Value::Field { field, .. } | Value::Static { field } => Some(*field),
            _ => None,
        });
        let in_events = outline.events.iter().filter_map(|event| match event {
            Event::Read { field, .. }
            | Event::Write { field, .. }
            | Event::ReadStatic { field }
            | Event::WriteStatic { field, .. } => Some(*field),
            _ => None,
        });
        let names: Vec<FieldRef> =
            in_values.chain(in_events).filter(|field| !self.fields.contains_key(field)).collect();
        for field in names {
            let program = self.program.get_mut().expect("nobody panics with it");
            let Some(id) = program.resolve_field(field) else { continue };
            let id = same_outer(program, id);
            self.fields.insert(field, id);
            self.infos.entry(id).or_insert_with(|| info(program, id));
        }
    }

    /// Forgets what can be asked again, if that is much: the rules do not ask.
    pub fn tidy(&mut self) {
        let callees = self.callees.get_mut().expect("nobody panics with it");
        if callees.len() > MANY {
            *callees = FxHashMap::default();
            *self.answers.get_mut().expect("nobody panics with it") = FxHashMap::default();
            self.program().forget_answers();
        }
    }

    pub fn field(&self, field: FieldRef) -> Option<FieldId> {
        self.fields.get(&field).copied()
    }

    /// The path without detours: from an object to a part of it and back is nowhere, and what the part was made with is
    /// what the object has itself.
    pub fn straight(&self, path: Path) -> Path {
        let infos = |part: Step, next: Step| match (part, next) {
            (Step::Field(part), Step::Field(next)) => self.info(part).map(|info| (info, next)),
            _ => None,
        };
        let leads_back = |part: Step, next: Step| {
            infos(part, next).is_some_and(|(info, next)| info.back == Agreed::Always(next))
        };
        let alias = |part: Step, next: Step| match infos(part, next) {
            Some((info, next)) => match info.alias {
                Agreed::Always((inner, own)) if inner == next => Some(Step::Field(own)),
                _ => None,
            },
            None => None,
        };
        let is_detour = |part: Step, next: Step| leads_back(part, next) || alias(part, next).is_some();
        let is_straight = path.steps().zip(path.steps().skip(1)).all(|(part, next)| !is_detour(part, next));
        if is_straight {
            return path;
        }
        let mut steps: Vec<Step> = Vec::new();
        for step in path.steps() {
            match steps.last_mut() {
                Some(&mut last) if leads_back(last, step) => _ = steps.pop(),
                Some(last) => match alias(*last, step) {
                    Some(own) => *last = own,
                    None => steps.push(step),
                },
                None => steps.push(step),
            }
        }
        steps.into_iter().try_fold(Path::of(path.root).locked(path.lock), Path::then).unwrap_or(path)
    }

    /// All names of fields, and what they mean.
    pub fn fields(&self) -> impl Iterator<Item = (FieldRef, FieldId)> + '_ {
        self.fields.iter().map(|(&name, &field)| (name, field))
    }

    pub fn info(&self, field: FieldId) -> Option<&FieldInfo> {
        self.infos.get(&field)
    }

    /// What fields are given, of all of them; those of which it is something else than before.
    pub fn set_known(&mut self, known: &FxHashMap<FieldId, Known>) -> Vec<FieldId> {
        let mut changed = Vec::new();
        for (field, info) in &mut self.infos {
            let now = known.get(field).copied().unwrap_or_default();
            if info.known() != now {
                (info.holds, info.view) = (now.holds, now.view);
                (info.back, info.alias, info.serial) = (now.back, now.alias, now.serial);
                changed.push(*field);
            }
        }
        changed
    }

    /// What a call may run, given the class of its receiver if that is known.
    pub fn callee(&self, target: MethodRef, kind: CallKind, class: Option<ClassId>) -> Arc<Callee> {
        let receiver = match (kind, class) {
            (CallKind::Virtual, Some(class)) => Receiver::Exactly(class),
            (CallKind::Virtual, None) => Receiver::Any,
            _ => Receiver::None,
        };
        let key = (target, receiver);
        if let Some(known) = self.callees.read().expect("nobody panics with it").get(&key) {
            return known.clone();
        }
        let callee = Arc::new(self.find(
            target,
            class.filter(|_| kind == CallKind::Virtual),
            kind == CallKind::Virtual,
        ));
        self.callees.write().expect("nobody panics with it").insert(key, callee.clone());
        callee
    }

    fn find(&self, target: MethodRef, class: Option<ClassId>, is_virtual: bool) -> Callee {
        let mut program = self.program.lock().expect("nobody panics with it");
        let mut models = self.models.lock().expect("nobody panics with it");
        let program = &mut *program;
        let name = program.selector_text(target.selector).0.into();
        let mut callee = Callee {
            digest: name_digest(program, target),
            name,
            owner: Some(target.class),
            ..Callee::default()
        };
        if let Some(class) = class {
            let Some((method, model)) = models.dispatch(program, class, target.selector) else {
                return callee;
            };
            callee.named = Some(method);
            callee.functions = functions(program, method);
            callee.owner = Some(program.method_ref(method).class);
            callee.model = model.map(|model| Arc::new(models.model(model).clone()));
            callee.is_static = program.method(method).is_static();
            if is_ours(program, method) && program.method(method).has_code {
                callee.targets = vec![method];
            }
            return callee;
        }
        let Some(method) = program.resolve_method(target) else { return callee };
        callee.named = Some(method);
        callee.functions = functions(program, method);
        callee.owner = Some(program.method_ref(method).class);
        let entry = program.method(method);
        callee.is_static = entry.is_static();
        let owner = entry.class;
        let is_open = is_virtual && entry.access & (access::PRIVATE | access::STATIC | access::FINAL) == 0;
        let has_code = entry.has_code;
        callee.is_interface = program.class(owner).access & access::INTERFACE != 0;
        callee.model = models.of(program, method).map(|model| Arc::new(models.model(model).clone()));
        if callee.model.is_some() && program.class(owner).layer == Layer::Jdk {
            return callee;
        }
        if has_code && is_ours(program, method) {
            callee.targets.push(method);
        }
        // Objects that are known by a type of the JDK are mostly its own.
        if is_open && program.class(owner).layer != Layer::Jdk {
            let extended = self.extended(program);
            for &other in self.bodies(target.selector) {
                if other != method && may_run(program, &extended, other, (target.class, owner)) {
                    callee.targets.push(other);
                }
                if callee.targets.len() > MOST_TARGETS {
                    callee.targets.clear();
                    callee.too_many = true;
                    break;
                }
            }
        }
        callee.is_stranger = callee.is_interface
            && callee.targets.is_empty()
            && !callee.too_many
            && callee.model.is_none()
            && program.class(owner).layer != Layer::Jdk
            && !self.quiet.contains(&owner)
            && !self.functional.contains(&method);
        callee.targets.sort_by_cached_key(|&method| name_digest(program, program.method_ref(method)));
        callee
    }

    fn extended(&self, program: &Program) -> Arc<Extended> {
        if let Some(known) = &*self.extended.read().expect("nobody panics with it") {
            return known.clone();
        }
        let mut extended = Extended::default();
        for class in program.class_ids() {
            let entry = program.class(class);
            if let (Layer::App, Loaded::Yes, Some(above)) = (entry.layer, entry.loaded, entry.super_class) {
                extended.entry(above).or_default().push(class);
            }
        }
        let extended = Arc::new(extended);
        *self.extended.write().expect("nobody panics with it") = Some(extended.clone());
        extended
    }

    /// The methods of a class, its own or inherited ones, that stand for something its supertypes promise: what runs
    /// when an object of it is passed on as a function or a task.
    pub fn answers(&self, class: ClassId) -> Arc<[MethodId]> {
        if let Some(known) = self.answers.read().expect("nobody panics with it").get(&class) {
            return known.clone();
        }
        let found: Arc<[MethodId]> =
            answers(&mut self.program.lock().expect("nobody panics with it"), class).into();
        self.answers.write().expect("nobody panics with it").insert(class, found.clone());
        found
    }

    /// Which of them has this name.
    pub fn answer(&self, class: ClassId, name: &str, args: usize) -> Option<MethodId> {
        let answers = self.answers(class);
        let program = self.program.lock().expect("nobody panics with it");
        let fits = |&method: &MethodId| {
            let entry = program.method(method);
            program.selector_text(entry.selector).0 == name && entry.params.len() == args + 1
        };
        answers.iter().copied().find(fits)
    }

    pub fn with_selector(&self, methods: &[MethodId], selector: Selector) -> Option<MethodId> {
        let program = self.program.lock().expect("nobody panics with it");
        let (name, descriptor) = program.selector_text(selector);
        let params = |descriptor: &str| ir::descriptor::parameters(descriptor).count();
        let wanted = params(descriptor);
        let fits = |&method: &MethodId| {
            let entry = program.method(method);
            program.selector_text(entry.selector).0 == name && entry.params.len() == wanted + 1
        };
        methods.iter().copied().find(fits)
    }

    pub fn class_named(&self, name: &str) -> ClassId {
        self.program.lock().expect("nobody panics with it").class_id(name)
    }

    pub fn is_interface(&self, class: ClassId) -> bool {
        let mut program = self.program.lock().expect("nobody panics with it");
        let class = program.load(class);
        class.loaded != Loaded::Yes || class.access & access::INTERFACE != 0
    }

    /// May any thread call the methods of this class?
    pub fn is_safe(&self, knowledge: &Knowledge, class: ClassId) -> bool {
        knowledge.is_safe(self.program.lock().expect("nobody panics with it").class_name(class))
    }

    /// Is a field declared as something that is thread-safe?
    pub fn holds_safe(&self, knowledge: &Knowledge, field: FieldId) -> bool {
        let program = self.program.lock().expect("nobody panics with it");
        let is_safe = |class: ClassId| knowledge.is_safe(program.class_name(class));
        let always = match self.infos.get(&field).map(|info| info.holds) {
            Some(Holds::Only(class)) => is_safe(class),
            _ => false,
        };
        always || program.field(field).class_of.is_some_and(is_safe)
    }

    pub fn class_digest(&self, class: ClassId) -> u64 {
        digest(self.program.lock().expect("nobody panics with it").class_name(class))
    }

    /// Is a method of a class above the one that has `own` replaced there, so that it never runs on the same object?
    pub fn never_runs(&self, own: MethodId, method: MethodId) -> bool {
        let program = self.program.lock().expect("nobody panics with it");
        let class = program.method_ref(own).class;
        let is_above = program.superclasses(class).any(|above| above == program.method_ref(method).class);
        is_above && !runs(&program, class, method)
    }

    pub fn name_of(&self, method: MethodId) -> u64 {
        let program = self.program.lock().expect("nobody panics with it");
        name_digest(&program, program.method_ref(method))
    }

    pub fn method_digest(&self, method: MethodRef) -> u64 {
        name_digest(&self.program.lock().expect("nobody panics with it"), method)
    }

    pub fn selector_digest(&self, selector: Selector) -> u64 {
        digest(self.program.lock().expect("nobody panics with it").selector_text(selector))
    }

    /// Does a library that is not the JDK declare it?
    pub fn is_of_library(&self, callee: &Callee) -> bool {
        let program = self.program.lock().expect("nobody panics with it");
        callee.owner.is_some_and(|owner| program.class(owner).layer == Layer::Library)
    }

    pub fn is_of_jdk(&self, callee: &Callee) -> bool {
        let program = self.program.lock().expect("nobody panics with it");
        callee.owner.is_some_and(|owner| program.class(owner).layer == Layer::Jdk)
    }

    /// Whether the call may take long.
    pub fn blocks(&self, knowledge: &Knowledge, callee: &Callee) -> bool {
        if !knowledge.may_block(&callee.name) {
            return false;
        }
        let Some(owner) = callee.owner else { return false };
        let program = self.program.lock().expect("nobody panics with it");
        let mut above = program.supertypes(owner).chain([owner]);
        program.class(owner).layer != Layer::App
            && above.any(|class| knowledge.blocks(program.class_name(class), &callee.name))
    }

    /// Does a call of this name make a stream a parallel one?
    pub fn makes_parallel(&self, knowledge: &Knowledge, selector: Selector) -> bool {
        let program = self.program.lock().expect("nobody panics with it");
        knowledge.makes_parallel(program.selector_text(selector).0)
    }

    /// The class of a value, if it is always the same.
    pub fn class_of(&self, outline: &Outline, value: ValueId) -> Option<ClassId> {
        match &outline.values[value as usize] {
            Value::Made(class) => Some(*class),
            Value::Field { field, .. } | Value::Static { field } => {
                match self.info(self.field(*field)?)?.holds {
                    Holds::Only(class) => Some(class),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn put<T: std::hash::Hash + Eq>(set: &mut FxHashSet<T>, item: T, is_in: bool) {
    if is_in {
        set.insert(item);
    } else {
        set.remove(&item);
    }
}

fn info(program: &Program, id: FieldId) -> FieldInfo {
    let field = program.field(id);
    let (access, digest) = (field.access, field_digest(program, id));
    FieldInfo {
        access,
        digest,
        holds: Holds::default(),
        view: None,
        back: Agreed::Nothing,
        alias: Agreed::Nothing,
        serial: None,
    }
}

/// Of class, name and type.
pub fn field_digest(program: &Program, field: FieldId) -> u64 {
    let FieldRef { class, name, descriptor } = program.field_ref(field);
    digest((program.class_name(class), &program.names[name], &program.names[descriptor]))
}

pub fn name_digest(program: &Program, method: MethodRef) -> u64 {
    digest((program.class_name(method.class), program.selector_text(method.selector)))
}

fn functions(program: &mut Program, method: MethodId) -> Vec<Option<(Arc<str>, u8)>> {
    let entry = program.method(method);
    let params = entry.params[usize::from(!entry.is_static()).min(entry.params.len())..].to_vec();
    let takes = |class: Option<ClassId>| {
        let class = class.filter(|&class| program.load(class).access & access::INTERFACE != 0)?;
        let function = program.functional_method(class)?;
        let entry = program.method(function);
        Some((program.selector_text(entry.selector).0.into(), entry.params.len() as u8 - 1))
    };
    params.into_iter().map(takes).collect()
}

/// Is this the method that runs when an object of the class is asked for one of its kind?
pub fn runs(program: &Program, class: ClassId, method: MethodId) -> bool {
    let selector = program.method_ref(method).selector;
    let declared = |class| program.declared_method(MethodRef { class, selector });
    let found = program.superclasses(class).find_map(declared);
    // What is inherited from an interface is declared by no class above.
    found.is_none_or(|found| found == method)
}

/// Can a method run where one of `owner` is called on what is declared as a `receiver`? Either its own class is one, or
/// one that inherits it is. A class of the application whose supertypes are missing is nothing else besides: what is
/// missing does not know the application.
fn may_run(
    program: &Program,
    extended: &Extended,
    method: MethodId,
    (receiver, owner): (ClassId, ClassId),
) -> bool {
    let MethodRef { class, selector } = program.method_ref(method);
    if program.class(class).layer != Layer::App || program.class(owner).layer != Layer::App {
        return program.is_subtype_loaded(class, owner);
    }
    let mut below = vec![class];
    while let Some(class) = below.pop() {
        if program.has_supertype(class, receiver) {
            return true;
        }
        let inherits = |&class: &ClassId| program.declared_method(MethodRef { class, selector }).is_none();
        below.extend(extended.get(&class).into_iter().flatten().copied().filter(inherits));
    }
    false
}

/// Is every caller of it in the program? Whoever knows neither its class nor a type that promises it cannot call it.
fn is_closed(program: &Program, method: MethodId) -> bool {
    let entry = program.method(method);
    if entry.access & access::PUBLIC == 0 {
        return true;
    }
    // A class of its own is what a program consists of; one inside another is there for that one.
    let is_known = |class: ClassId| {
        let is_inside = program.class_name(class).contains('$');
        let class = program.class(class);
        class.layer != Layer::App || class.access & access::PUBLIC != 0 || !is_inside
    };
    let promises = |&above: &ClassId| {
        let declared = program.declared_method(MethodRef { class: above, selector: entry.selector });
        let is_open = |method| {
            program.method(method).access & access::PUBLIC != 0 || program.class(above).layer != Layer::App
        };
        declared.is_some_and(|method| is_open(method) && is_known(above))
    };
    let is_special = program.selector_text(entry.selector).0.starts_with('<');
    !is_special && !is_known(entry.class) && !program.supertypes(entry.class).any(|above| promises(&above))
}

/// Does the compiler of its language put the name of the module behind that of a member which only the module may use?
/// In the class file such a member is public.
fn is_mangled(program: &Program, knowledge: &Knowledge, method: MethodId) -> bool {
    let entry = program.method(method);
    let (name, _) = program.selector_text(entry.selector);
    let is_name = |(name, module): (&str, &str)| !name.is_empty() && !module.is_empty();
    let mangles =
        |note: &ir::Annotation| knowledge.says(&program.names[note.class]).contains(&Says::ManglesInternal);
    name.split_once('$').is_some_and(is_name) && program.class(entry.class).annotations.iter().any(mangles)
}

/// Inner classes that extend each other have the object around them in a field each: it is one and the same.
pub fn same_outer(program: &Program, field: FieldId) -> FieldId {
    let Some(of) = outer_class(program, field) else { return field };
    let above = program.superclasses(program.field_ref(field).class).skip(1);
    let outer = |class: ClassId| {
        program.class(class).fields.iter().copied().find(|&other| outer_class(program, other) == Some(of))
    };
    above.map_while(outer).last().unwrap_or(field)
}

/// The class around the one that has this field, if that is what it is there for.
pub fn outer_class(program: &Program, field: FieldId) -> Option<ClassId> {
    let entry = program.field(field);
    let is_outer = entry.access & access::SYNTHETIC != 0 && program.names[entry.name].starts_with("this$");
    entry.class_of.filter(|_| is_outer)
}

/// Is its body worth a summary?
fn is_ours(program: &Program, method: MethodId) -> bool {
    let class = program.class(program.method_ref(method).class);
    class.loaded == Loaded::Yes && class.layer != Layer::Jdk
}

fn answers(program: &mut Program, class: ClassId) -> Vec<MethodId> {
    program.load(class);
    let mut found = Vec::new();
    let own: Vec<ClassId> =
        program.superclasses(class).filter(|&class| program.class(class).layer != Layer::Jdk).collect();
    let above: Vec<ClassId> = program.supertypes(class).filter(|&above| above != class).collect();
    for owner in own {
        for &method in &program.class(owner).methods {
            let entry = program.method(method);
            let is_plain =
                entry.access & (access::STATIC | access::PRIVATE | access::ABSTRACT | access::BRIDGE) == 0;
            let (name, _) = program.selector_text(entry.selector);
            if !is_plain || name.starts_with('<') || !entry.has_code {
                continue;
            }
            let promises = |&above: &ClassId| {
                let methods = program.class(above).methods.iter();
                methods.copied().any(|other| {
                    let other = program.method(other);
                    program.selector_text(other.selector).0 == name
                        && other.params.len() == entry.params.len()
                })
            };
            if above.iter().any(promises) {
                found.push(method);
            }
        }
    }
    found
}
