//! Under which lock a place is mostly used, and how much that says. Counts accesses where they stand in the code;
//! knows nothing of which of them is wrong.

use crate::engine::Compositional;
use crate::entry::Seen;
use crate::path::{Path, Root, Step};
use ir::{MethodId, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// The lock that most accesses to a place hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Habit {
    pub lock: Path,
    /// How many of how many accesses hold it.
    pub with: usize,
    pub of: usize,
    /// The methods in whose code they stand.
    methods: usize,
    writes: usize,
    /// One method reads it before it writes it, so that what it writes depends on what it was.
    works: bool,
    /// It changes by bits, or in more than one method: it is not a value that one method puts there for all others.
    changes: bool,
    /// The place is a field of the object itself, or a static one, and not of something it refers to.
    is_own: bool,
    /// What is locked is the container or array itself that the place is in.
    pub is_itself: bool,
}

/// What is known of one access in the code, over all ways that lead to it.
struct Spot {
    locks: Vec<Path>,
    writes: bool,
}

pub(crate) fn of(engine: &Compositional, program: &Program, all: &[Seen<'_>]) -> Option<Habit> {
    let mut spots: FxHashMap<(MethodId, u32), Spot> = FxHashMap::default();
    for seen in all {
        // A lock of another object has no name here, and one without a name is no habit.
        let is_inside = matches!(seen.path.root, Root::Made(_));
        let is_named =
            |lock: &Path| *lock != Path::UNKNOWN && (is_inside || !matches!(lock.root, Root::Made(_)));
        let locks = seen.held.iter().filter(|held| held.sure).map(|held| held.lock);
        let mut locks: Vec<Path> = locks.filter(is_named).collect();
        locks.sort_unstable();
        locks.dedup();
        let at = engine.last_site(seen.entry.method, seen.number);
        let known = spots.entry(at).or_insert_with(|| Spot { locks: locks.clone(), writes: false });
        known.locks.retain(|lock| locks.contains(lock));
        known.writes |= seen.access.writes;
    }
    let mut counts: FxHashMap<Path, usize> = FxHashMap::default();
    for lock in spots.values().flat_map(|spot| &spot.locks) {
        *counts.entry(*lock).or_default() += 1;
    }
    // Of several, one that does not depend on ids.
    let rank = |lock: &Path, count: usize| (count, Reverse(lock.len()), lock.name_digest(program));
    let (lock, with) = counts.into_iter().max_by_key(|(lock, count)| rank(lock, *count))?;
    let holding = || spots.iter().filter(|(_, spot)| spot.locks.contains(&lock));
    let methods: FxHashSet<MethodId> = holding().map(|((method, _), _)| *method).collect();
    let writes = holding().filter(|(_, spot)| spot.writes).count();
    let is_own = all.first().is_some_and(|seen| is_own(&seen.path));
    let reads = |method: MethodId, before: u32| {
        holding().any(|(&(other, at), spot)| other == method && at < before && !spot.writes)
    };
    let works = holding().any(|(&(method, at), spot)| spot.writes && reads(method, at));
    let writers: FxHashSet<MethodId> =
        spots.iter().filter(|(_, spot)| spot.writes).map(|((method, _), _)| *method).collect();
    let has_bits = all.first().is_some_and(|seen| !matches!(seen.path.last(), Some(Step::Field(_)) | None));
    let changes = works || has_bits || writers.len() > 1;
    let (of, methods) = (spots.len(), methods.len());
    let is_itself = has_bits
        && all.first().and_then(|seen| seen.path.parent()).is_some_and(|owner| leads_to(&lock, &owner));
    Some(Habit { lock, with, of, methods, writes, works, changes, is_own, is_itself })
}

/// Is that object the lock, whether its monitor is meant or the object as a lock?
fn leads_to(lock: &Path, object: &Path) -> bool {
    lock.root == object.root && lock.steps().eq(object.steps())
}

fn is_own(path: &Path) -> bool {
    let fields = path.steps().filter(|step| matches!(step, Step::Field(_))).count();
    fields + usize::from(matches!(path.root, Root::Static(_))) <= 1
}

/// Is the place written only by methods that, by their names, make an object ready for use?
pub(crate) fn is_only_set_up(engine: &Compositional, program: &Program, all: &[Seen<'_>]) -> bool {
    all.iter().filter(|seen| seen.access.writes).all(|seen| sets_up(engine, program, seen))
}

/// Does it happen while an object is made ready?
pub(crate) fn sets_up(engine: &Compositional, program: &Program, seen: &Seen<'_>) -> bool {
    let is_setup = |method: MethodId| {
        engine.knowledge.is_setup(program.selector_text(program.method_ref(method).selector).0)
    };
    let last = engine.last_site(seen.entry.method, seen.number).0;
    seen.access.started == 0 && (is_setup(seen.entry.method) || is_setup(last))
}

impl Habit {
    /// Do most hold it?
    pub fn is_usual(&self) -> bool {
        self.with * 2 > self.of
    }

    /// Do enough hold it to take it for more than chance?
    pub fn is_common(&self) -> bool {
        match self.with {
            1 => self.of <= 2,
            with => with * 3 >= self.of,
        }
    }

    /// So many that the others must be mistakes?
    pub fn is_rule(&self) -> bool {
        self.of >= 4 && self.with * 4 >= self.of * 3
    }

    /// Is it the container itself that is locked, or do so many hold the lock that the others look forgotten?
    pub fn is_strong(&self) -> bool {
        self.is_itself || self.with >= 4 && self.with * 3 >= self.of * 2
    }

    /// Is the lock there for this place? It must change, not only be put there once; most must hold the lock, and
    /// whoever changes the place; and more than one method,
    /// or one that works on a field of its object under a lock of its object, if something else says that those who do
    /// not hold it run on several threads: a lock that one method takes for something else covers whatever is in it.
    /// Nobody locks a container for anything else.
    pub fn is_meant(&self, others_are_many: bool) -> bool {
        let is_near = match self.lock.root {
            Root::Param(0) => self.lock.len() <= 1,
            root => matches!(root, Root::Static(_) | Root::Class(_)) && self.lock.is_root(),
        };
        let works = is_near && self.is_own && self.works && others_are_many;
        let is_usual = self.is_usual() || self.is_itself && self.with * 2 == self.of;
        is_usual && self.writes > 0 && self.changes && (self.methods > 1 || works || self.is_itself)
    }
}
