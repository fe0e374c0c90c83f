//! Maven and Gradle projects by their usual layout: which modules there are, and where each keeps its classes
//! and sources. Runs no build; decides nothing about compiling.

use crate::build_paths::ModulePaths;
use crate::gradle::{self, BUILD_FILES, SETTINGS_FILES};
use crate::maven;
use crate::pom::{Dependency, Pom};
use crate::walk::children;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_MODULES: usize = 2_000;
const MAX_DEPTH: usize = 8;
const LANGUAGES: [&str; 4] = ["java", "kotlin", "scala", "groovy"];

pub struct Module {
    pub directory: PathBuf,
    pub pom: Option<Pom>,
    /// Dependencies named in a Gradle build file.
    pub gradle: Vec<Dependency>,
    /// What its build tool has said, which counts more than what can be read here.
    pub told: Option<ModulePaths>,
}

/// Whether a directory is the root of a Maven or Gradle project or module.
pub fn is_project(directory: &Path) -> bool {
    let files = ["pom.xml"].iter().chain(&BUILD_FILES).chain(&SETTINGS_FILES);
    files.into_iter().any(|name| directory.join(name).is_file())
}

/// The project itself and its modules, outermost first. Poms that cannot be read are named in `unreadable`.
pub fn modules(root: &Path, unreadable: &mut Vec<String>) -> Vec<Module> {
    let mut directories = Vec::new();
    if root.join("pom.xml").is_file() {
        maven_modules(root, &mut directories, &mut BTreeSet::new(), unreadable);
    } else {
        gradle_modules(root, &mut directories, 0);
    }
    let with_dependencies = |(directory, pom): (PathBuf, Option<Pom>)| {
        let gradle = gradle::dependencies(&directory, root);
        Module { directory, pom, gradle, told: None }
    };
    directories.into_iter().map(with_dependencies).collect()
}

/// Maven says which directories are modules.
fn maven_modules(
    directory: &Path,
    found: &mut Vec<(PathBuf, Option<Pom>)>,
    seen: &mut BTreeSet<PathBuf>,
    unreadable: &mut Vec<String>,
) {
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    if found.len() >= MAX_MODULES || !seen.insert(real) {
        return;
    }
    let file = directory.join("pom.xml");
    let pom = maven::read(&file);
    if pom.is_none() {
        unreadable.push(file.display().to_string());
    }
    let modules = pom.iter().flat_map(|pom| pom.modules.clone()).collect::<Vec<_>>();
    found.push((directory.to_path_buf(), pom));
    for module in modules {
        let path = directory.join(module);
        let path = if path.is_file() { path.parent().unwrap_or(directory).to_path_buf() } else { path };
        if path.is_dir() {
            maven_modules(&path, found, seen, unreadable);
        }
    }
}

/// Gradle's settings are a program; whatever looks like a module is taken for one.
fn gradle_modules(directory: &Path, found: &mut Vec<(PathBuf, Option<Pom>)>, depth: usize) {
    if found.len() >= MAX_MODULES || depth > MAX_DEPTH {
        return;
    }
    if depth == 0 || is_project(directory) || directory.join("src/main").is_dir() {
        found.push((directory.to_path_buf(), None));
    }
    let children = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut children: Vec<_> = children.filter(|child| child.is_dir() && !child.is_symlink()).collect();
    children.sort();
    for child in children {
        let name = child.file_name().and_then(|name| name.to_str()).unwrap_or(".");
        let skipped = ["src", "build", "out", "bin", "target", "node_modules", "buildSrc", "gradle"];
        if !name.starts_with('.') && !skipped.contains(&name) {
            gradle_modules(&child, found, depth + 1);
        }
    }
}

impl Module {
    /// The module in a directory that has a build file.
    pub fn at(directory: &Path) -> Module {
        Module {
            directory: directory.to_path_buf(),
            pom: maven::read(&directory.join("pom.xml")),
            gradle: Vec::new(),
            told: None,
        }
    }

    /// Where a build puts the classes of the program; tests are elsewhere.
    pub fn class_directories(&self) -> Vec<PathBuf> {
        let mut names = vec!["target/classes".to_string()];
        names.extend(LANGUAGES.map(|language| format!("build/classes/{language}/main")));
        names.extend(["build/classes/main", "bin/main", "out/production/classes"].map(str::to_string));
        match &self.told {
            // Elsewhere there may be classes of an earlier build.
            Some(told) if !told.outputs.is_empty() => {
                told.outputs.iter().filter(|path| path.is_dir()).cloned().collect()
            }
            _ => self.existing(names),
        }
    }

    pub fn source_directories(&self) -> Vec<PathBuf> {
        let mut names: Vec<_> = LANGUAGES.iter().map(|language| format!("src/main/{language}")).collect();
        names.extend(self.pom.iter().filter_map(|pom| pom.source_directory.clone()));
        let mut found = self.existing(names);
        let told = self.told.iter().flat_map(|told| &told.sources).filter(|path| path.is_dir());
        found.extend(told.cloned());
        let mut seen = BTreeSet::new();
        found.retain(|directory| seen.insert(directory.clone()));
        found
    }

    /// Sources that the build itself wrote.
    pub fn generated_directories(&self) -> Vec<PathBuf> {
        let mut found = children(&self.directory.join("target/generated-sources"));
        for tool in children(&self.directory.join("build/generated/sources")) {
            found.extend([tool.join("java/main"), tool.join("main/java"), tool.join("main")]);
        }
        let told = self.told.iter().flat_map(|told| &told.sources).collect::<BTreeSet<_>>();
        found.retain(|directory| directory.is_dir() && !told.contains(directory));
        found
    }

    /// Resources as the build copied them, or else as written.
    pub fn resource_directories(&self) -> Vec<PathBuf> {
        let built = self.existing(["target/classes", "build/resources/main"].map(str::to_string).to_vec());
        if built.is_empty() { self.existing(vec!["src/main/resources".to_string()]) } else { built }
    }

    /// Directories that hold the jars of dependencies.
    pub fn jar_directories(&self) -> Vec<PathBuf> {
        self.existing(["target/dependency", "lib", "libs"].map(str::to_string).to_vec())
    }

    fn existing(&self, names: Vec<String>) -> Vec<PathBuf> {
        names.into_iter().map(|name| self.directory.join(name)).filter(|path| path.is_dir()).collect()
    }
}
