//! What the run could not do, in one line each or counted by kind. Decides which notes a reader must see;
//! knows nothing of why they arose.

use super::{Look, look::clean};
use findings::Note;
use std::collections::BTreeMap;

/// Something is wrong with what was given to analyse, and the reader can put it right.
const ABOUT_THE_INPUT: [&str; 27] = [
    "bad-java-home",
    "corrupt-archive",
    "corrupt-class",
    "corrupt-entry",
    "empty-path",
    "malformed-suppression",
    "misplaced-class",
    "missing-classpath",
    "missing-dependency",
    "nested-too-deep",
    "no-archive",
    "no-entry-point",
    "no-main",
    "one-thread",
    "opaque-dependencies",
    "over-budget",
    "source-errors",
    "sources-only",
    "too-many-files",
    "uncompiled-sources",
    "unknown-entry-point",
    "unknown-rule",
    "unreadable-file",
    "unsettled-file",
    "unused-assumption",
    "unused-suppression",
    "vanished-path",
];

/// Of one kind, this many say enough.
const PER_KIND: usize = 3;

/// The notes that a reader should see without asking, and the others.
pub fn most_important(notes: &[Note]) -> (Vec<&Note>, Vec<&Note>) {
    let mut told = BTreeMap::<&str, usize>::new();
    notes.iter().partition(|note| {
        let before = told.entry(&note.kind).or_default();
        *before += 1;
        needs_attention(note) && *before <= PER_KIND
    })
}

pub(crate) fn needs_attention(note: &Note) -> bool {
    ABOUT_THE_INPUT.contains(&note.kind.as_str())
}

/// "note[missing-class]: … (3 times)".
pub fn note(note: &Note, look: &Look) -> String {
    let head = format!("note[{}]", clean(&note.kind));
    let head = if needs_attention(note) { look.alert(&head) } else { look.key(&head) };
    format!("{head}: {}", words(note))
}

/// What it says, and how often it happened.
pub(crate) fn words(note: &Note) -> String {
    let times = if note.count > 1 { format!(" ({} times)", note.count) } else { String::new() };
    format!("{}{times}", clean(&note.message))
}

/// "no longer[missing-class]: …", of a note that was told earlier.
pub fn no_longer(note: &Note, look: &Look) -> String {
    let head = format!("no longer[{}]", clean(&note.kind));
    format!("{}: {}", look.good(&head), clean(&note.message))
}

/// "notes: 12 missing-class, 3 opaque-call · --notes lists them"; `None` if there is nothing to count.
pub fn note_counts<'a>(notes: impl IntoIterator<Item = &'a Note>, look: &Look) -> Option<String> {
    let mut counts = BTreeMap::<&str, u64>::new();
    for note in notes {
        *counts.entry(&note.kind).or_default() += note.count;
    }
    if counts.is_empty() {
        return None;
    }
    let kinds: Vec<String> = counts.iter().map(|(kind, count)| format!("{count} {}", clean(kind))).collect();
    Some(format!("{}: {} · --notes lists them", look.key("notes"), kinds.join(", ")))
}
