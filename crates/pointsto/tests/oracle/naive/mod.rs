//! The points-to rules evaluated as plainly as possible: everything is done again and again until nothing
//! changes. Owns the meaning of the rules for the tests, and refuses to know how the solver gets there.

mod body;
mod call;
mod heap;
mod model;
mod outside;

use arena::Interner;
use classfile::Layer;
use ir::{Body, ClassId, FieldId, MethodId, MethodRef, Program, Selector, StmtId, Var, access};
use models::{ModelId, Models};
use pointsto::{Activation, Context, Ctx, LambdaTarget, Obj, Object, Options, Roots, Site, Slot};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

pub type Objects = BTreeSet<Obj>;

/// What was derived. Ids of contexts and objects are this evaluator's own; they are equal where the structures
/// behind them are.
#[derive(Default)]
pub struct Facts {
    pub contexts: Interner<Ctx, Context>,
    pub objects: Interner<Obj, Object>,
    pub acts: BTreeSet<Activation>,
    pub held: BTreeMap<Place, Objects>,
    pub calls: BTreeSet<(Activation, StmtId, Activation)>,
    pub spawns: BTreeSet<Spawn>,
    pub entries: BTreeSet<Activation>,
    pub initialisers: BTreeSet<Activation>,
    pub expansions: BTreeSet<(Activation, StmtId, ModelId)>,
    pub gaps: BTreeSet<Gap>,
    pub merged_origins: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spawn {
    pub from: Activation,
    pub stmt: StmtId,
    pub model: ModelId,
    pub step: u16,
    pub task: Obj,
    pub entry: Activation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    Native(MethodId),
    Reflective(MethodId, StmtId),
    Dynamic(MethodId, StmtId),
    Unresolved(MethodId, StmtId),
}

/// Something that holds objects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Var(Activation, Var),
    /// What an activation returns.
    Result(Activation),
    /// The exceptions of a context.
    Thrown(Ctx),
    Slot(Slot),
    /// A field of every object in a place.
    Field(Box<Place>, FieldId),
    /// The elements of every array in a place.
    Elements(Box<Place>),
    /// The receivers that a modelled method is called on.
    Receivers(Rc<Expansion>),
    /// What a modelled method returns.
    Made(Rc<Expansion>),
    /// A temporary of a model.
    Temp(Rc<Expansion>, u8),
    /// The result of a call that keeps none, for the models expanded there.
    Unkept(Rc<Call>),
    /// Argument `n` of a call made by a model on behalf of a model.
    Passed(Nested, usize),
    /// The result of such a call.
    Returned(Nested),
    /// Always exactly this object.
    Just(Obj),
    /// Holds nothing, ever.
    Nothing,
}

/// A call, by everything that tells it apart from others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    pub act: Activation,
    pub stmt: StmtId,
    pub kind: Kind,
    pub target: Target,
    /// The receiver first, if there is one; primitives are `Nothing`.
    pub args: Vec<Place>,
    pub has_receiver: bool,
    pub dst: Option<Place>,
    /// The step that starts an origin with this call.
    pub spawn: Option<(ModelId, u16)>,
    /// The lambda on whose behalf the call is made.
    pub lambda: Option<Obj>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The call that the statement is.
    Own,
    /// Made on behalf of the statement by a lambda or by code that is not analysed.
    Derived,
    /// Made by a model, or by a lambda on behalf of a model.
    Model,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Virtual(MethodRef),
    Fixed(MethodId),
    /// By name and number of arguments, as models name methods.
    Named(arena::Name, usize),
}

/// A model at work for a call. The method decides which types its steps refer to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expansion {
    pub call: Rc<Call>,
    pub model: ModelId,
    pub method: MethodId,
    pub role: Role,
}

/// How a model goes with the method's own code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It stands for it.
    Instead,
    /// The code runs as well; what it returns is what the method returns.
    Beside,
    /// The same in the container's own code: the call's arguments are that code's parameters.
    Inside,
}

/// A step of a model, expanded at a statement for a call that a model made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nested {
    pub act: Activation,
    pub stmt: StmtId,
    pub model: ModelId,
    pub step: u16,
    pub spawn: Option<(ModelId, u16)>,
}

/// Evaluates the program: first to see how much code each origin runs, then with a context for the small ones.
pub fn solve(program: &mut Program, models: &mut Models, roots: &Roots, options: &Options) -> Facts {
    let quiet = Options { full_jdk: false, ..options.clone() };
    let mut survey = Naive::new(program, models, &quiet, BTreeSet::new());
    survey.is_survey = true;
    let first = survey.run(roots);
    let sizes = origin_sizes(program, &first);
    let small: BTreeSet<Site> =
        sizes.iter().filter(|&(_, &size)| size <= options.origin_budget).map(|(&site, _)| site).collect();
    let merged_origins = sizes.len() - small.len();
    // The largest entry point needs no context of its own.
    let entries = first.entries.iter().filter(|act| roots.entries.contains(&act.method));
    let mut mains: Vec<(u64, MethodId)> = entries.map(|act| (code_size(&first, *act), act.method)).collect();
    mains.sort_unstable();
    mains.pop();
    let mut naive = Naive::new(program, models, options, small);
    let mut left = options.origin_budget;
    for (size, main) in mains {
        let Some(rest) = left.checked_sub(size) else { break };
        left = rest;
        naive.mains.insert(main);
    }
    let facts = naive.run(roots);
    Facts { merged_origins, ..facts }
}

/// For each site in the application that makes tasks, the most facts that application code has when run by one.
fn origin_sizes(program: &Program, facts: &Facts) -> BTreeMap<Site, u64> {
    let mut sizes = BTreeMap::new();
    for spawn in &facts.spawns {
        let site = facts.objects[spawn.task].site;
        let (Site::Alloc(maker, _) | Site::Model(maker, ..)) = site else { continue };
        if program.class(program.method(maker).class).layer == Layer::Jdk {
            continue;
        }
        let size = code_size(facts, spawn.entry);
        let largest = sizes.entry(site).or_insert(0);
        *largest = size.max(*largest);
    }
    sizes
}

/// The facts of the application code that is run from here.
fn code_size(facts: &Facts, entry: Activation) -> u64 {
    let mut run = BTreeSet::from([entry]);
    loop {
        let called = facts.calls.iter().filter(|(from, ..)| run.contains(from)).map(|&(.., to)| to);
        let more: BTreeSet<Activation> = called.chain(run.iter().copied()).collect();
        if more == run {
            break;
        }
        run = more;
    }
    run.retain(|act| facts.contexts[facts.code_ctx(act.ctx)] == Context::Entry);
    let size = facts.held.iter().map(|(place, objects)| match place {
        Place::Var(act, _) | Place::Result(act) if run.contains(act) => objects.len() as u64,
        _ => 0,
    });
    size.sum()
}

impl Facts {
    /// Constructors run in the code that makes their object.
    fn code_ctx(&self, ctx: Ctx) -> Ctx {
        match self.contexts[ctx] {
            Context::Made(obj) => self.code_ctx(self.objects[obj].ctx),
            Context::Inherited(outer, _) | Context::Helper(outer, ..) => self.code_ctx(outer),
            _ => ctx,
        }
    }

    /// What a context belongs to: where its object was made, or its call.
    fn outer_ctx(&self, ctx: Ctx) -> Option<Ctx> {
        match self.contexts[ctx] {
            Context::Shared | Context::Entry | Context::Main(_) => None,
            Context::Origin(obj) | Context::Made(obj) | Context::Container(obj) => {
                Some(self.objects[obj].ctx)
            }
            Context::Call(outer, ..) | Context::Inherited(outer, _) | Context::Helper(outer, ..) => {
                Some(outer)
            }
        }
    }

    /// The task of the innermost origin that a context belongs to.
    fn task_behind(&self, ctx: Ctx) -> Option<Obj> {
        match self.contexts[ctx] {
            Context::Origin(task) => Some(task),
            _ => self.outer_ctx(ctx).and_then(|outer| self.task_behind(outer)),
        }
    }

    /// Constructors around a context, within its origin.
    fn constructors_around(&self, ctx: Ctx) -> usize {
        let outer = || self.outer_ctx(ctx).map_or(0, |outer| self.constructors_around(outer));
        match self.contexts[ctx] {
            Context::Origin(_) => 0,
            Context::Made(_) => 1 + outer(),
            _ => outer(),
        }
    }
}

struct Naive<'a> {
    program: &'a mut Program,
    models: &'a mut Models,
    options: &'a Options,
    /// Sites of tasks whose origins have a context of their own.
    small: BTreeSet<Site>,
    /// Entry points with a context of their own.
    mains: BTreeSet<MethodId>,
    /// All application code in one context.
    is_survey: bool,
    shared: Ctx,
    entry: Ctx,
    facts: Facts,
    lambdas: BTreeMap<Obj, LambdaTarget>,
    /// Field handles and the field they stand for.
    handles: BTreeMap<Obj, FieldId>,
    /// Arrays of length 0.
    empty: Objects,
    /// Calls made in this round.
    made: BTreeSet<Rc<Call>>,
    changed: bool,
    known: BTreeMap<ClassId, Traits>,
}

#[derive(Clone, Copy)]
struct Traits {
    layer: Layer,
    /// Bodies are not analysed.
    opaque: bool,
    /// One object for all instances.
    merged: bool,
    /// Methods are analysed per object.
    container: bool,
}

impl<'a> Naive<'a> {
    fn new(
        program: &'a mut Program,
        models: &'a mut Models,
        options: &'a Options,
        small: BTreeSet<Site>,
    ) -> Self {
        let mut facts = Facts::default();
        Naive {
            program,
            models,
            options,
            small,
            mains: BTreeSet::new(),
            is_survey: false,
            shared: facts.contexts.intern(Context::Shared),
            entry: facts.contexts.intern(Context::Entry),
            facts,
            lambdas: BTreeMap::new(),
            handles: BTreeMap::new(),
            empty: Objects::new(),
            made: BTreeSet::new(),
            changed: true,
            known: BTreeMap::new(),
        }
    }

    fn run(mut self, roots: &Roots) -> Facts {
        while std::mem::take(&mut self.changed) {
            self.made.clear();
            for &method in &roots.boot {
                let act = self.reach(self.shared, method);
                self.changed |= self.facts.initialisers.insert(act);
            }
            for &method in &roots.entries {
                let own = self.mains.contains(&method).then_some(Context::Main(method));
                let ctx = own.map_or(self.entry, |own| self.facts.contexts.intern(own));
                self.enter(ctx, method);
            }
            for act in self.facts.acts.clone() {
                self.run_body(act);
            }
        }
        self.facts
    }

    /// An entry point is called from outside, with one object for each declared type; its receiver was made
    /// outside through any of its constructors.
    fn enter(&mut self, ctx: Ctx, method: MethodId) {
        let info = self.program.method(method).clone();
        self.initialise(info.class);
        let act = self.reach(ctx, method);
        self.changed |= self.facts.entries.insert(act);
        let Some(body) = self.program.body(method) else { return };
        let is_static = info.access & access::STATIC != 0;
        for (n, (&param, class)) in body.params.iter().zip(info.params).enumerate() {
            let Some(class) = class else { continue };
            let obj = if n == 0 && !is_static {
                self.object(Object { site: Site::The, ctx, class })
            } else {
                self.outside_object(class)
            };
            self.add(&self.var(act, &body, param), obj);
        }
        if !is_static && !self.is_constructor(method) {
            for method in self.constructors(info.class) {
                self.enter(ctx, method);
            }
        }
    }

    /// The activation, reachable from now on.
    fn reach(&mut self, ctx: Ctx, method: MethodId) -> Activation {
        let act = Activation { ctx, method };
        self.changed |= self.facts.acts.insert(act);
        act
    }

    /// The initialiser of a class runs, and those of its superclasses.
    fn initialise(&mut self, class: ClassId) {
        self.program.load(class);
        let classes: Vec<ClassId> = self.program.superclasses(class).collect();
        for class in classes {
            if self.traits(class).opaque {
                continue;
            }
            let selector = self.program.selector("<clinit>", "()V");
            if let Some(method) = self.program.declared_method(MethodRef { class, selector }) {
                let is_jdk = self.program.class(class).layer == Layer::Jdk;
                let act = self.reach(if is_jdk { self.shared } else { self.entry }, method);
                self.changed |= self.facts.initialisers.insert(act);
            }
        }
    }

    fn gap(&mut self, gap: Gap) {
        self.facts.gaps.insert(gap);
    }

    fn constructors(&mut self, class: ClassId) -> Vec<MethodId> {
        let methods = self.program.load(class).methods.clone();
        methods.into_iter().filter(|&method| self.is_constructor(method)).collect()
    }

    fn is_constructor(&self, method: MethodId) -> bool {
        self.name_of(self.program.method(method).selector) == "<init>"
    }

    fn name_of(&self, selector: Selector) -> &str {
        self.program.selector_text(selector).0
    }

    fn body(&mut self, method: MethodId) -> Option<Arc<Body>> {
        self.program.body(method)
    }

    fn traits(&mut self, class: ClassId) -> Traits {
        if let Some(&traits) = self.known.get(&class) {
            return traits;
        }
        let is_throwable = self.is_throwable(class);
        let info = self.program.class(class);
        let name = self.program.names[info.name].to_string();
        let policy = if self.options.full_jdk { &self.models.full } else { &self.models.quiet };
        let is_jdk = info.layer == Layer::Jdk;
        let is_missing = info.loaded == ir::Loaded::Missing;
        let mut excluded = self.options.exclude.iter().map(|prefix| prefix.replace('.', "/"));
        let traits = Traits {
            layer: info.layer,
            opaque: excluded.any(|prefix| name.starts_with(&prefix)) || is_jdk && policy.is_opaque(&name),
            merged: policy.is_merged(&name) || is_jdk && is_throwable && !is_missing,
            container: is_jdk && policy.is_container(&name),
        };
        self.known.insert(class, traits);
        traits
    }
}
