//! Changes of the text that would repair something. Refuses what would not compile as far as syntax tells, and does
//! not know whether a repair repairs anything.

mod layout;
mod modifier;
mod suppress;
mod swap;
mod wrap;

pub use modifier::FieldModifier;
pub use wrap::Wrapping;

use crate::position::Lines;
use crate::{Range, Source};

/// Text that takes the place of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    pub range: Range,
    pub text: String,
}

/// The text after the edits, none of which may overlap another. Several at one place are made in their order.
pub fn apply(text: &str, edits: &[TextEdit]) -> String {
    let lines = Lines::of(text);
    let span = |edit: &TextEdit| {
        let start = lines.offset(text, edit.range.start);
        start..lines.offset(text, edit.range.end).max(start)
    };
    let mut edits: Vec<_> = edits.iter().map(|edit| (span(edit), &edit.text)).collect();
    edits.sort_by_key(|(span, _)| span.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (span, new) in edits {
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push_str(new);
        at = span.end.max(at);
    }
    out.push_str(&text[at..]);
    out
}

impl Source {
    fn insertion(&self, offset: usize, text: impl Into<String>) -> TextEdit {
        TextEdit { range: self.range(offset..offset), text: text.into() }
    }
}
