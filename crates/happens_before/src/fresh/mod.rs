//! Objects nobody else can know yet: allocated here (or handed over) and not published. Knows what methods
//! let escape and what their callers own; knows no origin.

mod act;
mod leaks;
mod look;
mod looks;
mod owned;
mod places;

use crate::confined::Confined;
use crate::origins::Origins;
use crate::owners::Owners;
use crate::types::Freshness;
use crate::world::World;
use act::ActFresh;
use arena::IndexVec;
use ir::{StmtId, Var};
use look::{Heap, received};
use looks::Looks;
use owned::Arrival;
use pointsto::{Act, Obj, PointsToDelta};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use track::{Changes, Kind, Memo, Read, Single, Sizes, note};

/// Which variables are fresh where, for every activation of application code.
pub struct Fresh {
    looks: Looks,
    acts: IndexVec<Act, Option<ActFresh>>,
    /// How activations are called.
    arrivals: Memo<Act, Vec<Arrival>>,
    /// For what is read to find out what an activation owns.
    owned: Memo<Act, ()>,
    /// Who has something that was handed over.
    takers: BTreeSet<Act>,
    clock: u32,
    /// What origins are given.
    received: Single<FxHashSet<Obj>>,
    confined: Confined,
    follows: bool,
}

impl Default for Fresh {
    fn default() -> Fresh {
        Fresh::new(false)
    }
}

impl Fresh {
    pub fn new(follows: bool) -> Fresh {
        Fresh {
            looks: Looks::new(follows),
            acts: IndexVec::new(),
            arrivals: Memo::new(Kind::Arrivals, follows),
            owned: Memo::new(Kind::Other, follows),
            takers: BTreeSet::new(),
            clock: 0,
            received: Single::default(),
            confined: Confined::new(follows),
            follows,
        }
    }

    pub fn update(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        owners: &Owners,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        if let Some(before) =
            self.received.update(self.follows, changes, || received(world, origins.entries()))
        {
            for &obj in before.symmetric_difference(&self.received.value) {
                changes.add(Read::of(Kind::Received, obj));
            }
        }
        self.looks.update(world, Heap { owners, received: &self.received.value }, changes);
        self.confined.update(world, origins, owners, delta, changes);
        self.arrive(world, changes);
        self.own(world, origins, changes);
    }

    /// Is the object in `base` unknown to others when the statement runs?
    pub fn of(&self, act: Act, stmt: StmtId, base: Var) -> Freshness {
        note(Read::of(Kind::Fresh, act));
        match self.acts.get(act) {
            Some(Some(_)) if self.confined.contains(act, base) => Freshness::Unpublished,
            Some(Some(act)) => act.of(stmt, base),
            _ => Freshness::No,
        }
    }

    /// What an activation knows of its own; not noted.
    fn at(&self, act: Act) -> Option<&ActFresh> {
        self.acts.get(act)?.as_ref()
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.looks.sizes(sizes);
        self.arrivals.sizes(sizes);
        self.owned.sizes(sizes);
        self.confined.sizes(sizes);
    }
}
