//! Locks of a caller told in the terms of what it calls, and the other way round, and what two ways have in common,
//! each worked out once. Knows calls one at a time.

use super::keys::Keys;
use super::table::{LockId, LockTable, SetId};
use crate::types::HeldLock;
use ir::StmtId;
use pointsto::Act;
use rustc_hash::FxHashMap;

pub struct Telling<'k, 'w> {
    pub keys: &'k Keys<'k, 'w>,
    pub table: LockTable,
    known: FxHashMap<(Act, StmtId, Act, LockId), LockId>,
    known_up: FxHashMap<(Act, StmtId, Act, LockId), LockId>,
    known_met: FxHashMap<(SetId, SetId), SetId>,
}

impl<'k, 'w> Telling<'k, 'w> {
    pub fn new(keys: &'k Keys<'k, 'w>) -> Self {
        Telling {
            keys,
            table: LockTable::default(),
            known: FxHashMap::default(),
            known_up: FxHashMap::default(),
            known_met: FxHashMap::default(),
        }
    }

    pub fn lock_down(&mut self, caller: Act, stmt: StmtId, callee: Act, lock: LockId) -> LockId {
        // Only paths depend on whose terms they are told in.
        if !self.table.has_path(lock) {
            return lock;
        }
        let key = (caller, stmt, callee, lock);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let told = self.keys.down(caller, stmt, callee, self.table.lock(lock));
        let told = self.add(told);
        self.known.insert(key, told);
        told
    }

    pub fn lock_up(&mut self, caller: Act, stmt: StmtId, callee: Act, lock: LockId) -> LockId {
        let key = (caller, stmt, callee, lock);
        if let Some(&known) = self.known_up.get(&key) {
            return known;
        }
        let told = self.keys.up(caller, stmt, callee, self.table.lock(lock));
        let told = self.add(told);
        self.known_up.insert(key, told);
        told
    }

    pub fn set_down(&mut self, caller: Act, stmt: StmtId, callee: Act, set: SetId) -> SetId {
        if set == SetId(0) {
            return set;
        }
        let locks: Vec<LockId> = self.table.set(set).to_vec();
        let told = locks.into_iter().map(|lock| self.lock_down(caller, stmt, callee, lock)).collect();
        self.add_set(told)
    }

    pub fn add(&mut self, lock: HeldLock) -> LockId {
        self.table.add(&self.keys.world.content, lock)
    }

    pub fn add_set(&mut self, locks: Vec<LockId>) -> SetId {
        self.table.add_set(&self.keys.world.content, locks)
    }

    pub fn union(&mut self, a: SetId, b: SetId) -> SetId {
        self.table.union(&self.keys.world.content, a, b)
    }

    pub fn meet(&mut self, a: SetId, b: SetId) -> SetId {
        let meet = || self.table.meet(&self.keys.world.content, a, b);
        if a == b { a } else { *self.known_met.entry((a, b)).or_insert_with(meet) }
    }

    pub fn meet_locks(&mut self, a: LockId, b: LockId) -> Option<LockId> {
        self.table.meet_locks(&self.keys.world.content, a, b)
    }
}
