//! Locks that are certainly held: what a lock is known by, what each method holds where, what callers hold,
//! and whether that keeps two accesses apart. Knows no order between origins.

mod calls;
mod common;
mod intra;
pub mod keys;
mod narrow;
mod nests;
mod order;
pub mod paths;
pub mod protect;
mod reached;
mod swapped;
mod table;
pub mod telling;
mod walk;
mod wants;

use crate::joins::Joins;
use crate::origins::Origins;
use crate::types::{Acquisition, HeldLock, Nesting, Origin, Point};
use crate::unique::Unique;
use crate::world::World;
use arena::IdSet;
use calls::Entries;
use common::Common;
use intra::ActLocks;
use ir::StmtId;
use keys::Keys;
use nests::Finder;
use paths::Paths;
use pointsto::{Act, Obj};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use table::{LockId, LockTable, SetId};
use telling::Telling;

#[derive(Debug, Default)]
pub struct Locks {
    table: LockTable,
    paths: Arc<Paths>,
    /// Activations that touch locks.
    acts: FxHashMap<Act, ActLocks>,
    entries: Entries,
    acquisitions: Vec<Acquisition>,
    common: Common,
}

impl Locks {
    /// With what was told on the way, for whoever goes on from there.
    pub fn new<'k, 'w>(
        world: &World<'w>,
        origins: &Origins,
        keys: &'k Keys<'k, 'w>,
        paths: Arc<Paths>,
    ) -> (Locks, Telling<'k, 'w>) {
        let mut telling = Telling::new(keys);
        let acts = intra::analyse(world, &mut telling);
        let entries = Entries::new(world, origins, &mut telling, &acts);
        let table = telling.table.clone();
        let acquisitions = acquisitions(world, &table, &acts);
        (Locks { table, paths, acts, entries, acquisitions, common: Common::default() }, telling)
    }

    /// What is wanted while something is held.
    pub fn nestings<'w>(
        &self,
        world: &World<'w>,
        origins: &Origins,
        unique: &Unique,
        joins: &Joins,
        telling: &mut Telling<'_, 'w>,
    ) -> Vec<Nesting> {
        let (acts, entries) = (&self.acts, &self.entries);
        Finder { world, origins, unique, joins, acts, entries }.find(telling)
    }

    pub fn acquisitions(&self) -> &[Acquisition] {
        &self.acquisitions
    }

    /// Every lock taken, or tried, by anybody; without a statement by a synchronized method. In no order.
    pub fn taken(&self) -> impl Iterator<Item = (Act, Option<StmtId>, &HeldLock)> {
        let taken =
            self.acts.iter().flat_map(|(&act, locks)| locks.uses().iter().map(move |used| (act, used)));
        taken.map(|(act, used)| (act, used.stmt, self.table.lock(used.lock)))
    }

    /// Locks held before the statement, the callers' first.
    pub fn held(&self, point: &Point) -> impl Iterator<Item = &HeldLock> + '_ {
        self.held_ids(self.held_sets(point)).map(|id| self.table.lock(id))
    }

    pub fn held_by_callers(&self, origin: Origin, act: Act) -> u32 {
        self.entries.certain(origin, act).0
    }

    /// What callers hold, and the activation itself.
    fn held_sets(&self, point: &Point) -> [SetId; 2] {
        let own = self.acts.get(&point.act).map_or(SetId(0), |act| act.before(point.stmt));
        [self.entries.certain(point.origin, point.act), own]
    }

    fn held_ids(&self, sets: [SetId; 2]) -> impl Iterator<Item = LockId> + Clone + '_ {
        sets.into_iter().flat_map(|set| self.table.set(set).iter().copied())
    }
}

/// The library's own locks are its own affair.
fn acquisitions(world: &World<'_>, table: &LockTable, acts: &FxHashMap<Act, ActLocks>) -> Vec<Acquisition> {
    let mut taking: Vec<Act> = acts.keys().copied().filter(|&act| !world.is_jdk(act)).collect();
    taking.sort_unstable();
    let mut found = Vec::new();
    for act in taking {
        for lock_use in acts[&act].uses().iter().filter(|lock_use| !lock_use.tries) {
            let lock = table.lock(lock_use.lock).clone();
            found.push(Acquisition { act, stmt: lock_use.stmt, lock });
        }
    }
    found
}

fn sorted(objects: &IdSet<Obj>) -> Vec<Obj> {
    objects.iter().collect()
}
