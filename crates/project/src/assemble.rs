//! Puts files, archives and what those carry and refer to in class path order. Knows nothing of how the elements
//! were chosen, nor how names are looked up afterwards.

use crate::class_name::class_name;
use crate::layout::class_names;
use crate::notes::{Kind, Notes};
use crate::opened::{Jar, NotOpened};
use crate::plan::{Element, What};
use crate::shelf::{Fetched, Piece, Shelf};
use crate::walk;
use classfile::Layer;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The label of classes compiled on the way in.
pub const COMPILED: &str = "compiled sources";

/// A directory or an archive of the class path.
pub struct Container {
    /// As the user knows it: `app.jar`, or `app.jar!BOOT-INF/lib/dep.jar`.
    pub label: String,
    pub layer: Layer,
    pub items: Items,
}

pub enum Items {
    Jar(Arc<Jar>),
    /// Class files, and what their classes are called.
    Classes(Vec<Piece>, Vec<String>),
    /// Files of `META-INF/services`.
    Services(Vec<Piece>),
}

pub struct Assembly<'a> {
    shelf: &'a mut dyn Shelf,
    notes: &'a Notes,
    containers: Vec<Container>,
    seen: FxHashSet<PathBuf>,
}

impl<'a> Assembly<'a> {
    pub fn new(shelf: &'a mut dyn Shelf, notes: &'a Notes) -> Assembly<'a> {
        Assembly { shelf, notes, containers: Vec::new(), seen: FxHashSet::default() }
    }

    pub fn finish(self) -> Vec<Container> {
        self.containers
    }

    pub fn add(&mut self, element: &Element) {
        match &element.what {
            What::Archive(path) => {
                if !self.add_archive(path, element.layer) {
                    self.notes.add(Kind::NoArchive, format!("{} (not a zip archive)", path.display()));
                }
            }
            What::Classes { root, classes, services } => {
                self.add_classes(root, classes.clone(), element.layer);
                self.add_services(root, services.clone(), element.layer);
            }
        }
    }

    /// Classes that were compiled on the way in.
    pub fn add_compiled(&mut self, root: &Path, pieces: Vec<Piece>) {
        self.add_pieces(COMPILED.to_string(), root, pieces, Layer::App);
    }

    /// Adds a jar and what it carries and refers to. False when the file is no archive; adding one twice adds
    /// it once.
    fn add_archive(&mut self, path: &Path, layer: Layer) -> bool {
        if !self.seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_path_buf())) {
            return true;
        }
        let jar = match self.shelf.jar(path) {
            Fetched::Jar(jar) => jar,
            Fetched::NoArchive => return false,
            Fetched::Unreadable(why) => {
                self.notes.add(Kind::UnreadableFile, format!("{} ({why})", path.display()));
                return true;
            }
            Fetched::NotYet => return true,
        };
        let label = path.display().to_string();
        let beside_layer = self.add_jar(&jar, label.clone(), layer);
        let directory = path.parent().unwrap_or(Path::new(""));
        for name in &jar.contents.beside {
            let place = directory.join(name.strip_prefix("file:").unwrap_or(name));
            // What a library misses is not for the user to put right.
            if !self.add_beside(&place, beside_layer) && layer == Layer::App {
                self.notes.add(Kind::MissingClasspath, format!("{name} (in the Class-Path of {label})"));
            }
        }
        true
    }

    /// An element of a manifest's `Class-Path`; false when there is no such thing.
    fn add_beside(&mut self, place: &Path, layer: Layer) -> bool {
        if place.is_dir() {
            let found = walk::survey(place, &|_| false);
            self.add_classes(place, found.classes, layer);
            self.add_services(place, found.services, layer);
            return true;
        }
        place.is_file() && self.add_archive(place, layer)
    }

    /// Adds an archive and those nested in it; returns whose classes are in the archives it refers to.
    fn add_jar(&mut self, jar: &Arc<Jar>, label: String, layer: Layer) -> Layer {
        if let Some(damage) = jar.archive.damage {
            let read = match jar.archive.entries.len() {
                0 => "nothing in it can be read".to_string(),
                1 => "1 entry read".to_string(),
                entries => format!("{entries} entries read"),
            };
            self.notes.add(Kind::CorruptArchive, format!("{label} ({damage}; {read})"));
        }
        if jar.contents.is_sources() {
            self.notes.add(Kind::SourcesOnly, label.as_str());
        }
        let others = if jar.contents.is_wrapping() { layer } else { Layer::Library };
        self.containers.push(Container { label: label.clone(), layer, items: Items::Jar(jar.clone()) });
        for nested in &jar.nested {
            let label = format!("{label}!{}", nested.name);
            match &nested.jar {
                Ok(inner) => {
                    self.add_jar(inner, label, if nested.library { others } else { layer });
                }
                Err(NotOpened::TooDeep) => self.notes.add(Kind::NestedTooDeep, label),
                Err(NotOpened::Bad(why)) => self.notes.add(Kind::CorruptEntry, format!("{label} ({why})")),
            }
        }
        others
    }

    /// Adds class files found below `root`, sorted.
    fn add_classes(&mut self, root: &Path, mut files: Vec<PathBuf>, layer: Layer) {
        let mut directory = (PathBuf::new(), PathBuf::new());
        files.retain(|file| {
            let (Some(parent), Some(name)) = (file.parent(), file.file_name()) else { return false };
            if directory.0 != parent {
                directory =
                    (parent.to_path_buf(), parent.canonicalize().unwrap_or_else(|_| parent.to_path_buf()));
            }
            name != "module-info.class" && self.seen.insert(directory.1.join(name))
        });
        let pieces = files.into_iter().filter_map(|file| self.shelf.file(file)).collect();
        self.add_pieces(root.display().to_string(), root, pieces, layer);
    }

    /// The names of classes are worked out from a few of the files.
    fn add_pieces(&mut self, label: String, root: &Path, pieces: Vec<Piece>, layer: Layer) {
        let paths: Vec<String> = pieces.iter().map(|piece| slashed(&piece.path, root)).collect();
        let paths: Vec<&str> = paths.iter().map(|path| path.strip_suffix(".class").unwrap_or(path)).collect();
        let names = class_names(&paths, |i| class_name(&pieces[i].read().ok()?));
        self.containers.push(Container { label, layer, items: Items::Classes(pieces, names) });
    }

    fn add_services(&mut self, root: &Path, files: Vec<PathBuf>, layer: Layer) {
        let pieces: Vec<_> = files.into_iter().filter_map(|file| self.shelf.file(file)).collect();
        if !pieces.is_empty() {
            let label = root.display().to_string();
            self.containers.push(Container { label, layer, items: Items::Services(pieces) });
        }
    }
}

/// The path of a file below a directory, with `/` on every system.
fn slashed(file: &Path, root: &Path) -> String {
    let relative = file.strip_prefix(root).unwrap_or(file).to_string_lossy();
    if cfg!(windows) { relative.replace('\\', "/") } else { relative.into_owned() }
}
