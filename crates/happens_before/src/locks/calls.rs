//! Locks that callers hold when an activation is entered, per origin, on every way from the origin's entry.
//! Knows what is held at each call; not how that came about.

use super::intra::ActLocks;
use super::table::SetId;
use super::telling::Telling;
use crate::bits::Bits;
use crate::origins::Origins;
use crate::types::{Origin, OriginKind};
use crate::world::World;
use arena::Id;
use ir::StmtId;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Entries {
    /// Not empty.
    certain: FxHashMap<(Origin, Act), SetId>,
}

impl Entries {
    pub fn new<'w>(
        world: &World<'w>,
        origins: &Origins,
        telling: &mut Telling<'_, 'w>,
        acts: &FxHashMap<Act, ActLocks>,
    ) -> Entries {
        let mut finder = Finder { world, telling, acts, entries: Entries::default() };
        for (origin, info) in origins.info.iter() {
            let roots = match info.kind {
                OriginKind::Initialization => world.pointsto.initializers(),
                OriginKind::Entry | OriginKind::Task => std::slice::from_ref(&info.entry),
            };
            finder.certain(origin, &origins.runs[origin], roots);
        }
        finder.entries
    }

    pub fn certain(&self, origin: Origin, act: Act) -> SetId {
        self.certain.get(&(origin, act)).copied().unwrap_or(SetId(0))
    }
}

struct Finder<'a, 'k, 'w> {
    world: &'a World<'w>,
    telling: &'a mut Telling<'k, 'w>,
    acts: &'a FxHashMap<Act, ActLocks>,
    entries: Entries,
}

impl Finder<'_, '_, '_> {
    /// Activations that the roots reach over calls without any lock.
    fn bare(&self, roots: &[Act]) -> Bits {
        let mut seen = Bits::with_len(self.world.pointsto.act_bound());
        let mut left: Vec<Act> = roots.iter().copied().filter(|root| seen.insert(root.index())).collect();
        while let Some(act) = left.pop() {
            let locks = self.acts.get(&act);
            for (stmt, callee) in self.world.pointsto.calls(act) {
                let is_bare = locks.is_none_or(|locks| locks.before(stmt) == SetId(0));
                if is_bare && seen.insert(callee.index()) {
                    left.push(callee);
                }
            }
        }
        seen
    }

    fn held_at(&self, caller: Act, stmt: StmtId) -> SetId {
        self.acts.get(&caller).map_or(SetId(0), |locks| locks.before(stmt))
    }

    /// entry(m) = ⋂ over calls (c, s) of m executed by the origin: told in m's terms, entry(c) ∪ held(c, s).
    /// Greatest solution. What is reached without a lock has none, which leaves few to look at; callers come
    /// first among them.
    fn certain(&mut self, origin: Origin, runs: &Bits, roots: &[Act]) {
        let (pointsto, components) = (self.world.pointsto, &self.world.components);
        let bare = self.bare(roots);
        let in_order = |act: Act| (Reverse(components.place(act)), act);
        let locked = runs.iter().filter(|&act| !bare.contains(act)).map(Act::new);
        let mut left: BTreeSet<(Reverse<(u32, u32)>, Act)> = locked.map(in_order).collect();
        let mut found: FxHashMap<Act, SetId> = FxHashMap::default();
        while let Some((_, act)) = left.pop_first() {
            let mut met: Option<SetId> = None;
            for &(caller, stmt) in self.world.calls.callers(act) {
                if !runs.contains(caller.index()) {
                    continue;
                }
                let known = if bare.contains(caller.index()) {
                    SetId(0)
                } else {
                    // Not visited yet: no constraint yet.
                    let Some(&known) = found.get(&caller) else { continue };
                    known
                };
                let held = self.held_at(caller, stmt);
                let both = self.telling.union(known, held);
                let told = self.telling.set_down(caller, stmt, act, both);
                met = Some(met.map_or(told, |met| self.telling.meet(met, told)));
                if met == Some(SetId(0)) {
                    break;
                }
            }
            let Some(met) = met else { continue };
            // Only ever less than before.
            let met = match found.get(&act) {
                Some(&before) if before == met => continue,
                Some(&before) => self.telling.meet(before, met),
                None => met,
            };
            if found.insert(act, met) != Some(met) {
                let callees = pointsto.calls(act).map(|(_, callee)| callee);
                left.extend(callees.filter(|callee| !bare.contains(callee.index())).map(in_order));
            }
        }
        for (act, set) in found {
            if set != SetId(0) {
                self.entries.certain.insert((origin, act), set);
            }
        }
    }
}
