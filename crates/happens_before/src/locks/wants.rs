//! Which locks an activation and all it calls may want, and which of them lie in a circle with a lock that is
//! held meanwhile. Coarse: it only says where a closer look is worth it.

use super::intra::{ActLocks, LockUse};
use super::table::LockTable;
use crate::bits::Bits;
use crate::tarjan;
use crate::types::{HeldLock, LockNode};
use crate::unique::Unique;
use crate::world::World;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Stands for waiting for the end of an origin, among the numbers of locks.
const WAIT: usize = 0;

/// What the holder of a lock may want, to its harm.
#[derive(Debug, Default)]
pub struct Harmful {
    /// Numbers of locks.
    locks: Bits,
    /// Activations that want one of them, or call one that does.
    pub leads_there: Bits,
}

#[derive(Debug, Default)]
pub struct Wants {
    numbers: FxHashMap<LockNode, usize>,
    /// By component of the call graph.
    below: Vec<Bits>,
    /// By lock: those it lies in a circle with.
    circles: Vec<Bits>,
    harmful: RefCell<FxHashMap<Bits, Rc<Harmful>>>,
}

impl Wants {
    pub fn new(
        world: &World<'_>,
        unique: &Unique,
        table: &LockTable,
        acts: &FxHashMap<Act, ActLocks>,
        waiting: impl Iterator<Item = Act>,
        is_held: impl Fn(Act, &LockUse) -> bool,
    ) -> Wants {
        let mut wants = Wants { below: vec![Bits::new(); world.components.bound()], ..Wants::default() };
        let mut users: Vec<Act> = acts.keys().copied().filter(|&act| !world.is_jdk(act)).collect();
        users.sort_unstable();
        for act in waiting {
            wants.below[world.components.of(act) as usize].insert(WAIT);
        }
        for &act in &users {
            let uses = acts[&act].uses().iter();
            for lock_use in uses.filter(|lock_use| !lock_use.tries && !is_held(act, lock_use)) {
                for &node in &table.lock(lock_use.lock).nodes {
                    let next = wants.numbers.len() + 1;
                    let number = *wants.numbers.entry(node).or_insert(next);
                    wants.below[world.components.of(act) as usize].insert(number);
                }
            }
        }
        for component in world.components.in_order() {
            let mut below = std::mem::take(&mut wants.below[component as usize]);
            for called in world.components.called(component) {
                below.union_with(&wants.below[called as usize]);
            }
            wants.below[component as usize] = below;
        }
        wants.find_circles(world, unique, table, acts, &users);
        wants
    }

    /// held → wanted, whoever holds and wants; what is in no circle is no deadlock.
    fn find_circles(
        &mut self,
        world: &World<'_>,
        unique: &Unique,
        table: &LockTable,
        acts: &FxHashMap<Act, ActLocks>,
        users: &[Act],
    ) {
        let mut edges = vec![Bits::new(); self.numbers.len() + 1];
        for &act in users {
            let mut add = |held: &HeldLock, wanted: &Bits| {
                for number in held.nodes.iter().filter_map(|node| self.numbers.get(node)) {
                    edges[*number].union_with(wanted);
                }
            };
            let locks = &acts[&act];
            for (stmt, callee) in world.pointsto.calls(act) {
                let below = &self.below[world.components.of(callee) as usize];
                table.locks(locks.before(stmt)).for_each(|held| add(held, below));
            }
            for lock_use in locks.uses() {
                let Some(stmt) = lock_use.stmt else { continue };
                let nodes = &table.lock(lock_use.lock).nodes;
                let wanted: Bits = nodes.iter().filter_map(|node| self.numbers.get(node)).copied().collect();
                table.locks(locks.before(stmt)).for_each(|held| add(held, &wanted));
            }
        }
        let edges: Vec<Vec<u32>> =
            edges.iter().map(|to| to.iter().filter(|&to| to != WAIT).map(|to| to as u32).collect()).collect();
        let component = tarjan::of_nodes(&edges);
        let mut members: FxHashMap<u32, Bits> = FxHashMap::default();
        for (number, &component) in component.iter().enumerate() {
            members.entry(component).or_default().insert(number);
        }
        self.circles = component.iter().map(|component| members[component].clone()).collect();
        for (&node, &number) in &self.numbers {
            let alone = self.circles[number].iter().nth(1).is_none();
            if alone && (is_one(unique, node) || !edges[number].contains(&(number as u32))) {
                self.circles[number] = Bits::new();
            }
            self.circles[number].insert(WAIT);
        }
    }

    pub fn harmful(&self, world: &World<'_>, held: &HeldLock) -> Rc<Harmful> {
        let mut locks = Bits::new();
        for number in held.nodes.iter().filter_map(|node| self.numbers.get(node)) {
            locks.union_with(&self.circles[*number]);
        }
        let mut known = self.harmful.borrow_mut();
        let find = || {
            let leading = (0..self.below.len()).filter(|&at| self.below[at].intersects(&locks));
            let leads_there = world.components.acts(&leading.collect());
            Rc::new(Harmful { locks: locks.clone(), leads_there })
        };
        known.entry(locks.clone()).or_insert_with(find).clone()
    }

    pub fn is_any(&self, nodes: &[LockNode], of: &Harmful) -> bool {
        nodes.iter().any(|node| self.numbers.get(node).is_some_and(|&number| of.locks.contains(number)))
    }
}

/// Does the node stand for one lock only?
pub fn is_one(unique: &Unique, node: LockNode) -> bool {
    match node {
        LockNode::Object(object) | LockNode::Part { object, .. } => unique.contains(object),
        LockNode::Class(_) => true,
    }
}
