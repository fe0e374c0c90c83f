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
use pointsto::{PointsToDelta, Slot};
use track::{Changes, Kind};

#[derive(Debug)]
pub struct Swaps {
    /// Calls during which locks may be given up for a while.
    pauses: Leading,
}

impl Default for Swaps {
    fn default() -> Swaps {
        Swaps { pauses: Leading::new(Kind::Pauses) }
    }
}

/// Where an access has its object from: the load, and what it loads from unless that is a static.
#[derive(Clone, Copy)]
struct Loaded {
    stmt: StmtId,
    holder: Option<Var>,
}

impl Swaps {
    pub fn update(&mut self, world: &World<'_>, delta: &PointsToDelta, changes: &mut Changes) {
        let mut done = Done::default();
        for act in world.syncing() {
            for (stmt, _) in world.sync(act).iter().filter(|(_, step)| matches!(step, Step::Pause)) {
                done.entry(act).or_default().push((*stmt, std::iter::once(0).collect()));
            }
        }
        self.pauses.update(world, done, delta, changes);
    }

    /// What a private field holds was put there once, and into no other holder. A user has it from there and is done
    /// within one section of a lock; a taker has it from there and puts another in its place within one section
    /// of the same lock. Then the user comes first and is seen by the taker, or comes later and finds another
    /// object; and no two takers find the same one.
    pub fn protects<'a>(
        &self,
        facts: &Facts<'_>,
        locks: &'a Locks,
        a: &AccessPoint,
        b: &AccessPoint,
    ) -> Option<Protection<'a>> {
        let ((field, first), (other, second)) = (loaded(facts, a)?, loaded(facts, b)?);
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
}

/// The field that the accessed object comes from.
fn loaded(facts: &Facts<'_>, access: &AccessPoint) -> Option<(FieldId, Loaded)> {
    let flow: &Flow = facts.flows.get(&facts.methods[access.point.act])?;
    let (stmt, kind) = flow.definition(flow.source(access.base?))?;
    let holder = match *kind {
        StmtKind::Load { base, .. } => Some(flow.source(base)),
        StmtKind::LoadStatic { .. } => None,
        _ => return None,
    };
    Some((flow.field(stmt)?, Loaded { stmt, holder }))
}
