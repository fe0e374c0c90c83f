//! Where the class path takes its files from. Knows what is read lazily from disk; what is held in memory for
//! programs that are being edited is elsewhere.

use crate::archive::{EntryError, MAX_ENTRY};
use crate::blob::Blob;
use crate::notes::Kind;
use crate::opened::Jar;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAX_OPEN_FILES: usize = 100;

pub trait Shelf {
    /// A class file or a resource; `None` when it is not fit to be used yet.
    fn file(&mut self, path: PathBuf) -> Option<Piece>;

    fn jar(&mut self, path: &Path) -> Fetched;
}

pub enum Fetched {
    Jar(Arc<Jar>),
    NoArchive,
    Unreadable(String),
    /// Incomplete, and probably being written.
    NotYet,
}

/// A file of the class path, read when it is asked for or held in memory.
#[derive(Clone)]
pub struct Piece {
    pub path: PathBuf,
    pub held: Option<Arc<[u8]>>,
}

impl Piece {
    pub fn on_disk(path: PathBuf) -> Piece {
        Piece { path, held: None }
    }

    pub fn read(&self) -> Result<Arc<[u8]>, (Kind, String)> {
        if let Some(held) = &self.held {
            return Ok(held.clone());
        }
        let problem = |error: std::io::Error| (Kind::UnreadableFile, error.to_string());
        if fs::metadata(&self.path).map_err(problem)?.len() > MAX_ENTRY {
            return Err((Kind::UnreadableFile, EntryError::TooLarge.to_string()));
        }
        fs::read(&self.path).map(Arc::from).map_err(problem)
    }
}

/// Files as they are on disk when something is read: for one run.
pub struct OnDisk {
    /// Feature version of the JDK, for multi-release jars.
    feature: u32,
    opened: usize,
}

impl OnDisk {
    pub fn new(feature: u32) -> OnDisk {
        OnDisk { feature, opened: 0 }
    }
}

impl Shelf for OnDisk {
    fn file(&mut self, path: PathBuf) -> Option<Piece> {
        Some(Piece::on_disk(path))
    }

    fn jar(&mut self, path: &Path) -> Fetched {
        self.opened += 1;
        match Blob::open(path, self.opened <= MAX_OPEN_FILES) {
            Ok(blob) => {
                Jar::open(blob, self.feature).map_or(Fetched::NoArchive, |jar| Fetched::Jar(Arc::new(jar)))
            }
            Err(error) => Fetched::Unreadable(error.to_string()),
        }
    }
}
