//! What a method does while it holds a lock that it takes in one line, in its own code and in what it calls. Knows lines
//! of outlines, and no source.

use super::{Look, Seen, Wanted, field_of};
use crate::engine::Compositional;
use crate::frame::Frame;
use crate::methods::Slot;
use crate::outline::EventId;
use crate::path::{Path, Root};
use crate::summary::{Held, Summary};
use crate::tell::Tell;
use findings::{Access, AccessKind, Confidence, Covered, LockUse, Origin, Place};
use ir::{ClassId, FieldId, MethodId, Program};
use std::collections::{BTreeMap, BTreeSet};

/// A lock, and what is done under it.
#[derive(Debug)]
pub struct Covers {
    pub lock: LockUse,
    pub method: String,
    pub origins: Vec<Origin>,
    pub elsewhere: Vec<Place>,
    pub covered: Vec<Covered>,
}

impl Compositional {
    /// What is done under the lock that is taken in a line. A line without code stands for what comes next, if that is
    /// a synchronized method: its head has no line.
    pub fn covers(&self, file: &str, line: u32) -> Option<Covers> {
        let methods = self.methods_in(&self.link.program.lock().expect("nobody panics with it"), file);
        let (method, taken) = self.taken(&methods, line)?;
        let seen = self.seen_under(method, &taken);
        let program = self.link.program.lock().expect("nobody panics with it");
        let tell = Tell { engine: self, program: &program, least: Confidence::Low };
        let mut fields: BTreeMap<String, Vec<Access>> = BTreeMap::new();
        for (field, seen) in seen {
            fields.entry(program.field_display(field)).or_default().push(tell.access(method, seen));
        }
        let summary = self.summary(method).map(AsRef::as_ref);
        for (field, access) in
            summary.into_iter().flat_map(|summary| self.called_under(&tell, method, summary, &taken))
        {
            fields.entry(program.field_display(field)).or_default().push(access);
        }
        let sorted = |(field, mut accesses): (String, Vec<Access>)| {
            accesses.sort();
            Covered { field, accesses }
        };
        let lock = LockUse {
            name: tell.lock_in(&taken.lock, method),
            place: tell.place(method, taken.at),
            shared: taken.shared,
            ..LockUse::default()
        };
        Some(Covers {
            method: program.method_display(method),
            origins: vec![tell.origin(method)],
            elsewhere: self.elsewhere(&tell, &methods, method, &taken.lock, &lock.place),
            covered: fields.into_iter().map(sorted).collect(),
            lock,
        })
    }

    /// Methods of the classes that a source has made.
    fn methods_in(&self, program: &Program, file: &str) -> Vec<MethodId> {
        let package = &file[..file.rfind('/').map_or(0, |at| at + 1)];
        let is_there = |&class: &ClassId| {
            let rest = program.class_name(class).strip_prefix(package);
            rest.is_some_and(|rest| !rest.contains('/')) && program.class_file(class) == file
        };
        let classes = (0..program.class_count()).map(|at| ClassId(at as u32)).filter(is_there);
        classes.flat_map(|class| program.class(class).methods.iter().copied()).collect()
    }

    /// The first lock that is taken in the line, with the method that does so.
    fn taken(&self, methods: &[MethodId], line: u32) -> Option<(MethodId, Held)> {
        let slots = || methods.iter().filter_map(|&method| self.methods.get(method));
        let mut heads: Vec<(u32, &Slot)> = Vec::new();
        for slot in slots() {
            let lines = slot.packed.places().lines;
            let first = lines.iter().copied().filter(|&line| line > 0).min();
            if slot.method.is_synchronized {
                heads.extend(first.map(|first| (first, slot)));
            }
            if let Some(held) = self.taken_by(slot, |event| lines.get(event as usize) == Some(&line)) {
                return Some((slot.method.id, held));
            }
        }
        let (first, slot) =
            heads.into_iter().filter(|(first, _)| *first >= line).min_by_key(|(first, _)| *first)?;
        let has_code =
            slots().any(|slot| slot.packed.places().lines.iter().any(|at| (line..first).contains(at)));
        let root = if slot.method.is_static { Root::Class(slot.method.class) } else { Root::Param(0) };
        let held = Held { lock: Path::of(root), shared: false, sure: true, at: crate::ENTRY };
        (!has_code).then_some((slot.method.id, held))
    }

    /// The first lock that the method takes in one of these events.
    fn taken_by(&self, slot: &Slot, is_meant: impl Fn(EventId) -> bool) -> Option<Held> {
        let outline = slot.packed.outline();
        if !(0..outline.events.len() as EventId).any(&is_meant) {
            return None;
        }
        let known = self.known_to(slot);
        let mut taken = None;
        let mut frame = Frame::of(&self.link, &self.knowledge, &known, &slot.method, &outline);
        frame.each(|frame, event, state| {
            if taken.is_none() && is_meant(event) {
                let mut after = state.clone();
                frame.step(event, &mut after);
                taken = after.held().find(|held| held.at == event);
            }
        });
        taken
    }

    /// What the method itself does under the lock.
    fn seen_under(&self, method: MethodId, taken: &Held) -> Vec<(FieldId, Seen)> {
        let Some(slot) = self.methods.get(method) else { return Vec::new() };
        let outline = slot.packed.outline();
        let known = self.known_to(slot);
        let mut frame = Frame::of(&self.link, &self.knowledge, &known, &slot.method, &outline);
        let mut look = Look { engine: self, slot, wanted: Wanted::Shared, seen: Vec::new() };
        frame.each(|frame, event, state| {
            if state.held().any(|held| is_it(&held, taken)) {
                look.at(frame, event, state);
            }
        });
        look.seen
    }

    /// What it calls under the lock, as far as its summary tells.
    fn called_under(
        &self,
        tell: &Tell<'_>,
        method: MethodId,
        summary: &Summary,
        taken: &Held,
    ) -> Vec<(FieldId, Access)> {
        let calls = summary.accesses.iter().enumerate().filter(|(_, access)| {
            access.site.via.is_some() && access.held.iter().any(|held| is_it(held, taken))
        });
        let told = calls.filter_map(|(number, access)| {
            let (field, owner, part) = field_of(&access.path)?;
            let (last, at) = self.last_site(method, number as u32);
            let kind = if access.writes { AccessKind::Write } else { AccessKind::Read };
            let held = access.held.iter().filter(|held| held.sure).copied().collect();
            let owners = owner.map(|owner| vec![owner]);
            let of_callers = Vec::new();
            let seen = Seen { at, kind, part, owners, held, of_callers, is_published: true };
            let place = tell.place(last, at);
            Some((
                field,
                Access { place, method: tell.program.method_display(last), ..tell.access(method, seen) },
            ))
        });
        told.collect()
    }

    /// Where the methods of the same source take the same lock, by its name.
    fn elsewhere(
        &self,
        tell: &Tell<'_>,
        methods: &[MethodId],
        method: MethodId,
        lock: &Path,
        here: &Place,
    ) -> Vec<Place> {
        let class = tell.program.method_ref(method).class;
        let is_same = |other: &MethodId| match lock.root {
            Root::Static(_) | Root::Class(_) => true,
            Root::Param(0) => tell.program.method_ref(*other).class == class,
            _ => false,
        };
        let taken = methods.iter().copied().filter(is_same).flat_map(|method| {
            let taken = self.summary(method).map_or(&[][..], |summary| &summary.taken);
            taken.iter().map(move |taken| (method, taken))
        });
        let own = taken.filter(|(_, taken)| taken.lock == *lock && taken.site.via.is_none());
        let places: BTreeSet<Place> = own.map(|(method, taken)| tell.place(method, taken.site.at)).collect();
        places.into_iter().filter(|place| place != here).collect()
    }
}

fn is_it(held: &Held, taken: &Held) -> bool {
    held.sure && held.at == taken.at && held.lock == taken.lock && held.shared == taken.shared
}
