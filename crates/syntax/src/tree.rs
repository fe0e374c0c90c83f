//! Ways through a syntax tree that need no recursion, so that deep nesting costs no stack. Knows node kinds only
//! where several files ask the same of them.

use crate::position::Span;
use tree_sitter::{Node, TreeCursor};

pub(crate) enum Step<'t> {
    Enter(Node<'t>),
    Leave,
}

/// All nodes below and including a node, each entered before and left after its children.
pub(crate) struct Steps<'t> {
    cursor: TreeCursor<'t>,
    next: Option<Turn>,
}

enum Turn {
    Enter,
    Leave,
}

impl<'t> Steps<'t> {
    pub fn of(root: Node<'t>) -> Steps<'t> {
        Steps { cursor: root.walk(), next: Some(Turn::Enter) }
    }
}

impl<'t> Iterator for Steps<'t> {
    type Item = Step<'t>;

    fn next(&mut self) -> Option<Step<'t>> {
        match self.next.take()? {
            Turn::Enter => {
                let node = self.cursor.node();
                self.next = Some(if self.cursor.goto_first_child() { Turn::Enter } else { Turn::Leave });
                Some(Step::Enter(node))
            }
            Turn::Leave => {
                self.next = if self.cursor.goto_next_sibling() {
                    Some(Turn::Enter)
                } else {
                    self.cursor.goto_parent().then_some(Turn::Leave)
                };
                Some(Step::Leave)
            }
        }
    }
}

/// All nodes below and including a node, parents first.
pub(crate) fn nodes(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    Steps::of(root).filter_map(|step| match step {
        Step::Enter(node) => Some(node),
        Step::Leave => None,
    })
}

pub(crate) fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let mut there = cursor.goto_first_child();
    std::iter::from_fn(move || {
        let child = there.then(|| cursor.node());
        there = there && cursor.goto_next_sibling();
        child
    })
}

/// The nodes from the root to the smallest one that has all of the span and is not empty.
pub(crate) fn path<'t>(root: Node<'t>, span: &Span) -> Vec<Node<'t>> {
    let mut path = vec![root];
    let mut cursor = root.walk();
    let mut there = cursor.goto_first_child();
    while there {
        let node = cursor.node();
        if node.end_byte() <= span.start {
            there = cursor.goto_next_sibling();
        } else if node.start_byte() <= span.start && span.end <= node.end_byte() {
            path.push(node);
            there = cursor.goto_first_child();
        } else {
            break;
        }
    }
    path
}

pub(crate) fn text<'s>(text: &'s str, node: Node<'_>) -> &'s str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// Child by the name that the grammar gives to its role.
pub(crate) fn role<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

pub(crate) fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    children(node).find(|child| child.kind() == kind)
}

pub(crate) fn is_comment(node: Node<'_>) -> bool {
    matches!(node.kind(), "line_comment" | "block_comment")
}

/// The braces of a class, whatever kind of class it is.
pub(crate) fn is_class_body(node: Node<'_>) -> bool {
    matches!(node.kind(), "class_body" | "interface_body" | "enum_body" | "annotation_type_body")
}

/// A type or a part of a name as it is written, without spaces and comments.
pub(crate) fn squeezed(source: &str, node: Node<'_>) -> String {
    let leaves = nodes(node).filter(|node| node.child_count() == 0);
    let mut out = String::new();
    for leaf in leaves {
        match (text(source, leaf), leaf.kind()) {
            (_, "line_comment" | "block_comment") => {}
            (",", _) => out.push_str(", "),
            (word @ ("extends" | "super"), _) => out.extend([" ", word, " "]),
            ("&", _) => out.push_str(" & "),
            (other, _) => out.push_str(other),
        }
    }
    out
}
