//! Which heap locations hold which objects, as far as there are few: who owns what. Knows the solved heap and
//! the fields that only ever get objects nobody else has; knows no lock and no origin.

use crate::stores::Stores;
use crate::world::World;
use arena::IndexVec;
use ir::{FieldId, MethodId, StmtId};
use pointsto::{Obj, PointsTo, PointsToDelta, Site, Slot};
use std::collections::BTreeMap;
use track::{Changes, Kind, Read, Sizes, note};

/// More holders than this are not told apart.
const FEW: usize = 8;
/// Longest chain of parts of parts.
const DEEPEST: usize = 4;

pub struct Owners {
    /// Sorted.
    held_by: IndexVec<Obj, Vec<Slot>>,
    pub stores: Stores,
}

impl Default for Owners {
    fn default() -> Owners {
        Owners::new(false)
    }
}

impl Owners {
    pub fn new(follows: bool) -> Owners {
        Owners { held_by: IndexVec::new(), stores: Stores::new(follows) }
    }

    /// `stores` are up to date.
    pub fn update(&mut self, world: &World<'_>, delta: &PointsToDelta, changes: &mut Changes) {
        if changes.everything {
            self.hold(world.pointsto);
            return;
        }
        // As they were told before.
        let mut before: BTreeMap<Obj, Option<Vec<Slot>>> = BTreeMap::new();
        for (slot, change) in &delta.slots {
            for &obj in &change.added {
                self.remember(obj, &mut before);
                let slots = self.held_by.at(obj);
                if let Err(at) = slots.binary_search(slot) {
                    slots.insert(at, *slot);
                }
            }
            for &obj in &change.removed {
                self.remember(obj, &mut before);
                let slots = self.held_by.at(obj);
                if let Ok(at) = slots.binary_search(slot) {
                    slots.remove(at);
                }
            }
        }
        for (obj, before) in before {
            changes.add(Read::of(Kind::AllHolders, obj));
            if track::unnoted(|| self.of(obj)) != before.as_deref() {
                changes.add(Read::of(Kind::Holders, obj));
            }
        }
    }

    fn hold(&mut self, pointsto: &PointsTo) {
        self.held_by = IndexVec::new();
        for (slot, objects) in pointsto.slots() {
            for obj in objects.iter() {
                self.held_by.at(obj).push(slot);
            }
        }
        let objects: Vec<Obj> = self.held_by.ids().collect();
        for obj in objects {
            self.held_by[obj].sort_unstable();
        }
    }

    fn remember(&self, obj: Obj, before: &mut BTreeMap<Obj, Option<Vec<Slot>>>) {
        before.entry(obj).or_insert_with(|| self.of(obj).map(<[Slot]>::to_vec));
    }

    /// All heap locations that hold the object; `None` if there are too many.
    pub fn of(&self, obj: Obj) -> Option<&[Slot]> {
        note(Read::of(Kind::Holders, obj));
        self.held_by.get(obj).map_or(Some(&[]), |slots| Some(slots.as_slice()).filter(|_| slots.len() <= FEW))
    }

    /// The same, however many.
    pub fn all(&self, obj: Obj) -> &[Slot] {
        note(Read::of(Kind::AllHolders, obj));
        self.held_by.get(obj).map_or(&[], Vec::as_slice)
    }

    /// Does every object in this field belong to one holder only, ever?
    pub fn is_private(&self, field: FieldId) -> bool {
        self.stores.is_private(field)
    }

    /// The abstract objects of which the object is a private part, if it always is one.
    pub fn wholes(&self, obj: Obj) -> Option<Vec<Obj>> {
        let slots = self.of(obj).filter(|slots| !slots.is_empty())?;
        let whole = |slot: &Slot| match *slot {
            Slot::Field(whole, field) if self.is_private(field) => Some(whole),
            _ => None,
        };
        slots.iter().map(whole).collect()
    }

    /// The same, up to wholes that are nobody's part. `obj` itself if it is no part.
    pub fn tops(&self, obj: Obj) -> Vec<Obj> {
        let mut tops = vec![obj];
        for _ in 0..DEEPEST {
            let up = |&obj: &Obj| self.wholes(obj).unwrap_or_else(|| vec![obj]);
            let mut next: Vec<Obj> = tops.iter().flat_map(up).collect();
            next.sort_unstable();
            next.dedup();
            if next == tops {
                break;
            }
            tops = next;
        }
        tops
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.stores.sizes(sizes);
    }
}

/// The statement that allocates an object.
pub fn allocation(world: &World<'_>, obj: Obj) -> Option<(MethodId, StmtId)> {
    match world.pointsto.object(obj).site {
        Site::Alloc(method, stmt) => Some((method, stmt)),
        _ => None,
    }
}
