//! What the operands of one method stand for: paths, new objects and what they were made with, views of locks.
//! Depends on the summaries of what is called, not on where in the method one looks.

use crate::frame::Frame;
use crate::outline::{Event, EventId, Value, ValueId};
use crate::path::{LockKind, Path, Root, Step};
use crate::summary::Returned;
use ir::{CallKind, ClassId, FieldId, access};
use models::{Member, Source, Step as ModelStep};

/// What a value may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Abs {
    /// Its names; what else it may be has none.
    pub paths: Vec<Path>,
    pub class: Option<ClassId>,
    /// Made by this method, as a lambda or with `new`.
    pub made: Option<ValueId>,
    /// A lock that stands for another, shared or not.
    pub view: Option<bool>,
    /// An iterator or view of the container that the paths name.
    pub part: bool,
    /// It has no other names than these, and is always there.
    pub sure: bool,
    /// Made here or for this method, which alone has it as long as it keeps it to itself.
    pub new: bool,
    /// It was in a container that this method has made and filled itself, or is a view of one.
    pub inside: bool,
}

/// More names than this are none.
const MOST_PATHS: usize = 3;

impl Abs {
    pub fn named(path: Path) -> Abs {
        Abs { paths: vec![path], sure: true, ..Abs::default() }
    }

    fn or(mut self, other: Abs) -> Abs {
        self.paths.extend(other.paths);
        self.paths.sort_unstable();
        self.paths.dedup();
        if self.paths.len() > MOST_PATHS {
            self.paths.clear();
        }
        Abs {
            sure: self.sure && other.sure && self.paths.len() == 1,
            class: self.class.filter(|_| self.class == other.class),
            made: self.made.filter(|_| self.made == other.made),
            view: self.view.filter(|_| self.view == other.view),
            part: self.part && other.part,
            new: self.new && other.new,
            inside: self.inside && other.inside,
            paths: self.paths,
        }
    }

    /// What a step leads to.
    fn then(&self, step: Step) -> Abs {
        let paths: Vec<Path> = self.paths.iter().filter_map(|path| path.then(step)).collect();
        Abs { sure: self.sure && paths.len() == 1, paths, ..Abs::default() }
    }
}

/// What a new object was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Field(FieldId),
    /// Exists only in models.
    Model(String),
}

impl Frame<'_> {
    pub(crate) fn abs(&mut self, value: ValueId) -> Abs {
        let at = value as usize;
        if let Some(known) = &self.values[at] {
            return known.clone();
        }
        // What depends on itself adds nothing to it.
        self.values[at] = Some(Abs::default());
        let outline = self.outline;
        let found = match &outline.values[at] {
            Value::Param(number) => Abs::named(Path::of(Root::Param(*number))),
            Value::Made(class) => {
                let named = Abs::named(Path::of(Root::Made(value)));
                Abs { class: Some(*class), made: Some(value), new: true, ..named }
            }
            Value::Lambda(_) => Abs { made: Some(value), ..Abs::default() },
            Value::Class(class) => Abs::named(Path::of(Root::Class(*class))),
            Value::Constant | Value::One | Value::Unknown => Abs::default(),
            Value::Field { base, field } => self.loaded(*base, *field),
            Value::Static { field } => match self.link.field(*field) {
                Some(id) => self.of_field(id, Abs::named(Path::of(Root::Static(id)))),
                None => Abs::default(),
            },
            Value::Element { base } => self.abs(*base).then(Step::Elements),
            Value::Result(event) => self.result(*event),
            Value::Any(values) => {
                let mut all =
                    values.iter().map(|&value| (value, self.abs(value))).collect::<Vec<_>>().into_iter();
                // Null is something that nobody touches.
                let is_null = |value: ValueId| outline.values[value as usize] == Value::Constant;
                let first = all.by_ref().find(|(value, _)| !is_null(*value)).map(|(_, abs)| abs);
                let rest = all.filter(|(value, _)| !is_null(*value)).map(|(_, abs)| abs);
                rest.fold(first.unwrap_or_default(), Abs::or)
            }
        };
        self.values[at] = Some(found.clone());
        found
    }

    fn loaded(&mut self, base: ValueId, field: ir::FieldRef) -> Abs {
        let Some(id) = self.link.field(field) else { return Abs::default() };
        let (of, base) = (base, self.abs(base));
        if let Some(part) = self.part(&base, &Part::Field(id)) {
            return part;
        }
        // A view of a lock that was put in a field stands for the lock all the same.
        if let Some((lock, shared)) = self.link.info(id).and_then(|info| info.view) {
            return Abs { view: Some(shared), ..base.then(Step::Field(lock)) };
        }
        let mut loaded = base.then(Step::Field(id));
        loaded.paths.iter_mut().for_each(|path| *path = self.link.straight(*path));
        let loaded = self.of_field(id, loaded);
        match self.put_there(of, field) {
            Some(Abs { made, class, .. }) => Abs { made, class: class.or(loaded.class), ..loaded },
            None => loaded,
        }
    }

    /// What this method has made and put into the field, if that is all it ever puts there: `thread = new Thread(task)`
    /// before `thread.start()`.
    fn put_there(&mut self, of: ValueId, into: ir::FieldRef) -> Option<Abs> {
        let outline = self.outline;
        let mut stored = outline.events.iter().filter_map(|event| match event {
            Event::Write { base, field, src } if *base == of && *field == into => Some(*src),
            _ => None,
        });
        let src = stored.find(|&src| !matches!(outline.values[src as usize], Value::Constant))?;
        let is_new = matches!(outline.values[src as usize], Value::Made(_) | Value::Lambda(_));
        let is_all = stored.all(|other| matches!(outline.values[other as usize], Value::Constant));
        (is_new && is_all).then(|| self.abs(src))
    }

    fn of_field(&self, field: FieldId, abs: Abs) -> Abs {
        let class = self.link.info(field).and_then(|info| match info.holds {
            crate::link::Holds::Only(class) => Some(class),
            _ => None,
        });
        Abs { class, ..abs }
    }

    /// What an object that this method made was given, if that is known.
    pub(crate) fn part(&mut self, object: &Abs, part: &Part) -> Option<Abs> {
        let made = object.made?;
        let outline = self.outline;
        let event = *self.constructors.get(&made)?;
        let Event::Call { target, kind: CallKind::Special, args } = &outline.events[event as usize] else {
            return None;
        };
        let callee = self.link.callee(*target, CallKind::Special, None);
        if let (Part::Model(name), Some(model)) = (part, &callee.model) {
            return model.steps.iter().find_map(|step| match step {
                ModelStep::Assign { dst, src: Source::Value(from) }
                    if dst.root == models::Root::This && dst.path == [Member::Model(name.clone())] =>
                {
                    let models::Root::Param(number) = from.root else { return None };
                    args.get(usize::from(number) + 1).map(|&arg| self.abs(arg))
                }
                _ => None,
            });
        }
        let summary = self.known(*callee.targets.first()?)?;
        if let Part::Model(_) = part {
            // A class of the program that extends a modelled one: whatever it hands to its superclass.
            return None;
        }
        let Part::Field(field) = part else { return None };
        let (_, param) = summary.stores.iter().find(|(stored, _)| stored == field)?;
        args.get(usize::from(*param)).map(|&arg| self.abs(arg))
    }

    /// Is everything in this container something that the method has put in itself, one by one? That is mostly new as
    /// well, and not taken from somewhere.
    pub(crate) fn is_filled_here(&self, container: &Abs) -> bool {
        let is_empty = |made: ValueId| {
            let event = self.constructors.get(&made).map(|&event| &self.outline.events[event as usize]);
            matches!(event, Some(Event::Call { args, .. }) if args[1..].iter().all(|&arg| self.is_plain(arg)))
        };
        container.inside || container.made.is_some_and(is_empty)
    }

    /// A number, or nothing that could be a container.
    fn is_plain(&self, value: ValueId) -> bool {
        matches!(self.outline.values[value as usize], Value::Constant | Value::One)
    }

    /// What a call returns.
    fn result(&mut self, event: EventId) -> Abs {
        let outline = self.outline;
        let Event::Call { args, .. } = &outline.events[event as usize] else { return Abs::default() };
        let callee = self.callee(event);
        if let Some(model) = &callee.model {
            let found = self.modelled_result(event, &callee, model);
            let container = args.first().filter(|_| found == Abs::default()).map(|&value| self.abs(value));
            let inside = container.is_some_and(|container| self.is_filled_here(&container));
            return if inside { Abs { new: true, inside, ..found } } else { found };
        }
        let mut results = callee.targets.clone().into_iter().map(|target| {
            let Some(summary) = self.known(target) else { return Abs::default() };
            let returned = &summary.returns;
            let args: Vec<Abs> = args.iter().map(|&arg| self.abs(arg)).collect();
            let mut paths: Vec<Path> =
                returned.paths.iter().flat_map(|path| self.moved(*path, &args)).collect();
            paths.sort_unstable();
            paths.dedup();
            let made = match returned.paths.as_slice() {
                [path] if path.is_root() => match path.root {
                    Root::Param(number) => args.get(usize::from(number)).and_then(|arg| arg.made),
                    _ => None,
                },
                _ => None,
            };
            let sure = paths.len() == 1 && returned.paths.len() == 1;
            let of_caller = |path: &Path| match path.root {
                Root::Param(number) if path.is_root() => {
                    args.get(usize::from(number)).is_some_and(|arg| arg.new)
                }
                _ => false,
            };
            // A builder that returns itself is as new as it was before.
            let is_passed = !returned.paths.is_empty() && returned.paths.iter().all(of_caller);
            let new = returned.new && (returned.paths.is_empty() || is_passed);
            let Returned { class, view, part, .. } = *returned;
            Abs { paths, class, made, view, part, sure, new, inside: false }
        });
        let first = results.next().unwrap_or_default();
        results.fold(first, Abs::or)
    }

    /// A path of a called method in terms of this one.
    pub(crate) fn moved(&mut self, path: Path, args: &[Abs]) -> Vec<Path> {
        let Root::Param(number) = path.root else {
            return if let Root::Made(_) | Root::Unknown = path.root { Vec::new() } else { vec![path] };
        };
        let Some(arg) = args.get(usize::from(number)) else { return Vec::new() };
        if arg.made.is_some()
            && let Some(Step::Field(field)) = path.first()
            && let Some(part) = self.part(arg, &Part::Field(field))
        {
            let tail = path.tail();
            return part.paths.iter().filter_map(|onto| tail.rebased(*onto)).collect();
        }
        let moved = arg.paths.iter().filter_map(|onto| path.rebased(*onto));
        moved.map(|path| self.link.straight(path)).collect()
    }

    /// The lock that an object of a lock class is, and whether it is taken in shared mode.
    pub(crate) fn lock(&self, value: &Abs) -> (Path, bool) {
        match value.paths.as_slice() {
            [path] if value.sure => (path.locked(LockKind::Explicit), value.view == Some(true)),
            _ => (Path::UNKNOWN, value.view == Some(true)),
        }
    }

    /// The monitor of a value. A view of a lock is another object than the lock.
    pub(crate) fn monitor(&self, value: &Abs) -> Path {
        match value.paths.as_slice() {
            [path] if value.sure && value.view.is_none() => *path,
            _ => Path::UNKNOWN,
        }
    }

    /// Is this memory that can be raced for?
    pub(crate) fn is_shared_memory(&self, field: FieldId) -> bool {
        self.link.info(field).is_some_and(|info| {
            !info.is(access::VOLATILE) && !info.is(access::FINAL) && !info.is(access::SYNTHETIC)
        })
    }
}
