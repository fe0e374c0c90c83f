//! What harm a race on a field does, as far as the two methods show it: an update that is lost, an object that is gone after
//! it was tested for, one that is seen half made. Everything else is told with less confidence: an old value is mostly
//! harmless (docs/precision.md). Reads outlines and summaries.

use crate::engine::Compositional;
use crate::entry::Seen;
use crate::outline::{Event, EventId, Outline, Value, ValueId};
use classfile::Layer;
use ir::{CallKind, FieldRef, Program, access};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Harm {
    /// Both write, and one of them what it has calculated from what was there before.
    LostUpdate,
    /// Tested for null and read again, while the other side sets it to null.
    GoneAfterTest,
    /// A loop tests it and does nothing else that would make it look again: it may go on for ever.
    NeverSeen,
    /// Tested without the lock under which it is made, and not volatile: it may be seen before it is complete.
    HalfMade,
}

impl Harm {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Harm::LostUpdate => "an update may be lost: the new value depends on the old one",
            Harm::GoneAfterTest => "it is tested for null and read again, and may be null by then",
            Harm::NeverSeen => "a loop waits for it, and may never see the change",
            Harm::HalfMade => "whoever finds it without the lock may see an object that is only half made",
        }
    }
}

/// A read or write of a field, by its object; static fields have none.
type Place = (Option<ValueId>, FieldRef);

impl Compositional {
    pub(crate) fn harm(&self, program: &Program, sides: &[Seen<'_>; 2]) -> Option<Harm> {
        let [one, other] = sides;
        match (one.access.writes, other.access.writes) {
            (true, true) => (self.is_update(one) || self.is_update(other)).then_some(Harm::LostUpdate),
            (false, true) => self.harm_to_reader(program, one, other),
            (true, false) => self.harm_to_reader(program, other, one),
            (false, false) => None,
        }
    }

    fn harm_to_reader(&self, program: &Program, reader: &Seen<'_>, writer: &Seen<'_>) -> Option<Harm> {
        let (method, at) = self.last_site(reader.entry.method, reader.number);
        let outline = self.methods.get(method)?.packed.outline();
        let place = read(outline.events.get(at as usize)?)?;
        if reader.held.is_empty() && self.is_tested_by_idle_loop(program, &outline, at) {
            return Some(Harm::NeverSeen);
        }
        if !program.names[place.1.descriptor].starts_with(['L', '[']) {
            return None;
        }
        if self.sets_null(writer) && is_used_after_test(&outline, place, at) {
            return Some(Harm::GoneAfterTest);
        }
        let is_half_made = reader.held.is_empty()
            && !writer.held.is_empty()
            && outline.blocks.iter().any(|block| block.test.is_some_and(|test| test.of == at))
            && (self.is_made_in(program, &outline, place) || self.is_made_lazily(program, reader, writer));
        is_half_made.then_some(Harm::HalfMade)
    }

    /// Does one method lead to both, and is the field tested again under the lock before the object is put there?
    fn is_made_lazily(&self, program: &Program, reader: &Seen<'_>, writer: &Seen<'_>) -> bool {
        let (method, at) = self.last_site(writer.entry.method, writer.number);
        let Some(slot) = self.methods.get(method).filter(|_| reader.entry.method == writer.entry.method)
        else {
            return false;
        };
        let outline = slot.packed.outline();
        let Some((place, src)) = outline.events.get(at as usize).and_then(written) else { return false };
        let mut tests = outline.blocks.iter().filter_map(|block| block.test).filter(|test| test.of < at);
        let is_open = match &outline.values[src as usize] {
            Value::Made(class) => is_open(program, *class),
            // What was passed in may be seen by others in any case.
            Value::Result(_) => self.is_open_type(program, place.1),
            _ => false,
        };
        is_open && tests.any(|test| outline.events.get(test.of as usize).and_then(read) == Some(place))
    }

    /// May what is declared like this have fields that change, for all that is known of its class?
    fn is_open_type(&self, program: &Program, field: FieldRef) -> bool {
        let Some(class) = self.link.field(field).and_then(|field| program.field(field).class_of) else {
            return false;
        };
        let known = program.class(class);
        let is_made = known.layer == Layer::App && known.access & (access::INTERFACE | access::ABSTRACT) == 0;
        match is_made {
            true => is_open(program, class),
            false => known.layer != Layer::Jdk || class == ir::OBJECT_CLASS,
        }
    }

    /// Does a loop go on by what is read there, without locks, volatile fields and calls that may block?
    fn is_tested_by_idle_loop(&self, program: &Program, outline: &Outline, at: EventId) -> bool {
        let mut blocks = outline.blocks.iter().enumerate();
        let test = blocks.find(|(_, block)| block.test.is_some_and(|test| test.of == at));
        let Some((head, block)) = test else { return false };
        let head = head as u32;
        let rounds: Vec<Vec<u32>> = block.succs.iter().map(|&to| outline.reached(to, None)).collect();
        let [one, other] = rounds.as_slice() else { return false };
        let (around, after) = match (one.contains(&head), other.contains(&head)) {
            (true, false) => (one, other),
            (false, true) => (other, one),
            _ => return false,
        };
        let is_volatile = |field: FieldRef| {
            let info = self.link.field(field).and_then(|field| self.link.info(field));
            info.is_some_and(|info| info.is(access::VOLATILE))
        };
        let wakes = |event: &Event| match event {
            Event::Enter(_) | Event::Exit(_) => true,
            Event::Call { target, .. } => self.knowledge.may_block(program.selector_text(target.selector).0),
            Event::Read { field, .. } | Event::ReadStatic { field } => is_volatile(*field),
            _ => false,
        };
        let in_loop = around.iter().filter(|number| !after.contains(number));
        in_loop
            .map(|&number| &outline.blocks[number as usize])
            .all(|block| !outline.events[block.first as usize..block.end as usize].iter().any(wakes))
    }

    /// Is what is written calculated from what was read just before, as in `n++`?
    fn is_update(&self, writer: &Seen<'_>) -> bool {
        let (method, at) = self.last_site(writer.entry.method, writer.number);
        let Some(slot) = self.methods.get(method) else { return false };
        let outline = slot.packed.outline();
        let Some((place, src)) = outline.events.get(at as usize).and_then(written) else { return false };
        let Some(before) = at.checked_sub(1) else { return false };
        // What is calculated is no object; and what is only tested does not go into it.
        read(&outline.events[before as usize]) == Some(place)
            && outline.values[src as usize] == Value::Constant
            && !outline.blocks.iter().any(|block| block.test.is_some_and(|test| test.of == before))
    }

    /// Does it write null into a field that holds objects?
    fn sets_null(&self, writer: &Seen<'_>) -> bool {
        let (method, at) = self.last_site(writer.entry.method, writer.number);
        let Some(slot) = self.methods.get(method).filter(|slot| !slot.method.is_constructor) else {
            return false;
        };
        let outline = slot.packed.outline();
        let src = outline.events.get(at as usize).and_then(written).map(|(_, src)| src);
        src.is_some_and(|src| outline.values[src as usize] == Value::Constant)
    }

    /// Does the same method put a new object there, with fields that may still be empty for others?
    fn is_made_in(&self, program: &Program, outline: &Outline, place: Place) -> bool {
        let made = |event: &Event| match written(event) {
            Some((to, src)) if to == place => match &outline.values[src as usize] {
                Value::Made(class) => Some(*class),
                _ => None,
            },
            _ => None,
        };
        outline.events.iter().filter_map(made).any(|class| is_open(program, class))
    }
}

/// Has an object of this class fields that may still be empty for others?
fn is_open(program: &Program, class: ir::ClassId) -> bool {
    let is_open = |field: &ir::FieldId| program.field(*field).access & (access::FINAL | access::STATIC) == 0;
    program.superclasses(class).any(|class| program.class(class).fields.iter().any(is_open))
}

/// The place that an event reads.
fn read(event: &Event) -> Option<Place> {
    match event {
        Event::Read { base, field } => Some((Some(*base), *field)),
        Event::ReadStatic { field } => Some((None, *field)),
        _ => None,
    }
}

/// The place that an event writes, and what it puts there.
fn written(event: &Event) -> Option<(Place, ValueId)> {
    match event {
        Event::Write { base, field, src } => Some(((Some(*base), *field), *src)),
        Event::WriteStatic { field, src } => Some(((None, *field), *src)),
        _ => None,
    }
}

/// Is the place tested for null and, where it was not, read once more and used, and is `at` one of the two reads?
fn is_used_after_test(outline: &Outline, place: Place, at: EventId) -> bool {
    let tests = outline.blocks.iter().filter_map(|block| Some((block, block.test?)));
    let tests: Vec<_> = tests
        .filter(|(block, test)| {
            block.succs.len() == 2 && outline.events.get(test.of as usize).and_then(read) == Some(place)
        })
        .collect();
    tests.iter().any(|(block, test)| {
        let (there, gone) = match test.first_if_true {
            true => (block.succs[0], block.succs[1]),
            false => (block.succs[1], block.succs[0]),
        };
        let otherwise = outline.reached(gone, None);
        let only_there = |&number: &u32| !otherwise.contains(&number);
        let events = outline.reached(there, None).into_iter().filter(only_there).flat_map(|number| {
            let block = &outline.blocks[number as usize];
            block.first..block.end
        });
        let is_tested = |event: EventId| tests.iter().any(|(_, test)| test.of == event);
        let is_tested_between =
            |event: EventId| tests.iter().any(|(_, other)| other.of > test.of && other.of < event);
        let is_again = |event: &EventId| {
            read(&outline.events[*event as usize]) == Some(place)
                && *event > test.of
                && !is_tested(*event)
                && !is_tested_between(*event)
        };
        events.filter(is_again).any(|event| (at == test.of || at == event) && is_used(outline, place, event))
    })
}

/// Does something that what is read there has to exist for follow?
fn is_used(outline: &Outline, place: Place, after: EventId) -> bool {
    let is_it = |value: ValueId| match (&outline.values[value as usize], place) {
        (Value::Field { base, field }, (Some(of), name)) => (*base, *field) == (of, name),
        (Value::Static { field }, (None, name)) => *field == name,
        _ => false,
    };
    outline.events[after as usize + 1..].iter().any(|event| match event {
        Event::Call { kind, args, .. } => {
            *kind != CallKind::Static && args.first().is_some_and(|&arg| is_it(arg))
        }
        Event::Read { base, .. } | Event::Write { base, .. } => is_it(*base),
        Event::ReadElement { base } | Event::WriteElement { base, .. } => is_it(*base),
        Event::Enter(value) => is_it(*value),
        _ => false,
    })
}
