//! What an update changes in the sets of nodes, as what they were before it: the difference is asked for at the end,
//! so that what goes and comes back costs nothing and is not told. Knows no reasons.

use crate::graph::Node;
use crate::types::Obj;
use arena::IdSet;
use rustc_hash::FxHashMap;

#[derive(Default)]
pub(crate) struct Log {
    /// What nodes held that may hold something else now.
    before: FxHashMap<Node, IdSet<Obj>>,
}

impl Log {
    /// Some of what the node holds is new.
    pub(crate) fn added(&mut self, node: Node, held: &IdSet<Obj>, new: &IdSet<Obj>) {
        self.before.entry(node).or_insert_with(|| match held.len() == new.len() {
            true => IdSet::new(),
            false => without(held, new),
        });
    }

    /// The node is about to lose some of what it holds.
    pub(crate) fn removed(&mut self, node: Node, held: &IdSet<Obj>) {
        self.before.entry(node).or_insert_with(|| held.clone());
    }

    pub(crate) fn before(&self) -> impl Iterator<Item = (Node, &IdSet<Obj>)> {
        self.before.iter().map(|(&node, held)| (node, held))
    }
}

/// What is in the first set only.
pub(crate) fn without(all: &IdSet<Obj>, some: &IdSet<Obj>) -> IdSet<Obj> {
    if some.is_empty() {
        return all.clone();
    }
    let mut rest = all.clone();
    rest.subtract(some);
    rest
}
