//! Locks of a caller told in the terms of what it calls, and the other way round, and what two ways have in common,
//! each worked out once. Knows calls one at a time.

use super::keys::Keys;
use super::room::Live;
use super::table::{LockId, LockTable, SetId};
use crate::types::HeldLock;
use crate::world::World;
use ir::StmtId;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use track::{Asked, Changes, Kind, Read, Sizes};

/// One of the calls of a callee by a caller, in the order of statements: the same one wherever its statement moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Call {
    pub caller: Act,
    pub callee: Act,
    pub nth: u32,
}

/// What is known of locks so far.
#[derive(Debug)]
pub struct Told {
    pub table: LockTable,
    locks_down: Asked<(Call, LockId), LockId>,
    sets_down: Asked<(Call, SetId), SetId>,
    known_met: FxHashMap<(SetId, SetId), SetId>,
    known_union: FxHashMap<(SetId, SetId), SetId>,
}

pub struct Telling<'a, 'w> {
    pub keys: &'a Keys<'a, 'w>,
    pub told: &'a mut Told,
}

impl Told {
    pub fn new(follows: bool) -> Told {
        Told {
            table: LockTable::default(),
            locks_down: Asked::new(Kind::Told, follows),
            sets_down: Asked::new(Kind::ToldSets, follows),
            known_met: FxHashMap::default(),
            known_union: FxHashMap::default(),
        }
    }

    /// Tells again what may be told otherwise now.
    pub fn update(&mut self, keys: &Keys<'_, '_>, changes: &mut Changes) {
        let Told { table, locks_down, sets_down, .. } = self;
        let table = RefCell::new(table);
        locks_down.refresh(changes, |&(call, lock)| lock_down(keys, &mut table.borrow_mut(), call, lock));
        sets_down
            .refresh(changes, |&(call, set)| set_down(keys, &mut table.borrow_mut(), locks_down, call, set));
    }

    /// What is told to nobody is forgotten.
    pub fn forget_unread(&mut self, changes: &mut Changes, is_read: impl Fn(Read) -> bool) {
        self.sets_down.forget_all_unread(changes, is_read);
        let sets_down = &self.sets_down;
        self.locks_down.forget_all_unread(changes, |read| sets_down.reads(read));
    }

    pub fn show(&self, live: &mut Live) {
        self.sets_down.each(|&(_, set), &told| [set, told].into_iter().for_each(|set| live.add_set(set)));
        self.locks_down
            .each(|&(_, lock), &told| [lock, told].into_iter().for_each(|lock| live.add_lock(lock)));
    }

    pub fn retain(&mut self, live: &Live) {
        self.table.retain(live);
        let is_live =
            |(a, b): &(SetId, SetId), both: &SetId| [a, b, both].iter().all(|&&set| live.has_set(set));
        self.known_met.retain(|sets, met| is_live(sets, met));
        self.known_union.retain(|sets, union| is_live(sets, union));
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.table.sizes(sizes);
        self.locks_down.sizes(sizes);
        self.sets_down.sizes(sizes);
        sizes.add("lock sets met", self.known_met.len() + self.known_union.len());
    }
}

impl Telling<'_, '_> {
    pub fn set_down(&mut self, call: Call, set: SetId) -> SetId {
        let Told { table, locks_down, sets_down, .. } = &mut *self.told;
        // Only paths depend on whose terms they are told in.
        if !table.is_told_by_path(set) {
            return set;
        }
        sets_down.ask(&(call, set), || set_down(self.keys, table, locks_down, call, set))
    }

    pub fn lock_up(&mut self, caller: Act, stmt: StmtId, callee: Act, lock: LockId) -> LockId {
        let told = self.keys.up(caller, stmt, callee, self.lock(lock));
        self.add(told)
    }

    pub fn lock(&self, lock: LockId) -> &HeldLock {
        self.told.table.lock(lock)
    }

    pub fn set(&self, set: SetId) -> &[LockId] {
        self.told.table.set(set)
    }

    pub fn locks(&self, set: SetId) -> impl Iterator<Item = &HeldLock> + Clone + '_ {
        self.told.table.locks(set)
    }

    pub fn add(&mut self, lock: HeldLock) -> LockId {
        self.told.table.add(&self.keys.world.content, lock)
    }

    pub fn add_set(&mut self, locks: Vec<LockId>) -> SetId {
        self.told.table.add_set(&self.keys.world.content, locks)
    }

    pub fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == SetId(0) {
            return a;
        }
        let union = || self.told.table.union(&self.keys.world.content, a, b);
        if a == SetId(0) { b } else { *self.told.known_union.entry((a, b)).or_insert_with(union) }
    }

    pub fn meet(&mut self, a: SetId, b: SetId) -> SetId {
        let meet = || self.told.table.meet(&self.keys.world.content, a, b);
        if a == b { a } else { *self.told.known_met.entry((a, b)).or_insert_with(meet) }
    }

    pub fn meet_locks(&mut self, a: LockId, b: LockId) -> Option<LockId> {
        self.told.table.meet_locks(&self.keys.world.content, a, b)
    }
}

fn set_down(
    keys: &Keys<'_, '_>,
    table: &mut LockTable,
    known: &Asked<(Call, LockId), LockId>,
    call: Call,
    set: SetId,
) -> SetId {
    let mut told: Vec<LockId> = table.set(set).to_vec();
    for lock in &mut told {
        if table.has_path(*lock) {
            *lock = known.ask(&(call, *lock), || lock_down(keys, table, call, *lock));
        }
    }
    table.add_set(&keys.world.content, told)
}

fn lock_down(keys: &Keys<'_, '_>, table: &mut LockTable, call: Call, lock: LockId) -> LockId {
    // Nobody asks about a call that is not made any more.
    let Some(stmt) = call.stmt(keys.world) else { return lock };
    let told = keys.down(call.caller, stmt, call.callee, table.lock(lock));
    table.add(&keys.world.content, told)
}

impl Call {
    pub fn new(world: &World<'_>, caller: Act, stmt: StmtId, callee: Act) -> Call {
        let callers = world.pointsto.callers(callee);
        let before = |frame: (Act, StmtId)| callers.partition_point(|&other| other < frame);
        let nth = before((caller, stmt)) - before((caller, StmtId(0)));
        Call { caller, callee, nth: nth as u32 }
    }

    /// Where the call is now.
    pub fn stmt(self, world: &World<'_>) -> Option<StmtId> {
        let stmts = world.pointsto.calls(self.caller).filter(|&(_, callee)| callee == self.callee);
        let mut stmts: Vec<StmtId> = stmts.map(|(stmt, _)| stmt).collect();
        stmts.sort_unstable();
        stmts.get(self.nth as usize).copied()
    }
}
