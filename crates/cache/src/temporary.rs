//! Files that are being written. Each is locked by its writer, so that those of killed writers can be told from
//! those in use.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where files cannot be locked, a writer is taken to be gone after this time.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Removed when dropped, unless it got its final name.
pub struct Temporary {
    pub file: File,
    path: Option<PathBuf>,
}

impl Temporary {
    pub fn create(directory: &Path) -> io::Result<Temporary> {
        let random = RandomState::new().build_hasher().finish();
        let path = directory.join(format!("{}-{random:016x}.tmp", std::process::id()));
        let file = File::create_new(&path)?;
        // Without a lock the file may be cleaned up under the writer, whose rename then fails.
        let _ = file.try_lock();
        Ok(Temporary { file, path: Some(path) })
    }

    pub fn rename(mut self, to: &Path) -> io::Result<()> {
        if let Some(path) = &self.path {
            fs::rename(path, to)?;
        }
        self.path = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

pub fn remove_abandoned(directory: &Path) {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = files.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let paths = files.map(|entry| entry.path());
    for path in paths.filter(|path| path.extension() == Some(OsStr::new("tmp"))) {
        if is_abandoned(&path) {
            let _ = fs::remove_file(path);
        }
    }
}

fn is_abandoned(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => {
            let modified = file.metadata().and_then(|metadata| metadata.modified());
            modified.is_ok_and(|then| then.elapsed().is_ok_and(|age| age > ABANDONED))
        }
    }
}
