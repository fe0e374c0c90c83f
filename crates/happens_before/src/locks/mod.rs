//! Locks that are certainly held: what a lock is known by, what each method holds where, what callers hold,
//! and whether that keeps two accesses apart. Knows no order between origins.

mod calls;
mod intra;
mod keys;
mod narrow;
mod nests;
pub mod paths;
pub mod protect;
mod reached;
mod table;
mod telling;
mod walk;
mod wants;

use crate::joins::Joins;
use crate::origins::Origins;
use crate::owners::Owners;
use crate::types::{Acquisition, HeldLock, Nesting, Point};
use crate::unique::Unique;
use crate::world::World;
use arena::IdSet;
use calls::Entries;
use intra::ActLocks;
use nests::Finder;
use paths::Paths;
use pointsto::{Act, Obj};
use rustc_hash::FxHashMap;
use table::{LockTable, SetId};
use telling::Telling;

#[derive(Debug, Default)]
pub struct Locks {
    table: LockTable,
    paths: Paths,
    /// Activations that touch locks.
    acts: FxHashMap<Act, ActLocks>,
    entries: Entries,
    acquisitions: Vec<Acquisition>,
    nestings: Vec<Nesting>,
}

impl Locks {
    pub fn new(
        world: &World<'_>,
        origins: &Origins,
        unique: &Unique,
        joins: &Joins,
        paths: Paths,
        owners: &Owners,
    ) -> Locks {
        let mut table = LockTable::default();
        let keys = keys::Keys::new(world, unique, &paths, owners);
        let acts = intra::analyse(world, &keys, &mut table);
        let mut telling = Telling::new(&keys, &mut table);
        let entries = Entries::new(world, origins, &mut telling, &acts);
        let finder = Finder { world, origins, unique, joins, acts: &acts, entries: &entries };
        let nestings = finder.find(&mut telling);
        let acquisitions = acquisitions(world, &table, &acts);
        Locks { table, paths, acts, entries, acquisitions, nestings }
    }

    pub fn acquisitions(&self) -> &[Acquisition] {
        &self.acquisitions
    }

    pub fn nestings(&self) -> &[Nesting] {
        &self.nestings
    }

    /// Locks held before the statement, the callers' first.
    pub fn held(&self, point: &Point) -> impl Iterator<Item = &HeldLock> + Clone + '_ {
        let entry = self.entries.certain(point.origin, point.act);
        let own = self.acts.get(&point.act).map_or(SetId(0), |act| act.before(point.stmt));
        self.table.locks(entry).chain(self.table.locks(own))
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
