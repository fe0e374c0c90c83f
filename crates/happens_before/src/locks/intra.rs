//! Locks held inside one activation: a forward must-analysis over its flow, with the net effect of callees
//! that lock or unlock on behalf of their caller. Knows nothing of what callers hold.

use super::keys::Keys;
use super::room::Live;
use super::table::{LockId, SetId};
use super::telling::Telling;
use crate::branches::test;
use crate::flow::Flow;
use crate::types::{HeldLock, LockKey};
use crate::world::World;
use arena::Id;
use ir::{BlockId, StmtId, StmtKind, Var, access};
use models::Step;
use pointsto::Act;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The locks of one activation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActLocks {
    /// By statement, held before it.
    before: Vec<SetId>,
    uses: Vec<LockUse>,
    pub net: Net,
}

/// A statement (or a synchronized method) that takes a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockUse {
    pub stmt: Option<StmtId>,
    pub lock: LockId,
    /// Gives up instead of waiting.
    pub tries: bool,
}

/// What a call of the activation changes for its caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Net {
    pub acquired: Vec<LockId>,
    released: Vec<LockId>,
}

impl ActLocks {
    pub fn before(&self, stmt: StmtId) -> SetId {
        self.before.get(stmt.index()).copied().unwrap_or(SetId(0))
    }

    /// Nothing is held from this statement on.
    pub fn bound(&self) -> usize {
        self.before.len()
    }

    pub fn uses(&self) -> &[LockUse] {
        &self.uses
    }

    pub fn show(&self, live: &mut Live) {
        self.before.iter().for_each(|&set| live.add_set(set));
        let net = self.net.acquired.iter().chain(&self.net.released).copied();
        net.chain(self.uses.iter().map(|lock_use| lock_use.lock)).for_each(|lock| live.add_lock(lock));
    }
}

/// Does the activation itself take or give back any lock?
pub fn touches_locks(world: &World<'_>, act: Act) -> bool {
    let method = world.pointsto.method(act);
    let Some(body) = world.program.lowered(method) else { return false };
    world.program.method(method).access & access::SYNCHRONIZED != 0
        || world.sync(act).iter().any(|(_, step)| matches!(step, Step::Acquire { .. } | Step::Release { .. }))
        || body.stmts.iter().any(|(_, stmt)| matches!(stmt.kind, StmtKind::MonitorEnter { .. }))
}

/// The locks of an activation, given what calls of others change for it.
pub fn analyse<'n>(
    telling: &mut Telling<'_, '_>,
    act: Act,
    net: &dyn Fn(Act) -> Option<&'n Net>,
) -> ActLocks {
    match telling.keys.world.flow(act) {
        Some(flow) => Intra { keys: telling.keys, telling, net, act, flow }.run(),
        None => ActLocks::default(),
    }
}

/// What is held at a point: locks in the order of content, with how often, and locks that a branch still has to decide on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    held: Vec<(LockId, u32)>,
    tried: Vec<(Var, LockId)>,
}

struct Intra<'a, 'k, 'w, 'n> {
    keys: &'k Keys<'k, 'w>,
    telling: &'a mut Telling<'k, 'w>,
    net: &'a dyn Fn(Act) -> Option<&'n Net>,
    act: Act,
    flow: &'a Flow,
}

impl Intra<'_, '_, '_, '_> {
    fn run(&mut self) -> ActLocks {
        let flow = self.flow;
        let mut entry = State::default();
        let own = self.keys.of_method(self.act, flow).map(|lock| self.telling.add(lock));
        entry.held.extend(own.map(|lock| (lock, 1)));
        let mut at: Vec<Option<State>> = vec![None; flow.body.blocks.len()];
        let mut found = ActLocks { before: vec![SetId(0); flow.body.stmts.bound()], ..ActLocks::default() };
        found.uses.extend(own.map(|lock| LockUse { stmt: None, lock, tries: false }));
        if at.is_empty() {
            return found;
        }
        at[0] = Some(entry);
        let mut left = BTreeSet::from([BlockId(0)]);
        while let Some(block) = left.pop_first() {
            let state = at[block.index()].clone().unwrap_or_default();
            for (to, state) in self.block(block, state, None) {
                let known = &mut at[to.index()];
                let met = match known {
                    None => state,
                    Some(known) => self.meet(known, &state),
                };
                if known.as_ref() != Some(&met) {
                    *known = Some(met);
                    left.insert(to);
                }
            }
        }
        let mut exit: Option<SetId> = None;
        for (block, info) in flow.body.blocks.iter() {
            let Some(state) = at[block.index()].clone() else { continue };
            self.block(block, state, Some(&mut found));
            let Some(last) = (info.first..info.end).next_back().map(StmtId) else { continue };
            if matches!(flow.body.stmts[last].kind, StmtKind::Return { .. }) {
                let held = found.before(last);
                exit = Some(exit.map_or(held, |exit| self.telling.meet(exit, held)));
            }
        }
        found.uses.sort_by(|a, b| {
            let by_lock = || self.order(a.lock, b.lock);
            a.stmt.cmp(&b.stmt).then_with(by_lock).then(a.tries.cmp(&b.tries))
        });
        found.uses.dedup();
        found.net.released = self.without_covered(std::mem::take(&mut found.net.released));
        let held = exit.map_or(&[][..], |exit| self.telling.set(exit));
        let caller_knows = |key: &LockKey| match key {
            LockKey::Path { root, .. } => flow.body.params.contains(root),
            LockKey::Unique(_)
            | LockKey::UniqueExplicit(_)
            | LockKey::Static { .. }
            | LockKey::Class(_)
            | LockKey::Text(_) => true,
        };
        // What a synchronized method takes it gives back. Taken once more inside, either of the two is left by then.
        let given_back = own.and_then(|own| {
            let itself = held.iter().copied().find(|&lock| lock == own);
            itself.or_else(|| held.iter().copied().find(|&lock| self.are_one(lock, own)))
        });
        found.net.acquired = held
            .iter()
            .copied()
            .filter(|&lock| Some(lock) != given_back && self.telling.lock(lock).keys.iter().any(caller_knows))
            .collect();
        found
    }

    /// The states that leave a block, by successor. With `record`, also what is held at each statement.
    fn block(
        &mut self,
        block: BlockId,
        mut state: State,
        mut record: Option<&mut ActLocks>,
    ) -> Vec<(BlockId, State)> {
        let flow = self.flow;
        let info = &flow.body.blocks[block];
        let mut leaving: Vec<(BlockId, State)> = Vec::new();
        for stmt in (info.first..info.end).map(StmtId) {
            if let Some(record) = record.as_deref_mut() {
                let mut held: Vec<LockId> = state.held.iter().map(|&(lock, _)| lock).collect();
                held.extend(self.swapped(&held));
                record.before[stmt.index()] = self.telling.add_set(held);
            }
            let handlers = flow.handlers(stmt);
            let before = if handlers.is_empty() { None } else { Some(state.clone()) };
            self.stmt(stmt, &mut state, record.as_deref_mut());
            if let Some(before) = before {
                // Whether it has happened yet when it throws is not known.
                let thrown = self.meet(&before, &state);
                leaving.extend(handlers.iter().map(|&(_, handler)| (handler, thrown.clone())));
            }
        }
        let decided = self.decided(block, &state);
        for &to in &info.succs {
            let mut state = state.clone();
            if let Some((var, lock, nonzero)) = decided {
                state.tried.retain(|&(tried, _)| tried != var);
                if to == nonzero {
                    self.acquire(&mut state, lock);
                }
            }
            leaving.push((to, state));
        }
        leaving
    }

    fn stmt(&mut self, stmt: StmtId, state: &mut State, mut record: Option<&mut ActLocks>) {
        let (act, flow) = (self.act, self.flow);
        match &flow.body.stmts[stmt].kind {
            StmtKind::MonitorEnter { lock } => {
                let lock = self.keys.monitor(act, flow, stmt, *lock);
                let lock = self.telling.add(lock);
                if let Some(record) = record {
                    record.uses.push(LockUse { stmt: Some(stmt), lock, tries: false });
                }
                self.acquire(state, lock);
            }
            StmtKind::MonitorExit { lock } => {
                let lock = self.keys.monitor(act, flow, stmt, *lock);
                let lock = self.telling.add(lock);
                self.release(state, lock);
            }
            StmtKind::Call { dst, .. } => {
                self.callees(stmt, state, record.as_deref_mut());
                let sync = self.keys.world.sync(act);
                let from = sync.partition_point(|&(at, _)| at < stmt);
                for &(_, step) in sync[from..].iter().take_while(|&&(at, _)| at == stmt) {
                    match step {
                        Step::Acquire { lock, shared, try_ } => {
                            if !self.keys.world.are_locks(&self.keys.world.operand(act, stmt, lock)) {
                                continue;
                            }
                            let lock = self.keys.of_operand(act, flow, stmt, lock, *shared);
                            let lock = self.telling.add(lock);
                            if let Some(record) = record.as_deref_mut() {
                                record.uses.push(LockUse { stmt: Some(stmt), lock, tries: *try_ });
                            }
                            match dst {
                                Some(dst) if *try_ => state.tried.push((*dst, lock)),
                                None if *try_ => {}
                                _ => self.acquire(state, lock),
                            }
                        }
                        Step::Release { lock, shared } => {
                            let lock = self.keys.of_operand(act, flow, stmt, lock, *shared);
                            let lock = self.telling.add(lock);
                            let matched = self.release(state, lock);
                            if let (false, Some(record)) = (matched, record.as_deref_mut()) {
                                record.net.released.push(lock);
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Every callee has acquired it  ⟹  held; some callee may have released it  ⟹  not held.
    fn callees(&mut self, stmt: StmtId, state: &mut State, mut record: Option<&mut ActLocks>) {
        let callees = self.keys.world.calls.callees_at(self.act, stmt);
        let none = Net::default();
        let nets: Vec<(Act, &Net)> =
            callees.iter().map(|&(_, callee)| (callee, (self.net)(callee).unwrap_or(&none))).collect();
        if nets.iter().all(|(_, net)| **net == none) {
            return;
        }
        for &(callee, net) in &nets {
            for &lock in &net.released {
                let lock = self.telling.lock_up(self.act, stmt, callee, lock);
                let matched = self.release(state, lock);
                if let (false, Some(record)) = (matched, record.as_deref_mut()) {
                    record.net.released.push(lock);
                }
            }
        }
        let mut acquired: Option<SetId> = None;
        for &(callee, net) in &nets {
            let mut locks = Vec::new();
            for &lock in &net.acquired {
                let lock = self.telling.lock_up(self.act, stmt, callee, lock);
                if !self.telling.lock(lock).keys.is_empty() {
                    locks.push(lock);
                }
            }
            let locks = self.telling.add_set(locks);
            acquired = Some(acquired.map_or(locks, |known| self.telling.meet(known, locks)));
        }
        for &lock in acquired.map_or(&[][..], |set| self.telling.set(set)) {
            self.acquire(state, lock);
        }
    }

    fn acquire(&self, state: &mut State, lock: LockId) {
        match state.held.iter().position(|&(held, _)| held == lock) {
            Some(at) => state.held[at].1 += 1,
            None => {
                let at = state.held.partition_point(|&(held, _)| self.order(held, lock).is_lt());
                state.held.insert(at, (lock, 1));
            }
        }
    }

    fn order(&self, a: LockId, b: LockId) -> Ordering {
        self.telling.told.table.order(&self.keys.world.content, a, b)
    }

    /// Removes the lock, or everything it may be if it is not known to be held. True if it was known.
    fn release(&self, state: &mut State, lock: LockId) -> bool {
        let released = self.telling.lock(lock);
        if let Some(at) = state.held.iter().position(|&(held, _)| self.are_one(held, lock)) {
            state.held[at].1 -= 1;
            if state.held[at].1 == 0 {
                state.held.remove(at);
            }
            return true;
        }
        let may_be = |held: LockId| {
            let held = self.telling.lock(held);
            held.kind == released.kind && held.objects.iter().any(|obj| released.objects.contains(obj))
        };
        state.held.retain(|&(held, _)| !may_be(held));
        state.tried.retain(|&(_, held)| !may_be(held));
        false
    }

    /// Of what may be released, one for all that say the same: where it was taken makes no difference, and what may be any
    /// of some objects covers each of them, whatever it is called. In a cycle of calls the names would grow without it.
    fn without_covered(&self, mut released: Vec<LockId>) -> Vec<LockId> {
        released.sort_by(|&a, &b| self.order(a, b));
        released.dedup();
        let covers = |one: &HeldLock, other: &HeldLock| {
            one.kind == other.kind
                && match one.keys.is_empty() {
                    true => other.objects.iter().all(|obj| one.objects.contains(obj)),
                    false => {
                        (one.shared, &one.keys, &one.objects) == (other.shared, &other.keys, &other.objects)
                    }
                }
        };
        let mut kept: Vec<LockId> = Vec::with_capacity(released.len());
        // Those without a name first.
        released.sort_by_key(|&lock| !self.telling.lock(lock).keys.is_empty());
        for lock in released {
            let is_covered =
                kept.iter().any(|&known| covers(self.telling.lock(known), self.telling.lock(lock)));
            if !is_covered {
                kept.push(lock);
            }
        }
        kept
    }

    fn are_one(&self, a: LockId, b: LockId) -> bool {
        let (a, b) = (self.telling.lock(a), self.telling.lock(b));
        a.shared == b.shared && a.keys.iter().any(|key| b.keys.contains(key))
    }

    /// Locks of two values that two locks are held for, whichever is which.
    fn swapped(&mut self, held: &[LockId]) -> Vec<LockId> {
        let mut found = Vec::new();
        for (n, &one) in held.iter().enumerate() {
            for &other in &held[n + 1..] {
                let (first, second) = (self.telling.lock(one), self.telling.lock(other));
                found.extend(self.keys.swapped(self.act, self.flow, first, second).into_iter().flatten());
            }
        }
        found.into_iter().map(|lock| self.telling.add(lock)).collect()
    }

    fn meet(&mut self, a: &State, b: &State) -> State {
        if a == b {
            return a.clone();
        }
        let mut held: Vec<(LockId, u32)> = Vec::new();
        for &(lock, count) in &a.held {
            if let Some(&(_, other)) = b.held.iter().find(|&&(other, _)| other == lock) {
                held.push((lock, count.min(other)));
            } else if let Some(met) = b.held.iter().find_map(|&(other, other_count)| {
                Some((self.telling.meet_locks(lock, other)?, count.min(other_count)))
            }) {
                held.push(met);
            }
        }
        held.sort_by(|a, b| self.order(a.0, b.0).then(a.1.cmp(&b.1)));
        held.dedup_by_key(|held| held.0);
        let tried = a.tried.iter().copied().filter(|tried| b.tried.contains(tried)).collect();
        State { held, tried }
    }

    /// A branch on the result of a try: which, and the successor on which the lock is held.
    fn decided(&self, block: BlockId, state: &State) -> Option<(Var, LockId, BlockId)> {
        let test = test(self.flow, block)?;
        let &(var, lock) = state.tried.iter().find(|&&(var, _)| var == test.value)?;
        Some((var, lock, test.nonzero))
    }
}
