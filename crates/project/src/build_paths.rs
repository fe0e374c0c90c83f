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
const FORMAT: &str = "snarl build paths 2";
/// Without it an answer was not written to its end.
const END: &str = "end";
/// More is no build.
const MAX_FILES: usize = 2_000;
const MAX_LENGTH: u64 = 4 << 20;
const MAX_ANSWER: u64 = 16 << 20;
const MAX_DEPTH: usize = 8;

/// Of all modules, by their directories, and the files that say so beside the usual ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BuildPaths {
    modules: BTreeMap<PathBuf, ModulePaths>,
    files: BTreeSet<PathBuf>,
}

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
    /// The tool itself does not know what it needs.
    is_unknown: bool,
}

impl BuildPaths {
    /// What the tool has written: a word and a value on each line. Nothing if it was not written to its end.
    ///
    /// ```text
    /// module /home/me/app
    /// file /home/me/app/pom.xml
    /// level 17
    /// source /home/me/app/src/main/java
    /// output /home/me/app/target/classes
    /// needs /home/me/core
    /// jar /home/me/.m2/repository/g/a/1/a-1.jar
    /// missing g:b:2
    /// module /home/me/other
    /// unknown
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
        let mut all = BuildPaths::default();
        let mut module = None;
        for line in answer.lines() {
            let (word, value) = line.split_once(' ').unwrap_or((line, ""));
            if word == "module" {
                module = Some(path(value));
            }
            if word == END {
                return Some(all);
            }
            let paths = all.modules.entry(module.clone()?).or_default();
            match word {
                "file" => _ = all.files.insert(path(value)),
                "level" => paths.level = level(value),
                "source" => paths.sources.push(path(value)),
                "output" => paths.outputs.push(path(value)),
                "needs" => paths.needs.push(path(value)),
                "jar" => paths.jars.push(path(value)),
                "missing" => paths.missing.push(value.to_owned()),
                "unknown" => paths.is_unknown = true,
                _ => {}
            }
        }
        None
    }

    fn has_its_jars(&self) -> bool {
        self.modules.values().flat_map(|module| &module.jars).all(|jar| jar.exists())
    }

    fn is_complete(&self) -> bool {
        self.modules.values().all(|module| module.missing.is_empty() && !module.is_unknown)
    }

    /// Gives each module what is said of it, and adds those that were not known.
    pub(crate) fn give(self, modules: &mut Vec<Module>) {
        for (directory, paths) in self.modules.into_iter().filter(|(_, paths)| !paths.is_unknown) {
            match modules.iter_mut().find(|module| module.directory == directory) {
                Some(module) => module.told = Some(paths),
                None if !directory.is_dir() => {}
                None => modules.push(Module { told: Some(paths), ..Module::at(&directory) }),
            }
        }
    }
}

/// The answers that counted last, by the directories of projects: who follows one goes on with them until there are
/// newer ones.
pub(crate) type Answers = BTreeMap<PathBuf, BuildPaths>;

/// A project whose build tool may be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    root: PathBuf,
    modules: Vec<PathBuf>,
    /// Another one when the build has changed.
    pub fingerprint: String,
    /// What is kept is of this build, and nothing was missing.
    pub is_known: bool,
    /// What is kept is of another state of it.
    pub(crate) is_outdated: bool,
}

impl Build {
    /// Nothing where there is no Maven or Gradle project.
    pub fn at(root: &Path) -> Option<Build> {
        let is_project = modules::is_project(root);
        is_project.then(|| Build::of(root, &modules::modules(root, &mut Vec::new())).0)
    }

    /// With what its tool has said of it as it is now.
    pub(crate) fn of(root: &Path, modules: &[Module]) -> (Build, Option<BuildPaths>) {
        let modules: Vec<PathBuf> = modules.iter().map(|module| module.directory.clone()).collect();
        let kept = read(root);
        let paths = kept.as_ref().map(|(_, paths)| paths);
        let fingerprint = fingerprint(root, &modules, paths);
        let is_kept = kept.is_some();
        let kept = kept.filter(|(of, paths)| *of == fingerprint && paths.has_its_jars());
        let kept = kept.map(|(_, paths)| paths);
        let build = Build {
            root: root.to_path_buf(),
            modules,
            fingerprint,
            is_known: kept.as_ref().is_some_and(BuildPaths::is_complete),
            is_outdated: is_kept && kept.is_none(),
        };
        (build, kept)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Keeps an answer for whoever opens the project. Whether it is another than before.
    pub fn keep(&self, answer: &str) -> io::Result<bool> {
        let invalid = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why);
        if Build::at(&self.root).is_none_or(|now| now.fingerprint != self.fingerprint) {
            return Err(invalid("the build has changed meanwhile"));
        }
        let answer: String = answer.lines().map(|line| present(line) + "\n").collect();
        let paths =
            BuildPaths::parse(&answer, &self.root).ok_or_else(|| invalid("the answer is incomplete"))?;
        let text = format!("{FORMAT}\n{}\n{answer}", fingerprint(&self.root, &self.modules, Some(&paths)));
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

/// Directories on a class path need not be there, and a jar that is not is nothing to wait for.
fn present(line: &str) -> String {
    match line.strip_prefix("jar ").filter(|jar| !Path::new(jar).exists()) {
        Some(jar) => format!("absent {jar}"),
        None => line.to_string(),
    }
}

/// The fingerprint of a build, and what was kept of it.
fn read(root: &Path) -> Option<(String, BuildPaths)> {
    let file = root.join(KEPT);
    if fs::metadata(&file).ok()?.len() > MAX_ANSWER {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let (of, answer) = text.strip_prefix(FORMAT)?.strip_prefix('\n')?.split_once('\n')?;
    Some((of.to_string(), BuildPaths::parse(answer, root)?))
}

/// `1.8` and `8` are the same.
pub(crate) fn level(text: &str) -> Option<u32> {
    text.strip_prefix("1.").unwrap_or(text).trim().parse().ok()
}

/// Of every file that a build is written in, and where it lies: what is kept names places.
fn fingerprint(root: &Path, modules: &[PathBuf], told: Option<&BuildPaths>) -> String {
    let mut files: BTreeSet<PathBuf> = told.iter().flat_map(|told| &told.files).cloned().collect();
    let told = told.iter().flat_map(|told| told.modules.keys());
    for directory in modules.iter().chain(told).map(PathBuf::as_path).chain([root]) {
        files.extend(children(directory).into_iter().filter(|file| is_build_file(file)));
    }
    // Gradle files are often cut into pieces that lie beside the modules.
    let beside = children(root).into_iter().filter(|child| child.is_dir() && !is_made(child));
    for directory in beside {
        files.extend(children(&directory).into_iter().filter(|file| is_build_file(file)));
    }
    for directory in [".mvn", "gradle", "buildSrc"] {
        all_below(&root.join(directory), 0, &mut files);
    }
    let mut hasher = Xxh3::new();
    hasher.update(root.canonicalize().unwrap_or_default().as_os_str().as_encoded_bytes());
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
    (is_named || name.ends_with(".gradle") || name.ends_with(".gradle.kts")) && file.is_file()
}

/// Directories that a build makes, and those that nobody looks into.
fn is_made(directory: &Path) -> bool {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with('.') || ["build", "target", "out", "bin", "node_modules"].contains(&name)
}

fn all_below(directory: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) {
    for child in children(directory) {
        let Ok(metadata) = fs::symlink_metadata(&child) else { continue };
        // Further down these may be packages.
        let is_made = depth == 0 && is_made(&child);
        if metadata.is_dir() && !is_made && depth < MAX_DEPTH {
            all_below(&child, depth + 1, files);
        } else if metadata.is_file() && metadata.len() <= MAX_LENGTH && files.len() < MAX_FILES {
            files.insert(child);
        }
    }
}
