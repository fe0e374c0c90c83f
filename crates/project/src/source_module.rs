//! Sources that belong together while they are edited, and what they are compiled against. Compiles nothing, and reads
//! no source.

use crate::build_paths::level;
use crate::gradle;
use crate::modules::Module;
use crate::plan::{Plan, newest};
use crate::walk::Survey;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A module of a project, or a directory of sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceModule {
    /// Where it lies; no other lies there.
    pub directory: PathBuf,
    /// Sorted within each root.
    pub sources: Vec<PathBuf>,
    /// Directories below which packages begin.
    pub roots: Vec<PathBuf>,
    /// Where a build has put the classes of these sources.
    pub outputs: Vec<PathBuf>,
    /// When the last of them was written; nothing if there are none.
    pub built: Option<SystemTime>,
    /// Jars and directories of classes: its own outputs, those of other modules, libraries.
    pub class_path: Vec<PathBuf>,
    /// Directories of the modules whose classes it sees, nearest first; never in a circle.
    pub depends_on: Vec<PathBuf>,
    /// Of the language, as far as the build says one: 17.
    pub level: Option<u32>,
    /// What its build tool has said that it is compiled with, other modules aside, until it has a class path.
    pub(crate) jars: Option<Vec<PathBuf>>,
}

impl SourceModule {
    pub(crate) fn of(module: &Module) -> SourceModule {
        let told = module.told.as_ref().and_then(|told| told.level);
        let level = told.or_else(|| module.pom.as_ref().and_then(|pom| said_level(&pom.properties)));
        SourceModule { directory: module.directory.clone(), level, ..SourceModule::default() }
    }

    pub(crate) fn in_directory(directory: &Path, found: &Survey) -> SourceModule {
        let here = vec![directory.to_path_buf()];
        SourceModule {
            directory: directory.to_path_buf(),
            sources: found.java.clone(),
            outputs: if found.classes.is_empty() { Vec::new() } else { here.clone() },
            built: newest(&found.classes),
            roots: here,
            ..SourceModule::default()
        }
    }

    pub(crate) fn alone(directory: &Path, sources: Vec<PathBuf>) -> SourceModule {
        SourceModule { directory: directory.to_path_buf(), sources, ..SourceModule::default() }
    }
}

fn said_level(properties: &BTreeMap<String, String>) -> Option<u32> {
    const NAMES: [&str; 4] =
        ["maven.compiler.release", "maven.compiler.source", "maven.compiler.target", "java.version"];
    let text = NAMES.iter().find_map(|name| properties.get(*name))?;
    level(text)
}

impl Plan {
    /// Says of each module which others it sees: those that its pom or Gradle file names, and what these see.
    pub(crate) fn connect(&mut self, project: &[Module]) {
        let all: Vec<&PathBuf> = self.modules.iter().map(|module| &module.directory).collect();
        let needs: BTreeMap<PathBuf, Vec<PathBuf>> =
            project.iter().map(|module| (module.directory.clone(), needed(module, project, &all))).collect();
        let order = self.modules.iter().map(|module| module.directory.clone()).collect::<Vec<_>>();
        for directory in order {
            let mut seen = vec![directory.clone()];
            let mut next = 0;
            while let Some(module) = seen.get(next) {
                let more = needs.get(module).into_iter().flatten();
                let more: Vec<PathBuf> = more.filter(|other| !seen.contains(other)).cloned().collect();
                seen.extend(more);
                next += 1;
            }
            seen.remove(0);
            let is_circle = |other: &PathBuf| {
                self.modules
                    .iter()
                    .any(|module| module.directory == *other && module.depends_on.contains(&directory))
            };
            // Builds refuse circles; where one is seen nevertheless, who comes first does not see the other.
            seen.retain(|other| all_have(&self.modules, other) && !is_circle(other));
            if let Some(module) = self.modules.iter_mut().find(|module| module.directory == directory) {
                module.depends_on = seen;
            }
        }
    }

    /// To each module what its build tool has said, or else the whole class path; its own classes first.
    pub(crate) fn give_class_paths(&mut self) {
        let all = self.classpath();
        let outputs: BTreeMap<PathBuf, Vec<PathBuf>> =
            self.modules.iter().map(|module| (module.directory.clone(), module.outputs.clone())).collect();
        for module in &mut self.modules {
            let needed = module.depends_on.iter().filter_map(|other| outputs.get(other)).flatten();
            // Taken: what comes of it is all that makes modules differ.
            let others: Vec<PathBuf> = match module.jars.take() {
                Some(jars) => needed.chain(&jars).chain(&self.asked_for).cloned().collect(),
                None => all.clone(),
            };
            let mut seen = BTreeSet::new();
            let mut class_path: Vec<PathBuf> = module.outputs.iter().cloned().chain(others).collect();
            class_path.retain(|path| seen.insert(path.clone()));
            module.class_path = class_path;
        }
    }
}

fn all_have(modules: &[SourceModule], directory: &Path) -> bool {
    modules.iter().any(|module| module.directory == directory)
}

/// The modules that this one names.
fn needed(module: &Module, project: &[Module], all: &[&PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(told) = &module.told {
        found.extend(told.needs.iter().cloned());
    } else if let Some(pom) = &module.pom {
        let is_named = |other: &&Module| {
            other.pom.as_ref().is_some_and(|theirs| {
                // Groups are often those of a parent or a property, and artifacts of one project seldom alike.
                pom.dependencies.iter().any(|one| one.coordinates.artifact == theirs.coordinates.artifact)
            })
        };
        found.extend(project.iter().filter(is_named).map(|other| other.directory.clone()));
    } else {
        for name in gradle::projects(&module.directory) {
            let last = |other: &Path| other.file_name().map(|last| last.to_string_lossy().into_owned());
            let is_it = |other: &&&PathBuf| last(other).is_some_and(|last| gradle::is_called(&last, &name));
            found.extend(all.iter().find(is_it).map(|other| (*other).clone()));
        }
    }
    found.retain(|other| *other != module.directory);
    found
}
