//! Puts a Maven or Gradle project on the plan: the classes its build left, the sources when those are newer,
//! and its dependencies. Knows nothing of what a pom looks like.

use crate::build_paths::{Answers, Build, BuildPaths};
use crate::jdk::Environment;
use crate::maven::{self, Effective};
use crate::modules::{self, Module};
use crate::notes::{Kind, Notes};
use crate::plan::{Compiling, Plan, Unit, What, look, must_compile, newest};
use crate::pom::Coordinates;
use crate::repository::Repository;
use crate::source_module::SourceModule;
use crate::walk::Survey;
use classfile::Layer;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl Plan {
    /// False when nothing lies where such projects keep it.
    pub(crate) fn add_project(
        &mut self,
        path: &Path,
        environment: &Environment,
        answers: &mut Answers,
        notes: &Notes,
    ) -> bool {
        let mut unreadable = Vec::new();
        let mut modules = modules::modules(path, &mut unreadable);
        if let Some(told) = self.told(path, &modules, answers, notes) {
            told.give(&mut modules);
        }
        unreadable.into_iter().for_each(|pom| notes.add(Kind::BadBuildFile, pom));
        let mut any = false;
        for module in &modules {
            any |= self.add_module(module, notes);
        }
        if any {
            self.add_dependencies(&modules, &Repository::of(environment), notes);
        }
        self.modules.retain(|module| !module.sources.is_empty());
        self.connect(&modules);
        any
    }

    /// What the build tool has said, of this build or of the last that was known.
    fn told(
        &mut self,
        path: &Path,
        modules: &[Module],
        answers: &mut Answers,
        notes: &Notes,
    ) -> Option<BuildPaths> {
        let (build, told) = Build::of(path, modules);
        if let Some(told) = told {
            answers.insert(path.to_path_buf(), told);
        } else if build.is_outdated || answers.contains_key(path) {
            notes.add(Kind::OutdatedBuildPaths, path.display().to_string());
        }
        self.builds.push(build);
        answers.get(path).cloned()
    }

    fn add_module(&mut self, module: &Module, notes: &Notes) -> bool {
        let mut found = Survey::default();
        let mut built = Vec::new();
        for root in module.class_directories() {
            let classes = look(&root, notes).classes;
            found.classes.extend(classes.iter().cloned());
            built.push((root, classes));
        }
        let roots = module.source_directories();
        for root in &roots {
            let written = look(root, notes);
            found.java.extend(written.java);
            found.other_sources.extend(written.other_sources);
        }
        note_other_languages(module, &found, notes);
        if self.compiling == Compiling::Elsewhere {
            let outputs = built.iter().map(|(root, _)| root.clone()).collect();
            let built = newest(&found.classes);
            let mut written = SourceModule { outputs, built, ..SourceModule::of(module) };
            // What is missing may be somewhere else on the class path.
            let told = module.told.as_ref().filter(|told| told.missing.is_empty());
            written.jars = told.map(|told| told.jars.clone());
            for root in roots.iter().chain(&module.generated_directories()) {
                written.sources.extend(look(root, notes).java);
                written.roots.push(root.clone());
            }
            self.modules.push(written);
        }
        if must_compile(&found) && self.compiling == Compiling::Here {
            self.add_sources(module, found.java.clone(), roots.clone(), notes);
        } else {
            for (root, classes) in built {
                self.add_classes(&root, classes, Vec::new(), Layer::App);
            }
        }
        for root in module.resource_directories() {
            let services = look(&root, notes).services;
            self.add_classes(&root, Vec::new(), services, Layer::App);
        }
        self.source_roots.extend(roots);
        !(found.classes.is_empty() && found.java.is_empty() && found.other_sources.is_empty())
    }

    fn add_sources(
        &mut self,
        module: &Module,
        mut sources: Vec<PathBuf>,
        mut roots: Vec<PathBuf>,
        notes: &Notes,
    ) {
        let generated = module.generated_directories();
        sources.extend(generated.iter().flat_map(|root| look(root, notes).java));
        roots.extend(generated);
        self.compile.push(Unit { sources, roots });
    }

    fn add_dependencies(&mut self, modules: &[Module], repository: &Repository, notes: &Notes) {
        for directory in modules.iter().flat_map(Module::jar_directories) {
            self.add_archives(look(&directory, notes).archives, Layer::Library);
        }
        let mut seen = BTreeSet::new();
        let mut missing = Vec::new();
        for told in modules.iter().filter_map(|module| module.told.as_ref()) {
            // It may have come since.
            let come = |coordinates: &String| repository.file(&Coordinates::parse(coordinates)?, "", "jar");
            let jars = told.jars.iter().cloned().chain(told.missing.iter().filter_map(come));
            for jar in jars.filter(|jar| seen.insert(jar.clone())) {
                self.add_library(&jar, notes);
            }
            missing.extend(told.missing.iter().cloned());
        }
        let poms: Vec<_> = modules.iter().map(|module| effective(module, repository)).collect();
        let (mut jars, not_here) = maven::dependencies(&poms, |i| modules[i].told.is_some(), repository);
        jars.retain(|jar| seen.insert(jar.clone()));
        self.add_archives(jars, Layer::Library);
        missing.extend(not_here);
        for coordinates in missing.into_iter().filter(|coordinates| !self.has_jar_of(coordinates)) {
            notes.add(Kind::MissingDependency, coordinates);
        }
    }

    /// Whether a jar named like the artifact is there anyway, from a directory of jars.
    fn has_jar_of(&self, coordinates: &str) -> bool {
        let Some(artifact) = coordinates.split(':').nth(1) else { return false };
        self.elements.iter().any(|element| match &element.what {
            What::Archive(path) => {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                name.strip_prefix(artifact).is_some_and(|rest| rest.starts_with(['-', '.']))
            }
            What::Classes { .. } => false,
        })
    }
}

fn effective(module: &Module, repository: &Repository) -> Effective {
    let pom = module.pom.clone().unwrap_or_default();
    let mut effective = Effective::of(pom, Some(&module.directory), repository);
    effective.dependencies.extend(module.gradle.iter().cloned());
    effective
}

/// Only javac is at hand: sources of other languages count as far as a build has compiled them.
fn note_other_languages(module: &Module, found: &Survey, notes: &Notes) {
    let place = module.directory.display().to_string();
    if found.other_sources.is_empty() {
    } else if found.classes.is_empty() {
        notes.add(Kind::UncompiledSources, place);
    } else if newest(&found.other_sources).max(newest(&found.java)) > newest(&found.classes) {
        notes.add(Kind::StaleClasses, place);
    }
}
