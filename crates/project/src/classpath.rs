//! The class path: an index from class and resource names to the file or archive entry that has them, built
//! without unpacking and answered from any thread. Knows nothing of how its elements were chosen.

use crate::archive::{Archive, EntryError, MAX_ENTRY};
use crate::blob::Blob;
use crate::class_name::class_name;
use crate::jar;
use crate::layout::class_names;
use crate::notes::{Kind, Notes};
use crate::walk;
use classfile::{ClassBytes, Layer};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_DEPTH: u32 = 4;
const MAX_NESTED: u32 = 10_000;
/// One nested archive, and all of them together.
const MAX_NESTED_SIZE: u64 = 512 << 20;
const MAX_NESTED_TOTAL: u64 = 2 << 30;
const MAX_OPEN_FILES: usize = 100;

pub struct ClassPath {
    /// Feature version of the JDK, for multi-release jars.
    feature: u32,
    containers: Vec<Container>,
    classes: FxHashMap<Box<str>, Location>,
    resources: FxHashMap<Box<str>, Vec<Location>>,
    seen: BTreeSet<PathBuf>,
    nested: u32,
    nested_size: u64,
}

struct Container {
    /// As the user knows it: `app.jar`, or `app.jar!BOOT-INF/lib/dep.jar`.
    label: String,
    items: Items,
}

enum Items {
    Archive(Archive),
    Files(Vec<PathBuf>),
}

#[derive(Clone, Copy)]
struct Location {
    container: u32,
    item: u32,
    layer: Layer,
}

impl ClassPath {
    pub fn new(feature: u32) -> ClassPath {
        ClassPath {
            feature,
            containers: Vec::new(),
            classes: FxHashMap::default(),
            resources: FxHashMap::default(),
            seen: BTreeSet::new(),
            nested: 0,
            nested_size: 0,
        }
    }

    /// Adds a jar and what it carries and refers to. False when the file is no archive; adding one twice adds
    /// it once.
    pub fn add_archive(&mut self, path: &Path, layer: Layer, notes: &Notes) -> bool {
        if !self.seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_path_buf())) {
            return true;
        }
        let blob = match Blob::open(path, self.containers.len() < MAX_OPEN_FILES) {
            Ok(blob) => blob,
            Err(error) => {
                notes.add(Kind::UnreadableFile, format!("{} ({error})", path.display()));
                return true;
            }
        };
        let Some(archive) = Archive::open(blob) else { return false };
        let label = path.display().to_string();
        let (beside, beside_layer) = self.add_opened(archive, label.clone(), layer, 0, notes);
        let directory = path.parent().unwrap_or(Path::new(""));
        for name in beside {
            let place = directory.join(name.strip_prefix("file:").unwrap_or(&name));
            // What a library misses is not for the user to put right.
            if !self.add_beside(&place, beside_layer, notes) && layer == Layer::App {
                notes.add(Kind::MissingClasspath, format!("{name} (in the Class-Path of {label})"));
            }
        }
        true
    }

    /// An element of a manifest's `Class-Path`; false when there is no such thing.
    fn add_beside(&mut self, place: &Path, layer: Layer, notes: &Notes) -> bool {
        if place.is_dir() {
            let found = walk::survey(place, &|_| false);
            self.add_classes(place, found.classes, layer, notes);
            self.add_services(place, found.services, layer);
            return true;
        }
        place.is_file() && self.add_archive(place, layer, notes)
    }

    /// Indexes an archive and those nested in it; returns the `Class-Path` of its manifest, and whose classes
    /// are there.
    fn add_opened(
        &mut self,
        archive: Archive,
        label: String,
        layer: Layer,
        depth: u32,
        notes: &Notes,
    ) -> (Vec<String>, Layer) {
        if let Some(damage) = archive.damage {
            let read = match archive.entries.len() {
                0 => "nothing in it can be read".to_string(),
                1 => "1 entry read".to_string(),
                entries => format!("{entries} entries read"),
            };
            notes.add(Kind::CorruptArchive, format!("{label} ({damage}; {read})"));
        }
        let contents = jar::contents(&archive, self.feature);
        if contents.is_sources() {
            notes.add(Kind::SourcesOnly, label.as_str());
        }
        let others = if contents.is_wrapping() { layer } else { Layer::Library };
        let container = self.containers.len() as u32;
        let nested: Vec<_> = contents
            .nested
            .iter()
            .map(|nested| {
                let entry = &archive.entries[nested.entry as usize];
                (
                    format!("{label}!{}", entry.name),
                    self.open_nested(&archive, nested.entry, depth),
                    nested.library,
                )
            })
            .collect();
        self.containers.push(Container { label, items: Items::Archive(archive) });
        for class in contents.classes {
            let layer = if class.launcher && layer == Layer::App { Layer::Library } else { layer };
            self.add_class(class.item.name, Location { container, item: class.item.entry, layer }, notes);
        }
        for resource in contents.resources {
            let location = Location { container, item: resource.entry, layer };
            self.resources.entry(resource.name.into()).or_default().push(location);
        }
        for (label, blob, library) in nested {
            let layer = if library { others } else { layer };
            match blob {
                Ok(Some(archive)) => drop(self.add_opened(archive, label, layer, depth + 1, notes)),
                Ok(None) => notes.add(Kind::NestedTooDeep, label),
                Err(error) => notes.add(Kind::CorruptEntry, format!("{label} ({error})")),
            }
        }
        (contents.beside, others)
    }

    /// `Ok(None)` when a limit is reached: an archive may nest without end, or contain itself.
    fn open_nested(
        &mut self,
        archive: &Archive,
        entry: u32,
        depth: u32,
    ) -> Result<Option<Archive>, EntryError> {
        let entry = &archive.entries[entry as usize];
        self.nested += 1;
        self.nested_size = self.nested_size.saturating_add(entry.size);
        if depth >= MAX_DEPTH || self.nested > MAX_NESTED || self.nested_size > MAX_NESTED_TOTAL {
            return Ok(None);
        }
        let blob = archive.nested(entry, MAX_NESTED_SIZE)?;
        Archive::open(blob).map(Some).ok_or(EntryError::Corrupt)
    }

    /// Adds class files found below `root`, sorted; their names are worked out from a few of them.
    pub fn add_classes(&mut self, root: &Path, mut files: Vec<PathBuf>, layer: Layer, notes: &Notes) {
        let mut directory = (PathBuf::new(), PathBuf::new());
        files.retain(|file| {
            let (Some(parent), Some(name)) = (file.parent(), file.file_name()) else { return false };
            if directory.0 != parent {
                directory =
                    (parent.to_path_buf(), parent.canonicalize().unwrap_or_else(|_| parent.to_path_buf()));
            }
            name != "module-info.class" && self.seen.insert(directory.1.join(name))
        });
        let paths: Vec<String> = files.iter().map(|file| slashed(file, root)).collect();
        let paths: Vec<&str> = paths.iter().map(|path| path.strip_suffix(".class").unwrap_or(path)).collect();
        let names = class_names(&paths, |i| class_name(&fs::read(&files[i]).ok()?));
        let container = self.containers.len() as u32;
        self.containers.push(Container { label: root.display().to_string(), items: Items::Files(files) });
        for (item, name) in names.into_iter().enumerate() {
            self.add_class(name, Location { container, item: item as u32, layer }, notes);
        }
    }

    /// Adds files of `META-INF/services` directories below `root`.
    pub fn add_services(&mut self, root: &Path, files: Vec<PathBuf>, layer: Layer) {
        let container = self.containers.len() as u32;
        for (item, file) in files.iter().enumerate() {
            let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let location = Location { container, item: item as u32, layer };
            self.resources.entry(format!("META-INF/services/{name}").into()).or_default().push(location);
        }
        self.containers.push(Container { label: root.display().to_string(), items: Items::Files(files) });
    }

    fn add_class(&mut self, name: String, location: Location, notes: &Notes) {
        use std::collections::hash_map::Entry;
        match self.classes.entry(name.into()) {
            Entry::Vacant(free) => drop(free.insert(location)),
            Entry::Occupied(first) if first.key().ends_with("package-info") => {}
            Entry::Occupied(first) => {
                let label = |location: Location| &self.containers[location.container as usize].label;
                let (used, left) = (label(*first.get()), label(location));
                notes.add(
                    Kind::DuplicateClass,
                    format!("{} (in {used} and {left})", first.key().replace('/', ".")),
                );
            }
        }
    }

    pub fn find(&self, name: &str, notes: &Notes) -> Option<ClassBytes> {
        let location = *self.classes.get(name)?;
        let bytes = self.read(location, notes)?;
        match class_name(&bytes) {
            Some(inside) if inside != name => {
                let place = self.place(location);
                notes.add(Kind::MisplacedClass, format!("{place} (holds {})", inside.replace('/', ".")));
                None
            }
            // A class that ends too early is for the class reader to report.
            _ => Some(ClassBytes { bytes: bytes.into(), layer: location.layer }),
        }
    }

    pub fn has_program(&self) -> bool {
        self.classes.values().any(|location| location.layer == Layer::App)
    }

    pub fn layer(&self, name: &str) -> Option<Layer> {
        self.classes.get(name).map(|location| location.layer)
    }

    pub fn app_classes(&self) -> Vec<String> {
        let app = self.classes.iter().filter(|(_, location)| location.layer == Layer::App);
        let mut names: Vec<_> = app.map(|(name, _)| name.to_string()).collect();
        names.sort_unstable();
        names
    }

    pub fn resources(&self, path: &str, notes: &Notes) -> Vec<Vec<u8>> {
        let locations = self.resources.get(path).map_or(&[][..], Vec::as_slice);
        locations.iter().filter_map(|location| self.read(*location, notes)).collect()
    }

    fn read(&self, location: Location, notes: &Notes) -> Option<Vec<u8>> {
        let read = match &self.containers[location.container as usize].items {
            Items::Archive(archive) => archive
                .read(&archive.entries[location.item as usize], MAX_ENTRY)
                .map_err(|error| (Kind::CorruptEntry, error.to_string())),
            Items::Files(files) => read_file(&files[location.item as usize]),
        };
        read.map_err(|(kind, why)| notes.add(kind, format!("{} ({why})", self.place(location)))).ok()
    }

    fn place(&self, location: Location) -> String {
        let container = &self.containers[location.container as usize];
        match &container.items {
            Items::Archive(archive) => {
                format!("{}!{}", container.label, archive.entries[location.item as usize].name)
            }
            Items::Files(files) => files[location.item as usize].display().to_string(),
        }
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, (Kind, String)> {
    let problem = |error: std::io::Error| (Kind::UnreadableFile, error.to_string());
    let size = fs::metadata(path).map_err(problem)?.len();
    if size > MAX_ENTRY {
        return Err((Kind::UnreadableFile, EntryError::TooLarge.to_string()));
    }
    fs::read(path).map_err(problem)
}

/// The path of a file below a directory, with `/` on every system.
fn slashed(file: &Path, root: &Path) -> String {
    let relative = file.strip_prefix(root).unwrap_or(file);
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
