//! A project that is followed while it is being edited: from one immutable [`Project`] to the next, with the
//! classes that differ. Knows nothing of how changes are noticed.

use crate::assemble::{Assembly, Items};
use crate::build_paths::{Answers, Build};
use crate::classpath::ClassPath;
use crate::events::Events;
use crate::held::Held;
use crate::jdk::{self, Environment, Jdk};
use crate::jimage::Image;
use crate::notes::{Kind, Notes};
use crate::plan::{Compiling, Plan};
use crate::recompile::{Recompiler, Tools};
use crate::settle::{Delays, Settle};
use crate::source_module::SourceModule;
use crate::sources::Sources;
use crate::stamp::Stamp;
use crate::{Error, Project, Request, open_image, project_directory};
use classfile::ClassSource;
use rustc_hash::FxHasher;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How soon an incomplete file is looked at again.
const SOON: Duration = Duration::from_millis(200);
/// Where nothing tells of changes, files are looked at this often.
const POLL: Duration = Duration::from_secs(1);

/// ```no_run
/// # fn analyse(_: project::Refresh) {}
/// # fn main() -> Result<(), project::Error> {
/// use std::time::{Duration, Instant};
/// let mut watched = project::Watched::open(&project::Request::default())?;
/// loop {
///     let refresh = watched.refresh(Instant::now());
///     let again = refresh.again.unwrap_or(Duration::from_secs(30));
///     analyse(refresh);
///     watched.wait(again);
/// }
/// # }
/// ```
pub struct Watched {
    request: Request,
    compiling: Compiling,
    environment: Environment,
    jdk: Jdk,
    image: Arc<Image>,
    about_jdk: Notes,
    held: Held,
    recompiler: Recompiler,
    settle: Settle,
    events: Events,
    project: Arc<Project>,
    modules: Vec<SourceModule>,
    builds: Vec<Build>,
    answers: Answers,
}

/// What a look at the files has brought.
pub struct Refresh {
    /// The program as it is now. Earlier ones stay what they were.
    pub project: Arc<Project>,
    /// Classes whose bytes, as the class path gives them, are not those of the project before, sorted by name.
    pub classes: Vec<ClassChange>,
    /// Whether files of `META-INF/services` differ.
    pub resources: bool,
    /// Sources that are not compiled here ([`Watched::open_for_editing`]), as far as they were looked at.
    pub modules: Vec<SourceModule>,
    /// Projects that have a build tool.
    pub builds: Vec<Build>,
    /// Files that are being written or have just vanished. Until they settle, what they held before is used.
    pub unsettled: Vec<PathBuf>,
    /// When to look again even if nothing happens until then.
    pub again: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassChange {
    /// Internal: `bank/Account`.
    pub name: String,
    pub what: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Appeared,
    Changed,
    Went,
}

impl Watched {
    /// Opens a project as [`crate::open`] does, to be followed. Sources with errors are left out as long as others
    /// compile, and so are files that are just being written: the first [`Watched::refresh`] tells.
    pub fn open(request: &Request) -> Result<Watched, Error> {
        Watched::open_in(request, &Environment::current(), Delays::default(), Instant::now())
    }

    pub fn open_in(
        request: &Request,
        environment: &Environment,
        delays: Delays,
        now: Instant,
    ) -> Result<Watched, Error> {
        Watched::begin(request, Compiling::Here, environment, delays, now)
    }

    /// The same for somebody who compiles the sources ([`Refresh::modules`]): the classes are those that a build has
    /// left, however old, and there may be none.
    pub fn open_for_editing(request: &Request) -> Result<Watched, Error> {
        let now = Instant::now();
        Watched::begin(request, Compiling::Elsewhere, &Environment::current(), Delays::default(), now)
    }

    fn begin(
        request: &Request,
        compiling: Compiling,
        environment: &Environment,
        delays: Delays,
        now: Instant,
    ) -> Result<Watched, Error> {
        let notes = Notes::default();
        let mut answers = Answers::new();
        let (plan, errors) = Plan::of(request, compiling, environment, &mut answers, &notes);
        if let Some(error) = errors.into_iter().next() {
            return Err(error);
        }
        let about_jdk = Notes::default();
        let jdk = jdk::locate(request.jdk.as_deref(), environment, &about_jdk)?;
        notes.repeat(&about_jdk);
        let image = Arc::new(open_image(&jdk)?);
        let mut held = Held::new(jdk.feature, delays.patience, now);
        held.begin(now);
        let recompiler = Recompiler::start(&plan, &mut held, &Tools { jdk: &jdk, environment })?;
        let classpath = ClassPath::new(assemble(&plan, &recompiler, &mut held, &notes));
        classpath.note_duplicates(&notes);
        if !classpath.has_program() && plan.modules.is_empty() {
            return Err(Error::NothingToAnalyse { paths: request.paths.clone(), notes: notes.list() });
        }
        note_troubles(&recompiler, &held, &notes);
        let project = Arc::new(Project {
            directory: project_directory(&request.paths),
            here: environment.here.clone(),
            classpath,
            jdk: jdk.clone(),
            image: image.clone(),
            sources: Sources::new(plan.source_roots.clone()),
            notes,
            _compiled: None,
        });
        let settle = Settle::new(delays, Glance::at(&plan, &mut held).look, now);
        let mut events = Events::new();
        events.follow(request, &project.classpath.archives());
        let (request, environment) = (request.clone(), environment.clone());
        let (modules, builds) = (plan.modules, plan.builds);
        Ok(Watched {
            request,
            compiling,
            environment,
            jdk,
            image,
            about_jdk,
            held,
            recompiler,
            settle,
            events,
            project,
            modules,
            builds,
            answers,
        })
    }

    /// Sources that are not compiled here, as they were found last.
    pub fn modules(&self) -> &[SourceModule] {
        &self.modules
    }

    /// Projects that have a build tool, as they were found last.
    pub fn builds(&self) -> &[Build] {
        &self.builds
    }

    fn plan(&mut self, notes: &Notes) -> (Plan, Vec<Error>) {
        Plan::of(&self.request, self.compiling, &self.environment, &mut self.answers, notes)
    }

    pub fn project(&self) -> &Arc<Project> {
        &self.project
    }

    /// Does not rely on the system's reports of changes from here on, and has [`Watched::wait`] look at the files
    /// instead: for file systems of which the system reports nothing without saying so.
    pub fn poll(&mut self) {
        self.events.give_up();
    }

    /// Waits until files may have changed and have then been left alone for a moment; false when nothing happened
    /// in time, [`Refresh::again`] above all. Where changes are not reported, on network file systems or when the
    /// system has no room for more, looks at the files now and then.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        if self.events.are_coming() {
            return self.events.wait(timeout);
        }
        let end = Instant::now() + timeout;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(POLL));
            let (plan, _) = self.plan(&Notes::default());
            if self.settle.looks_different(Glance::at(&plan, &mut self.held).look) {
                return true;
            }
            if left <= POLL {
                return false;
            }
        }
    }

    /// Looks at the files as they are now. The time is an argument, and matters only as compared with that of
    /// earlier calls.
    pub fn refresh(&mut self, now: Instant) -> Refresh {
        self.events.forget();
        // Before looking, so that nothing is missed in between.
        self.events.follow(&self.request, &self.project.classpath.archives());
        let notes = Notes::default();
        notes.repeat(&self.about_jdk);
        let (plan, errors) = self.plan(&notes);
        errors.iter().for_each(|error| notes.add(Kind::Vanished, error.to_string()));
        let glance = Glance::at(&plan, &mut self.held);
        self.settle.saw(glance.look, now);
        if !glance.gone.is_empty() {
            let drastic = self.project.classpath.loses_much(&glance.gone);
            if let Some(left) = self.settle.wait_for(drastic, now) {
                return self.unchanged(glance.gone.into_iter().collect(), left);
            }
        }

        self.held.begin(now);
        let last = &self.project.classpath;
        let tools = Tools { jdk: &self.jdk, environment: &self.environment };
        // What is wrong with sources is noted below.
        let _ = self.recompiler.follow(&plan, &mut self.held, last, &tools);
        let containers = assemble(&plan, &self.recompiler, &mut self.held, &notes);
        let classpath = ClassPath::following(last, containers);
        let lost = last.names_not_in(&classpath);
        if glance.gone.is_empty()
            && lost.iter().any(|name| last.may_come_back(name))
            && let Some(left) = self.settle.wait_for(false, now)
        {
            return self.unchanged(Vec::new(), left);
        }
        self.settle.nothing_is_missing();
        self.held.end();
        classpath.note_duplicates(&notes);
        note_troubles(&self.recompiler, &self.held, &notes);
        (self.modules, self.builds) = (plan.modules, plan.builds);
        self.replace(classpath, plan.source_roots, notes, now)
    }

    fn replace(
        &mut self,
        classpath: ClassPath,
        source_roots: Vec<PathBuf>,
        notes: Notes,
        now: Instant,
    ) -> Refresh {
        let project = Arc::new(Project {
            directory: self.project.directory.clone(),
            here: self.project.here.clone(),
            classpath,
            jdk: self.jdk.clone(),
            image: self.image.clone(),
            sources: Sources::new(source_roots),
            notes,
            _compiled: None,
        });
        let before = std::mem::replace(&mut self.project, project.clone());
        let archives = project.classpath.archives();
        if archives != before.classpath.archives() {
            self.events.follow(&self.request, &archives);
        }
        let patience = self.settle.delays.patience;
        let unsettled = self.held.unsettled();
        let soon = self.recompiler.was_overtaken
            || unsettled.iter().any(|(_, since)| now.duration_since(*since) < patience);
        Refresh {
            classes: changes(&before, &project),
            resources: !project.classpath.has_same_resources(&before.classpath, &project.notes),
            unsettled: unsettled.into_iter().map(|(path, _)| path.to_path_buf()).collect(),
            again: soon.then_some(SOON),
            modules: self.modules.clone(),
            builds: self.builds.clone(),
            project,
        }
    }

    fn unchanged(&self, unsettled: Vec<PathBuf>, again: Duration) -> Refresh {
        let project = self.project.clone();
        let (modules, builds) = (self.modules.clone(), self.builds.clone());
        let again = Some(again);
        Refresh { project, classes: Vec::new(), resources: false, modules, builds, unsettled, again }
    }
}

fn assemble(
    plan: &Plan,
    recompiler: &Recompiler,
    held: &mut Held,
    notes: &Notes,
) -> Vec<crate::assemble::Container> {
    let mut assembly = Assembly::new(held, notes);
    for output in &recompiler.outputs {
        assembly.add_compiled(&output.root, output.pieces.clone());
    }
    plan.elements.iter().for_each(|element| assembly.add(element));
    assembly.finish()
}

fn note_troubles(recompiler: &Recompiler, held: &Held, notes: &Notes) {
    recompiler.errors.iter().for_each(|error| notes.add(Kind::SourceErrors, error.as_str()));
    for (path, _) in held.unsettled() {
        notes.add(Kind::Unsettled, path.display().to_string());
    }
}

/// By what is found under each name, so that shadowing, misplaced classes and the JDK's own have their say.
fn changes(before: &Project, after: &Project) -> Vec<ClassChange> {
    let mut names: BTreeSet<&str> = after.classpath.names_to_compare(&before.classpath).into_iter().collect();
    names.extend(before.classpath.names_not_in(&after.classpath));
    let change = |name: &str| {
        let what = match (before.find(name), after.find(name)) {
            (None, None) => return None,
            (None, Some(_)) => Change::Appeared,
            (Some(_), None) => Change::Went,
            (Some(old), Some(new)) if old.layer == new.layer && old.bytes == new.bytes => return None,
            (Some(_), Some(_)) => Change::Changed,
        };
        Some(ClassChange { name: name.to_string(), what })
    };
    names.into_iter().filter_map(change).collect()
}

/// Everything at a glance, without reading: a number for what the files look like, and which of those in use are
/// gone.
struct Glance {
    look: u64,
    gone: BTreeSet<PathBuf>,
}

impl Glance {
    fn at(plan: &Plan, held: &mut Held) -> Glance {
        let mut glance = Glance { look: 0, gone: BTreeSet::new() };
        for path in plan.files().filter(|path| !held.holds(path)) {
            glance.add(path, Stamp::of(path).ok());
        }
        for (path, stamp, in_use) in held.stamps() {
            glance.add(path, stamp);
            if stamp.is_none() && in_use {
                glance.gone.insert(path.to_path_buf());
            }
        }
        glance
    }

    /// In any order: a file that is new now will be among the held ones next time.
    fn add(&mut self, path: &Path, stamp: Option<Stamp>) {
        let mut hasher = FxHasher::default();
        (path, stamp).hash(&mut hasher);
        self.look = self.look.wrapping_add(hasher.finish());
    }
}

impl ClassPath {
    /// Whether these files are most of a directory or a whole archive.
    fn loses_much(&self, gone: &BTreeSet<PathBuf>) -> bool {
        self.containers.iter().any(|container| match &container.items {
            Items::Jar(_) => gone.contains(Path::new(&container.label)),
            Items::Classes(pieces, _) => {
                let lost = pieces.iter().filter(|piece| gone.contains(&piece.path)).count();
                lost > 0 && (lost == pieces.len() || lost >= 4 && 2 * lost > pieces.len())
            }
            Items::Services(_) => false,
        })
    }

    /// Archives that are files of their own.
    fn archives(&self) -> Vec<PathBuf> {
        let jars = self.containers.iter().filter(|container| matches!(container.items, Items::Jar(_)));
        jars.map(|container| PathBuf::from(&container.label)).filter(|path| path.is_file()).collect()
    }
}
