//! A program while its sources are edited: unsaved texts become classes, which stand in the place of those that a build
//! has left. From one immutable class path to the next, with the classes that differ; knows nothing of analysis, nor who
//! edits.

mod dependents;
mod names;
mod rewrite;
mod source;
mod sources;
mod unit;

pub use source::LiveSource;

use classfile::{ClassBytes, ClassSource};
use compiler::{Compiler, Edit, Failure, File, FileAnswer, ModuleChange, Status, Told, TypeChange};
use dependents::Built;
use project::{Project, SourceModule, source_text};
use rustc_hash::FxHashMap;
use sources::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use unit::{Generated, Unit};

/// Files that need each other are found round by round; what is left then is compiled with the next edit.
const ROUNDS: usize = 32;

pub struct Live {
    compiler: Compiler,
    base: Arc<Project>,
    built: Built,
    sources: Sources,
    /// Files that are compiled here, by path.
    units: BTreeMap<PathBuf, Unit>,
    /// What the compiler has not been told yet; nothing for files that are gone.
    pending: BTreeMap<PathBuf, Option<Arc<str>>>,
    /// The modules as the compiler knows them.
    configured: Vec<compiler::Module>,
    /// Jars and directories with other contents.
    touched: BTreeSet<PathBuf>,
    /// See [`Live::processed`].
    processed: BTreeMap<PathBuf, Arc<Generated>>,
    edited: Arc<FxHashMap<String, Option<ClassBytes>>>,
}

/// Something that has happened.
pub enum Event {
    /// A file is open in an editor and has this text.
    Text(PathBuf, Arc<str>),
    /// A file is no longer open: what is on disk counts.
    Closed(PathBuf),
    /// Files have changed on disk.
    Files(Files),
}

/// The files of a project as they are now.
pub struct Files {
    pub project: Arc<Project>,
    pub modules: Vec<SourceModule>,
    /// Built classes that appeared, changed or went.
    pub classes: Vec<String>,
    pub resources: bool,
}

/// Where events lead to.
pub struct Followed {
    pub source: Arc<LiveSource>,
    /// Classes that appeared, changed or went, sorted.
    pub classes: Vec<String>,
    pub resources: bool,
    /// Seconds that the compiler took, waiting for it included.
    pub compiling: f64,
    /// Why there are no newer classes of edited files.
    pub failure: Option<Failure>,
}

impl Live {
    /// Compiles nothing before [`Live::follow`].
    pub fn new(compiler: Compiler, project: Arc<Project>, modules: Vec<SourceModule>) -> Live {
        let built = Built::of(&project);
        let mut live = Live {
            compiler,
            built,
            sources: Sources::default(),
            units: BTreeMap::new(),
            pending: BTreeMap::new(),
            configured: Vec::new(),
            touched: BTreeSet::new(),
            processed: BTreeMap::new(),
            edited: Arc::default(),
            base: project,
        };
        live.look_at_sources(modules);
        live
    }

    pub fn follow(&mut self, events: Vec<Event>) -> Followed {
        let (mut classes, mut resources) = (BTreeSet::new(), false);
        for event in events {
            match event {
                Event::Text(path, text) => self.put_text(path, text),
                Event::Closed(path) => self.close(&path),
                Event::Files(files) => {
                    resources |= files.resources;
                    classes.extend(files.classes.iter().cloned());
                    self.files(files);
                }
            }
        }
        let began = Instant::now();
        let mut compiled = BTreeSet::new();
        let failure = self.compile(&mut compiled).err();
        // What stands in its place hides it.
        classes.retain(|name| !self.edited.contains_key(name));
        classes.extend(compiled);
        Followed {
            source: Arc::new(LiveSource { base: self.base.clone(), edited: self.edited.clone() }),
            classes: classes.into_iter().collect(),
            resources,
            compiling: began.elapsed().as_secs_f64(),
            failure,
        }
    }

    /// Whether every file that is compiled here says what the build has compiled.
    pub fn is_as_built(&self) -> bool {
        let is_same = |(path, unit): (&PathBuf, &Unit)| {
            !self.sources.is_stale(path) && source_text(path).as_deref() == Some(&*unit.text)
        };
        self.pending.is_empty() && self.units.iter().all(is_same)
    }

    /// Files of which the build has made more than the compiler can, as annotation processors do.
    pub fn processed(&self) -> impl Iterator<Item = &PathBuf> {
        self.processed.keys()
    }

    /// Whether a build has compiled this text of a file.
    fn has_built(&self, path: &Path, text: &str) -> bool {
        let is_known = !self.built_of(path).is_empty() && !self.sources.is_stale_now(path);
        is_known && source_text(path).as_deref() == Some(text)
    }

    /// The classes of a file are those of the build again.
    fn give_back(&mut self, path: &Path, compiled: &mut BTreeSet<String>) {
        let Some(unit) = self.units.remove(path) else { return };
        let edited = Arc::make_mut(&mut self.edited);
        let names = unit.classes.into_keys().chain(unit.built.classes.keys().cloned());
        for name in names.collect::<BTreeSet<String>>() {
            if let Some(class) = edited.remove(&name)
                && class != self.base.find(&name)
            {
                compiled.insert(name);
            }
        }
        self.pending.insert(path.to_path_buf(), None);
    }

    /// Files that say what the build has compiled are taken as it has left them, where it can do more than we.
    fn leave_to_the_build(&mut self, compiled: &mut BTreeSet<String>) {
        let pending = self.pending.iter().filter_map(|(path, text)| Some((path.clone(), text.clone()?)));
        let as_built: Vec<PathBuf> = pending
            .filter(|(path, text)| self.processed.contains_key(path) && self.has_built(path, text))
            .map(|(path, _)| path)
            .collect();
        for path in as_built {
            self.pending.remove(&path);
            self.give_back(&path, compiled);
        }
    }

    /// Files in which something cannot be compiled as it is, of those that are compiled.
    pub fn broken(&self) -> impl Iterator<Item = &PathBuf> {
        self.units.iter().filter(|(_, unit)| unit.is_broken).map(|(path, _)| path)
    }

    /// Whether something in a file cannot be compiled as it is.
    pub fn is_broken(&self, path: &Path) -> bool {
        self.units.get(path).is_some_and(|unit| unit.is_broken)
    }

    fn put_text(&mut self, path: PathBuf, text: Arc<str>) {
        if self.sources.module_of(&path).is_some() {
            self.sources.open.insert(path.clone());
            self.pending.insert(path, Some(text));
        }
    }

    fn close(&mut self, path: &Path) {
        if self.sources.open.remove(path)
            && (self.units.contains_key(path) || self.pending.contains_key(path))
        {
            self.pending.insert(path.to_path_buf(), source_text(path).map(Arc::from));
        }
    }

    fn files(&mut self, files: Files) {
        self.base = files.project;
        self.built.follow(&self.base, &files.classes);
        if !files.classes.is_empty() {
            self.touched.extend(files.modules.iter().flat_map(|module| module.outputs.clone()));
        }
        // Hidden classes are those of the build as it is now.
        for name in &files.classes {
            if self.edited.get(name).is_some_and(Option::is_none) && self.base.layer(name).is_none() {
                Arc::make_mut(&mut self.edited).remove(name);
            }
        }
        self.look_at_sources(files.modules);
        for (path, unit) in self.units.iter().filter(|(path, _)| self.processed.contains_key(*path)) {
            self.pending.entry(path.clone()).or_insert_with(|| Some(unit.text.clone()));
        }
    }

    /// Files on disk that differ from what is known of them.
    fn look_at_sources(&mut self, modules: Vec<SourceModule>) {
        let look = self.sources.look(modules);
        for path in self.units.keys() {
            if look.gone.binary_search(path).is_ok() || self.sources.module_of(path).is_none() {
                self.pending.insert(path.clone(), None);
            }
        }
        for path in look.other {
            let is_known = self.units.contains_key(&path);
            if is_known || self.sources.is_stale(&path) || self.built_of(&path).is_empty() {
                self.pending.insert(path.clone(), source_text(&path).map(Arc::from));
            }
        }
    }

    /// The classes that a build has left of a source: the longest way to it that a class knows.
    fn built_of(&self, path: &Path) -> &[String] {
        let mut end = String::new();
        let mut found: &[String] = &[];
        for part in path.components().rev() {
            let part = part.as_os_str().to_string_lossy();
            end = if end.is_empty() { part.into_owned() } else { format!("{part}/{end}") };
            let classes = self.built.of_source(&end);
            if !classes.is_empty() {
                found = classes;
            }
        }
        found
    }

    // ---- compiling ----

    /// Tells the compiler everything there is to tell, and follows what that leads to; `compiled` gets the names of
    /// classes that are others now.
    fn compile(&mut self, compiled: &mut BTreeSet<String>) -> Result<(), Failure> {
        for _ in 0..ROUNDS {
            self.leave_to_the_build(compiled);
            let told = match self.configuration() {
                Some(modules) => {
                    let told = self.compiler.configure(self.with_files(&modules))?;
                    self.configured = modules;
                    // One that knows these already does not look at them for this.
                    if told.anew {
                        self.touched.clear();
                    }
                    told
                }
                None => {
                    let changes = self.changes();
                    if changes.is_empty() {
                        return Ok(());
                    }
                    let told = self.compiler.change(&changes)?;
                    self.touched.clear();
                    told
                }
            };
            self.take(told, compiled);
        }
        Ok(())
    }

    /// The modules, if the compiler has to be told.
    fn configuration(&self) -> Option<Vec<compiler::Module>> {
        let modules = self.sources.configuration(&self.base);
        if modules == self.configured || self.pending.is_empty() && self.units.is_empty() {
            return None;
        }
        Some(modules)
    }

    /// The modules with the texts of all files that the compiler is to know.
    fn with_files(&self, modules: &[compiler::Module]) -> Vec<compiler::Module> {
        let mut modules = modules.to_vec();
        let known = self.units.iter().filter(|(path, _)| !self.pending.contains_key(*path));
        let known = known.map(|(path, unit)| (path, unit.text.clone()));
        let pending = self.pending.iter().filter_map(|(path, text)| Some((path, text.clone()?)));
        for (path, text) in known.chain(pending) {
            let module = self.sources.module_of(path);
            if let Some(module) = modules.iter_mut().find(|one| Some(&one.id) == module.as_ref()) {
                let path = path.to_string_lossy().into_owned();
                module.files.push(File { path, buffer: Some(text.to_string()) });
            }
        }
        modules
    }

    fn changes(&self) -> Vec<ModuleChange> {
        let mut edits: BTreeMap<String, Vec<Edit>> = BTreeMap::new();
        for (path, text) in &self.pending {
            let unit = self.units.get(path).map(|unit| unit.module.clone());
            let Some(module) = unit.or_else(|| self.sources.module_of(path)) else { continue };
            let name = path.to_string_lossy().into_owned();
            edits.entry(module).or_default().push(match text {
                Some(text) => Edit::Put(File { path: name, buffer: Some(text.to_string()) }),
                None => Edit::Remove(name),
            });
        }
        for path in &self.touched {
            if let Some(module) = self.configured.first() {
                let path = path.to_string_lossy().into_owned();
                edits.entry(module.id.clone()).or_default().push(Edit::Touched(path));
            }
        }
        edits.into_iter().map(|(module, edits)| ModuleChange { module, edits }).collect()
    }

    fn take(&mut self, told: Told, compiled: &mut BTreeSet<String>) {
        let pending = std::mem::take(&mut self.pending);
        let mut changed = Vec::new();
        for module in told.answer.modules {
            for mut file in module.files {
                let others_see = std::mem::take(&mut file.changed);
                if self.take_file(&module.id, file, &pending, compiled) {
                    changed.extend(others_see);
                }
            }
        }
        // A process that was just started does not tell what it no longer knows.
        for path in pending.iter().filter(|(_, text)| text.is_none()).map(|(path, _)| path) {
            let whole = |name| TypeChange { name, whole: true, members: Vec::new() };
            changed.extend(self.remove(path, compiled).into_iter().flatten().map(whole));
        }
        for path in self.dependents(&changed) {
            self.pending.insert(path.clone(), source_text(&path).map(Arc::from));
        }
        // What the compiler was told and has nothing to say about would be told again and again.
        self.pending.retain(|path, text| pending.get(path) != Some(text));
        let as_built: Vec<PathBuf> = pending
            .iter()
            .filter(|(path, _)| self.processed.contains_key(*path) && self.units.contains_key(*path))
            .filter(|(path, text)| text.as_ref().is_some_and(|text| self.has_built(path, text)))
            .map(|(path, _)| path.clone())
            .collect();
        as_built.iter().for_each(|path| self.give_back(path, compiled));
    }

    /// Sources that only their classes are known of, and that may be compiled to others now.
    fn dependents(&self, changed: &[TypeChange]) -> BTreeSet<PathBuf> {
        let files = self.built.dependents(&self.base, changed);
        let mut paths: BTreeSet<PathBuf> =
            files.iter().filter_map(|file| self.base.source_file(file)).collect();
        // Constants are copied into those who use them, and leave no trace in their classes.
        let named = changed.iter().filter(|change| !change.members.is_empty());
        let named: Vec<(BTreeSet<&str>, &TypeChange)> = named
            .map(|change| {
                let types = self.built.with_those_below(&change.name);
                (types.into_iter().map(simple_name).collect(), change)
            })
            .collect();
        if !named.is_empty() {
            let writes = |text: &str| {
                named.iter().any(|(types, change)| {
                    types.iter().any(|name| text.contains(name))
                        && change.members.iter().any(|name| text.contains(name.as_str()))
                })
            };
            let others = self.sources.all().filter(|path| !self.units.contains_key(*path));
            let others = others.filter(|path| source_text(path).is_some_and(|text| writes(&text)));
            paths.extend(others.cloned());
        }
        paths.retain(|path| !self.units.contains_key(path) && self.sources.module_of(path).is_some());
        paths
    }

    /// Whether others may see something else of it now.
    fn take_file(
        &mut self,
        module: &str,
        answer: FileAnswer,
        pending: &BTreeMap<PathBuf, Option<Arc<str>>>,
        compiled: &mut BTreeSet<String>,
    ) -> bool {
        let path = PathBuf::from(&answer.path);
        if answer.status == Status::Removed {
            // Otherwise it has moved to another module.
            return pending.get(&path) == Some(&None) && self.remove(&path, compiled).is_some();
        }
        let before = self.units.remove(&path);
        let is_first = before.is_none();
        let names_before: BTreeSet<String> =
            before.iter().flat_map(|unit| unit.classes.keys().cloned()).collect();
        let hidden: Vec<String> = self.built_of(&path).to_vec();
        let mut unit = before.unwrap_or_else(|| {
            let find = |name: &String| Some((name.clone(), self.base.find(name)?));
            let text = (!self.sources.is_stale(&path)).then(|| source_text(&path).map(Arc::from)).flatten();
            Unit::new(hidden.iter().filter_map(find).collect(), text)
        });
        unit.module = module.to_owned();
        let text = pending.get(&path).cloned().flatten().unwrap_or_else(|| unit.text.clone());
        let has_classes = matches!(answer.status, Status::Compiled | Status::Ignored);
        unit.generated = self.processed.get(&path).cloned();
        unit.take(answer, text);
        if is_first && has_classes && self.has_built(&path, &unit.text) {
            let generated = Arc::new(unit.only_built());
            if *generated != Generated::default() {
                // Nothing is gone that only the build can make.
                self.processed.insert(path.clone(), generated);
                self.units.insert(path, unit);
                return false;
            }
        }
        let is_seen = !(is_first && unit.generated.is_some());
        let names = names_before.into_iter().chain(hidden).chain(unit.classes.keys().cloned());
        let names: Vec<String> = names.collect();
        self.replace(names.into_iter(), &unit.classes, compiled);
        self.units.insert(path, unit);
        is_seen
    }

    /// The names of the classes that are gone with a file, if it was compiled here.
    fn remove(&mut self, path: &Path, compiled: &mut BTreeSet<String>) -> Option<Vec<String>> {
        let unit = self.units.remove(path)?;
        let names: Vec<String> =
            unit.classes.into_keys().chain(self.built_of(path).iter().cloned()).collect();
        self.replace(names.iter().cloned(), &BTreeMap::new(), compiled);
        Some(names)
    }

    /// These names mean these classes now, or none.
    fn replace(
        &mut self,
        names: impl Iterator<Item = String>,
        classes: &BTreeMap<String, ClassBytes>,
        compiled: &mut BTreeSet<String>,
    ) {
        let edited = Arc::make_mut(&mut self.edited);
        for name in names {
            let is_built = || self.base.layer(&name).is_some();
            let (new, old) = (classes.get(&name), edited.get(&name));
            let is_same = match old {
                Some(old) => old.as_ref() == new,
                None => self.base.find(&name).as_ref() == new,
            };
            if !is_same {
                compiled.insert(name.clone());
            }
            match new {
                Some(class) => _ = edited.insert(name, Some(class.clone())),
                None if is_built() => _ = edited.insert(name, None),
                None => _ = edited.remove(&name),
            }
        }
    }
}

/// `Inner` of `p/Outer$Inner`.
fn simple_name(class: &str) -> &str {
    class.rsplit(['/', '$']).next().unwrap_or(class)
}
