//! From the paths a user names to what goes on the class path and what must be compiled first. Looks at
//! directories and modification times; reads no classes and runs nothing.

use crate::Error;
use crate::notes::{Kind, Notes};
use crate::walk::{Survey, survey};
use classfile::Layer;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What to put together, in class path order.
#[derive(Debug, Default)]
pub struct Plan {
    pub elements: Vec<Element>,
    /// Java sources to compile, together.
    pub compile: Vec<PathBuf>,
    /// Directories below which sources are looked up for display.
    pub source_roots: Vec<PathBuf>,
}

#[derive(Debug)]
pub struct Element {
    pub layer: Layer,
    pub what: What,
}

#[derive(Debug)]
pub enum What {
    Archive(PathBuf),
    Classes { root: PathBuf, classes: Vec<PathBuf>, services: Vec<PathBuf> },
}

impl Plan {
    /// A path the user wants analysed.
    pub fn add_program(&mut self, path: &Path, notes: &Notes) -> Result<(), Error> {
        let metadata = fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::NotFound(path.to_path_buf()),
            _ => Error::Unreadable(path.to_path_buf(), error.to_string()),
        })?;
        if metadata.is_dir() {
            fs::read_dir(path).map_err(|error| Error::Unreadable(path.to_path_buf(), error.to_string()))?;
            self.add_directory(path, notes);
            Ok(())
        } else if metadata.is_file() {
            self.add_file(path, Layer::App)
        } else {
            Err(Error::NotRecognised(path.to_path_buf()))
        }
    }

    /// A path the program needs: an element of `--classpath`, as `java -cp` takes it.
    pub fn add_library(&mut self, path: &Path, notes: &Notes) {
        // `lib/*` means every jar of that directory.
        if path.file_name().is_some_and(|name| name == "*") {
            let directory = path.parent().unwrap_or(Path::new("."));
            self.add_archives(archives_in(directory), Layer::Library);
        } else if path.is_dir() {
            let found = look(path, notes, &|_| false);
            self.add_archives(found.archives, Layer::Library);
            self.add_classes(path, found.classes, found.services, Layer::Library);
        } else if !path.exists() || self.add_file(path, Layer::Library).is_err() {
            notes.add(Kind::MissingClasspath, path.display().to_string());
        }
    }

    fn add_file(&mut self, path: &Path, layer: Layer) -> Result<(), Error> {
        let mut magic = Vec::new();
        let file =
            File::open(path).map_err(|error| Error::Unreadable(path.to_path_buf(), error.to_string()))?;
        file.take(4)
            .read_to_end(&mut magic)
            .map_err(|error| Error::Unreadable(path.to_path_buf(), error.to_string()))?;
        let parent = path.parent().unwrap_or(Path::new(""));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("java") => self.compile.push(path.to_path_buf()),
            Some("class") => self.add_classes(parent, vec![path.to_path_buf()], Vec::new(), layer),
            _ if magic == [0xCA, 0xFE, 0xBA, 0xBE] => {
                self.add_classes(parent, vec![path.to_path_buf()], Vec::new(), layer)
            }
            Some("jar" | "war" | "ear" | "zip" | "jmod") => {
                self.add_archives(vec![path.to_path_buf()], layer)
            }
            _ if magic.starts_with(b"PK") => self.add_archives(vec![path.to_path_buf()], layer),
            _ => return Err(Error::NotRecognised(path.to_path_buf())),
        }
        if layer == Layer::App {
            self.source_roots.push(parent.to_path_buf());
        }
        Ok(())
    }

    /// A directory without a build file, known by what it holds.
    fn add_directory(&mut self, path: &Path, notes: &Notes) {
        let found = look(path, notes, &|_| false);
        self.source_roots.push(path.to_path_buf());
        let stale = found.classes.is_empty() || newest(&found.java) > newest(&found.classes);
        if !found.java.is_empty() && stale {
            self.compile.extend(found.java);
            self.add_archives(found.archives, Layer::Library);
        } else if !found.classes.is_empty() {
            self.add_classes(path, found.classes, found.services, Layer::App);
            self.add_archives(found.archives, Layer::Library);
        } else if !found.archives.is_empty() {
            self.add_archives(found.archives, Layer::App);
        } else {
            for source in found.other_sources {
                notes.add(Kind::UncompiledSources, source.display().to_string());
            }
            notes.add(Kind::EmptyPath, path.display().to_string());
        }
    }

    fn add_archives(&mut self, archives: Vec<PathBuf>, layer: Layer) {
        self.elements.extend(archives.into_iter().map(|path| Element { layer, what: What::Archive(path) }));
    }

    fn add_classes(&mut self, root: &Path, classes: Vec<PathBuf>, services: Vec<PathBuf>, layer: Layer) {
        if !classes.is_empty() || !services.is_empty() {
            self.elements
                .push(Element { layer, what: What::Classes { root: root.to_path_buf(), classes, services } });
        }
    }
}

impl What {
    /// As an element of a compiler's class path.
    pub fn path(&self) -> &Path {
        match self {
            What::Archive(path) => path,
            What::Classes { root, .. } => root,
        }
    }
}

fn look(path: &Path, notes: &Notes, skip: &dyn Fn(&Path) -> bool) -> Survey {
    let found = survey(path, skip);
    for file in &found.unreadable {
        notes.add(Kind::UnreadableFile, file.display().to_string());
    }
    if found.cut_short {
        notes.add(Kind::TooManyFiles, path.display().to_string());
    }
    found
}

fn archives_in(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut jars: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|e| e == "jar") && file.is_file()).collect();
    jars.sort();
    jars
}

/// When the last of the files was changed; `None` when there are none.
fn newest(files: &[PathBuf]) -> Option<SystemTime> {
    files.iter().filter_map(|file| fs::metadata(file).and_then(|metadata| metadata.modified()).ok()).max()
}
