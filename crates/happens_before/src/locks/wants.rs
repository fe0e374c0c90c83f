//! Which locks an activation and all it calls may want, and which of them lie in a circle with a lock that is
//! held meanwhile; kept up to date. Coarse: it only says where a closer look is worth it.

use super::held::Holding;
use super::intra::LockUse;
use super::table::LockTable;
use crate::bits::Bits;
use crate::tarjan;
use crate::types::{HeldLock, LockNode};
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, Interner, define_id};
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use track::{Changes, Kind, Memo, Read, Single, Sizes, note};

/// Stands for waiting for the end of an origin, among the numbers of locks.
const WAIT: usize = 0;

define_id! {
    /// A set of locks that the holder of some lock wants to its harm.
    Harm
}
define_id! {
    /// A lock in this file.
    Number
}

pub struct Wants {
    numbers: FxHashMap<LockNode, usize>,
    /// What each activation itself wants.
    wanted: Memo<Act, Bits>,
    /// By component of the call graph.
    below: Vec<Bits>,
    /// What is wanted in each activation while a lock is held.
    edges: Memo<Act, Vec<(usize, Bits)>>,
    /// By lock: those it lies in a circle with.
    circles: Single<Vec<Bits>>,
    harms: Interner<Harm, Bits>,
}

impl Wants {
    pub fn new(follows: bool) -> Wants {
        Wants {
            numbers: FxHashMap::default(),
            wanted: Memo::new(Kind::Wanted, follows),
            below: Vec::new(),
            edges: Memo::new(Kind::LockEdges, follows),
            circles: Single::default(),
            harms: Interner::new(),
        }
    }

    /// `acts`: those whose locks or waits are others than before.
    pub fn update(
        &mut self,
        holding: &Holding<'_, '_>,
        table: &LockTable,
        acts: &BTreeSet<Act>,
        follows: bool,
        changes: &mut Changes,
    ) {
        let world = holding.world;
        let mut again: BTreeSet<Act> = self.wanted.stale(changes).into_iter().collect();
        again.extend(acts);
        let mut touched: BTreeSet<u32> = world.components.touched().iter().copied().collect();
        let (mut is_other, numbers) = (changes.everything, self.numbers.len());
        for act in again {
            let (found, reads) = self.wanted.record(|| wanted(holding, table, &mut self.numbers, act));
            if self.wanted.peek(act).unwrap_or(&Bits::new()) != &found {
                touched.extend(world.pointsto.runs(act).then(|| world.components.of(act)));
                is_other = true;
            }
            match found.is_empty() && holding.is_without_locks(act) {
                true => drop(self.wanted.remove(act)),
                false => drop(self.wanted.set(act, Some(found), reads)),
            }
        }
        self.update_below(world, touched, changes);
        let mut again: BTreeSet<Act> = self.edges.stale(changes).into_iter().collect();
        again.extend(acts);
        if self.numbers.len() > numbers {
            changes.add(Read::of(Kind::Harm, Number::new(WAIT)));
            again.extend(self.edges.iter().map(|(act, _)| act));
        }
        for act in again {
            let (found, reads) = self.edges.record(|| self.edges_in(holding, table, act));
            is_other |= self.edges.peek(act).map_or(&[][..], Vec::as_slice) != found;
            match found.is_empty() && holding.is_without_locks(act) {
                true => drop(self.edges.remove(act)),
                false => drop(self.edges.set(act, Some(found), reads)),
            }
        }
        if is_other {
            changes.add(Read::all(Kind::Circles));
        }
        let mut circles = std::mem::take(&mut self.circles);
        if let Some(before) = circles.update(follows, changes, || self.find_circles(holding.unique)) {
            let none = Bits::new();
            for number in 0..circles.value.len().max(before.len()) {
                if circles.value.get(number).unwrap_or(&none) != before.get(number).unwrap_or(&none) {
                    changes.add(Read::of(Kind::Harm, Number::new(number)));
                }
            }
        }
        self.circles = circles;
    }

    /// Callees first; what wants the same as before is not followed.
    fn update_below(&mut self, world: &World<'_>, touched: BTreeSet<u32>, changes: &mut Changes) {
        let components = &world.components;
        self.below.resize(components.bound(), Bits::new());
        let touched = touched.into_iter().filter(|&component| !components.members(component).is_empty());
        let mut left: BTreeSet<(u32, u32)> = if changes.everything {
            components.in_order().map(|component| (components.label(component), component)).collect()
        } else {
            touched.map(|component| (components.label(component), component)).collect()
        };
        while let Some((_, component)) = left.pop_first() {
            let mut below = Bits::new();
            for &act in components.members(component) {
                if let Some(wanted) = self.wanted.peek(act) {
                    below.union_with(wanted);
                }
            }
            for called in components.called(component) {
                below.union_with(&self.below[called as usize]);
            }
            if self.below[component as usize] != below {
                self.below[component as usize] = below;
                changes.add(Read::of(Kind::Wants, Act(component)));
                let callers = components.callers(world.pointsto, component);
                left.extend(callers.map(|(caller, _)| {
                    let component = components.of(caller);
                    (components.label(component), component)
                }));
            }
        }
    }

    fn below(&self, world: &World<'_>, act: Act) -> &Bits {
        let component = world.components.of(act);
        note(Read::of(Kind::Wants, Act(component)));
        &self.below[component as usize]
    }

    /// held → wanted, whoever holds and wants; what is in no circle is no deadlock.
    fn edges_in(&self, holding: &Holding<'_, '_>, table: &LockTable, act: Act) -> Vec<(usize, Bits)> {
        let mut edges: FxHashMap<usize, Bits> = FxHashMap::default();
        let Some(locks) = holding.inside.of(act) else { return Vec::new() };
        let mut add = |held: &HeldLock, wanted: &Bits| {
            for number in self.numbers_of(&held.nodes) {
                edges.entry(number).or_default().union_with(wanted);
            }
        };
        for (stmt, callee) in holding.world.pointsto.calls(act) {
            let before = locks.before(stmt);
            if !table.set(before).is_empty() {
                let below = self.below(holding.world, callee);
                table.locks(before).for_each(|held| add(held, below));
            }
        }
        for lock_use in locks.uses() {
            let Some(stmt) = lock_use.stmt else { continue };
            let wanted: Bits = self.numbers_of(&table.lock(lock_use.lock).nodes).collect();
            table.locks(locks.before(stmt)).for_each(|held| add(held, &wanted));
        }
        let mut edges: Vec<(usize, Bits)> = edges.into_iter().collect();
        edges.sort_unstable_by_key(|&(number, _)| number);
        edges
    }

    /// Of locks that somebody takes.
    fn numbers_of(&self, nodes: &[LockNode]) -> impl Iterator<Item = usize> {
        nodes.iter().filter_map(|node| self.numbers.get(node).copied())
    }

    fn find_circles(&self, unique: &Unique) -> Vec<Bits> {
        note(Read::all(Kind::Circles));
        let mut wanted = Bits::new();
        self.wanted.iter().for_each(|(_, numbers)| wanted.union_with(numbers));
        let mut edges = vec![Bits::new(); self.numbers.len() + 1];
        for (number, to) in self.edges.iter().flat_map(|(_, edges)| edges) {
            edges[*number].union_with(to);
        }
        // What nobody wants is in no circle.
        let led = |to: &Bits| {
            to.iter().filter(|&to| to != WAIT && wanted.contains(to)).map(|to| to as u32).collect()
        };
        let edges: Vec<Vec<u32>> = edges.iter().map(led).collect();
        let component = tarjan::of_nodes(&edges);
        let mut members: FxHashMap<u32, Bits> = FxHashMap::default();
        for (number, &component) in component.iter().enumerate() {
            members.entry(component).or_default().insert(number);
        }
        let mut circles: Vec<Bits> = component.iter().map(|component| members[component].clone()).collect();
        for (&node, &number) in &self.numbers {
            let alone = circles[number].iter().nth(1).is_none();
            if alone && (is_one(unique, node) || !edges[number].contains(&(number as u32))) {
                circles[number] = Bits::new();
            }
            if wanted.contains(number) {
                circles[number].insert(WAIT);
            } else {
                circles[number] = Bits::new();
            }
        }
        circles
    }

    /// What the holder of a lock may want to its harm.
    pub fn harm(&mut self, held: &HeldLock) -> Harm {
        let mut locks = Bits::new();
        for node in &held.nodes {
            // Without a number it may get one.
            let number = self.numbers.get(node).copied().unwrap_or(WAIT);
            note(Read::of(Kind::Harm, Number::new(number)));
            if number != WAIT
                && let Some(circle) = self.circles.value.get(number)
            {
                locks.union_with(circle);
            }
        }
        self.harms.intern(locks)
    }

    /// Does the activation want any of these, or call one that does?
    pub fn leads_to(&self, world: &World<'_>, harm: Harm, act: Act) -> bool {
        self.below(world, act).intersects(&self.harms[harm])
    }

    pub fn is_any(&self, nodes: &[LockNode], harm: Harm) -> bool {
        note(Read::of(Kind::Harm, Number::new(WAIT)));
        self.numbers_of(nodes).any(|number| self.harms[harm].contains(number))
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.wanted.sizes(sizes);
        self.edges.sizes(sizes);
        sizes.add("lock nodes", self.numbers.len());
        sizes.add("harms", self.harms.len());
    }
}

fn wanted(
    holding: &Holding<'_, '_>,
    table: &LockTable,
    numbers: &mut FxHashMap<LockNode, usize>,
    act: Act,
) -> Bits {
    let mut found = Bits::new();
    if !holding.waits(act).is_empty() {
        found.insert(WAIT);
    }
    for lock_use in holding.uses(act) {
        let is_wanted = !lock_use.tries && !is_held(holding, table, act, lock_use);
        for &node in &table.lock(lock_use.lock).nodes {
            let next = numbers.len() + 1;
            let number = *numbers.entry(node).or_insert(next);
            if is_wanted {
                found.insert(number);
            }
        }
    }
    found
}

/// Is the lock held already whenever it is taken here, whoever does it?
fn is_held(holding: &Holding<'_, '_>, table: &LockTable, act: Act, lock_use: &LockUse) -> bool {
    let wanted = table.lock(lock_use.lock);
    let is_wanted = |held: &HeldLock| held.keys.iter().any(|key| wanted.keys.contains(key));
    let own = lock_use.stmt.map(|stmt| holding.inside.before(act, stmt));
    own.is_some_and(|own| table.locks(own).any(is_wanted))
        || holding.origins_by_entry(act).keys().all(|&entry| table.locks(entry).any(is_wanted))
}

/// Does the node stand for one lock only?
fn is_one(unique: &Unique, node: LockNode) -> bool {
    match node {
        LockNode::Object(object) | LockNode::Part { object, .. } | LockNode::Explicit { object, .. } => {
            unique.contains(object)
        }
        LockNode::Class(_) => true,
    }
}
