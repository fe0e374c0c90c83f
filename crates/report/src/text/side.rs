//! One side of a finding: which thread does what, under which locks, and how it got there. Knows nothing
//! of the other sides.

use super::{
    excerpt::{Mark, Source, Target},
    extent::Extent,
    look::{Look, clean},
    method::readable,
    trace,
};
use crate::{Sources, names::Names};
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin};
use findings::{AccessKind, Finding, LockUse, Place, Site};

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

/// All sides of a finding, in its order. Two that say the same are one.
pub(super) fn sides(finding: &Finding) -> Vec<Side<'_>> {
    let target = Target::of(finding);
    if let [site, twin] = &finding.sites[..]
        && site == twin
    {
        return vec![Side { site, target, thread: Thread::Both }];
    }
    let mut sides: Vec<Side<'_>> = vec![];
    for site in &finding.sites {
        let alike = sides.iter().any(|side| side.site.origin == site.origin);
        sides.push(Side { site, target, thread: if alike { Thread::Another } else { Thread::New } });
    }
    sides
}

/// What one side does, in a sentence.
pub(crate) fn deed(site: &Site, names: &Names<'_>) -> String {
    Side { site, target: Target::Unnamed, thread: Thread::New }.sentence(names)
}

/// Who does it: "the main thread", "any thread".
pub(crate) fn doer(site: &Site, names: &Names<'_>) -> String {
    Side { site, target: Target::Unnamed, thread: Thread::New }.thread(names)
}

impl Side<'_> {
    pub fn render(&self, sources: &dyn Sources, names: &Names<'_>, extent: &Extent, look: &Look) -> String {
        let text = sources.text(&self.site.place.file).unwrap_or_default();
        let source = Source::new(text, &self.site.place.file);
        let group = match self.mark(&source, names) {
            Some(mark) => self.with_excerpt(mark, &source, names, extent),
            None => self.without_excerpt(names, extent),
        };
        look.renderer().render(&[group])
    }

    /// The side in one sentence: "write in the main thread, holding no lock", "unlocked read in bank.Account.balance();
    /// may run on any thread".
    pub fn sentence(&self, names: &Names<'_>) -> String {
        let thread = self.thread(names);
        match (self.verb(), &self.site.holds, &self.site.acquires) {
            (Some(verb), ..) => self.does(verb, &thread, names),
            (None, Some(holds), Some(wants)) => {
                format!("{thread} holds {}, waits for {}", lock(holds, names), lock(wants, names))
            }
            (None, Some(holds), None) => format!("{thread} holds {} and waits", lock(holds, names)),
            (None, None, Some(wants)) => format!("{thread} waits for {}", lock(wants, names)),
            (None, None, None) => format!("{thread} waits"),
        }
    }

    /// The source around the access shows what it can; the rest is said.
    fn with_excerpt(
        &self,
        access: Mark,
        source: &Source,
        names: &Names<'_>,
        extent: &Extent,
    ) -> Group<'static> {
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
        let title = match self.verb() {
            Some(verb) => self.does(verb, &thread, names),
            None => thread,
        };
        let snippet = source.snippet(clean(&names.file(&self.site.place.file)), marks);
        titled(title).element(snippet).elements(self.facts(&unseen, names, extent))
    }

    fn without_excerpt(&self, names: &Names<'_>, extent: &Extent) -> Group<'static> {
        let held: Vec<_> = self.held().collect();
        let group = titled(self.sentence(names)).element(origin(&self.site.place, names));
        group.elements(self.facts(&held, names, extent))
    }

    /// What is done there. Threads that stand still in a deadlock are told by what they hold and want instead.
    fn verb(&self) -> Option<&'static str> {
        match self.site.access {
            AccessKind::Read => Some("read"),
            AccessKind::Write => Some("write"),
            AccessKind::Block => Some("blocking call"),
            AccessKind::Call => Some("call"),
            AccessKind::Acquire | AccessKind::Wait => None,
        }
    }

    fn does(&self, verb: &str, thread: &str, names: &Names<'_>) -> String {
        let held: Vec<_> = self.held().collect();
        let method = self.called();
        let threads = match self.thread {
            Thread::Both => "may run on any thread, and on several at the same time",
            Thread::New | Thread::Another => "may run on any thread",
        };
        match (self.site.origin.as_str(), held.as_slice()) {
            // What is told in brief says nothing of locks.
            ("", _) => format!("{verb} in {method}; {threads}"),
            ("any thread", []) if self.is_access() => format!("unlocked {verb} in {method}; {threads}"),
            ("any thread", []) => format!("{verb} in {method}; {threads}"),
            ("any thread", held) => {
                format!("{verb} in {method}, holding {}; {threads}", holding(held, names))
            }
            (_, held) => format!("{verb} in {thread}, holding {}", holding(held, names)),
        }
    }

    fn is_access(&self) -> bool {
        matches!(self.site.access, AccessKind::Read | AccessKind::Write)
    }

    /// The method that others call, if the calls from there are known.
    fn called(&self) -> String {
        readable(self.site.trace.first().map_or(&self.site.method, |frame| &frame.method))
    }

    fn held(&self) -> impl Iterator<Item = &LockUse> {
        let held = &self.site.holds;
        self.site.locks.iter().chain(held.iter().filter(|held| !self.site.locks.contains(held)))
    }

    fn thread(&self, names: &Names<'_>) -> String {
        thread(&clean(&names.prose(&self.site.origin)), self.thread)
    }

    fn mark(&self, source: &Source, names: &Names<'_>) -> Option<Mark> {
        let label = match (self.site.access, &self.site.acquires) {
            (AccessKind::Write, _) => "written here".into(),
            (AccessKind::Read, _) => "read here".into(),
            (_, Some(wants)) => format!("waits for {}", lock(wants, names)),
            (AccessKind::Block, None) => "may block here".into(),
            (AccessKind::Call, None) => "calls here".into(),
            (AccessKind::Acquire | AccessKind::Wait, None) => "waits here".into(),
        };
        let span = source.site(self.site, self.target)?;
        Some(Mark { span, label, kind: AnnotationKind::Primary })
    }

    fn facts(&self, unseen: &[&LockUse], names: &Names<'_>, extent: &Extent) -> Vec<Element<'static>> {
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
        if !self.site.concurrent.is_empty() {
            let reasons = self.site.concurrent.iter().map(|why| clean(&names.prose(why)));
            facts.push(fact("concurrent", reasons.collect::<Vec<_>>().join("\n")));
        }
        facts.push(match trace::lines(&self.site.trace, extent.calls, names) {
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
        "" => "any thread".to_owned(),
        "a" | "an" | "the" | "any" | "each" | "every" | "some" | "one" => origin.to_owned(),
        _ => format!("the {origin}"),
    };
    match (relation, first) {
        (Thread::New, _) => named,
        (Thread::Another, "" | "any" | "each" | "every" | "some" | "one") => named,
        (Thread::Another, "a" | "an" | "the") => format!("another {rest}"),
        (Thread::Another, _) => format!("another {origin}"),
        (Thread::Both, "" | "any") => "any two threads".to_owned(),
        (Thread::Both, _) => format!("{named} and another like it"),
    }
}

/// Each lock stands below with its place; a long list would only hide the thread.
fn holding(locks: &[&LockUse], names: &Names<'_>) -> String {
    match locks {
        [] => "no lock".to_owned(),
        [only] => lock(only, names),
        [first, second] => format!("{} and {}", lock(first, names), lock(second, names)),
        many => format!("{} locks", many.len()),
    }
}

pub(crate) fn lock(lock: &LockUse, names: &Names<'_>) -> String {
    let mode = if lock.shared { " in read mode" } else { "" };
    let object = match lock.object.as_str() {
        "" => String::new(),
        object => format!(" ({})", clean(&names.prose(object))),
    };
    match clean(&names.prose(&lock.name)).as_str() {
        // Words for a lock without a name are no code.
        name if name.starts_with("a ") => format!("{name}{object}{mode}"),
        name => format!("`{name}`{object}{mode}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_named_as_one_would_say() {
        assert_eq!(thread("main thread", Thread::New), "the main thread");
        assert_eq!(thread("a pool thread", Thread::Another), "another pool thread");
        assert_eq!(
            thread("thread started at A.java:3", Thread::Another),
            "another thread started at A.java:3"
        );
        assert_eq!(thread("any thread", Thread::Another), "any thread");
        assert_eq!(thread("main thread", Thread::Both), "the main thread and another like it");
        assert_eq!(thread("", Thread::New), "any thread");
        assert_eq!(thread("any thread", Thread::Both), "any two threads");
    }

    fn site(origin: &str) -> Site {
        Site { method: "bank.Account.get()".into(), origin: origin.into(), ..Site::default() }
    }

    #[test]
    fn what_any_thread_may_do_is_told_by_the_method_that_it_calls() {
        let names = &Names::new(&crate::NoSources);
        let mut site = site("any thread");
        assert_eq!(deed(&site, names), "unlocked read in bank.Account.get(); may run on any thread");
        site.trace = ["bank.Bank.sum()", "bank.Account.get()"]
            .map(|method| findings::Frame { method: method.into(), place: Place::default() })
            .to_vec();
        site.locks = vec![LockUse { name: "this".into(), ..LockUse::default() }];
        assert_eq!(deed(&site, names), "read in bank.Bank.sum(), holding `this`; may run on any thread");
    }

    #[test]
    fn what_is_told_in_brief_claims_nothing_about_locks() {
        let names = &Names::new(&crate::NoSources);
        assert_eq!(deed(&site(""), names), "read in bank.Account.get(); may run on any thread");
        let twins = Finding { sites: vec![site(""), site("")], ..Finding::default() };
        let [both] = &sides(&twins)[..] else { panic!("one side stands for both") };
        let text = "read in bank.Account.get(); may run on any thread, and on several at the same time";
        assert_eq!(both.sentence(names), text);
    }

    #[test]
    fn two_locks_of_one_name_are_told_apart_by_their_objects() {
        let lock =
            |object: &str| Some(LockUse { name: "this".into(), object: object.into(), ..LockUse::default() });
        let (access, holds, acquires) = (AccessKind::Acquire, lock("`source`"), lock("`target`"));
        let site = Site { access, holds, acquires, ..site("main thread") };
        let names = &Names::new(&crate::NoSources);
        assert_eq!(
            deed(&site, names),
            "the main thread holds `this` (`source`), waits for `this` (`target`)"
        );
    }
}
