//! What a method does with what it has read: whether the value only decides a branch, and whether the field has been
//! given another object since. Reads outlines; decides nothing about threads and locks.

use crate::engine::Compositional;
use crate::entry::Seen;
use crate::outline::{Event, Outline, Value, ValueId};
use ir::{FieldRef, Program};

/// Results of calls that are looked through to find the container behind an iterator or a view.
const MOST_VIEWS: usize = 3;

impl Compositional {
    /// Is it a read whose value is only tested or, if it is a flag, returned? An old value then costs a wrong turn and
    /// nothing else. Numbers do not count: what is calculated with them is not in an outline.
    pub(crate) fn is_only_tested(&self, program: &Program, seen: &Seen<'_>) -> bool {
        let (method, at) = self.last_site(seen.entry.method, seen.number);
        let Some(slot) = self.methods.get(method).filter(|_| !seen.access.writes) else { return false };
        let outline = slot.packed.outline();
        match outline.events.get(at as usize) {
            Some(Event::Read { base, field }) => {
                let is_it = |value: &Value| *value == Value::Field { base: *base, field: *field };
                is_tested(program, &outline, *field, is_it)
            }
            Some(Event::ReadStatic { field }) => {
                is_tested(program, &outline, *field, |value| *value == Value::Static { field: *field })
            }
            Some(Event::Call { target, .. }) => {
                self.knowledge.only_counts(program.selector_text(target.selector).0)
            }
            _ => false,
        }
    }

    /// Is the object one that the method has taken out of its field, which holds another one since?
    pub(crate) fn is_detached(&self, seen: &Seen<'_>) -> bool {
        let (method, at) = self.last_site(seen.entry.method, seen.number);
        let Some(slot) = self.methods.get(method) else { return false };
        let outline = slot.packed.outline();
        let operand = match outline.events.get(at as usize) {
            Some(Event::Call { args, .. }) => args.first().copied(),
            Some(Event::ReadElement { base } | Event::WriteElement { base, .. }) => Some(*base),
            _ => None,
        };
        operand.and_then(|value| container(&outline, value)).is_some_and(|(base, field)| {
            let before = &outline.events[..at as usize];
            let is_write = |event: &Event| match event {
                Event::Write { base: of, field: to, .. } => Some(*of) == base && *to == field,
                Event::WriteStatic { field: to, .. } => base.is_none() && *to == field,
                _ => false,
            };
            let is_read = |event: &Event| match event {
                Event::Read { base: of, field: from } => Some(*of) == base && *from == field,
                Event::ReadStatic { field: from } => base.is_none() && *from == field,
                _ => false,
            };
            let written = before.iter().rposition(is_write);
            written.is_some_and(|written| {
                before[..written].iter().any(is_read) && !before[written..].iter().any(is_read)
            })
        })
    }
}

/// Does no event use the value, and is it of a kind that is seen where it is used?
fn is_tested(program: &Program, outline: &Outline, field: FieldRef, is_it: impl Fn(&Value) -> bool) -> bool {
    let descriptor = &program.names[field.descriptor];
    descriptor.starts_with(['L', '[', 'Z']) && !outline.values.iter().any(is_it)
}

/// The field that a container was loaded from, through its iterators and views; without a base it is static.
fn container(outline: &Outline, mut value: ValueId) -> Option<(Option<ValueId>, FieldRef)> {
    for _ in 0..MOST_VIEWS {
        match &outline.values[value as usize] {
            Value::Field { base, field } => return Some((Some(*base), *field)),
            Value::Static { field } => return Some((None, *field)),
            Value::Result(event) => match outline.events.get(*event as usize)? {
                Event::Call { args, .. } => value = *args.first()?,
                _ => return None,
            },
            _ => return None,
        }
    }
    None
}
