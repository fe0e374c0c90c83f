//! One side of a finding: which thread does what, under which locks, and how it got there. Knows nothing
//! of the other sides.

use super::{
    excerpt::{Mark, Source, Target},
    look::{Look, clean},
    method::readable,
    trace,
};
use crate::{Sources, names::Names};
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin};
use findings::{AccessKind, LockUse, Place, Site};

/// A site and how its finding speaks of it.
pub(super) struct Side<'a> {
    pub site: &'a Site,
    pub target: Target<'a>,
    pub thread: Thread,
}

/// How a side's thread relates to those of the sides before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thread {
    New,
    /// Started at the same place as one before.
    Another,
    /// Two of its kind do exactly the same: one side stands for both.
    Both,
}

impl Side<'_> {
    pub fn render(&self, sources: &dyn Sources, names: &Names<'_>, look: &Look) -> String {
        let text = sources.text(&self.site.place.file).unwrap_or_default();
        let source = Source::new(&text);
        let group = match self.access(&source, names) {
            Some(access) => self.with_excerpt(access, &source, names),
            None => self.without_excerpt(names),
        };
        look.renderer().render(&[group])
    }

    /// The source around the access shows what it can; the rest is said.
    fn with_excerpt(&self, access: Mark, source: &Source<'_>, names: &Names<'_>) -> Group<'static> {
        let mut marks = vec![];
        let mut unseen = vec![];
        for held in self.held() {
            match source.lock(held.place.line, &held.name).filter(|_| held.place.file == self.site.place.file)
            {
                Some(span) if span.line != access.span.line => {
                    let label = format!("holds {}", lock(held, names));
                    marks.push(Mark { span, label, kind: AnnotationKind::Context });
                }
                _ => unseen.push(held),
            }
        }
        marks.push(access);
        let thread = self.thread(names);
        let title = match self.site.access {
            AccessKind::Read | AccessKind::Write => self.accesses(&thread, names),
            AccessKind::Acquire | AccessKind::Wait | AccessKind::Block | AccessKind::Call => thread,
        };
        let snippet = source.snippet(clean(&names.file(&self.site.place.file)), marks);
        titled(title).element(snippet).elements(self.facts(&unseen, names))
    }

    fn without_excerpt(&self, names: &Names<'_>) -> Group<'static> {
        let thread = self.thread(names);
        let title = match (self.site.access, &self.site.holds, &self.site.acquires) {
            (AccessKind::Read | AccessKind::Write, ..) => self.accesses(&thread, names),
            (_, Some(holds), Some(wants)) => {
                format!("{thread} holds {} and wants {}", lock(holds, names), lock(wants, names))
            }
            (_, Some(holds), None) => format!("{thread} holds {} and waits", lock(holds, names)),
            (_, None, Some(wants)) => format!("{thread} wants {}", lock(wants, names)),
            (_, None, None) => format!("{thread} waits"),
        };
        let held: Vec<_> = self.held().collect();
        titled(title).element(origin(&self.site.place, names)).elements(self.facts(&held, names))
    }

    fn held(&self) -> impl Iterator<Item = &LockUse> {
        let held = &self.site.holds;
        self.site.locks.iter().chain(held.iter().filter(|held| !self.site.locks.contains(held)))
    }

    fn thread(&self, names: &Names<'_>) -> String {
        thread(&clean(&names.prose(&self.site.origin)), self.thread)
    }

    fn accesses(&self, thread: &str, names: &Names<'_>) -> String {
        format!("{} in {thread}, holding {}", self.site.access.id(), holding(&self.site.locks, names))
    }

    fn access(&self, source: &Source<'_>, names: &Names<'_>) -> Option<Mark> {
        let line = self.site.place.line;
        let (span, label) = match (self.site.access, &self.site.acquires) {
            (AccessKind::Write, _) => {
                (source.access(line, self.target, AccessKind::Write), "written here".into())
            }
            (AccessKind::Read, _) => (source.access(line, self.target, AccessKind::Read), "read here".into()),
            (_, Some(wants)) => (source.lock(line, &wants.name), format!("wants {}", lock(wants, names))),
            (_, None) => (source.access(line, Target::Unnamed, self.site.access), "waits here".into()),
        };
        Some(Mark { span: span?, label, kind: AnnotationKind::Primary })
    }

    fn facts(&self, unseen: &[&LockUse], names: &Names<'_>) -> Vec<Element<'static>> {
        let place = |place: &Place| clean(&names.place(place));
        let mut facts = vec![];
        for held in unseen.iter().filter(|held| !held.place.file.is_empty()) {
            facts.push(fact("holds", format!("{}, taken at {}", lock(held, names), place(&held.place))));
        }
        if let Some(started) = &self.site.started
            && !names.prose(&self.site.origin).contains(&names.place(started))
        {
            facts.push(fact("thread", format!("started at {}", place(started))));
        }
        facts.push(match trace::lines(&self.site.trace, names) {
            lines if lines.len() > 1 => fact("calls", lines.join("\n")),
            lines => fact("in", lines.into_iter().next().unwrap_or_else(|| readable(&self.site.method))),
        });
        facts
    }
}

/// The title stands for itself, without a level's name in front.
fn titled(title: String) -> Group<'static> {
    Group::with_title(Level::ERROR.no_name().secondary_title(title))
}

fn origin(place: &Place, names: &Names<'_>) -> Origin<'static> {
    let path = Origin::path(clean(&names.file(&place.file)));
    if place.line == 0 { path } else { path.line(place.line as usize) }
}

fn fact(name: &'static str, text: String) -> Element<'static> {
    Level::NOTE.with_name(name).message(text).into()
}

/// "main thread" → "the main thread"; the second of two alike is "another".
fn thread(origin: &str, relation: Thread) -> String {
    let (first, rest) = origin.split_once(' ').unwrap_or((origin, ""));
    let named = match first {
        "a" | "an" | "the" | "any" | "each" | "every" | "some" | "one" => origin.to_owned(),
        _ => format!("the {origin}"),
    };
    match (relation, first) {
        (Thread::New, _) => named,
        (Thread::Another, "a" | "an" | "the") => format!("another {rest}"),
        (Thread::Another, _) => format!("another {origin}"),
        (Thread::Both, _) => format!("{named} and another like it"),
    }
}

/// Each lock stands below with its place; a long list would only hide the thread.
fn holding(locks: &[LockUse], names: &Names<'_>) -> String {
    match locks {
        [] => "no lock".to_owned(),
        [only] => lock(only, names),
        [first, second] => format!("{} and {}", lock(first, names), lock(second, names)),
        many => format!("{} locks", many.len()),
    }
}

fn lock(lock: &LockUse, names: &Names<'_>) -> String {
    let mode = if lock.shared { " in read mode" } else { "" };
    match clean(&names.prose(&lock.name)).as_str() {
        // Words for a lock without a name are no code.
        name if name.starts_with("a ") => format!("{name}{mode}"),
        name => format!("`{name}`{mode}"),
    }
}
