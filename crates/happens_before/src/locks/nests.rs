//! Locks wanted, and ends of origins waited for, while one activation holds a lock: the edges of which deadlocks are
//! made. Finds those that may close a circle; whether they do is not asked here.

use super::held::Holding;
use super::narrow::Narrow;
use super::near::Near;
use super::passing::Restriction;
use super::routes::{Route, Routes};
use super::steps::{Step, Steps, What};
use super::table::{LockId, SetId};
use super::walk::{Node, Start, Walker};
use super::wants::{Harm, Wants};
use crate::types::{HeldLock, Origin};
use crate::world::World;
use arena::IdSet;
use ir::{StmtId, StmtKind, Var};
use models::Step as Model;
use pointsto::Act;
use std::collections::BTreeSet;

/// More receivers than this are not told apart.
const RECEIVERS: usize = 16;
/// Nor are they if more activations than this are visited.
const SMALL: usize = 200;

/// Something wanted while a lock is held, without positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nest {
    pub origins: Vec<Origin>,
    pub held: LockId,
    pub harm: Harm,
    pub act: Act,
    pub what: What,
    /// All locks certainly held then.
    pub locks: SetId,
    pub route: Route,
}

/// Looks at one holder at a time.
pub struct Finder<'a, 'k, 'w> {
    pub holding: &'a Holding<'a, 'w>,
    pub wants: &'a mut Wants,
    pub steps: &'a Steps,
    pub walker: Walker<'a, 'k, 'w>,
}

/// What walks from one holder of a lock have in common.
struct Under<'a> {
    lock: LockId,
    harm: Harm,
    near: &'a Near,
    origins: &'a [Origin],
}

struct Hit {
    act: Act,
    what: What,
    locks: SetId,
    /// Number of the activation on the walk; none for the holder.
    at: Option<usize>,
}

impl Finder<'_, '_, '_> {
    pub fn find(&mut self, act: Act) -> Vec<Nest> {
        let holding = self.holding;
        let origins = holding.origins_by_entry(act);
        let mut found = Vec::new();
        for (lock, harm) in self.held_in(act) {
            let first = self.steps_under(act, lock, harm);
            let (wants, steps) = (&*self.wants, self.steps);
            let near =
                Near::new(&holding.world.content, act, first, |act| steps.of(holding, wants, act, harm));
            for (&entry, origins) in &origins {
                let start = Start { act, entry, params: Restriction(0) };
                self.by_receiver(start, &Under { lock, harm, near: &near, origins }, &mut found);
            }
        }
        found
    }

    fn steps_under(&self, act: Act, lock: LockId, harm: Harm) -> Vec<Step> {
        let steps = self.steps.of(self.holding, self.wants, act, harm);
        let is_under = |step: &&Step| self.walker.telling.set(step.held).contains(&lock);
        steps.iter().filter(is_under).copied().collect()
    }

    /// Locks under which something harmful may be wanted, from inside the activation.
    fn held_in(&mut self, act: Act) -> BTreeSet<(LockId, Harm)> {
        let (holding, table) = (self.holding, &self.walker.telling.told.table);
        let mut found: BTreeSet<(LockId, Harm)> = BTreeSet::new();
        let Some(locks) = holding.inside.of(act) else { return found };
        let mut known: BTreeSet<LockId> = BTreeSet::new();
        let mut add = |wants: &mut Wants, set: SetId, is_harmful: &dyn Fn(&Wants, Harm) -> bool| {
            for &lock in table.set(set) {
                if !known.contains(&lock) && !holding.world.is_jdk(table.lock(lock).act) {
                    let harm = wants.harm(table.lock(lock));
                    if is_harmful(wants, harm) {
                        known.insert(lock);
                        found.insert((lock, harm));
                    }
                }
            }
        };
        for (stmt, callee) in holding.world.pointsto.calls(act) {
            let leads = |wants: &Wants, harm: Harm| wants.leads_to(holding.world, harm, callee);
            add(self.wants, locks.before(stmt), &leads);
        }
        for lock_use in locks.uses() {
            if let Some(stmt) = lock_use.stmt {
                let nodes = &table.lock(lock_use.lock).nodes;
                add(self.wants, locks.before(stmt), &|wants, harm| wants.is_any(nodes, harm));
            }
        }
        for &(stmt, _) in holding.waits(act) {
            add(self.wants, locks.before(stmt), &|_, _| true);
        }
        found
    }

    /// One receiver after the other if there are a few, so that what belongs to one is not mixed with what
    /// belongs to another.
    fn by_receiver(&mut self, start: Start, under: &Under<'_>, found: &mut Vec<Nest>) {
        let world = self.holding.world;
        let mut all = Vec::new();
        let visited = self.walk(&start, under, &mut all);
        let this = match world.flow(start.act) {
            Some(flow) if !world.is_static(start.act) => flow.body.params.first().copied(),
            _ => None,
        };
        let objects = this.filter(|_| !all.is_empty() && visited <= SMALL);
        let objects = objects.map(|this| world.pointsto.pts(start.act, this));
        match objects.filter(|objects| (2..=RECEIVERS).contains(&objects.len())) {
            Some(objects) => {
                for obj in objects.iter() {
                    let params = self.walker.passing.add(vec![Some(IdSet::from_iter([obj]))]);
                    self.walk(&Start { params, ..start }, under, found);
                }
            }
            None => found.append(&mut all),
        }
    }

    /// Returns how many activations were visited.
    fn walk(&mut self, start: &Start, under: &Under<'_>, found: &mut Vec<Nest>) -> usize {
        let lock = self.walker.telling.lock(under.lock);
        let held = if lock.act == start.act { self.narrowed(under.lock, start.params) } else { under.lock };
        let walk = self.walker.walk(start, under.near);
        let mut hits: Vec<Hit> = Vec::new();
        self.hits(start.act, &walk.start, None, under, &mut hits);
        for (at, node) in walk.nodes.iter().enumerate() {
            if let Some(node) = node {
                self.hits(under.near.acts[at], node, Some(at), under, &mut hits);
            }
        }
        let is_far = hits.iter().any(|hit| hit.at.is_some());
        let routes = is_far.then(|| Routes::new(self.holding.world, &walk));
        for Hit { act, what, locks, at } in hits {
            let route = at.zip(routes.as_ref()).map_or(Route::default(), |(at, routes)| routes.to(at));
            let (origins, harm) = (under.origins.to_vec(), under.harm);
            found.push(Nest { origins, held, harm, act, what, locks, route });
        }
        walk.visited()
    }

    /// What is wanted in one activation of a walk, and not held already.
    fn hits(&mut self, act: Act, node: &Node, at: Option<usize>, under: &Under<'_>, hits: &mut Vec<Hit>) {
        for wanted in self.steps.uses(self.holding, act).iter() {
            if at.is_none() && !self.walker.telling.set(wanted.held).contains(&under.lock) {
                continue;
            }
            let locks = self.walker.telling.union(node.held, wanted.held);
            let what = match wanted.what {
                What::End(_) => wanted.what,
                What::Lock(lock) => {
                    let telling = &self.walker.telling;
                    let known = telling.lock(lock);
                    let is_held = |held: &HeldLock| held.keys.iter().any(|key| known.keys.contains(key));
                    if !self.wants.is_any(&known.nodes, under.harm) || telling.locks(locks).any(is_held) {
                        continue;
                    }
                    let lock = self.narrowed(lock, node.params);
                    if !self.wants.is_any(&self.walker.telling.lock(lock).nodes, under.harm) {
                        continue;
                    }
                    What::Lock(lock)
                }
            };
            hits.push(Hit { act, what, locks, at });
        }
    }

    /// The lock, if only these objects get to the parameters of its method.
    fn narrowed(&mut self, lock: LockId, params: Restriction) -> LockId {
        if params == Restriction(0) {
            return lock;
        }
        let Walker { telling, passing } = &mut self.walker;
        let (params, keys) = (passing.params(params), telling.keys);
        let narrow = Narrow { world: keys.world, paths: keys.paths };
        let known = telling.lock(lock);
        let var = lock_var(narrow.world, known);
        match var.and_then(|var| Some((var, narrow.of(known.act, params, var)?))) {
            Some((var, objects)) => {
                let narrowed = telling.keys.among(known, var, &objects);
                telling.add(narrowed)
            }
            None => lock,
        }
    }
}

/// The variable whose object is locked.
pub fn lock_var(world: &World<'_>, lock: &HeldLock) -> Option<Var> {
    let flow = world.flow(lock.act)?;
    let Some(stmt) = lock.stmt else {
        return if world.is_static(lock.act) { None } else { flow.body.params.first().copied() };
    };
    match flow.body.stmts[stmt].kind {
        StmtKind::MonitorEnter { lock } => Some(lock),
        _ => operand_var(world, lock.act, stmt),
    }
}

fn operand_var(world: &World<'_>, act: Act, stmt: StmtId) -> Option<Var> {
    world.sync(act).iter().filter(|&&(at, _)| at == stmt).find_map(|(_, step)| match step {
        Model::Acquire { lock: operand, .. } => world.operand_var(act, stmt, operand),
        _ => None,
    })
}
