//! The report as a developer reads it in a terminal or a build log. Owns the layout of the whole; each
//! part has a file of its own. Writes strings, never to a stream.

mod excerpt;
mod finding;
mod look;
mod method;
mod note;
mod side;
mod summary;
mod trace;
mod update;

pub use look::{Look, clean};
pub use note::{most_important, no_longer, note, note_counts};
pub use summary::summary;
pub use update::{brief, fixed, hidden, introduced, raised, suppressed};

use crate::{Sources, names::Names};
use findings::Finding;

/// One finding: what happened, then every side of it, then what is known about the whole.
pub fn finding(finding: &Finding, sources: &dyn Sources, look: &Look) -> String {
    finding::render(finding, sources, &Names::new(sources), look)
}
