//! What an update has changed, for those who read the solved state. Owns the comparison with the state before;
//! works nothing out.

use crate::graph::Node;
use crate::log::without;
use crate::rule::Leaf;
use crate::state::{Home, PointsTo, Touched};
use crate::types::*;
use ir::{MethodId, StmtId};
use rustc_hash::FxHashMap;
use track::{Changes, Kind, Read};

/// What changed in one update, for the stages after this one. Sorted, and net: what went and came back is not told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointsToDelta {
    /// Everything was solved from nothing and all ids are new, or so much of it that it is told no otherwise.
    pub rebuilt: bool,
    /// Activations that run, or no longer do.
    pub acts: arena::Delta<Act>,
    /// Activations of which a variable or a value of a model expanded there holds other objects.
    pub values: Vec<Act>,
    /// Variables and heap locations that hold other objects.
    nodes: Vec<Node>,
    /// Activations that call others, or are called by others, and those with other models at some statement.
    pub callees: Vec<Act>,
    pub callers: Vec<Act>,
    pub models: Vec<Act>,
    /// Heap locations that hold other objects, with those that came and went.
    pub slots: Vec<(Slot, arena::Delta<Obj>)>,
    /// Objects that anything may point to now, or no longer.
    pub objects: arena::Delta<Obj>,
    /// Objects whose sites have other numbers.
    pub renamed: Vec<Obj>,
    pub spawns: arena::Delta<SpawnEdge>,
    /// Whether the entry points or the initialisers that run changed.
    pub entries: bool,
    /// Whether what is called back from outside changed.
    pub called_back: bool,
    /// Methods of which the statements or their order changed: their numbers are new.
    pub bodies: Vec<MethodId>,
    /// For each of them the statements that stay, with their old and new numbers.
    pub kept: Vec<Vec<(StmtId, StmtId)>>,
    /// Methods of which only the lines changed.
    pub moved: Vec<MethodId>,
    pub work: Work,
}

/// Such a part of all facts is much.
const MUCH: u64 = 20;

/// How much an update had to do, in steps that do not depend on the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Facts taken away, those that came back included.
    pub taken: u64,
    /// Steps of proofs that something still holds.
    pub proofs: u64,
}

impl PointsToDelta {
    pub fn from_nothing() -> PointsToDelta {
        PointsToDelta { rebuilt: true, ..PointsToDelta::default() }
    }

    /// Is everything as it was?
    pub fn changes_nothing(&self) -> bool {
        *self == PointsToDelta { work: self.work, ..PointsToDelta::default() }
    }

    /// Does so much change that the stages after this one may as well begin anew?
    pub fn is_much(&self, pointsto: &PointsTo) -> bool {
        self.rebuilt || self.nodes.len() as u64 * MUCH > pointsto.facts()
    }

    /// The same by what queries note.
    pub fn tell(&self, pointsto: &PointsTo, changes: &mut Changes) {
        changes.everything |= self.rebuilt;
        for &method in &self.bodies {
            changes.add(Read::of(Kind::Body, method));
        }
        for &method in self.bodies.iter().chain(&self.moved) {
            changes.add(Read::of(Kind::Lines, method));
        }
        for &act in self.acts.added.iter().chain(&self.acts.removed) {
            changes.add(Read::of(Kind::Runs, act));
            changes.add(Read::of(Kind::ActsOf, pointsto.method(act)));
        }
        let by_act =
            [(Kind::Callees, &self.callees), (Kind::Callers, &self.callers), (Kind::Models, &self.models)];
        for (kind, acts) in by_act {
            acts.iter().for_each(|&act| changes.add(Read::of(kind, act)));
        }
        for &node in &self.nodes {
            changes.add(Read::of(Kind::Node, node));
        }
        for (slot, _) in &self.slots {
            changes.add(slot.read());
        }
        for &obj in self.objects.added.iter().chain(&self.objects.removed).chain(&self.renamed) {
            changes.add(Read::of(Kind::Object, obj));
        }
        if self.entries || !self.spawns.added.is_empty() || !self.spawns.removed.is_empty() {
            changes.add(Read::all(Kind::Roots));
        }
        if self.called_back {
            changes.add(Read::all(Kind::CalledBack));
        }
    }
}

impl Slot {
    /// What is noted when it is read: slots of one object are not told apart.
    pub(crate) fn read(self) -> Read {
        match self {
            Slot::Field(obj, _) | Slot::Elements(obj) => Read::of(Kind::Slots, obj),
            Slot::Static(field) => Read::of(Kind::Static, field),
        }
    }
}

impl PointsTo {
    /// The update has changed nearly everything: whoever reads it is faster to begin anew than to follow.
    pub(crate) fn all_told(&mut self) -> PointsToDelta {
        (self.touched, self.graph.flow.log) = Default::default();
        PointsToDelta::from_nothing()
    }

    /// What the update has changed.
    pub(crate) fn told(&mut self) -> PointsToDelta {
        let touched = std::mem::take(&mut self.touched);
        let log = self.graph.flow.log.take().unwrap_or_default();
        let mut delta = PointsToDelta {
            entries: touched.entries,
            called_back: touched.called_back,
            work: touched.work,
            ..PointsToDelta::default()
        };
        // How many more point to an object than before.
        let mut more: FxHashMap<Obj, i64> = touched.locked.iter().map(|&obj| (obj, 0)).collect();
        for (node, before) in log.before() {
            let now = self.graph.pts(node);
            if now == before {
                continue;
            }
            let (added, removed) = (without(now, before), without(before, now));
            delta.nodes.push(node);
            added.iter().for_each(|obj| *more.entry(obj).or_default() += 1);
            removed.iter().for_each(|obj| *more.entry(obj).or_default() -= 1);
            match self.homes.get(node).copied().unwrap_or_default() {
                Home::Act(act) => delta.values.push(act),
                Home::Slot(slot) => {
                    let (added, removed) = (added.iter().collect(), removed.iter().collect());
                    delta.slots.push((slot, arena::Delta { added, removed }));
                }
                Home::Context => {}
            }
        }
        delta.nodes.sort_unstable();
        delta.values.sort_unstable();
        delta.values.dedup();
        delta.slots.sort_unstable_by_key(|&(slot, _)| slot);
        for (obj, more) in more {
            let is_locked = self.leaves.contains_key(&Leaf::Locks(obj));
            let was_locked = is_locked != touched.locked.contains(&obj);
            let count = i64::from(self.graph.flow.held[obj]);
            match (count - more > 0 || was_locked, count > 0 || is_locked) {
                (false, true) => delta.objects.added.push(obj),
                (true, false) => delta.objects.removed.push(obj),
                _ => {}
            }
        }
        delta.objects.added.sort_unstable();
        delta.objects.removed.sort_unstable();
        delta.renamed = sorted(touched.renamed.iter().copied());
        self.tell_calls(&touched, &mut delta);
        delta.models = sorted(touched.places.iter().map(|&place| self.places[place].act));
        // What ended and began again runs as it did.
        delta.acts.added = sorted(touched.begun.difference(&touched.ended).copied());
        delta.acts.removed = sorted(touched.ended.difference(&touched.begun).copied());
        if let Some(before) = touched.spawns_before {
            let new = self.spawns.iter().filter(|spawn| before.binary_search(spawn).is_err());
            delta.spawns.added = new.copied().collect();
            let is_gone = |spawn: &SpawnEdge| self.spawns.binary_search(spawn).is_err();
            delta.spawns.removed = before.into_iter().filter(is_gone).collect();
        }
        delta
    }

    fn tell_calls(&self, touched: &Touched, delta: &mut PointsToDelta) {
        let callees = touched.callees.iter().filter(|(act, before)| self.callees[**act] != **before);
        delta.callees = sorted(callees.map(|(&act, _)| act));
        let is_other = |act: Act, before: &Vec<(Act, StmtId)>| self.callers[act] != *before;
        let callers = touched.callers.iter().filter(|&(&act, before)| is_other(act, before));
        delta.callers = sorted(callers.map(|(&act, _)| act));
    }
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}
