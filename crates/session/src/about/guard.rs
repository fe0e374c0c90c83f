//! What guards a field, and why there is no warning: from accesses and their locks alone. Knows nothing of how these
//! were found out.

use findings::{Access, AccessKind, Dismissed, Engine, Guard, Part, Why};
use ir::access;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What a field says of itself.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Its access flags.
    pub flags: u16,
    /// What it holds is locked somewhere.
    pub is_lock: bool,
    /// The lock that it says it is guarded by.
    pub declared: Option<String>,
    /// The class of what it holds, if that is made for several threads.
    pub safe: Option<String>,
}

impl Facts {
    fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// The compiler has made it, and no source has it.
    pub fn is_made(&self) -> bool {
        self.is(access::SYNTHETIC)
    }

    /// Must something keep this access apart from others?
    fn is_exposed(&self, access: &Access) -> bool {
        let is_plain = !self.is(access::FINAL | access::VOLATILE);
        access.is_published && (is_plain || access.part != Part::Field)
    }

    pub fn lacks(&self, access: &Access, guard: &str) -> bool {
        self.is_exposed(access) && !access.holds(guard)
    }
}

/// The lock that the field names, or that enough accesses hold.
pub(super) fn find(facts: &Facts, accesses: &[Access]) -> Option<Guard> {
    let exposed: Vec<&Access> = accesses.iter().filter(|access| facts.is_exposed(access)).collect();
    let of = exposed.len();
    let holding = |name: &str| exposed.iter().filter(|access| access.holds(name)).count();
    if let Some(name) = &facts.declared {
        return Some(Guard { with: holding(name), name: name.clone(), of, is_declared: true });
    }
    let locks = exposed.iter().flat_map(|access| &access.locks);
    let names: BTreeSet<&String> = locks.flat_map(|held| &held.known_as).collect();
    // The shortest of several says most, and of those the first.
    let counted = names.into_iter().map(|name| (holding(name), Reverse(name.len()), Reverse(name)));
    let (with, _, Reverse(name)) = counted.max()?;
    let written: Vec<&&Access> = exposed.iter().filter(|access| access.kind == AccessKind::Write).collect();
    let writes = written.iter().filter(|access| access.holds(name)).count();
    // What has no name from the object is some lock around it all, and mostly there for something else.
    let is_near = !name.contains(' ');
    let is_one = match with {
        // Nobody needs a lock to read what nobody writes.
        _ if written.is_empty() => false,
        0 => false,
        1 if !is_near => false,
        _ if with == of => true,
        // By chance one access among many holds some lock, or two of many; and who reads under a lock what is written
        // without it does so for something else.
        1 => of == 2 && writes > 0,
        _ => with * 2 > of || (is_near && writes > 0 && with * 3 >= of),
    };
    is_one.then(|| Guard { name: name.clone(), with, of, is_declared: false })
}

/// What was found out about pairs of accesses.
pub(super) struct Judged {
    /// What keeps the threads of the program apart that get there, if anything does.
    pub dismissed: Option<Dismissed>,
    /// Why a suspicion of the other engine was unfounded.
    pub suspicion: Option<Dismissed>,
    /// There is a suspicion that is hardly worth telling.
    pub has_suspicion: bool,
}

/// Why there is no warning. The reason that says most about the code comes first.
pub(super) fn why(
    facts: &Facts,
    accesses: &[Access],
    guard: Option<&Guard>,
    judged: Judged,
    engines: &[Engine],
) -> Why {
    let exposed: Vec<&Access> = accesses.iter().filter(|access| facts.is_exposed(access)).collect();
    let is_write = |access: &&Access| access.kind == AccessKind::Write;
    if exposed.is_empty() {
        return match () {
            () if facts.is(access::VOLATILE) => Why::Volatile,
            () if facts.is(access::FINAL) => Why::Final(facts.safe.clone()),
            () if accesses.is_empty() => Why::Untouched,
            () => Why::Unpublished,
        };
    }
    if !exposed.iter().copied().any(|access| is_write(&access)) {
        return Why::NeverWritten;
    }
    if let Some(guard) = guard.filter(|guard| guard.with == guard.of) {
        return Why::Guarded(guard.name.clone());
    }
    let reached: Vec<&Access> =
        exposed.iter().copied().filter(|access| access.engine == Engine::WholeProgram).collect();
    if !reached.is_empty() {
        if let Some(why) = why_reached(&reached, guard, judged.dismissed) {
            return why;
        }
    } else if let Some(why) = judged.suspicion {
        return Why::Dismissed(why);
    } else if engines.contains(&Engine::WholeProgram) {
        return Why::Unreached;
    } else if let Some(origin) = only_origin(&exposed) {
        return Why::OneThread(origin);
    }
    if judged.has_suspicion { Why::Reported } else { Why::Unsuspected }
}

/// The same for what the program gets to.
fn why_reached(reached: &[&Access], guard: Option<&Guard>, dismissed: Option<Dismissed>) -> Option<Why> {
    if !reached.iter().any(|access| access.kind == AccessKind::Write) {
        return Some(Why::NeverWrittenWhereReached);
    }
    if let Some(origin) = only_origin(reached) {
        return Some(Why::OneThread(origin));
    }
    if let Some(guard) = guard.filter(|guard| reached.iter().all(|access| access.holds(&guard.name))) {
        return Some(Why::GuardedWhereReached(guard.name.clone()));
    }
    dismissed.map(Why::Dismissed)
}

/// The one thread that gets there.
fn only_origin(accesses: &[&Access]) -> Option<findings::Origin> {
    let origins: BTreeSet<&findings::Origin> = accesses.iter().flat_map(|access| &access.origins).collect();
    let mut origins = origins.into_iter();
    origins.next().filter(|origin| !origin.is_several && origins.next().is_none()).cloned()
}
