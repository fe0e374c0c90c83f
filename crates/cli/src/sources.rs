//! The project's source files as the renderers want them. Reads each file once; knows nothing of findings.

use project::Project;
use report::Sources;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

pub struct ProjectSources<'a> {
    project: &'a Project,
    shown: Box<dyn Fn(&Path) -> String + 'a>,
    read: RefCell<HashMap<String, Option<String>>>,
}

impl<'a> ProjectSources<'a> {
    /// Files named so that a reader in the current directory can open them.
    pub fn for_reader(project: &'a Project) -> ProjectSources<'a> {
        ProjectSources { project, shown: Box::new(from_here), read: RefCell::default() }
    }

    /// Files named relative to the project, from wherever it is checked.
    pub fn for_machine(project: &'a Project) -> ProjectSources<'a> {
        ProjectSources { project, shown: Box::new(|path| project.shown(path)), read: RefCell::default() }
    }

    /// Files named relative to a directory above the project.
    pub fn below(project: &'a Project, root: &Path) -> ProjectSources<'a> {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let shown = move |path: &Path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
            real.strip_prefix(&root).unwrap_or(path).to_string_lossy().replace('\\', "/")
        };
        ProjectSources { project, shown: Box::new(shown), read: RefCell::default() }
    }
}

impl Sources for ProjectSources<'_> {
    fn text(&self, file: &str) -> Option<String> {
        let mut read = self.read.borrow_mut();
        read.entry(file.to_owned()).or_insert_with(|| contents(&self.project.source_file(file)?)).clone()
    }

    fn display(&self, file: &str) -> String {
        match self.project.source_file(file) {
            Some(path) => (self.shown)(&path),
            None => file.to_owned(),
        }
    }
}

/// Old sources are not always UTF-8; a few wrong letters are better than no excerpt.
fn contents(path: &Path) -> Option<String> {
    fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn from_here(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(&here).or_else(|_| path.strip_prefix(".")).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}
