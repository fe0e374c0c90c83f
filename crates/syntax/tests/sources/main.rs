//! Tests on the Java sources of this repository. Knows nothing of what they are for.

mod any_text;
mod edits;
mod support;
