//! Locks that callers hold when an activation is entered, per origin: certainly (on every way from the
//! origin's entry) and possibly (on some). Knows what is held at each call; not how that came about.

use super::intra::ActLocks;
use super::keys::Keys;
use super::table::{LockId, LockTable, SetId};
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

/// More possible locks than this at one entry are not told apart any more; the first found are kept.
const MOST_POSSIBLE: usize = 24;

#[derive(Debug, Default)]
pub struct Entries {
    /// Not empty.
    certain: FxHashMap<(Origin, Act), SetId>,
    /// Whoever runs it; a lock counts only for origins that run the activation that takes it.
    possible: FxHashMap<Act, Vec<LockId>>,
}

impl Entries {
    pub fn new<'w>(
        world: &World<'w>,
        origins: &Origins,
        keys: &Keys<'_, 'w>,
        table: &mut LockTable,
        acts: &FxHashMap<Act, ActLocks>,
        waits: impl Iterator<Item = Act>,
    ) -> Entries {
        let mut finder =
            Finder { world, keys, table, acts, down: FxHashMap::default(), entries: Entries::default() };
        for (origin, info) in origins.info.iter() {
            let roots = match info.kind {
                OriginKind::Initialization => world.pointsto.initializers(),
                OriginKind::Entry | OriginKind::Task => std::slice::from_ref(&info.entry),
            };
            finder.certain(origin, &origins.runs[origin], roots);
        }
        // Only what leads to an acquisition or a wait is asked about.
        let taking = acts.keys().copied().filter(|&act| !world.is_jdk(act) && !acts[&act].uses().is_empty());
        finder.possible(&world.callers_of(taking.chain(waits)));
        finder.entries
    }

    pub fn certain(&self, origin: Origin, act: Act) -> SetId {
        self.certain.get(&(origin, act)).copied().unwrap_or(SetId(0))
    }

    pub fn possible(&self, act: Act) -> &[LockId] {
        self.possible.get(&act).map_or(&[], Vec::as_slice)
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
    /// Activations that the roots reach over calls without any lock.
    fn bare(&self, roots: &[Act]) -> Bits {
        let mut seen = Bits::with_len(self.world.pointsto.act_count());
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

    fn lock_down(&mut self, caller: Act, stmt: StmtId, callee: Act, lock: LockId) -> LockId {
        // Only paths depend on whose terms they are told in.
        if !self.table.has_path(lock) {
            return lock;
        }
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
    /// Greatest solution. What is reached without a lock has none, which leaves few to look at; callers come
    /// first among them.
    fn certain(&mut self, origin: Origin, runs: &Bits, roots: &[Act]) {
        let (pointsto, components) = (self.world.pointsto, &self.world.components);
        let bare = self.bare(roots);
        let in_order = |act: Act| (Reverse(components.of(act)), act);
        let locked = runs.iter().filter(|&act| !bare.contains(act)).map(Act::new);
        let mut left: BTreeSet<(Reverse<u32>, Act)> = locked.map(in_order).collect();
        let mut found: FxHashMap<Act, SetId> = FxHashMap::default();
        while let Some((_, act)) = left.pop_first() {
            let mut met: Option<SetId> = None;
            for &(caller, stmt) in pointsto.callers(act) {
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

    /// The same with ⋃, over all calls. Least solution.
    fn possible(&mut self, asked: &Bits) {
        let (pointsto, components) = (self.world.pointsto, &self.world.components);
        let in_order = |act: Act| (Reverse(components.of(act)), act);
        let mut found: FxHashMap<Act, BTreeSet<LockId>> = FxHashMap::default();
        let holding = self.acts.keys().copied().filter(|act| asked.contains(act.index()));
        let mut left: BTreeSet<(Reverse<u32>, Act)> = holding.map(in_order).collect();
        while let Some((_, act)) = left.pop_first() {
            let from_callers: Vec<LockId> = found.get(&act).into_iter().flatten().copied().collect();
            for (stmt, callee) in pointsto.calls(act).filter(|(_, callee)| asked.contains(callee.index())) {
                let own = self.table.set(self.held_at(act, stmt)).to_vec();
                let mut grown = false;
                for &lock in own.iter().chain(&from_callers) {
                    if found.get(&callee).is_some_and(|known| known.len() >= MOST_POSSIBLE) {
                        break;
                    }
                    let told = self.lock_down(act, stmt, callee, lock);
                    grown |= found.entry(callee).or_default().insert(told);
                }
                if grown {
                    left.insert(in_order(callee));
                }
            }
        }
        let found = found.into_iter().map(|(act, locks)| (act, locks.into_iter().collect()));
        self.entries.possible = found.collect();
    }
}
