//! Revisions of the repository around a directory, unpacked where they disturb nobody: neither the working tree nor the
//! index is touched. Runs `git`; knows nothing of what is in a revision.

use crate::{Error, compile};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub struct Git {
    top: PathBuf,
}

/// The files of a revision, deleted with this.
pub struct Checkout {
    _scratch: TempDir,
    root: PathBuf,
}

impl Git {
    /// None where there is no repository, or no `git`.
    pub fn around(directory: &Path) -> Option<Git> {
        let top = said(git(directory).args(["rev-parse", "--show-toplevel"]))?;
        Some(Git { top: PathBuf::from(top) })
    }

    /// The directory of the working tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The commit that a name means.
    pub fn commit(&self, name: &str) -> Option<String> {
        let commit = format!("{name}^{{commit}}");
        said(git(&self.top).args(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]))
    }

    /// Where two commits parted.
    pub fn merge_base(&self, one: &str, other: &str) -> Option<String> {
        said(git(&self.top).args(["merge-base", one, other]))
    }

    pub fn checkout(&self, commit: &str) -> Result<Checkout, Error> {
        let scratch = compile::scratch().map_err(|error| Error::Git(error.to_string()))?;
        let (index, root) = (scratch.path().join("index"), scratch.path().join("tree"));
        let mut prefix = std::ffi::OsString::from("--prefix=");
        prefix.push(&root);
        prefix.push("/");
        run(git(&self.top).env("GIT_INDEX_FILE", &index).args(["read-tree", commit]))?;
        let arguments = ["checkout-index", "--all", "--force", "--quiet"].map(OsStr::new);
        run(git(&self.top).env("GIT_INDEX_FILE", &index).args(arguments).arg(prefix))?;
        // A revision may be empty.
        std::fs::create_dir_all(&root).map_err(|error| Error::Git(error.to_string()))?;
        Ok(Checkout { _scratch: scratch, root })
    }
}

impl Checkout {
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs a command of the user in the root.
    pub fn build(&self, command: &str) -> Result<(), Error> {
        let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut build = Command::new(shell);
        build.args([option, command]).current_dir(&self.root).stdin(Stdio::null());
        let failed = |output: String| Error::Build { command: command.to_owned(), output };
        let output = build.output().map_err(|error| failed(error.to_string()))?;
        if output.status.success() { Ok(()) } else { Err(failed(words(&output))) }
    }
}

/// Finds the repository by itself: inside a hook, variables name what is being committed.
fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).env("LC_ALL", "C").stdin(Stdio::null());
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    command
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

fn run(command: &mut Command) -> Result<(), Error> {
    let output = command.output().map_err(|error| Error::Git(error.to_string()))?;
    if output.status.success() { Ok(()) } else { Err(Error::Git(words(&output))) }
}

fn words(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&text).trim_end().to_owned()
}
