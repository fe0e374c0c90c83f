//! Where a line uses a variable of some name that may be a field. Goes by the syntax tree, so that neither literals nor
//! local variables of that name count; whose field it is, it does not know.

use crate::scope::{Meaning, meaning};
use crate::tree::{path, role};
use crate::{Source, position::Span};
use tree_sitter::Node;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldUse {
    /// Bytes of the line.
    pub columns: std::ops::Range<usize>,
    /// `n = 1`, `n += 1` or `n++`, or its declaration.
    pub is_assigned: bool,
}

impl Source {
    /// In the order of the line, which counts from 0.
    pub fn field_uses_on(&self, line: u32, name: &str) -> Vec<FieldUse> {
        let span = self.lines.span(&self.text, line);
        let words = self.line(line).match_indices(name).map(|(at, _)| span.start + at);
        words.filter_map(|at| self.field_use(&(at..at + name.len()), &span)).collect()
    }

    fn field_use(&self, word: &Span, line: &Span) -> Option<FieldUse> {
        let path = path(self.root(), word);
        let leaf = *path.last().filter(|leaf| leaf.byte_range() == *word && leaf.kind() == "identifier")?;
        let outline = self.outline();
        let is_declared = outline.fields.iter().any(|field| field.name_span == *word);
        if !is_declared && meaning(&self.text, outline, &path) == Meaning::Nothing {
            return None;
        }
        let columns = word.start - line.start..word.end - line.start;
        Some(FieldUse { columns, is_assigned: is_declared || is_assigned(&path, leaf) })
    }
}

/// Whether the variable at the end of a path is what an expression assigns.
fn is_assigned(path: &[Node<'_>], name: Node<'_>) -> bool {
    let mut whole = name;
    for &around in path.iter().rev().skip(1) {
        match around.kind() {
            "field_access" if role(around, "field") == Some(whole) => whole = around,
            "parenthesized_expression" => whole = around,
            "assignment_expression" => return role(around, "left") == Some(whole),
            "update_expression" => return true,
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
#[path = "tests/uses.rs"]
mod tests;
