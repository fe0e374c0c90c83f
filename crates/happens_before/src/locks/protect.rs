//! Do the locks held at two accesses to one object keep them apart? Judges by keys, paths and owners; whether
//! the accesses could meet at all is not asked here.

use super::Locks;
use super::common::{InCommon, Perhaps};
use super::paths::Paths;
use super::table::{LockId, SetId};
use crate::flow::Flow;
use crate::kept::Flows;
use crate::owners::Owners;
use crate::types::{AccessPoint, Guard, GuardReason, HeldLock, LockKey, PathStep, Protection};
use crate::unique::Unique;
use crate::world::World;
use ir::{MethodId, Var};
use pointsto::{Act, Obj, Slot};
use std::sync::Arc;
use track::Changes;

/// Ways from an accessed object to a lock.
pub type Ways = Arc<[Vec<PathStep>]>;

/// What callers hold, and the activation itself.
pub type Sets = [SetId; 2];

/// What the question needs besides the locks.
pub struct Facts<'a> {
    pub flows: &'a Flows,
    pub paths: &'a Paths,
    pub methods: &'a arena::IndexVec<Act, MethodId>,
    pub owners: &'a Owners,
    pub unique: &'a Unique,
}

impl Locks {
    /// Yes: both hold one concrete lock, or the lock at the same path from the accessed object, or from its only
    /// owner. Weak: that path starts at an owner that may not be the only one, or nothing is known but that the
    /// locks are from one allocation site. Two holders in shared mode exclude nobody.
    pub fn protects<'a>(&'a self, facts: &Facts<'_>, a: &AccessPoint, b: &AccessPoint) -> Protection<'a> {
        self.protects_by(facts, (a, self.held_sets(&a.point)), (b, self.held_sets(&b.point)))
    }

    /// The same with the locks they hold.
    pub fn protects_by<'a>(
        &'a self,
        facts: &Facts<'_>,
        (a, left): (&AccessPoint, Sets),
        (b, right): (&AccessPoint, Sets),
    ) -> Protection<'a> {
        let perhaps = match self.share(left, right) {
            Ok(guard) => return Protection::Yes(guard),
            Err(perhaps) => perhaps,
        };
        let mut weak: Option<Guard<'a>> = None;
        for &(one, other) in perhaps.iter().flat_map(|perhaps| perhaps.iter()) {
            let (first, second) = (self.told.table.lock(one), self.told.table.lock(other));
            let guard = |why| Guard { first, second, why };
            let (ways, others) = (self.ways(facts, a, one), self.ways(facts, b, other));
            for way in ways.iter().filter(|way| others.contains(way)) {
                match certainty(facts, way, a.object) {
                    Certainty::Same => return Protection::Yes(guard(GuardReason::SamePath)),
                    Certainty::OnlyOwner => return Protection::Yes(guard(GuardReason::SameOwner)),
                    Certainty::MaybeOwner => weak = Some(guard(GuardReason::MaybeSameOwner)),
                    Certainty::SeveralOwners => {}
                }
            }
            if weak.is_none() && may_be_same(first, &ways, second, &others) {
                weak = Some(guard(GuardReason::SameAllocation));
            }
        }
        weak.map_or(Protection::No, Protection::Weak)
    }

    /// A lock that is in both, whatever is accessed; without one, those that may be one depending on that.
    pub fn share(&self, left: Sets, right: Sets) -> Result<Guard<'_>, Option<Perhaps>> {
        match self.common.of((left, right), || self.common_of(left, right)) {
            InCommon::Lock(first, second) => {
                let (first, second) = (self.told.table.lock(first), self.told.table.lock(second));
                Ok(Guard { first, second, why: GuardReason::SameObject })
            }
            InCommon::Perhaps(perhaps) => Err(Some(perhaps)),
            InCommon::Nothing => Err(None),
        }
    }

    /// What the locks of two places have in common, whatever is accessed there.
    fn common_of(&self, left: Sets, right: Sets) -> InCommon {
        let mut perhaps = Vec::new();
        for one in self.held_ids(left) {
            for other in self.held_ids(right) {
                let (first, second) = (self.told.table.lock(one), self.told.table.lock(other));
                if first.shared && second.shared {
                    continue;
                }
                if shares_global_key(first, second) {
                    return InCommon::Lock(one, other);
                }
                if !are_different(first, second) {
                    perhaps.push((one, other));
                }
            }
        }
        if perhaps.is_empty() { InCommon::Nothing } else { InCommon::Perhaps(perhaps.into()) }
    }

    /// Ways from the accessed object to the lock.
    fn ways(&self, facts: &Facts<'_>, access: &AccessPoint, lock: LockId) -> Ways {
        let is_path = |key: &LockKey| matches!(key, LockKey::Path { .. });
        let Some(base) = access.base.filter(|_| self.told.table.lock(lock).keys.iter().any(is_path)) else {
            return [].into();
        };
        let act = access.point.act;
        self.ways.ask(&(act, base, lock), || {
            let flow = facts.flows.get(&facts.methods[act]);
            ways(facts.paths, flow, (act, base), self.told.table.lock(lock))
        })
    }

    /// The same for any lock, without remembering it.
    pub fn ways_to(&self, facts: &Facts<'_>, base: (Act, Var), lock: &HeldLock) -> Vec<Vec<PathStep>> {
        ways(facts.paths, facts.flows.get(&facts.methods[base.0]), base, lock).to_vec()
    }

    /// Looks again for ways that may be others now.
    pub fn update_ways(&mut self, world: &World<'_>, paths: &Paths, changes: &mut Changes) {
        let table = &self.told.table;
        self.ways.refresh_read(
            changes,
            |_| true,
            |&(act, base, lock)| {
                let flow = world.flows().get(&world.pointsto.method(act));
                ways(paths, flow, (act, base), table.lock(lock))
            },
        );
    }
}

/// None if the variable is no longer there: then nobody asks any more.
fn ways(paths: &Paths, flow: Option<&Arc<Flow>>, (act, base): (Act, Var), lock: &HeldLock) -> Ways {
    let Some(flow) = flow.filter(|flow| flow.body.vars.get(base).is_some()) else { return [].into() };
    let way = |key: &LockKey| match key {
        LockKey::Path { root, steps } => paths.relative(flow, act, base, *root, steps),
        _ => None,
    };
    lock.keys.iter().filter_map(way).collect()
}

/// No abstract lock in common.
fn are_different(first: &HeldLock, second: &HeldLock) -> bool {
    !first.nodes.is_empty()
        && !second.nodes.is_empty()
        && !first.nodes.iter().any(|node| second.nodes.contains(node))
}

/// One abstract lock, and nothing that speaks against its being one object: both ways from the accessed object
/// are known and differ, or one lock is the accessed object's own and the other is known as something else.
fn may_be_same(
    first: &HeldLock,
    ways: &[Vec<PathStep>],
    second: &HeldLock,
    others: &[Vec<PathStep>],
) -> bool {
    let is_own = |ways: &[Vec<PathStep>]| ways.iter().any(|way| !way.iter().any(is_up));
    let is_known = |lock: &HeldLock| lock.keys.iter().any(|key| matches!(key, LockKey::Path { .. }));
    let differ = !ways.is_empty() && !others.is_empty()
        || is_own(ways) && is_known(second)
        || is_own(others) && is_known(first);
    !differ && first.nodes.len() == 1 && first.nodes == second.nodes
}

fn is_up(step: &PathStep) -> bool {
    matches!(step, PathStep::Owner(_) | PathStep::OwnerArray)
}

enum Certainty {
    Same,
    OnlyOwner,
    MaybeOwner,
    SeveralOwners,
}

/// Is the lock at the end of a way from the object one lock, whoever goes that way?
fn certainty(facts: &Facts<'_>, way: &[PathStep], object: Option<Obj>) -> Certainty {
    let up: Vec<PathStep> = way.iter().copied().take_while(is_up).collect();
    if way[up.len()..].iter().any(is_up) {
        return Certainty::MaybeOwner;
    }
    if up.is_empty() {
        return Certainty::Same;
    }
    let Some(object) = object else { return Certainty::MaybeOwner };
    let mut objects = vec![object];
    for step in up {
        let mut owners = Vec::new();
        let mut private = true;
        for object in objects {
            let Some(slots) = facts.owners.of(object) else { return Certainty::MaybeOwner };
            for slot in slots {
                match (*slot, step) {
                    (Slot::Field(owner, field), PathStep::Owner(wanted)) if field == wanted => {
                        private &= facts.owners.is_private(field);
                        owners.push(owner);
                    }
                    (Slot::Elements(owner), PathStep::OwnerArray) => {
                        private = false;
                        owners.push(owner);
                    }
                    _ => return Certainty::MaybeOwner,
                }
            }
        }
        owners.sort_unstable();
        owners.dedup();
        match owners[..] {
            _ if private => {}
            [owner] if facts.unique.contains(owner) => {}
            [_] | [] => return Certainty::MaybeOwner,
            // They are different objects, and all own it.
            _ => return Certainty::SeveralOwners,
        }
        objects = owners;
    }
    Certainty::OnlyOwner
}

fn shares_global_key(a: &HeldLock, b: &HeldLock) -> bool {
    a.keys.iter().any(|key| !matches!(key, LockKey::Path { .. }) && b.keys.contains(key))
}
