//! What is done to a name: whether an assignment needs what was there before, whether a loop waits for it. Knows one
//! statement at a time, and nothing of what it calls.

use crate::tree::{nodes, path, role};
use crate::{Position, Source};

impl Source {
    /// Whether a loop goes on for as long as what stands at a position is what it is.
    pub fn is_waited_for(&self, at: Position) -> bool {
        let at = self.offset(at);
        let path = path(self.root(), &(at..at + 1));
        path.windows(2).any(|pair| {
            let is_loop = matches!(pair[0].kind(), "while_statement" | "do_statement" | "for_statement");
            is_loop && role(pair[0], "condition") == Some(pair[1])
        })
    }

    /// Whether a name is changed on a line in a way that needs what was there: `n++`, `n += 1`, `n = n + 1`.
    pub fn is_updated_on(&self, line: u32, name: &str) -> bool {
        let line = self.code(line);
        let inside = nodes(self.root()).filter(|node| line.contains(&node.start_byte()));
        let mut changes = inside.filter_map(|node| match node.kind() {
            "update_expression" => nodes(node).find(|inner| inner.kind() == "identifier"),
            "assignment_expression" => role(node, "left").map(|left| role(left, "field").unwrap_or(left)),
            _ => None,
        });
        changes.any(|changed| {
            let at = self.position(changed.start_byte());
            self.text_of(changed) == name && !self.is_plainly_assigned(at)
        })
    }

    /// Whether the name at a position is assigned something that it does not come into: neither `n++` nor `n += 1` nor
    /// `n = n + 1`.
    pub fn is_plainly_assigned(&self, at: Position) -> bool {
        let at = self.offset(at);
        let path = path(self.root(), &(at..at + 1));
        let Some((name, above)) = path.split_last() else { return false };
        let plainly = || {
            let assignment = above.iter().rev().find(|node| node.kind() == "assignment_expression")?;
            let left = role(*assignment, "left")?;
            let assigned = if left.kind() == "field_access" { role(left, "field")? } else { left };
            let operator = role(*assignment, "operator")?;
            let mut right = nodes(role(*assignment, "right")?);
            let is_it = |text: &str| text == self.text_of(*name);
            let is_plain = assigned == *name
                && self.text_of(operator) == "="
                && !right.any(|node| node.kind() == "identifier" && is_it(self.text_of(node)));
            Some(is_plain)
        };
        plainly().unwrap_or(false)
    }
}

#[cfg(test)]
#[path = "tests/assigned.rs"]
mod tests;
