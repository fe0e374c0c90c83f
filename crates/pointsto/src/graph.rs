//! The constraint graph and its propagation: nodes with points-to sets, filtered subset edges, and uses that
//! fire once per object reaching their node. Knows objects only as ids; what a use does is the solver's affair.

use crate::types::Obj;
use arena::{IdSet, define_id};
use ir::{ClassId, FieldId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

define_id! {
    /// A pointer: a variable of an activation, a heap slot, or a temporary of a model.
    Node
}
define_id! {
    /// A call as the solver sees it: statement, arguments, target.
    CallId
}

/// What happens when an object reaches a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

#[derive(Clone, Copy)]
struct Edge {
    dst: Node,
    /// Only objects of this class pass.
    filter: Option<ClassId>,
}

#[derive(Default)]
struct Pointer {
    pts: IdSet<Obj>,
    /// Objects that arrived and were not passed on yet; a subset of `pts`.
    fresh: IdSet<Obj>,
    edges: Vec<Edge>,
    uses: Vec<Use>,
    queued: bool,
}

#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Pointer>,
    worklist: VecDeque<Node>,
    /// Uses added to nodes that already hold objects: to be fired for exactly those.
    late_uses: Vec<(Use, IdSet<Obj>)>,
    filters: Filters,
    pub(crate) facts: u64,
}

impl Graph {
    pub(crate) fn add_node(&mut self) -> Node {
        self.add_nodes(1)
    }

    /// `count` consecutive nodes; returns the first.
    pub(crate) fn add_nodes(&mut self, count: usize) -> Node {
        let first = self.nodes.len();
        self.nodes.resize_with(first + count, Pointer::default);
        Node(first as u32)
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.nodes.iter().map(|node| node.edges.len()).sum()
    }

    pub(crate) fn pts(&self, node: Node) -> &IdSet<Obj> {
        &self.nodes[node.0 as usize].pts
    }

    /// Tells the filters of a new object; ids must come in order.
    pub(crate) fn add_object(&mut self, obj: Obj, class: ClassId) {
        self.filters.objects.push(class);
        debug_assert_eq!(self.filters.objects.len(), obj.0 as usize + 1);
    }

    pub(crate) fn add_fact(&mut self, node: Node, obj: Obj) {
        let pointer = &mut self.nodes[node.0 as usize];
        if pointer.pts.insert(obj) {
            pointer.fresh.insert(obj);
            self.facts += 1;
            self.enqueue(node);
        }
    }

    pub(crate) fn add_edge(
        &mut self,
        src: Node,
        dst: Node,
        filter: Option<ClassId>,
        subtype: &mut dyn FnMut(ClassId, ClassId) -> bool,
    ) {
        if src == dst {
            return;
        }
        let edge = Edge { dst, filter };
        let pointer = &mut self.nodes[src.0 as usize];
        pointer.edges.push(edge);
        if !pointer.pts.is_empty() {
            let objects = std::mem::take(&mut pointer.pts);
            self.flow(&objects, edge, subtype);
            self.nodes[src.0 as usize].pts = objects;
        }
    }

    pub(crate) fn add_use(&mut self, node: Node, use_: Use) {
        let pointer = &mut self.nodes[node.0 as usize];
        pointer.uses.push(use_);
        // Fresh objects fire it when the node is visited; the others have been visited already.
        if pointer.pts.len() > pointer.fresh.len() {
            let visited = pointer.pts.iter().filter(|&obj| !pointer.fresh.contains(obj)).collect();
            self.late_uses.push((use_, visited));
        }
    }

    /// Propagates along edges until some use has to fire; `None` at the fixpoint.
    pub(crate) fn next_uses(
        &mut self,
        subtype: &mut dyn FnMut(ClassId, ClassId) -> bool,
    ) -> Option<(Vec<Use>, IdSet<Obj>)> {
        loop {
            if let Some((use_, objects)) = self.late_uses.pop() {
                return Some((vec![use_], objects));
            }
            let node = self.worklist.pop_front()?;
            let pointer = &mut self.nodes[node.0 as usize];
            pointer.queued = false;
            let fresh = std::mem::take(&mut pointer.fresh);
            let edges = std::mem::take(&mut pointer.edges);
            for &edge in &edges {
                self.flow(&fresh, edge, subtype);
            }
            let pointer = &mut self.nodes[node.0 as usize];
            pointer.edges = edges;
            if !pointer.uses.is_empty() {
                return Some((pointer.uses.clone(), fresh));
            }
        }
    }

    /// o ∈ objects, o passes the filter  ⟹  o ∈ pts(dst)
    fn flow(&mut self, objects: &IdSet<Obj>, edge: Edge, subtype: &mut dyn FnMut(ClassId, ClassId) -> bool) {
        let mask = edge.filter.map(|class| self.filters.mask(class, subtype));
        let target = &mut self.nodes[edge.dst.0 as usize];
        let added = target.pts.absorb(objects, mask, &mut target.fresh);
        if added > 0 {
            self.facts += added as u64;
            self.enqueue(edge.dst);
        }
    }

    fn enqueue(&mut self, node: Node) {
        let pointer = &mut self.nodes[node.0 as usize];
        if !pointer.queued {
            pointer.queued = true;
            self.worklist.push_back(node);
        }
    }
}

/// For each filtering class, which objects pass: one bit per object, extended as objects appear.
#[derive(Default)]
struct Filters {
    objects: Vec<ClassId>,
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
