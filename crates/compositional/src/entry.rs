//! What can be called on an object from outside, and what it does to the object then. Puts inner classes beside the
//! class they belong to, because they work on its object.

use crate::engine::{Compositional, is_callable};
use crate::evidence::{self, ClassSays, Evidence, Strength};
use crate::link::{outer_class, runs, same_outer};
use crate::noted::note_class;
use crate::path::{Path, Root, Step};
use crate::summary::{Access, Held};
use ir::{ClassId, MethodId, Program, access};
use models::Says;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Something that anybody may call.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub method: MethodId,
    /// The class on whose objects the paths begin.
    pub class: ClassId,
    pub evidence: Option<Arc<Evidence>>,
    /// A framework runs it again and again, but never while it is still running.
    pub is_serial: bool,
    /// The task of a thread: two of them mostly have objects of their own.
    pub is_task: bool,
    /// `this` of the class is in this field of the method's own object.
    pub outer: Option<Step>,
    /// Nobody calls it while others use the object, or only known code does: what it does counts only beside the
    /// threads that it starts itself.
    pub is_inside: bool,
    /// It is called once, before others use the object; the threads that it starts run on beside them.
    pub is_once: bool,
    /// Declared by a class above.
    pub is_inherited: bool,
}

/// An access as the entry sees it.
#[derive(Debug, Clone)]
pub(crate) struct Seen<'a> {
    pub entry: &'a Entry,
    /// The access in the summary of the entry's method, and its place there.
    pub access: &'a Access,
    pub number: u32,
    /// From the object of the class, or a static field.
    pub path: Path,
    pub held: Vec<Held>,
}

/// What a class has to be called, on its own objects and on those of the class around it, as far as it is wanted.
pub(crate) fn of_class(
    engine: &Compositional,
    program: &Program,
    class: ClassId,
    wanted: &dyn Fn(MethodId) -> bool,
) -> Vec<Entry> {
    let mut found = Vec::new();
    let own = evidence::of_class(program, &engine.knowledge, class);
    let outer = outer(program, class);
    let is_about = outer.map_or(class, |(outer, _)| outer);
    note_class(is_about);
    if own.excused || evidence::of_class(program, &engine.knowledge, is_about).excused {
        return found;
    }
    let is_nameless = is_nameless(program, class);
    for method in program.class(class).methods.iter().copied().filter(|&method| wanted(method)) {
        let Some(known) = engine.method(method) else { continue };
        if known.is_initializer {
            continue;
        }
        let is_closed = !(known.is_constructor || is_open(engine, program, method));
        let entry = program.method(method);
        let name = program.selector_text(entry.selector).0;
        let once =
            |note: &ir::Annotation| engine.knowledge.says(&program.names[note.class]).contains(&Says::Once);
        let is_once = entry.annotations.iter().any(once) || engine.knowledge.is_once(name);
        let is_task = own.is_task && engine.knowledge.is_task_method(name);
        let is_serial = is_serial(engine, program, method);
        let evidence = engine.evidence(program, &own, method).filter(|_| !known.is_constructor).map(Arc::new);
        // What has no name is called by whoever made it, which is seen there.
        let is_told = |evidence: &Evidence| evidence.strength >= Strength::Locks;
        let is_hidden = is_nameless
            && !is_task
            && !engine.escaping.contains(&class)
            && !evidence.as_deref().is_some_and(is_told);
        let is_known = is_closed || is_hidden || engine.has_unknown_callers(method);
        let is_inside = is_known || is_once;
        let is_once = is_once && !is_known;
        if is_inside && !engine.starts_threads(method) {
            continue;
        }
        let (outer_step, is_inherited) = (None, false);
        let base = Entry {
            method,
            class,
            evidence,
            is_serial,
            is_task,
            outer: outer_step,
            is_inside,
            is_once,
            is_inherited,
        };
        if let Some((outer, step)) = outer {
            found.push(Entry { class: outer, outer: Some(step), ..base.clone() });
        }
        // Who gets an iterator has it alone; what it iterates over is another matter.
        if !is_nameless || is_task || is_inside {
            found.push(base);
        }
    }
    if !is_nameless {
        found.extend(inherited(engine, program, class, &own, wanted));
    }
    found
}

/// Classes further up than this have hardly anything to do with it.
const HIGHEST: usize = 4;

/// Methods of superclasses that touch the object, unless the class has methods of its own in their place.
fn inherited(
    engine: &Compositional,
    program: &Program,
    class: ClassId,
    own: &ClassSays,
    wanted: &dyn Fn(MethodId) -> bool,
) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<ir::Selector> =
        program.class(class).methods.iter().map(|&method| program.method_ref(method).selector).collect();
    for above in program.superclasses(class).skip(1).take(HIGHEST) {
        for &method in &program.class(above).methods {
            let is_there = engine.methods.number(method).is_some();
            let is_new = is_there && seen.insert(program.method_ref(method).selector);
            if !is_new || !wanted(method) {
                continue;
            }
            let Some(known) = engine.method(method) else { continue };
            let touches = |access: &Access| access.path.root == Root::Param(0);
            let is_plain = !known.is_static && !known.is_constructor && is_open(engine, program, method);
            let is_of_use =
                engine.summary(method).is_some_and(|summary| summary.accesses.iter().any(touches));
            if !is_plain || !is_of_use || engine.has_unknown_callers(method) {
                continue;
            }
            let evidence = engine.evidence(program, own, method).map(Arc::new);
            let name = program.selector_text(program.method_ref(method).selector).0;
            // What it does beside its own threads is found where it is declared.
            if engine.knowledge.is_once(name) {
                continue;
            }
            let is_task = own.is_task && engine.knowledge.is_task_method(name);
            let is_serial = is_serial(engine, program, method);
            let (outer, is_inside, is_once, is_inherited) = (None, false, false, true);
            found.push(Entry {
                method,
                class,
                evidence,
                is_serial,
                is_task,
                outer,
                is_inside,
                is_once,
                is_inherited,
            });
        }
    }
    found
}

/// Is it run by a framework that waits for each run to end?
fn is_serial(engine: &Compositional, program: &Program, method: MethodId) -> bool {
    let says = |meaning: Says| {
        let mut notes = program.method(method).annotations.iter();
        notes.any(|note| engine.knowledge.says(&program.names[note.class]).contains(&meaning))
    };
    says(Says::Repeated) && !says(Says::BackgroundThread)
}

/// An anonymous or local class.
pub(crate) fn is_nameless(program: &Program, class: ClassId) -> bool {
    // The class of an enum constant has no name, but the constant has.
    if program.class(class).access & access::ENUM != 0 {
        return false;
    }
    let name = program.class_name(class);
    name.rsplit('$')
        .next()
        .is_some_and(|last| name.contains('$') && last.starts_with(|first: char| first.is_ascii_digit()))
}

/// Can code outside call it, on a thread of its own?
fn is_open(engine: &Compositional, program: &Program, method: MethodId) -> bool {
    let entry = program.method(method);
    let says = |meaning: Says| {
        entry
            .annotations
            .iter()
            .any(|note| engine.knowledge.says(&program.names[note.class]).contains(&meaning))
    };
    let is_for_tests = engine.knowledge.is_for_tests(program.selector_text(entry.selector).0);
    is_callable(program, method) && !is_for_tests && !says(Says::ForTests) && !says(Says::Confined)
}

/// The class around an inner one, and the field in which its object is.
pub(crate) fn outer(program: &Program, class: ClassId) -> Option<(ClassId, Step)> {
    let fields = program.class(class).fields.iter().copied();
    let mut found = fields.filter_map(|field| Some((outer_class(program, field)?, field)));
    let (outer, field) = found.next()?;
    Some((outer, Step::Field(same_outer(program, field))))
}

impl Entry {
    /// What the entry does to the object of its class and to static fields.
    pub(crate) fn accesses<'a>(&'a self, engine: &'a Compositional, program: &Program) -> Vec<Seen<'a>> {
        let Some(summary) = engine.summary(self.method) else { return Vec::new() };
        let is_static = engine.method(self.method).is_some_and(|method| method.is_static);
        let starts = summary.accesses.iter().any(|access| access.started > 0);
        let mut seen = Vec::new();
        let own = if self.is_inherited { self.class } else { program.method_ref(self.method).class };
        let is_run = |method: MethodId| runs(program, own, method);
        let accesses = summary.accesses.iter().enumerate();
        for (number, access) in
            accesses.filter(|(_, access)| access.asks.is_none() && access.only_if.is_none_or(is_run))
        {
            let path = match access.path.root {
                Root::Static(_) if self.outer.is_none() => Some(access.path),
                Root::Param(0) if !is_static => self.on_class(access.path),
                Root::Made(_) | Root::Param(_) if self.outer.is_none() && starts => Some(access.path),
                _ => None,
            };
            let Some(path) = path else { continue };
            // A lock that the method has made itself keeps nobody out but the threads it starts.
            let is_of_use = |held: &&Held| {
                let is_within =
                    access.started > 0 || access.running != 0 || matches!(access.path.root, Root::Made(_));
                is_within || !matches!(held.lock.root, Root::Made(_))
            };
            let own = access.held.iter().filter(is_of_use);
            let own = own.map(|held| Held { lock: self.lock(held.lock), ..*held });
            let of_callers = engine.held_by_callers(self.method).iter();
            let of_callers = of_callers.filter(|_| access.started == 0).map(|&lock| {
                let lock = self.lock(lock);
                Held { lock, shared: false, sure: true, at: crate::ENTRY }
            });
            let held = own.chain(of_callers).collect();
            seen.push(Seen { entry: self, access, number: number as u32, path, held });
        }
        seen
    }

    fn on_class(&self, path: Path) -> Option<Path> {
        match self.outer {
            None => Some(path),
            Some(step) => (path.first() == Some(step)).then(|| path.tail()),
        }
    }

    /// Locks of an inner object are no locks of the outer one, and never the same as those.
    pub(crate) fn lock(&self, lock: Path) -> Path {
        match (self.outer, lock.root) {
            (Some(_), Root::Param(0)) => self.on_class(lock).unwrap_or(Path::NEW),
            (Some(_), Root::Param(_)) => Path::NEW,
            _ => lock,
        }
    }
}
