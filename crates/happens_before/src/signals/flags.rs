//! Hand-over by a flag: a field, static or of one concrete object, that starts as zero or null. Setting it to
//! anything else is the signal, passing the branch that has seen it set is the await.

use super::looks::{Looks, Seen};
use super::once::Once;
use super::{Subject, Traffic};
use crate::branches::{Test, interrupted, is_zero};
use crate::locks::Locks;
use crate::locks::paths::Paths;
use crate::locks::protect::Facts;
use crate::origins::Origins;
use crate::owners::Owners;
use crate::reach::Kills;
use crate::types::{AccessPoint, OriginKind, Point, Protection};
use crate::unique::Unique;
use crate::world::World;
use arena::IndexVec;
use ir::{FieldId, MethodId, StmtId, StmtKind, Var, access};
use pointsto::{Act, Obj, Slot};
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of accesses to one flag that are compared, at most.
const MOST_PAIRS: usize = 4096;

/// What it takes to know whether a flag is guarded.
pub struct Guards<'a> {
    pub locks: &'a Locks,
    pub methods: &'a IndexVec<Act, MethodId>,
    pub owners: &'a Owners,
    pub unique: &'a Unique,
    pub paths: &'a Paths,
}

/// One flag.
#[derive(Default)]
pub struct Flag {
    /// Stores of what may be other than zero.
    pub set: Vec<Place>,
    pub seen: Vec<(Place, Test)>,
    /// Stores of zero.
    pub cleared: Vec<Place>,
}

/// A statement that accesses the flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub act: Act,
    pub stmt: StmtId,
    pub base: Option<Var>,
}

/// A flag hands over if it is volatile, or if whoever sees it set does so under a lock under which everybody sets
/// it: the one who has set it has released the lock since.
pub fn find(
    world: &World<'_>,
    origins: &Origins,
    guards: &Guards<'_>,
    looks: &Looks,
    traffic: &mut BTreeMap<Subject, Traffic>,
) -> Once {
    let mut finder = Finder { world, origins, guards, looks, flags: BTreeMap::new() };
    for Seen { slot, place, test } in looks.seen() {
        finder.flags.entry(slot).or_default().seen.push((place, test));
    }
    finder.find_set();
    for (&slot, flag) in &finder.flags {
        let awaits = finder.awaits(slot, flag);
        let signals = flag.set.iter().map(|place| (place.act, place.stmt)).collect();
        traffic.insert(Subject::Flag(slot), Traffic { signals, awaits, ..Traffic::default() });
    }
    Once::new(&finder)
}

pub struct Finder<'a, 'w> {
    pub world: &'a World<'w>,
    pub origins: &'a Origins,
    pub guards: &'a Guards<'a>,
    pub looks: &'a Looks,
    pub flags: BTreeMap<Slot, Flag>,
}

impl Finder<'_, '_> {
    /// The branches that have seen the flag set, and what was done before.
    pub fn awaits(&self, slot: Slot, flag: &Flag) -> Kills {
        let is_volatile = field_of(slot).is_some_and(|field| self.is_volatile(field));
        let is_await = |&&(place, _): &&(Place, Test)| is_volatile || self.is_guarded(slot, place, &flag.set);
        let mut awaits = Kills::default();
        for &(Place { act, .. }, test) in flag.seen.iter().filter(is_await) {
            let Some(flow) = self.world.flow(act) else { continue };
            let mut edges = vec![(test.from, test.nonzero)];
            edges.extend(interrupted(flow, &edges));
            awaits.edges.extend(edges.into_iter().map(|(from, to)| (act, from, to)));
        }
        awaits.sort();
        awaits
    }

    /// The place as run by each thread; class initialisation comes before them all.
    pub fn points(&self, place: &Place) -> impl Iterator<Item = Point> + use<'_> {
        self.points_at(place.act, place.stmt)
    }

    pub fn points_at(&self, act: Act, stmt: StmtId) -> impl Iterator<Item = Point> + use<'_> {
        let origins = self.origins.of(act).iter().copied();
        let running = origins.filter(|&origin| self.origins.info[origin].kind != OriginKind::Initialization);
        running.map(move |origin| Point { origin, act, stmt })
    }

    /// Stores into what is tested somewhere.
    fn find_set(&mut self) {
        let fields: BTreeSet<FieldId> = self.flags.keys().filter_map(|&slot| field_of(slot)).collect();
        let stores = fields.iter().flat_map(|&field| self.guards.owners.stores.to(field));
        let mut places: BTreeSet<(Act, StmtId)> = BTreeSet::new();
        for (method, stmt) in stores.filter(|&(method, _)| !self.world.is_jdk_method(method)) {
            places.extend(self.world.acts_of(method).iter().map(|&act| (act, stmt)));
        }
        for (act, stmt) in places {
            let Some(flow) = self.world.flow(act).filter(|_| !self.origins.of(act).is_empty()) else {
                continue;
            };
            let kind = &flow.body.stmts[stmt].kind;
            let (StmtKind::Store { src, .. } | StmtKind::StoreStatic { src, .. }) = *kind else { continue };
            let Some(field) = flow.field(stmt) else { continue };
            let place = Place { act, stmt, base: base(kind) };
            for slot in slots(self.world, act, kind, field) {
                let Some(flag) = self.flags.get_mut(&slot) else { continue };
                if is_zero(flow, src) {
                    flag.cleared.push(place);
                } else {
                    flag.set.push(place);
                }
            }
        }
    }

    fn is_volatile(&self, field: FieldId) -> bool {
        self.world.program.field(field).access & access::VOLATILE != 0
    }

    /// Do locks keep this look at the flag apart from everything that sets it?
    fn is_guarded(&self, slot: Slot, seen: Place, set: &[Place]) -> bool {
        let Guards { locks, methods, owners, unique, paths } = *self.guards;
        let facts = Facts { flows: self.world.flows(), methods, owners, unique, paths };
        let looks = self.accesses(slot, seen, false);
        let sets: Vec<AccessPoint> = set.iter().flat_map(|&place| self.accesses(slot, place, true)).collect();
        looks.len() * sets.len() <= MOST_PAIRS
            && looks.iter().all(|look| {
                sets.iter().all(|set| matches!(locks.protects(&facts, look, set), Protection::Yes(_)))
            })
    }

    fn accesses(&self, slot: Slot, place: Place, is_write: bool) -> Vec<AccessPoint> {
        let object = object_of(slot);
        let access = |point| AccessPoint { point, base: place.base, object, is_write };
        self.points(&place).map(access).collect()
    }
}

/// What a load or store of the field accesses.
pub fn slots(world: &World<'_>, act: Act, kind: &StmtKind, field: FieldId) -> Vec<Slot> {
    match base(kind) {
        Some(base) => world.pointsto.pts(act, base).iter().map(|obj| Slot::Field(obj, field)).collect(),
        None => vec![Slot::Static(field)],
    }
}

pub fn base(kind: &StmtKind) -> Option<Var> {
    match *kind {
        StmtKind::Load { base, .. } | StmtKind::Store { base, .. } => Some(base),
        _ => None,
    }
}

pub fn object_of(slot: Slot) -> Option<Obj> {
    match slot {
        Slot::Field(obj, _) | Slot::Elements(obj) => Some(obj),
        Slot::Static(_) => None,
    }
}

fn field_of(slot: Slot) -> Option<FieldId> {
    match slot {
        Slot::Field(_, field) | Slot::Static(field) => Some(field),
        Slot::Elements(_) => None,
    }
}
