//! What instances of an origin may get from each other, one object at a time: who holds it where the origin loads from.
//! Knows loads and who holds what; which objects matter is decided by the asker.

use crate::loads::{Loads, field_of};
use crate::origins::Origins;
use crate::owners::Owners;
use crate::types::Origin;
use crate::world::World;
use arena::IdSet;
use ir::FieldId;
use pointsto::{Act, Obj, Slot};
use std::sync::Arc;
use track::{Asked, Changes, Kind, Read, Sizes};

#[derive(Debug)]
pub struct Sharing {
    /// By origin and field, or elements.
    loaded: Asked<(Origin, Option<FieldId>), Arc<Loaded>>,
    /// Holders from which the origin may load the object; `None` for statics.
    holders: Asked<(Origin, Obj), Arc<[Option<Obj>]>>,
}

/// Where an origin loads a field, or elements.
#[derive(Debug, Default, PartialEq)]
struct Loaded {
    anywhere: bool,
    from: IdSet<Obj>,
}

/// What this is worked out from.
#[derive(Clone, Copy)]
pub struct Grounds<'a, 'w> {
    pub world: &'a World<'w>,
    pub origins: &'a Origins,
    pub owners: &'a Owners,
    pub loads: &'a Loads,
}

impl Sharing {
    pub fn new(follows: bool) -> Sharing {
        Sharing { loaded: Asked::new(Kind::LoadedFrom, follows), holders: Asked::new(Kind::Sharing, follows) }
    }

    pub fn update(&mut self, on: Grounds<'_, '_>, is_read: impl Fn(Read) -> bool, changes: &mut Changes) {
        let Sharing { loaded, holders } = self;
        let is_loaded = |read: Read| holders.reads(read);
        loaded.refresh_read(changes, is_loaded, |&(origin, field)| Arc::new(on.loaded(origin, field)));
        holders.refresh_read(changes, is_read, |&(origin, obj)| on.holders(loaded, origin, obj));
    }

    pub fn holders(&self, on: Grounds<'_, '_>, origin: Origin, obj: Obj) -> Arc<[Option<Obj>]> {
        self.holders.ask(&(origin, obj), || on.holders(&self.loaded, origin, obj))
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.loaded.sizes(sizes);
        self.holders.sizes(sizes);
    }
}

impl Grounds<'_, '_> {
    fn runs(&self, origin: Origin, act: Act) -> bool {
        self.origins.of(act).contains(&origin)
    }

    fn loaded(&self, origin: Origin, field: Option<FieldId>) -> Loaded {
        let mut found = Loaded::default();
        for (method, var) in self.loads.of(field) {
            let acts = self.world.acts_of(method).iter().copied();
            for act in acts.filter(|&act| self.runs(origin, act)) {
                found.anywhere = true;
                if let Some(var) = var {
                    found.from.union_with(self.world.pointsto.pts(act, var));
                }
            }
        }
        found
    }

    fn holders(
        &self,
        loaded: &Asked<(Origin, Option<FieldId>), Arc<Loaded>>,
        origin: Origin,
        obj: Obj,
    ) -> Arc<[Option<Obj>]> {
        let is_loaded = |slot: Slot| {
            let field = field_of(slot);
            let loaded = loaded.ask(&(origin, field), || Arc::new(self.loaded(origin, field)));
            base(slot).map_or(loaded.anywhere, |base| loaded.from.contains(base))
                || self.loads.modelled(slot).any(|act| self.runs(origin, act))
        };
        let slots = self.owners.all(obj).iter().copied();
        let mut holders: Vec<Option<Obj>> = slots.filter(|&slot| is_loaded(slot)).map(base).collect();
        holders.sort_unstable();
        holders.dedup();
        holders.into()
    }
}

fn base(slot: Slot) -> Option<Obj> {
    match slot {
        Slot::Field(base, _) | Slot::Elements(base) => Some(base),
        Slot::Static(_) => None,
    }
}
