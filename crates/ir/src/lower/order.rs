//! Puts the nodes of a graph in reverse postorder and fills in their predecessors. Looks at edges and pcs only.

use super::blocks::Node;
use std::mem::take;

const UNSEEN: u32 = u32::MAX;

/// Renumbers from node 0 and fills in the predecessors, which come in the same order. Of several successors the
/// one with the lowest pc follows first, so that blocks stand as in the source.
pub(super) fn in_reverse_postorder(mut nodes: Vec<Node>) -> Vec<Node> {
    if nodes.len() == 1 {
        return nodes;
    }
    // The children of all nodes in one list, each node's from `starts[node]` on.
    let (mut children, mut starts) =
        (Vec::with_capacity(nodes.len() * 2), Vec::with_capacity(nodes.len() + 1));
    for node in &nodes {
        let start = children.len();
        starts.push(start);
        children.extend(node.handlers.iter().chain(&node.succs));
        children[start..].sort_by_key(|&next: &u32| std::cmp::Reverse(nodes[next as usize].first));
    }
    starts.push(children.len());
    let mut number = vec![UNSEEN; nodes.len()];
    let mut postorder = Vec::with_capacity(nodes.len());
    let mut stack = vec![0u32];
    let mut at = starts.clone();
    number[0] = 0;
    while let Some(&node) = stack.last() {
        let next = at[node as usize];
        if next == starts[node as usize + 1] {
            postorder.push(node);
            stack.pop();
            continue;
        }
        at[node as usize] += 1;
        let child = children[next];
        if number[child as usize] == UNSEEN {
            number[child as usize] = 0;
            stack.push(child);
        }
    }
    for (at, &node) in postorder.iter().rev().enumerate() {
        number[node as usize] = at as u32;
    }
    let mut ordered: Vec<Node> = Vec::with_capacity(nodes.len());
    for &node in postorder.iter().rev() {
        let mut node = std::mem::replace(&mut nodes[node as usize], Node::code(0));
        for edge in node.succs.iter_mut().chain(&mut node.handlers) {
            *edge = number[*edge as usize];
        }
        ordered.push(node);
    }
    for at in 0..ordered.len() {
        let (succs, handlers) = (take(&mut ordered[at].succs), take(&mut ordered[at].handlers));
        for &to in succs.iter().chain(&handlers) {
            ordered[to as usize].preds.push(at as u32);
        }
        ordered[at].succs = succs;
        ordered[at].handlers = handlers;
    }
    ordered
}
