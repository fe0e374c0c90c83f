//! What methods do to a field, and what one does while it holds a lock: asked by people, method by method. Goes through
//! the methods in question once more, because a summary tells each thing once and says nothing of what cannot be raced
//! for; changes nothing, and knows no thread but those that the code names itself.

mod lock;
mod locks;
mod names;

pub use lock::Covers;

use crate::draft::Draft;
use crate::engine::Compositional;
use crate::frame::Frame;
use crate::guard;
use crate::link::{FieldInfo, Holds};
use crate::methods::Slot;
use crate::outline::{Event, EventId};
use crate::path::{Path, Root, Step};
use crate::stale::Mention;
use crate::state::State;
use crate::summary::{Held, Summary, Thread};
use crate::tell::Tell;
use classfile::Layer;
use findings::{Access, AccessKind, Confidence, Engine, LockUse, Origin, Part, Place};
use ir::{ClassId, FieldId, FieldRef, MethodId, Program, access};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What is done to a field.
#[derive(Debug)]
pub struct Uses {
    pub name: String,
    /// Its access flags.
    pub flags: u16,
    /// What it holds is locked somewhere.
    pub is_lock: bool,
    /// In the order of their places.
    pub accesses: Vec<Access>,
    /// The lock that guards it, as the field says itself.
    pub guard: Option<String>,
    /// The class of what it holds, if any thread may call that.
    pub safe: Option<String>,
}

/// Which methods are looked at.
pub struct Asked<'a> {
    /// Classes that can touch fields with these access flags.
    pub can_touch: &'a dyn Fn(&[u16], &str) -> bool,
    /// Methods of which somebody else knows more, by class, name and descriptor.
    pub is_known: &'a dyn Fn(&str, &str, &str) -> bool,
}

impl Compositional {
    /// A class and those above it, by their names in class files, if there is one.
    pub fn superclasses(&self, class: &str) -> Option<Vec<String>> {
        let program = self.link.program.lock().expect("nobody panics with it");
        let class = program.find_class(class).filter(|class| self.classes.contains(class))?;
        let above = program.superclasses(class);
        Some(above.map(|above| program.class_name(above).to_owned()).collect())
    }

    /// What is done to the fields of a class that are wanted. All names are those of class files. Nothing of a field that
    /// is not of the application, if nobody touches it: which of those are known depends on what was looked for before.
    pub fn uses(&self, class: &str, wanted: &dyn Fn(&str) -> bool, asked: &Asked<'_>) -> Vec<Uses> {
        let (is_own, fields, methods) = {
            let program = self.link.program.lock().expect("nobody panics with it");
            let Some(class) = program.find_class(class) else { return Vec::new() };
            let fields = program.class(class).fields.iter().copied();
            let is_wanted = |&field: &FieldId| wanted(&program.names[program.field_ref(field).name]);
            let fields: Vec<FieldId> = fields.filter(is_wanted).collect();
            let methods = self.touching(&program, &fields, asked);
            (self.classes.contains(&class), fields, methods)
        };
        let mut seen: FxHashMap<FieldId, Vec<(MethodId, Seen)>> = FxHashMap::default();
        let mut locks: FxHashSet<FieldId> = FxHashSet::default();
        for method in methods {
            for (field, one) in self.look_into(method, &fields, &mut locks) {
                seen.entry(field).or_default().push((method, one));
            }
        }
        let program = self.link.program.lock().expect("nobody panics with it");
        let tell = Tell { engine: self, program: &program, least: Confidence::Low };
        let uses = |field: FieldId| {
            let seen = seen.remove(&field).unwrap_or_default().into_iter();
            let mut accesses: Vec<Access> = seen.map(|(method, seen)| tell.access(method, seen)).collect();
            accesses.sort();
            let entry = program.field(field);
            let guard = guard::of_field(&program, &self.knowledge, field);
            Uses {
                name: program.names[entry.name].to_string(),
                flags: entry.access,
                is_lock: locks.contains(&field),
                accesses,
                guard: guard.and_then(|(_, lock)| names::from(&program, Some(&Path::THIS), &lock?).pop()),
                safe: self.safe_class(&program, field),
            }
        };
        let uses = fields.into_iter().map(uses);
        uses.filter(|uses| is_own || !uses.accesses.is_empty()).collect()
    }

    /// Methods that speak of one of the fields.
    fn touching(&self, program: &Program, fields: &[FieldId], asked: &Asked<'_>) -> Vec<MethodId> {
        let names: Vec<FieldRef> =
            self.link.fields().filter(|(_, field)| fields.contains(field)).map(|(name, _)| name).collect();
        let mut of_classes: Vec<Mention> = names.iter().map(|name| Mention::class(name.class)).collect();
        of_classes.sort_unstable();
        of_classes.dedup();
        let names: Vec<Mention> = names.into_iter().map(Mention::field).collect();
        let flags: Vec<u16> = fields.iter().map(|&field| program.field(field).access).collect();
        let classes = (0..program.class_count()).map(|at| ClassId(at as u32));
        let classes = classes.filter(|&class| {
            (asked.can_touch)(&flags, program.class_name(class)) && program.class(class).layer != Layer::Jdk
        });
        let methods = classes.flat_map(|class| program.class(class).methods.iter().copied());
        let speaks = |&method: &MethodId| {
            self.methods
                .get(method)
                .is_some_and(|slot| names.iter().any(|name| slot.facts.mentions.binary_search(name).is_ok()))
        };
        let is_left = |&method: &MethodId| {
            let entry = program.method_ref(method);
            let (name, descriptor) = program.selector_text(entry.selector);
            !(asked.is_known)(program.class_name(entry.class), name, descriptor)
        };
        methods.filter(speaks).filter(is_left).collect()
    }

    /// What a method does to the fields.
    fn look_into(
        &self,
        method: MethodId,
        fields: &[FieldId],
        locks: &mut FxHashSet<FieldId>,
    ) -> Vec<(FieldId, Seen)> {
        let Some(slot) = self.methods.get(method) else { return Vec::new() };
        let outline = slot.packed.outline();
        let known = self.known_to(slot);
        let mut frame = Frame::of(&self.link, &self.knowledge, &known, &slot.method, &outline);
        let mut look = Look { engine: self, slot, wanted: Wanted::These(fields), seen: Vec::new() };
        frame.each(|frame, event, state| {
            locks.extend(state.held().filter_map(|held| field_of(&held.lock)).map(|(field, ..)| field));
            look.at(frame, event, state);
        });
        look.seen
    }

    /// The summaries that a method was summarised with.
    fn known_to(&self, slot: &Slot) -> impl Fn(MethodId) -> Option<Arc<Summary>> + Sync {
        move |id| {
            let needed = self.methods.number(id).filter(|&needed| slot.waits_for(needed))?;
            self.methods.at(needed).summary.get().cloned()
        }
    }

    fn safe_class(&self, program: &Program, field: FieldId) -> Option<String> {
        let held = match self.link.info(field).map(|info| info.holds) {
            Some(Holds::Only(class)) => Some(class),
            _ => program.field(field).class_of,
        };
        let is_safe = |class: &ClassId| self.knowledge.is_safe(program.class_name(*class));
        held.filter(is_safe).map(|class| program.class_display(class))
    }
}

/// An access as one method does it.
#[derive(Debug)]
struct Seen {
    at: EventId,
    kind: AccessKind,
    part: Part,
    /// Whose field it is, by the names that are known; none if it is static.
    owners: Option<Vec<Path>>,
    held: Vec<Held>,
    /// Locks that all callers hold.
    of_callers: Vec<Path>,
    is_published: bool,
}

/// Fields that somebody wants to know of.
enum Wanted<'a> {
    These(&'a [FieldId]),
    /// All that can be raced for.
    Shared,
}

/// Looks for accesses to fields in one method.
struct Look<'a> {
    engine: &'a Compositional,
    slot: &'a Slot,
    wanted: Wanted<'a>,
    seen: Vec<(FieldId, Seen)>,
}

/// Whose field it is, by all names that are known, or that it is new; nobody's if it is static.
enum Owner {
    Static,
    New,
    Named(Vec<Path>),
}

impl Look<'_> {
    fn at(&mut self, frame: &mut Frame<'_>, event: EventId, state: &State) {
        let outline = frame.outline;
        let happens = &outline.events[event as usize];
        let writes = matches!(happens, Event::Write { .. } | Event::WriteStatic { .. });
        match happens {
            Event::Read { base, field } | Event::Write { base, field, .. } => {
                let Some(field) = frame.link.field(*field) else { return };
                let abs = frame.abs(*base);
                let is_new = abs.paths.is_empty() && abs.new;
                let owner = if is_new { Owner::New } else { Owner::Named(abs.paths) };
                self.add((field, Part::Field), writes, event, state, owner);
            }
            Event::ReadStatic { field } | Event::WriteStatic { field, .. } => {
                let Some(field) = frame.link.field(*field) else { return };
                self.add((field, Part::Field), writes, event, state, Owner::Static);
            }
            Event::ReadElement { .. } | Event::WriteElement { .. } => self.parts(frame, event, state),
            Event::Call { .. } if frame.callee(event).model.is_some() => self.parts(frame, event, state),
            _ => {}
        }
    }

    /// Elements and contents of what fields hold.
    fn parts(&mut self, frame: &mut Frame<'_>, event: EventId, state: &State) {
        let mut draft = Draft::default();
        frame.write_event(event, state, &mut draft);
        for access in draft.accesses().iter().filter(|access| access.site.via.is_none()) {
            if let Some((field, owner, part)) =
                field_of(&access.path).filter(|(_, _, part)| *part != Part::Field)
            {
                let owner = owner.map_or(Owner::Static, |owner| Owner::Named(vec![owner]));
                self.add((field, part), access.writes, event, state, owner);
            }
        }
    }

    fn add(
        &mut self,
        (field, part): (FieldId, Part),
        writes: bool,
        at: EventId,
        state: &State,
        owner: Owner,
    ) {
        let is_wanted = match self.wanted {
            Wanted::These(wanted) => wanted.contains(&field),
            // Nobody needs a lock for what never changes, or is synchronised by itself.
            Wanted::Shared => part != Part::Field || self.engine.link.info(field).is_some_and(is_plain),
        };
        if !is_wanted {
            return;
        }
        let kind = if writes { AccessKind::Write } else { AccessKind::Read };
        let is_own = |owner: &Path| self.is_own(owner, field, state);
        let is_published = match &owner {
            Owner::Static => !self.slot.method.is_initializer || state.running != 0,
            Owner::New => false,
            Owner::Named(owners) => owners.is_empty() || !owners.iter().all(is_own),
        };
        let owners = match owner {
            Owner::Static => None,
            Owner::New => Some(Vec::new()),
            Owner::Named(owners) => Some(owners),
        };
        let held: Vec<Held> = state.held().filter(|held| held.sure).collect();
        let is_taken = |lock: &&Path| !held.iter().any(|held| held.lock == **lock);
        let of_callers = self.engine.held_by_callers(self.slot.method.id).iter();
        let of_callers = of_callers.filter(is_taken).copied().collect();
        self.seen.push((field, Seen { at, kind, part, owners, held, of_callers, is_published }));
    }

    /// Does nobody else know the object: is it being made, or was it made here, or by all who call this?
    fn is_own(&self, owner: &Path, field: FieldId, state: &State) -> bool {
        let method = &self.slot.method;
        let is_made = match owner.root {
            Root::Made(_) => true,
            Root::Param(0) if method.is_constructor => owner.is_root(),
            Root::Param(0) => self.engine.is_called_on_own(method.id),
            _ => false,
        };
        let is_given = || owner.then(Step::Field(field)).is_some_and(|path| state.owns(&path));
        (is_made && state.running == 0) || is_given()
    }
}

fn is_plain(info: &FieldInfo) -> bool {
    !info.is(access::VOLATILE) && !info.is(access::FINAL) && !info.is(access::SYNTHETIC)
}

/// The field that a path ends at, or in whose array or container it ends; and whose it is.
fn field_of(path: &Path) -> Option<(FieldId, Option<Path>, Part)> {
    let part = match path.last() {
        Some(Step::Elements) => Part::Elements,
        Some(Step::Contents) => Part::Contents,
        _ => Part::Field,
    };
    let holder = if part == Part::Field { *path } else { path.parent()? };
    match (holder.last(), holder.root) {
        (Some(Step::Field(field)), _) => Some((field, holder.parent(), part)),
        (None, Root::Static(field)) => Some((field, None, part)),
        _ => None,
    }
}

impl Tell<'_> {
    fn access(&self, method: MethodId, seen: Seen) -> Access {
        let hold = |lock: &Path, shared: bool, place: Place| findings::Held {
            lock: LockUse { name: self.lock_in(lock, method), place, shared, ..LockUse::default() },
            known_as: match &seen.owners {
                None => names::from(self.program, None, lock),
                Some(owners) => names::from_all(self.program, owners, lock),
            },
        };
        let own = seen.held.iter().map(|held| hold(&held.lock, held.shared, self.place(method, held.at)));
        // Each of them takes it somewhere else.
        let of_callers = seen.of_callers.iter().map(|lock| hold(lock, false, Place::default()));
        let locks = own.chain(of_callers);
        let mut locks: Vec<findings::Held> = locks.collect();
        locks.sort();
        locks.dedup();
        Access {
            place: self.place(method, seen.at),
            method: self.program.method_display(method),
            kind: seen.kind,
            part: seen.part,
            origins: vec![self.origin(method)],
            locks,
            is_published: seen.is_published,
            lacks_guard: false,
            engine: Engine::Compositional,
        }
    }

    /// Who runs a method, as far as the code says.
    fn origin(&self, method: MethodId) -> Origin {
        let is_main = self.engine.summary(method).is_some_and(|summary| summary.thread == Thread::Main);
        let is_first = self.engine.method(method).is_some_and(|method| method.is_initializer);
        let (name, is_several) = match self.engine.only_task(method) {
            _ if is_first => ("class initialisation".to_owned(), false),
            _ if is_main => ("thread of the user interface".to_owned(), false),
            Some(task) => (format!("thread that runs {}", self.program.method_display(task)), true),
            None => ("any thread".to_owned(), true),
        };
        Origin { name, is_several }
    }
}
