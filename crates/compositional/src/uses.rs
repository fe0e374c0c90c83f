//! What a method does with what it has read: whether the value only decides a branch, and whether the field has been
//! given another object since. Reads outlines; decides nothing about threads and locks.

use crate::engine::Compositional;
use crate::entry::Seen;
use crate::outline::{Event, Outline, Value, ValueId};
use crate::path::{Path, Root, Step};
use crate::summary::Access;
use ir::{CallKind, FieldId, FieldRef, MethodId, Program};

/// Results of calls that are looked through to find the container behind an iterator or a view.
const MOST_VIEWS: usize = 3;
/// A method that only reports a state does not do more than this.
const MOST_REPORTED: usize = 8;

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

    /// Does the method only report a state: it takes nothing, changes nothing, takes no lock, and returns what it reads or
    /// what other such methods say? Nobody can rely on the answer for longer than it takes to return it.
    pub(crate) fn only_reports(&self, program: &Program, method: MethodId) -> bool {
        let Some((slot, summary)) = self.methods.get(method).zip(self.summary(method)) else { return false };
        let (_, descriptor) = program.selector_text(program.method_ref(method).selector);
        if !descriptor.starts_with("()") || descriptor.ends_with('V') {
            return false;
        }
        let is_quiet = |event: &Event| match event {
            Event::Read { .. } | Event::ReadStatic { .. } | Event::Return(_) => true,
            Event::Call { args, kind: CallKind::Virtual | CallKind::Special, .. } => args.len() == 1,
            _ => false,
        };
        let outline = slot.packed.outline();
        outline.events.len() <= MOST_REPORTED
            && outline.events.iter().all(is_quiet)
            && summary.taken.is_empty()
            && summary.accesses.iter().all(|access| !access.writes && access.started == 0)
    }

    /// Does the method that reads a flag or a small number without the lock read it again further down with it? Then the
    /// first look only saves taking the lock.
    pub(crate) fn is_tested_again(&self, program: &Program, seen: &Seen<'_>, lock: Path) -> bool {
        let Some(field) = own_field(&seen.path).filter(|_| !seen.access.writes) else { return false };
        let descriptor = &program.names[program.field_ref(field).descriptor];
        let Some(summary) = self.summary(seen.entry.method) else { return false };
        let is_again = |(number, access): (usize, &Access)| {
            !access.writes
                && access.path == seen.access.path
                && access.site.at > seen.access.site.at
                && access.held.iter().any(|held| held.sure && seen.entry.lock(held.lock) == lock)
                && !self.is_updated(seen.entry.method, number as u32)
        };
        // A reference that is used without the lock may lead to what is only half made.
        let is_small = descriptor.len() == 1 && !matches!(descriptor, "J" | "D");
        is_small && summary.accesses.iter().enumerate().any(is_again)
    }

    /// Is what is read written at once, as `n++` does? That tests nothing.
    fn is_updated(&self, method: MethodId, number: u32) -> bool {
        let (method, at) = self.last_site(method, number);
        let Some(slot) = self.methods.get(method) else { return false };
        let events = &slot.packed.outline().events;
        let field = |event: Option<&Event>| match event {
            Some(Event::Read { field, .. } | Event::ReadStatic { field }) => Some((false, *field)),
            Some(Event::Write { field, .. } | Event::WriteStatic { field, .. }) => Some((true, *field)),
            _ => None,
        };
        let read = field(events.get(at as usize)).map(|(_, field)| field);
        field(events.get(at as usize + 1)).is_some_and(|(writes, field)| writes && Some(field) == read)
    }

    /// Is the object one that the method has taken out of its field, which holds another one since?
    pub(crate) fn is_detached(&self, seen: &Seen<'_>) -> bool {
        let way = self.way(seen.entry.method, seen.number);
        let last = way.len().saturating_sub(1);
        let mut frames = way.iter().enumerate();
        frames.any(|(number, (method, access))| self.takes_detached(*method, access.site.at, number == last))
    }

    /// Does a method use such an object at this place, or hand it to what it calls there?
    fn takes_detached(&self, method: MethodId, at: u32, is_last: bool) -> bool {
        let Some(slot) = self.methods.get(method) else { return false };
        let outline = slot.packed.outline();
        let operands = match outline.events.get(at as usize) {
            Some(Event::Call { args, .. }) if is_last => &args[..args.len().min(1)],
            Some(Event::Call { args, .. }) => args,
            Some(Event::ReadElement { base } | Event::WriteElement { base, .. }) => {
                std::slice::from_ref(base)
            }
            _ => &[],
        };
        let brought = operands.iter().flat_map(|&value| brought(&outline, value));
        brought.filter_map(|value| container(&outline, value)).any(|(base, field)| {
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

/// A value, and what it brings along: what a function has captured, or an object was made with.
fn brought(outline: &Outline, value: ValueId) -> Vec<ValueId> {
    let mut brought = vec![value];
    match &outline.values[value as usize] {
        Value::Lambda(number) => brought.extend(&outline.lambdas[*number as usize].captures),
        Value::Made(_) => {
            let made_with = |event: &Event| match event {
                Event::Call { kind: CallKind::Special, args, .. } if args.first() == Some(&value) => {
                    args[1..].to_vec()
                }
                _ => Vec::new(),
            };
            brought.extend(outline.events.iter().flat_map(made_with));
        }
        _ => {}
    }
    brought
}

/// The field that a path ends at.
fn own_field(path: &Path) -> Option<FieldId> {
    match (path.last(), path.root) {
        (Some(Step::Field(field)), _) | (None, Root::Static(field)) => Some(field),
        _ => None,
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
