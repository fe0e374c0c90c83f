//! From what the rules found to findings: places, traces and words. Decides nothing.

mod blocking;
mod deadlock;
mod misuse;
mod race;
mod stranger;
mod together;

pub(crate) use together::together;

use crate::engine::Compositional;
use crate::guard;
use crate::link::outer_class;
use crate::path::{LockKind, Path, Root, Step};
use crate::summary::Access;
use findings::{Confidence, Finding, Frame, Place};
use ir::{FieldId, MethodId, MethodRef, Program};
use std::cmp::Ordering;
use std::sync::Arc;

pub(crate) struct Tell<'a> {
    pub engine: &'a Compositional,
    pub program: &'a Program,
    /// What is less sure than this is told in brief.
    pub least: Confidence,
}

impl Tell<'_> {
    pub fn place(&self, method: MethodId, event: u32) -> Place {
        let class = self.program.method_ref(method).class;
        let lines = self.engine.methods.get(method).map(|slot| slot.packed.places().lines);
        let line = match event {
            crate::ENTRY => lines.and_then(|lines| lines.into_iter().filter(|&line| line > 0).min()),
            event => lines.and_then(|lines| lines.get(event as usize).copied()),
        };
        Place { file: self.program.class_file(class), line: line.unwrap_or(0) }
    }

    /// What the path ends at, as a reader knows it.
    pub fn memory(&self, path: &Path, method: MethodId) -> String {
        let mut fields: Vec<FieldId> = Vec::new();
        if let Root::Static(field) = path.root {
            fields.push(field);
        }
        let mut ending = "";
        for step in path.steps() {
            match step {
                Step::Field(field) => {
                    fields.push(field);
                    ending = "";
                }
                Step::Elements => ending = "[]",
                Step::Contents => ending = "",
            }
        }
        match fields.last() {
            Some(&field) => format!("{}{ending}", self.program.field_display(field)),
            None => {
                let class = match path.root {
                    Root::Made(value) => self.engine.summary(method).and_then(|summary| {
                        summary.made.iter().find(|(made, _)| *made == value).map(|&(_, class)| class)
                    }),
                    Root::Param(number) => {
                        self.program.method(method).params.get(usize::from(number)).copied().flatten()
                    }
                    _ => None,
                };
                class.map_or_else(|| format!("an object{ending}"), |class| self.program.class_display(class))
            }
        }
    }

    /// A lock as the source names it. What is said of a lock class is about the lock, and not about the monitor that its
    /// objects have besides.
    pub fn lock(&self, lock: &Path) -> String {
        self.by_kind(lock, None, self.object(lock))
    }

    fn by_kind(&self, lock: &Path, method: Option<MethodId>, name: String) -> String {
        let class = match (lock.last(), lock.root) {
            (Some(Step::Field(field)), _) | (None, Root::Static(field)) => self.program.field(field).class_of,
            (None, Root::Param(number)) => method.and_then(|method| {
                self.program.method(method).params.get(usize::from(number)).copied().flatten()
            }),
            _ => None,
        };
        let is_lock = || guard::kind_of(self.program, &self.engine.knowledge, class) == LockKind::Explicit;
        match lock.lock == LockKind::Monitor && is_lock() {
            true => format!("monitor of {name}"),
            false => name,
        }
    }

    fn object(&self, lock: &Path) -> String {
        let mut name = match lock.root {
            Root::Param(0) => "this".to_owned(),
            Root::Param(number) => format!("parameter {number}"),
            Root::Static(field) => self.program.field_display(field),
            Root::Class(class) => format!("{}.class", self.program.class_display(class)),
            Root::Made(_) | Root::Unknown => "a lock".to_owned(),
        };
        // By the field that has it, whatever leads there.
        for step in lock.steps() {
            match step {
                Step::Field(field) => name = self.field(field),
                Step::Elements => name.push_str("[]"),
                Step::Contents => {}
            }
        }
        name
    }

    /// A field as the source names it: the object around an inner one has no name of its own.
    fn field(&self, field: FieldId) -> String {
        match outer_class(self.program, field) {
            Some(outer) => format!("{}.this", self.program.class_display(outer)),
            None => self.program.field_display(field),
        }
    }

    fn frames(&self, way: impl IntoIterator<Item = (MethodId, u32)>) -> Vec<Frame> {
        let frame = |(method, event)| Frame {
            method: self.program.method_display(method),
            place: self.place(method, event),
        };
        way.into_iter().map(frame).collect()
    }

    /// `Thread.sleep`
    fn called(&self, target: MethodRef) -> String {
        let class = self.program.class_display(target.class);
        let simple = class.rsplit(['.', '$']).next().unwrap_or(&class);
        format!("{simple}.{}", self.program.selector_text(target.selector).0)
    }

    /// A lock as a method names it.
    pub fn lock_in(&self, lock: &Path, method: MethodId) -> String {
        self.by_kind(lock, Some(method), self.object_in(lock, method))
    }

    fn object_in(&self, lock: &Path, method: MethodId) -> String {
        let number = match lock.root {
            Root::Param(number) if number > 0 => number,
            Root::Param(0) if self.program.method(method).is_static() => 0,
            _ => return self.object(lock),
        };
        let class = self.program.method(method).params.get(usize::from(number)).copied().flatten();
        let name = self
            .engine
            .methods
            .get(method)
            .and_then(|slot| *slot.packed.places().names.get(usize::from(number))?);
        let named = match (name, class) {
            (Some(name), _) => self.program.names[name].to_string(),
            (None, Some(class)) => self.program.class_display(class),
            (None, None) => "parameter".to_owned(),
        };
        let rest = lock.steps().filter_map(|step| match step {
            Step::Field(field) => Some(self.program.names[self.program.field_ref(field).name].to_string()),
            _ => None,
        });
        std::iter::once(named).chain(rest).collect::<Vec<_>>().join(".")
    }
}

impl Compositional {
    /// A number for a method that depends on its name only.
    pub(crate) fn name_of(&self, method: MethodId) -> u64 {
        self.method(method).map_or(0, |method| method.digest)
    }

    /// Where an access of a summary really happens: the method and the event in it.
    pub(crate) fn last_site(&self, method: MethodId, number: u32) -> (MethodId, u32) {
        let last = self.way(method, number);
        last.last().map_or((method, u32::MAX), |&(method, access)| (method, access.site.at))
    }

    /// The calls that lead from a method to an access of its summary, the access last.
    pub(crate) fn way(&self, method: MethodId, number: u32) -> Vec<(MethodId, &Access)> {
        let mut way: Vec<(MethodId, &Access)> = Vec::new();
        let first = self.summary(method).and_then(|summary| summary.accesses.get(number as usize));
        let mut next = first.map(|access| (method, access));
        while let Some((method, access)) = next {
            way.push((method, access));
            let below = access.site.via.and_then(|(callee, digest)| self.below(callee, digest, access));
            // Each is nearer than the one before, whatever calls itself.
            next = below.filter(|(_, below)| below.depth < access.depth);
        }
        way
    }

    /// The access that another one stands for. Methods that call themselves may have changed since: then it is the
    /// nearest that does the same.
    fn below(&self, callee: MethodId, digest: u64, above: &Access) -> Option<(MethodId, &Access)> {
        let accesses = &self.summary(callee)?.accesses;
        let known = accesses.binary_search_by_key(&digest, |access| access.digest).ok();
        let does_same = |access: &&Access| {
            access.writes == above.writes
                && access.path.last() == above.path.last()
                && access.depth < above.depth
        };
        let similar = || accesses.iter().filter(does_same).min_by_key(|access| (access.depth, access.digest));
        Some((callee, known.map(|at| &accesses[at]).or_else(similar)?))
    }

    /// Is it known where an access of a summary really happens?
    pub(crate) fn is_whole(&self, method: MethodId, number: u32) -> bool {
        self.way(method, number).last().is_some_and(|(_, access)| access.site.via.is_none())
    }
}

/// `Account.deposit` for `bank.Account.deposit(int)`.
pub(crate) fn short(method: &str) -> String {
    let (name, lambda) = match method.strip_suffix(" lambda") {
        Some(name) => (name, "a lambda of "),
        None => (method, ""),
    };
    let name = name.split('(').next().unwrap_or(name);
    let mut parts = name.rsplit('.');
    let (last, class) = (parts.next().unwrap_or(name), parts.next());
    match class {
        Some(class) => format!("{lambda}{class}.{last}"),
        None => format!("{lambda}{last}"),
    }
}

/// The surest and nearest first. Two that differ in anything are never equal: which one stands for both must not depend
/// on who came first.
pub(crate) fn nearest(a: &Finding, b: &Finding) -> Ordering {
    let length = |finding: &Finding| finding.sites.iter().map(|site| site.trace.len()).sum::<usize>();
    let key = |finding: &Finding| (finding.confidence, length(finding));
    let reasons = |finding: &Finding| finding.sites.iter().map(|site| site.concurrent.len()).sum::<usize>();
    let more_reasons = || reasons(b).cmp(&reasons(a));
    key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id)).then_with(more_reasons).then_with(|| a.cmp(b))
}

pub(crate) fn sorted(mut findings: Vec<Arc<Finding>>) -> Vec<Arc<Finding>> {
    findings::sort_findings(&mut findings);
    findings
}
