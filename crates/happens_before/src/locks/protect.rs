//! Do the locks held at two accesses to one object keep them apart?

use super::{Locks, Owners};
use crate::flow::Flow;
use crate::types::{AccessPoint, Guard, GuardReason, HeldLock, LockKey, PathStep, Protection};
use pointsto::{Obj, Slot};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Locks {
    /// Yes: both hold one concrete lock, or the lock at the same path from the accessed object, or from its only
    /// owner. Weak: that path starts at an owner that may not be the only one, or the locks are merely from the
    /// same allocation site. Two holders in shared mode exclude nobody.
    pub fn protects<'a>(
        &'a self,
        flows: &FxHashMap<ir::MethodId, Arc<Flow>>,
        methods: impl Fn(pointsto::Act) -> ir::MethodId,
        a: &AccessPoint,
        b: &AccessPoint,
    ) -> Protection<'a> {
        let mut weak: Option<Guard<'a>> = None;
        let second_held = self.held(&b.point);
        if second_held.clone().next().is_none() {
            return Protection::No;
        }
        for first in self.held(&a.point) {
            for second in second_held.clone().filter(|second| !(first.shared && second.shared)) {
                let guard = |why| Guard { first, second, why };
                if shares_global_key(first, second) {
                    return Protection::Yes(guard(GuardReason::SameObject));
                }
                let ways = self.ways(flows, &methods, a, first);
                if !ways.is_empty() {
                    let others = self.ways(flows, &methods, b, second);
                    for way in ways.iter().filter(|way| others.contains(way)) {
                        match self.certainty(way, a.object) {
                            Certainty::Same => return Protection::Yes(guard(GuardReason::SamePath)),
                            Certainty::OnlyOwner => return Protection::Yes(guard(GuardReason::SameOwner)),
                            Certainty::MaybeOwner => weak = Some(guard(GuardReason::MaybeSameOwner)),
                        }
                    }
                }
                if weak.is_none() && first.objects.len() == 1 && first.objects == second.objects {
                    weak = Some(guard(GuardReason::SameAllocation));
                }
            }
        }
        weak.map_or(Protection::No, Protection::Weak)
    }

    /// Ways from the accessed object to the lock.
    fn ways(
        &self,
        flows: &FxHashMap<ir::MethodId, Arc<Flow>>,
        methods: &impl Fn(pointsto::Act) -> ir::MethodId,
        access: &AccessPoint,
        lock: &HeldLock,
    ) -> Vec<Vec<PathStep>> {
        let (Some(base), Some(flow)) = (access.base, flows.get(&methods(access.point.act))) else {
            return Vec::new();
        };
        let mut ways = Vec::new();
        for key in &lock.keys {
            if let LockKey::Path { root, steps } = key {
                ways.extend(self.paths.relative(flow, access.point.act, base, *root, steps));
            }
        }
        ways
    }

    fn certainty(&self, way: &[PathStep], object: Option<Obj>) -> Certainty {
        let up: Vec<PathStep> = way
            .iter()
            .copied()
            .take_while(|step| matches!(step, PathStep::Owner(_) | PathStep::OwnerArray))
            .collect();
        if way.iter().skip(up.len()).any(|step| matches!(step, PathStep::Owner(_) | PathStep::OwnerArray)) {
            return Certainty::MaybeOwner;
        }
        if up.is_empty() {
            return Certainty::Same;
        }
        let mut objects = match object {
            Some(object) => vec![object],
            None => return Certainty::MaybeOwner,
        };
        for step in up {
            let mut owners = Vec::new();
            for object in objects {
                let Some(Owners::Few(slots)) = self.owners.get(object) else { return Certainty::MaybeOwner };
                for slot in slots {
                    match (*slot, step) {
                        (Slot::Field(owner, field), PathStep::Owner(wanted)) if field == wanted => {
                            owners.push(owner);
                        }
                        (Slot::Elements(owner), PathStep::OwnerArray) => owners.push(owner),
                        _ => return Certainty::MaybeOwner,
                    }
                }
            }
            owners.sort_unstable();
            owners.dedup();
            // Two abstract owners of one abstract object may own one concrete object together.
            if owners.len() != 1 {
                return Certainty::MaybeOwner;
            }
            objects = owners;
        }
        Certainty::OnlyOwner
    }
}

enum Certainty {
    Same,
    OnlyOwner,
    MaybeOwner,
}

fn shares_global_key(a: &HeldLock, b: &HeldLock) -> bool {
    a.keys.iter().any(|key| !matches!(key, LockKey::Path { .. }) && b.keys.contains(key))
}
