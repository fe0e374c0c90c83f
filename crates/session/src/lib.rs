//! The façade over the analysis: a class path goes in, a report comes out. Knows nothing of files,
//! editors, JSON or terminals.

use classfile::ClassSource;
use findings::Report;
use std::sync::Arc;

/// What the user may choose about an analysis.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Analyse JDK infrastructure too instead of treating it as opaque.
    pub full_jdk: bool,
    /// Class-name prefixes (dots or slashes) that are treated as opaque.
    pub exclude: Vec<String>,
    /// Classes whose `main` is an entry point; empty means every `main` of the application.
    pub mains: Vec<String>,
    /// `Class.method` entry points in addition.
    pub entries: Vec<String>,
    /// Worker threads; 0 means one per core.
    pub threads: usize,
}

/// One program under analysis.
pub struct Session {
    source: Arc<dyn ClassSource>,
    options: Options,
}

/// Called as the run goes on: stage name, and a count of work done in it so far.
pub type Progress<'a> = &'a (dyn Fn(&'static str, u64) + Sync);

impl Session {
    pub fn new(source: Arc<dyn ClassSource>, options: Options) -> Session {
        Session { source, options }
    }

    /// Analyses everything and reports all findings (every confidence; renderers filter). File names in the
    /// report are package path plus source file name (`bank/Account.java`); the caller maps them to sources.
    pub fn check(&mut self, progress: Progress<'_>) -> Report {
        let _ = (&self.source, &self.options, progress);
        Report::default()
    }
}
