//! Files held in memory as they last were whole. What is being rewritten on disk neither changes under a reader
//! nor is taken for broken; knows nothing of what has vanished, which is decided by whoever asks.

use crate::archive::MAX_ENTRY;
use crate::blob::Blob;
use crate::opened::Jar;
use crate::shelf::{Fetched, Piece, Shelf};
use crate::stamp::Stamp;
use rustc_hash::FxHashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Larger archives stay on disk, behind an open file: that is safe as long as they are replaced and not
/// overwritten.
const MAX_HELD: u64 = 1 << 30;

pub struct Held {
    /// Feature version of the JDK, for multi-release jars.
    feature: u32,
    /// How long an incomplete file that was never complete is left out.
    patience: Duration,
    files: FxHashMap<PathBuf, Kept>,
    /// Each file is looked at once a round, so that all who ask see the same.
    round: u64,
    now: Instant,
}

#[derive(Default)]
struct Kept {
    round: u64,
    /// The round in which the content was last found to be another one.
    version: u64,
    good: Option<Good>,
    /// Of the good content, if a later change must give another stamp.
    stamp: Option<Stamp>,
    /// When it was last looked at, and for which round.
    seen: Option<Stamp>,
    seen_for: u64,
    broken: Option<Broken>,
}

#[derive(Clone)]
enum Good {
    File(Arc<[u8]>),
    Jar(Arc<Jar>),
    NoArchive,
}

struct Broken {
    stamp: Option<Stamp>,
    since: Instant,
}

#[derive(Clone, Copy)]
enum Sort {
    Class,
    Archive,
    /// Any bytes will do.
    Text,
}

impl Sort {
    /// Of what is no archive.
    fn of(path: &Path) -> Sort {
        if path.extension().is_some_and(|extension| extension == "class") { Sort::Class } else { Sort::Text }
    }
}

impl Held {
    pub fn new(feature: u32, patience: Duration, now: Instant) -> Held {
        Held { feature, patience, files: FxHashMap::default(), round: 0, now }
    }

    /// From here on files are looked at anew.
    pub fn begin(&mut self, now: Instant) {
        self.round += 1;
        self.now = now;
    }

    /// What nobody asked for in this round is forgotten.
    pub fn end(&mut self) {
        self.files.retain(|_, kept| kept.round == self.round);
    }

    pub fn holds(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// The stamps of all files that were asked for as they are now, which the next round will go by, and whether
    /// there is content to be used for a file that is gone.
    pub fn stamps(&mut self) -> impl Iterator<Item = (&Path, Option<Stamp>, bool)> {
        let next = self.round + 1;
        self.files.iter_mut().map(move |(path, kept)| {
            (kept.seen, kept.seen_for) = (Stamp::of(path).ok(), next);
            (path.as_path(), kept.seen, kept.good.is_some())
        })
    }

    /// Whether the file has not been touched since it was looked at.
    pub fn is_as_seen(&self, path: &Path) -> bool {
        self.files.get(path).is_none_or(|kept| kept.seen == Stamp::of(path).ok())
    }

    /// Files that are incomplete right now, and since when they have been as they are.
    pub fn unsettled(&self) -> Vec<(&Path, Instant)> {
        let current = self.files.iter().filter(|(_, kept)| kept.round == self.round);
        let broken = current.filter_map(|(path, kept)| Some((path.as_path(), kept.broken.as_ref()?.since)));
        let mut unsettled: Vec<_> = broken.collect();
        unsettled.sort_unstable();
        unsettled
    }

    /// A number that is another one when the source or class file has other content.
    pub fn version_of_file(&mut self, path: &Path) -> u64 {
        self.look(path, Sort::of(path)).version
    }

    pub fn version_of_jar(&mut self, path: &Path) -> u64 {
        self.look(path, Sort::Archive).version
    }

    fn look(&mut self, path: &Path, sort: Sort) -> &Kept {
        let kept = self.files.entry(path.to_path_buf()).or_default();
        if kept.round != self.round {
            kept.round = self.round;
            if kept.seen_for != self.round {
                (kept.seen, kept.seen_for) = (Stamp::of(path).ok(), self.round);
            }
            let stamp = kept.seen;
            let unchanged = stamp.is_some() && kept.stamp == stamp;
            let before = kept.good.as_ref();
            match if unchanged { Ok(None) } else { read(path, stamp, sort, before, self.feature) } {
                Ok(other) => {
                    kept.broken = None;
                    kept.stamp = stamp.filter(|stamp| stamp.is_sure(SystemTime::now()));
                    kept.replace(other);
                }
                Err(as_it_is) => {
                    let known = kept.broken.take().filter(|broken| broken.stamp == stamp);
                    let broken = known.unwrap_or(Broken { stamp, since: self.now });
                    let age = stamp.and_then(|stamp| stamp.age(SystemTime::now())).unwrap_or_default();
                    let stands_still = self.now.duration_since(broken.since).max(age) >= self.patience;
                    kept.broken = Some(broken);
                    // It never was whole and nobody is writing it: then this is what there is.
                    if kept.good.is_none() && stands_still && as_it_is.is_some() {
                        kept.replace(as_it_is);
                        kept.broken = None;
                        kept.stamp = stamp.filter(|stamp| stamp.is_sure(SystemTime::now()));
                    }
                }
            }
        }
        kept
    }
}

impl Kept {
    fn replace(&mut self, other: Option<Good>) {
        if other.is_some() {
            self.good = other;
            self.version = self.round;
        }
    }
}

impl Shelf for Held {
    fn file(&mut self, path: PathBuf) -> Option<Piece> {
        match &self.look(&path, Sort::of(&path)).good {
            Some(Good::File(bytes)) => Some(Piece { held: Some(bytes.clone()), path }),
            _ => None,
        }
    }

    fn jar(&mut self, path: &Path) -> Fetched {
        match &self.look(path, Sort::Archive).good {
            Some(Good::Jar(jar)) => Fetched::Jar(jar.clone()),
            Some(_) => Fetched::NoArchive,
            None => Fetched::NotYet,
        }
    }
}

/// The content, or nothing when it is the same as before. An error when it cannot be read or is not whole, with
/// what it is if it stays so.
fn read(
    path: &Path,
    stamp: Option<Stamp>,
    sort: Sort,
    before: Option<&Good>,
    feature: u32,
) -> Result<Option<Good>, Option<Good>> {
    let limit = if matches!(sort, Sort::Archive) { MAX_HELD } else { MAX_ENTRY };
    let Some(stamp) = stamp else { return Err(None) };
    let bytes = if stamp.len() <= limit { fs::read(path).ok() } else { None };
    // Somebody writes it while it is read.
    if Stamp::of(path).ok() != Some(stamp) {
        return Err(None);
    }
    let found = match (sort, bytes) {
        (Sort::Archive, Some(bytes)) if same_archive(before, &bytes) => return Ok(None),
        (Sort::Archive, Some(bytes)) => Jar::open(Blob::memory(bytes), feature),
        (Sort::Archive, None) => Blob::open(path, true).ok().and_then(|blob| Jar::open(blob, feature)),
        (_, None) => return Err(None),
        (_, Some(bytes)) => {
            if matches!(before, Some(Good::File(known)) if **known == bytes) {
                return Ok(None);
            }
            let whole = matches!(sort, Sort::Text) || classfile::parse(&bytes).is_ok();
            let file = Some(Good::File(bytes.into()));
            return if whole { Ok(file) } else { Err(file) };
        }
    };
    let Some(jar) = found else { return Err(Some(Good::NoArchive)) };
    let known = match before {
        Some(Good::Jar(known)) => Some(&known.archive),
        _ => None,
    };
    let whole = jar.archive.is_whole(known);
    let jar = Some(Good::Jar(Arc::new(jar)));
    if whole { Ok(jar) } else { Err(jar) }
}

fn same_archive(before: Option<&Good>, bytes: &[u8]) -> bool {
    matches!(before, Some(Good::Jar(known)) if known.archive.is_made_of(bytes))
}
