//! What happens while one lock is held: a walk from its holder over the calls made meanwhile, with the locks
//! certainly held and the objects that can get there on the way. Knows one holder at a time, and no origin.

use super::intra::ActLocks;
use super::narrow::{Narrow, Params, widen};
use super::table::{LockId, SetId};
use super::telling::Telling;
use super::wants::Harmful;
use crate::world::World;
use arena::Id;
use ir::StmtId;
use pointsto::Act;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// More activations than this are not visited: whoever gets that far gets everywhere.
const LARGE: usize = 400;
/// What a call that code outside may make, or not, adds to the length of a way.
const CALLED_BACK: usize = 1 << 20;
/// The same for each other one that a call may lead to.
const OTHER: usize = 2;

pub struct Walker<'a, 'k, 'w> {
    world: &'a World<'w>,
    pub narrow: Narrow<'a, 'w>,
    acts: &'a FxHashMap<Act, ActLocks>,
    pub telling: &'a mut Telling<'k, 'w>,
    /// Calls of code that is not analysed, and what it may call back.
    called_back: FxHashSet<(Act, StmtId, Act)>,
    /// What calls pass if anything may be passed to the caller.
    plain: FxHashMap<(Act, StmtId, Act), Option<Rc<Params>>>,
}

/// Where the walk begins.
pub struct Start {
    pub act: Act,
    pub lock: LockId,
    /// What callers certainly hold.
    pub entry: SetId,
    pub params: Rc<Params>,
}

/// An activation as the walk gets there.
#[derive(Debug, Clone)]
pub struct Node {
    /// Certainly held at its entry, in its own terms.
    pub held: SetId,
    pub params: Rc<Params>,
    calls: BTreeSet<(StmtId, Act)>,
}

pub struct Walk {
    pub start: Node,
    pub nodes: BTreeMap<Act, Node>,
    act: Act,
}

/// The calls of a way, outermost first.
#[derive(Debug, Clone, Default)]
pub struct Route {
    pub calls: Vec<(Act, StmtId)>,
    /// Code outside has to call back.
    pub called_back: bool,
    /// Most methods that one of the calls may lead to.
    pub choices: usize,
}

impl Node {
    /// Methods that a call may lead to, of those that matter.
    fn choices(&self, world: &World<'_>, stmt: StmtId) -> usize {
        let callees = self.calls.range((stmt, Act(0))..=(stmt, Act(u32::MAX)));
        callees.map(|&(_, callee)| world.pointsto.method(callee)).collect::<BTreeSet<_>>().len()
    }
}

impl Walk {
    fn new(start: &Start) -> Walk {
        let first = Node { held: start.entry, params: start.params.clone(), calls: BTreeSet::new() };
        Walk { start: first, nodes: BTreeMap::new(), act: start.act }
    }
}

impl<'a, 'k, 'w> Walker<'a, 'k, 'w> {
    pub fn new(
        world: &'a World<'w>,
        acts: &'a FxHashMap<Act, ActLocks>,
        telling: &'a mut Telling<'k, 'w>,
        called_back: FxHashSet<(Act, StmtId, Act)>,
    ) -> Self {
        let narrow = Narrow { world, paths: telling.keys.paths };
        Walker { world, narrow, acts, telling, called_back, plain: FxHashMap::default() }
    }

    /// held(m) = ⋂ over calls (c, s) on the walk: told in m's terms, held(c) ∪ held(c, s); objects with ⋃. Only
    /// what leads to something harmful is visited.
    pub fn walk(&mut self, start: &Start, harmful: &Harmful) -> Walk {
        let near = self.near(start, harmful);
        let mut walk = Walk::new(start);
        let components = &self.world.components;
        let in_order = |act: Act| (Reverse(components.place(act)), act);
        let mut left = BTreeSet::new();
        let mut node = walk.start.clone();
        for callee in self.calls(start.act, &mut node, Some(start.lock), &near, &mut walk.nodes) {
            left.insert(in_order(callee));
        }
        walk.start = node;
        while let Some((_, act)) = left.pop_first() {
            let Some(mut node) = walk.nodes.get(&act).cloned() else { continue };
            let changed = self.calls(act, &mut node, None, &near, &mut walk.nodes);
            // A call of itself may have changed what is known at its entry.
            if let Some(known) = walk.nodes.get_mut(&act) {
                known.calls = node.calls;
            }
            left.extend(changed.into_iter().map(in_order));
        }
        walk
    }

    /// What few enough calls lead to: all of it, or what is nearer than the rest.
    fn near(&self, start: &Start, harmful: &Harmful) -> FxHashSet<Act> {
        let world = self.world;
        let leads = |callee: Act| harmful.leads_there.contains(callee.index());
        let is_under = |stmt: StmtId| {
            let held = self.acts.get(&start.act).map_or(SetId(0), |locks| locks.before(stmt));
            self.telling.table.set(held).contains(&start.lock)
        };
        let first = world.pointsto.calls(start.act).filter(|&(stmt, callee)| leads(callee) && is_under(stmt));
        let mut last: BTreeSet<Act> = first.map(|(_, callee)| callee).collect();
        let mut near: FxHashSet<Act> = FxHashSet::default();
        while !last.is_empty() && near.len() + last.len() <= LARGE {
            near.extend(&last);
            let callees = last.iter().flat_map(|&act| world.pointsto.calls(act));
            last =
                callees.map(|(_, callee)| callee).filter(|&act| leads(act) && !near.contains(&act)).collect();
        }
        near
    }

    /// Follows the calls of a node; those under `lock` if there is one. Returns the callees that know more now.
    fn calls(
        &mut self,
        act: Act,
        node: &mut Node,
        lock: Option<LockId>,
        near: &FxHashSet<Act>,
        nodes: &mut BTreeMap<Act, Node>,
    ) -> Vec<Act> {
        let mut changed = Vec::new();
        let world = self.world;
        for &(stmt, callee) in world.calls.callees(act) {
            if !near.contains(&callee) {
                continue;
            }
            let own = self.acts.get(&act).map_or(SetId(0), |locks| locks.before(stmt));
            if lock.is_some_and(|lock| !self.telling.table.set(own).contains(&lock)) {
                continue;
            }
            let Some(params) = self.enter(act, &node.params, stmt, callee) else { continue };
            node.calls.insert((stmt, callee));
            let held = self.telling.union(node.held, own);
            let held = self.telling.set_down(act, stmt, callee, held);
            match nodes.get_mut(&callee) {
                None => {
                    nodes.insert(callee, Node { held, params, calls: BTreeSet::new() });
                    changed.push(callee);
                }
                Some(known) => {
                    let met = self.telling.meet(known.held, held);
                    let less = met != known.held;
                    known.held = met;
                    let same = Rc::ptr_eq(&known.params, &params) || known.params.is_empty();
                    if !same && widen(Rc::make_mut(&mut known.params), &params) || less {
                        changed.push(callee);
                    }
                }
            }
        }
        changed
    }

    fn enter(&mut self, act: Act, params: &Params, stmt: StmtId, callee: Act) -> Option<Rc<Params>> {
        if !params.is_empty() {
            return self.narrow.enter(act, params, stmt, callee).map(Rc::new);
        }
        let enter = || self.narrow.enter(act, params, stmt, callee).map(Rc::new);
        self.plain.entry((act, stmt, callee)).or_insert_with(enter).clone()
    }

    /// The best way from the holder to each activation of the walk.
    pub fn routes(&self, walk: &Walk) -> BTreeMap<Act, Route> {
        let mut routes: BTreeMap<Act, Route> = BTreeMap::new();
        let mut left: BTreeSet<(usize, Act, Option<Act>, StmtId)> = BTreeSet::new();
        self.lead_on(walk.act, None, &walk.start, 0, &mut left);
        while let Some((length, act, from, stmt)) = left.pop_first() {
            if routes.contains_key(&act) {
                continue;
            }
            // All ways of this length are known by now; the first by content is taken.
            let equal = left.range((length, act, None, StmtId(0))..);
            let equal = equal.take_while(|other| (other.0, other.1) == (length, act));
            let (from, stmt) = equal.fold((from, stmt), |best, &(_, _, from, stmt)| {
                let frame = |(from, stmt): (Option<Act>, StmtId)| (from.unwrap_or(walk.act), stmt);
                let is_first = self.world.content.frames(frame((from, stmt)), frame(best)).is_lt();
                if is_first { (from, stmt) } else { best }
            });
            let mut route = from.and_then(|from| routes.get(&from).cloned()).unwrap_or_default();
            route.calls.push((from.unwrap_or(walk.act), stmt));
            route.called_back = length >= CALLED_BACK;
            let node = from.and_then(|from| walk.nodes.get(&from)).unwrap_or(&walk.start);
            route.choices = route.choices.max(node.choices(self.world, stmt));
            routes.insert(act, route);
            if let Some(node) = walk.nodes.get(&act) {
                self.lead_on(act, Some(act), node, length, &mut left);
            }
        }
        routes
    }

    fn lead_on(
        &self,
        act: Act,
        from: Option<Act>,
        node: &Node,
        length: usize,
        left: &mut BTreeSet<(usize, Act, Option<Act>, StmtId)>,
    ) {
        for &(stmt, callee) in &node.calls {
            let others = node.choices(self.world, stmt) - 1;
            let back = self.called_back.contains(&(act, stmt, callee));
            let step = 1 + others * OTHER + usize::from(back) * CALLED_BACK;
            left.insert((length + step, callee, from, stmt));
        }
    }
}
