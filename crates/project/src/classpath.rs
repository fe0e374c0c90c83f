//! The class path: from class and resource names to the file or archive entry that has them, answered from any
//! thread. Knows nothing of how its containers came about.

use crate::archive::MAX_ENTRY;
use crate::assemble::{Container, Items};
use crate::class_name::class_name;
use crate::index::{Index, Location};
use crate::notes::{Kind, Notes};
use classfile::{ClassBytes, Layer};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

pub struct ClassPath {
    pub(crate) containers: Vec<Container>,
    pub(crate) index: Arc<Index>,
}

impl ClassPath {
    pub fn new(containers: Vec<Container>) -> ClassPath {
        let index = Arc::new(Index::of(&containers));
        ClassPath { containers, index }
    }

    pub fn find(&self, name: &str, notes: &Notes) -> Option<ClassBytes> {
        let location = *self.index.classes.get(name)?;
        let bytes = self.read(location, notes)?;
        match class_name(&bytes) {
            Some(inside) if inside != name => {
                let place = self.place(location);
                notes.add(Kind::MisplacedClass, format!("{place} (holds {})", inside.replace('/', ".")));
                None
            }
            // A class that ends too early is for the class reader to report.
            _ => Some(ClassBytes::new(bytes, location.layer)),
        }
    }

    /// By which a change of the class is known, without unpacking it if it is in an archive.
    pub fn stamp(&self, name: &str, notes: &Notes) -> Option<u64> {
        let location = *self.index.classes.get(name)?;
        let mut hasher = DefaultHasher::new();
        location.layer.hash(&mut hasher);
        match &self.containers[location.container as usize].items {
            Items::Jar(jar) => {
                let entry = &jar.archive.entries[location.item as usize];
                (entry.crc, entry.size, entry.packed, entry.method, entry.encrypted).hash(&mut hasher);
                // Of what is damaged only the bytes tell.
                jar.archive.digest(location.item as usize).hash(&mut hasher);
            }
            Items::Classes(..) | Items::Services(_) => self.read(location, notes)?.hash(&mut hasher),
        }
        Some(hasher.finish())
    }

    pub fn has_program(&self) -> bool {
        self.index.classes.values().any(|location| location.layer == Layer::App)
    }

    pub fn layer(&self, name: &str) -> Option<Layer> {
        self.index.classes.get(name).map(|location| location.layer)
    }

    pub fn app_classes(&self) -> Vec<String> {
        let app = self.index.classes.iter().filter(|(_, location)| location.layer == Layer::App);
        let mut names: Vec<_> = app.map(|(name, _)| name.to_string()).collect();
        names.sort_unstable();
        names
    }

    pub fn resources(&self, path: &str, notes: &Notes) -> Vec<Vec<u8>> {
        let locations = self.index.resources.get(path).map_or(&[][..], Vec::as_slice);
        locations
            .iter()
            .filter_map(|location| self.read(*location, notes))
            .map(|bytes| bytes.to_vec())
            .collect()
    }

    pub fn note_duplicates(&self, notes: &Notes) {
        for duplicate in &self.index.duplicates {
            notes.add(Kind::DuplicateClass, duplicate.as_str());
        }
    }

    fn read(&self, location: Location, notes: &Notes) -> Option<Arc<[u8]>> {
        let item = location.item as usize;
        let read = match &self.containers[location.container as usize].items {
            Items::Jar(jar) => jar
                .archive
                .read(&jar.archive.entries[item], MAX_ENTRY)
                .map(Arc::from)
                .map_err(|error| (Kind::CorruptEntry, error.to_string())),
            Items::Classes(pieces, _) | Items::Services(pieces) => pieces[item].read(),
        };
        read.map_err(|(kind, why)| notes.add(kind, format!("{} ({why})", self.place(location)))).ok()
    }

    fn place(&self, location: Location) -> String {
        let container = &self.containers[location.container as usize];
        let item = location.item as usize;
        match &container.items {
            Items::Jar(jar) => format!("{}!{}", container.label, jar.archive.entries[item].name),
            Items::Classes(pieces, _) | Items::Services(pieces) => pieces[item].path.display().to_string(),
        }
    }
}
