//! Which `snarl.toml` counts for a command. Knows nothing of what it says.

use crate::args::{ProgramArgs, ProgramSettings};
use anyhow::Result;
use project::Config;
use std::path::{Path, PathBuf};

/// The file that is named, or the one that is about the first path.
pub fn of(program: &ProgramArgs) -> Result<Config> {
    at(program.paths.first().map_or(Path::new("."), |path| path), &program.settings)
}

/// The same for whatever lies at a path.
pub fn at(path: &Path, settings: &ProgramSettings) -> Result<Config> {
    if settings.no_config {
        return Ok(Config::default());
    }
    match settings.config.clone().or_else(|| Config::find(path).map(from_here)) {
        Some(file) => Ok(Config::read(&file)?),
        None => Ok(Config::default()),
    }
}

/// As a reader in the current directory calls it.
fn from_here(file: PathBuf) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    file.strip_prefix(&here).map(Path::to_path_buf).unwrap_or(file)
}
