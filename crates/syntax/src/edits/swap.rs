//! Takes two locks in the other order, where one is taken as soon as the other is held. Knows nothing of who else
//! takes them.

use super::TextEdit;
use crate::at::lock_of;
use crate::scope::bound;
use crate::tree::{children, is_comment, nodes, path, role};
use crate::{Position, Source};
use tree_sitter::Node;

impl Source {
    /// Exchanges the locks of two nested `synchronized` blocks, each named by a position in `synchronized (lock)`. Only
    /// if the inner one is all that the outer one does, so that no code has another lock than before.
    pub fn swap_locks(&self, outer: Position, inner: Position) -> Option<Vec<TextEdit>> {
        let (outer, inner) = (self.block_at(outer)?, self.block_at(inner)?);
        let locks = [lock_of(outer)?, lock_of(inner)?];
        let [first, second] = locks.map(|lock| self.text_of(lock));
        let is_plain = !outer.has_error() && !locks.into_iter().any(has_effect);
        if !is_plain || first == second || !is_all(outer, inner) {
            return None;
        }
        let [one, other] = locks.map(|lock| self.range(lock.byte_range()));
        let edit = |range, text: &str| TextEdit { range, text: text.to_owned() };
        Some(vec![edit(one, second), edit(other, first)])
    }

    /// The block in whose head the position is.
    fn block_at(&self, position: Position) -> Option<Node<'_>> {
        let at = self.offset(position);
        let path = path(self.root(), &(at..at + 1));
        let block = *path.iter().rev().find(|node| node.kind() == "synchronized_statement")?;
        role(block, "body").is_some_and(|body| at < body.start_byte()).then_some(block)
    }
}

/// Whether the inner block is all that the outer one has, perhaps inside of others.
fn is_all(outer: Node<'_>, inner: Node<'_>) -> bool {
    let mut around = role(outer, "body");
    while let Some(body) = around {
        let mut statements = children(body).filter(|child| child.is_named() && !is_comment(*child));
        let (Some(only), None) = (statements.next(), statements.next()) else { return false };
        if only == inner {
            return true;
        }
        around = match only.kind() {
            "synchronized_statement" => role(only, "body"),
            "block" => Some(only),
            _ => None,
        };
    }
    false
}

/// Whether the expression must be evaluated where it is.
fn has_effect(lock: Node<'_>) -> bool {
    let is_effect = |node: Node<'_>| matches!(node.kind(), "assignment_expression" | "update_expression");
    nodes(lock).any(|node| is_effect(node) || bound(node).is_some())
}

#[cfg(test)]
#[path = "../tests/swap.rs"]
mod tests;
