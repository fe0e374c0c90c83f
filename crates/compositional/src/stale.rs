//! What a change of classes makes stale: names that mean something else now, and the methods that speak of them.
//! Whatever is stale is worked out again, so too much of it costs time and never exactness.

use crate::engine::Compositional;
use crate::link::Holds;
use crate::methods::Slot;
use crate::order::Need;
use crate::outline::{Event, Outline, Value};
use ir::{ClassChange, ClassId, FieldId, FieldRef, MethodRef, Program, ProgramDelta, Selector};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

#[derive(Default)]
pub(crate) struct Stale {
    /// Classes with other members, supertypes or words about themselves, and all below them.
    pub classes: FxHashSet<ClassId>,
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
        for change in &delta.classes {
            let members = change.methods.iter().map(|member| member.id);
            self.selectors.extend(members.map(|method| program.method_ref(method).selector));
            self.fields.extend(change.fields.iter().map(|member| member.id));
        }
        let all: Vec<ClassId> = delta.classes.iter().map(|change| change.class).collect();
        self.classes.extend(program.loaded_subtypes(&all));
        self.classes.extend(all);
    }

    /// A class that nobody has looked for before.
    pub fn tell_new(&mut self, program: &Program, class: ClassId) {
        self.classes.insert(class);
        self.selectors.extend(selectors(program, class));
    }

    pub fn is_about_names(&self) -> bool {
        !self.classes.is_empty() || !self.selectors.is_empty() || !self.fields.is_empty()
    }
}

fn selectors(program: &Program, class: ClassId) -> impl Iterator<Item = Selector> + '_ {
    program.class(class).methods.iter().map(|&method| program.method_ref(method).selector)
}

/// Finds the methods that speak of stale names.
pub(crate) fn find(engine: &Compositional, program: &Program, stale: &Stale) -> Vec<u32> {
    if !stale.is_about_names() {
        return Vec::new();
    }
    let mentions = Mentions { engine, stale, named: named(program, stale) };
    let rest: Vec<u32> = engine.methods.all().filter(|number| !stale.methods.contains(number)).collect();
    rest.into_par_iter().filter(|&number| mentions.in_slot(engine.methods.at(number))).collect()
}

/// Selectors whose parameters are of a stale class: whether those are functions is another question now.
fn named(program: &Program, stale: &Stale) -> FxHashSet<Selector> {
    let names: FxHashSet<&str> = stale.classes.iter().map(|&class| program.class_name(class)).collect();
    let is_named = |selector: &Selector| {
        let (_, descriptor) = program.selector_text(*selector);
        ir::descriptor::parameters(descriptor)
            .any(|param| param.class().is_some_and(|class| names.contains(class)))
    };
    program.selectors().filter(is_named).collect()
}

struct Mentions<'a> {
    engine: &'a Compositional,
    stale: &'a Stale,
    named: FxHashSet<Selector>,
}

impl Mentions<'_> {
    fn in_slot(&self, slot: &Slot) -> bool {
        // Objects of a class that only the called method names.
        let returns = |need: &Need| {
            let summary = self.engine.methods.at_if(need.number).and_then(|slot| slot.summary.as_ref());
            summary.and_then(|summary| summary.returns.class).is_some_and(|class| self.class(class))
        };
        self.in_outline(&slot.packed.outline()) || slot.needs.iter().any(returns)
    }

    fn in_outline(&self, outline: &Outline) -> bool {
        let in_value = |value: &Value| match value {
            Value::Made(class) | Value::Class(class) => self.class(*class),
            Value::Field { field, .. } | Value::Static { field } => self.field(*field),
            _ => false,
        };
        let in_event = |event: &Event| match event {
            Event::Read { field, .. }
            | Event::Write { field, .. }
            | Event::ReadStatic { field }
            | Event::WriteStatic { field, .. } => self.field(*field),
            Event::Call { target, .. } => self.method(*target),
            _ => false,
        };
        outline.values.iter().any(in_value)
            || outline.events.iter().any(in_event)
            || outline.lambdas.iter().any(|lambda| {
                self.class(lambda.interface) || self.selector(lambda.selector) || self.method(lambda.target)
            })
    }

    fn class(&self, class: ClassId) -> bool {
        self.stale.classes.contains(&class)
    }

    fn selector(&self, selector: Selector) -> bool {
        self.stale.selectors.contains(&selector) || self.named.contains(&selector)
    }

    fn method(&self, method: MethodRef) -> bool {
        self.class(method.class) || self.selector(method.selector)
    }

    fn field(&self, field: FieldRef) -> bool {
        let holds = |id: FieldId| match self.engine.link.info(id).map(|info| info.holds) {
            Some(Holds::Only(class)) => self.class(class),
            _ => false,
        };
        let is_stale = |id: FieldId| self.stale.fields.contains(&id) || holds(id);
        self.class(field.class) || self.engine.link.field(field).is_some_and(is_stale)
    }
}
