//! What the file system says about a file without reading it. Knows when that is not enough to tell that the
//! file is unchanged.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The coarsest clock of a file system in use is that of FAT.
const COARSE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    /// When the file system last noticed a change, which nobody can set back, and which file it is.
    changed: Option<SystemTime>,
    identity: (u64, u64),
}

impl Stamp {
    pub fn of(path: &Path) -> io::Result<Stamp> {
        let metadata = fs::metadata(path)?;
        let (changed, identity) = beneath(&metadata);
        Ok(Stamp { len: metadata.len(), modified: metadata.modified().ok(), changed, identity })
    }

    /// When its content was last written.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Whether any later change must give another stamp. A file changed twice within one tick of the file
    /// system's clock keeps its stamp.
    pub fn is_sure(&self, now: SystemTime) -> bool {
        self.age(now).is_some_and(|age| age > COARSE)
    }

    /// How long the file has been as it is.
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        now.duration_since(self.changed.or(self.modified)?).ok()
    }
}

#[cfg(unix)]
fn beneath(metadata: &Metadata) -> (Option<SystemTime>, (u64, u64)) {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).ok().map(Duration::from_secs);
    let nanoseconds = Duration::from_nanos(u64::try_from(metadata.ctime_nsec()).unwrap_or(0));
    let changed = seconds.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(seconds + nanoseconds));
    (changed, (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn beneath(_: &Metadata) -> (Option<SystemTime>, (u64, u64)) {
    (None, (0, 0))
}
