//! `synchronized` on an object that is a lock by its own methods: the monitor keeps nobody out who calls those.
//! Reads outlines, and goes by declared types; knows nothing of what is done under the lock.

use crate::engine::Compositional;
use crate::guard::is_lock_named;
use crate::methods::Slot;
use crate::outline::{Event, EventId, Outline, Value, ValueId};
use crate::path::Path;
use classfile::Layer;
use ir::{MethodId, Program};
use rayon::prelude::*;

/// A monitor that is taken in the place of a lock.
pub(crate) struct Misuse {
    pub method: MethodId,
    pub at: EventId,
    /// The declared class of the object, by its internal name.
    pub class: String,
    /// What the method calls it, if that is known.
    pub lock: Option<Path>,
}

pub(crate) fn find(engine: &Compositional, program: &Program) -> Vec<Misuse> {
    let is_asked =
        |slot: &&Slot| slot.size.has_monitors && program.class(slot.method.class).layer == Layer::App;
    let slots = engine.methods.slots().par_iter().flatten().filter(is_asked);
    slots.flat_map_iter(|slot| of_method(engine, program, slot)).collect()
}

fn of_method(engine: &Compositional, program: &Program, slot: &Slot) -> Vec<Misuse> {
    let outline = slot.packed.outline();
    let types = Types { engine, program, slot, outline: &outline };
    let mut found: Vec<Misuse> = Vec::new();
    for (at, event) in outline.events.iter().enumerate() {
        let Event::Enter(value) = event else { continue };
        // A lock that is made with monitors locks its own.
        let is_this = !slot.method.is_static && outline.values[*value as usize] == Value::Param(0);
        let class = types.of(*value, 0).filter(|class| is_lock_named(program, &engine.knowledge, class));
        let Some(class) = class.filter(|_| !is_this) else { continue };
        let taken = slot.summary.get().map_or(&[][..], |summary| &summary.taken);
        let at = at as EventId;
        let lock = taken.iter().find(|taken| taken.site.at == at && taken.site.via.is_none());
        let lock = lock.map(|taken| taken.lock);
        if lock.is_none() || !found.iter().any(|known| known.lock == lock) {
            found.push(Misuse { method: slot.method.id, at, class, lock });
        }
    }
    found
}

/// The types that values are declared with, by their internal names: which of them have ids depends on what was looked
/// for before.
struct Types<'a> {
    engine: &'a Compositional,
    program: &'a Program,
    slot: &'a Slot,
    outline: &'a Outline,
}

/// Values that come from further away have no type.
const FARTHEST: usize = 8;

impl Types<'_> {
    fn of(&self, value: ValueId, depth: usize) -> Option<String> {
        if depth > FARTHEST {
            return None;
        }
        let name = |class| self.program.class_name(class).to_owned();
        match &self.outline.values[value as usize] {
            Value::Made(class) => Some(name(*class)),
            Value::Param(number) => {
                let params = &self.program.method(self.slot.method.id).params;
                params.get(usize::from(*number)).copied().flatten().map(name)
            }
            Value::Field { field, .. } | Value::Static { field } => {
                self.program.field(self.engine.link.field(*field)?).class_of.map(name)
            }
            Value::Element { base } => class_in(self.of(*base, depth + 1)?.strip_prefix('[')?),
            Value::Result(event) => {
                let Event::Call { target, .. } = &self.outline.events[*event as usize] else { return None };
                let (_, descriptor) = self.program.selector_text(target.selector);
                class_in(descriptor.rsplit_once(')')?.1)
            }
            Value::Any(values) => {
                let is_known = |&&value: &&ValueId| self.outline.values[value as usize] != Value::Constant;
                let mut types = values.iter().filter(is_known).map(|&value| self.of(value, depth + 1));
                let first = types.next().flatten()?;
                types.all(|class| class.as_ref() == Some(&first)).then_some(first)
            }
            Value::Class(_) | Value::Constant | Value::One | Value::Lambda(_) | Value::Unknown => None,
        }
    }
}

/// The class that a descriptor names.
fn class_in(descriptor: &str) -> Option<String> {
    match descriptor.starts_with('[') {
        true => Some(descriptor.to_owned()),
        false => Some(descriptor.strip_prefix('L')?.strip_suffix(';')?.to_owned()),
    }
}
