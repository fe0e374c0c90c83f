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
use crate::told::Work;
use crate::types::Obj;
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
    /// Could not be proven when it was tried.
    bad: FxHashSet<Thing>,
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
        let into = &graph.nodes[node].into;
        into.iter().copied().find(|&edge| graph.owns(edge, obj))
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
                // Somebody else's proof may have cleared it already.
                if self.doubts.things.contains(&thing) && !self.prove(thing) {
                    self.doubts.things.remove(&thing);
                    self.take_away(thing);
                }
            } else if let Some(node) = self.doubts.nodes.pop_front() {
                self.settle_facts(node);
            } else {
                break;
            }
        }
        self.derive_again();
    }

    fn take_away(&mut self, thing: Thing) {
        self.doubts.gone.push(thing);
        match thing {
            Thing::Fact(..) => {}
            Thing::Edge(id) => {
                let own = std::mem::take(self.state.graph.own_mut(id));
                let edge = &mut self.state.graph.edges[id];
                edge.alive = false;
                let dst = edge.dst;
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

    fn settle_facts(&mut self, node: Node) {
        let Some(doubted) = self.doubts.facts.get(&node).cloned() else { return };
        let mut left = IdSet::new();
        for obj in doubted.iter() {
            let thing = Thing::Fact(node, obj);
            if self.is_doubtful(thing) && !self.prove(thing) {
                left.insert(obj);
            }
        }
        self.doubts.facts.remove(&node);
        if !left.is_empty() {
            self.take_facts_away(node, &left);
        }
    }

    fn take_facts_away(&mut self, node: Node, gone: &IdSet<Obj>) {
        self.doubts.deleted += gone.len() as u64;
        self.state.graph.remove_facts(node, gone);
        self.doubts.gone_facts.entry(node).or_default().union_with(gone);
        for at in 0..self.state.graph.nodes[node].out.len() {
            let id = self.state.graph.nodes[node].out[at];
            let lost = self.state.graph.owned_of(id, gone);
            if !lost.is_empty() {
                self.state.graph.own_mut(id).subtract(&lost);
                let dst = self.state.graph.edges[id].dst;
                self.doubt_facts(dst, &lost);
            }
        }
        let uses = self.state.graph.nodes[node].uses.clone();
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
            for at in 0..self.state.graph.nodes[node].into.len() {
                let id = self.state.graph.nodes[node].into[at];
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

    /// Depth first along chosen reasons. What is in doubt, or rests on what cannot be proven, is proven by another
    /// reason on the way, if it has one, and rests on that from then on.
    fn prove(&mut self, start: Thing) -> bool {
        let mut path: Vec<Step> = Vec::new();
        let mut on_path: FxHashSet<Thing> = FxHashSet::default();
        let mut next = Some(start);
        loop {
            if let Some(thing) = next.take()
                && !self.doubts.good.contains(&thing)
            {
                match self.first_step(thing, &on_path) {
                    Some(step) => {
                        on_path.insert(thing);
                        path.push(step);
                    }
                    None => {
                        if !self.back_up(&mut path, &mut on_path) {
                            return false;
                        }
                    }
                }
            }
            let Some(step) = path.last_mut() else { return true };
            next = step.needs[0].take().or_else(|| step.needs[1].take());
            if next.is_none() {
                let Step { thing, other, .. } = *step;
                path.pop();
                on_path.remove(&thing);
                if let Some(other) = other {
                    self.rest_on(thing, other);
                }
                self.doubts.good.insert(thing);
            }
        }
    }

    /// How to begin to prove a thing; `None` if there is no way.
    fn first_step(&mut self, thing: Thing, on_path: &FxHashSet<Thing>) -> Option<Step> {
        self.doubts.steps += 1;
        let fails = self.doubts.steps > BUDGET
            || self.doubts.bad.contains(&thing)
            || on_path.contains(&thing)
            || !self.is_alive(thing);
        if fails {
            return None;
        }
        if !self.is_doubtful(thing) {
            return self.needed(thing).map(|needs| Step { thing, needs, other: None });
        }
        self.other_reason(thing, 0).map(|(at, needs)| Step { thing, needs, other: Some(at) })
    }

    /// What was to be proven cannot be: the nearest thing on the way that has another reason tries that.
    fn back_up(&mut self, path: &mut Vec<Step>, on_path: &mut FxHashSet<Thing>) -> bool {
        while let Some(step) = path.last_mut() {
            let thing = step.thing;
            let from = step.other.map_or(0, |at| at + 1);
            if self.doubts.steps <= BUDGET
                && let Some((at, needs)) = self.other_reason(thing, from)
            {
                (step.other, step.needs) = (Some(at), needs);
                return true;
            }
            path.pop();
            on_path.remove(&thing);
            self.doubts.bad.insert(thing);
        }
        false
    }

    /// The next reason for a thing from a place in its list on: edges that deliver a fact first, then what states it.
    fn other_reason(&mut self, thing: Thing, from: usize) -> Option<(usize, [Option<Thing>; 2])> {
        let mut edges = 0;
        if let Thing::Fact(node, obj) = thing {
            edges = self.state.graph.nodes[node].into.len();
            for at in from..edges {
                let edge = self.state.graph.nodes[node].into[at];
                let (src, filter) = (self.state.graph.edges[edge].src, self.state.graph.edges[edge].filter);
                if self.state.graph.edges[edge].alive && self.state.graph.pts(src).contains(obj) {
                    let program = &mut *self.program;
                    let is_subtype = &mut |sub, sup| program.is_subtype(sub, sup);
                    if self.state.graph.passes(filter, obj, is_subtype) {
                        return Some((at, [Some(Thing::Edge(edge)), Some(Thing::Fact(src, obj))]));
                    }
                }
            }
        }
        let at = from.max(edges);
        let reason = self.supports(thing)?.get(at - edges)?;
        Some((at, premises(reason, &self.state.graph)))
    }

    /// The thing has this reason now, and is no longer in doubt.
    fn rest_on(&mut self, thing: Thing, at: usize) {
        let mut edges = 0;
        if let Thing::Fact(node, obj) = thing {
            if let Some(owner) = self.owner(node, obj) {
                self.state.graph.own_mut(owner).remove(obj);
            }
            let into = &self.state.graph.nodes[node].into;
            edges = into.len();
            if let Some(&edge) = into.get(at) {
                self.state.graph.own_mut(edge).insert(obj);
            }
            if let Some(facts) = self.doubts.facts.get_mut(&node) {
                facts.remove(obj);
            }
        }
        self.doubts.things.remove(&thing);
        if at >= edges
            && let Some(supports) = self.supports_mut(thing)
        {
            supports.choose(at - edges);
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

/// A thing on the way of a proof.
struct Step {
    thing: Thing,
    /// What is still to be proven for it.
    needs: [Option<Thing>; 2],
    /// Which of its reasons is tried, if not the chosen one.
    other: Option<usize>,
}

fn premises(reason: Reason, graph: &crate::graph::Graph) -> [Option<Thing>; 2] {
    match reason {
        Reason::Root => [None, None],
        Reason::Rule(rule) => [Some(Thing::Rule(rule)), None],
        Reason::Fired(use_, obj) => [Some(Thing::Use(use_)), Some(Thing::Fact(graph.uses[use_].node, obj))],
    }
}
