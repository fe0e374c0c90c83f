//! Directories, keys and payloads to try.

use cache::{Hash, Key, Store};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub const LIMIT: u64 = 64 << 20;

pub fn place() -> TempDir {
    TempDir::new().unwrap()
}

pub fn store(project: &Path) -> Store {
    Store::open(project, LIMIT)
}

pub fn key(number: u64) -> Key {
    Key::new("test", Hash::of(&number.to_le_bytes()), 1)
}

/// Bytes that only this key has, of this size.
pub fn payload(number: u64, size: usize) -> Vec<u8> {
    let mut state = number ^ 0x9E37_79B9_7F4A_7C15;
    let next = || {
        state = random(state);
        state.to_le_bytes()
    };
    std::iter::repeat_with(next).flatten().take(size).collect()
}

/// One step of a generator that is the same on every machine.
pub fn random(state: u64) -> u64 {
    let state = state ^ (state << 13);
    let state = state ^ (state >> 7);
    state ^ (state << 17)
}

/// Files of the cache with this extension.
pub fn files(store: &Store, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(store.directory()).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = all.filter(|path| path.extension().is_some_and(|is| is == extension)).collect();
    files.sort();
    files
}

pub fn notes(store: &Store) -> Vec<(String, u64)> {
    store.notes().into_iter().map(|note| (note.kind, note.count)).collect()
}
