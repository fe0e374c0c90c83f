//! What all calls of a method have in common: locks that are held, objects that nobody else has yet, the thread they
//! run on. Knows only the calls that are in the program; who asks has to say what that is worth.

use crate::engine::Compositional;
use crate::methods::Slot;
use crate::path::{Path, Root};
use crate::summary::Called;
use ir::MethodId;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Callers {
    /// Of methods that not everybody can call: locks that every caller holds, in their own terms.
    pub held: FxHashMap<MethodId, Vec<Path>>,
    /// Of all others: locks that every caller in the program holds.
    pub held_here: FxHashMap<MethodId, Vec<Path>>,
    /// Of those, the ones that may be called from where nobody sees it too.
    pub elsewhere: FxHashSet<MethodId>,
    /// Of methods that only one other method calls: that one.
    pub only_by: FxHashMap<MethodId, MethodId>,
    /// Methods that are called only by methods of which it is not known who calls them (`nameless`, called by nobody),
    /// or on the same object, or on one that is being made.
    pub unknown: FxHashSet<MethodId>,
    /// Methods that are called in the program, but only on objects that their caller has for itself.
    pub on_own: FxHashSet<MethodId>,
    /// Of methods that only one task leads to: its method.
    pub only_in: FxHashMap<MethodId, MethodId>,
}

impl Callers {
    /// The methods of which something else is known.
    pub fn changed(&self, before: &Callers) -> FxHashSet<MethodId> {
        let mut changed = FxHashSet::default();
        differing(&self.held, &before.held, &mut changed);
        differing(&self.held_here, &before.held_here, &mut changed);
        differing(&self.only_by, &before.only_by, &mut changed);
        differing(&self.only_in, &before.only_in, &mut changed);
        changed.extend(self.elsewhere.symmetric_difference(&before.elsewhere));
        changed.extend(self.unknown.symmetric_difference(&before.unknown));
        changed.extend(self.on_own.symmetric_difference(&before.on_own));
        changed
    }
}

fn differing<T: PartialEq>(
    now: &FxHashMap<MethodId, T>,
    before: &FxHashMap<MethodId, T>,
    changed: &mut FxHashSet<MethodId>,
) {
    let is_other = |(method, value): &(&MethodId, &T)| before.get(method) != Some(value);
    changed.extend(now.iter().filter(is_other).map(|(method, _)| *method));
    changed.extend(before.keys().filter(|method| !now.contains_key(method)));
}

/// What is asked about methods before it is known who calls them.
pub(crate) struct Asked<'a> {
    /// Methods of classes without a name that are not what a thread runs.
    pub nameless: &'a FxHashSet<MethodId>,
    /// Methods that are called from where nobody sees it: by libraries, or through types that too many are below.
    pub elsewhere: &'a FxHashSet<MethodId>,
    /// What threads and tasks run.
    pub tasks: &'a FxHashSet<MethodId>,
}

type Calls<'a> = FxHashMap<MethodId, Vec<(MethodId, &'a Called)>>;

pub(crate) fn find(engine: &Compositional, asked: &Asked<'_>) -> Callers {
    let mut calls: Calls<'_> = FxHashMap::default();
    for slot in engine.methods.iter() {
        for called in slot.summary.iter().flat_map(|summary| &summary.calls) {
            calls.entry(called.target).or_default().push((slot.method.id, called));
        }
    }
    let is_closed = |method: &MethodId| engine.link.is_closed(*method);
    let closed: FxHashSet<MethodId> = calls.keys().copied().filter(is_closed).collect();
    let mut held = held(&calls, &closed, asked.nameless);
    let unknown = held.iter().filter(|(_, locks)| locks.is_none()).map(|(&method, _)| method);
    // What is called only by methods of the same object, or on objects that nobody else has yet, is told with those.
    let is_inside = |path: &Path| *path == Path::THIS || is_new(path);
    let on_own = |called: &Called| called.args.first().is_some_and(is_inside);
    let helpers = closed.iter().filter(|method| calls[method].iter().all(|(_, called)| on_own(called)));
    let unknown = unknown.chain(helpers.copied()).collect();
    let called: FxHashSet<MethodId> = calls.keys().copied().collect();
    let mut held_here = self::held(&calls, &called, &FxHashSet::default());
    held_here.retain(|method, _| !closed.contains(method));
    Callers {
        held: named(&mut held),
        held_here: named(&mut held_here),
        elsewhere: called.intersection(asked.elsewhere).copied().collect(),
        only_by: only_by(&calls),
        unknown,
        on_own: on_own_objects(engine, &calls, asked),
        only_in: only_in(engine, &calls, asked),
    }
}

fn only_by(calls: &Calls<'_>) -> FxHashMap<MethodId, MethodId> {
    let one = |(&method, calls): (&MethodId, &Vec<(MethodId, &Called)>)| {
        let (first, _) = *calls.first()?;
        let is_alone = calls.iter().all(|(caller, called)| *caller == first && !called.started);
        (is_alone && first != method).then_some((method, first))
    };
    calls.iter().filter_map(one).collect()
}

fn is_new(path: &Path) -> bool {
    matches!(path.root, Root::Made(_))
}

fn named(held: &mut FxHashMap<MethodId, Option<Vec<Path>>>) -> FxHashMap<MethodId, Vec<Path>> {
    let found =
        held.drain().filter_map(|(method, locks)| Some((method, locks.filter(|locks| !locks.is_empty())?)));
    found.collect()
}

/// The locks that are held at all calls of these methods; `None` for those that only each other call.
fn held(
    calls: &Calls<'_>,
    of: &FxHashSet<MethodId>,
    callerless: &FxHashSet<MethodId>,
) -> FxHashMap<MethodId, Option<Vec<Path>>> {
    // The greatest solution: all locks anybody holds there, until nothing has to be taken away any more.
    let callerless = callerless.iter().filter(|method| !of.contains(method));
    let mut held: FxHashMap<MethodId, Option<Vec<Path>>> =
        of.iter().chain(callerless).map(|&method| (method, None)).collect();
    let mut called_by: FxHashMap<MethodId, Vec<MethodId>> = FxHashMap::default();
    for &method in of {
        for (caller, _) in &calls[&method] {
            called_by.entry(*caller).or_default().push(method);
        }
    }
    let mut todo: Vec<MethodId> = of.iter().copied().collect();
    while !todo.is_empty() {
        let mut changed: FxHashSet<MethodId> = FxHashSet::default();
        for method in todo {
            let mut common: Option<Vec<Path>> = None;
            for (caller, called) in &calls[&method] {
                // What is not known yet takes nothing away.
                let Some(locks) = at_call(*caller, called, &held) else { continue };
                match &mut common {
                    None => common = Some(locks),
                    Some(common) => common.retain(|lock| locks.contains(lock)),
                }
                if common.as_ref().is_some_and(Vec::is_empty) {
                    break;
                }
            }
            if common.is_some() && held[&method] != common {
                held.insert(method, common);
                changed.extend(called_by.get(&method).into_iter().flatten());
            }
        }
        todo = changed.into_iter().collect();
    }
    held
}

/// What is held in the called method, if it is known what is held in the caller.
fn at_call(
    caller: MethodId,
    called: &Called,
    held: &FxHashMap<MethodId, Option<Vec<Path>>>,
) -> Option<Vec<Path>> {
    let outer: &[Path] = match held.get(&caller) {
        _ if called.started => &[],
        Some(known) => known.as_deref()?,
        None => &[],
    };
    let mut locks: Vec<Path> = Vec::new();
    for lock in called.held.iter().chain(outer) {
        match lock.root {
            Root::Static(_) | Root::Class(_) | Root::Unknown => locks.push(*lock),
            Root::Param(_) => locks.extend(inside(*lock, &called.args)),
            Root::Made(_) => {}
        }
    }
    locks.sort_unstable();
    locks.dedup();
    Some(locks)
}

/// The names that a lock of the caller has in the called method.
fn inside(lock: Path, args: &[Path]) -> impl Iterator<Item = Path> {
    args.iter().enumerate().filter_map(move |(number, arg)| {
        let rest = arg.leads_to(&lock).then(|| lock.after(arg.len()))?;
        rest.rebased(Path::of(Root::Param(number as u16)))
    })
}

/// Methods that are called in the program, each time before others know the object: it was made by the caller, or is
/// being made, or the caller is itself only called on such objects. What nobody calls, anybody may call.
fn on_own_objects(engine: &Compositional, calls: &Calls<'_>, asked: &Asked<'_>) -> FxHashSet<MethodId> {
    let is_constructor = |id: MethodId| engine.method(id).is_some_and(|method| method.is_constructor);
    let is_task = |id: &MethodId| asked.tasks.contains(id) || asked.elsewhere.contains(id);
    let mut own: FxHashSet<MethodId> = calls.keys().copied().filter(|method| !is_task(method)).collect();
    loop {
        let is_own = |method: MethodId, (caller, called): &(MethodId, &Called)| {
            let Some(object) = called.args.first().filter(|_| !called.started) else { return false };
            match object.root {
                Root::Made(_) => !called.beside,
                Root::Param(0) if *caller == method => true,
                Root::Param(0) => (is_constructor(*caller) && !called.beside) || own.contains(caller),
                _ => false,
            }
        };
        let from_outside = |method: MethodId| calls[&method].iter().any(|(caller, _)| *caller != method);
        let not: Vec<MethodId> = own
            .iter()
            .copied()
            .filter(|&method| {
                !from_outside(method) || !calls[&method].iter().all(|call| is_own(method, call))
            })
            .collect();
        if not.is_empty() {
            return own;
        }
        not.iter().for_each(|method| {
            own.remove(method);
        });
    }
}

/// On which task a method runs, as far as the program says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    Only(MethodId),
    Anywhere,
}

/// Methods that only one task leads to.
fn only_in(engine: &Compositional, calls: &Calls<'_>, asked: &Asked<'_>) -> FxHashMap<MethodId, MethodId> {
    let mut runs: FxHashMap<MethodId, Runs> = FxHashMap::default();
    for Slot { method, .. } in engine.methods.iter() {
        match method.id {
            id if asked.tasks.contains(&id) => runs.insert(id, Runs::Only(id)),
            id if !calls.contains_key(&id) || asked.elsewhere.contains(&id) => {
                runs.insert(id, Runs::Anywhere)
            }
            _ => None,
        };
    }
    let fixed: FxHashSet<MethodId> = runs.keys().copied().collect();
    let mut called_by: FxHashMap<MethodId, Vec<MethodId>> = FxHashMap::default();
    for (&method, calls) in calls.iter().filter(|(method, _)| !fixed.contains(method)) {
        for (caller, _) in calls {
            called_by.entry(*caller).or_default().push(method);
        }
    }
    // From what is known to run somewhere down to what it calls; what two lead to runs anywhere.
    let mut todo: Vec<MethodId> = calls.keys().copied().filter(|method| !fixed.contains(method)).collect();
    while !todo.is_empty() {
        let mut changed: FxHashSet<MethodId> = FxHashSet::default();
        for method in todo {
            let mut found = None;
            for (caller, called) in &calls[&method] {
                let here = if called.started { Some(Runs::Only(method)) } else { runs.get(caller).copied() };
                found = match (found, here) {
                    (None, here) => here,
                    (found, None) => found,
                    (Some(one), Some(other)) if one == other => found,
                    _ => Some(Runs::Anywhere),
                };
            }
            if let Some(found) = found
                && runs.insert(method, found) != Some(found)
            {
                changed.extend(called_by.get(&method).into_iter().flatten());
            }
        }
        todo = changed.into_iter().collect();
    }
    let only = runs.into_iter().filter_map(|(method, runs)| match runs {
        Runs::Only(task) => Some((method, task)),
        Runs::Anywhere => None,
    });
    only.collect()
}
