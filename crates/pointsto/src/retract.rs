//! Taking back: what loses its reason is looked at once more, lives on if another reason proves it, and goes
//! otherwise with everything that rested on it; what survivors still derive comes back afterwards.
//!
//! A proof follows chosen reasons and owners back to the roots. It must not pass anything that is in doubt: that
//! may turn out to rest on what is to be proven. Proofs are looked for with a budget; without one, more goes and
//! comes back, and the result is the same.

use crate::graph::{CallId, EdgeId, Node, UseId};
use crate::rule::{Effect, Leaf, Rule, RuleId};
use crate::solver::Solver;
use crate::state::Place;
use crate::support::{Lost, Reason, Supports};
use crate::types::{Obj, Work};
use arena::IdSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Steps of all proofs of one update.
const BUDGET: u64 = 1_000_000;

/// What can be proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Thing {
    Fact(Node, Obj),
    Edge(EdgeId),
    Use(UseId),
    Rule(RuleId),
}

/// What has lost its reason, and what is known about the rest, in one update.
#[derive(Default)]
pub(crate) struct Doubts {
    things: FxHashSet<Thing>,
    queue: VecDeque<Thing>,
    facts: FxHashMap<Node, IdSet<Obj>>,
    nodes: VecDeque<Node>,
    /// Proven: stays so, as nothing its proof rests on was in doubt.
    good: FxHashSet<Thing>,
    /// Rests on something in doubt or gone, as long as nothing has been found to live on since.
    bad: FxHashMap<Thing, u32>,
    /// How often something in doubt has been found to live on.
    cleared: u32,
    steps: u64,
    /// What went, to be derived again.
    gone_facts: FxHashMap<Node, IdSet<Obj>>,
    gone: Vec<Thing>,
    /// Calls that were replaced, nodes of variables that are gone.
    pub(crate) calls: Vec<CallId>,
    pub(crate) unused_nodes: Vec<Node>,
    /// Statements that were removed.
    pub(crate) places: Vec<Place>,
    /// Something was taken back that was never there: the state cannot be trusted.
    pub(crate) inconsistent: bool,
    pub(crate) deleted: u64,
}

impl Doubts {
    pub(crate) fn work(&self) -> Work {
        Work { taken: self.deleted, proofs: self.steps }
    }
}

impl Solver<'_> {
    /// One reason less for something.
    pub(crate) fn unsupport(&mut self, effect: Effect, reason: Reason) {
        let (lost, thing) = match effect {
            Effect::Fact(node, obj) => {
                let lost = self.state.graph.unsupport_fact(node, obj, reason);
                if lost == Lost::Chosen && self.owner(node, obj).is_none() {
                    self.doubt_facts(node, &IdSet::from_iter([obj]));
                }
                self.doubts.inconsistent |= lost == Lost::Nothing;
                debug_assert_ne!(lost, Lost::Nothing, "{effect:?} {reason:?}");
                return;
            }
            Effect::Leaf(leaf) => return self.take_leaf(leaf),
            Effect::Edge(edge) => (self.state.graph.edges[edge].supports.remove(reason), Thing::Edge(edge)),
            Effect::Use(use_) => (self.state.graph.uses[use_].supports.remove(reason), Thing::Use(use_)),
            Effect::Rule(rule) => (self.state.rules.held[rule].supports.remove(reason), Thing::Rule(rule)),
        };
        self.doubts.inconsistent |= lost == Lost::Nothing;
        debug_assert_ne!(lost, Lost::Nothing, "{effect:?} {reason:?}");
        if lost == Lost::Chosen {
            if self.is_alive(thing) {
                if self.doubts.things.insert(thing) {
                    self.doubts.queue.push_back(thing);
                }
            } else {
                // It went before, for want of a proof.
                self.doubts.gone.push(thing);
            }
        }
    }

    fn take_leaf(&mut self, leaf: Leaf) {
        match self.state.leaves.get_mut(&leaf) {
            Some(1) => {
                self.state.leaves.remove(&leaf);
                self.state.leaf_changed(leaf, false);
            }
            Some(count) => *count -= 1,
            None => {
                debug_assert!(false, "{leaf:?}");
                self.doubts.inconsistent = true;
            }
        }
    }

    /// The edge that delivered a fact first; `None` for facts that were stated.
    fn owner(&self, node: Node, obj: Obj) -> Option<EdgeId> {
        let graph = &self.state.graph;
        let into = &graph.nodes[node.0 as usize].into;
        into.iter().copied().find(|&edge| graph.edges[edge].own.contains(obj))
    }

    fn is_alive(&self, thing: Thing) -> bool {
        match thing {
            Thing::Fact(node, obj) => self.state.graph.pts(node).contains(obj),
            Thing::Edge(edge) => self.state.graph.edges[edge].alive,
            Thing::Use(use_) => self.state.graph.uses[use_].alive,
            Thing::Rule(rule) => self.state.rules.held[rule].alive,
        }
    }

    fn is_doubtful(&self, thing: Thing) -> bool {
        match thing {
            Thing::Fact(node, obj) => self.doubts.facts.get(&node).is_some_and(|facts| facts.contains(obj)),
            _ => self.doubts.things.contains(&thing),
        }
    }

    pub(crate) fn doubt_facts(&mut self, node: Node, objects: &IdSet<Obj>) {
        let held = self.state.graph.pts(node).intersection(objects);
        if held.is_empty() {
            return;
        }
        let facts = self.doubts.facts.entry(node).or_default();
        if facts.is_empty() {
            self.doubts.nodes.push_back(node);
        }
        facts.union_with(&held);
    }

    /// Settles all doubts. Nothing may be on its way through the graph.
    pub(crate) fn settle(&mut self) {
        loop {
            if let Some(thing) = self.doubts.queue.pop_front() {
                if self.is_alive(thing) {
                    self.settle_thing(thing);
                }
                self.doubts.things.remove(&thing);
            } else if let Some(node) = self.doubts.nodes.pop_front() {
                self.settle_facts(node);
            } else {
                break;
            }
        }
        self.derive_again();
    }

    fn settle_thing(&mut self, thing: Thing) {
        for at in 0..self.supports(thing).map_or(0, Supports::len) {
            let reason = self.supports(thing).and_then(|supports| supports.get(at));
            if reason.is_some_and(|reason| self.is_proven(reason)) {
                if let Some(supports) = self.supports_mut(thing) {
                    supports.choose(at);
                }
                self.doubts.cleared += 1;
                return;
            }
        }
        self.take_away(thing);
    }

    fn take_away(&mut self, thing: Thing) {
        self.doubts.gone.push(thing);
        match thing {
            Thing::Fact(..) => {}
            Thing::Edge(id) => {
                let edge = &mut self.state.graph.edges[id];
                edge.alive = false;
                let (dst, own) = (edge.dst, std::mem::take(&mut edge.own));
                self.doubt_facts(dst, &own);
            }
            Thing::Use(id) => {
                let placed = &mut self.state.graph.uses[id];
                placed.alive = false;
                let (node, what) = (placed.node, placed.what);
                if !std::mem::take(&mut placed.late) {
                    let objects = self.state.graph.visited(node);
                    for obj in objects.iter() {
                        self.begin(Reason::Fired(id, obj), false);
                        self.fire(what, obj);
                    }
                }
            }
            Thing::Rule(id) => self.unrun_rule(id),
        }
    }

    /// Facts of one node: those that another edge delivers, or a reason states, stay.
    fn settle_facts(&mut self, node: Node) {
        let Some(mut left) = self.doubts.facts.get(&node).cloned() else { return };
        for at in 0..self.state.graph.nodes[node.0 as usize].into.len() {
            let edge = self.state.graph.nodes[node.0 as usize].into[at];
            if left.is_empty() {
                break;
            }
            if !self.state.graph.edges[edge].alive {
                continue;
            }
            let (src, filter) = (self.state.graph.edges[edge].src, self.state.graph.edges[edge].filter);
            let delivered = self.state.graph.pts(src).intersection(&left);
            if delivered.is_empty() || !self.is_proven_thing(Thing::Edge(edge)) {
                continue;
            }
            for obj in delivered.iter() {
                let program = &mut *self.program;
                let passes =
                    self.state.graph.passes(filter, obj, &mut |sub, sup| program.is_subtype(sub, sup));
                if passes && self.is_proven_thing(Thing::Fact(src, obj)) {
                    left.remove(obj);
                    self.state.graph.edges[edge].own.insert(obj);
                    self.clear_fact(node, obj);
                }
            }
        }
        for obj in left.clone().iter() {
            let count = self.state.graph.stated.get(&(node, obj)).map_or(0, Supports::len);
            for at in 0..count {
                let reason = self.state.graph.stated[&(node, obj)].get(at);
                if reason.is_some_and(|reason| self.is_proven(reason)) {
                    if let Some(supports) = self.state.graph.stated.get_mut(&(node, obj)) {
                        supports.choose(at);
                    }
                    left.remove(obj);
                    self.clear_fact(node, obj);
                    break;
                }
            }
        }
        self.doubts.facts.remove(&node);
        if !left.is_empty() {
            self.take_facts_away(node, &left);
        }
    }

    fn clear_fact(&mut self, node: Node, obj: Obj) {
        if let Some(facts) = self.doubts.facts.get_mut(&node) {
            facts.remove(obj);
        }
        self.doubts.cleared += 1;
    }

    fn take_facts_away(&mut self, node: Node, gone: &IdSet<Obj>) {
        self.doubts.deleted += gone.len() as u64;
        self.state.graph.remove_facts(node, gone);
        self.doubts.gone_facts.entry(node).or_default().union_with(gone);
        for at in 0..self.state.graph.nodes[node.0 as usize].out.len() {
            let id = self.state.graph.nodes[node.0 as usize].out[at];
            let edge = &mut self.state.graph.edges[id];
            let lost = edge.own.intersection(gone);
            if !lost.is_empty() {
                edge.own.subtract(&lost);
                let dst = edge.dst;
                self.doubt_facts(dst, &lost);
            }
        }
        let uses = self.state.graph.nodes[node.0 as usize].uses.clone();
        for id in uses {
            let placed = &self.state.graph.uses[id];
            if placed.alive && !placed.late {
                let what = placed.what;
                for obj in gone.iter() {
                    self.begin(Reason::Fired(id, obj), false);
                    self.fire(what, obj);
                }
            }
        }
    }

    /// What went and has a reason among the survivors comes back.
    fn derive_again(&mut self) {
        for thing in self.doubts.gone.clone() {
            if self.is_alive(thing) || self.supports(thing).is_none_or(Supports::is_empty) {
                continue;
            }
            match thing {
                Thing::Fact(..) => {}
                Thing::Edge(edge) => self.state.graph.revive_edge(edge),
                Thing::Use(use_) => self.state.graph.revive_use(use_),
                Thing::Rule(rule) => self.state.rules.revive(rule),
            }
        }
        for (node, objects) in std::mem::take(&mut self.doubts.gone_facts) {
            for obj in objects.iter() {
                self.state.graph.restate(node, obj);
            }
            for at in 0..self.state.graph.nodes[node.0 as usize].into.len() {
                let id = self.state.graph.nodes[node.0 as usize].into[at];
                let edge = &self.state.graph.edges[id];
                if edge.alive {
                    let delivered = self.state.graph.pts(edge.src).intersection(&objects);
                    let program = &mut *self.program;
                    self.state.graph.flow(&delivered, id, &mut |sub, sup| program.is_subtype(sub, sup));
                }
            }
        }
    }

    /// Forgets what went for good.
    pub(crate) fn reclaim(&mut self) {
        for thing in std::mem::take(&mut self.doubts.gone) {
            if self.is_alive(thing) || self.supports(thing).is_none_or(|supports| !supports.is_empty()) {
                continue;
            }
            match thing {
                Thing::Fact(..) => {}
                Thing::Edge(edge) => self.state.graph.drop_edge(edge),
                Thing::Use(use_) => self.state.graph.drop_use(use_),
                Thing::Rule(rule) => self.reclaim_rule(rule),
            }
        }
        for place in std::mem::take(&mut self.doubts.places) {
            self.doubts.calls.append(&mut self.state.places[place].calls);
        }
        for call in std::mem::take(&mut self.doubts.calls) {
            self.doubts.unused_nodes.extend(self.state.calls[call].unkept.take());
            self.state.free_calls.push(call);
        }
        for node in std::mem::take(&mut self.doubts.unused_nodes) {
            self.state.graph.free_node(node);
        }
    }

    fn reclaim_rule(&mut self, rule: RuleId) {
        if let Rule::LambdaCalled(call) = self.state.rules.held[rule].what {
            let mut content = self.state.calls[call].clone();
            content.unkept = None;
            if self.state.lambda_calls.get(&content) == Some(&call) {
                self.state.lambda_calls.remove(&content);
                self.doubts.calls.push(call);
            }
        }
        let (nodes, calls) = self.state.rules.drop(rule);
        self.doubts.calls.extend(calls);
        self.doubts.unused_nodes.extend(nodes);
    }

    fn supports(&self, thing: Thing) -> Option<&Supports> {
        match thing {
            Thing::Fact(node, obj) => self.state.graph.stated.get(&(node, obj)),
            Thing::Edge(edge) => Some(&self.state.graph.edges[edge].supports),
            Thing::Use(use_) => Some(&self.state.graph.uses[use_].supports),
            Thing::Rule(rule) => Some(&self.state.rules.held[rule].supports),
        }
    }

    fn supports_mut(&mut self, thing: Thing) -> Option<&mut Supports> {
        match thing {
            Thing::Fact(node, obj) => self.state.graph.stated.get_mut(&(node, obj)),
            Thing::Edge(edge) => Some(&mut self.state.graph.edges[edge].supports),
            Thing::Use(use_) => Some(&mut self.state.graph.uses[use_].supports),
            Thing::Rule(rule) => Some(&mut self.state.rules.held[rule].supports),
        }
    }

    fn is_proven(&mut self, reason: Reason) -> bool {
        premises(reason, &self.state.graph).into_iter().flatten().all(|thing| self.is_proven_thing(thing))
    }

    /// Depth first along chosen reasons. On success everything on the way is proven; on failure everything on the
    /// path to what is in doubt rests on it.
    fn is_proven_thing(&mut self, start: Thing) -> bool {
        let mut path: Vec<(Thing, [Option<Thing>; 2])> = Vec::new();
        let mut next = Some(start);
        loop {
            if let Some(thing) = next.take() {
                if !self.doubts.good.contains(&thing) {
                    self.doubts.steps += 1;
                    let fails = self.doubts.steps > BUDGET
                        || !self.is_alive(thing)
                        || self.is_doubtful(thing)
                        || self.doubts.bad.get(&thing) == Some(&self.doubts.cleared);
                    let Some(needed) = self.needed(thing).filter(|_| !fails) else {
                        let cleared = self.doubts.cleared;
                        self.doubts.bad.extend(path.into_iter().map(|(thing, _)| (thing, cleared)));
                        return false;
                    };
                    path.push((thing, needed));
                }
            }
            let Some((thing, needed)) = path.last_mut() else { return true };
            next = needed[0].take().or_else(|| needed[1].take());
            if next.is_none() {
                self.doubts.good.insert(*thing);
                path.pop();
            }
        }
    }

    /// What the chosen reason of a thing rests on; `None` if there is none.
    fn needed(&self, thing: Thing) -> Option<[Option<Thing>; 2]> {
        let graph = &self.state.graph;
        if let Thing::Fact(node, obj) = thing
            && let Some(edge) = self.owner(node, obj)
        {
            return Some([Some(Thing::Edge(edge)), Some(Thing::Fact(graph.edges[edge].src, obj))]);
        }
        Some(premises(self.supports(thing)?.chosen()?, graph))
    }
}

fn premises(reason: Reason, graph: &crate::graph::Graph) -> [Option<Thing>; 2] {
    match reason {
        Reason::Root => [None, None],
        Reason::Rule(rule) => [Some(Thing::Rule(rule)), None],
        Reason::Fired(use_, obj) => [Some(Thing::Use(use_)), Some(Thing::Fact(graph.uses[use_].node, obj))],
    }
}
