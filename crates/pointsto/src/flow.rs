//! The sets of nodes and how they grow: filtered subset edges carry objects on, and uses are told what reaches their
//! node. Every fact has one owner, the edge that first delivered it, or else it was stated. Knows edges and uses only as
//! ids between nodes; why they are there, and what a use does, is the affair of `graph` and of the solver, who may go on
//! with theirs while objects flow here.

use crate::filter::{Filters, IsSubtype};
use crate::graph::{EdgeId, Node, Shuffle, UseId};
use crate::log::Log;
use crate::types::Obj;
use arena::{Chunks, IdSet, IndexVec};
use ir::ClassId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Flow {
    pub(crate) nodes: Chunks<Node, Pointer>,
    pub(crate) links: Chunks<EdgeId, Link>,
    /// What has been told and not been taken in yet.
    #[serde(skip)]
    told: Vec<New>,
    #[serde(skip)]
    node_count: usize,
    #[serde(skip)]
    worklist: VecDeque<Node>,
    /// What was added and has not had its effect yet.
    #[serde(skip)]
    late: Vec<Late>,
    /// Objects at edges with filters that nobody has asked for before.
    #[serde(skip)]
    waiting: Vec<(EdgeId, IdSet<Obj>)>,
    pub(crate) filters: Filters,
    pub(crate) facts: u64,
    /// How many nodes hold each object.
    pub(crate) held: IndexVec<Obj, u32>,
    /// What an update changes; `None` while everything is new.
    #[serde(skip)]
    pub(crate) log: Option<Log>,
    #[serde(skip)]
    pub(crate) shuffle: Option<Shuffle>,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Pointer {
    pub(crate) pts: IdSet<Obj>,
    /// Objects that arrived and were not passed on yet; a subset of `pts`.
    #[serde(skip)]
    pub(crate) fresh: IdSet<Obj>,
    pub(crate) out: Vec<EdgeId>,
    pub(crate) into: Vec<EdgeId>,
    /// Those that are alive, unless they are late.
    pub(crate) uses: Vec<UseId>,
    /// A fact was stated here at some time.
    pub(crate) is_stated: bool,
    #[serde(skip)]
    queued: bool,
}

/// An edge, as far as objects see it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Link {
    pub(crate) src: Node,
    pub(crate) dst: Node,
    /// Only objects of this class pass.
    pub(crate) filter: Option<ClassId>,
    own: Own,
    pub(crate) alive: bool,
}

/// The facts of its target that an edge delivered first; no other edge has them.
#[derive(Serialize, Deserialize)]
enum Own {
    /// All there are: nothing else delivers or states any.
    All,
    These(IdSet<Obj>),
}

/// What is new about a graph.
pub(crate) enum New {
    Edge(EdgeId, Node, Node, Option<ClassId>),
    Late(Late),
}

/// What has not had its effect yet.
#[derive(Clone, Copy)]
pub(crate) enum Late {
    Fact(Node, Obj),
    Edge(EdgeId),
    Use(UseId, Node),
}

/// Uses that are to fire for objects that have reached their node.
pub(crate) struct Reached {
    pub(crate) uses: Vec<UseId>,
    pub(crate) objects: IdSet<Obj>,
}

impl Flow {
    /// Is told how many nodes there are, of new objects by their class, and what else is new, in its order.
    pub(crate) fn tell(&mut self, nodes: usize, objects: &mut Vec<ClassId>, new: &mut Vec<New>) {
        self.node_count = nodes;
        self.told.append(new);
        for class in objects.drain(..) {
            self.filters.objects.push(class);
            self.held.push(0);
        }
    }

    /// Makes what has been told part of itself. What is late stays so.
    pub(crate) fn take_in(&mut self) {
        while self.nodes.len() < self.node_count {
            self.nodes.push(Pointer::default());
        }
        for new in std::mem::take(&mut self.told) {
            match new {
                New::Edge(id, src, dst, filter) => self.link(id, src, dst, filter),
                New::Late(late) => {
                    if let Late::Fact(node, _) = late
                        && !std::mem::replace(&mut self.nodes[node].is_stated, true)
                    {
                        self.share(node);
                    }
                    self.late.push(late);
                }
            }
        }
    }

    fn link(&mut self, id: EdgeId, src: Node, dst: Node, filter: Option<ClassId>) {
        self.share(dst);
        let target = &self.nodes[dst];
        let is_first = target.into.is_empty() && target.pts.is_empty() && !target.is_stated;
        let own = if is_first { Own::All } else { Own::These(IdSet::new()) };
        let link = Link { src, dst, filter, own, alive: false };
        if id.0 as usize == self.links.len() {
            self.links.push(link);
        } else {
            self.links[id] = link;
        }
        self.nodes[src].out.push(id);
        self.nodes[dst].into.push(id);
    }

    /// Takes an edge out that delivers nothing.
    pub(crate) fn unlink(&mut self, id: EdgeId) {
        debug_assert!(self.own_mut(id).is_empty());
        let Link { src, dst, .. } = self.links[id];
        remove(&mut self.nodes[src].out, id);
        remove(&mut self.nodes[dst].into, id);
    }

    /// The use is told nothing any more.
    pub(crate) fn end_use(&mut self, id: UseId, node: Node) {
        remove(&mut self.nodes[node].uses, id);
    }

    /// Forgets what is late for no good.
    pub(crate) fn retain_late(&mut self, is_good: impl FnMut(&Late) -> bool) {
        self.late.retain(is_good);
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        self.worklist.is_empty() && self.late.is_empty() && self.waiting.is_empty() && self.told.is_empty()
    }

    /// How much there is to do, roughly.
    pub(crate) fn pending(&self) -> usize {
        self.worklist.len() + self.late.len() + self.told.len()
    }

    /// Asks what filters have to know before what waits for them flows on.
    pub(crate) fn ask(&mut self, subtype: IsSubtype<'_>) {
        for (edge, _) in &self.waiting {
            if let Some(class) = self.links[*edge].filter {
                self.filters.mask(class, subtype);
            }
        }
    }

    /// Propagates along edges, for so many visits of nodes at most; tells which uses were reached.
    pub(crate) fn propagate(&mut self, visits: usize) -> Vec<Reached> {
        self.take_in();
        let mut reached = Vec::new();
        for (edge, objects) in std::mem::take(&mut self.waiting) {
            self.flow(&objects, edge);
        }
        let mut late = std::mem::take(&mut self.late);
        if let Some(shuffle) = &mut self.shuffle {
            shuffle.some(&mut late);
        }
        for late in late {
            match late {
                Late::Fact(node, obj) => self.state(node, obj),
                Late::Edge(id) => {
                    self.links[id].alive = true;
                    self.flow_all(id);
                }
                Late::Use(id, node) => {
                    self.nodes[node].uses.push(id);
                    let objects = self.visited(node);
                    if !objects.is_empty() {
                        reached.push(Reached { uses: vec![id], objects });
                    }
                }
            }
        }
        for _ in 0..visits {
            self.shuffle_next();
            let Some(node) = self.worklist.pop_front() else { break };
            self.visit(node, &mut reached);
        }
        reached
    }

    fn shuffle_next(&mut self) {
        let Some(shuffle) = &mut self.shuffle else { return };
        if !self.worklist.is_empty() {
            let next = shuffle.below(self.worklist.len());
            self.worklist.swap(0, next);
        }
    }

    fn visit(&mut self, node: Node, reached: &mut Vec<Reached>) {
        let pointer = &mut self.nodes[node];
        pointer.queued = false;
        let objects = std::mem::take(&mut pointer.fresh);
        let out = std::mem::take(&mut pointer.out);
        for &edge in &out {
            if self.links[edge].alive {
                self.flow(&objects, edge);
            }
        }
        let pointer = &mut self.nodes[node];
        pointer.out = out;
        if !pointer.uses.is_empty() && !objects.is_empty() {
            reached.push(Reached { uses: pointer.uses.clone(), objects });
        }
    }

    /// Something else than its only edge may have facts of a node from now on.
    fn share(&mut self, node: Node) {
        if let &[only] = self.nodes[node].into.as_slice() {
            self.own_mut(only);
        }
    }

    pub(crate) fn owns(&self, id: EdgeId, obj: Obj) -> bool {
        match &self.links[id].own {
            Own::All => self.pts(self.links[id].dst).contains(obj),
            Own::These(own) => own.contains(obj),
        }
    }

    /// Which of the objects are the edge's own.
    pub(crate) fn owned_of(&self, id: EdgeId, objects: &IdSet<Obj>) -> IdSet<Obj> {
        match &self.links[id].own {
            Own::All => self.pts(self.links[id].dst).intersection(objects),
            Own::These(own) => own.intersection(objects),
        }
    }

    /// The edge no longer delivers these. What it has all of loses them for want of anything else that delivers.
    pub(crate) fn disown(&mut self, id: EdgeId, objects: &IdSet<Obj>) {
        if let Own::These(own) = &mut self.links[id].own {
            own.subtract(objects);
        }
    }

    /// The edge delivers nothing any more; returns what it delivered first.
    pub(crate) fn disown_all(&mut self, id: EdgeId) -> IdSet<Obj> {
        match std::mem::replace(&mut self.links[id].own, Own::These(IdSet::new())) {
            Own::All => self.pts(self.links[id].dst).clone(),
            Own::These(own) => own,
        }
    }

    pub(crate) fn own_mut(&mut self, id: EdgeId) -> &mut IdSet<Obj> {
        if let Own::All = self.links[id].own {
            self.links[id].own = Own::These(self.pts(self.links[id].dst).clone());
        }
        match &mut self.links[id].own {
            Own::These(own) => own,
            Own::All => unreachable!("told one by one a line above"),
        }
    }

    /// What the node holds and has passed on: fresh objects fire a use when the node is visited.
    pub(crate) fn visited(&self, node: Node) -> IdSet<Obj> {
        let pointer = &self.nodes[node];
        let mut visited = pointer.pts.clone();
        visited.subtract(&pointer.fresh);
        visited
    }

    /// A stated fact becomes one, unless it is.
    fn state(&mut self, node: Node, obj: Obj) {
        if self.nodes[node].pts.insert(obj) {
            self.nodes[node].fresh.insert(obj);
            self.facts += 1;
            self.held[obj] += 1;
            if let Some(log) = &mut self.log {
                log.added(node, &self.nodes[node].pts, &IdSet::from_iter([obj]));
            }
            self.enqueue(node);
        }
    }

    /// Everything that the source of an edge holds.
    fn flow_all(&mut self, id: EdgeId) {
        let src = self.links[id].src;
        if !self.nodes[src].pts.is_empty() {
            let objects = std::mem::take(&mut self.nodes[src].pts);
            self.flow(&objects, id);
            self.nodes[src].pts = objects;
        }
    }

    /// o ∈ objects, o passes the filter  ⟹  o ∈ pts(dst), and the edge owns it if it was not there.
    pub(crate) fn flow(&mut self, objects: &IdSet<Obj>, id: EdgeId) {
        let edge = &mut self.links[id];
        let mask = match edge.filter.map(|class| self.filters.known(class)) {
            Some(None) => {
                self.waiting.push((id, objects.clone()));
                return;
            }
            Some(known) => known,
            None => None,
        };
        let target = &mut self.nodes[edge.dst];
        let mut new = IdSet::new();
        let added = target.pts.absorb(objects, mask, &mut new);
        if added > 0 {
            if let Own::These(own) = &mut edge.own {
                own.union_with(&new);
            }
            self.facts += added as u64;
            new.iter().for_each(|obj| self.held[obj] += 1);
            let dst = edge.dst;
            if let Some(log) = &mut self.log {
                log.added(dst, &target.pts, &new);
            }
            if target.fresh.is_empty() {
                target.fresh = new;
            } else {
                target.fresh.union_with(&new);
            }
            self.enqueue(dst);
        }
    }

    /// Does the object pass the edge's filter?
    pub(crate) fn passes(&mut self, filter: Option<ClassId>, obj: Obj, subtype: IsSubtype<'_>) -> bool {
        filter.is_none_or(|class| {
            let mask = self.filters.mask(class, subtype);
            mask[obj.0 as usize >> 6] >> (obj.0 & 63) & 1 == 1
        })
    }

    /// Takes facts away that have lost their owner.
    pub(crate) fn remove_facts(&mut self, node: Node, objects: &IdSet<Obj>) {
        let pointer = &mut self.nodes[node];
        debug_assert!(pointer.fresh.is_empty() && objects.is_subset(&pointer.pts));
        if let Some(log) = &mut self.log {
            log.removed(node, &pointer.pts);
        }
        pointer.pts.subtract(objects);
        self.facts -= objects.len() as u64;
        objects.iter().for_each(|obj| self.held[obj] -= 1);
    }

    fn enqueue(&mut self, node: Node) {
        let pointer = &mut self.nodes[node];
        if !pointer.queued {
            pointer.queued = true;
            self.worklist.push_back(node);
        }
    }

    pub(crate) fn pts(&self, node: Node) -> &IdSet<Obj> {
        &self.nodes[node].pts
    }
}

/// Order is of no account in the lists of a node.
fn remove<I: PartialEq>(list: &mut Vec<I>, item: I) {
    if let Some(at) = list.iter().rposition(|other| *other == item) {
        list.swap_remove(at);
    }
}
