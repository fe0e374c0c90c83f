//! The constraint graph: edges between nodes and uses that fire once per object reaching their node, with the reasons
//! for them and for facts that are stated. Objects move in `flow`, which is told what is new here between two rounds;
//! what a use does is the solver's affair, and how things are taken back that of `retract`.

use crate::filter::IsSubtype;
use crate::flow::{Flow, Late, New};
use crate::support::{Lost, Reason, Supports};
use crate::types::Obj;
use arena::{Chunks, IdSet, define_id};
use ir::{ClassId, FieldId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

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

/// Why an edge is there. What it connects, `flow` knows.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) supports: Supports,
    pub(crate) alive: bool,
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
pub(crate) struct Graph {
    pub(crate) flow: Flow,
    /// How many nodes there are; `flow` may not know the last of them yet.
    node_count: usize,
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
    /// What `flow` has not been told.
    #[serde(skip)]
    new_objects: Vec<ClassId>,
    #[serde(skip)]
    new: Vec<New>,
    #[serde(skip)]
    pub(crate) shuffle: Option<Shuffle>,
}

/// Puts work into an arbitrary order, for tests that show that the order does not matter.
#[derive(Clone)]
pub(crate) struct Shuffle(u64);

impl Shuffle {
    pub(crate) fn new(seed: u64) -> Shuffle {
        Shuffle(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % count as u64) as usize
    }

    /// Some of the items in another order.
    pub(crate) fn some<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev().take(64) {
            items.swap(at, self.below(at + 1));
        }
    }
}

impl Graph {
    pub(crate) fn add_node(&mut self) -> Node {
        match self.free_nodes.pop() {
            Some(node) => node,
            None => self.add_nodes(1),
        }
    }

    /// `count` consecutive nodes; returns the first.
    pub(crate) fn add_nodes(&mut self, count: usize) -> Node {
        let first = Node(self.node_count as u32);
        self.node_count += count;
        first
    }

    /// The node will not be mentioned again until it is handed out anew.
    pub(crate) fn free_node(&mut self, node: Node) {
        let pointer = &mut self.flow.nodes[node];
        debug_assert!(pointer.pts.is_empty() && pointer.uses.is_empty(), "{node:?} is in use");
        debug_assert!(pointer.out.is_empty() && pointer.into.is_empty(), "{node:?} is connected");
        pointer.is_stated = false;
        self.free_nodes.push(node);
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.edge_ids.len()
    }

    pub(crate) fn pts(&self, node: Node) -> &IdSet<Obj> {
        self.flow.pts(node)
    }

    /// Tells the filters of a new object; ids must come in order.
    pub(crate) fn add_object(&mut self, class: ClassId) {
        self.new_objects.push(class);
    }

    /// What is new becomes part of the flow. Nothing moves yet.
    pub(crate) fn tell(&mut self) {
        self.flow.tell(self.node_count, &mut self.new_objects, &mut self.new);
        self.flow.take_in();
    }

    /// Tells what is new and has become true: some of what was to have an effect may have been taken back.
    pub(crate) fn begin(&mut self) {
        self.tell();
        let Graph { flow, stated, edges, uses, .. } = self;
        flow.retain_late(|late| match *late {
            Late::Fact(node, obj) => stated.contains_key(&(node, obj)),
            Late::Edge(id) => edges[id].alive,
            Late::Use(id, _) => uses[id].alive && std::mem::take(&mut uses[id].late),
        });
    }

    /// Between two rounds: what is new goes in, and filters ask what they have to know.
    pub(crate) fn exchange(&mut self, subtype: IsSubtype<'_>) {
        for new in &self.new {
            if let New::Late(Late::Use(id, _)) = *new {
                self.uses[id].late = false;
            }
        }
        self.flow.tell(self.node_count, &mut self.new_objects, &mut self.new);
        self.flow.ask(subtype);
    }

    pub(crate) fn support_fact(&mut self, node: Node, obj: Obj, reason: Reason) {
        let supports = self.stated.entry((node, obj)).or_default();
        if supports.is_empty() {
            self.new.push(New::Late(Late::Fact(node, obj)));
        }
        supports.add(reason);
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
        let id = match self.free_edges.pop() {
            Some(id) => {
                self.edges[id] = Edge::default();
                id
            }
            None => self.edges.push(Edge::default()),
        };
        self.edge_ids.insert((src, dst, filter), id);
        self.new.push(New::Edge(id, src, dst, filter));
        id
    }

    pub(crate) fn support_edge(&mut self, id: EdgeId, reason: Reason) {
        let edge = &mut self.edges[id];
        edge.supports.add(reason);
        if !edge.alive {
            self.revive_edge(id);
        }
    }

    pub(crate) fn revive_edge(&mut self, id: EdgeId) {
        self.edges[id].alive = true;
        self.new.push(New::Late(Late::Edge(id)));
    }

    /// The edge delivers nothing from now on.
    pub(crate) fn end_edge(&mut self, id: EdgeId) {
        self.edges[id].alive = false;
        self.flow.links[id].alive = false;
    }

    /// The use fires no more.
    pub(crate) fn end_use(&mut self, id: UseId) {
        let placed = &mut self.uses[id];
        placed.alive = false;
        self.flow.end_use(id, placed.node);
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
        (placed.alive, placed.late) = (true, true);
        self.new.push(New::Late(Late::Use(id, placed.node)));
    }

    /// Forgets an edge that nothing speaks for.
    pub(crate) fn drop_edge(&mut self, id: EdgeId) {
        debug_assert!(self.edges[id].supports.is_empty());
        let link = &self.flow.links[id];
        if self.edge_ids.remove(&(link.src, link.dst, link.filter)).is_some() {
            self.flow.unlink(id);
            self.free_edges.push(id);
        }
    }

    /// Forgets a use that nothing speaks for.
    pub(crate) fn drop_use(&mut self, id: UseId) {
        let Placed { node, what, .. } = self.uses[id];
        debug_assert!(self.uses[id].supports.is_empty());
        if self.use_ids.remove(&(node, what)).is_some() {
            self.free_uses.push(id);
        }
    }

    /// Some of the items, put in another order, if that is asked for.
    pub(crate) fn shuffled<T>(&mut self, items: &mut [T]) {
        if let Some(shuffle) = &mut self.shuffle {
            shuffle.some(items);
        }
    }

    /// Of the facts of a node those that no edge delivers, as far as can be seen from here, and nobody states.
    pub(crate) fn without_reason(&self, node: Node, objects: &IdSet<Obj>) -> IdSet<Obj> {
        let mut left = objects.clone();
        for &edge in &self.flow.nodes[node].into {
            if left.is_empty() {
                break;
            }
            if self.edges[edge].alive {
                left.subtract(self.pts(self.flow.links[edge].src));
            }
        }
        if self.flow.nodes[node].is_stated {
            left = left.iter().filter(|&obj| !self.stated.contains_key(&(node, obj))).collect();
        }
        left
    }

    /// Facts that were taken away and are stated still.
    pub(crate) fn restate(&mut self, node: Node, objects: &IdSet<Obj>) {
        if self.flow.nodes[node].is_stated {
            let stated = objects.iter().filter(|&obj| self.stated.contains_key(&(node, obj)));
            self.new.extend(stated.map(|obj| New::Late(Late::Fact(node, obj))));
        }
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        self.flow.is_at_rest() && self.new.is_empty()
    }
}
