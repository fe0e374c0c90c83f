//! A summary while it is written: everything that happens, until it is put in order, cut to size and given its digest.
//! Knows nothing of where things come from.

use crate::frame::{Method, returned};
use crate::link::{Agreed, Link, digest};
use crate::outline::{Outline, Value};
use crate::path::{Path, Root};
use crate::summary::{
    Access, Asked, Blocking, Called, Held, Left, Nested, Run, Stranger, Summary, Taken, Thread,
};
use crate::value::Abs;
use ir::{ClassId, FieldId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Draft {
    accesses: Vec<Access>,
    taken: Vec<Taken>,
    pub nested: Vec<Nested>,
    pub blocking: Vec<Blocking>,
    pub runs: Vec<Run>,
    pub leaves: Vec<Left>,
    pub returns: Vec<Abs>,
    pub stores: Vec<(FieldId, u16)>,
    /// Starts that nobody waited for when it returned.
    pub detached: u64,
    pub locks: bool,
    pub calls: Vec<Called>,
    pub strangers: Vec<Stranger>,
}

/// Beyond these a method does so much that nobody can say much about it.
const MOST_ACCESSES: usize = 64;
const MOST_LOCKS: usize = 32;
const MOST_RUNS: usize = 16;

impl Draft {
    pub fn access(&mut self, access: Access) {
        self.accesses.push(access);
    }

    /// What has happened so far.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    pub fn take(&mut self, taken: Taken) {
        self.locks |= taken.depth == 0 && !matches!(taken.lock.root, Root::Made(_));
        self.taken.push(taken);
    }

    pub fn finish(self, link: &Link, method: &Method, outline: &Outline, thread: Thread) -> Summary {
        let digests = Digests { link };
        let mut summary = Summary { thread, locks: self.locks, ..Summary::default() };
        let is_known =
            self.accesses.iter().any(|access| access.started > 0 && access.path.root == Root::Param(0));
        let accesses = self.accesses.into_iter().filter(|access| is_worth_telling(access, method, is_known));
        let accesses = without_lonely(accesses.collect());
        summary.detached = self.detached;
        let mut is_cut = false;
        summary.accesses = chosen(
            accesses,
            |access| {
                access.digest = digests.access(access);
                access.digest
            },
            |access| (access.depth, access.site.at),
            MOST_ACCESSES,
            &mut is_cut,
        );
        summary.taken = chosen(
            self.taken,
            |taken| {
                taken.digest = digests.taken(taken);
                taken.digest
            },
            |taken| (taken.depth, taken.site.at),
            MOST_LOCKS,
            &mut is_cut,
        );
        let nearest = |nested: &Nested| (u8::from(nested.site.via.is_some()), nested.site.at);
        summary.nested =
            chosen(self.nested, |nested| digests.nested(nested), nearest, MOST_LOCKS, &mut is_cut);
        summary.blocking = chosen(
            self.blocking,
            |blocking| {
                blocking.digest = digests.blocking(blocking);
                blocking.digest
            },
            |blocking| (blocking.depth, blocking.site.at),
            MOST_RUNS,
            &mut is_cut,
        );
        summary.runs = chosen(self.runs, |run| digests.run(run), |run| (0, run.at), MOST_RUNS, &mut is_cut);
        summary.strangers = self.strangers;
        summary.calls = self.calls;
        summary.calls.sort();
        summary.calls.dedup();
        summary.calls.shrink_to_fit();
        summary.stores.shrink_to_fit();
        summary.is_cut = is_cut;
        summary.made = made(&summary.accesses, outline);
        share(summary.accesses.iter_mut().map(|access| &mut access.held));
        summary.leaves = self.leaves;
        summary.stores = self.stores;
        summary.stores.sort_by_key(|&(field, param)| (digests.field(field), param));
        summary.returns = returned(&self.returns, method);
        summary.digest = digests.summary(&summary);
        summary
    }
}

/// In constructors and class initialisers nobody else knows the object or the class yet, except threads that were
/// started there: `is_known` says whether one of them has the object.
fn is_worth_telling(access: &Access, method: &Method, is_known: bool) -> bool {
    match access.path.root {
        _ if access.started > 0 => true,
        Root::Param(0) if method.is_constructor => access.running != 0 && is_known,
        Root::Static(_) if method.is_initializer => access.running != 0,
        _ => true,
    }
}

/// An object that the method makes matters only where threads that it starts meet on it.
fn without_lonely(accesses: Vec<Access>) -> Vec<Access> {
    let mut meets: FxHashMap<Path, (bool, bool)> = FxHashMap::default();
    for access in accesses.iter().filter(|access| matches!(access.path.root, Root::Made(_))) {
        let entry = meets.entry(access.path).or_default();
        entry.0 |= access.started > 0;
        entry.1 |= access.writes;
    }
    let is_met = |access: &Access| {
        !matches!(access.path.root, Root::Made(_))
            || meets.get(&access.path).is_some_and(|&(started, writes)| started && writes)
    };
    accesses.into_iter().filter(is_met).collect()
}

fn made(accesses: &[Access], outline: &Outline) -> Vec<(u32, ClassId)> {
    let mut made: Vec<(u32, ClassId)> = Vec::new();
    for access in accesses {
        if let Root::Made(value) = access.path.root
            && let Value::Made(class) = outline.values[value as usize]
        {
            made.push((value, class));
        }
    }
    made.sort_unstable();
    made.dedup();
    made
}

/// Equal lists are one list.
fn share<'a>(lists: impl Iterator<Item = &'a mut Arc<[Held]>>) {
    let mut known: FxHashMap<Arc<[Held]>, ()> = FxHashMap::default();
    for list in lists {
        match known.get_key_value(list) {
            Some((shared, ())) => *list = shared.clone(),
            None => {
                known.insert(list.clone(), ());
            }
        }
    }
}

/// One of each kind, the nearest, in the order of their digests.
fn chosen<T>(
    all: Vec<T>,
    mut kind: impl FnMut(&mut T) -> u64,
    rank: impl Fn(&T) -> (u8, u32),
    most: usize,
    is_cut: &mut bool,
) -> Vec<T> {
    let mut best: FxHashMap<u64, T> = FxHashMap::default();
    for mut one in all {
        match best.entry(kind(&mut one)) {
            std::collections::hash_map::Entry::Occupied(mut known) => {
                if rank(&one) < rank(known.get()) {
                    known.insert(one);
                }
            }
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(one);
            }
        }
    }
    let mut found: Vec<(u64, T)> = best.into_iter().collect();
    if found.len() > most {
        *is_cut = true;
        found.sort_by_key(|(kind, one)| (rank(one).0, *kind));
        found.truncate(most);
    }
    found.sort_by_key(|(kind, _)| *kind);
    let mut chosen: Vec<T> = found.into_iter().map(|(_, one)| one).collect();
    chosen.shrink_to_fit();
    chosen
}

/// Digests that do not depend on ids, so that they are the same on every machine.
struct Digests<'a> {
    link: &'a Link,
}

impl Digests<'_> {
    /// What leads back from it decides what callers make of a path.
    fn field(&self, field: FieldId) -> u64 {
        let digest_of = |field: FieldId| self.link.info(field).map_or(0, |info| info.digest);
        let Some(info) = self.link.info(field) else { return digest_of(field) };
        let digests = match info.back {
            Agreed::Always(back) => digest((digest_of(field), digest_of(back))),
            _ => digest_of(field),
        };
        match info.alias {
            Agreed::Always((inner, own)) => digest((digests, digest_of(inner), digest_of(own))),
            _ => digests,
        }
    }

    fn path(&self, path: &Path) -> u64 {
        path.digest(|field| self.field(field), |class| self.link.class_digest(class))
    }

    fn held(&self, held: &[Held]) -> u64 {
        let mut locks: Vec<(u64, bool, bool)> =
            held.iter().map(|held| (self.path(&held.lock), held.shared, held.sure)).collect();
        locks.sort_unstable();
        digest(locks)
    }

    fn access(&self, access: &Access) -> u64 {
        let Access {
            path,
            writes,
            held,
            thread,
            started,
            running,
            of_task,
            on,
            asks,
            only_if,
            vague,
            of_several,
            waited,
            later,
            ..
        } = access;
        let asks = asks.map(|method| self.link.method_digest(method));
        let only_if = only_if.map(|method| self.link.name_of(method));
        let on = on.map(|executor| self.path(&executor));
        let conditions = (asks, only_if, vague, of_several, waited, later, on);
        digest((self.path(path), writes, self.held(held), thread, started, running, of_task, conditions))
    }

    fn taken(&self, taken: &Taken) -> u64 {
        digest((self.path(&taken.lock), taken.shared, taken.started, taken.tried, taken.of_several))
    }

    fn nested(&self, nested: &Nested) -> u64 {
        digest((self.path(&nested.lock), nested.shared, nested.of_several, self.held(&nested.held)))
    }

    fn blocking(&self, blocking: &Blocking) -> u64 {
        let but = blocking.but.map(|path| self.path(&path));
        digest((blocking.what.1, self.held(&blocking.held), but, blocking.started))
    }

    fn run(&self, run: &Run) -> u64 {
        let args: Vec<u64> = run.args.iter().map(|path| self.path(path)).collect();
        let method = match &run.method {
            Asked::Selector(selector) => self.link.selector_digest(*selector),
            Asked::Named(name, args) => digest((name, args)),
        };
        let kind = (run.started, run.is_detached, run.later);
        digest((run.param, method, args, self.held(&run.held), kind))
    }

    /// Of everything that a summary of a caller may depend on.
    fn summary(&self, summary: &Summary) -> u64 {
        let accesses: Vec<(u64, u8)> =
            summary.accesses.iter().map(|access| (access.digest, access.depth)).collect();
        let taken: Vec<(u64, u8)> = summary.taken.iter().map(|taken| (taken.digest, taken.depth)).collect();
        let blocking: Vec<(u64, u8)> =
            summary.blocking.iter().map(|blocking| (blocking.digest, blocking.depth)).collect();
        let runs: Vec<u64> = summary.runs.iter().map(|run| self.run(run)).collect();
        let mut leaves: Vec<(u64, bool, bool, bool)> = (summary.leaves.iter())
            .map(|left| (self.path(&left.lock), left.shared, left.taken, left.if_true))
            .collect();
        leaves.sort_unstable();
        let mut returned: Vec<u64> = summary.returns.paths.iter().map(|path| self.path(path)).collect();
        returned.sort_unstable();
        let class = summary.returns.class.map(|class| self.link.class_digest(class));
        let stores: Vec<(u64, u16)> =
            summary.stores.iter().map(|&(field, param)| (self.field(field), param)).collect();
        let returns = (returned, class, summary.returns.view, summary.returns.part, summary.returns.new);
        digest((accesses, taken, blocking, runs, (leaves, returns, stores, summary.thread, summary.detached)))
    }
}
