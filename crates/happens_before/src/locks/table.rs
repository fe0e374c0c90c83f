//! Locks and sets of locks, each stored once. Knows when two are one; not how they came to be held.

use super::room::Live;
use crate::bits::Bits;
use crate::content::Content;
use crate::types::{HeldLock, LockKey};
use arena::{Id, Interner, define_id};
use ir::StmtId;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use track::Sizes;

define_id! {
    /// A lock as held from one place.
    LockId
}
define_id! {
    /// A set of locks; 0 is the empty set.
    SetId
}

#[derive(Clone)]
pub struct LockTable {
    locks: Interner<LockId, HeldLock>,
    sets: Interner<SetId, Vec<LockId>>,
    with_path: Bits,
    sets_with_path: Bits,
    /// By where they are acquired.
    acquired_in: FxHashMap<Act, Vec<LockId>>,
}

impl Default for LockTable {
    fn default() -> Self {
        let mut sets = Interner::new();
        sets.intern(Vec::new());
        LockTable {
            locks: Interner::new(),
            sets,
            with_path: Bits::new(),
            sets_with_path: Bits::new(),
            acquired_in: FxHashMap::default(),
        }
    }
}

impl std::fmt::Debug for LockTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LockTable({} locks, {} sets)", self.locks.len(), self.sets.len())
    }
}

impl LockTable {
    pub fn add(&mut self, content: &Content<'_>, mut lock: HeldLock) -> LockId {
        lock.keys.sort_by(|a, b| content.lock_keys(a, b));
        lock.keys.dedup();
        let has_path = lock.keys.iter().any(|key| matches!(key, LockKey::Path { .. }));
        let act = lock.act;
        let (id, is_new) = self.locks.intern_new(lock);
        if is_new {
            self.acquired_in.entry(act).or_default().push(id);
        }
        if is_new && has_path {
            self.with_path.insert(id.index());
        }
        id
    }

    /// Locks stay what they are when the statements that acquire them move: a pair has the old and the new place.
    pub fn shift(&mut self, act: Act, kept: &[(StmtId, StmtId)]) {
        let Some(acquired) = self.acquired_in.get_mut(&act) else { return };
        acquired.retain(|&id| {
            let Some(stmt) = self.locks[id].stmt else { return true };
            let now = kept.binary_search_by_key(&stmt, |&(old, _)| old).ok().map(|at| kept[at].1);
            if now != Some(stmt) {
                let moved = now.map(|_| HeldLock { stmt: now, ..self.locks[id].clone() });
                self.locks.rename(id, moved);
            }
            now.is_some()
        });
    }

    /// Is the lock known by a path, in the terms of one method?
    pub fn has_path(&self, id: LockId) -> bool {
        self.with_path.contains(id.index())
    }

    pub fn lock(&self, id: LockId) -> &HeldLock {
        &self.locks[id]
    }

    /// In the order of content, in which locks are compared and told.
    pub fn add_set(&mut self, content: &Content<'_>, mut locks: Vec<LockId>) -> SetId {
        locks.sort_by(|&a, &b| self.order(content, a, b));
        locks.dedup();
        let has_path = locks.iter().any(|&lock| self.has_path(lock));
        let id = self.sets.intern(locks);
        if has_path {
            self.sets_with_path.insert(id.index());
        }
        id
    }

    /// Is one of the locks known by a path?
    pub fn is_told_by_path(&self, set: SetId) -> bool {
        self.sets_with_path.contains(set.index())
    }

    pub fn set(&self, id: SetId) -> &[LockId] {
        &self.sets[id]
    }

    pub fn locks(&self, set: SetId) -> impl Iterator<Item = &HeldLock> + Clone + '_ {
        self.sets[set].iter().map(|&id| &self.locks[id])
    }

    pub fn order(&self, content: &Content<'_>, a: LockId, b: LockId) -> Ordering {
        if a == b { Ordering::Equal } else { content.locks(&self.locks[a], &self.locks[b]) }
    }

    pub fn union(&mut self, content: &Content<'_>, a: SetId, b: SetId) -> SetId {
        let both = self.sets[a].iter().chain(&self.sets[b]).copied().collect();
        self.add_set(content, both)
    }

    /// Held on both ways: by a common key, or at least from one allocation site.
    pub fn meet(&mut self, content: &Content<'_>, a: SetId, b: SetId) -> SetId {
        let (first, second) = (self.sets[a].clone(), self.sets[b].clone());
        let mut met = Vec::new();
        for &lock in &first {
            if second.contains(&lock) {
                met.push(lock);
            } else if let Some(lock) = second.iter().find_map(|&other| self.meet_locks(content, lock, other))
            {
                met.push(lock);
            }
        }
        self.add_set(content, met)
    }

    pub fn meet_locks(&mut self, content: &Content<'_>, a: LockId, b: LockId) -> Option<LockId> {
        let met = meet(content, &self.locks[a], &self.locks[b])?;
        Some(self.add(content, met))
    }

    /// How many sets there are.
    pub fn set_count(&self) -> usize {
        self.sets.kept()
    }

    /// The locks of sets that are spoken of.
    pub fn show_locks(&self, live: &mut Live) {
        for (set, locks) in self.sets.items().iter() {
            if live.has_set(set) {
                locks.iter().for_each(|&lock| live.add_lock(lock));
            }
        }
    }

    /// Forgets all others.
    pub fn retain(&mut self, live: &Live) {
        for lock in self.locks.items().ids().filter(|&lock| !live.has_lock(lock)) {
            self.with_path.remove(lock.index());
        }
        for set in self.sets.items().ids().filter(|&set| !live.has_set(set)) {
            self.sets_with_path.remove(set.index());
        }
        self.locks.retain(|lock| live.has_lock(lock));
        self.sets.retain(|set| live.has_set(set));
        self.acquired_in.retain(|_, locks| {
            locks.retain(|&lock| live.has_lock(lock));
            !locks.is_empty()
        });
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        sizes.add("locks", self.locks.len());
        sizes.add("lock sets", self.sets.len());
        sizes.add("places of locks", self.acquired_in.len());
    }
}

/// One lock that is both: what both are known by.
fn meet(content: &Content<'_>, a: &HeldLock, b: &HeldLock) -> Option<HeldLock> {
    let keys: Vec<LockKey> = a.keys.iter().filter(|key| b.keys.contains(key)).cloned().collect();
    if a.kind != b.kind || keys.is_empty() && (a.objects.len() != 1 || a.objects != b.objects) {
        return None;
    }
    let mut objects: Vec<_> = a.objects.iter().chain(&b.objects).copied().collect();
    objects.sort_unstable();
    objects.dedup();
    let mut nodes: Vec<_> = a.nodes.iter().chain(&b.nodes).copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    // The same place whichever comes first.
    let places = [(a.act, a.stmt), (b.act, b.stmt)];
    let (act, stmt) = if content.acquired(places[1], places[0]).is_lt() { places[1] } else { places[0] };
    Some(HeldLock { keys, shared: a.shared || b.shared, kind: a.kind, objects, nodes, act, stmt })
}
