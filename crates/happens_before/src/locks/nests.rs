//! Locks wanted, and ends of origins waited for, while a lock is held: the edges of which deadlocks are made.
//! Finds those that may close a circle; whether they do is not asked here.

use super::calls::Entries;
use super::intra::{ActLocks, LockUse};
use super::keys::Keys;
use super::narrow::{Narrow, Params};
use super::reached;
use super::table::{LockId, LockTable, SetId};
use super::telling::Telling;
use super::walk::{Node, Route, Start, Walker};
use super::wants::{Harmful, Wants};
use crate::joins::Joins;
use crate::origins::Origins;
use crate::types::{HeldLock, Nesting, Origin, OriginKind, Wanted};
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, IdSet};
use ir::{StmtId, StmtKind, Var};
use models::Step;
use pointsto::{Act, Obj};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// More receivers than this are not told apart.
const RECEIVERS: usize = 16;
/// Nor are they if more activations than this are visited.
const SMALL: usize = 200;

pub struct Finder<'a, 'w> {
    pub world: &'a World<'w>,
    pub origins: &'a Origins,
    pub unique: &'a Unique,
    pub joins: &'a Joins,
    pub acts: &'a FxHashMap<Act, ActLocks>,
    pub entries: &'a Entries,
}

impl<'w> Finder<'_, 'w> {
    pub fn find(&self, telling: &mut Telling<'_, 'w>) -> Vec<Nesting> {
        let waiting = self.joins.waits.iter().map(|&(act, ..)| act);
        let table = &telling.table;
        let is_held = |act: Act, lock_use: &LockUse| self.is_held(table, act, lock_use);
        let wants = Wants::new(self.world, self.unique, table, self.acts, waiting, is_held);
        let mut walker = Walker::new(self.world, self.acts, telling, called_back(self.world));
        let mut holders: Vec<Act> =
            self.acts.keys().copied().filter(|&act| !self.world.is_jdk(act)).collect();
        holders.sort_unstable();
        let mut found = Vec::new();
        for act in holders {
            let origins = self.origins_by_entry(act);
            for lock in self.held_in(&walker, &wants, act) {
                let harmful = wants.harmful(self.world, walker.telling.table.lock(lock));
                for (&entry, origins) in &origins {
                    let start = Start { act, lock, entry, params: Rc::default() };
                    let held = (&wants, &*harmful);
                    self.by_receiver(&mut walker, start, held, origins, &mut found);
                }
            }
        }
        found.sort_by(|a, b| {
            let ranks = |nesting: &Nesting| -> Vec<u32> {
                nesting.origins.iter().map(|&origin| self.origins.ranks[origin]).collect()
            };
            self.world.content.nestings(a, b).then_with(|| ranks(a).cmp(&ranks(b)))
        });
        found
    }

    /// Who runs an activation, by what its callers certainly hold then.
    fn origins_by_entry(&self, act: Act) -> BTreeMap<SetId, Vec<Origin>> {
        let mut found: BTreeMap<SetId, Vec<Origin>> = BTreeMap::new();
        for &origin in &self.origins.in_order {
            let info = &self.origins.info[origin];
            if info.kind != OriginKind::Initialization && self.origins.runs[origin].contains(act.index()) {
                found.entry(self.entries.certain(origin, act)).or_default().push(origin);
            }
        }
        found
    }

    /// Is the lock held already whenever it is taken here, whoever does it?
    fn is_held(&self, table: &LockTable, act: Act, lock_use: &LockUse) -> bool {
        let wanted = table.lock(lock_use.lock);
        let is_wanted = |held: &HeldLock| held.keys.iter().any(|key| wanted.keys.contains(key));
        let own = lock_use.stmt.map_or(SetId(0), |stmt| self.acts[&act].before(stmt));
        table.locks(own).any(is_wanted)
            || self.origins_by_entry(act).keys().all(|&entry| table.locks(entry).any(is_wanted))
    }

    /// Locks under which something harmful may be wanted, from inside the activation.
    fn held_in(&self, walker: &Walker<'_, '_, '_>, wants: &Wants, act: Act) -> BTreeSet<LockId> {
        let (locks, table) = (&self.acts[&act], &walker.telling.table);
        let mut held = BTreeSet::new();
        let mut add = |stmt: StmtId, is_harmful: &dyn Fn(&Harmful) -> bool| {
            for &id in table.set(locks.before(stmt)) {
                let lock = table.lock(id);
                let asked = !self.world.is_jdk(lock.act) && !held.contains(&id);
                if asked && is_harmful(&wants.harmful(self.world, lock)) {
                    held.insert(id);
                }
            }
        };
        for (stmt, callee) in self.world.pointsto.calls(act) {
            add(stmt, &|harmful| harmful.leads_there.contains(callee.index()));
        }
        for lock_use in locks.uses() {
            if let Some(stmt) = lock_use.stmt {
                let nodes = &table.lock(lock_use.lock).nodes;
                add(stmt, &|harmful| wants.is_any(nodes, harmful));
            }
        }
        for &(_, stmt, _) in self.joins.waits.iter().filter(|(waiter, ..)| *waiter == act) {
            add(stmt, &|_| true);
        }
        held
    }

    /// One receiver after the other if there are a few, so that what belongs to one is not mixed with what
    /// belongs to another.
    fn by_receiver(
        &self,
        walker: &mut Walker<'_, '_, '_>,
        start: Start,
        held: (&Wants, &Harmful),
        origins: &[Origin],
        found: &mut Vec<Nesting>,
    ) {
        let mut all = Vec::new();
        let visited = self.nestings(walker, &start, held, origins, &mut all);
        let this = match self.world.flow(start.act) {
            Some(flow) if !self.world.is_static(start.act) => flow.body.params.first().copied(),
            _ => None,
        };
        let objects = this.map(|this| self.world.pointsto.pts(start.act, this));
        match objects {
            Some(objects)
                if !all.is_empty() && visited <= SMALL && (2..=RECEIVERS).contains(&objects.len()) =>
            {
                for obj in objects.iter() {
                    let params = Rc::new(vec![Some(IdSet::from_iter([obj]))]);
                    self.nestings(walker, &Start { params, ..start }, held, origins, found);
                }
            }
            _ => found.append(&mut all),
        }
    }

    /// Returns how many activations were visited.
    fn nestings(
        &self,
        walker: &mut Walker<'_, '_, '_>,
        start: &Start,
        (wants, harmful): (&Wants, &Harmful),
        origins: &[Origin],
        found: &mut Vec<Nesting>,
    ) -> usize {
        let lock = walker.telling.table.lock(start.lock).clone();
        let held = if lock.act == start.act {
            self.narrowed(walker.telling.keys, walker.narrow, &lock, &start.params)
        } else {
            lock
        };
        let walk = walker.walk(start, harmful);
        let mut hits: Vec<Hit> = Vec::new();
        self.hits(walker, start.act, &walk.start, Some(start.lock), (wants, harmful), &mut hits);
        let direct = hits.len();
        for (&act, node) in &walk.nodes {
            self.hits(walker, act, node, None, (wants, harmful), &mut hits);
        }
        let routes = if hits.len() > direct { walker.routes(&walk) } else { BTreeMap::new() };
        for (at, hit) in hits.into_iter().enumerate() {
            let route = if at < direct { Route::default() } else { routes[&hit.act].clone() };
            let is_reached = match &hit.wants {
                Wanted::Lock(wanted) => {
                    let paths = walker.telling.keys.paths;
                    reached::is_reached(self.world, paths, &held, wanted, &route.calls)
                }
                Wanted::End(_) => false,
            };
            found.push(Nesting {
                origins: origins.to_vec(),
                held: held.clone(),
                act: hit.act,
                stmt: hit.stmt,
                wants: hit.wants,
                locks: hit.locks,
                calls: route.calls,
                called_back: route.called_back,
                choices: route.choices,
                is_reached,
            });
        }
        walk.nodes.len()
    }

    /// What is wanted in one activation of a walk, and not held already.
    fn hits(
        &self,
        walker: &mut Walker<'_, '_, '_>,
        act: Act,
        node: &Node,
        under: Option<LockId>,
        (wants, harmful): (&Wants, &Harmful),
        hits: &mut Vec<Hit>,
    ) {
        if self.world.is_jdk(act) {
            return;
        }
        let own = self.acts.get(&act);
        let keys = walker.telling.keys;
        for lock_use in own.map_or(&[][..], ActLocks::uses).iter().filter(|lock_use| !lock_use.tries) {
            let before = match (lock_use.stmt, own) {
                (Some(stmt), Some(own)) => own.before(stmt),
                _ => SetId(0),
            };
            let table = &walker.telling.table;
            if under.is_some_and(|under| !table.set(before).contains(&under)) {
                continue;
            }
            let held = walker.telling.union(node.held, before);
            let table = &walker.telling.table;
            let wanted = table.lock(lock_use.lock);
            let is_held = |held: &HeldLock| held.keys.iter().any(|key| wanted.keys.contains(key));
            if !wants.is_any(&wanted.nodes, harmful) || table.locks(held).any(is_held) {
                continue;
            }
            let wanted = self.narrowed(keys, walker.narrow, wanted, &node.params);
            if wants.is_any(&wanted.nodes, harmful) {
                let locks = table.locks(held).cloned().collect();
                hits.push(Hit { act, stmt: lock_use.stmt, wants: Wanted::Lock(wanted), locks });
            }
        }
        for (_, stmt, ends) in self.joins.waits.iter().filter(|(waiter, ..)| *waiter == act) {
            let before = own.map_or(SetId(0), |own| own.before(*stmt));
            if under.is_none_or(|under| walker.telling.table.set(before).contains(&under)) {
                let held = walker.telling.union(node.held, before);
                let locks = walker.telling.table.locks(held).cloned().collect();
                hits.push(Hit { act, stmt: Some(*stmt), wants: Wanted::End(ends.clone()), locks });
            }
        }
    }

    /// The lock, if only these objects get to the parameters of its method.
    fn narrowed(
        &self,
        keys: &Keys<'_, '_>,
        narrow: Narrow<'_, '_>,
        lock: &HeldLock,
        params: &Params,
    ) -> HeldLock {
        let objects =
            lock_var(self.world, lock).and_then(|var| Some((var, narrow.of(lock.act, params, var)?)));
        match objects {
            Some((var, objects)) => keys.among(lock, var, &objects),
            None => lock.clone(),
        }
    }
}

struct Hit {
    act: Act,
    stmt: Option<StmtId>,
    wants: Wanted,
    locks: Vec<HeldLock>,
}

/// The variable whose object is locked.
pub fn lock_var(world: &World<'_>, lock: &HeldLock) -> Option<Var> {
    let flow = world.flow(lock.act)?;
    let Some(stmt) = lock.stmt else {
        return if world.is_static(lock.act) { None } else { flow.body.params.first().copied() };
    };
    match flow.body.stmts[stmt].kind {
        StmtKind::MonitorEnter { lock } => Some(lock),
        _ => world.sync(lock.act).iter().filter(|&&(at, _)| at == stmt).find_map(|(_, step)| match step {
            Step::Acquire { lock: operand, .. } => world.operand_var(lock.act, stmt, operand),
            _ => None,
        }),
    }
}

/// Calls that code which is not analysed is taken to make, as calls of the statement that hands the object out.
fn called_back(world: &World<'_>) -> FxHashSet<(Act, StmtId, Act)> {
    let mut found = FxHashSet::default();
    for (act, stmt, obj) in world.pointsto.called_back() {
        for &callee in world.pointsto.callees(act, stmt) {
            if !world.bindings_are_plain(act, stmt, callee) && runs_on(world, callee, obj) {
                found.insert((act, stmt, callee));
            }
        }
    }
    found
}

/// Is the activation code of this object?
fn runs_on(world: &World<'_>, act: Act, obj: Obj) -> bool {
    let method = world.program.method(world.pointsto.method(act));
    if let Some(lambda) = world.pointsto.lambda(obj) {
        return lambda.target.selector == method.selector;
    }
    let this = world.flow(act).and_then(|flow| flow.body.params.first().copied());
    !method.is_static() && this.is_some_and(|this| world.pointsto.pts(act, this).contains(obj))
}
