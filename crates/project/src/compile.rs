//! Compiles sources into a temporary directory. Knows nothing of what the compiler is called with, nor where its
//! classes go on the class path.

use crate::Error;
use crate::javac;
use crate::jdk::{self, Environment, Jdk};
use crate::plan::Unit;
use crate::walk;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Classes compiled on the way in, deleted with this.
pub struct Compiled {
    _scratch: TempDir,
    pub outs: Vec<PathBuf>,
}

/// Nothing when there is nothing to compile.
pub fn compile(
    units: &[Unit],
    classpath: &[PathBuf],
    jdk: &Jdk,
    environment: &Environment,
) -> Result<Option<Compiled>, Error> {
    if units.is_empty() {
        return Ok(None);
    }
    let javac = jdk::javac(jdk, environment).ok_or_else(|| {
        Error::BadJdk(jdk.home.clone(), "it has no javac, which compiling sources needs".to_string())
    })?;
    let problem = |error: std::io::Error| Error::Compiler(javac.clone(), error.to_string());
    let scratch = scratch().map_err(problem)?;
    let outs = javac::compile(&javac, units, classpath, scratch.path())?;
    Ok(Some(Compiled { _scratch: scratch, outs }))
}

/// The class files in an output directory.
pub fn classes(out: &Path) -> Vec<PathBuf> {
    walk::survey(out, &|_| false).classes
}

pub fn scratch() -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix("snarl-").tempdir()
}
