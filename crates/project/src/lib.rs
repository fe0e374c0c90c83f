//! Turns what a user names on the command line into a class path: directories, jars, source trees, projects
//! and the JDK. Knows nothing of analysis, terminals or exit codes.

mod archive;
mod assemble;
mod blob;
mod build;
mod build_paths;
mod bundled;
mod class_name;
mod classpath;
mod compile;
mod config;
mod declared;
mod diff;
mod error;
mod events;
mod git;
mod gradle;
mod held;
mod identity;
mod index;
mod jar;
mod javac;
mod jdk;
mod jimage;
mod layout;
mod lexed;
mod maven;
mod modules;
mod mounts;
mod notes;
mod opened;
mod plan;
mod pom;
mod recompile;
mod remarks;
mod repository;
mod salvage;
mod settle;
mod shelf;
mod source_module;
mod sources;
mod stamp;
mod walk;
mod watched;

pub use build_paths::Build;
pub use config::{Assume, CONFIG, Config, Engines, FailOn, Level, MEANINGS};
pub use error::Error;
pub use git::{Checkout, Git};
pub use jdk::{Environment, Jdk};
pub use remarks::{Memory, Remarks, remarks_in};
pub use settle::Delays;
pub use source_module::SourceModule;
pub use sources::source_text;
pub use stamp::Stamp;
pub use watched::{Change, ClassChange, Refresh, Watched};

use assemble::Assembly;
use build_paths::Answers;
use classfile::{ClassBytes, ClassSource, Layer};
use classpath::ClassPath;
use compile::Compiled;
use findings::Note;
use jimage::Image;
use notes::{Kind, Notes};
use plan::{Compiling, Plan};
use shelf::{OnDisk, Piece};
use sources::Sources;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    image: Arc<Image>,
    sources: Sources,
    notes: Notes,
    /// Classes compiled on the way in; deleted with the project.
    _compiled: Option<Compiled>,
}

/// Opens a project in the environment of this process.
pub fn open(request: &Request) -> Result<Project, Error> {
    open_in(request, &Environment::current())
}

pub fn open_in(request: &Request, environment: &Environment) -> Result<Project, Error> {
    let notes = Notes::default();
    let (plan, errors) = Plan::of(request, Compiling::Here, environment, &mut Answers::new(), &notes);
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    let jdk = jdk::locate(request.jdk.as_deref(), environment, &notes)?;
    let image = Arc::new(open_image(&jdk)?);
    let compiled = compile::compile(&plan.compile, &plan.classpath(), &jdk, environment)?;

    let mut shelf = OnDisk::new(jdk.feature);
    let mut assembly = Assembly::new(&mut shelf, &notes);
    for out in compiled.iter().flat_map(|compiled| &compiled.outs) {
        assembly.add_compiled(out, compile::classes(out).into_iter().map(Piece::on_disk).collect());
    }
    plan.elements.iter().for_each(|element| assembly.add(element));
    let classpath = ClassPath::new(assembly.finish());
    classpath.note_duplicates(&notes);
    if !classpath.has_program() {
        return Err(Error::NothingToAnalyse { paths: request.paths.clone(), notes: notes.list() });
    }
    Ok(Project {
        directory: project_directory(&request.paths),
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

    /// What its sources say about findings, in the order of their paths. `program` has the classes that are analysed.
    pub fn remarks(&self, program: &dyn ClassSource, memory: &mut Memory) -> Remarks {
        let mut all = Remarks::default();
        for path in self.sources.all() {
            let Some(said) = memory.said(path, || self.shown(path)) else { continue };
            // Of several files of that name, findings are shown in the first; tests are not analysed at all.
            let is_analysed = said.classes.iter().any(|class| program.layer(class) == Some(Layer::App));
            if is_analysed && self.sources.find(&said.file) == Some(path) {
                all.suppressions.extend(said.remarks.suppressions.iter().cloned());
                all.notes.extend(said.remarks.notes.iter().cloned());
            }
        }
        all
    }

    /// A path as users read it: relative to the project where it lies within, with `/` on every system.
    pub fn shown(&self, path: &Path) -> String {
        let within = path.strip_prefix(&self.directory).or_else(|_| path.strip_prefix(&self.here));
        let path = within.unwrap_or(path);
        path.to_string_lossy().replace('\\', "/")
    }
}

/// Of every class of the JDK, which is known as a whole.
const JDK_STAMP: u64 = 1;

impl ClassSource for Project {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        // A JVM takes `java.*` from the JDK alone; only someone who analyses the JDK itself wants otherwise.
        let jdk_first = name.starts_with("java/") && self.classpath.layer(name) != Some(Layer::App);
        let from_jdk = || match self.image.class(name) {
            Ok(bytes) => bytes.map(|bytes| ClassBytes::new(bytes, Layer::Jdk)),
            Err(why) => {
                self.notes.add(Kind::CorruptEntry, format!("{name} of the JDK ({why})"));
                None
            }
        };
        let from_classpath = || self.classpath.find(name, &self.notes);
        if jdk_first { from_jdk().or_else(from_classpath) } else { from_classpath().or_else(from_jdk) }
    }

    fn stamp(&self, name: &str) -> Option<u64> {
        // Entries of archives are not unpacked for it. A class of the JDK is another JDK's if it changes.
        let jdk_first = name.starts_with("java/") && self.classpath.layer(name) != Some(Layer::App);
        let own = (!jdk_first).then(|| self.classpath.stamp(name, &self.notes)).flatten();
        own.or_else(|| self.find(name).map(|_| JDK_STAMP))
    }

    fn layer(&self, name: &str) -> Option<Layer> {
        self.classpath.layer(name)
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

/// The one directory that was named, or the current one.
fn project_directory(paths: &[PathBuf]) -> PathBuf {
    match paths {
        [one] if one.is_dir() => one.clone(),
        _ => PathBuf::new(),
    }
}

/// The directory of the project that a file belongs to: the outermost with a build file, within its repository, or the
/// one the file lies in.
pub fn root_of(file: &Path) -> PathBuf {
    let around = file.parent().unwrap_or(file);
    let mut root = None;
    for directory in around.ancestors().take(MAX_ABOVE) {
        if modules::is_project(directory) || directory.join(CONFIG).is_file() {
            root = Some(directory);
        }
        if directory.join(".git").exists() {
            break;
        }
    }
    root.unwrap_or(around).to_path_buf()
}

/// Further up nobody keeps a build file for a source.
const MAX_ABOVE: usize = 32;
