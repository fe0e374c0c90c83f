//! Makes class files, jars and trees to open.

use classfile::{ClassSource, Layer};
use project::{Error, Project, Request};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

/// A directory that is gone after the test.
pub struct Place(TempDir);

pub fn place() -> Place {
    Place(TempDir::new().unwrap())
}

impl Place {
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// A class file below this directory, for each path and class name.
    pub fn classes(&self, files: &[(&str, &str)]) {
        for (path, name) in files {
            self.write(path, class(name));
        }
    }

    pub fn jar(&self, name: &str, entries: &[(&str, &[u8])]) -> PathBuf {
        self.write(name, jar(entries))
    }
}

/// The smallest class of this name.
pub fn class(name: &str) -> Vec<u8> {
    let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52, 0, 5];
    for (utf8, index) in [(name, 2u8), ("java/lang/Object", 4)] {
        bytes.extend([7, 0, index, 1]);
        bytes.extend((utf8.len() as u16).to_be_bytes());
        bytes.extend(utf8.as_bytes());
    }
    bytes.extend([0, 0x21, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

pub fn jar(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

pub fn open(path: impl AsRef<Path>) -> Result<Project, Error> {
    project::open(&Request { paths: vec![path.as_ref().to_path_buf()], ..Request::default() })
}

pub fn opened(path: impl AsRef<Path>) -> Project {
    open(path).unwrap_or_else(|error| panic!("{error}"))
}

pub fn message(result: Result<Project, Error>) -> String {
    match result {
        Ok(project) => panic!("opened, with {:?}", project.app_classes()),
        Err(error) => error.to_string(),
    }
}

/// Every class of the program, each of which must be found.
pub fn app(project: &Project) -> Vec<String> {
    let names = project.app_classes();
    for name in &names {
        let found = project.find(name).unwrap_or_else(|| panic!("{name} is listed and not found"));
        assert_eq!(found.layer, Layer::App, "{name}");
    }
    names
}

pub fn layer(project: &Project, name: &str) -> Option<Layer> {
    project.find(name).map(|class| class.layer)
}

/// Kinds and counts of the notes.
pub fn notes(project: &Project) -> Vec<(String, u64)> {
    project.notes().into_iter().map(|note| (note.kind, note.count)).collect()
}
