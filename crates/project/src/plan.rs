//! From the paths a user names to what goes on the class path and what must be compiled first. Looks at
//! directories and modification times; reads no classes and runs nothing.

use crate::build_paths::{Answers, Build};
use crate::jdk::Environment;
use crate::modules::{self, Module};
use crate::notes::{Kind, Notes};
use crate::source_module::SourceModule;
use crate::walk::{Survey, survey};
use crate::{Error, Request};
use classfile::Layer;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What to put together, in class path order.
#[derive(Debug, Default)]
pub struct Plan {
    pub elements: Vec<Element>,
    pub compile: Vec<Unit>,
    /// Source files, and directories below which they are looked up, for display.
    pub source_roots: Vec<PathBuf>,
    /// Sources that somebody else compiles.
    pub modules: Vec<SourceModule>,
    /// Projects that have a build tool.
    pub builds: Vec<Build>,
    /// Elements of the class path that the user named.
    pub asked_for: Vec<PathBuf>,
    pub(crate) compiling: Compiling,
}

/// Who compiles sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compiling {
    /// Whoever opens the project, where there are no classes or older ones.
    #[default]
    Here,
    /// Whoever edits them, over the classes that a build has left.
    Elsewhere,
}

#[derive(Debug)]
pub struct Element {
    pub layer: Layer,
    pub what: What,
}

#[derive(Debug)]
pub enum What {
    Archive(PathBuf),
    Classes { root: PathBuf, classes: Vec<PathBuf>, services: Vec<PathBuf> },
}

/// Java sources that belong together: a tree, or a module of a project.
#[derive(Debug, Clone, Default)]
pub struct Unit {
    pub sources: Vec<PathBuf>,
    /// Package roots, for other units that need these sources.
    pub roots: Vec<PathBuf>,
}

impl Plan {
    /// For everything the user named, and what is wrong with paths that cannot be analysed.
    pub fn of(
        request: &Request,
        compiling: Compiling,
        environment: &Environment,
        answers: &mut Answers,
        notes: &Notes,
    ) -> (Plan, Vec<Error>) {
        let mut plan = Plan { compiling, ..Plan::default() };
        let mut errors = Vec::new();
        for path in &request.paths {
            errors.extend(plan.add_program(path, environment, answers, notes).err());
        }
        let named = plan.elements.len();
        for path in &request.classpath {
            plan.add_library(path, notes);
        }
        plan.asked_for = plan.elements[named..].iter().map(|one| one.what.path().to_path_buf()).collect();
        // The user's own code first, whatever the order it was named in.
        plan.elements.sort_by_key(|element| element.layer != Layer::App);
        plan.give_class_paths();
        (plan, errors)
    }

    /// Every file that is read because of this plan.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let sources = self.compile.iter().flat_map(|unit| &unit.sources);
        sources.chain(self.elements.iter().flat_map(|element| element.what.files()))
    }

    /// As a compiler takes it.
    pub fn classpath(&self) -> Vec<PathBuf> {
        self.elements.iter().map(|element| element.what.path().to_path_buf()).collect()
    }

    /// A path the user wants analysed.
    fn add_program(
        &mut self,
        path: &Path,
        environment: &Environment,
        answers: &mut Answers,
        notes: &Notes,
    ) -> Result<(), Error> {
        let unreadable = |error: std::io::Error| Error::Unreadable(path.to_path_buf(), error.to_string());
        let metadata = fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::NotFound(path.to_path_buf()),
            _ => unreadable(error),
        })?;
        if metadata.is_file() {
            self.add_file(path, Layer::App)?;
        } else if metadata.is_dir() {
            fs::read_dir(path).map_err(unreadable)?;
            if !(modules::is_project(path) && self.add_project(path, environment, answers, notes)) {
                self.add_directory(path, notes);
            }
        } else {
            return Err(Error::NotRecognised(path.to_path_buf()));
        }
        self.add_sources_around(path);
        Ok(())
    }

    /// A path the program needs: an element of `--classpath`, as `java -cp` takes it.
    pub(crate) fn add_library(&mut self, path: &Path, notes: &Notes) {
        // `lib/*` means every jar of that directory.
        if path.file_name().is_some_and(|name| name == "*") {
            let directory = path.parent().unwrap_or(Path::new("."));
            self.add_archives(archives_in(directory), Layer::Library);
        } else if path.is_dir() {
            let found = look(path, notes);
            self.add_archives(found.archives, Layer::Library);
            self.add_classes(path, found.classes, found.services, Layer::Library);
        } else if !path.exists() || self.add_file(path, Layer::Library).is_err() {
            notes.add(Kind::MissingClasspath, path.display().to_string());
        }
    }

    fn add_file(&mut self, path: &Path, layer: Layer) -> Result<(), Error> {
        let unreadable = |error: std::io::Error| Error::Unreadable(path.to_path_buf(), error.to_string());
        let mut magic = Vec::new();
        File::open(path).and_then(|file| file.take(4).read_to_end(&mut magic)).map_err(unreadable)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        let extension = path.extension().and_then(|extension| extension.to_str());
        let file = vec![path.to_path_buf()];
        match extension {
            Some("java") if self.compiling == Compiling::Elsewhere => {
                self.modules.push(SourceModule::alone(parent, file));
            }
            Some("java") => self.compile.push(Unit { sources: file, roots: Vec::new() }),
            Some("class") => self.add_classes(parent, file, Vec::new(), layer),
            _ if magic == [0xCA, 0xFE, 0xBA, 0xBE] => self.add_classes(parent, file, Vec::new(), layer),
            Some("jar" | "war" | "ear" | "zip" | "jmod") => self.add_archives(file, layer),
            _ if magic.starts_with(b"PK") => self.add_archives(file, layer),
            _ => return Err(Error::NotRecognised(path.to_path_buf())),
        }
        if extension == Some("java") {
            self.source_roots.push(path.to_path_buf());
        }
        Ok(())
    }

    /// A directory without a build file, known by what it holds.
    fn add_directory(&mut self, path: &Path, notes: &Notes) {
        let found = look(path, notes);
        self.source_roots.push(path.to_path_buf());
        if self.compiling == Compiling::Elsewhere && !found.java.is_empty() {
            self.modules.push(SourceModule::in_directory(path, &found));
            self.add_classes(path, found.classes, found.services, Layer::App);
            self.add_archives(found.archives, Layer::Library);
        } else if must_compile(&found) {
            self.compile.push(Unit { sources: found.java, roots: vec![path.to_path_buf()] });
            self.add_archives(found.archives, Layer::Library);
        } else if !found.classes.is_empty() {
            self.add_classes(path, found.classes, found.services, Layer::App);
            self.add_archives(found.archives, Layer::Library);
        } else if !found.archives.is_empty() {
            self.add_archives(found.archives, Layer::App);
        } else if found.other_sources.is_empty() {
            notes.add(Kind::EmptyPath, path.display().to_string());
        } else {
            notes.add(Kind::UncompiledSources, path.display().to_string());
        }
    }

    /// Classes and jars that a build made are shown with the sources of that build.
    fn add_sources_around(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        let beside = real.parent().map(|parent| parent.join("src")).filter(|source| source.is_dir());
        self.source_roots.extend(beside.filter(|_| !modules::is_project(path)));
        let project = real.ancestors().skip(1).take(6).find(|directory| modules::is_project(directory));
        if let Some(directory) = project.filter(|_| !modules::is_project(path)) {
            self.source_roots.extend(Module::at(directory).source_directories());
        }
    }

    pub(crate) fn add_archives(&mut self, archives: Vec<PathBuf>, layer: Layer) {
        self.elements.extend(archives.into_iter().map(|path| Element { layer, what: What::Archive(path) }));
    }

    pub(crate) fn add_classes(
        &mut self,
        root: &Path,
        classes: Vec<PathBuf>,
        services: Vec<PathBuf>,
        layer: Layer,
    ) {
        if !classes.is_empty() || !services.is_empty() {
            let what = What::Classes { root: root.to_path_buf(), classes, services };
            self.elements.push(Element { layer, what });
        }
    }
}

impl What {
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let (archive, classes, services): (_, &[_], &[_]) = match self {
            What::Archive(path) => (Some(path), &[], &[]),
            What::Classes { classes, services, .. } => (None, classes, services),
        };
        archive.into_iter().chain(classes).chain(services)
    }

    /// As an element of a compiler's class path.
    pub fn path(&self) -> &Path {
        match self {
            What::Archive(path) => path,
            What::Classes { root, .. } => root,
        }
    }
}

/// What lies below a directory, tests left out unless the directory itself holds them.
pub(crate) fn look(path: &Path, notes: &Notes) -> Survey {
    let found = survey(path, &holds_tests);
    for file in &found.unreadable {
        notes.add(Kind::UnreadableFile, file.display().to_string());
    }
    if found.cut_short {
        notes.add(Kind::TooManyFiles, path.display().to_string());
    }
    found
}

fn holds_tests(directory: &Path) -> bool {
    const ENDS: [&str; 10] = [
        "src/test",
        "src/it",
        "src/jmh",
        "src/testFixtures",
        "src/integrationTest",
        "target/test-classes",
        "classes/java/test",
        "classes/kotlin/test",
        "out/test",
        "node_modules",
    ];
    ENDS.iter().any(|end| directory.ends_with(end))
}

/// Java sources without classes, or changed since. Other languages are left to their own build.
pub(crate) fn must_compile(found: &Survey) -> bool {
    let stale = || found.other_sources.is_empty() && newest(&found.java) > newest(&found.classes);
    !found.java.is_empty() && (found.classes.is_empty() || stale())
}

/// When the last of the files was changed; `None` when there are none.
pub(crate) fn newest(files: &[PathBuf]) -> Option<SystemTime> {
    files.iter().filter_map(|file| fs::metadata(file).and_then(|metadata| metadata.modified()).ok()).max()
}

fn archives_in(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_jar =
        |file: &PathBuf| file.extension().is_some_and(|extension| extension == "jar") && file.is_file();
    let mut jars: Vec<_> = files.filter(is_jar).collect();
    jars.sort();
    jars
}
