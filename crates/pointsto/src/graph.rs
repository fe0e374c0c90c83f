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
    Load { field: FieldId, dst: Node },
    /// `node.field = src`
    Store { field: FieldId, src: Node },
    LoadElem { dst: Node },
    StoreElem { src: Node },
    /// The node is the receiver of the call.
    Receive(CallId),
    /// The node holds Class objects; instances go to `dst`.
    Instantiate { call: CallId, dst: Node, step: u16 },
    ClassOf { dst: Node },
    Copy { call: CallId, dst: Node, step: u16 },
    /// The node holds class literals whose registered providers go to `dst`.
    Services { call: CallId, dst: Node, step: u16 },
    /// The node holds field handles.
    HandleLoad { base: Node, dst: Node },
    HandleStore { base: Node, src: Node },
    UnsafeLoad { dst: Node },
    UnsafeStore { src: Node },
    /// The node is passed to code that is not analysed, declared there as `class`.
    Escape { call: CallId, class: ClassId },
}

#[derive(Clone, Copy)]
struct Edge {
    dst: Node,
    /// Only objects of this class pass.
    filter: Option<ClassId>,
}

#[derive(Default)]
pub(crate) struct Graph {
    pts: Vec<IdSet<Obj>>,
    /// Objects that arrived and were not passed on yet; a subset of `pts`.
    fresh: Vec<IdSet<Obj>>,
    edges: Vec<Vec<Edge>>,
    uses: Vec<Vec<Use>>,
    queued: Vec<bool>,
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
        let first = self.pts.len();
        let len = first + count;
        self.pts.resize_with(len, IdSet::new);
        self.fresh.resize_with(len, IdSet::new);
        self.edges.resize_with(len, Vec::new);
        self.uses.resize_with(len, Vec::new);
        self.queued.resize(len, false);
        Node(first as u32)
    }

    pub(crate) fn node_count(&self) -> usize {
        self.pts.len()
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    pub(crate) fn pts(&self, node: Node) -> &IdSet<Obj> {
        &self.pts[node.0 as usize]
    }

    /// Tells the filters of a new object; ids must come in order.
    pub(crate) fn add_object(&mut self, obj: Obj, class: ClassId) {
        self.filters.objects.push(class);
        debug_assert_eq!(self.filters.objects.len(), obj.0 as usize + 1);
    }

    pub(crate) fn add_fact(&mut self, node: Node, obj: Obj) {
        let at = node.0 as usize;
        if self.pts[at].insert(obj) {
            self.facts += 1;
            self.fresh[at].insert(obj);
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
        self.edges[src.0 as usize].push(Edge { dst, filter });
        if !self.pts[src.0 as usize].is_empty() {
            let objects = std::mem::take(&mut self.pts[src.0 as usize]);
            self.flow(&objects, Edge { dst, filter }, subtype);
            self.pts[src.0 as usize] = objects;
        }
    }

    pub(crate) fn add_use(&mut self, node: Node, use_: Use) {
        let at = node.0 as usize;
        self.uses[at].push(use_);
        // Fresh objects fire it when the node is visited; the others have been visited already.
        if self.pts[at].len() > self.fresh[at].len() {
            let fresh = &self.fresh[at];
            let visited: IdSet<Obj> = self.pts[at].iter().filter(|&obj| !fresh.contains(obj)).collect();
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
            let at = node.0 as usize;
            self.queued[at] = false;
            let fresh = std::mem::take(&mut self.fresh[at]);
            let edges = std::mem::take(&mut self.edges[at]);
            for &edge in &edges {
                self.flow(&fresh, edge, subtype);
            }
            self.edges[at] = edges;
            if !self.uses[at].is_empty() {
                return Some((self.uses[at].clone(), fresh));
            }
        }
    }

    /// o ∈ objects, o passes the filter  ⟹  o ∈ pts(dst)
    fn flow(&mut self, objects: &IdSet<Obj>, edge: Edge, subtype: &mut dyn FnMut(ClassId, ClassId) -> bool) {
        let at = edge.dst.0 as usize;
        let before = self.pts[at].len();
        let target = &mut self.pts[at];
        let fresh = &mut self.fresh[at];
        match edge.filter {
            None => {
                for obj in objects.iter() {
                    if target.insert(obj) {
                        fresh.insert(obj);
                    }
                }
            }
            Some(class) => {
                let pass = self.filters.mask(class, subtype);
                for obj in objects.iter() {
                    if pass[obj.0 as usize >> 6] >> (obj.0 & 63) & 1 == 1 && target.insert(obj) {
                        fresh.insert(obj);
                    }
                }
            }
        }
        if target.len() > before {
            self.facts += (self.pts[at].len() - before) as u64;
            self.enqueue(edge.dst);
        }
    }

    fn enqueue(&mut self, node: Node) {
        let queued = &mut self.queued[node.0 as usize];
        if !*queued {
            *queued = true;
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
