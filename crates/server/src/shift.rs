//! Where underlined places are after a text was edited, before anybody has analysed it.

use crate::told::{Diagnostic, Range};
use syntax::LineMap;

/// The same places in the text as it is now. Places in lines that are gone go with them.
pub fn shifted(diagnostics: &[Diagnostic], old: &str, new: &str) -> Vec<Diagnostic> {
    if diagnostics.is_empty() || old == new {
        return diagnostics.to_vec();
    }
    let lines = LineMap::between(old, new);
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let shift = |diagnostic: &Diagnostic| {
        let from = diagnostic.range.start.0;
        let to = lines.map(from + 1).saturating_sub(1);
        let (before, after) = (old.get(from as usize)?, new.get(to as usize)?);
        let edit = Edit::between(before, after);
        let (start, end) =
            (edit.moved_start(diagnostic.range.start.1), edit.moved_end(diagnostic.range.end.1));
        let range = Range { start: (to, start), end: (to, end) };
        (range.start < range.end).then(|| Diagnostic { range, ..diagnostic.clone() })
    };
    diagnostics.iter().filter_map(shift).collect()
}

/// What two versions of a line have in common, in UTF-16 units: so many at the beginning, so many at the end.
struct Edit {
    start: usize,
    end: usize,
    before: usize,
    after: usize,
}

impl Edit {
    fn between(before: &str, after: &str) -> Edit {
        let (before, after): (Vec<u16>, Vec<u16>) =
            (before.encode_utf16().collect(), after.encode_utf16().collect());
        let start = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let most = before.len().min(after.len());
        let end = before.iter().rev().zip(after.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        Edit { start, end, before: before.len(), after: after.len() }
    }

    /// Something that begins where something is inserted begins behind it.
    fn moved_start(&self, column: u32) -> u32 {
        let at = column as usize;
        if at + self.end >= self.before { self.counted_from_end(at) } else { self.counted_from_start(at) }
    }

    /// Something that ends there ends before it.
    fn moved_end(&self, column: u32) -> u32 {
        let at = column as usize;
        if at <= self.start { self.counted_from_start(at) } else { self.counted_from_end(at) }
    }

    fn counted_from_start(&self, at: usize) -> u32 {
        u32::try_from(at.min(self.start)).unwrap_or(u32::MAX)
    }

    fn counted_from_end(&self, at: usize) -> u32 {
        let left = self.before.saturating_sub(at).min(self.end);
        u32::try_from(self.after - left).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, columns: std::ops::Range<u32>) -> Diagnostic {
        Diagnostic {
            range: Range { start: (line, columns.start), end: (line, columns.end) },
            severity: 1,
            rule: "race",
            id: String::new(),
            message: String::new(),
            related: Vec::new(),
        }
    }

    fn after(old: &str, new: &str, one: Diagnostic) -> Vec<Range> {
        shifted(&[one], old, new).into_iter().map(|one| one.range).collect()
    }

    #[test]
    fn a_line_above_moves_what_is_below() {
        let moved = after("a\nbb\n", "a\nx\nbb\n", at(1, 0..2));
        assert_eq!(moved, [Range { start: (2, 0), end: (2, 2) }]);
    }

    #[test]
    fn what_is_typed_before_it_on_its_line_moves_it_too() {
        let moved = after("int n;\n  n++;\n", "int n;\n    n++;\n", at(1, 2..3));
        assert_eq!(moved, [Range { start: (1, 4), end: (1, 5) }]);
    }

    #[test]
    fn what_is_typed_behind_it_does_not() {
        let moved = after("n++;\n", "n++; //\n", at(0, 0..1));
        assert_eq!(moved, [Range { start: (0, 0), end: (0, 1) }]);
    }

    #[test]
    fn what_is_deleted_is_gone() {
        assert!(after("n++;\n", ";\n", at(0, 0..1)).is_empty());
        assert!(after("n++;\n", "", at(0, 0..1)).is_empty());
    }
}
