//! Tells when files may have changed, as the operating system reports it. Knows nothing of what the files are;
//! where reports cannot be relied on, says so.

use crate::Request;
use crate::build_paths;
use crate::mounts;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A report is passed on when this long no other one came.
const CALM: Duration = Duration::from_millis(30);
/// But not later than this after the first one.
const AT_MOST: Duration = Duration::from_millis(500);

pub struct Events {
    /// None where reports cannot be relied on.
    watcher: Option<RecommendedWatcher>,
    reports: Receiver<notify::Result<Event>>,
    interests: Vec<Interest>,
    /// What the watcher was told to follow.
    followed: BTreeMap<PathBuf, Followed>,
}

#[derive(Debug, PartialEq, Eq)]
enum Interest {
    /// A directory with everything below it.
    Tree(PathBuf),
    /// The files directly in a directory.
    Children(PathBuf),
    File(PathBuf),
}

#[derive(PartialEq, Eq)]
struct Followed {
    deep: bool,
    /// A directory made anew under the same name is another one, of which the system reports nothing.
    identity: Option<(u64, u64)>,
}

impl Events {
    pub fn new() -> Events {
        let (send, reports) = channel();
        let watcher = notify::recommended_watcher(move |report| {
            let _ = send.send(report);
        });
        Events { watcher: watcher.ok(), reports, interests: Vec::new(), followed: BTreeMap::new() }
    }

    /// Whether changes are reported at all.
    pub fn are_coming(&self) -> bool {
        self.watcher.is_some()
    }

    pub fn give_up(&mut self) {
        self.watcher = None;
    }

    /// From here on reports are about what was asked for and these archives.
    pub fn follow(&mut self, request: &Request, archives: &[PathBuf]) {
        self.interests = interests(request, archives);
        let mut wanted: BTreeMap<PathBuf, Followed> = BTreeMap::new();
        let mut want = |path: &Path, deep: bool| {
            let followed = wanted.entry(path.to_path_buf());
            let followed = followed.or_insert_with(|| Followed { deep, identity: identity(path) });
            followed.deep |= deep;
        };
        for interest in &self.interests {
            match interest {
                Interest::Tree(path) => {
                    want(path, true);
                    // Tells when the directory itself comes and goes.
                    around(path).into_iter().for_each(|parent| want(parent, false));
                }
                Interest::Children(path) => want(path, false),
                Interest::File(path) => around(path).into_iter().for_each(|parent| want(parent, false)),
            }
        }
        let trees: Vec<PathBuf> =
            wanted.iter().filter(|(_, followed)| followed.deep).map(|(path, _)| path.clone()).collect();
        // What lies in a tree is followed with it, and told once more would be followed less deeply.
        let in_tree = |path: &PathBuf| trees.iter().any(|tree| tree != path && path.starts_with(tree));
        wanted.retain(|path, _| path.is_dir() && !in_tree(path));
        let is_new = |path: &&PathBuf| !self.followed.contains_key(*path);
        if wanted.keys().filter(is_new).any(|path| mounts::is_remote(path)) || self.switch_to(wanted).is_err()
        {
            // The system cannot know, or has no room for more: whoever waits has to look.
            self.give_up();
        }
    }

    fn switch_to(&mut self, wanted: BTreeMap<PathBuf, Followed>) -> notify::Result<()> {
        let Some(watcher) = &mut self.watcher else { return Ok(()) };
        for (path, followed) in &self.followed {
            if wanted.get(path) != Some(followed) {
                // It may be gone, and with it what is to be given up.
                let _ = watcher.unwatch(path);
            }
        }
        for (path, followed) in &wanted {
            if self.followed.get(path) != Some(followed) {
                let mode = if followed.deep { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
                match watcher.watch(path, mode) {
                    Err(error) if !path.is_dir() => drop(error),
                    outcome => outcome?,
                }
            }
        }
        self.followed = wanted;
        Ok(())
    }

    /// Whoever looks at all files now need not hear of what happened before.
    pub fn forget(&mut self) {
        while let Ok(report) = self.reports.try_recv() {
            self.lose(&report);
        }
    }

    /// What was removed is followed no longer, even if something of its name, and on some file systems of its number,
    /// is there again.
    fn lose(&mut self, report: &notify::Result<Event>) {
        let Ok(event) = report else { return };
        if matches!(event.kind, EventKind::Remove(_)) {
            event.paths.iter().for_each(|path| _ = self.followed.remove(path));
        }
    }

    /// Waits for a report and then until reports cease for a moment. False when none came in time.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        let end = Instant::now() + timeout;
        let mut burst: Option<Burst> = None;
        loop {
            let now = Instant::now();
            let left = match &burst {
                Some(burst) => burst.left(now),
                None => end.saturating_duration_since(now),
            };
            match self.reports.recv_timeout(left) {
                Ok(report) if self.concerns(&report) => {
                    self.lose(&report);
                    let now = Instant::now();
                    burst = Some(
                        burst.map_or(Burst { first: now, last: now }, |burst| Burst { last: now, ..burst }),
                    );
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return burst.is_some(),
                Err(RecvTimeoutError::Disconnected) => {
                    self.give_up();
                    return true;
                }
            }
            let now = Instant::now();
            if burst.as_ref().map_or(now >= end, |burst| burst.left(now).is_zero()) {
                return burst.is_some();
            }
        }
    }

    fn concerns(&self, report: &notify::Result<Event>) -> bool {
        match report {
            // Lost reports, or a watch that ended: anything may have happened.
            Err(_) => true,
            Ok(event) if event.need_rescan() => true,
            // Reading is no change.
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => false,
            Ok(event) => {
                event.paths.iter().any(|path| self.interests.iter().any(|interest| interest.covers(path)))
            }
        }
    }
}

impl Interest {
    fn covers(&self, path: &Path) -> bool {
        match self {
            Interest::Tree(root) => {
                // With the directory that it is kept in, because of a new one nothing else is reported at first.
                let is_kept = |within: &Path| {
                    Path::new(build_paths::KEPT).starts_with(within) || within.starts_with(".mvn")
                };
                let is_seen = |within: &Path| !is_hidden(within) || is_kept(within);
                path.strip_prefix(root).is_ok_and(is_seen) || root.starts_with(path)
            }
            Interest::Children(directory) => path.parent() == Some(directory),
            Interest::File(file) => file.starts_with(path),
        }
    }
}

/// The nearest directory around it that is there: a build may remove several and make them anew.
fn around(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|parent| parent.is_dir())
}

/// Hidden directories are not looked into: those of version control, of editors, and `.snarl` itself.
fn is_hidden(within: &Path) -> bool {
    within.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
}

fn interests(request: &Request, archives: &[PathBuf]) -> Vec<Interest> {
    let mut interests = Vec::new();
    let mut add = |interest: Interest| {
        if !interests.contains(&interest) {
            interests.push(interest);
        }
    };
    for path in request.paths.iter().chain(&request.classpath) {
        if path.ends_with("*") {
            add(Interest::Children(real(path.parent().unwrap_or(Path::new(".")))));
        } else if path.is_file() {
            add(Interest::File(real(path)));
            add(Interest::File(absolute(path)));
        } else {
            add(Interest::Tree(real(path)));
            // A link may be turned elsewhere.
            add(Interest::File(absolute(path)));
        }
    }
    for path in archives {
        for file in [real(path), absolute(path)] {
            // Sorted out here because there may be hundreds in one tree.
            if !interests
                .iter()
                .any(|interest| matches!(interest, Interest::Tree(_)) && interest.covers(&file))
            {
                interests.push(Interest::File(file));
            }
        }
    }
    interests
}

/// Reports name files by their real place on some systems; what is gone is named as it was.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| absolute(path))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Reports that come one after the other.
struct Burst {
    first: Instant,
    last: Instant,
}

impl Burst {
    /// How long to wait for the next one.
    fn left(&self, now: Instant) -> Duration {
        (self.last + CALM).min(self.first + AT_MOST).saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_MOST, Burst, CALM, Interest};
    use std::path::{Path, PathBuf};
    use std::time::{Duration, Instant};

    #[test]
    fn a_burst_ends_when_it_is_calm_and_after_a_while_in_any_case() {
        let start = Instant::now();
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        let burst = Burst { first: start, last: after(20) };
        assert_eq!(burst.left(after(20)), CALM);
        assert_eq!(burst.left(after(50)), Duration::ZERO);
        let long = Burst { first: start, last: start + AT_MOST - Duration::from_millis(1) };
        assert_eq!(long.left(long.last), Duration::from_millis(1));
    }

    #[test]
    fn hidden_directories_concern_nobody_but_the_project_may_lie_in_one() {
        let tree = Interest::Tree(PathBuf::from("/home/.work/app"));
        assert!(tree.covers(Path::new("/home/.work/app")));
        assert!(tree.covers(Path::new("/home/.work/app/a/B.class")));
        assert!(!tree.covers(Path::new("/home/.work/app/.snarl/x.entry")));
        assert!(!tree.covers(Path::new("/home/.work/other")));
        assert!(tree.covers(Path::new("/home/.work")), "it goes with what is around it");
        assert!(Interest::Children(PathBuf::from("/lib")).covers(Path::new("/lib/a.jar")));
        assert!(!Interest::Children(PathBuf::from("/lib")).covers(Path::new("/lib/deep/a.jar")));
    }
}
