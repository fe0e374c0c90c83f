//! Hand-over by a flag: a field, static or of one concrete object, that starts as zero or null. Setting it to
//! anything else is the signal, passing the branch that has seen it set is the await.

use super::once::Once;
use super::{Subject, Traffic};
use crate::branches::{Test, interrupted, is_zero, tests};
use crate::locks::Locks;
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
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of accesses to one flag that are compared, at most.
const MOST_PAIRS: usize = 4096;

/// What it takes to know whether a flag is guarded.
pub struct Guards<'a> {
    pub locks: &'a Locks,
    pub methods: &'a IndexVec<Act, MethodId>,
    pub owners: &'a Owners,
    pub unique: &'a Unique,
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
#[derive(Clone, Copy)]
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
    traffic: &mut BTreeMap<Subject, Traffic>,
) -> Once {
    let mut finder = Finder { world, origins, guards, flags: BTreeMap::new() };
    finder.find_seen();
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

    /// Tests of volatile fields, and of others that are loaded under a lock.
    fn find_seen(&mut self) {
        let mut tested: FxHashMap<MethodId, Vec<Test>> = FxHashMap::default();
        for act in self.acts() {
            let Some(body) = self.world.program.lowered(self.world.pointsto.method(act)) else { continue };
            if !body.stmts.iter().any(|(stmt, info)| self.may_be_flag(act, stmt, &info.kind)) {
                continue;
            }
            let Some(flow) = self.world.flow(act) else { continue };
            for &test in tested.entry(flow.method).or_insert_with(|| tests(flow)).iter() {
                let Some((stmt, kind)) = flow.definition(test.value) else { continue };
                let Some(field) = flow.field(stmt).filter(|_| self.may_be_flag(act, stmt, kind)) else {
                    continue;
                };
                let [slot] = self.slots(act, kind, field)[..] else { continue };
                if object_of(slot).is_none_or(|obj| self.guards.unique.contains(obj)) {
                    let place = Place { act, stmt, base: base(kind) };
                    self.flags.entry(slot).or_default().seen.push((place, test));
                }
            }
        }
    }

    /// Stores into what is tested somewhere.
    fn find_set(&mut self) {
        let fields: BTreeSet<FieldId> = self.flags.keys().filter_map(|&slot| field_of(slot)).collect();
        for act in self.acts() {
            let sets_flag = |kind: &StmtKind| match *kind {
                StmtKind::Store { field, .. } | StmtKind::StoreStatic { field, .. } => {
                    self.world.resolve_field(field).is_some_and(|field| fields.contains(&field))
                }
                _ => false,
            };
            let Some(body) = self.world.program.lowered(self.world.pointsto.method(act)) else { continue };
            if !body.stmts.iter().any(|(_, info)| sets_flag(&info.kind)) {
                continue;
            }
            let Some(flow) = self.world.flow(act) else { continue };
            for (stmt, info) in flow.body.stmts.iter().filter(|(_, info)| sets_flag(&info.kind)) {
                let (StmtKind::Store { src, .. } | StmtKind::StoreStatic { src, .. }) = info.kind else {
                    continue;
                };
                let Some(field) = flow.field(stmt) else { continue };
                let place = Place { act, stmt, base: base(&info.kind) };
                for slot in self.slots(act, &info.kind, field) {
                    let Some(flag) = self.flags.get_mut(&slot) else { continue };
                    if is_zero(flow, src) {
                        flag.cleared.push(place);
                    } else {
                        flag.set.push(place);
                    }
                }
            }
        }
    }

    /// Activations of the user's code that somebody runs.
    pub fn acts(&self) -> Vec<Act> {
        let is_run = |&act: &Act| !self.world.is_jdk(act) && !self.origins.of(act).is_empty();
        self.world.pointsto.acts().filter(is_run).collect()
    }

    fn is_volatile(&self, field: FieldId) -> bool {
        self.world.program.field(field).access & access::VOLATILE != 0
    }

    /// A load of a volatile field, or of any other under a lock.
    fn may_be_flag(&self, act: Act, stmt: StmtId, kind: &StmtKind) -> bool {
        let (StmtKind::Load { field, .. } | StmtKind::LoadStatic { field, .. }) = *kind else { return false };
        let Some(field) = self.world.resolve_field(field) else { return false };
        let is_final = self.world.program.field(field).access & access::FINAL != 0;
        let is_locked = || {
            self.origins.of(act).iter().all(|&origin| {
                let point = Point { origin, act, stmt };
                self.guards.locks.held(&point).next().is_some()
            })
        };
        self.is_volatile(field) || !is_final && is_locked()
    }

    /// Do locks keep this look at the flag apart from everything that sets it?
    fn is_guarded(&self, slot: Slot, seen: Place, set: &[Place]) -> bool {
        let Guards { locks, methods, owners, unique } = *self.guards;
        let facts = Facts { flows: self.world.flows(), methods, owners, unique };
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

    fn slots(&self, act: Act, kind: &StmtKind, field: FieldId) -> Vec<Slot> {
        match base(kind) {
            Some(base) => {
                self.world.pointsto.pts(act, base).iter().map(|obj| Slot::Field(obj, field)).collect()
            }
            None => vec![Slot::Static(field)],
        }
    }
}

fn base(kind: &StmtKind) -> Option<Var> {
    match *kind {
        StmtKind::Load { base, .. } | StmtKind::Store { base, .. } => Some(base),
        _ => None,
    }
}

fn object_of(slot: Slot) -> Option<Obj> {
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
