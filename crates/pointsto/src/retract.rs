//! Taking back: what loses its reason is looked at once more, lives on if another reason proves it (`proof`), and
//! goes otherwise with everything that rested on it; what survivors still derive comes back afterwards.

use crate::graph::{CallId, EdgeId, Node, UseId};
use crate::log::without;
use crate::proof::Proofs;
use crate::rule::{Effect, Leaf, Rule, RuleId};
use crate::solver::Solver;
use crate::state::Place;
use crate::support::{Lost, Reason, Supports};
use crate::told::Work;
use crate::types::Obj;
use arena::IdSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// What can be proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    Fact(Node, Obj),
    Edge(EdgeId),
    Use(UseId),
    Rule(RuleId),
}

impl Hash for Thing {
    /// One number: proofs do little else than to look things up.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        hasher.write_u64(match *self {
            Thing::Fact(node, obj) => pair(node.0, obj.0),
            Thing::Edge(edge) => pair(u32::MAX, edge.0),
            Thing::Use(use_) => pair(u32::MAX - 1, use_.0),
            Thing::Rule(rule) => pair(u32::MAX - 2, rule.0),
        });
    }
}

/// What has lost its reason, and what is known about the rest, in one update.
#[derive(Default)]
pub(crate) struct Doubts {
    pub(crate) things: FxHashSet<Thing>,
    queue: VecDeque<Thing>,
    pub(crate) facts: FxHashMap<Node, IdSet<Obj>>,
    nodes: VecDeque<Node>,
    pub(crate) proofs: Proofs,
    /// What went, to be derived again, besides facts.
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
        Work { taken: self.deleted, proofs: self.proofs.steps }
    }
}

impl Solver<'_> {
    /// One reason less for something.
    pub(crate) fn unsupport(&mut self, effect: Effect, reason: Reason) {
        let (lost, thing) = match effect {
            Effect::Fact(node, obj) => {
                let lost = self.state.graph.unsupport_fact(node, obj, reason);
                if lost == Lost::Chosen && self.owner(node, obj).is_none() {
                    self.doubt_facts(node, self.state.graph.pts(node).intersection(&IdSet::from_iter([obj])));
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
    pub(crate) fn owner(&self, node: Node, obj: Obj) -> Option<EdgeId> {
        let graph = &self.state.graph;
        let into = &graph.flow.nodes[node].into;
        into.iter().copied().find(|&edge| graph.flow.owns(edge, obj))
    }

    pub(crate) fn is_alive(&self, thing: Thing) -> bool {
        match thing {
            Thing::Fact(node, obj) => self.state.graph.pts(node).contains(obj),
            Thing::Edge(edge) => self.state.graph.edges[edge].alive,
            Thing::Use(use_) => self.state.graph.uses[use_].alive,
            Thing::Rule(rule) => self.state.rules.held[rule].alive,
        }
    }

    pub(crate) fn is_doubtful(&self, thing: Thing) -> bool {
        match thing {
            Thing::Fact(node, obj) => self.doubts.facts.get(&node).is_some_and(|facts| facts.contains(obj)),
            _ => self.doubts.things.contains(&thing),
        }
    }

    /// Facts that have lost their owner.
    pub(crate) fn doubt_facts(&mut self, node: Node, objects: IdSet<Obj>) {
        debug_assert!(objects.is_subset(self.state.graph.pts(node)));
        if objects.is_empty() {
            return;
        }
        let facts = self.doubts.facts.entry(node).or_default();
        if facts.is_empty() {
            self.doubts.nodes.push_back(node);
            *facts = objects;
        } else {
            facts.union_with(&objects);
        }
    }

    /// Settles all doubts, unless more facts go than this: then false. Nothing may be on its way through the graph.
    pub(crate) fn settle(&mut self, most: u64) -> bool {
        self.state.graph.tell();
        while self.doubts.deleted <= most {
            if let Some(thing) = self.doubts.queue.pop_front() {
                // Somebody else's proof may have cleared it already.
                if self.doubts.things.contains(&thing) && !self.prove(thing) {
                    self.doubts.things.remove(&thing);
                    self.take_away(thing);
                }
            } else if let Some(node) = self.doubts.nodes.pop_front() {
                self.settle_facts(node);
            } else {
                self.derive_again();
                return true;
            }
        }
        false
    }

    fn take_away(&mut self, thing: Thing) {
        self.doubts.gone.push(thing);
        match thing {
            Thing::Fact(..) => {}
            Thing::Edge(id) => {
                let own = self.state.graph.flow.disown_all(id);
                self.state.graph.end_edge(id);
                let dst = self.state.graph.flow.links[id].dst;
                self.doubt_facts(dst, own);
            }
            Thing::Use(id) => {
                self.state.graph.end_use(id);
                let placed = &mut self.state.graph.uses[id];
                let (node, what) = (placed.node, placed.what);
                if !std::mem::take(&mut placed.late) {
                    let objects = self.state.graph.flow.visited(node);
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
        let Some(doubted) = self.doubts.facts.get(&node) else { return };
        let mut gone = self.state.graph.without_reason(node, doubted);
        if gone.len() < doubted.len() {
            for obj in without(doubted, &gone).iter() {
                let thing = Thing::Fact(node, obj);
                if self.is_doubtful(thing) && !self.prove(thing) {
                    gone.insert(obj);
                }
            }
        }
        self.doubts.facts.remove(&node);
        if !gone.is_empty() {
            self.take_facts_away(node, &gone);
        }
    }

    fn take_facts_away(&mut self, node: Node, gone: &IdSet<Obj>) {
        self.doubts.deleted += gone.len() as u64;
        self.state.graph.flow.remove_facts(node, gone);
        for at in 0..self.state.graph.flow.nodes[node].out.len() {
            let id = self.state.graph.flow.nodes[node].out[at];
            let lost = self.state.graph.flow.owned_of(id, gone);
            if !lost.is_empty() {
                self.state.graph.flow.disown(id, &lost);
                self.doubt_facts(self.state.graph.flow.links[id].dst, lost);
            }
        }
        for at in 0..self.state.graph.flow.nodes[node].uses.len() {
            let id = self.state.graph.flow.nodes[node].uses[at];
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
        // Nothing has come yet: what nodes held before and do not hold now went.
        let before = self.state.graph.flow.log.iter().flat_map(|log| log.before());
        let gone: Vec<(Node, IdSet<Obj>)> =
            before.map(|(node, before)| (node, without(before, self.state.graph.pts(node)))).collect();
        for (node, objects) in gone {
            self.state.graph.restate(node, &objects);
            for at in 0..self.state.graph.flow.nodes[node].into.len() {
                let id = self.state.graph.flow.nodes[node].into[at];
                if self.state.graph.edges[id].alive {
                    let src = self.state.graph.flow.links[id].src;
                    let delivered = self.state.graph.pts(src).intersection(&objects);
                    if !delivered.is_empty() {
                        self.state.graph.flow.flow(&delivered, id);
                    }
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
            self.state.free_places.push(place);
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

    pub(crate) fn supports(&self, thing: Thing) -> Option<&Supports> {
        match thing {
            Thing::Fact(node, obj) => self.state.graph.stated.get(&(node, obj)),
            Thing::Edge(edge) => Some(&self.state.graph.edges[edge].supports),
            Thing::Use(use_) => Some(&self.state.graph.uses[use_].supports),
            Thing::Rule(rule) => Some(&self.state.rules.held[rule].supports),
        }
    }
}
