//! Locks that are certainly held: what a lock is known by, what each method holds where, what callers hold,
//! and whether that keeps two accesses apart. Knows no order between origins.

mod calls;
mod intra;
mod keys;
pub mod paths;
pub mod protect;
mod table;

use crate::bits::Bits;
use crate::joins::Joins;
use crate::origins::Origins;
use crate::owners::Owners;
use crate::types::{Acquisition, HeldDuring, HeldLock, Origin, OriginKind, Point, Wanted};
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, IdSet};
use calls::Entries;
use intra::ActLocks;
use paths::Paths;
use pointsto::{Act, Obj};
use rustc_hash::FxHashMap;
use table::{LockTable, SetId};

#[derive(Debug, Default)]
pub struct Locks {
    table: LockTable,
    paths: Paths,
    /// Activations that touch locks.
    acts: FxHashMap<Act, ActLocks>,
    entries: Entries,
    acquisitions: Vec<Acquisition>,
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
        let mut locks = Locks { paths, ..Locks::default() };
        let keys = keys::Keys::new(world, unique, &locks.paths, owners);
        locks.acts = intra::analyse(world, &keys, &mut locks.table);
        let waits = joins.waits.iter().map(|&(act, ..)| act);
        locks.entries = calls::Entries::new(world, origins, &keys, &mut locks.table, &locks.acts, waits);
        locks.acquisitions = locks.find_acquisitions(world, origins, joins);
        locks
    }

    pub fn acquisitions(&self) -> &[Acquisition] {
        &self.acquisitions
    }

    /// Locks held before the statement, the callers' first.
    pub fn held(&self, point: &Point) -> impl Iterator<Item = &HeldLock> + Clone + '_ {
        let entry = self.entries.certain(point.origin, point.act);
        let own = self.acts.get(&point.act).map_or(SetId(0), |act| act.before(point.stmt));
        self.table.locks(entry).chain(self.table.locks(own))
    }

    fn find_acquisitions(&self, world: &World<'_>, origins: &Origins, joins: &Joins) -> Vec<Acquisition> {
        let mut found = Vec::new();
        // The library's own locks are its own affair.
        let mut touching: Vec<Act> = self.acts.keys().copied().filter(|&act| !world.is_jdk(act)).collect();
        touching.sort_unstable();
        for (origin, info) in origins.info.iter() {
            if info.kind == OriginKind::Initialization {
                continue;
            }
            let runs = &origins.runs[origin];
            for &act in touching.iter().filter(|act| runs.contains(act.index())) {
                for lock_use in self.acts[&act].uses().iter().filter(|lock_use| !lock_use.tries) {
                    let wanted = self.table.lock(lock_use.lock);
                    let set = lock_use.stmt.map_or(SetId(0), |stmt| self.acts[&act].before(stmt));
                    let Some(held) = self.held_during(origin, runs, act, set, Some(wanted)) else { continue };
                    let wants = Wanted::Lock(wanted.clone());
                    found.push(Acquisition { origin, act, stmt: lock_use.stmt, wants, held });
                }
            }
            for (act, stmt, ends) in &joins.waits {
                if !runs.contains(act.index()) {
                    continue;
                }
                let set = self.acts.get(act).map_or(SetId(0), |locks| locks.before(*stmt));
                let held = self.held_during(origin, runs, *act, set, None).unwrap_or_default();
                if !held.is_empty() {
                    let (act, stmt, wants) = (*act, Some(*stmt), Wanted::End(ends.clone()));
                    found.push(Acquisition { origin, act, stmt, wants, held });
                }
            }
        }
        found
    }

    /// What is held when `wanted` is taken; `None` if that is held already.
    fn held_during(
        &self,
        origin: Origin,
        runs: &Bits,
        act: Act,
        set: SetId,
        wanted: Option<&HeldLock>,
    ) -> Option<Vec<HeldDuring>> {
        let is_wanted = |lock: &HeldLock| {
            wanted.is_some_and(|wanted| lock.keys.iter().any(|key| wanted.keys.contains(key)))
        };
        let certain = self.entries.certain(origin, act);
        if self.table.locks(certain).chain(self.table.locks(set)).any(is_wanted) {
            return None;
        }
        let mut held: Vec<HeldDuring> = Vec::new();
        let mut add = |lock: &HeldLock, always: bool| {
            let known = held.iter().any(|known| {
                (known.lock.act, known.lock.stmt, &known.lock.objects) == (lock.act, lock.stmt, &lock.objects)
            });
            if !known && !is_wanted(lock) {
                held.push(HeldDuring { lock: lock.clone(), always });
            }
        };
        for lock in self.table.locks(certain).chain(self.table.locks(set)) {
            add(lock, true);
        }
        for lock in self.entries.possible(act).iter().map(|&lock| self.table.lock(lock)) {
            if runs.contains(lock.act.index()) {
                add(lock, false);
            }
        }
        Some(held)
    }
}

fn sorted(objects: &IdSet<Obj>) -> Vec<Obj> {
    objects.iter().collect()
}
