//! `snarl.toml`: what a project says once instead of on every command line. Owns what can be said and where the file is
//! looked for; knows nothing of arguments, which win over it.

mod read;

pub use read::MEANINGS;

use crate::Error;
use findings::{Confidence, Rule, Suppression};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf, absolute};

/// The name of the file, at the root of a project.
pub const CONFIG: &str = "snarl.toml";

/// What the file says; what it does not mention is empty. Paths are relative to the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    pub paths: Vec<PathBuf>,
    pub classpath: Vec<PathBuf>,
    pub main: Vec<String>,
    pub entry: Vec<String>,
    pub exclude: Vec<String>,
    pub models: Vec<PathBuf>,
    pub jdk: Option<PathBuf>,
    pub full_jdk: bool,
    pub engine: Engines,
    /// Facts the whole-program engine may work out.
    pub budget: Option<u64>,
    pub least: Option<Confidence>,
    pub fail_on: Option<FailOn>,
    pub baseline: Option<PathBuf>,
    pub rules: BTreeMap<Rule, Level>,
    pub suppressions: Vec<Suppression>,
    /// Further names of annotations that mean something, by what they mean: `thread-safe`, `ui-thread`, …
    pub annotations: BTreeMap<String, Vec<String>>,
    pub assume: Assume,
}

/// What is to be assumed about threads, because no code says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assume {
    /// Classes and fields that are confined to one thread.
    pub confined: Vec<String>,
    /// Groups of methods of which no two run at the same time.
    pub never_parallel: Vec<Vec<String>>,
}

/// Which analyses are to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Engines {
    #[default]
    Both,
    WholeProgram,
    Compositional,
}

/// The least confidence that fails a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailOn {
    Never,
    From(Confidence),
}

/// Which findings of a rule count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Off,
    From(Confidence),
}

impl Config {
    pub fn read(file: &Path) -> Result<Config, Error> {
        let unreadable = |error: std::io::Error| Error::Unreadable(file.to_path_buf(), error.to_string());
        let text = fs::read_to_string(file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::NotFound(file.to_path_buf()),
            _ => unreadable(error),
        })?;
        read::read(file, &text)
    }

    /// The file that is about a path: beside it or above, up to the root of its repository.
    pub fn find(path: &Path) -> Option<PathBuf> {
        let path = absolute(path).ok()?;
        for directory in path.ancestors() {
            let file = directory.join(CONFIG);
            if file.is_file() {
                return Some(file);
            }
            if directory.join(".git").exists() {
                return None;
            }
        }
        None
    }

    /// Whether findings of this rule, this certain, are wanted.
    pub fn wants(&self, rule: Rule, confidence: Confidence) -> bool {
        match self.rules.get(&rule) {
            None => true,
            Some(Level::Off) => false,
            Some(Level::From(least)) => confidence.at_least(*least),
        }
    }
}
