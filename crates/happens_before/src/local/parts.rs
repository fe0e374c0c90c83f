//! Objects that each holder has its own of: made for a private field of it, or made anew with it. Knows one holder at a
//! time, and no origin.

use crate::flow::after;
use crate::owners::{Owners, allocation};
use crate::world::World;
use arena::Id;
use pointsto::{Obj, Slot};
use std::sync::Arc;
use track::{Asked, Changes, Kind, Read, Sizes};

#[derive(Debug)]
pub struct Parts {
    known: Asked<Obj, Arc<[Obj]>>,
}

impl Parts {
    pub fn new(follows: bool) -> Parts {
        Parts { known: Asked::new(Kind::Parts, follows) }
    }

    pub fn update(
        &mut self,
        world: &World<'_>,
        owners: &Owners,
        is_read: impl Fn(Read) -> bool,
        changes: &mut Changes,
    ) {
        self.known.refresh_read(changes, is_read, |&holder| parts(world, owners, holder));
    }

    pub fn of(&self, world: &World<'_>, owners: &Owners, holder: Obj) -> Arc<[Obj]> {
        self.known.ask(&holder, || parts(world, owners, holder))
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.known.sizes(sizes);
    }
}

/// Held only by the holder, and made for a private field, or in the method that makes the holder, anew for each.
fn parts(world: &World<'_>, owners: &Owners, holder: Obj) -> Arc<[Obj]> {
    let is_part = |&obj: &Obj| match owners.of(obj) {
        Some(&[Slot::Field(only, field)]) => {
            only == holder && (owners.is_private(field) || is_made_with(world, obj, holder))
        }
        _ => false,
    };
    let held = world.slots_of(holder).flat_map(|(_, held)| held.iter());
    let mut parts: Vec<Obj> = held.filter(is_part).collect();
    parts.sort_unstable();
    parts.dedup();
    parts.into()
}

/// Is the holder never made twice in one execution of its method without the object being made in between?
fn is_made_with(world: &World<'_>, obj: Obj, holder: Obj) -> bool {
    let (Some((method, part)), Some((maker, whole))) = (allocation(world, obj), allocation(world, holder))
    else {
        return false;
    };
    let Some(flow) = world.method_flow(method).filter(|_| method == maker) else { return false };
    // In another execution of the method the object is another one as well.
    !after(flow, [whole], Some(part)).contains(whole.index())
        && !flow.body.params.iter().any(|&param| {
            world.acts_of(method).iter().any(|&act| world.pointsto.pts(act, param).contains(obj))
        })
}
