//! Who holds what, and who waits: all that the search for nestings asks of the stages before it.

use super::calls::Entries;
use super::inside::Inside;
use super::intra::{ActLocks, LockUse};
use super::table::SetId;
use crate::joins::Joins;
use crate::origins::Origins;
use crate::types::{End, Origin, OriginKind};
use crate::unique::Unique;
use crate::world::World;
use ir::StmtId;
use pointsto::Act;
use std::collections::BTreeMap;
use track::{Kind, Read, note};

pub struct Holding<'a, 'w> {
    pub world: &'a World<'w>,
    pub unique: &'a Unique,
    pub inside: &'a Inside,
    origins: &'a Origins,
    entries: &'a Entries,
    /// By activation, in the order of statements.
    waits: BTreeMap<Act, Vec<(StmtId, &'a [End])>>,
}

impl<'a, 'w> Holding<'a, 'w> {
    pub fn new(
        world: &'a World<'w>,
        unique: &'a Unique,
        inside: &'a Inside,
        origins: &'a Origins,
        entries: &'a Entries,
        joins: &'a Joins,
    ) -> Self {
        let mut waits: BTreeMap<Act, Vec<(StmtId, &[End])>> = BTreeMap::new();
        for (act, stmt, ends) in &joins.waits {
            waits.entry(*act).or_default().push((*stmt, ends));
        }
        waits.values_mut().for_each(|waits| waits.sort_by_key(|&(stmt, _)| stmt));
        Holding { world, unique, inside, origins, entries, waits }
    }

    pub fn waiting(&self) -> impl Iterator<Item = Act> {
        self.waits.keys().copied()
    }

    pub fn waits(&self, act: Act) -> &[(StmtId, &'a [End])] {
        note(Read::all(Kind::Joins));
        self.waits.get(&act).map_or(&[], Vec::as_slice)
    }

    /// Does nobody need to look at the activation again before it gets a lock?
    pub fn is_without_locks(&self, act: Act) -> bool {
        !self.inside.contains(act) && !self.waits.contains_key(&act)
    }

    /// The library's own locks are its own affair.
    pub fn uses(&self, act: Act) -> &'a [LockUse] {
        let locks = self.inside.of(act).filter(|_| !self.world.is_jdk(act));
        locks.map_or(&[], ActLocks::uses)
    }

    /// Who runs an activation, in the order of content, by what its callers certainly hold then.
    pub fn origins_by_entry(&self, act: Act) -> BTreeMap<SetId, Vec<Origin>> {
        let mut found: BTreeMap<SetId, Vec<Origin>> = BTreeMap::new();
        let mut origins = self.origins.of(act).to_vec();
        origins.sort_unstable_by_key(|&origin| self.origins.ranks[origin]);
        for origin in origins {
            if self.origins.info[origin].kind != OriginKind::Initialization {
                found.entry(self.entries.certain(origin, act)).or_default().push(origin);
            }
        }
        found
    }
}
