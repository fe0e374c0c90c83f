//! The constraint graph and its propagation: nodes with points-to sets, filtered subset edges, and uses that
//! fire once per object reaching their node. Every fact has one owner, the edge that first delivered it, or
//! else the reason it was stated for; every edge and use keeps its reasons. Knows objects only as ids; what a
//! use does is the solver's affair, and how things are taken back that of `retract`.

use crate::log::Log;
use crate::support::{Lost, Reason, Supports};
use crate::types::Obj;
use arena::{Chunks, IdSet, IndexVec, define_id};
use ir::{ClassId, FieldId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

define_id! {
    /// A pointer: a variable of an activation, a heap slot, or a temporary of a model.
    Node
}
define_id! {
    /// A call as the solver sees it: statement, arguments, target.
    CallId
}
define_id! {
    /// An edge between nodes. Ids of edges that are gone are used again.
    EdgeId
}
define_id! {
    /// A use on a node. Ids of uses that are gone are used again.
    UseId
}

/// What happens when an object reaches a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Use {
    /// `dst = node.field`
    Load {
        field: FieldId,
        dst: Node,
    },
    /// `node.field = src`
    Store {
        field: FieldId,
        src: Node,
    },
    LoadElem {
        dst: Node,
    },
    StoreElem {
        src: Node,
    },
    /// The node is the receiver of the call.
    Receive(CallId),
    /// The node holds Class objects; instances go to `dst`.
    Instantiate {
        call: CallId,
        dst: Node,
        step: u16,
    },
    ClassOf {
        dst: Node,
    },
    Copy {
        call: CallId,
        dst: Node,
        step: u16,
    },
    /// The node holds class literals whose registered providers go to `dst`.
    Services {
        call: CallId,
        dst: Node,
        step: u16,
    },
    /// The node holds field handles.
    HandleLoad {
        base: Node,
        dst: Node,
    },
    HandleStore {
        base: Node,
        src: Node,
    },
    UnsafeLoad {
        dst: Node,
    },
    UnsafeStore {
        src: Node,
    },
    /// The node is passed to code that is not analysed, declared there as `class`.
    Escape {
        call: CallId,
        class: ClassId,
    },
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) src: Node,
    pub(crate) dst: Node,
    /// Only objects of this class pass.
    pub(crate) filter: Option<ClassId>,
    own: Own,
    pub(crate) supports: Supports,
    pub(crate) alive: bool,
}

/// The facts of its target that an edge delivered first; no other edge has them.
#[derive(Serialize, Deserialize)]
enum Own {
    /// All there are: nothing else delivers or states any.
    All,
    These(IdSet<Obj>),
}

/// A use and the node it sits on.
#[derive(Serialize, Deserialize)]
pub(crate) struct Placed {
    pub(crate) node: Node,
    pub(crate) what: Use,
    pub(crate) supports: Supports,
    pub(crate) alive: bool,
    /// Not fired yet for what the node held when it was added.
    pub(crate) late: bool,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Pointer {
    pub(crate) pts: IdSet<Obj>,
    /// Objects that arrived and were not passed on yet; a subset of `pts`.
    #[serde(skip)]
    pub(crate) fresh: IdSet<Obj>,
    pub(crate) out: Vec<EdgeId>,
    pub(crate) into: Vec<EdgeId>,
    pub(crate) uses: Vec<UseId>,
    /// A fact was stated here at some time.
    is_stated: bool,
    #[serde(skip)]
    queued: bool,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Graph {
    pub(crate) nodes: Chunks<Node, Pointer>,
    pub(crate) edges: Chunks<EdgeId, Edge>,
    pub(crate) uses: Chunks<UseId, Placed>,
    #[serde(skip)]
    pub(crate) edge_ids: FxHashMap<(Node, Node, Option<ClassId>), EdgeId>,
    #[serde(skip)]
    pub(crate) use_ids: FxHashMap<(Node, Use), UseId>,
    /// Why facts hold that were stated rather than delivered.
    pub(crate) stated: FxHashMap<(Node, Obj), Supports>,
    pub(crate) free_edges: Vec<EdgeId>,
    pub(crate) free_uses: Vec<UseId>,
    free_nodes: Vec<Node>,
    #[serde(skip)]
    pub(crate) worklist: VecDeque<Node>,
    #[serde(skip)]
    pub(crate) late: Vec<Late>,
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

/// Puts work into an arbitrary order, for tests that show that the order does not matter.
pub(crate) struct Shuffle(u64);

impl Shuffle {
    pub(crate) fn new(seed: u64) -> Shuffle {
        Shuffle(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, count: usize) -> usize {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count as u64) as usize
    }
}

/// What was added and has not had its effect yet.
pub(crate) enum Late {
    Fact(Node, Obj),
    Edge(EdgeId),
    Use(UseId),
}

/// Is the first class the second, or below it?
pub(crate) type IsSubtype<'a> = &'a mut dyn FnMut(ClassId, ClassId) -> bool;

impl Graph {
    pub(crate) fn add_node(&mut self) -> Node {
        match self.free_nodes.pop() {
            Some(node) => node,
            None => self.add_nodes(1),
        }
    }

    /// `count` consecutive nodes; returns the first.
    pub(crate) fn add_nodes(&mut self, count: usize) -> Node {
        let first = Node(self.nodes.len() as u32);
        for _ in 0..count {
            self.nodes.push(Pointer::default());
        }
        first
    }

    /// The node will not be mentioned again until it is handed out anew.
    pub(crate) fn free_node(&mut self, node: Node) {
        let pointer = &self.nodes[node];
        debug_assert!(pointer.pts.is_empty() && pointer.uses.is_empty(), "{node:?} is in use");
        debug_assert!(pointer.out.is_empty() && pointer.into.is_empty(), "{node:?} is connected");
        self.nodes[node].is_stated = false;
        self.free_nodes.push(node);
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.edge_ids.len()
    }

    pub(crate) fn pts(&self, node: Node) -> &IdSet<Obj> {
        &self.nodes[node].pts
    }

    /// Tells the filters of a new object; ids must come in order.
    pub(crate) fn add_object(&mut self, obj: Obj, class: ClassId) {
        self.filters.objects.push(class);
        self.held.push(0);
        debug_assert_eq!(self.filters.objects.len(), obj.0 as usize + 1);
    }

    pub(crate) fn support_fact(&mut self, node: Node, obj: Obj, reason: Reason) {
        self.stated.entry((node, obj)).or_default().add(reason);
        if !std::mem::replace(&mut self.nodes[node].is_stated, true) {
            self.share(node);
        }
        if !self.pts(node).contains(obj) {
            self.late.push(Late::Fact(node, obj));
        }
    }

    /// Chosen means: chosen among those for which the fact was stated. Whether it owns the fact is another matter.
    pub(crate) fn unsupport_fact(&mut self, node: Node, obj: Obj, reason: Reason) -> Lost {
        let Some(supports) = self.stated.get_mut(&(node, obj)) else { return Lost::Nothing };
        let lost = supports.remove(reason);
        if supports.is_empty() {
            self.stated.remove(&(node, obj));
        }
        lost
    }

    /// The edge, whether anything speaks for it or not.
    pub(crate) fn edge(&mut self, src: Node, dst: Node, filter: Option<ClassId>) -> EdgeId {
        if let Some(&edge) = self.edge_ids.get(&(src, dst, filter)) {
            return edge;
        }
        let supports = Supports::default();
        self.share(dst);
        let target = &self.nodes[dst];
        let is_first = target.into.is_empty() && target.pts.is_empty() && !target.is_stated;
        let own = if is_first { Own::All } else { Own::These(IdSet::new()) };
        let edge = Edge { src, dst, filter, own, supports, alive: false };
        let id = match self.free_edges.pop() {
            Some(id) => {
                self.edges[id] = edge;
                id
            }
            None => self.edges.push(edge),
        };
        self.edge_ids.insert((src, dst, filter), id);
        self.nodes[src].out.push(id);
        self.nodes[dst].into.push(id);
        id
    }

    /// Something else than its only edge may have facts of a node from now on.
    fn share(&mut self, node: Node) {
        if let &[only] = self.nodes[node].into.as_slice() {
            self.own_mut(only);
        }
    }

    pub(crate) fn owns(&self, id: EdgeId, obj: Obj) -> bool {
        match &self.edges[id].own {
            Own::All => self.pts(self.edges[id].dst).contains(obj),
            Own::These(own) => own.contains(obj),
        }
    }

    /// Which of the objects are the edge's own.
    pub(crate) fn owned_of(&self, id: EdgeId, objects: &IdSet<Obj>) -> IdSet<Obj> {
        match &self.edges[id].own {
            Own::All => self.pts(self.edges[id].dst).intersection(objects),
            Own::These(own) => own.intersection(objects),
        }
    }

    /// The edge no longer delivers these. What it has all of loses them for want of anything else that delivers.
    pub(crate) fn disown(&mut self, id: EdgeId, objects: &IdSet<Obj>) {
        if let Own::These(own) = &mut self.edges[id].own {
            own.subtract(objects);
        }
    }

    /// The edge delivers nothing any more; returns what it delivered first.
    pub(crate) fn disown_all(&mut self, id: EdgeId) -> IdSet<Obj> {
        match std::mem::replace(&mut self.edges[id].own, Own::These(IdSet::new())) {
            Own::All => self.pts(self.edges[id].dst).clone(),
            Own::These(own) => own,
        }
    }

    pub(crate) fn own_mut(&mut self, id: EdgeId) -> &mut IdSet<Obj> {
        if let Own::All = self.edges[id].own {
            self.edges[id].own = Own::These(self.pts(self.edges[id].dst).clone());
        }
        match &mut self.edges[id].own {
            Own::These(own) => own,
            Own::All => unreachable!("told one by one a line above"),
        }
    }

    pub(crate) fn support_edge(&mut self, id: EdgeId, reason: Reason) {
        let edge = &mut self.edges[id];
        edge.supports.add(reason);
        if !edge.alive {
            edge.alive = true;
            self.late.push(Late::Edge(id));
        }
    }

    /// The use, whether anything speaks for it or not.
    pub(crate) fn place_use(&mut self, node: Node, what: Use) -> UseId {
        if let Some(&use_) = self.use_ids.get(&(node, what)) {
            return use_;
        }
        let placed = Placed { node, what, supports: Supports::default(), alive: false, late: false };
        let id = match self.free_uses.pop() {
            Some(id) => {
                self.uses[id] = placed;
                id
            }
            None => self.uses.push(placed),
        };
        self.use_ids.insert((node, what), id);
        self.nodes[node].uses.push(id);
        id
    }

    pub(crate) fn find_use(&self, node: Node, what: Use) -> Option<UseId> {
        self.use_ids.get(&(node, what)).copied()
    }

    pub(crate) fn support_use(&mut self, id: UseId, reason: Reason) {
        let placed = &mut self.uses[id];
        placed.supports.add(reason);
        if !placed.alive {
            self.revive_use(id);
        }
    }

    pub(crate) fn revive_use(&mut self, id: UseId) {
        let placed = &mut self.uses[id];
        placed.alive = true;
        placed.late = true;
        self.late.push(Late::Use(id));
    }

    pub(crate) fn revive_edge(&mut self, id: EdgeId) {
        self.edges[id].alive = true;
        self.late.push(Late::Edge(id));
    }

    /// Forgets an edge that nothing speaks for.
    pub(crate) fn drop_edge(&mut self, id: EdgeId) {
        let Edge { src, dst, filter, .. } = self.edges[id];
        debug_assert!(self.edges[id].supports.is_empty() && self.own_mut(id).is_empty());
        if self.edge_ids.remove(&(src, dst, filter)).is_some() {
            remove(&mut self.nodes[src].out, id);
            remove(&mut self.nodes[dst].into, id);
            self.free_edges.push(id);
        }
    }

    /// Forgets a use that nothing speaks for.
    pub(crate) fn drop_use(&mut self, id: UseId) {
        let Placed { node, what, .. } = self.uses[id];
        debug_assert!(self.uses[id].supports.is_empty());
        if self.use_ids.remove(&(node, what)).is_some() {
            remove(&mut self.nodes[node].uses, id);
            self.free_uses.push(id);
        }
    }

    /// Propagates along edges until some use has to fire; `None` at the fixpoint.
    pub(crate) fn next_uses(&mut self, subtype: IsSubtype<'_>) -> Option<(Vec<UseId>, IdSet<Obj>)> {
        loop {
            self.shuffle_next();
            match self.late.pop() {
                Some(Late::Fact(node, obj)) => self.state(node, obj),
                Some(Late::Edge(id)) => {
                    if self.edges[id].alive {
                        self.flow_all(id, subtype);
                    }
                }
                Some(Late::Use(id)) => {
                    let placed = &mut self.uses[id];
                    if placed.alive && std::mem::take(&mut placed.late) {
                        let visited = self.visited(self.uses[id].node);
                        if !visited.is_empty() {
                            return Some((vec![id], visited));
                        }
                    }
                }
                None => {
                    let node = self.worklist.pop_front()?;
                    let pointer = &mut self.nodes[node];
                    pointer.queued = false;
                    let fresh = std::mem::take(&mut pointer.fresh);
                    let out = std::mem::take(&mut pointer.out);
                    for &edge in &out {
                        if self.edges[edge].alive {
                            self.flow(&fresh, edge, subtype);
                        }
                    }
                    let pointer = &mut self.nodes[node];
                    pointer.out = out;
                    let is_on = |&id: &UseId| self.uses[id].alive;
                    let uses: Vec<UseId> = pointer.uses.iter().copied().filter(is_on).collect();
                    if !uses.is_empty() && !fresh.is_empty() {
                        return Some((uses, fresh));
                    }
                }
            }
        }
    }

    /// Some of the items, put in another order, if that is asked for.
    pub(crate) fn shuffled<T>(&mut self, items: &mut [T]) {
        let Some(shuffle) = &mut self.shuffle else { return };
        for at in (1..items.len()).rev().take(64) {
            items.swap(at, shuffle.below(at + 1));
        }
    }

    fn shuffle_next(&mut self) {
        let Some(shuffle) = &mut self.shuffle else { return };
        if let Some(last) = self.late.len().checked_sub(1) {
            self.late.swap(last, shuffle.below(last + 1));
        }
        if !self.worklist.is_empty() {
            let next = shuffle.below(self.worklist.len());
            self.worklist.swap(0, next);
        }
    }

    /// What the node holds and has passed on: fresh objects fire a use when the node is visited.
    pub(crate) fn visited(&self, node: Node) -> IdSet<Obj> {
        let pointer = &self.nodes[node];
        let mut visited = pointer.pts.clone();
        visited.subtract(&pointer.fresh);
        visited
    }

    /// A stated fact becomes one, unless it is or nobody states it any more.
    fn state(&mut self, node: Node, obj: Obj) {
        if self.stated.contains_key(&(node, obj)) && self.nodes[node].pts.insert(obj) {
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
    fn flow_all(&mut self, id: EdgeId, subtype: IsSubtype<'_>) {
        let src = self.edges[id].src;
        if !self.nodes[src].pts.is_empty() {
            let objects = std::mem::take(&mut self.nodes[src].pts);
            self.flow(&objects, id, subtype);
            self.nodes[src].pts = objects;
        }
    }

    /// o ∈ objects, o passes the filter  ⟹  o ∈ pts(dst), and the edge owns it if it was not there.
    pub(crate) fn flow(&mut self, objects: &IdSet<Obj>, id: EdgeId, subtype: IsSubtype<'_>) {
        let edge = &mut self.edges[id];
        let mask = edge.filter.map(|class| self.filters.mask(class, subtype));
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

    /// Of the facts of a node those that no edge delivers, as far as can be seen from here, and nobody states.
    pub(crate) fn without_reason(&self, node: Node, objects: &IdSet<Obj>) -> IdSet<Obj> {
        let mut left = objects.clone();
        for &edge in &self.nodes[node].into {
            if left.is_empty() {
                break;
            }
            if self.edges[edge].alive {
                left.subtract(self.pts(self.edges[edge].src));
            }
        }
        if self.nodes[node].is_stated {
            left = left.iter().filter(|&obj| !self.stated.contains_key(&(node, obj))).collect();
        }
        left
    }

    /// Facts that were taken away and are stated still.
    pub(crate) fn restate(&mut self, node: Node, objects: &IdSet<Obj>) {
        if self.nodes[node].is_stated {
            let stated = objects.iter().filter(|&obj| self.stated.contains_key(&(node, obj)));
            self.late.extend(stated.map(|obj| Late::Fact(node, obj)));
        }
    }

    fn enqueue(&mut self, node: Node) {
        let pointer = &mut self.nodes[node];
        if !pointer.queued {
            pointer.queued = true;
            self.worklist.push_back(node);
        }
    }
}

/// Order is of no account in the lists of a node.
fn remove<I: PartialEq>(list: &mut Vec<I>, item: I) {
    if let Some(at) = list.iter().rposition(|other| *other == item) {
        list.swap_remove(at);
    }
}

/// For each filtering class, which objects pass: one bit per object, extended as objects appear.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Filters {
    objects: Vec<ClassId>,
    #[serde(skip)]
    masks: FxHashMap<ClassId, Mask>,
}

#[derive(Default)]
struct Mask {
    bits: Vec<u64>,
    covered: usize,
    /// Answers per class, so that the hierarchy is asked once.
    classes: FxHashMap<ClassId, bool>,
}

impl Filters {
    /// The hierarchy has changed.
    pub(crate) fn forget(&mut self) {
        self.masks.clear();
    }

    fn mask(&mut self, filter: ClassId, subtype: &mut dyn FnMut(ClassId, ClassId) -> bool) -> &[u64] {
        let mask = self.masks.entry(filter).or_default();
        mask.bits.resize(self.objects.len().div_ceil(64), 0);
        for (at, &class) in self.objects.iter().enumerate().skip(mask.covered) {
            if *mask.classes.entry(class).or_insert_with(|| subtype(class, filter)) {
                mask.bits[at >> 6] |= 1 << (at & 63);
            }
        }
        mask.covered = self.objects.len();
        &mask.bits
    }
}
