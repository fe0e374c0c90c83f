//! What a client sees of each file right now: the underlined places, in the text as it stands in the editor. Decides what
//! is new to the client; sends nothing.

use crate::document::Documents;
use crate::shift::shifted;
use crate::told::{Diagnostic, Told};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Default)]
pub struct Shelf {
    files: BTreeMap<PathBuf, Marked>,
    /// Counted up whenever something differs.
    edition: u64,
}

/// The underlined places of a file.
#[derive(Default)]
struct Marked {
    diagnostics: Vec<Diagnostic>,
    edition: u64,
}

impl Shelf {
    pub fn of(&self, path: &Path) -> &[Diagnostic] {
        self.files.get(path).map_or(&[], |marked| &marked.diagnostics)
    }

    /// By which a client knows that nothing has changed.
    pub fn edition(&self, path: &Path) -> String {
        self.files.get(path).map_or(0, |marked| marked.edition).to_string()
    }

    /// Files in which something is underlined.
    pub fn paths(&self) -> Vec<PathBuf> {
        let marked = self.files.iter().filter(|(_, marked)| !marked.diagnostics.is_empty());
        marked.map(|(path, _)| path.clone()).collect()
    }

    /// A text was edited: places move with it. Whether any did.
    pub fn edit(&mut self, path: &Path, old: &str, new: &str) -> bool {
        let Some(marked) = self.files.get(path).filter(|marked| !marked.diagnostics.is_empty()) else {
            return false;
        };
        let moved = shifted(&marked.diagnostics, old, new);
        self.put(path, moved)
    }

    /// Takes in what an analysis says of all files that were told before or are; returns those that differ now. What is
    /// about a text that has been edited since is left out: there will be newer.
    pub fn take(&mut self, told: &Told, before: Option<&Arc<Told>>, documents: &Documents) -> Vec<PathBuf> {
        let older = before.into_iter().flat_map(|before| before.diagnostics.keys());
        let mut paths: Vec<PathBuf> = told.diagnostics.keys().chain(older).cloned().collect();
        // One that was passed over because it had been edited may have nothing to be told of now.
        paths.extend(told.texts.keys().cloned());
        paths.sort();
        paths.dedup();
        paths.retain(|path| {
            let is_current = documents.0.get(path).is_none_or(|document| {
                told.texts
                    .get(path)
                    .is_none_or(|(version, text)| *version == document.version || **text == *document.text)
            });
            is_current && self.put(path, told.diagnostics.get(path).cloned().unwrap_or_default())
        });
        paths
    }

    /// Forgets all files below a directory; returns those in which something was underlined.
    pub fn clear(&mut self, root: &Path) -> Vec<PathBuf> {
        let paths: Vec<PathBuf> = self.paths().into_iter().filter(|path| path.starts_with(root)).collect();
        paths.iter().for_each(|path| _ = self.put(path, Vec::new()));
        paths
    }

    fn put(&mut self, path: &Path, diagnostics: Vec<Diagnostic>) -> bool {
        if self.of(path) == diagnostics {
            return false;
        }
        self.edition += 1;
        self.files.insert(path.to_path_buf(), Marked { diagnostics, edition: self.edition });
        true
    }
}
