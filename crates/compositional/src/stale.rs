//! What a change of classes makes stale: names that mean something else now, and the methods that speak of them.
//! Whatever is stale is worked out again, so too much of it costs time and never exactness.

use crate::engine::Compositional;
use crate::link::{Holds, digest};
use crate::order::Need;
use crate::outline::{Event, Outline, Value};
use classfile::Layer;
use ir::{
    ClassChange, ClassId, FieldId, FieldRef, MemberChange, Method, MethodId, MethodRef, Program,
    ProgramDelta, Selector,
};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

#[derive(Default)]
pub(crate) struct Stale {
    /// Classes with other members, supertypes or words about themselves, and all below them.
    pub classes: FxHashSet<ClassId>,
    /// Classes of which nothing is other than that methods take their own lock, or no longer do: that is their
    /// summaries' business, and names mean what they did.
    pub locked: FxHashSet<ClassId>,
    /// Which methods are called by these is another question now.
    pub selectors: FxHashSet<Selector>,
    /// Fields of which something else is known.
    pub fields: FxHashSet<FieldId>,
    /// Numbers of the methods that are to be summarised again.
    pub methods: FxHashSet<u32>,
}

impl Stale {
    /// What is other about classes that were known before, seen from the program as it is before or after the change.
    pub fn tell(&mut self, delta: &ProgramDelta, program: &Program) {
        let moves = |change: &&ClassChange| {
            change.presence_changed() || change.supers_changed() || change.layer_changed()
        };
        let moved: Vec<ClassId> = delta.classes.iter().filter(moves).map(|change| change.class).collect();
        for class in program.loaded_subtypes(&moved) {
            self.selectors.extend(selectors(program, class));
        }
        let (locked, others): (Vec<&ClassChange>, Vec<&ClassChange>) =
            delta.classes.iter().partition(|change| only_locks(change));
        self.locked.extend(locked.iter().map(|change| change.class));
        for change in &others {
            let members = change.methods.iter().map(|member| member.id);
            self.selectors.extend(members.map(|method| program.method_ref(method).selector));
            self.fields.extend(change.fields.iter().map(|member| member.id));
        }
        let all: Vec<ClassId> = others.iter().map(|change| change.class).collect();
        self.classes.extend(program.loaded_subtypes(&all));
        self.classes.extend(all);
    }

    /// A class that nobody has looked for before.
    pub fn tell_new(&mut self, program: &Program, class: ClassId) {
        self.classes.insert(class);
        self.selectors.extend(selectors(program, class));
    }

    /// There are never fewer than before.
    pub fn count_names(&self) -> usize {
        self.classes.len() + self.selectors.len() + self.fields.len()
    }

    pub fn is_about_names(&self) -> bool {
        self.count_names() > 0
    }
}

/// Whether nothing but the own locks of methods has changed.
fn only_locks(change: &ClassChange) -> bool {
    let is_lock = |member: &MemberChange<MethodId, Method>| member.is_of_lock();
    !change.header_changed() && change.fields.is_empty() && change.methods.iter().all(is_lock)
}

/// Of all methods that an object of the class may answer a call with: what it inherits as well.
fn selectors(program: &Program, class: ClassId) -> impl Iterator<Item = Selector> + '_ {
    let own = program.superclasses(class).filter(|&above| program.class(above).layer != Layer::Jdk);
    own.flat_map(|class| {
        program.class(class).methods.iter().map(|&method| program.method_ref(method).selector)
    })
}

/// Finds the methods that speak of stale names.
pub(crate) fn find(engine: &Compositional, program: &Program, stale: &Stale) -> Vec<u32> {
    if !stale.is_about_names() {
        return Vec::new();
    }
    let names = names(engine, program, stale);
    // Objects of a class that only the called method names.
    let is_stale = |class: &ClassId| stale.classes.contains(class);
    let returning: FxHashSet<u32> = engine
        .methods
        .all()
        .filter(|&number| engine.methods.at(number).facts.returned.as_ref().is_some_and(is_stale))
        .collect();
    let rest: Vec<u32> = engine.methods.all().filter(|number| !stale.methods.contains(number)).collect();
    let mentions = |number: &u32| {
        let slot = engine.methods.at(*number);
        let returns = |need: &Need| returning.contains(&need.number);
        slot.facts.mentions.iter().any(|mention| names.contains(mention))
            || (!returning.is_empty() && slot.needs.iter().any(returns))
    };
    rest.into_par_iter().filter(mentions).collect()
}

/// All names that are stale.
fn names(engine: &Compositional, program: &Program, stale: &Stale) -> FxHashSet<Mention> {
    let mut names: FxHashSet<Mention> = FxHashSet::default();
    names.extend(stale.classes.iter().map(|&class| Mention::class(class)));
    let selectors = stale.selectors.iter().copied().chain(with_parameters(program, stale));
    names.extend(selectors.map(Mention::selector));
    let is_stale = |field: FieldId| {
        let holds = engine.link.info(field).map(|info| info.holds);
        stale.fields.contains(&field)
            || matches!(holds, Some(Holds::Only(class)) if stale.classes.contains(&class))
    };
    let fields = engine.link.fields().filter(|&(_, field)| is_stale(field));
    names.extend(fields.map(|(name, _)| Mention::field(name)));
    names
}

/// Selectors whose parameters are of a stale class: whether those are functions is another question now.
fn with_parameters(program: &Program, stale: &Stale) -> Vec<Selector> {
    let names: FxHashSet<&str> = stale.classes.iter().map(|&class| program.class_name(class)).collect();
    let is_named = |selector: &Selector| {
        let (_, descriptor) = program.selector_text(*selector);
        ir::descriptor::parameters(descriptor)
            .any(|param| param.class().is_some_and(|class| names.contains(class)))
    };
    program.selectors().collect::<Vec<_>>().into_par_iter().filter(is_named).collect()
}

/// A name in an outline, in a few bits: two names may be taken for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Mention(u32);

impl Mention {
    pub fn class(class: ClassId) -> Mention {
        Mention(class.0 << 2)
    }

    fn selector(selector: Selector) -> Mention {
        Mention(selector.0 << 2 | 1)
    }

    pub fn field(field: FieldRef) -> Mention {
        Mention((digest(field) >> 32) as u32 | 3)
    }

    /// All that an outline speaks of.
    pub fn all(outline: &Outline) -> Box<[Mention]> {
        let mut all = Vec::new();
        let method = |method: MethodRef| [Mention::class(method.class), Mention::selector(method.selector)];
        let field = |field: FieldRef| [Mention::class(field.class), Mention::field(field)];
        for value in &outline.values {
            match value {
                Value::Made(class) | Value::Class(class) => all.push(Mention::class(*class)),
                Value::Field { field: name, .. } | Value::Static { field: name } => all.extend(field(*name)),
                _ => {}
            }
        }
        for event in &outline.events {
            match event {
                Event::Read { field: name, .. }
                | Event::Write { field: name, .. }
                | Event::ReadStatic { field: name }
                | Event::WriteStatic { field: name, .. } => all.extend(field(*name)),
                Event::Call { target, .. } => all.extend(method(*target)),
                _ => {}
            }
        }
        for lambda in &outline.lambdas {
            all.extend([Mention::class(lambda.interface), Mention::selector(lambda.selector)]);
            all.extend(method(lambda.target));
        }
        all.sort_unstable();
        all.dedup();
        all.into()
    }
}
