//! The directory `.snarl` of a project: opaque bytes by key, whole or not there. Knows nothing of what the bytes
//! mean, and never fails: what cannot be kept or trusted is absent, and a note says why.

mod entry;
mod key;
mod reading;
mod temporary;
mod writing;

pub use key::{Hash, Key};

use findings::Note;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;
use temporary::Temporary;
use writing::{TooLarge, Writing};

const DIRECTORY: &str = ".snarl";
/// Another process may clean up a temporary file between its creation and its lock; that ends after one round.
const ATTEMPTS: usize = 3;

/// Writes the bytes of an entry.
pub type From<'a> = &'a mut dyn FnMut(&mut (dyn Write + Send)) -> io::Result<()>;

/// The cache of one project. Any number of processes and threads may use it at once.
pub struct Store {
    directory: PathBuf,
    /// All entries together take at most this many bytes.
    limit: u64,
    /// By kind: why, and how often.
    notes: Mutex<BTreeMap<&'static str, (String, u64)>>,
}

impl Store {
    /// The cache in this project's directory. Creates nothing before there is something to keep; removes what
    /// killed writers left.
    pub fn open(project: &Path, limit: u64) -> Store {
        let store = Store { directory: project.join(DIRECTORY), limit, notes: Mutex::default() };
        match fs::symlink_metadata(&store.directory) {
            Ok(found) if found.is_dir() => temporary::remove_abandoned(&store.directory),
            Ok(_) => store.unusable(&io::Error::from(io::ErrorKind::NotADirectory)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => store.unusable(&error),
        }
        store
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The bytes that were put under this key; none if there are none, or if they are not as they were written.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.directory.join(key.file_name());
        let payload = match self.read(&path, key) {
            Ok(payload) => payload,
            Err(error) if absent(&error) => return None,
            Err(error) => {
                self.note("cache-unreadable", "a cache entry cannot be read and is made anew", &error);
                return None;
            }
        };
        if payload.is_none() {
            self.note("cache-damaged", "a damaged cache entry was found and is made anew", &path.display());
            // At worst this removes what another process has just put right, which is absence again.
            let _ = fs::remove_file(&path);
        }
        payload
    }

    /// Keeps the bytes under this key, and forgets the entries that were not used for longest if there are too
    /// many. False when that was not possible.
    pub fn put(&self, key: &Key, bytes: &[u8]) -> bool {
        self.put_from(key, &mut |to| to.write_all(bytes))
    }

    /// The same for bytes that nobody has in memory all at once. It may be asked for them again.
    pub fn put_from(&self, key: &Key, from: From<'_>) -> bool {
        match self.write(key, from) {
            Ok(()) => {
                self.forget_old();
                true
            }
            Err(error) if error.get_ref().is_some_and(|inner| inner.is::<TooLarge>()) => {
                let size = format!("more than {} MB", self.limit >> 20);
                self.note(
                    "cache-too-small",
                    "results are larger than the cache may be, and are not kept",
                    &size,
                );
                false
            }
            Err(error) => {
                self.unusable(&error);
                false
            }
        }
    }

    /// What went wrong so far.
    pub fn notes(&self) -> Vec<Note> {
        let notes = self.notes.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let note = |(kind, (message, count)): (&&str, &(String, u64))| Note {
            kind: kind.to_string(),
            message: message.clone(),
            count: *count,
        };
        notes.iter().map(note).collect()
    }

    fn read(&self, path: &Path, key: &Key) -> io::Result<Option<Vec<u8>>> {
        // A pipe would keep whoever opens it waiting.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("not a file"));
        }
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        // What is larger than any entry need not be looked at.
        let payload = if size <= self.limit { reading::read(path, key, &mut file, size)? } else { None };
        // Used just now. On a read-only disk the order stays that of writing.
        let _ = file.set_modified(SystemTime::now());
        Ok(payload)
    }

    /// Under the final name there is always a whole entry: the new one is complete on disk before it gets the
    /// name, in one step.
    fn write(&self, key: &Key, from: From<'_>) -> io::Result<()> {
        self.create_directory()?;
        let header_len = entry::header_len(key);
        let limit = self.limit.saturating_sub(header_len as u64);
        let mut outcome = Ok(());
        for _ in 0..ATTEMPTS {
            let mut temporary = Temporary::create(&self.directory)?;
            // What stands in front is known when all the rest is.
            temporary.file.write_all(&vec![0; header_len])?;
            let mut writing = Writing::new(&mut temporary.file, limit);
            from(&mut writing)?;
            let payload = writing.finish()?;
            temporary.file.seek(SeekFrom::Start(0))?;
            temporary.file.write_all(&entry::header(key, &payload))?;
            temporary.file.sync_all()?;
            outcome = temporary.rename(&self.directory.join(key.file_name()));
            match &outcome {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                _ => break,
            }
        }
        outcome
    }

    fn create_directory(&self) -> io::Result<()> {
        match fs::symlink_metadata(&self.directory) {
            Ok(found) if found.is_dir() => {}
            // Not through a link either: a project from elsewhere must not choose where files are written.
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(_) => match fs::create_dir(&self.directory) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                outcome => outcome?,
            },
        }
        match File::create_new(self.directory.join(".gitignore")) {
            Ok(mut file) => file.write_all(b"*\n"),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes entries, those unused for longest first, until the rest is within the limit.
    fn forget_old(&self) {
        let mut entries = entries(&self.directory);
        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, _, size)| size).sum();
        for (_, path, size) in entries {
            if total <= self.limit {
                break;
            }
            // Another process may have been first; either way it is gone.
            let _ = fs::remove_file(path);
            total -= size;
        }
    }

    fn unusable(&self, error: &io::Error) {
        self.note("cache-unusable", "results cannot be kept for the next run", &format!(".snarl: {error}"));
    }

    fn note(&self, kind: &'static str, text: &str, what: &dyn std::fmt::Display) {
        let mut notes = self.notes.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        notes.entry(kind).or_insert_with(|| (format!("{text}: {what}"), 0)).1 += 1;
    }
}

/// When each entry was last used, where it is, and its size.
fn entries(directory: &Path) -> Vec<(SystemTime, PathBuf, u64)> {
    let found = fs::read_dir(directory).into_iter().flatten().flatten().filter_map(|entry| {
        let (path, metadata) = (entry.path(), entry.metadata().ok()?);
        let is_entry = metadata.is_file() && path.extension() == Some(OsStr::new("entry"));
        is_entry.then_some((metadata.modified().ok()?, path, metadata.len()))
    });
    found.collect()
}

/// No entry, or no directory for entries, which was noted when the cache was opened.
fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
