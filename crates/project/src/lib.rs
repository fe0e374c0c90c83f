//! Turns what a user names on the command line into a class path: directories, jars, source trees, projects
//! and the JDK. Knows nothing of analysis, terminals or exit codes.

mod archive;
mod blob;
mod build;
mod class_name;
mod classpath;
mod error;
mod gradle;
mod jar;
mod javac;
mod jdk;
mod jimage;
mod layout;
mod maven;
mod modules;
mod notes;
mod plan;
mod pom;
mod repository;
mod salvage;
mod sources;
mod walk;

pub use error::Error;
pub use jdk::{Environment, Jdk};

use classfile::{ClassBytes, ClassSource, Layer};
use classpath::ClassPath;
use findings::Note;
use jimage::Image;
use notes::{Kind, Notes};
use plan::{Plan, What};
use sources::Sources;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What the user asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What is to be analysed: directories, jars, class files, sources, projects.
    pub paths: Vec<PathBuf>,
    /// What the program needs: jars and class directories, `dir/*` for all jars of a directory.
    pub classpath: Vec<PathBuf>,
    /// The JDK to use instead of the environment's.
    pub jdk: Option<PathBuf>,
}

/// A program ready to be analysed, as a [`ClassSource`].
pub struct Project {
    directory: PathBuf,
    here: PathBuf,
    classpath: ClassPath,
    jdk: Jdk,
    image: Image,
    sources: Sources,
    notes: Notes,
    /// Classes compiled on the way in; deleted with the project.
    _compiled: Option<Compiled>,
}

struct Compiled {
    _scratch: TempDir,
    outs: Vec<PathBuf>,
}

/// Opens a project in the environment of this process.
pub fn open(request: &Request) -> Result<Project, Error> {
    open_in(request, &Environment::current())
}

pub fn open_in(request: &Request, environment: &Environment) -> Result<Project, Error> {
    let notes = Notes::default();
    let mut plan = Plan::default();
    for path in &request.paths {
        plan.add_program(path, environment, &notes)?;
    }
    for path in &request.classpath {
        plan.add_library(path, &notes);
    }
    let jdk = jdk::locate(request.jdk.as_deref(), environment, &notes)?;
    let image = open_image(&jdk)?;

    let mut classpath = ClassPath::new(jdk.feature);
    let compiled = compile(&plan, &jdk, environment)?;
    for out in compiled.iter().flat_map(|compiled| &compiled.outs) {
        let found = walk::survey(out, &|_| false);
        classpath.add_classes(out, found.classes, Layer::App, &notes);
    }
    // The user's own code first, whatever the order it was named in.
    let (program, libraries): (Vec<_>, Vec<_>) =
        plan.elements.into_iter().partition(|e| e.layer == Layer::App);
    for element in program.into_iter().chain(libraries) {
        match element.what {
            What::Archive(path) => {
                if !classpath.add_archive(&path, element.layer, &notes) {
                    notes.add(Kind::NoArchive, format!("{} (not a zip archive)", path.display()));
                }
            }
            What::Classes { root, classes, services } => {
                classpath.add_classes(&root, classes, element.layer, &notes);
                classpath.add_services(&root, services, element.layer);
            }
        }
    }
    if !classpath.has_program() {
        return Err(Error::NothingToAnalyse { paths: request.paths.clone(), notes: notes.list() });
    }
    let directory = project_directory(&request.paths);
    Ok(Project {
        directory,
        here: environment.here.clone(),
        classpath,
        jdk,
        image,
        sources: Sources::new(plan.source_roots),
        notes,
        _compiled: compiled,
    })
}

impl Project {
    /// What went wrong so far without stopping; grows while classes are asked for.
    pub fn notes(&self) -> Vec<Note> {
        self.notes.list()
    }

    pub fn jdk(&self) -> &Jdk {
        &self.jdk
    }

    /// What paths are shown relative to.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file to open for a class's package path and source file name (`bank/Account.java`).
    pub fn source_file(&self, file: &str) -> Option<PathBuf> {
        self.sources.find(file).map(Path::to_path_buf)
    }

    /// A path as users read it: relative to the project where it lies within, with `/` on every system.
    pub fn shown(&self, path: &Path) -> String {
        let within = path.strip_prefix(&self.directory).or_else(|_| path.strip_prefix(&self.here));
        let path = within.unwrap_or(path);
        path.to_string_lossy().replace('\\', "/")
    }
}

impl ClassSource for Project {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        // A JVM takes `java.*` from the JDK alone; only someone who analyses the JDK itself wants otherwise.
        let jdk_first = name.starts_with("java/") && self.classpath.layer(name) != Some(Layer::App);
        let from_jdk = || match self.image.class(name) {
            Ok(bytes) => bytes.map(|bytes| ClassBytes { bytes: bytes.into(), layer: Layer::Jdk }),
            Err(why) => {
                self.notes.add(Kind::CorruptEntry, format!("{name} of the JDK ({why})"));
                None
            }
        };
        let from_classpath = || self.classpath.find(name, &self.notes);
        if jdk_first { from_jdk().or_else(from_classpath) } else { from_classpath().or_else(from_jdk) }
    }

    fn app_classes(&self) -> Vec<String> {
        self.classpath.app_classes()
    }

    fn resources(&self, path: &str) -> Vec<Vec<u8>> {
        self.classpath.resources(path, &self.notes)
    }
}

fn open_image(jdk: &Jdk) -> Result<Image, Error> {
    let bad = |why: String| Error::BadJdk(jdk.home.clone(), format!("lib/modules: {why}"));
    let image = Image::open(&jdk.home.join("lib/modules")).map_err(bad)?;
    match image.class("java/lang/Object") {
        Ok(Some(_)) => Ok(image),
        Ok(None) => Err(bad("it has no java.lang.Object".to_string())),
        Err(why) => Err(bad(why)),
    }
}

fn compile(plan: &Plan, jdk: &Jdk, environment: &Environment) -> Result<Option<Compiled>, Error> {
    if plan.compile.is_empty() {
        return Ok(None);
    }
    let javac = jdk::javac(jdk, environment).ok_or_else(|| {
        Error::BadJdk(jdk.home.clone(), "it has no javac, which compiling sources needs".to_string())
    })?;
    let problem = |error: std::io::Error| Error::Compiler(javac.clone(), error.to_string());
    let scratch = tempfile::Builder::new().prefix("snarl-").tempdir().map_err(problem)?;
    let classpath: Vec<_> = plan.elements.iter().map(|element| element.what.path().to_path_buf()).collect();
    let outs = javac::compile(&javac, &plan.compile, &classpath, scratch.path())?;
    Ok(Some(Compiled { _scratch: scratch, outs }))
}

/// The one directory that was named, or the current one.
fn project_directory(paths: &[PathBuf]) -> PathBuf {
    match paths {
        [one] if one.is_dir() => one.clone(),
        _ => PathBuf::new(),
    }
}
