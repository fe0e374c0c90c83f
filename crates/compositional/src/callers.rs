//! Locks that every caller of a method holds. Asked only of methods whose callers are all known: what anybody can call
//! is called with nothing held.

use crate::engine::Compositional;
use crate::path::{Path, Root};
use crate::summary::Called;
use ir::MethodId;
use rustc_hash::{FxHashMap, FxHashSet};

/// For each such method that is called at all, the locks in its own terms; and those that are called only by methods
/// of which it is not known who calls them (`nameless`, called by nobody), or on the same object, or on one that is being made.
pub(crate) fn held(
    engine: &Compositional,
    nameless: &FxHashSet<MethodId>,
) -> (FxHashMap<MethodId, Vec<Path>>, FxHashSet<MethodId>) {
    let mut calls: FxHashMap<MethodId, Vec<(MethodId, &Called)>> = FxHashMap::default();
    for slot in engine.methods.iter() {
        for called in slot.summary.iter().flat_map(|summary| &summary.calls) {
            calls.entry(called.target).or_default().push((slot.method.id, called));
        }
    }
    // The greatest solution: all locks anybody holds there, until nothing has to be taken away any more.
    let callerless = nameless.iter().filter(|method| !calls.contains_key(method));
    let mut held: FxHashMap<MethodId, Option<Vec<Path>>> =
        calls.keys().chain(callerless).map(|&method| (method, None)).collect();
    loop {
        let mut is_settled = true;
        for (&method, calls) in &calls {
            let mut common: Option<Vec<Path>> = None;
            for (caller, called) in calls {
                // What is not known yet takes nothing away.
                let Some(locks) = at_call(*caller, called, &held) else { continue };
                match &mut common {
                    None => common = Some(locks),
                    Some(common) => common.retain(|lock| locks.contains(lock)),
                }
            }
            if common.is_some() && held[&method] != common {
                held.insert(method, common);
                is_settled = false;
            }
        }
        if is_settled {
            break;
        }
    }
    let unknown = held.iter().filter(|(_, locks)| locks.is_none()).map(|(&method, _)| method);
    // What is called only by methods of the same object, or on objects that nobody else has yet, is told with those.
    let is_inside = |path: &Path| *path == Path::THIS || matches!(path.root, Root::Made(_));
    let on_own = |called: &Called| called.args.first().is_some_and(is_inside);
    let helpers = calls.iter().filter(|(_, calls)| calls.iter().all(|(_, called)| on_own(called)));
    let unknown = unknown.chain(helpers.map(|(&method, _)| method)).collect();
    let known = held
        .into_iter()
        .filter_map(|(method, locks)| Some((method, locks.filter(|locks| !locks.is_empty())?)));
    (known.collect(), unknown)
}

/// What is held in the called method, if it is known what is held in the caller.
fn at_call(
    caller: MethodId,
    called: &Called,
    held: &FxHashMap<MethodId, Option<Vec<Path>>>,
) -> Option<Vec<Path>> {
    let outer: &[Path] = match held.get(&caller) {
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
