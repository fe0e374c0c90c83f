//! Whether an assignment needs what was there before. Knows one expression at a time, and nothing of what it calls.

use crate::tree::{nodes, path, role};
use crate::{Position, Source};

impl Source {
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
