//! A stretch of bytes in a file or in memory that many threads read at any offset. Knows nothing of what
//! the bytes mean.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone)]
pub struct Blob {
    store: Store,
    start: u64,
    len: u64,
}

#[derive(Clone)]
enum Store {
    Open(Arc<File>),
    /// Opened for each read: a class path of many jars must not use up the process's file handles.
    Path(Arc<PathBuf>),
    Memory(Arc<[u8]>),
}

impl Blob {
    pub fn open(path: &Path, keep_open: bool) -> io::Result<Blob> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        let store =
            if keep_open { Store::Open(Arc::new(file)) } else { Store::Path(Arc::new(path.to_path_buf())) };
        Ok(Blob { store, start: 0, len })
    }

    pub fn memory(bytes: Vec<u8>) -> Blob {
        let len = bytes.len() as u64;
        Blob { store: Store::Memory(bytes.into()), start: 0, len }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether these are its bytes, held in memory.
    pub fn is(&self, bytes: &[u8]) -> bool {
        matches!(&self.store, Store::Memory(all) if all[self.start as usize..][..self.len as usize] == *bytes)
    }

    /// The part of this blob at `at`; `None` when it reaches past the end.
    pub fn slice(&self, at: u64, len: u64) -> Option<Blob> {
        let end = at.checked_add(len)?;
        (end <= self.len).then(|| Blob { store: self.store.clone(), start: self.start + at, len })
    }

    /// `len` bytes at `at`; an error when there are fewer.
    pub fn read(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let end = at.checked_add(len).filter(|&end| end <= self.len);
        let (Some(_), Ok(size)) = (end, usize::try_from(len)) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let mut bytes = vec![0; size];
        match &self.store {
            Store::Open(file) => read_exact_at(file, &mut bytes, self.start + at)?,
            Store::Path(path) => read_exact_at(&File::open(path.as_path())?, &mut bytes, self.start + at)?,
            Store::Memory(all) => {
                let from = (self.start + at) as usize;
                bytes.copy_from_slice(&all[from..from + size]);
            }
        }
        Ok(bytes)
    }

    /// As [`Blob::read`], but fewer bytes when the blob ends earlier.
    pub fn read_up_to(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let at = at.min(self.len);
        self.read(at, len.min(self.len - at))
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !bytes.is_empty() {
        match file.seek_read(bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                bytes = &mut bytes[n..];
                at += n as u64;
            }
        }
    }
    Ok(())
}
