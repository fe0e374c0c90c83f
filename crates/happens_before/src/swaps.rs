//! Objects that are swapped out of a field under the lock under which everybody uses what the field holds. Knows
//! one method at a time, and the locks held in it.

use crate::flow::{Flow, after};
use crate::leading::{Done, Leading};
use crate::locks::Locks;
use crate::locks::protect::Facts;
use crate::types::{AccessPoint, HeldLock, Point, Protection};
use crate::world::World;
use arena::Id;
use ir::{FieldId, StmtId, StmtKind, Var};
use models::Step;
use pointsto::{Act, PointsToDelta, Slot};
use std::sync::Arc;
use track::{Asked, Changes, Kind, Sizes};

#[derive(Debug)]
pub struct Swaps {
    /// Calls during which locks may be given up for a while.
    pauses: Leading,
    /// Where variables are loaded from.
    loaded: Asked<(Act, Var), Option<LoadedFrom>>,
}

/// A field, and where it is loaded.
pub type LoadedFrom = (FieldId, Loaded);

/// Where an access has its object from: the load, and what it loads from unless that is a static.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    stmt: StmtId,
    holder: Option<Var>,
}

impl Swaps {
    pub fn new(follows: bool) -> Swaps {
        Swaps { pauses: Leading::new(Kind::Pauses), loaded: Asked::new(Kind::Swapped, follows) }
    }

    pub fn update(&mut self, world: &World<'_>, delta: &PointsToDelta, changes: &mut Changes) {
        let mut done = Done::default();
        for act in world.syncing() {
            for (stmt, _) in world.sync(act).iter().filter(|(_, step)| matches!(step, Step::Pause)) {
                done.entry(act).or_default().push((*stmt, std::iter::once(0).collect()));
            }
        }
        self.pauses.update(world, done, delta, changes);
        let flow = |act| world.flows().get(&world.pointsto.method(act));
        self.loaded.refresh_read(changes, |_| true, |&(act, var)| loaded(flow(act), var));
    }

    /// The field that an accessed object comes from.
    pub fn loaded(&self, facts: &Facts<'_>, access: &AccessPoint) -> Option<LoadedFrom> {
        let act = access.point.act;
        let base = access.base?;
        self.loaded.ask(&(act, base), || loaded(facts.flows.get(&facts.methods[act]), base))
    }

    /// What a private field holds was put there once, and into no other holder. A user has it from there and is done
    /// within one section of a lock; a taker has it from there and puts another in its place within one section
    /// of the same lock. Then the user comes first and is seen by the taker, or comes later and finds another
    /// object; and no two takers find the same one.
    pub fn protects<'a>(
        &self,
        facts: &Facts<'_>,
        locks: &'a Locks,
        (a, from): (&AccessPoint, Option<LoadedFrom>),
        (b, also_from): (&AccessPoint, Option<LoadedFrom>),
    ) -> Option<Protection<'a>> {
        let ((field, first), (other, second)) = (from?, also_from?);
        if field != other || !facts.owners.is_private(field) {
            return None;
        }
        let mut protection = None;
        for slot in facts.owners.of(a.object?)? {
            let holder = match *slot {
                Slot::Field(holder, of) if of == field => Some(holder),
                Slot::Static(of) if of == field => None,
                _ => continue,
            };
            let load = |access: &AccessPoint, loaded: Loaded| AccessPoint {
                point: Point { stmt: loaded.stmt, ..access.point },
                base: loaded.holder,
                object: holder,
                ..*access
            };
            let Protection::Yes(guard) = locks.protects(facts, &load(a, first), &load(b, second)) else {
                return None;
            };
            let is_safe = self.is_safe(facts, locks, field, (a, first), guard.first)
                && self.is_safe(facts, locks, field, (b, second), guard.second);
            if !is_safe {
                return None;
            }
            protection = Some(Protection::Yes(guard));
        }
        protection
    }

    /// Is it a user or a taker, as far as this lock is concerned?
    fn is_safe(
        &self,
        facts: &Facts<'_>,
        locks: &Locks,
        field: FieldId,
        (access, loaded): (&AccessPoint, Loaded),
        lock: &HeldLock,
    ) -> bool {
        let point = access.point;
        let Some(flow) = facts.flows.get(&facts.methods[point.act]) else { return false };
        let keeps = |stmt: StmtId| {
            locks.held(&Point { stmt, ..point }).any(|held| held == lock)
                && !self.pauses.of(point.act).iter().any(|&(pause, _)| pause == stmt)
        };
        let reached = after(flow, [loaded.stmt], Some(loaded.stmt));
        let left = reached.iter().map(|at| StmtId(at as u32)).filter(|&stmt| !keeps(stmt));
        let beyond = after(flow, left.collect::<Vec<_>>(), Some(loaded.stmt));
        let in_section =
            |stmt: StmtId| reached.contains(stmt.index()) && keeps(stmt) && !beyond.contains(stmt.index());
        let is_swapped = |store: StmtId| {
            in_section(store) && !after(flow, [loaded.stmt], Some(store)).contains(point.stmt.index())
        };
        in_section(point.stmt)
            || flow.body.stmts.iter().any(|(stmt, info)| {
                let into = match info.kind {
                    StmtKind::Store { base, .. } => Some(flow.source(base)),
                    StmtKind::StoreStatic { .. } => None,
                    _ => return false,
                };
                flow.field(stmt) == Some(field) && into == loaded.holder && is_swapped(stmt)
            })
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.pauses.sizes(sizes);
        self.loaded.sizes(sizes);
    }
}

fn loaded(flow: Option<&Arc<Flow>>, var: Var) -> Option<LoadedFrom> {
    let flow = flow.filter(|flow| flow.body.vars.get(var).is_some())?;
    let (stmt, kind) = flow.definition(flow.source(var))?;
    let holder = match *kind {
        StmtKind::Load { base, .. } => Some(flow.source(base)),
        StmtKind::LoadStatic { .. } => None,
        _ => return None,
    };
    Some((flow.field(stmt)?, Loaded { stmt, holder }))
}
