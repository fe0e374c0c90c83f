//! Which statements a stretch of text is about. Knows what a statement is, not what it does.

use crate::position::Span;
use crate::tree::{children, is_class_body, path, role};
use crate::{Position, Range, Source};
use tree_sitter::Node;

/// Statements that follow each other in one list, or a single one that is the body of another; never empty.
pub(crate) struct Run<'t> {
    pub parent: Node<'t>,
    pub statements: Vec<Node<'t>>,
}

impl Run<'_> {
    pub fn span(&self) -> Span {
        let start = self.statements.first().map_or(0, |first| first.start_byte());
        start..self.statements.last().map_or(start, |last| last.end_byte())
    }
}

impl Source {
    /// The code of a line, without the comments and spaces around it.
    pub(crate) fn code(&self, line: u32) -> Span {
        self.lexed.code(&self.text, self.lines.span(&self.text, line))
    }

    /// The statements that begin on a line, all in one list and none inside of another; if there are none, the
    /// smallest one that goes on there.
    pub fn statement_at(&self, line: u32) -> Option<Range> {
        let code = self.code(line);
        (!code.is_empty()).then(|| self.run(&code).map(|run| self.range(run.span())))?
    }

    /// The smallest statement around a position.
    pub fn statement_around(&self, position: Position) -> Option<Range> {
        let at = self.offset(position);
        let path = path(self.root(), &(at..at + 1));
        covering(&path).map(|run| self.range(run.span()))
    }

    pub(crate) fn run(&self, span: &Span) -> Option<Run<'_>> {
        let path = path(self.root(), span);
        let begins = |node: Node<'_>| node.start_byte() >= span.start;
        let single = path.windows(2).find(|pair| begins(pair[1]) && is_statement(pair[0], pair[1]));
        if let Some(pair) = single {
            return Some(Run { parent: pair[0], statements: vec![pair[1]] });
        }
        beginning(*path.last()?, span).or_else(|| covering(&path))
    }
}

/// The outermost statements below a node that begin in a span: those in the list of the first of them.
fn beginning<'t>(top: Node<'t>, span: &Span) -> Option<Run<'t>> {
    let below = |node: Node<'t>| {
        let all = children(node).skip_while(|child| child.end_byte() <= span.start);
        let mut all: Vec<_> =
            all.take_while(|child| child.start_byte() < span.end).map(|child| (node, child)).collect();
        all.reverse();
        all
    };
    let mut todo = below(top);
    let mut found: Option<Run<'t>> = None;
    while let Some((parent, node)) = todo.pop() {
        if node.start_byte() >= span.start && is_statement(parent, node) {
            let run = found.get_or_insert_with(|| Run { parent, statements: Vec::new() });
            if run.parent == parent {
                run.statements.push(node);
            }
        } else {
            todo.extend(below(node));
        }
    }
    // The two branches of an `if` do not follow each other.
    found.filter(|run| is_list(run.parent) || run.statements.len() == 1)
}

/// The smallest statement of a path, unless it has a class around the end of the path.
fn covering<'t>(path: &[Node<'t>]) -> Option<Run<'t>> {
    let mut upwards = path.windows(2).rev().take_while(|pair| !is_class_body(pair[1]));
    let pair = upwards.find(|pair| is_statement(pair[0], pair[1]))?;
    Some(Run { parent: pair[0], statements: vec![pair[1]] })
}

/// Whether a node is a statement by itself, rather than the braces of something or a part of a loop's head.
pub(crate) fn is_statement(parent: Node<'_>, node: Node<'_>) -> bool {
    match node.kind() {
        "block" => is_list(parent),
        "expression_statement"
        | "labeled_statement"
        | "if_statement"
        | "while_statement"
        | "for_statement"
        | "enhanced_for_statement"
        | "assert_statement"
        | "do_statement"
        | "break_statement"
        | "continue_statement"
        | "return_statement"
        | "yield_statement"
        | "switch_expression"
        | "synchronized_statement"
        | "local_variable_declaration"
        | "throw_statement"
        | "try_statement"
        | "try_with_resources_statement" => {
            is_list(parent) || is_body(parent, node) || parent.kind() == "switch_rule"
        }
        _ => false,
    }
}

/// Whether statements follow each other in there.
pub(crate) fn is_list(node: Node<'_>) -> bool {
    matches!(node.kind(), "block" | "constructor_body" | "switch_block_statement_group")
}

fn is_body(parent: Node<'_>, node: Node<'_>) -> bool {
    match parent.kind() {
        "if_statement" => role(parent, "condition") != Some(node),
        "while_statement" | "do_statement" | "for_statement" | "enhanced_for_statement" => {
            role(parent, "body") == Some(node)
        }
        "labeled_statement" => true,
        _ => false,
    }
}

#[cfg(test)]
#[path = "tests/statement.rs"]
mod tests;
