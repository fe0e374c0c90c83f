//! A program while its sources are edited: unsaved texts become classes, which stand in the place of those that a build
//! has left. From one immutable class path to the next, with the classes that differ; knows nothing of analysis, nor who
//! edits.

mod dependents;
mod names;
mod processed;
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
    /// What only the build can make, of files that were compared: both have compiled the same text.
    generated: BTreeMap<PathBuf, Arc<Generated>>,
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
            generated: BTreeMap::new(),
            edited: Arc::default(),
            base: project,
        };
        live.look_at_sources(modules);
        live
    }

    pub fn follow(&mut self, events: Vec<Event>) -> Followed {
        let before = self.source();
        let (mut classes, mut replaced, mut resources) = (BTreeSet::new(), BTreeSet::new(), false);
        for event in events {
            match event {
                Event::Text(path, text) => self.put_text(path, text),
                Event::Closed(path) => self.close(&path),
                Event::Files(files) => {
                    resources |= files.resources;
                    classes.extend(files.classes.iter().cloned());
                    self.files(files, &mut replaced);
                }
            }
        }
        let began = Instant::now();
        let failure = self.compile(&mut replaced).err();
        let source = self.source();
        // What stands in its place hides it.
        classes.retain(|name| !self.edited.contains_key(name));
        classes.extend(replaced.into_iter().filter(|name| before.find(name) != source.find(name)));
        Followed {
            source: Arc::new(source),
            classes: classes.into_iter().collect(),
            resources,
            compiling: began.elapsed().as_secs_f64(),
            failure,
        }
    }

    fn source(&self) -> LiveSource {
        LiveSource { base: self.base.clone(), edited: self.edited.clone() }
    }

    /// Whether every file that is compiled here says what the build has compiled.
    pub fn is_as_built(&self) -> bool {
        let is_same = |(path, unit): (&PathBuf, &Unit)| {
            !self.sources.is_stale(path) && source_text(path).as_deref() == Some(&*unit.text)
        };
        self.pending.is_empty() && self.units.iter().all(is_same)
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

    fn files(&mut self, files: Files, replaced: &mut BTreeSet<String>) {
        let mut to_compare = self.to_compare(&files.classes);
        self.base = files.project;
        self.built.follow(&self.base, &files.classes);
        to_compare.extend(self.to_compare(&files.classes));
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
        to_compare.into_iter().for_each(|path| self.compare_again(path, replaced));
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

    /// Has everything compiled that is pending, and what that leads to; `replaced` gets the names of classes that may be
    /// others now.
    fn compile(&mut self, replaced: &mut BTreeSet<String>) -> Result<(), Failure> {
        self.leave_to_the_build(replaced);
        let mut put_off = self.put_off();
        for _ in 0..ROUNDS {
            let told = self.tell();
            if let Ok(Some(told)) = told {
                self.take(told, replaced);
                self.pending.append(&mut put_off);
                self.leave_to_the_build(replaced);
            } else {
                self.pending.append(&mut put_off);
                return told.map(drop);
            }
        }
        Ok(())
    }

    /// Tells the compiler everything there is to tell, if there is something.
    fn tell(&mut self) -> Result<Option<Told>, Failure> {
        if let Some(modules) = self.configuration() {
            let told = self.compiler.configure(self.with_files(&modules))?;
            self.configured = modules;
            // One that knows these already does not look at them for this.
            if told.anew {
                self.touched.clear();
            }
            return Ok(Some(told));
        }
        let changes = self.changes();
        if changes.is_empty() {
            return Ok(None);
        }
        let told = self.compiler.change(&changes)?;
        self.touched.clear();
        Ok(Some(told))
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

    fn take(&mut self, told: Told, replaced: &mut BTreeSet<String>) {
        let pending = std::mem::take(&mut self.pending);
        let mut changed = Vec::new();
        for module in told.answer.modules {
            for mut file in module.files {
                let others_see = std::mem::take(&mut file.changed);
                if self.take_file(&module.id, file, &pending, replaced) {
                    changed.extend(others_see);
                }
            }
        }
        // A process that was just started does not tell what it no longer knows.
        for path in pending.iter().filter(|(_, text)| text.is_none()).map(|(path, _)| path) {
            let whole = |name| TypeChange { name, whole: true, members: Vec::new() };
            changed.extend(self.remove(path, replaced).into_iter().flatten().map(whole));
        }
        for path in self.dependents(&changed) {
            self.pending.insert(path.clone(), source_text(&path).map(Arc::from));
        }
        // What the compiler was told and has nothing to say about would be told again and again.
        self.pending.retain(|path, text| pending.get(path) != Some(text));
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
        replaced: &mut BTreeSet<String>,
    ) -> bool {
        let path = PathBuf::from(&answer.path);
        let wanted = pending.get(&path);
        if answer.status == Status::Removed {
            // Otherwise it has moved to another module.
            return wanted == Some(&None) && self.remove(&path, replaced).is_some();
        }
        let built_text: Option<Arc<str>> = self.built_text(&path).map(Arc::from);
        let before = self.units.remove(&path);
        let is_first = before.is_none();
        let mut names: Vec<String> = before.iter().flat_map(|unit| unit.classes.keys().cloned()).collect();
        names.extend(self.built_of(&path).iter().cloned());
        let mut unit = before.unwrap_or_else(|| Unit::new(self.built_classes(&path), built_text.clone()));
        let text = wanted.cloned().flatten().unwrap_or_else(|| unit.text.clone());
        let is_built = built_text.as_ref() == Some(&text);
        unit.module = module.to_owned();
        let generated = self.generated.get(&path);
        unit.generated = generated.unwrap_or(&unit.generated).clone();
        let is_to_compare = is_built && generated.is_none();
        unit.take(answer, text, is_to_compare.then(|| self.built_classes(&path)));
        if is_to_compare {
            self.generated.insert(path.clone(), unit.generated.clone());
        }
        // Nothing is gone that only the build can make.
        let is_seen = unit.generated.is_empty() || !is_first && !is_built;
        names.extend(unit.classes.keys().cloned());
        self.replace(names, &unit.classes, replaced);
        self.units.insert(path, unit);
        is_seen
    }

    /// The names of the classes that are gone with a file, if it was compiled here.
    fn remove(&mut self, path: &Path, replaced: &mut BTreeSet<String>) -> Option<Vec<String>> {
        let names = self.forget(path)?;
        self.generated.remove(path);
        self.replace(names.clone(), &BTreeMap::new(), replaced);
        Some(names)
    }

    /// The names of the classes that a file that was compiled here has a say about.
    fn forget(&mut self, path: &Path) -> Option<Vec<String>> {
        let unit = self.units.remove(path)?;
        Some(unit.classes.into_keys().chain(self.built_of(path).iter().cloned()).collect())
    }

    /// These names mean these classes now, or none.
    fn replace(
        &mut self,
        names: Vec<String>,
        classes: &BTreeMap<String, ClassBytes>,
        replaced: &mut BTreeSet<String>,
    ) {
        let edited = Arc::make_mut(&mut self.edited);
        for name in names {
            match classes.get(&name) {
                Some(class) => _ = edited.insert(name.clone(), Some(class.clone())),
                None if self.base.layer(&name).is_some() => _ = edited.insert(name.clone(), None),
                None => _ = edited.remove(&name),
            }
            replaced.insert(name);
        }
    }
}

/// `Inner` of `p/Outer$Inner`.
fn simple_name(class: &str) -> &str {
    class.rsplit(['/', '$']).next().unwrap_or(class)
}
