//! What all calls of a method have in common: locks that are held, objects that nobody else has yet, the thread they
//! run on. Knows only the calls that are in the program; who asks has to say what that is worth.
//!
//! It is worked out for all methods at once, whatever has changed: in arrays by the numbers of methods that takes less
//! time than to find out which of it would stay.

use crate::calls::{Call, Calls};
use crate::engine::Compositional;
use crate::noted::note_method;
use crate::path::{Path, Root};
use crate::summary::Called;
use ir::MethodId;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// Everything by the numbers of methods.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Callers {
    /// Of methods that not everybody can call: locks that every caller holds, in their own terms.
    held: FxHashMap<u32, Vec<Path>>,
    /// Of all others: locks that every caller in the program holds.
    held_here: FxHashMap<u32, Vec<Path>>,
    marks: Vec<u8>,
    /// Of methods that only one other method calls: that one.
    only_by: Vec<Option<MethodId>>,
    /// Of methods that only one task leads to: its method.
    only_in: Vec<Option<MethodId>>,
}

/// Called only by methods of which it is not known who calls them (of classes without a name, called by nobody), or on
/// the same object, or on one that is being made.
const UNKNOWN: u8 = 1;
/// Called in the program, but only on objects that the caller has for itself.
const ON_OWN: u8 = 2;
/// Called in the program, and perhaps from where nobody sees it too.
const ELSEWHERE: u8 = 4;
/// What a task runs, but the program calls it like any other method and is not seen to start it.
const IN_PLACE: u8 = 8;
/// Most calls in the program are made while some lock is held, by the caller or by most of its callers.
const UNDER_LOCKS: u8 = 16;

/// Another method of the program calls it.
const CALLED: u8 = 32;
/// A method of another class calls it.
const FROM_OUTSIDE: u8 = 64;

/// Callers of callers that are asked whether they hold a lock.
const MOST_LEVELS: usize = 6;

impl Compositional {
    /// Locks that every caller of a method holds, of one that not everybody can call.
    pub(crate) fn held_by_callers(&self, method: MethodId) -> &[Path] {
        let known = self.methods.number(method).and_then(|number| self.callers.held.get(&number));
        known.map_or(&[], Vec::as_slice)
    }

    /// Locks that every caller in the program holds, of any other method.
    pub(crate) fn held_by_callers_here(&self, method: MethodId) -> &[Path] {
        let known = self.methods.number(method).and_then(|number| self.callers.held_here.get(&number));
        known.map_or(&[], Vec::as_slice)
    }

    pub(crate) fn has_unknown_callers(&self, method: MethodId) -> bool {
        self.is_marked(method, UNKNOWN)
    }

    pub(crate) fn is_called_on_own(&self, method: MethodId) -> bool {
        self.is_marked(method, ON_OWN)
    }

    pub(crate) fn is_run_in_place(&self, method: MethodId) -> bool {
        self.is_marked(method, IN_PLACE)
    }

    pub(crate) fn is_mostly_called_under_locks(&self, method: MethodId) -> bool {
        self.is_marked(method, UNDER_LOCKS)
    }

    pub(crate) fn is_called_elsewhere(&self, method: MethodId) -> bool {
        self.is_marked(method, ELSEWHERE)
    }

    /// Does another method of the program call it?
    pub(crate) fn is_called(&self, method: MethodId) -> bool {
        self.is_marked(method, CALLED)
    }

    /// Does a method of another class call it?
    pub(crate) fn is_called_from_outside(&self, method: MethodId) -> bool {
        self.is_marked(method, FROM_OUTSIDE)
    }

    /// The only method that calls it.
    pub(crate) fn only_caller(&self, method: MethodId) -> Option<MethodId> {
        self.callers.only_by.get(self.methods.number(method)? as usize).copied().flatten()
    }

    /// The only task that leads to it.
    pub(crate) fn only_task(&self, method: MethodId) -> Option<MethodId> {
        self.callers.only_in.get(self.methods.number(method)? as usize).copied().flatten()
    }

    fn is_marked(&self, method: MethodId, mark: u8) -> bool {
        note_method(method);
        let marks = self.methods.number(method).and_then(|number| self.callers.marks.get(number as usize));
        marks.is_some_and(|marks| marks & mark != 0)
    }

    /// Looks at all calls again, and notes the methods of which something else is known then.
    pub(crate) fn find_callers(&mut self) {
        let now = find(self);
        let changed: Vec<MethodId> = now
            .changed(&self.callers)
            .into_iter()
            .filter_map(|number| Some(self.methods.at_if(number)?.method.id))
            .collect();
        self.touched.methods.extend(changed);
        self.callers = now;
    }
}

impl Callers {
    /// The numbers under which something else is known. Methods that have come or gone are noted elsewhere.
    fn changed(&self, before: &Callers) -> FxHashSet<u32> {
        let mut changed = FxHashSet::default();
        differing(&self.held, &before.held, &mut changed);
        differing(&self.held_here, &before.held_here, &mut changed);
        let is_other = |&at: &usize| {
            self.marks[at] != before.marks.get(at).copied().unwrap_or_default()
                || self.only_by[at] != before.only_by.get(at).copied().flatten()
                || self.only_in[at] != before.only_in.get(at).copied().flatten()
        };
        changed.extend((0..self.marks.len()).filter(is_other).map(|at| at as u32));
        changed
    }
}

fn differing(
    now: &FxHashMap<u32, Vec<Path>>,
    before: &FxHashMap<u32, Vec<Path>>,
    changed: &mut FxHashSet<u32>,
) {
    let is_other = |(number, locks): &(&u32, &Vec<Path>)| before.get(number) != Some(locks);
    changed.extend(now.iter().filter(is_other).map(|(number, _)| *number));
    changed.extend(before.keys().filter(|number| !now.contains_key(number)));
}

fn find(engine: &Compositional) -> Callers {
    let calls = Calls::of(&engine.methods);
    let standing = |number: u32| engine.methods.at(number).standing;
    let (closed, called): (Vec<u32>, Vec<u32>) = {
        let called: Vec<u32> = calls.called().collect();
        (called.iter().copied().filter(|&number| standing(number).is_closed()).collect(), called)
    };
    let nameless = engine.methods.all().filter(|&number| standing(number).is_nameless());
    let nameless: Vec<u32> = nameless.collect();
    let ((held, held_here), (own, only_in)) = rayon::join(
        || {
            rayon::join(
                || held(&calls, &closed, nameless.iter().copied()),
                || held(&calls, &called, std::iter::empty()),
            )
        },
        || rayon::join(|| on_own_objects(engine, &calls, &called), || only_in(engine, &calls, &called)),
    );
    let mut marks = vec![0; calls.len()];
    for (mark, _) in marks.iter_mut().zip(&held).filter(|(_, held)| matches!(held, Held::Unknown)) {
        *mark |= UNKNOWN;
    }
    // What is called only by methods of the same object, or on objects that nobody else has yet, is told with those.
    for &number in closed.iter().filter(|&&number| calls.of_method(number).iter().all(|call| call.inside())) {
        marks[number as usize] |= UNKNOWN;
    }
    for number in own {
        marks[number as usize] |= ON_OWN;
    }
    for &number in called.iter().filter(|&&number| standing(number).is_called_elsewhere()) {
        marks[number as usize] |= ELSEWHERE;
    }
    let is_plain = |number: u32| calls.of_method(number).iter().all(|call| !call.started());
    for &number in called.iter().filter(|&&number| standing(number).is_task() && is_plain(number)) {
        marks[number as usize] |= IN_PLACE;
    }
    let has_callers = |number: u32| calls.of_method(number).iter().any(|call| call.caller != number);
    for &number in called.iter().filter(|&&number| has_callers(number)) {
        marks[number as usize] |= CALLED;
    }
    let class_of = |number: u32| engine.methods.at(number).method.class;
    let from_outside =
        |number: u32| calls.of_method(number).iter().any(|call| class_of(call.caller) != class_of(number));
    for &number in called.iter().filter(|&&number| from_outside(number)) {
        marks[number as usize] |= FROM_OUTSIDE;
    }
    for number in under_locks(&calls, &called) {
        marks[number as usize] |= UNDER_LOCKS;
    }
    let open = |(number, _): &(u32, Vec<Path>)| !standing(*number).is_closed();
    Callers {
        held: named(held).collect(),
        held_here: named(held_here).filter(open).collect(),
        marks,
        only_by: only_by(engine, &calls),
        only_in,
    }
}

/// Methods that are mostly called while a lock is held, whichever that is.
fn under_locks(calls: &Calls<'_>, called: &[u32]) -> Vec<u32> {
    let mut is_under = vec![false; calls.len()];
    for _ in 0..MOST_LEVELS {
        let is_new = |&number: &u32| {
            let all = calls.of_method(number);
            let holds = |call: &&Call| !call.started() && (call.holds() || is_under[call.caller as usize]);
            !is_under[number as usize] && all.iter().filter(holds).count() * 2 > all.len()
        };
        let new: Vec<u32> = called.iter().copied().filter(is_new).collect();
        if new.is_empty() {
            break;
        }
        new.into_iter().for_each(|number| is_under[number as usize] = true);
    }
    called.iter().copied().filter(|&number| is_under[number as usize]).collect()
}

fn only_by(engine: &Compositional, calls: &Calls<'_>) -> Vec<Option<MethodId>> {
    let one = |number: u32| {
        let all = calls.of_method(number);
        let first = all.first()?.caller;
        let is_alone = all.iter().all(|call| call.caller == first && !call.started());
        (is_alone && first != number).then(|| engine.methods.at(first).method.id)
    };
    (0..calls.len() as u32).map(one).collect()
}

/// What is held at all calls of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Held {
    /// It is not asked for: nothing, to those it calls.
    Nothing,
    /// Only methods of which this is not known either call it.
    Unknown,
    Locks(Vec<Path>),
}

fn named(held: Vec<Held>) -> impl Iterator<Item = (u32, Vec<Path>)> {
    held.into_iter().enumerate().filter_map(|(number, held)| match held {
        Held::Locks(locks) if !locks.is_empty() => Some((number as u32, locks)),
        _ => None,
    })
}

/// The locks that are held at all calls of these methods.
fn held(calls: &Calls<'_>, of: &[u32], callerless: impl Iterator<Item = u32>) -> Vec<Held> {
    // The greatest solution: all locks anybody holds there, until nothing has to be taken away any more.
    let mut held = vec![Held::Nothing; calls.len()];
    callerless.for_each(|number| held[number as usize] = Held::Unknown);
    of.iter().for_each(|&number| held[number as usize] = Held::Unknown);
    let is_asked: Vec<bool> = asked(calls, of);
    let mut todo = Todo::of(calls.len(), of);
    while let Some(number) = todo.next() {
        let mut common: Option<Vec<Path>> = None;
        for call in calls.of_method(number) {
            // What is not known yet takes nothing away.
            let Some(locks) = at_call(calls, call, &held) else { continue };
            match &mut common {
                None => common = Some(locks),
                Some(common) => common.retain(|lock| locks.contains(lock)),
            }
            if common.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
        }
        if let Some(common) = common.map(Held::Locks)
            && held[number as usize] != common
        {
            held[number as usize] = common;
            calls.by_method(number).filter(|&target| is_asked[target as usize]).for_each(|at| todo.add(at));
        }
    }
    held
}

fn asked(calls: &Calls<'_>, of: &[u32]) -> Vec<bool> {
    let mut asked = vec![false; calls.len()];
    of.iter().for_each(|&number| asked[number as usize] = true);
    asked
}

/// What is held in the called method, if it is known what is held in the caller.
fn at_call(calls: &Calls<'_>, call: &Call, held: &[Held]) -> Option<Vec<Path>> {
    let outer: &[Path] = match &held[call.caller as usize] {
        _ if call.started() => &[],
        Held::Nothing => &[],
        Held::Unknown => return None,
        Held::Locks(locks) => locks,
    };
    if outer.is_empty() && !call.holds() {
        return Some(Vec::new());
    }
    Some(calls.whole(call, |called| translated(called, outer)))
}

fn translated(called: &Called, outer: &[Path]) -> Vec<Path> {
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
    locks
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
fn on_own_objects(engine: &Compositional, calls: &Calls<'_>, called: &[u32]) -> Vec<u32> {
    let is_constructor = |number: u32| engine.methods.at(number).method.is_constructor;
    let is_task = |number: u32| {
        let standing = engine.methods.at(number).standing;
        standing.is_task() || standing.is_called_elsewhere()
    };
    let first: Vec<u32> = called.iter().copied().filter(|&number| !is_task(number)).collect();
    let mut own = asked(calls, &first);
    let mut todo = Todo::of(calls.len(), &first);
    while let Some(number) = todo.next() {
        let is_own = |call: &Call| match () {
            () if call.started() => false,
            () if call.on_made() => !call.beside(),
            () if call.on_own() && call.caller == number => true,
            () if call.on_own() => {
                (is_constructor(call.caller) && !call.beside()) || own[call.caller as usize]
            }
            () => false,
        };
        let all = calls.of_method(number);
        let from_outside = all.iter().any(|call| call.caller != number);
        if own[number as usize] && !(from_outside && all.iter().all(is_own)) {
            own[number as usize] = false;
            calls
                .by_method(number)
                .filter(|&target| own[target as usize])
                .for_each(|target| todo.add(target));
        }
    }
    first.into_iter().filter(|&number| own[number as usize]).collect()
}

/// On which task a method runs, as far as the program says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    Only(MethodId),
    Anywhere,
}

/// Methods that only one task leads to.
fn only_in(engine: &Compositional, calls: &Calls<'_>, called: &[u32]) -> Vec<Option<MethodId>> {
    let mut runs: Vec<Option<Runs>> = vec![None; calls.len()];
    let mut is_fixed = vec![true; calls.len()];
    for number in engine.methods.all() {
        let slot = engine.methods.at(number);
        runs[number as usize] = match () {
            () if slot.standing.is_task() => Some(Runs::Only(slot.method.id)),
            () if calls.of_method(number).is_empty() || slot.standing.is_called_elsewhere() => {
                Some(Runs::Anywhere)
            }
            () => None,
        };
        is_fixed[number as usize] = runs[number as usize].is_some();
    }
    // From what is known to run somewhere down to what it calls; what two lead to runs anywhere.
    let open: Vec<u32> = called.iter().copied().filter(|&number| !is_fixed[number as usize]).collect();
    let mut todo = Todo::of(calls.len(), &open);
    while let Some(number) = todo.next() {
        let mut found = None;
        for call in calls.of_method(number) {
            let here = match call.started() {
                true => Some(Runs::Only(engine.methods.at(number).method.id)),
                false => runs[call.caller as usize],
            };
            found = match (found, here) {
                (None, here) => here,
                (found, None) => found,
                (Some(one), Some(other)) if one == other => found,
                _ => Some(Runs::Anywhere),
            };
        }
        if found.is_some() && runs[number as usize] != found {
            runs[number as usize] = found;
            calls.by_method(number).filter(|&target| !is_fixed[target as usize]).for_each(|at| todo.add(at));
        }
    }
    let only = |runs: Option<Runs>| match runs {
        Some(Runs::Only(task)) => Some(task),
        _ => None,
    };
    runs.into_iter().map(only).collect()
}

/// What is to be looked at again, once each.
struct Todo {
    next: Vec<u32>,
    is_there: Vec<bool>,
}

impl Todo {
    fn of(count: usize, numbers: &[u32]) -> Todo {
        let mut todo = Todo { next: Vec::new(), is_there: vec![false; count] };
        numbers.iter().for_each(|&number| todo.add(number));
        todo
    }

    fn add(&mut self, number: u32) {
        if !std::mem::replace(&mut self.is_there[number as usize], true) {
            self.next.push(number);
        }
    }

    fn next(&mut self) -> Option<u32> {
        let number = self.next.pop()?;
        self.is_there[number as usize] = false;
        Some(number)
    }
}
