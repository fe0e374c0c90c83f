//! What a build tool has said about the modules of a project: what each compiles, and with which jars. Reads and keeps
//! the answer, and knows when it is out of date; asks nobody.

use crate::modules::{self, Module};
use crate::walk::children;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// Where it is kept, in the directory of the project.
pub const KEPT: &str = ".snarl/build-paths";
/// Counted up with every change of what an answer looks like.
const FORMAT: &str = "snarl build paths 1";
/// Without it an answer was not written to its end.
const END: &str = "end";
/// More is no build.
const MAX_FILES: usize = 2_000;
const MAX_LENGTH: u64 = 4 << 20;
const MAX_DEPTH: usize = 8;

/// By the directories of modules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildPaths(BTreeMap<PathBuf, ModulePaths>);

/// Tests left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModulePaths {
    /// Of the language, if it can be told: 17.
    pub level: Option<u32>,
    /// Directories below which packages begin.
    pub sources: Vec<PathBuf>,
    /// Where the build puts classes.
    pub outputs: Vec<PathBuf>,
    /// Directories of the modules whose classes it sees, and of those that these need.
    pub needs: Vec<PathBuf>,
    /// Everything else that it is compiled and run with.
    pub jars: Vec<PathBuf>,
    /// Coordinates of dependencies that are not on this machine.
    pub missing: Vec<String>,
}

impl BuildPaths {
    /// What the tool has written: a word and a value on each line. Nothing if it was not written to its end.
    ///
    /// ```text
    /// module /home/me/app
    /// level 17
    /// source /home/me/app/src/main/java
    /// output /home/me/app/target/classes
    /// needs /home/me/core
    /// jar /home/me/.m2/repository/g/a/1/a-1.jar
    /// missing g:b:2
    /// end
    /// ```
    fn parse(answer: &str, root: &Path) -> Option<BuildPaths> {
        let real = root.canonicalize().ok()?;
        // Tools tell whole paths; those of the project are known here by the name it was opened with.
        let path = |text: &str| match Path::new(text).strip_prefix(&real) {
            Ok(within) if within.as_os_str().is_empty() => root.to_path_buf(),
            Ok(within) => root.join(within),
            Err(_) => PathBuf::from(text),
        };
        let mut modules: BTreeMap<PathBuf, ModulePaths> = BTreeMap::new();
        let mut module = None;
        for line in answer.lines() {
            let (word, value) = line.split_once(' ').unwrap_or((line, ""));
            if word == "module" {
                module = Some(path(value));
            }
            if word == END {
                return Some(BuildPaths(modules));
            }
            let paths = modules.entry(module.clone()?).or_default();
            match word {
                "level" => paths.level = level(value),
                "source" => paths.sources.push(path(value)),
                "output" => paths.outputs.push(path(value)),
                "needs" => paths.needs.push(path(value)),
                "jar" => paths.jars.push(path(value)),
                "missing" => paths.missing.push(value.to_owned()),
                _ => {}
            }
        }
        None
    }

    /// What was kept, unless the build has changed since or jars are gone.
    pub(crate) fn kept(root: &Path, modules: &[Module]) -> Option<BuildPaths> {
        let text = fs::read_to_string(root.join(KEPT)).ok()?;
        let (head, answer) = split(&text)?;
        let paths = BuildPaths::parse(answer, root)?;
        let is_there = paths.0.values().flat_map(|module| &module.jars).all(|jar| jar.exists());
        let directories = modules.iter().map(|module| &module.directory).chain(paths.0.keys());
        (is_there && head == fingerprint(root, directories)).then_some(paths)
    }

    /// Gives each module what is said of it, and adds those that were not known.
    pub(crate) fn give(self, modules: &mut Vec<Module>) {
        for (directory, paths) in self.0 {
            match modules.iter_mut().find(|module| module.directory == directory) {
                Some(module) => module.told = Some(paths),
                None if !directory.is_dir() => {}
                None => modules.push(Module { told: Some(paths), ..Module::at(&directory) }),
            }
        }
    }
}

/// A project whose build tool may be asked.
#[derive(Debug, Clone)]
pub struct Build {
    root: PathBuf,
    modules: Vec<PathBuf>,
    /// What is kept is up to date and nothing was missing.
    pub is_known: bool,
    /// Another one when the build has changed.
    pub fingerprint: String,
}

impl Build {
    /// Nothing where there is no Maven or Gradle project.
    pub fn at(root: &Path) -> Option<Build> {
        if !modules::is_project(root) {
            return None;
        }
        let modules = modules::modules(root, &mut Vec::new());
        let kept = BuildPaths::kept(root, &modules);
        let is_known = kept.is_some_and(|paths| paths.0.values().all(|module| module.missing.is_empty()));
        let modules: Vec<PathBuf> = modules.into_iter().map(|module| module.directory).collect();
        let fingerprint = fingerprint(root, modules.iter());
        Some(Build { root: root.to_path_buf(), modules, is_known, fingerprint })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Keeps an answer for whoever opens the project. Whether it is another than before.
    pub fn keep(&self, answer: &str) -> io::Result<bool> {
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, "the answer is incomplete");
        let paths = BuildPaths::parse(answer, &self.root).ok_or_else(invalid)?;
        let directories = self.modules.iter().chain(paths.0.keys());
        let text = format!("{FORMAT}\n{}\n{answer}", fingerprint(&self.root, directories));
        let file = self.root.join(KEPT);
        if fs::read_to_string(&file).is_ok_and(|kept| kept == text) {
            return Ok(false);
        }
        let directory = file.parent().unwrap_or(&self.root);
        fs::create_dir_all(directory)?;
        if let Ok(mut ignored) = fs::File::create_new(directory.join(".gitignore")) {
            io::Write::write_all(&mut ignored, b"*\n")?;
        }
        let mut unfinished = tempfile::NamedTempFile::new_in(directory)?;
        io::Write::write_all(&mut unfinished, text.as_bytes())?;
        unfinished.persist(&file).map_err(|error| error.error)?;
        Ok(true)
    }
}

/// The fingerprint of the build, and the answer.
fn split(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix(FORMAT)?.strip_prefix('\n')?.split_once('\n')
}

/// `1.8` and `8` are the same.
pub(crate) fn level(text: &str) -> Option<u32> {
    text.strip_prefix("1.").unwrap_or(text).trim().parse().ok()
}

/// Of every file that a build is written in.
fn fingerprint<'a>(root: &'a Path, modules: impl Iterator<Item = &'a PathBuf>) -> String {
    let mut files = BTreeSet::new();
    for directory in modules.map(PathBuf::as_path).chain([root]) {
        files.extend(children(directory).into_iter().filter(|file| is_build_file(file)));
    }
    for directory in [".mvn", "gradle", "buildSrc"] {
        all_below(&root.join(directory), 0, &mut files);
    }
    let mut hasher = Xxh3::new();
    for file in files {
        let bytes = fs::read(&file).unwrap_or_default();
        let name = file.strip_prefix(root).unwrap_or(&file);
        hasher.update(name.as_os_str().as_encoded_bytes());
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(&bytes);
    }
    format!("{:016x}", hasher.digest())
}

fn is_build_file(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_named = ["pom.xml", "gradle.properties", "gradle.lockfile"].contains(&name);
    is_named || name.ends_with(".gradle") || name.ends_with(".gradle.kts")
}

fn all_below(directory: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) {
    for child in children(directory) {
        let Ok(metadata) = fs::symlink_metadata(&child) else { continue };
        let is_made = ["build", ".gradle", "out", "bin"].iter().any(|name| child.ends_with(name));
        if metadata.is_dir() && !is_made && depth < MAX_DEPTH {
            all_below(&child, depth + 1, files);
        } else if metadata.is_file() && metadata.len() <= MAX_LENGTH && files.len() < MAX_FILES {
            files.insert(child);
        }
    }
}
