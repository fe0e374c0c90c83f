//! The report as a developer reads it in a terminal or a build log. Owns the layout of the whole; each
//! part has a file of its own. Writes strings, never to a stream.

pub(crate) mod excerpt;
mod explain;
mod extent;
mod finding;
mod look;
mod method;
pub(crate) mod note;
mod side;
mod summary;
mod trace;
mod update;

pub use explain::explain;
pub use look::{Look, clean};
pub(crate) use method::readable;
pub use note::{most_important, no_longer, note, note_counts};
pub(crate) use side::{deed, doer, lock};
pub use summary::summary;
pub use update::{brief, dismissed, fixed, hidden, introduced, raised, suppressed};

use crate::{Sources, names::Names};
use extent::Extent;
use findings::Finding;
use std::iter;

/// One finding: what happened, then every side of it, then what is known about the whole.
pub fn finding(finding: &Finding, sources: &dyn Sources, look: &Look) -> String {
    finding::render(finding, sources, &Extent::brief(), look)
}

/// What is found, and every side of it in one sentence with its place: a line each.
pub(crate) fn sentences(finding: &Finding, names: &Names<'_>) -> Vec<String> {
    let sentence = |side: side::Side<'_>| {
        format!("{}, at {}", side.sentence(names), clean(&names.place(&side.site.place)))
    };
    iter::once(message(finding, names)).chain(side::sides(finding).into_iter().map(sentence)).collect()
}

/// What is found, in one sentence.
pub(crate) fn message(finding: &Finding, names: &Names<'_>) -> String {
    let message = if finding.message.is_empty() { finding.rule.summary() } else { &finding.message };
    clean(&names.prose(message))
}
