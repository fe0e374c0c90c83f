//! What `snarl diff` compares: which words are paths, which are revisions, and where each side lies once it is there.
//! Knows nothing of what is found in them.

use anyhow::{Context, Result, anyhow, bail};
use project::{Checkout, Git, Request};
use std::path::{Path, PathBuf, absolute};

/// One version of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// A class directory, a jar or a source tree.
    Path(PathBuf),
    Revision {
        name: String,
        commit: String,
    },
    /// The repository as it is.
    WorkingTree,
}

/// A side that can be analysed, for as long as this lives.
pub struct Ready {
    pub request: Request,
    /// What files are named relative to, if it is in a repository.
    pub root: Option<PathBuf>,
    checkout: Option<Checkout>,
}

/// Two words, or one with dots in it, or one revision and the working tree.
pub fn sides(base: &str, head: Option<&str>, git: Option<&Git>) -> Result<(Side, Side)> {
    if let Some(head) = head {
        return Ok((side(base, git)?, side(head, git)?));
    }
    if let (Some(git), false) = (git, Path::new(base).exists())
        && let Some(range) = range(base, git)?
    {
        return Ok(range);
    }
    match side(base, git)? {
        Side::Path(path) => bail!("{}: name a second path to compare it with", path.display()),
        revision => Ok((revision, Side::WorkingTree)),
    }
}

/// `A..B`, or `A...B` for what B has since it parted from A.
fn range(word: &str, git: &Git) -> Result<Option<(Side, Side)>> {
    let or_head = |name: &str| revision(if name.is_empty() { "HEAD" } else { name }, git);
    if let Some((one, other)) = word.split_once("...") {
        let (Side::Revision { commit, .. }, head) = (or_head(one)?, or_head(other)?) else { return Ok(None) };
        let Side::Revision { commit: other, .. } = &head else { return Ok(None) };
        let base = git.merge_base(&commit, other);
        let commit = base.ok_or_else(|| anyhow!("{word}: the two have no commit in common"))?;
        return Ok(Some((Side::Revision { name: short(&commit).to_owned(), commit }, head)));
    }
    match word.split_once("..") {
        // `../x` is a path that is not there.
        Some((one, other)) if !other.starts_with('/') => Ok(Some((or_head(one)?, or_head(other)?))),
        _ => Ok(None),
    }
}

fn side(word: &str, git: Option<&Git>) -> Result<Side> {
    let path = PathBuf::from(word);
    let commit = git.and_then(|git| git.commit(word));
    match (path.exists(), commit) {
        (true, Some(_)) => {
            bail!("{word} is a path and a revision; write ./{word} for the path, {word}^0 for the revision")
        }
        (true, None) => Ok(Side::Path(path)),
        (false, Some(commit)) => Ok(Side::Revision { name: word.to_owned(), commit }),
        (false, None) => Err(unknown(word, git)),
    }
}

fn revision(word: &str, git: &Git) -> Result<Side> {
    let commit = git.commit(word).ok_or_else(|| unknown(word, Some(git)))?;
    Ok(Side::Revision { name: word.to_owned(), commit })
}

fn unknown(word: &str, git: Option<&Git>) -> anyhow::Error {
    match git {
        Some(git) => anyhow!("{word}: neither a path nor a revision of {}", git.top().display()),
        None => {
            anyhow!("{word}: no such path, and there is no git repository here whose revision it could be")
        }
    }
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

impl Side {
    pub fn name(&self) -> String {
        match self {
            Side::Path(path) => path.display().to_string(),
            Side::Revision { name, .. } => name.clone(),
            Side::WorkingTree => "working tree".to_owned(),
        }
    }

    /// Unpacks and builds what has to be.
    pub fn ready(&self, wanted: &Request, build: Option<&str>, git: Option<&Git>) -> Result<Ready> {
        match (self, git) {
            (Side::Path(path), _) => {
                let request = Request { paths: vec![path.clone()], ..wanted.clone() };
                Ok(Ready { request, root: None, checkout: None })
            }
            (Side::Revision { commit, .. }, Some(git)) => {
                let checkout = git.checkout(commit)?;
                if let Some(command) = build {
                    checkout.build(command)?;
                }
                let request = within(wanted, git, &checkout)?;
                Ok(Ready { request, root: Some(checkout.root().to_path_buf()), checkout: Some(checkout) })
            }
            (Side::WorkingTree | Side::Revision { .. }, git) => {
                let root = git.map(|git| git.top().to_path_buf());
                Ok(Ready { request: wanted.clone(), root, checkout: None })
            }
        }
    }
}

impl Ready {
    /// A message about it, as someone in the repository would read it.
    pub fn plain(&self, message: &str) -> String {
        match &self.checkout {
            Some(checkout) => message.replace(&format!("{}/", checkout.root().display()), ""),
            None => message.to_owned(),
        }
    }
}

/// The same paths in the checkout; what the program needs from elsewhere where the revision does not have it.
fn within(wanted: &Request, git: &Git, checkout: &Checkout) -> Result<Request> {
    let moved = |path: &Path| -> Option<PathBuf> {
        let real = path.canonicalize().or_else(|_| absolute(path)).ok()?;
        let top = git.top().canonicalize().ok()?;
        Some(checkout.root().join(real.strip_prefix(top).ok()?))
    };
    let program = |path: &PathBuf| {
        let there = moved(path).with_context(|| format!("{} is not in the repository", path.display()))?;
        match there.exists() {
            true => Ok(there),
            false => bail!("it has no {}; --build COMMAND can make it", path.display()),
        }
    };
    let needed = |path: &PathBuf| {
        let is_all = path.file_name().is_some_and(|name| name == "*");
        let lies = if is_all { path.parent().and_then(moved) } else { moved(path) };
        let there = lies.filter(|there| there.exists());
        there.map_or_else(|| path.clone(), |there| if is_all { there.join("*") } else { there })
    };
    Ok(Request {
        paths: wanted.paths.iter().map(program).collect::<Result<_>>()?,
        classpath: wanted.classpath.iter().map(needed).collect(),
        jdk: wanted.jdk.clone(),
    })
}
