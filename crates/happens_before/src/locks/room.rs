//! Locks and sets of locks that somebody still speaks of. The others go, and with them all that was worked out about
//! them, once there are many: edits leave them behind. Knows who keeps which, and nothing of what they mean.

use super::Locks;
use super::families::Family;
use super::passing::Restriction;
use super::table::{LockId, SetId};
use crate::bits::Bits;
use arena::Id;
use track::Changes;

/// Nobody looks before there are so many new sets and families, and an eighth more than when somebody looked last.
const NEW: usize = 1024;

/// What is spoken of.
#[derive(Default)]
pub struct Live {
    sets: Bits,
    locks: Bits,
    families: Bits,
    restrictions: Bits,
}

impl Live {
    pub fn add_set(&mut self, set: SetId) {
        self.sets.insert(set.index());
    }

    pub fn add_lock(&mut self, lock: LockId) {
        self.locks.insert(lock.index());
    }

    pub fn add_family(&mut self, family: Family) {
        self.families.insert(family.index());
    }

    pub fn add_restriction(&mut self, restriction: Restriction) {
        self.restrictions.insert(restriction.index());
    }

    pub fn has_set(&self, set: SetId) -> bool {
        self.sets.contains(set.index())
    }

    pub fn has_lock(&self, lock: LockId) -> bool {
        self.locks.contains(lock.index())
    }

    pub fn has_family(&self, family: Family) -> bool {
        self.families.contains(family.index())
    }

    pub fn has_restriction(&self, restriction: Restriction) -> bool {
        self.restrictions.contains(restriction.index())
    }
}

impl Locks {
    /// Between two updates: whatever is worked out anew is compared with what was there, so that has to stay what it is.
    pub(super) fn forget_unspoken(&mut self, changes: &mut Changes) {
        let many = self.looked_over + self.looked_over / 8 + NEW;
        if self.spoken() <= many && !changes.tidies {
            return;
        }
        self.nestings.forget_unread(changes);
        let (entries, nestings) = (&self.entries, &self.nestings);
        self.told.forget_unread(changes, |read| entries.reads(read) || nestings.reads(read));
        let mut live = Live::default();
        live.add_set(SetId(0));
        live.add_family(Family(0));
        live.add_restriction(Restriction(0));
        self.inside.show(&mut live);
        self.entries.show(&mut live);
        self.told.show(&mut live);
        self.nestings.show(&mut live);
        self.told.table.show_locks(&mut live);
        self.entries.retain(&live);
        self.told.retain(&live);
        self.nestings.retain(&live);
        self.common.retain(&live);
        self.ways.forget(changes, |&(_, _, lock)| !live.has_lock(lock));
        self.looked_over = self.spoken();
    }

    fn spoken(&self) -> usize {
        self.told.table.set_count() + self.entries.family_count()
    }
}
