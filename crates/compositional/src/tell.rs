//! From conflicts to findings: places, traces and words. Decides nothing.

use crate::engine::Compositional;
use crate::entry::{Entry, Seen};
use crate::path::{Path, Root, Step};
use crate::race::Conflict;
use crate::summary::{Access, Held};
use findings::{AccessKind, Engine, Finding, Frame, LockUse, Place, Rule, Site, fingerprint};
use ir::{FieldId, MethodId, Program};
use std::sync::Arc;

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
            let below = access.site.via.and_then(|(callee, digest)| {
                let accesses = &self.summary(callee)?.accesses;
                let at = accesses.binary_search_by_key(&digest, |access| access.digest).ok()?;
                Some((callee, &accesses[at]))
            });
            // Each is nearer than the one before, whatever calls itself.
            next = below.filter(|(_, below)| below.depth < access.depth);
        }
        way
    }
}

pub(crate) struct Tell<'a> {
    pub engine: &'a Compositional,
    pub program: &'a Program,
}

impl Tell<'_> {
    pub fn conflict(&self, conflict: &Conflict<'_>) -> Finding {
        let sites: Vec<Site> = conflict.sides.iter().map(|side| self.site(side)).collect();
        let memory = self.memory(&conflict.sides[0].path);
        let kinds: Vec<&str> = sites.iter().map(|site| site.access.id()).collect();
        let methods: Vec<String> = sites.iter().map(|site| site.method.clone()).collect();
        let mut parts: Vec<String> =
            methods.iter().zip(&kinds).map(|(method, kind)| format!("{kind} {method}")).collect();
        parts.sort();
        let mut all: Vec<&str> = vec![conflict.rule.id(), &memory];
        all.extend(parts.iter().map(String::as_str));
        let mut also: Vec<(Place, Place)> =
            conflict.also.iter().map(|[a, b]| (self.place_of(a), self.place_of(b))).collect();
        let own = (sites[0].place.clone(), sites[1].place.clone());
        also.sort();
        also.dedup();
        also.retain(|pair| *pair != own);
        Finding {
            id: fingerprint(&all),
            rule: conflict.rule,
            confidence: conflict.confidence,
            engines: vec![Engine::Compositional],
            message: self.message(conflict, &memory, &sites),
            field: Some(memory),
            why: self.why(conflict),
            fix: self.fix(conflict),
            assumed: self.assumed(conflict),
            sites,
            also,
            ..Finding::default()
        }
    }

    fn message(&self, conflict: &Conflict<'_>, memory: &str, sites: &[Site]) -> String {
        let short = |site: &Site| short(&site.method);
        let does = |site: &Site| if site.access == AccessKind::Write { "written" } else { "read" };
        match (conflict.rule, &conflict.guard) {
            (Rule::GuardedBy, Some((lock, with, of))) => {
                let lock = self.lock(lock, conflict.sides[0].entry);
                format!(
                    "{memory} is {} in {} without `{lock}`, which {with} of {of} accesses hold",
                    does(&sites[0]),
                    short(&sites[0])
                )
            }
            (Rule::UnprotectedWrite, _) => {
                format!(
                    "{memory} is written in {} without a lock, and any thread may do so",
                    short(&sites[0])
                )
            }
            _ if sites[0].method == sites[1].method => {
                format!(
                    "{memory} is {} in {} while another thread may be there too",
                    does(&sites[0]),
                    short(&sites[0])
                )
            }
            _ => {
                let [first, second] = [&sites[0], &sites[1]];
                let lock = if conflict.sides[0].held.is_empty() { " without a lock" } else { "" };
                format!(
                    "{memory} is {} in {}{lock} while it may be {} in {}",
                    does(first),
                    short(first),
                    does(second),
                    short(second)
                )
            }
        }
    }

    fn why(&self, conflict: &Conflict<'_>) -> Vec<String> {
        let mut why = conflict.why.clone();
        if let (Some((lock, with, of)), true) = (&conflict.guard, conflict.rule != Rule::GuardedBy) {
            why.push(format!("{with} of {of} accesses hold `{}`", self.lock(lock, conflict.sides[0].entry)));
        }
        why
    }

    fn fix(&self, conflict: &Conflict<'_>) -> Vec<String> {
        match &conflict.guard {
            Some((lock, ..)) => {
                let lock = self.lock(lock, conflict.sides[0].entry);
                vec![format!(
                    "hold `{lock}` in {} as well",
                    short(&self.engine_name(conflict.sides[0].entry.method))
                )]
            }
            None if conflict.rule == Rule::ContainerRace => {
                vec!["use a concurrent container, or one lock around every use of this one".into()]
            }
            None => vec!["guard every access with one lock, or make the field volatile or atomic".into()],
        }
    }

    fn assumed(&self, conflict: &Conflict<'_>) -> Vec<String> {
        let side = &conflict.sides[0];
        match side.path.root {
            Root::Param(_) => {
                let class = self.program.class_display(side.entry.class);
                vec![format!("several threads use one object of {class}")]
            }
            _ => Vec::new(),
        }
    }

    fn engine_name(&self, method: MethodId) -> String {
        self.program.method_display(method)
    }

    fn place_of(&self, seen: &Seen<'_>) -> Place {
        let way = self.way(seen.entry.method, seen.number);
        way.last().map_or_else(Place::default, |(method, access)| self.place(*method, access.site.at))
    }

    /// Without what the compiler made for inner classes: the source has the access where that is called.
    fn way(&self, method: MethodId, number: u32) -> Vec<(MethodId, &Access)> {
        let mut way = self.engine.way(method, number);
        let is_made = |method: MethodId| {
            let entry = self.program.method(method);
            let (name, _) = self.program.selector_text(entry.selector);
            entry.access & ir::access::SYNTHETIC != 0 && name.starts_with("access$")
        };
        while way.len() > 1 && way.last().is_some_and(|&(method, _)| is_made(method)) {
            way.pop();
        }
        way
    }

    fn site(&self, seen: &Seen<'_>) -> Site {
        let way = self.way(seen.entry.method, seen.number);
        let mut trace: Vec<Frame> = Vec::new();
        for &(method, access) in &way {
            trace.push(Frame {
                method: self.program.method_display(method),
                place: self.place(method, access.site.at),
            });
        }
        let Some(&(last, access)) = way.last() else { return Site::default() };
        let origin = match seen.access.started {
            0 => "any thread".to_owned(),
            _ => "a thread that is started there".to_owned(),
        };
        let started = (seen.access.started > 0).then(|| self.place(seen.entry.method, seen.access.site.at));
        let concurrent = seen.entry.evidence.iter().map(|evidence| evidence.words.clone()).collect();
        Site {
            access: if access.writes { AccessKind::Write } else { AccessKind::Read },
            place: self.place(last, access.site.at),
            method: self.program.method_display(last),
            origin,
            started,
            concurrent,
            locks: self.locks(seen, &way),
            trace,
            ..Site::default()
        }
    }

    /// Locks by the names of the entry, with the places where each level of the way takes them.
    fn locks(&self, seen: &Seen<'_>, way: &[(MethodId, &Access)]) -> Vec<LockUse> {
        seen.held
            .iter()
            .filter(|held| held.sure)
            .map(|held| LockUse {
                name: self.lock(&held.lock, seen.entry),
                place: self.lock_place(held, way),
                shared: held.shared,
            })
            .collect()
    }

    fn lock_place(&self, held: &Held, way: &[(MethodId, &Access)]) -> Place {
        let Some(&(method, access)) = way.first() else { return Place::default() };
        // Taken further down: there it has another name, but the same number of locks is held before it.
        if held.at == access.site.at && way.len() > 1 {
            let below = &way[1..];
            let inner = below[0].1.held.iter().find(|inner| inner.sure && inner.shared == held.shared);
            return inner.map_or(self.place(method, held.at), |inner| self.lock_place(inner, below));
        }
        self.place(method, held.at)
    }

    pub fn place(&self, method: MethodId, event: u32) -> Place {
        let class = self.program.method_ref(method).class;
        let lines = self.engine.method(method).map(|method| &method.outline.lines);
        let line = match event {
            crate::ENTRY => lines.and_then(|lines| lines.iter().copied().filter(|&line| line > 0).min()),
            event => lines.and_then(|lines| lines.get(event as usize).copied()),
        };
        Place { file: self.program.class_file(class), line: line.unwrap_or(0) }
    }

    /// What the path ends at, as a reader knows it.
    pub fn memory(&self, path: &Path) -> String {
        let mut fields: Vec<FieldId> = Vec::new();
        if let Root::Static(field) = path.root {
            fields.push(field);
        }
        let mut ending = "";
        for step in path.steps() {
            match step {
                Step::Field(field) => fields.push(field),
                Step::Elements => ending = "[]",
                Step::Contents => ending = "",
            }
        }
        match fields.last() {
            Some(&field) => format!("{}{ending}", self.program.field_display(field)),
            None => format!("an object{ending}"),
        }
    }

    /// A lock as the source names it.
    pub fn lock(&self, lock: &Path, entry: &Entry) -> String {
        let mut name = match lock.root {
            Root::Param(0) => "this".to_owned(),
            Root::Param(number) => format!("parameter {number}"),
            Root::Static(field) => self.program.field_display(field),
            Root::Class(class) => format!("{}.class", self.program.class_display(class)),
            Root::Made(_) | Root::Unknown => "a lock".to_owned(),
        };
        let mut is_first = true;
        for step in lock.steps() {
            match step {
                Step::Field(field) if is_first && lock.root == Root::Param(0) => {
                    name = self.program.field_display(field)
                }
                Step::Field(field) => {
                    name = format!("{name}.{}", &self.program.names[self.program.field_ref(field).name]);
                }
                Step::Elements => name.push_str("[]"),
                Step::Contents => {}
            }
            is_first = false;
        }
        let _ = entry;
        name
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

pub(crate) fn sorted(mut findings: Vec<Finding>) -> Vec<Arc<Finding>> {
    findings.sort_by(|a, b| a.ranks(b));
    findings.into_iter().map(Arc::new).collect()
}
