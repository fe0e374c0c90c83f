//! The project's source files as the renderers want them. Reads each file once; knows nothing of findings.

use project::{Project, source_text};
use report::Sources;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

pub struct ProjectSources<'a> {
    project: &'a Project,
    shown: Box<dyn Fn(&Path) -> String + 'a>,
    names: RefCell<HashMap<String, String>>,
    read: RefCell<HashMap<String, Option<String>>>,
}

impl<'a> ProjectSources<'a> {
    /// Files named so that a reader in the current directory can open them.
    pub fn for_reader(project: &'a Project) -> ProjectSources<'a> {
        ProjectSources::new(project, from_here)
    }

    /// Files named relative to the project, from wherever it is checked.
    pub fn for_machine(project: &'a Project) -> ProjectSources<'a> {
        ProjectSources::new(project, |path| project.shown(path))
    }

    /// Files named relative to the repository that the project lies in, or to the project if it lies in none.
    pub fn for_repository(project: &'a Project) -> ProjectSources<'a> {
        let root = repository(project.directory());
        ProjectSources::new(project, move |path| {
            root.as_ref().and_then(|root| within(root, path)).unwrap_or_else(|| project.shown(path))
        })
    }

    /// Files named relative to a directory above the project.
    pub fn below(project: &'a Project, root: &Path) -> ProjectSources<'a> {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        ProjectSources::new(project, move |path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
            real.strip_prefix(&root).unwrap_or(path).to_string_lossy().replace('\\', "/")
        })
    }

    fn new(project: &'a Project, shown: impl Fn(&Path) -> String + 'a) -> ProjectSources<'a> {
        let (names, read) = (RefCell::default(), RefCell::default());
        ProjectSources { project, shown: Box::new(shown), names, read }
    }
}

impl Sources for ProjectSources<'_> {
    fn text(&self, file: &str) -> Option<String> {
        let mut read = self.read.borrow_mut();
        read.entry(file.to_owned()).or_insert_with(|| source_text(&self.project.source_file(file)?)).clone()
    }

    fn display(&self, file: &str) -> String {
        let mut names = self.names.borrow_mut();
        let name = || match self.project.source_file(file) {
            Some(path) => (self.shown)(&path),
            None => file.to_owned(),
        };
        names.entry(file.to_owned()).or_insert_with(name).clone()
    }
}

fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(&here).or_else(|_| path.strip_prefix(".")).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}

/// A work tree has a file of that name instead of a directory.
fn repository(directory: &Path) -> Option<PathBuf> {
    let directory = fs::canonicalize(directory).ok()?;
    directory.ancestors().find(|above| above.join(".git").exists()).map(Path::to_path_buf)
}

fn within(root: &Path, path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    Some(path.strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/"))
}
