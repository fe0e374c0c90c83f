//! Locks that are certainly held: what a lock is known by, what each method holds where, what callers hold,
//! and whether that keeps two accesses apart. Knows no order between origins.

mod calls;
mod common;
mod families;
mod harmful;
mod held;
mod inside;
mod intra;
pub mod keys;
mod narrow;
mod narrowed;
mod near;
mod nestings;
mod nests;
mod order;
mod passing;
pub mod paths;
pub mod protect;
mod reached;
mod room;
mod routes;
mod steps;
mod swapped;
mod table;
mod telling;
mod views;
mod walk;
mod wants;

use crate::joins::Joins;
use crate::origins::Origins;
use crate::owners::Owners;
use crate::types::{Acquisition, End, HeldLock, Nesting, Origin, Point};
use crate::unique::Unique;
use crate::world::World;
use arena::IdSet;
use calls::Entries;
use common::Common;
use held::Holding;
use inside::Inside;
use intra::ActLocks;
use ir::{StmtId, Var};
use keys::Keys;
use nestings::Nestings;
use paths::Paths;
use pointsto::{Act, Obj, PointsToDelta};
use protect::Ways;
use std::collections::{BTreeMap, BTreeSet};
use table::{LockId, SetId};
use telling::{Telling, Told};
use track::{Asked, Changes, Kind, Read, Sizes, note};
use views::Views;

/// What locks are told apart by.
pub struct Grounds<'a, 'w> {
    pub world: &'a World<'w>,
    pub unique: &'a Unique,
    pub owners: &'a Owners,
    pub paths: &'a Paths,
}

impl<'w> Grounds<'_, 'w> {
    fn keys<'b>(&'b self, views: &'b Views) -> Keys<'b, 'w> {
        let Grounds { world, unique, owners, paths } = *self;
        Keys { world, unique, paths, owners, views }
    }
}

/// Who waits where, for whom.
type Wait = (Act, StmtId, Vec<End>);

pub struct Locks {
    told: Told,
    views: Views,
    inside: Inside,
    entries: Entries,
    acquisitions: Vec<Acquisition>,
    /// Locks that activations take, or try to.
    taken: BTreeMap<Act, Vec<(Option<StmtId>, LockId)>>,
    nestings: Nestings,
    /// Whose locks are others since the update before.
    differing: BTreeSet<Act>,
    waits: Vec<Wait>,
    common: Common,
    /// From what a variable refers to, to a lock.
    ways: Asked<(Act, Var, LockId), Ways>,
    /// How many sets there were when those were forgotten that nobody speaks of.
    looked_over: usize,
    follows: bool,
}

impl Default for Locks {
    fn default() -> Locks {
        Locks::new(false)
    }
}

impl Locks {
    pub fn new(follows: bool) -> Locks {
        Locks {
            told: Told::new(follows),
            views: Views::default(),
            inside: Inside::new(follows),
            entries: Entries::new(follows),
            acquisitions: Vec::new(),
            taken: BTreeMap::new(),
            nestings: Nestings::new(follows),
            differing: BTreeSet::new(),
            waits: Vec::new(),
            common: Common::default(),
            ways: Asked::new(Kind::Ways, follows),
            looked_over: 0,
            follows,
        }
    }

    pub fn update(
        &mut self,
        grounds: &Grounds<'_, '_>,
        origins: &Origins,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        if changes.everything {
            *self = Locks::new(self.follows);
        }
        self.forget_unspoken(changes);
        let world = grounds.world;
        for (&method, kept) in delta.bodies.iter().zip(&delta.kept) {
            world.acts_of(method).iter().for_each(|&act| self.told.table.shift(act, kept));
        }
        self.views.update(world, delta, changes);
        let keys = &grounds.keys(&self.views);
        self.told.update(keys, changes);
        let mut telling = Telling { keys, told: &mut self.told };
        self.differing = self.inside.update(&mut telling, delta, changes);
        self.entries.update(&mut telling, &self.inside, origins, delta, changes);
        self.acquire(world, changes);
        self.take(changes);
        self.update_ways(world, grounds.paths, changes);
    }

    fn take(&mut self, changes: &mut Changes) {
        for &act in &self.differing {
            let uses = self.inside.of(act).map_or(&[][..], ActLocks::uses).iter();
            let taken: Vec<_> = uses.map(|lock_use| (lock_use.stmt, lock_use.lock)).collect();
            let before = match taken.is_empty() {
                true => self.taken.remove(&act).unwrap_or_default(),
                false => self.taken.insert(act, taken.clone()).unwrap_or_default(),
            };
            if before != taken {
                changes.add(Read::all(Kind::Taken));
            }
        }
    }

    /// The library's own locks are its own affair.
    fn acquire(&mut self, world: &World<'_>, changes: &mut Changes) {
        let mut found = Vec::new();
        for &act in self.differing.iter().filter(|&&act| !world.is_jdk(act)) {
            let uses = self.inside.of(act).map_or(&[][..], ActLocks::uses).iter();
            for lock_use in uses.filter(|lock_use| !lock_use.tries) {
                let lock = self.told.table.lock(lock_use.lock).clone();
                found.push(Acquisition { act, stmt: lock_use.stmt, lock });
            }
        }
        let is_stale = |acquisition: &&Acquisition| self.differing.contains(&acquisition.act);
        if self.acquisitions.iter().filter(is_stale).ne(&found) {
            self.acquisitions.retain(|acquisition| !self.differing.contains(&acquisition.act));
            self.acquisitions.extend(found);
            self.acquisitions.sort_by_key(|acquisition| acquisition.act);
            changes.add(Read::all(Kind::Acquisitions));
        }
    }

    /// The same for what is wanted while something is held.
    pub fn update_nestings(
        &mut self,
        grounds: &Grounds<'_, '_>,
        origins: &Origins,
        joins: &Joins,
        changes: &mut Changes,
    ) {
        if self.waits != joins.waits {
            self.waits.clone_from(&joins.waits);
            changes.add(Read::all(Kind::Joins));
        }
        let keys = &grounds.keys(&self.views);
        let holding = Holding::new(keys.world, keys.unique, &self.inside, origins, &self.entries, joins);
        self.nestings.update(keys, &mut self.told, &holding, origins, &self.differing, changes);
    }

    pub fn nestings(&self) -> &[Nesting] {
        self.nestings.all()
    }

    pub fn acquisitions(&self) -> &[Acquisition] {
        note(Read::all(Kind::Acquisitions));
        &self.acquisitions
    }

    /// The same of one activation.
    pub fn acquisitions_of(&self, act: Act) -> &[Acquisition] {
        note(Read::of(Kind::Locks, act));
        let from = self.acquisitions.partition_point(|taken| taken.act < act);
        let own = &self.acquisitions[from..];
        &own[..own.partition_point(|taken| taken.act == act)]
    }

    /// Every lock taken, or tried, by anybody; without a statement by a synchronized method.
    pub fn taken(&self) -> impl Iterator<Item = (Act, Option<StmtId>, &HeldLock)> {
        note(Read::all(Kind::Taken));
        let taken = self.taken.iter().flat_map(|(&act, taken)| taken.iter().map(move |taken| (act, taken)));
        taken.map(|(act, &(stmt, lock))| (act, stmt, self.told.table.lock(lock)))
    }

    /// Locks held before the statement, the callers' first.
    pub fn held(&self, point: &Point) -> impl Iterator<Item = &HeldLock> + '_ {
        self.held_ids(self.held_sets(point)).map(|id| self.told.table.lock(id))
    }

    pub fn held_by_callers(&self, origin: Origin, act: Act) -> u32 {
        self.entries.certain(origin, act).0
    }

    /// What callers hold, and the activation itself.
    pub fn held_sets(&self, point: &Point) -> [SetId; 2] {
        let own = self.inside.before(point.act, point.stmt);
        [self.entries.certain(point.origin, point.act), own]
    }

    fn held_ids(&self, sets: [SetId; 2]) -> impl Iterator<Item = LockId> + Clone + '_ {
        sets.into_iter().flat_map(|set| self.told.table.set(set).iter().copied())
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.told.sizes(sizes);
        self.inside.sizes(sizes);
        self.entries.sizes(sizes);
        self.nestings.sizes(sizes);
        self.common.sizes(sizes);
        self.ways.sizes(sizes);
    }
}

fn sorted(objects: &IdSet<Obj>) -> Vec<Obj> {
    objects.iter().collect()
}
