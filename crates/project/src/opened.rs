//! An archive opened and sorted out, with the archives nested in it. Knows nothing of the class path.

use crate::archive::{Archive, EntryError};
use crate::blob::Blob;
use crate::jar::{Contents, contents};
use std::sync::Arc;

const MAX_DEPTH: u32 = 4;
const MAX_NESTED: u32 = 10_000;
/// One nested archive, and all of them together.
const MAX_NESTED_SIZE: u64 = 512 << 20;
const MAX_NESTED_TOTAL: u64 = 2 << 30;

pub struct Jar {
    pub archive: Archive,
    pub contents: Contents,
    pub nested: Vec<Nested>,
}

pub struct Nested {
    /// Its name in the archive around it.
    pub name: String,
    /// A dependency rather than a part of the application.
    pub library: bool,
    pub jar: Result<Arc<Jar>, NotOpened>,
}

pub enum NotOpened {
    /// A limit is reached: an archive may nest without end, or contain itself.
    TooDeep,
    Bad(EntryError),
}

impl Jar {
    /// For a JDK of this feature version; `None` when the blob is no zip archive at all.
    pub fn open(blob: Blob, feature: u32) -> Option<Jar> {
        Archive::open(blob).map(|archive| Opener { feature, nested: 0, size: 0 }.sort_out(archive, 0))
    }
}

struct Opener {
    feature: u32,
    /// Archives met inside the outermost one, and their sizes together.
    nested: u32,
    size: u64,
}

impl Opener {
    fn sort_out(&mut self, archive: Archive, depth: u32) -> Jar {
        let contents = contents(&archive, self.feature);
        let opened = contents.nested.iter().map(|nested| Nested {
            name: archive.entries[nested.entry as usize].name.clone(),
            library: nested.library,
            jar: self.open_nested(&archive, nested.entry, depth),
        });
        let nested = opened.collect();
        Jar { archive, contents, nested }
    }

    fn open_nested(&mut self, archive: &Archive, entry: u32, depth: u32) -> Result<Arc<Jar>, NotOpened> {
        let entry = &archive.entries[entry as usize];
        self.nested += 1;
        self.size = self.size.saturating_add(entry.size);
        if depth >= MAX_DEPTH || self.nested > MAX_NESTED || self.size > MAX_NESTED_TOTAL {
            return Err(NotOpened::TooDeep);
        }
        let blob = archive.nested(entry, MAX_NESTED_SIZE).map_err(NotOpened::Bad)?;
        let nested = Archive::open(blob).ok_or(NotOpened::Bad(EntryError::Corrupt))?;
        Ok(Arc::new(self.sort_out(nested, depth + 1)))
    }
}
