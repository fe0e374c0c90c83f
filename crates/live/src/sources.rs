//! The source files of a program on disk: which module each belongs to, and which of them a build has not seen. Reads
//! them when asked; knows nothing of classes.

use project::{Project, SourceModule, Stamp};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The oldest language that the compiler knows.
const OLDEST: u32 = 8;

#[derive(Default)]
pub struct Sources {
    modules: Vec<SourceModule>,
    /// Module and stamp of each file.
    known: FxHashMap<PathBuf, (usize, Option<Stamp>)>,
    /// Files that are open in an editor: what is on disk does not matter.
    pub open: BTreeSet<PathBuf>,
}

/// What a look at the files has brought.
#[derive(Default)]
pub struct Look {
    /// New ones, and those that were written since.
    pub other: Vec<PathBuf>,
    pub gone: Vec<PathBuf>,
}

impl Sources {
    pub fn look(&mut self, modules: Vec<SourceModule>) -> Look {
        let mut look = Look::default();
        let mut before = std::mem::take(&mut self.known);
        for (at, module) in modules.iter().enumerate() {
            for path in &module.sources {
                let stamp = Stamp::of(path).ok();
                let known = before.remove(path).map(|(_, stamp)| stamp);
                if known != Some(stamp) && !self.open.contains(path) {
                    look.other.push(path.clone());
                }
                self.known.insert(path.clone(), (at, stamp));
            }
        }
        look.gone = before.into_keys().filter(|path| !self.open.contains(path)).collect();
        look.gone.sort();
        self.modules = modules;
        look
    }

    /// Every file that was seen last.
    pub fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.known.keys()
    }

    /// The id of the module that a file belongs to, or would belong to.
    pub fn module_of(&self, path: &Path) -> Option<String> {
        let at = match self.known.get(path) {
            Some((at, _)) => *at,
            None => self.module_around(path)?,
        };
        self.modules.get(at).map(id)
    }

    fn module_around(&self, path: &Path) -> Option<usize> {
        if path.extension().is_none_or(|extension| extension != "java") {
            return None;
        }
        let roots = self.modules.iter().enumerate();
        let roots = roots.flat_map(|(at, module)| module.roots.iter().map(move |root| (at, root)));
        let around = roots.filter(|(_, root)| path.starts_with(root));
        around.max_by_key(|(_, root)| root.components().count()).map(|(at, _)| at)
    }

    /// Whether it was written after the last build, as far as that was noticed.
    pub fn is_stale(&self, path: &Path) -> bool {
        self.known.get(path).is_none_or(|(at, stamp)| self.is_newer(*at, *stamp))
    }

    /// The same of the file as it is now.
    pub fn is_stale_now(&self, path: &Path) -> bool {
        self.known.get(path).is_none_or(|(at, _)| self.is_newer(*at, Stamp::of(path).ok()))
    }

    fn is_newer(&self, module: usize, stamp: Option<Stamp>) -> bool {
        let built = self.modules.get(module).and_then(|module| module.built);
        let written = stamp.and_then(|stamp| stamp.modified());
        built.zip(written).is_none_or(|(built, written)| written > built)
    }

    /// The modules as the compiler takes them, without files.
    pub fn configuration(&self, project: &Project) -> Vec<compiler::Module> {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let one = |module: &SourceModule| compiler::Module {
            id: id(module),
            java_home: project.jdk().home.to_string_lossy().into_owned(),
            level: level(module.level.unwrap_or(project.jdk().feature)),
            hold: true,
            depends_on: module.depends_on.iter().map(text).collect(),
            class_path: module.class_path.iter().map(text).collect(),
            ..compiler::Module::default()
        };
        self.modules.iter().map(one).collect()
    }
}

fn id(module: &SourceModule) -> String {
    module.directory.to_string_lossy().into_owned()
}

fn level(wanted: u32) -> i32 {
    i32::try_from(wanted.max(OLDEST)).unwrap_or(i32::MAX)
}
