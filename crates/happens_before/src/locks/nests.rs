//! Locks wanted, and ends of origins waited for, while one activation holds a lock: the edges of which deadlocks are
//! made. Finds those that may close a circle; whether they do is not asked here.

use super::harmful::Harmful;
use super::held::Holding;
use super::narrowed::Narrowed;
use super::near::Near;
use super::passing::Restriction;
use super::routes::{Route, Routes};
use super::steps::{Step, Steps, What};
use super::table::{LockId, SetId};
use super::walk::{Walk, Walker};
use super::wants::{Harm, Wants};
use crate::types::{HeldLock, Origin};
use arena::IdSet;
use pointsto::Act;
use std::cell::OnceCell;

/// More receivers than this are not told apart.
const RECEIVERS: usize = 16;
/// Nor are they if more activations than this are visited.
const SMALL: usize = 200;

/// Something wanted while a lock is held, without positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nest {
    pub origins: Vec<Origin>,
    pub held: LockId,
    pub act: Act,
    pub what: What,
    /// All locks certainly held then.
    pub locks: SetId,
    pub route: Route,
}

/// Looks at one holder at a time.
pub struct Finder<'a, 'k, 'w> {
    pub holding: &'a Holding<'a, 'w>,
    pub harmful: &'a Harmful,
    pub wants: &'a mut Wants,
    pub steps: &'a Steps,
    pub narrowed: &'a Narrowed,
    pub walker: Walker<'a, 'k, 'w>,
}

/// What walks from one holder of a lock have in common.
struct Under {
    act: Act,
    lock: LockId,
    harm: Harm,
    near: Near,
}

/// One walk, and what is wanted on it, whatever callers of the holder hold.
struct Visit<'a> {
    under: &'a Under,
    walk: Walk,
    /// The lock of the holder.
    held: LockId,
    hits: Vec<Hit>,
    routes: OnceCell<Routes<'a>>,
}

/// Something harmful wanted in an activation of the walk.
struct Hit {
    /// Number of the activation.
    at: usize,
    what: What,
    /// The lock by which it is known whether it is held already.
    lock: Option<LockId>,
    /// What the activation itself holds then.
    held: SetId,
}

impl Finder<'_, '_, '_> {
    pub fn find(&mut self, act: Act) -> Vec<Nest> {
        let holding = self.holding;
        let mut found = Vec::new();
        let held = self.harmful.of(holding, &self.walker.telling.told.table, self.wants, act);
        if held.is_empty() {
            return found;
        }
        let origins = holding.origins_by_entry(act);
        for &(lock, harm) in held.iter() {
            let first = self.steps_under(act, lock, harm);
            let (wants, steps) = (&*self.wants, self.steps);
            let near =
                Near::new(&holding.world.content, act, first, |act| steps.of(holding, wants, act, harm));
            let under = Under { act, lock, harm, near };
            let all = self.visit(&under, Restriction(0));
            let of_all: Vec<Vec<Nest>> =
                origins.iter().map(|(&entry, origins)| self.nests(&all, entry, origins)).collect();
            let is_any = of_all.iter().any(|nests| !nests.is_empty());
            let by_receiver = if is_any { self.by_receiver(&all) } else { Vec::new() };
            for (nests, (&entry, origins)) in of_all.into_iter().zip(&origins) {
                if nests.is_empty() || by_receiver.is_empty() {
                    found.extend(nests);
                    continue;
                }
                for visit in &by_receiver {
                    found.extend(self.nests(visit, entry, origins));
                }
            }
        }
        found
    }

    fn steps_under(&self, act: Act, lock: LockId, harm: Harm) -> Vec<Step> {
        let steps = self.steps.of(self.holding, self.wants, act, harm);
        let is_under = |step: &&Step| self.walker.telling.set(step.held).contains(&lock);
        steps.iter().filter(is_under).copied().collect()
    }

    /// One receiver after the other if there are a few, so that what belongs to one is not mixed with what
    /// belongs to another.
    fn by_receiver<'a>(&mut self, all: &Visit<'a>) -> Vec<Visit<'a>> {
        let (world, act) = (self.holding.world, all.under.act);
        let this = match world.flow(act) {
            Some(flow) if !world.is_static(act) => flow.body.params.first().copied(),
            _ => None,
        };
        let objects = this.filter(|_| all.walk.visited() <= SMALL);
        let objects = objects.map(|this| world.pointsto.pts(act, this));
        let few = objects.filter(|objects| (2..=RECEIVERS).contains(&objects.len()));
        let visit = |obj| {
            let params = self.walker.passing.add(vec![Some(IdSet::from_iter([obj]))]);
            self.visit(all.under, params)
        };
        few.map_or(Vec::new(), |objects| objects.iter().map(visit).collect())
    }

    fn visit<'a>(&mut self, under: &'a Under, params: Restriction) -> Visit<'a> {
        let walk = self.walker.walk(&under.near, params);
        let is_own = self.walker.telling.lock(under.lock).act == under.act;
        let held = if is_own { self.narrowed(under.lock, params) } else { under.lock };
        let mut hits = Vec::new();
        let start = under.near.start();
        for at in std::iter::once(start).chain(0..start) {
            if let Some(params) = walk.params[at] {
                self.hits(under, at, params, &mut hits);
            }
        }
        Visit { under, walk, held, hits, routes: OnceCell::new() }
    }

    /// What is wanted in one activation of a walk.
    fn hits(&mut self, under: &Under, at: usize, params: Restriction, hits: &mut Vec<Hit>) {
        for wanted in self.steps.uses(self.holding, under.near.act(at)).iter() {
            let held = wanted.held;
            if at == under.near.start() && !self.walker.telling.set(held).contains(&under.lock) {
                continue;
            }
            match wanted.what {
                What::End(_) => hits.push(Hit { at, what: wanted.what, lock: None, held }),
                What::Lock(lock) => {
                    if !self.is_harmful(under, lock) {
                        continue;
                    }
                    let narrowed = self.narrowed(lock, params);
                    if self.is_harmful(under, narrowed) {
                        hits.push(Hit { at, what: What::Lock(narrowed), lock: Some(lock), held });
                    }
                }
            }
        }
    }

    fn is_harmful(&self, under: &Under, lock: LockId) -> bool {
        self.wants.is_any(&self.walker.telling.lock(lock).nodes, under.harm)
    }

    fn narrowed(&mut self, lock: LockId, params: Restriction) -> LockId {
        self.narrowed.of(self.walker.telling, self.walker.passing, lock, params)
    }

    /// What is wanted and not held already, if callers of the holder hold `entry`.
    fn nests(&mut self, visit: &Visit<'_>, entry: SetId, origins: &[Origin]) -> Vec<Nest> {
        let Visit { under, walk, held, hits, routes } = visit;
        if hits.is_empty() {
            return Vec::new();
        }
        let entered = self.walker.held(&under.near, walk, entry);
        let mut found = Vec::new();
        for hit in hits {
            let telling = &mut self.walker.telling;
            let Some(before) = entered[hit.at] else { continue };
            let locks = telling.union(before, hit.held);
            let is_held = |lock: LockId| {
                let known = telling.lock(lock);
                let is_known = |held: &HeldLock| held.keys.iter().any(|key| known.keys.contains(key));
                telling.locks(locks).any(is_known)
            };
            if hit.lock.is_some_and(is_held) {
                continue;
            }
            let routes = || routes.get_or_init(|| Routes::new(self.holding.world, &under.near, walk));
            let route = if hit.at == under.near.start() { Route::default() } else { routes().to(hit.at) };
            let (origins, act) = (origins.to_vec(), under.near.act(hit.at));
            found.push(Nest { origins, held: *held, act, what: hit.what, locks, route });
        }
        found
    }
}
