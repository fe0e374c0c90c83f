//! Races of all kinds in words: both sides, what guards the memory elsewhere, what would repair it.

use super::{Tell, short};
use crate::belief::strength;
use crate::entry::Seen;
use crate::evidence::Strength;
use crate::path::{Path, Root, Step};
use crate::race::Conflict;
use crate::summary::{Access, Held};
use findings::{
    AccessKind, Engine, Finding, Frame, GENERAL_FIX, LockUse, Place, Rule, Site, Unguarded, fingerprint,
};
use ir::{ClassId, MethodId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Where the accesses of methods are, by their numbers: one is in many pairs.
type Places = FxHashMap<(MethodId, u32), Place>;

impl Tell<'_> {
    pub fn conflict(&self, conflict: &Conflict<'_>) -> Finding {
        let in_full = conflict.confidence.at_least(self.least);
        let site = |side| if in_full { self.site(side) } else { self.site_in_brief(side) };
        let mut sites: Vec<Site> = conflict.sides.iter().map(site).collect();
        let is_declared = matches!(conflict.guard, Some((_, 0, 0)));
        if is_declared && std::ptr::eq(conflict.sides[0].access, conflict.sides[1].access) {
            sites.truncate(1);
        }
        let memory = self.memory(&conflict.sides[0].path, conflict.sides[0].entry.method);
        let kinds: Vec<&str> = sites.iter().map(|site| site.access.id()).collect();
        let methods: Vec<String> = sites.iter().map(|site| site.method.clone()).collect();
        let mut parts: Vec<String> =
            methods.iter().zip(&kinds).map(|(method, kind)| format!("{kind} {method}")).collect();
        parts.sort();
        let mut all: Vec<&str> = vec![conflict.rule.id(), &memory];
        all.extend(parts.iter().map(String::as_str));
        let mut places = Places::default();
        let mut also: Vec<(Place, Place)> = (conflict.also.iter())
            .map(|[a, b]| (self.place_of(a, &mut places), self.place_of(b, &mut places)))
            .collect();
        let own = (sites[0].place.clone(), sites[sites.len() - 1].place.clone());
        also.sort();
        also.dedup();
        also.retain(|pair| *pair != own);
        let id = fingerprint(&all);
        let unguarded = self.unguarded(conflict, &memory);
        // A method that reads and writes, as `n++` does, needs more than a volatile field.
        let reads_too = |write: &Unguarded| {
            unguarded.iter().any(|one| one.access == AccessKind::Read && one.method == write.method)
        };
        let is_update = unguarded.iter().any(|one| one.access == AccessKind::Write && reads_too(one));
        if !in_full {
            let (rule, confidence, engines) =
                (conflict.rule, conflict.confidence, vec![Engine::Compositional]);
            let message = format!("possible race on {memory}");
            return Finding {
                id,
                rule,
                confidence,
                engines,
                message,
                field: Some(memory),
                is_declared,
                shows_harm: conflict.shows_harm,
                sites,
                also,
                unguarded,
                ..Finding::default()
            };
        }
        Finding {
            id,
            rule: conflict.rule,
            confidence: conflict.confidence,
            engines: vec![Engine::Compositional],
            message: self.message(conflict, &memory, &sites),
            field: Some(memory),
            why: self.why(conflict),
            fix: self.fix(conflict, &sites, is_update),
            assumed: self.assumed(conflict),
            is_declared,
            shows_harm: conflict.shows_harm,
            sites,
            also,
            unguarded,
            ..Finding::default()
        }
    }

    /// Of every pair the side that is blamed, and the other one if it holds no lock either.
    fn unguarded(&self, conflict: &Conflict<'_>, memory: &str) -> Vec<Unguarded> {
        let pairs = std::iter::once(&conflict.sides).chain(&conflict.also);
        let sides = pairs.flat_map(|[blamed, other]| {
            std::iter::once(blamed).chain(std::iter::once(other).filter(|other| other.held.is_empty()))
        });
        let mut told = FxHashSet::default();
        let access = |seen: &Seen<'_>| {
            if !told.insert((seen.entry.method, seen.number)) {
                return None;
            }
            let way = self.way(seen.entry.method, seen.number);
            let &(method, access) = way.last()?;
            Some(Unguarded {
                access: if access.writes { AccessKind::Write } else { AccessKind::Read },
                method: self.program.method_display(method),
                field: memory.to_owned(),
                place: self.place(method, access.site.at),
            })
        };
        Unguarded::listed(sides.filter_map(access))
    }

    fn message(&self, conflict: &Conflict<'_>, memory: &str, sites: &[Site]) -> String {
        let short = |site: &Site| short(&site.method);
        let does = |site: &Site| if site.access == AccessKind::Write { "written" } else { "read" };
        let noun = |site: &Site| if site.access == AccessKind::Write { "write" } else { "read" };
        let unlocked = if conflict.sides[0].held.is_empty() { "unlocked " } else { "" };
        match (conflict.rule, &conflict.guard) {
            (Rule::GuardedBy, Some((lock, 0, 0))) => {
                let lock = self.lock_of(lock, conflict);
                format!(
                    "{memory} is {} in {} without `{lock}`, which guards it as declared",
                    does(&sites[0]),
                    short(&sites[0])
                )
            }
            (Rule::GuardedBy, Some((lock, with, of))) => {
                let lock = self.lock_of(lock, conflict);
                format!(
                    "{memory} is {} in {} without `{lock}`, which {with} of {of} accesses hold",
                    does(&sites[0]),
                    short(&sites[0])
                )
            }
            (Rule::UnprotectedWrite, _) => {
                format!("{memory}: unlocked write in {}, which may run on any thread", short(&sites[0]))
            }
            _ if sites[0].method == sites[1].method => {
                let [first, second] = [&sites[0], &sites[1]];
                // Where the class has no lines, the method has to do.
                let at = match second.place.line {
                    0 => String::new(),
                    line => format!(" at :{line}"),
                };
                format!(
                    "{memory}: {unlocked}{} in {} can run concurrently with the {}{at}",
                    noun(first),
                    short(first),
                    noun(second)
                )
            }
            _ => {
                let [first, second] = [&sites[0], &sites[1]];
                format!(
                    "{memory}: {unlocked}{} in {} can run concurrently with the {} in {}",
                    noun(first),
                    short(first),
                    noun(second),
                    short(second)
                )
            }
        }
    }

    fn why(&self, conflict: &Conflict<'_>) -> Vec<String> {
        let mut why = conflict.why.clone();
        if let (Some((lock, with, of)), true) = (named(&conflict.guard), conflict.rule != Rule::GuardedBy)
            && with * 2 > *of
        {
            why.push(format!("{with} of {of} accesses hold `{}`", self.lock_of(lock, conflict)));
        }
        why
    }

    fn fix(&self, conflict: &Conflict<'_>, sites: &[Site], is_update: bool) -> Vec<String> {
        match named(&conflict.guard).filter(|(lock, ..)| self.is_near(lock, conflict)) {
            Some((lock, ..)) => {
                let lock = self.lock_of(lock, conflict);
                // Where it happens: whoever calls from far away may not know the lock.
                let hold = format!("hold `{lock}` around it in {}", short(&sites[0].method));
                let is_field = matches!(conflict.sides[0].path.last(), Some(Step::Field(_)) | None);
                match is_field && sites[0].access == AccessKind::Read && !conflict.is_update && !is_update {
                    true => {
                        vec![format!("make the field volatile if one read of it is all there is, or {hold}")]
                    }
                    false => vec![hold],
                }
            }
            None if conflict.rule == Rule::ContainerRace => {
                vec!["use a concurrent container, or one lock around every use of this one".into()]
            }
            None if is_elements(conflict) => {
                vec![format!("{GENERAL_FIX}, or give each thread elements of its own")]
            }
            // Between the read and the write of an update another thread may write, volatile or not.
            None if conflict.is_update || is_update => vec![format!(
                "{}, or make it atomic: `volatile` does not make a read and a write one step",
                self.one_lock(conflict, sites)
            )],
            None => {
                let lock = self.one_lock(conflict, sites);
                vec![format!("{lock}, or make the field volatile if each access stands alone")]
            }
        }
    }

    /// The lock that the other side holds already, or any.
    fn one_lock(&self, conflict: &Conflict<'_>, sites: &[Site]) -> String {
        let is_named = |held: &&Held| held.sure && !matches!(held.lock.root, Root::Made(_) | Root::Unknown);
        let is_near = |held: &&Held| self.is_near(&held.lock, conflict);
        match conflict.sides[1].held.iter().filter(is_named).find(is_near) {
            Some(held) if conflict.sides[0].held.is_empty() => {
                format!("hold `{}` in {} too", self.lock_of(&held.lock, conflict), short(&sites[0].method))
            }
            _ => GENERAL_FIX.to_owned(),
        }
    }

    /// Is it a lock that both sides can be expected to know: of the class that has the memory, or of the class in which
    /// one of the accesses is? That of a caller far away is not.
    fn is_near(&self, lock: &Path, conflict: &Conflict<'_>) -> bool {
        let class_of = |method: MethodId| self.program.method_ref(method).class;
        let memory = match (conflict.sides[0].path.last(), conflict.sides[0].path.root) {
            (Some(Step::Field(field)), _) | (None, Root::Static(field)) => {
                Some(self.program.field_ref(field).class)
            }
            _ => None,
        };
        let at_access = |class: ClassId| {
            conflict.sides.iter().any(|side| {
                let way = self.way(side.entry.method, side.number);
                way.last().is_some_and(|&(method, _)| class_of(method) == class)
            })
        };
        let of = match (lock.last(), lock.root) {
            (Some(Step::Field(field)), _) | (None, Root::Static(field)) => {
                self.program.field_ref(field).class
            }
            (None, Root::Class(class)) => class,
            // The object that the entry is called on.
            (None, Root::Param(0)) if !self.program.method(conflict.sides[1].entry.method).is_static() => {
                conflict.sides[1].entry.class
            }
            _ => return false,
        };
        memory == Some(of) || at_access(of)
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

    fn place_of(&self, seen: &Seen<'_>, places: &mut Places) -> Place {
        let place = || {
            let way = self.way(seen.entry.method, seen.number);
            way.last().map_or_else(Place::default, |(method, access)| self.place(*method, access.site.at))
        };
        places.entry((seen.entry.method, seen.number)).or_insert_with(place).clone()
    }

    /// Without what the compiler made for inner classes: the source has the access where that is called.
    fn way(&self, method: MethodId, number: u32) -> Vec<(MethodId, &Access)> {
        let mut way = self.engine.way(method, number);
        let is_made = |method: MethodId| {
            let entry = self.program.method(method);
            let (name, _) = self.program.selector_text(entry.selector);
            entry.access & ir::access::SYNTHETIC != 0 && name.starts_with("access$")
        };
        if way.iter().any(|&(method, _)| !is_made(method)) {
            way.retain(|&(method, _)| !is_made(method));
        }
        way
    }

    /// What it does and where.
    fn site_in_brief(&self, seen: &Seen<'_>) -> Site {
        let way = self.way(seen.entry.method, seen.number);
        let Some(&(last, access)) = way.last() else { return Site::default() };
        Site {
            access: if access.writes { AccessKind::Write } else { AccessKind::Read },
            place: self.place(last, access.site.at),
            method: self.program.method_display(last),
            evidence: evidence_of(seen),
            ..Site::default()
        }
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
        // The last method on the way that knows of the start is the one that starts.
        let starts = way.iter().rev().find(|(_, access)| access.started > 0);
        let started = starts.map(|(method, access)| self.place(*method, access.site.at));
        let concurrent = seen.entry.evidence.iter().map(|evidence| evidence.words.clone()).collect();
        Site {
            access: if access.writes { AccessKind::Write } else { AccessKind::Read },
            place: self.place(last, access.site.at),
            method: self.program.method_display(last),
            origin,
            started,
            concurrent,
            evidence: evidence_of(seen),
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
                name: self.lock_seen_from(&held.lock, seen, way),
                place: self.lock_place(held, way),
                shared: held.shared,
                ..LockUse::default()
            })
            .collect()
    }

    /// Where the access is in another class, `this` is not the object that the lock belongs to.
    fn lock_seen_from(&self, lock: &Path, seen: &Seen<'_>, way: &[(MethodId, &Access)]) -> String {
        let is_far = way.last().is_some_and(|&(method, _)| {
            !self.program.has_supertype(seen.entry.class, self.program.method_ref(method).class)
        });
        match self.lock(lock).as_str() {
            "this" if is_far => format!("{}.this", self.program.class_display(seen.entry.class)),
            name => name.to_owned(),
        }
    }

    /// The lock as it is named beside the access that is blamed.
    fn lock_of(&self, lock: &Path, conflict: &Conflict<'_>) -> String {
        let blamed = &conflict.sides[0];
        self.lock_seen_from(lock, blamed, &self.way(blamed.entry.method, blamed.number))
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
}

/// A lock that a method has made itself has no name that others would know.
fn named(guard: &Option<(Path, usize, usize)>) -> Option<&(Path, usize, usize)> {
    guard.as_ref().filter(|(lock, ..)| !matches!(lock.root, Root::Made(_) | Root::Unknown))
}

/// Why the side is believed to run beside others.
fn evidence_of(seen: &Seen<'_>) -> Option<findings::Evidence> {
    if seen.access.started > 0 {
        return Some(findings::Evidence::Start);
    }
    strength(seen).map(|strength| match strength {
        Strength::Hint => findings::Evidence::Hint,
        Strength::Framework => findings::Evidence::Framework,
        Strength::Task => findings::Evidence::Task,
        Strength::Locks => findings::Evidence::Locks,
        Strength::Promised | Strength::Declared => findings::Evidence::Declared,
    })
}

fn is_elements(conflict: &Conflict<'_>) -> bool {
    conflict.sides[0].path.last() == Some(Step::Elements)
}
