//! Compiles sources again when they or what they are compiled against have changed. Where sources have errors,
//! the classes of their last good version stay; knows nothing of what is watched.

use crate::Error;
use crate::assemble::Items;
use crate::classpath::ClassPath;
use crate::compile::{self, Compiled};
use crate::held::Held;
use crate::jdk::{Environment, Jdk};
use crate::plan::{Plan, Unit, What};
use crate::shelf::Piece;
use classfile::Layer;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Each round leaves out the files with errors, and those that need them may come to have errors then.
const ROUNDS: usize = 4;

/// The outcome of the last compilation.
#[derive(Default)]
pub struct Recompiler {
    /// Everything that went in, by content.
    inputs: Vec<(PathBuf, u64)>,
    pub outputs: Vec<Output>,
    /// What is wrong with sources, a line for each file.
    pub errors: Vec<String>,
    /// Files were written while they were compiled: to be done again.
    pub was_overtaken: bool,
}

/// Class files below one root.
pub struct Output {
    pub root: PathBuf,
    pub pieces: Vec<Piece>,
}

/// What sources are compiled with.
pub struct Tools<'a> {
    pub jdk: &'a Jdk,
    pub environment: &'a Environment,
}

impl Recompiler {
    /// The first time, when there are no classes to fall back on: an error if nothing can be compiled.
    pub fn start(plan: &Plan, held: &mut Held, tools: &Tools) -> Result<Recompiler, Error> {
        let mut first = Recompiler::default();
        match first.follow(plan, held, &ClassPath::new(Vec::new()), tools) {
            Some(error) if first.outputs.iter().all(|output| output.pieces.is_empty()) => Err(error),
            _ => Ok(first),
        }
    }

    /// `last` has the classes that stay where sources have errors. Returns what stood in the way of compiling
    /// everything.
    pub fn follow(&mut self, plan: &Plan, held: &mut Held, last: &ClassPath, tools: &Tools) -> Option<Error> {
        let inputs = inputs(plan, held);
        if inputs == self.inputs {
            return None;
        }
        *self = Recompiler { inputs, ..Recompiler::default() };
        let error = match tools.compile(&plan.compile, &plan.classpath()) {
            Ok(compiled) => {
                self.outputs = outputs(compiled);
                None
            }
            Err(error) => {
                self.compile_what_is_good(&error, plan, last, tools);
                Some(error)
            }
        };
        // The compiler may have seen something else than what was looked at before: then this says nothing.
        self.was_overtaken = plan.files().any(|file| !held.is_as_seen(file));
        if self.was_overtaken {
            self.inputs.clear();
        }
        error
    }

    /// Leaves out sources with errors, and takes the classes they had.
    fn compile_what_is_good(&mut self, error: &Error, plan: &Plan, last: &ClassPath, tools: &Tools) {
        let all: Vec<&PathBuf> = plan.compile.iter().flat_map(|unit| &unit.sources).collect();
        let classes = Classes::of(last, &all);
        // Not being able to write them down only means that less can be compiled.
        let scratch = classes.write_down().ok();
        let mut classpath = plan.classpath();
        classpath.extend(scratch.iter().map(|scratch| scratch.path().to_path_buf()));

        let mut units = plan.compile.clone();
        let mut bad = BTreeSet::new();
        let mut found = files_with_errors(error, &units);
        // The errors of later rounds only follow from what was left out.
        self.errors.extend(found.values().cloned());
        for _ in 0..ROUNDS {
            if found.is_empty() {
                break;
            }
            bad.extend(found.into_keys());
            units.iter_mut().for_each(|unit| unit.sources.retain(|source| !bad.contains(source)));
            units.retain(|unit| !unit.sources.is_empty());
            match tools.compile(&units, &classpath) {
                Ok(compiled) => {
                    self.outputs = outputs(compiled);
                    self.outputs.push(classes.from(&bad));
                    return;
                }
                Err(error) => found = files_with_errors(&error, &units),
            }
        }
        if self.errors.is_empty() {
            let text = error.to_string();
            self.errors.extend(text.lines().find(|line| !line.ends_with(':')).map(str::to_string));
        }
        self.outputs = vec![classes.from(&all.into_iter().cloned().collect())];
    }
}

impl Tools<'_> {
    fn compile(&self, units: &[Unit], classpath: &[PathBuf]) -> Result<Option<Compiled>, Error> {
        compile::compile(units, classpath, self.jdk, self.environment)
    }
}

/// What a compilation depends on. A source that is only touched is the same as before.
fn inputs(plan: &Plan, held: &mut Held) -> Vec<(PathBuf, u64)> {
    if plan.compile.is_empty() {
        return Vec::new();
    }
    let mut inputs = Vec::new();
    let mut add = |path: &PathBuf, version| inputs.push((path.clone(), version));
    for source in plan.compile.iter().flat_map(|unit| &unit.sources) {
        add(source, held.version_of_file(source));
    }
    for element in &plan.elements {
        match &element.what {
            What::Archive(path) => add(path, held.version_of_jar(path)),
            What::Classes { classes, .. } => {
                classes.iter().for_each(|class| add(class, held.version_of_file(class)));
            }
        }
    }
    inputs
}

/// Read at once: the directory goes away with `compiled`.
fn outputs(compiled: Option<Compiled>) -> Vec<Output> {
    let hold = |path: PathBuf| {
        let held = fs::read(&path).ok()?.into();
        Some(Piece { path, held: Some(held) })
    };
    let outs = compiled.iter().flat_map(|compiled| &compiled.outs);
    outs.map(|out| Output {
        root: out.clone(),
        pieces: compile::classes(out).into_iter().filter_map(hold).collect(),
    })
    .collect()
}

/// Which sources the compiler complains about, with the first complaint about each.
fn files_with_errors(error: &Error, units: &[Unit]) -> BTreeMap<PathBuf, String> {
    let Error::Compile { output, .. } = error else { return BTreeMap::new() };
    let sources: BTreeSet<&Path> =
        units.iter().flat_map(|unit| &unit.sources).map(PathBuf::as_path).collect();
    let mut found = BTreeMap::new();
    for line in output.lines() {
        // `a/B.java:12: error: …`
        let Some((place, _)) = line.split_once(": error: ") else { continue };
        let Some((file, _)) = place.rsplit_once(':') else { continue };
        if sources.contains(Path::new(file)) {
            found.entry(PathBuf::from(file)).or_insert_with(|| line.to_string());
        }
    }
    found
}

/// The program's own classes that came from some of these sources, with their sources.
struct Classes(Vec<(String, Piece, PathBuf)>);

impl Classes {
    fn of(classpath: &ClassPath, sources: &[&PathBuf]) -> Classes {
        let mut by_name: BTreeMap<&str, Vec<&PathBuf>> = BTreeMap::new();
        for source in sources {
            let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            by_name.entry(name).or_default().push(source);
        }
        let source_of = |name: &str, piece: &Piece| -> Option<PathBuf> {
            let bytes = piece.read().ok()?;
            let (package, simple) = name.rsplit_once('/').unwrap_or(("", name));
            // Without debug information, as most sources are named.
            let outermost = || format!("{}.java", simple.split('$').next().unwrap_or(simple));
            let file = classfile::parse(&bytes).ok()?.source_file.map(|file| file.to_string());
            let file = file.unwrap_or_else(outermost);
            let candidates = by_name.get(file.as_str())?;
            let place = Path::new(package).join(&file);
            // A source need not lie in the directory of its package.
            let alone = || candidates.first().filter(|_| candidates.len() == 1);
            let source = candidates.iter().find(|source| source.ends_with(&place)).or_else(alone)?;
            Some((*source).clone())
        };
        let mut classes = Vec::new();
        for container in classpath.containers.iter().filter(|container| container.layer == Layer::App) {
            let Items::Classes(pieces, names) = &container.items else { continue };
            for (piece, name) in pieces.iter().zip(names) {
                if let Some(source) = source_of(name, piece) {
                    classes.push((name.clone(), piece.clone(), source));
                }
            }
        }
        Classes(classes)
    }

    fn from(&self, sources: &BTreeSet<PathBuf>) -> Output {
        let root = PathBuf::new();
        let chosen = self.0.iter().filter(|(_, _, source)| sources.contains(source));
        let piece = |(name, piece, _): &(String, Piece, PathBuf)| Piece {
            path: PathBuf::from(format!("{name}.class")),
            held: piece.held.clone(),
        };
        Output { pieces: chosen.map(piece).collect(), root }
    }

    /// As a directory that a compiler can have on its class path.
    fn write_down(&self) -> io::Result<TempDir> {
        let scratch = compile::scratch()?;
        for (name, piece, _) in &self.0 {
            let path = scratch.path().join(format!("{name}.class"));
            fs::create_dir_all(path.parent().unwrap_or(scratch.path()))?;
            fs::write(path, piece.held.as_deref().unwrap_or_default())?;
        }
        Ok(scratch)
    }
}
