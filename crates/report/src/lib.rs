//! Renders a report for people and for machines: text with source excerpts, JSON, what other tools read, and the tables
//! of statistics and of measured edits. Knows nothing of the analysis, of files, or of where its output goes.

pub mod about;
pub mod baseline;
pub mod diff;
pub mod editor;
pub mod edits;
pub mod field;
mod files;
pub mod github;
pub mod gitlab;
pub mod json;
pub mod junit;
mod line_hash;
mod names;
pub mod overview;
pub mod rules;
pub mod sarif;
mod spot;
pub mod stats;
pub mod text;

/// Where source text is found. `file` is as it stands in the report: package path and file name.
pub trait Sources {
    /// The whole text, if the source is there.
    fn text(&self, file: &str) -> Option<String>;

    /// The name to show instead: a path that the reader can open, or `file` itself.
    fn display(&self, file: &str) -> String;
}

/// For programs without sources: every name is shown as it stands in the report.
pub struct NoSources;

impl Sources for NoSources {
    fn text(&self, _: &str) -> Option<String> {
        None
    }

    fn display(&self, file: &str) -> String {
        file.to_owned()
    }
}
