//! Locks that callers hold when an activation is entered, per origin: certainly (on every way from the
//! origin's entry) and possibly (on some).

use super::intra::{ActLocks, Keys};
use super::table::{LockId, LockTable, SetId};
use crate::bits::Bits;
use crate::origins::Origins;
use crate::types::Origin;
use crate::world::World;
use arena::Id;
use ir::StmtId;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// More possible locks than this at one entry are not told apart any more; the first found are kept.
const MOST_POSSIBLE: usize = 24;

#[derive(Debug, Default)]
pub struct Entries {
    /// Not empty.
    certain: FxHashMap<(Origin, Act), SetId>,
    possible: FxHashMap<(Origin, Act), Vec<LockId>>,
}

impl Entries {
    pub fn new<'w>(
        world: &World<'w>,
        origins: &Origins,
        keys: &Keys<'_, 'w>,
        table: &mut LockTable,
        acts: &FxHashMap<Act, ActLocks>,
    ) -> Entries {
        let mut holding: Vec<Act> = acts.keys().copied().collect();
        holding.sort_unstable();
        let mut finder =
            Finder { world, keys, table, acts, down: FxHashMap::default(), entries: Entries::default() };
        for origin in origins.info.ids() {
            let runs = &origins.runs[origin];
            let candidates = finder.called_with_locks(&holding, runs);
            if !candidates.is_empty() {
                finder.certain(origin, runs, origins.info[origin].entry, &candidates);
                finder.possible(origin, runs, &candidates);
            }
        }
        finder.entries
    }

    pub fn certain(&self, origin: Origin, act: Act) -> SetId {
        self.certain.get(&(origin, act)).copied().unwrap_or(SetId(0))
    }

    pub fn possible(&self, origin: Origin, act: Act) -> &[LockId] {
        self.possible.get(&(origin, act)).map_or(&[], Vec::as_slice)
    }
}

struct Finder<'a, 'k, 'w> {
    world: &'a World<'w>,
    keys: &'a Keys<'k, 'w>,
    table: &'a mut LockTable,
    acts: &'a FxHashMap<Act, ActLocks>,
    /// Locks in a callee's terms.
    down: FxHashMap<(Act, StmtId, Act, LockId), LockId>,
    entries: Entries,
}

impl Finder<'_, '_, '_> {
    /// Activations that some call under a lock leads to.
    fn called_with_locks(&self, holding: &[Act], runs: &Bits) -> Bits {
        let mut seen = Bits::new();
        let mut left = Vec::new();
        for &act in holding.iter().filter(|act| runs.contains(act.index())) {
            for (stmt, callee) in self.world.pointsto.calls(act) {
                if self.acts[&act].before(stmt) != SetId(0) && seen.insert(callee.index()) {
                    left.push(callee);
                }
            }
        }
        while let Some(act) = left.pop() {
            for (_, callee) in self.world.pointsto.calls(act) {
                if seen.insert(callee.index()) {
                    left.push(callee);
                }
            }
        }
        seen
    }

    fn held_at(&self, caller: Act, stmt: StmtId) -> SetId {
        self.acts.get(&caller).map_or(SetId(0), |locks| locks.before(stmt))
    }

    fn lock_down(&mut self, caller: Act, stmt: StmtId, callee: Act, lock: LockId) -> LockId {
        let key = (caller, stmt, callee, lock);
        if let Some(&known) = self.down.get(&key) {
            return known;
        }
        let told = self.keys.down(caller, stmt, callee, self.table.lock(lock));
        let told = self.table.add(told);
        self.down.insert(key, told);
        told
    }

    fn set_down(&mut self, caller: Act, stmt: StmtId, callee: Act, set: SetId) -> SetId {
        if set == SetId(0) {
            return set;
        }
        let locks: Vec<LockId> = self.table.set(set).to_vec();
        let told = locks.into_iter().map(|lock| self.lock_down(caller, stmt, callee, lock)).collect();
        self.table.add_set(told)
    }

    /// entry(m) = ⋂ over calls (c, s) of m executed by the origin: told in m's terms, entry(c) ∪ held(c, s).
    /// Greatest solution.
    fn certain(&mut self, origin: Origin, runs: &Bits, entry: Act, candidates: &Bits) {
        let pointsto = self.world.pointsto;
        let mut found: FxHashMap<Act, SetId> = FxHashMap::default();
        found.insert(entry, SetId(0));
        let mut left: BTreeSet<Act> = candidates.iter().map(Act::new).collect();
        while let Some(act) = left.pop_first() {
            if act == entry {
                continue;
            }
            let mut met: Option<SetId> = None;
            for &(caller, stmt) in pointsto.callers(act) {
                if !runs.contains(caller.index()) {
                    continue;
                }
                let known = if candidates.contains(caller.index()) {
                    // Not visited yet: no constraint yet.
                    let Some(&known) = found.get(&caller) else { continue };
                    known
                } else {
                    SetId(0)
                };
                let held = self.held_at(caller, stmt);
                let both = self.table.union(known, held);
                let told = self.set_down(caller, stmt, act, both);
                met = Some(met.map_or(told, |met| self.table.meet(met, told)));
                if met == Some(SetId(0)) {
                    break;
                }
            }
            let Some(met) = met else { continue };
            // Only ever less than before.
            let met = match found.get(&act) {
                Some(&before) if before == met => continue,
                Some(&before) => self.table.meet(before, met),
                None => met,
            };
            if found.insert(act, met) != Some(met) {
                left.extend(pointsto.calls(act).map(|(_, callee)| callee));
            }
        }
        for (act, set) in found {
            if set != SetId(0) {
                self.entries.certain.insert((origin, act), set);
            }
        }
    }

    /// The same with ⋃. Least solution.
    fn possible(&mut self, origin: Origin, runs: &Bits, candidates: &Bits) {
        let pointsto = self.world.pointsto;
        let mut found: FxHashMap<Act, BTreeSet<LockId>> = FxHashMap::default();
        let mut left: BTreeSet<Act> = BTreeSet::new();
        for act in candidates.iter().map(Act::new) {
            let callers = pointsto.callers(act).iter().map(|&(caller, _)| caller);
            left.extend(callers.filter(|&c| runs.contains(c.index()) && self.acts.contains_key(&c)));
        }
        while let Some(act) = left.pop_first() {
            let mut calls: Vec<(StmtId, Act)> = pointsto.calls(act).collect();
            calls.dedup();
            for (stmt, callee) in calls {
                let own = self.table.set(self.held_at(act, stmt)).to_vec();
                let from_callers: Vec<LockId> = found.get(&act).into_iter().flatten().copied().collect();
                let mut grown = false;
                for lock in own.into_iter().chain(from_callers) {
                    if found.get(&callee).is_some_and(|known| known.len() >= MOST_POSSIBLE) {
                        break;
                    }
                    let told = self.lock_down(act, stmt, callee, lock);
                    grown |= found.entry(callee).or_default().insert(told);
                }
                if grown {
                    left.insert(callee);
                }
            }
        }
        for (act, locks) in found {
            self.entries.possible.insert((origin, act), locks.into_iter().collect());
        }
    }
}
