//! A user's program under analysis, whoever asks for it: what decides the analysis, what is kept between runs, and what
//! of a report is wanted. Knows nothing of arguments, terminals or editors.

mod begin;
mod kept;
mod sources;
mod wanted;

pub use begin::{first, rest, session, with_notes};
pub use kept::Kept;
pub use sources::ProjectSources;
pub use wanted::{Program, Wanted};

use project::Config;
use std::path::PathBuf;

/// Everything that decides what an analysis says.
#[derive(Clone)]
pub struct Setup {
    pub request: project::Request,
    pub options: session::Options,
    /// Model files on top of the shipped ones, the last on top.
    pub models: Vec<PathBuf>,
    pub keep: Keep,
    /// What is known already and not to be told.
    pub baseline: Option<PathBuf>,
    /// What the project's own file says; what was asked for otherwise is said above.
    pub config: Config,
    /// The analysis itself is of interest: what is kept does not count.
    pub measured: bool,
}

/// Where reports are kept for the next run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    Nowhere,
    /// In the directory that is analysed, if it is that of a project.
    InProject,
    In(PathBuf),
}

/// What the project's file says of engines, as an analysis takes it.
pub fn configured_engines(configured: project::Engines) -> session::Engines {
    match configured {
        project::Engines::Both => session::Engines::Both,
        project::Engines::WholeProgram => session::Engines::WholeProgram,
        project::Engines::Compositional => session::Engines::Compositional,
    }
}

/// What it assumes about threads.
pub fn assumptions(config: &Config) -> session::Assumptions {
    let project::Assume { confined, never_parallel } = config.assume.clone();
    session::Assumptions { confined, never_parallel }
}

/// What it says of annotations: meanings and names, one by one.
pub fn annotations(config: &Config) -> Vec<(String, String)> {
    let each = |(meaning, names): (&String, &Vec<String>)| {
        names.iter().map(|name| (meaning.clone(), name.clone())).collect::<Vec<_>>()
    };
    config.annotations.iter().flat_map(each).collect()
}
