//! Do the locks held at two accesses to one object keep them apart? Judges by keys, paths and owners; whether
//! the accesses could meet at all is not asked here.

use super::Locks;
use super::common::InCommon;
use super::paths::Paths;
use super::table::{LockId, SetId};
use crate::kept::Flows;
use crate::owners::Owners;
use crate::types::{AccessPoint, Guard, GuardReason, HeldLock, LockKey, PathStep, Protection};
use crate::unique::Unique;
use ir::MethodId;
use pointsto::{Act, Obj, Slot};
use rustc_hash::FxHashMap;

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
        let (left, right) = (self.held_sets(&a.point), self.held_sets(&b.point));
        match self.common.of((left, right), || self.common_of(left, right)) {
            InCommon::Nothing => return Protection::No,
            InCommon::Lock(first, second) => {
                let (first, second) = (self.told.table.lock(first), self.told.table.lock(second));
                return Protection::Yes(Guard { first, second, why: GuardReason::SameObject });
            }
            InCommon::Perhaps => {}
        }
        let mut weak: Option<Guard<'a>> = None;
        let mut known: FxHashMap<LockId, Vec<Vec<PathStep>>> = FxHashMap::default();
        for one in self.held_ids(left) {
            let first = self.told.table.lock(one);
            let mut known_ways = None;
            for other in self.held_ids(right) {
                let second = self.told.table.lock(other);
                let guard = |why| Guard { first, second, why };
                if first.shared && second.shared || are_different(first, second) {
                    continue;
                }
                let ways = known_ways.get_or_insert_with(|| self.ways(facts, a, first));
                let others = known.entry(other).or_insert_with(|| self.ways(facts, b, second));
                for way in ways.iter().filter(|way| others.contains(way)) {
                    match certainty(facts, way, a.object) {
                        Certainty::Same => return Protection::Yes(guard(GuardReason::SamePath)),
                        Certainty::OnlyOwner => return Protection::Yes(guard(GuardReason::SameOwner)),
                        Certainty::MaybeOwner => weak = Some(guard(GuardReason::MaybeSameOwner)),
                        Certainty::SeveralOwners => {}
                    }
                }
                if weak.is_none() && may_be_same(first, ways, second, others) {
                    weak = Some(guard(GuardReason::SameAllocation));
                }
            }
        }
        weak.map_or(Protection::No, Protection::Weak)
    }

    /// What the locks of two places have in common, whatever is accessed there.
    fn common_of(&self, left: [SetId; 2], right: [SetId; 2]) -> InCommon {
        let mut found = InCommon::Nothing;
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
                    found = InCommon::Perhaps;
                }
            }
        }
        found
    }

    /// Ways from the accessed object to the lock.
    fn ways(&self, facts: &Facts<'_>, access: &AccessPoint, lock: &HeldLock) -> Vec<Vec<PathStep>> {
        let (Some(base), Some(flow)) = (access.base, facts.flows.get(&facts.methods[access.point.act]))
        else {
            return Vec::new();
        };
        let mut ways = Vec::new();
        for key in &lock.keys {
            if let LockKey::Path { root, steps } = key {
                ways.extend(facts.paths.relative(flow, access.point.act, base, *root, steps));
            }
        }
        ways
    }
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
