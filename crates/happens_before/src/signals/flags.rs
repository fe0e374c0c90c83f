//! Hand-over by a flag: a field, static or of one concrete object, that starts as zero or null. Setting it to
//! anything else is the signal, passing the branch that has seen it set is the await.

use super::looks::Looks;
use super::{Subject, SubjectId, Subjects};
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
use std::collections::BTreeSet;
use track::{Changes, Kind, Memo, Sizes};

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

/// What is known besides the flags themselves.
#[derive(Clone, Copy)]
pub struct Scene<'a, 'w> {
    pub world: &'a World<'w>,
    pub origins: &'a Origins,
    pub guards: &'a Guards<'a>,
}

pub struct Flags {
    flags: Memo<SubjectId, Flag>,
}

/// One flag.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Flag {
    /// Stores of what may be other than zero.
    pub set: Vec<Place>,
    pub seen: Vec<(Place, Test)>,
    /// Stores of zero.
    pub cleared: Vec<Place>,
    /// The branches that have seen the flag set, and what was done before.
    pub awaits: Kills,
}

/// A statement that accesses the flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub act: Act,
    pub stmt: StmtId,
    pub base: Option<Var>,
}

impl Flags {
    pub fn new(follows: bool) -> Flags {
        Flags { flags: Memo::new(Kind::Flags, follows) }
    }

    /// Returns the flags that differ. `looked_at`: those that are looked at otherwise.
    pub fn update(
        &mut self,
        scene: &Scene<'_, '_>,
        subjects: &Subjects,
        looks: &Looks,
        looked_at: &BTreeSet<SubjectId>,
        changes: &mut Changes,
    ) -> Vec<SubjectId> {
        let stale = self.flags.stale(changes).into_iter().chain(looked_at.iter().copied());
        let stale: BTreeSet<SubjectId> = stale.collect();
        let stale: Vec<SubjectId> = stale.into_iter().collect();
        self.flags.update(&stale, changes, |subject| match subjects[subject] {
            Subject::Flag(slot) => Flag::new(scene, slot, looks.at(subject, slot)),
            Subject::Object(_) => None,
        })
    }

    pub fn of(&self, subject: SubjectId) -> Option<&Flag> {
        self.flags.get(subject)
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.flags.sizes(sizes);
    }
}

impl Flag {
    /// A flag hands over if it is volatile, or if whoever sees it set does so under a lock under which everybody sets
    /// it: the one who has set it has released the lock since.
    fn new(scene: &Scene<'_, '_>, slot: Slot, seen: Vec<(Place, Test)>) -> Option<Flag> {
        if seen.is_empty() {
            return None;
        }
        let mut flag = Flag { seen, ..Flag::default() };
        flag.find_set(scene, slot);
        flag.find_awaits(scene, slot);
        Some(flag)
    }

    fn find_awaits(&mut self, scene: &Scene<'_, '_>, slot: Slot) {
        let is_volatile = field_of(slot).is_some_and(|field| scene.is_volatile(field));
        let is_await =
            |&&(place, _): &&(Place, Test)| is_volatile || scene.is_guarded(slot, place, &self.set);
        let mut awaits = Kills::default();
        for &(Place { act, .. }, test) in self.seen.iter().filter(is_await) {
            let Some(flow) = scene.world.flow(act) else { continue };
            let mut edges = vec![(test.from, test.nonzero)];
            edges.extend(interrupted(flow, &edges));
            awaits.edges.extend(edges.into_iter().map(|(from, to)| (act, from, to)));
        }
        awaits.sort();
        self.awaits = awaits;
    }

    fn find_set(&mut self, scene: &Scene<'_, '_>, slot: Slot) {
        let Scene { world, origins, guards } = *scene;
        let Some(field) = field_of(slot) else { return };
        let mut places: BTreeSet<(Act, StmtId)> = BTreeSet::new();
        for (method, stmt) in guards.owners.stores.to(field) {
            if !world.is_jdk_method(method) {
                places.extend(world.acts_of(method).iter().map(|&act| (act, stmt)));
            }
        }
        for (act, stmt) in places {
            let Some(flow) = world.flow(act).filter(|_| !origins.of(act).is_empty()) else { continue };
            let kind = &flow.body.stmts[stmt].kind;
            let (StmtKind::Store { src, .. } | StmtKind::StoreStatic { src, .. }) = *kind else { continue };
            if flow.field(stmt) != Some(field) || !slots(world, act, kind, field).contains(&slot) {
                continue;
            }
            let place = Place { act, stmt, base: base(kind) };
            if is_zero(flow, src) {
                self.cleared.push(place);
            } else {
                self.set.push(place);
            }
        }
    }
}

impl<'a> Scene<'a, '_> {
    /// The place as run by each thread; class initialisation comes before them all.
    pub fn points(&self, place: &Place) -> impl Iterator<Item = Point> + use<'a> {
        self.points_at(place.act, place.stmt)
    }

    pub fn points_at(&self, act: Act, stmt: StmtId) -> impl Iterator<Item = Point> + use<'a> {
        let all = self.origins;
        let running = all.of(act).iter().copied();
        let running = running.filter(|&origin| all.info[origin].kind != OriginKind::Initialization);
        running.map(move |origin| Point { origin, act, stmt })
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
