//! Collects what went wrong on the way to the class path, once per cause and place, from any thread.

use findings::Note;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    BadJavaHome,
    CorruptArchive,
    NoArchive,
    CorruptEntry,
    NestedTooDeep,
    DuplicateClass,
    MisplacedClass,
    UnreadableFile,
    EmptyPath,
    SourcesOnly,
    MissingClasspath,
    MissingDependency,
    UncompiledSources,
    StaleClasses,
    BadBuildFile,
    OutdatedBuildPaths,
    TooManyFiles,
    Unsettled,
    SourceErrors,
    Vanished,
}

impl Kind {
    fn id(self) -> &'static str {
        match self {
            Kind::BadJavaHome => "bad-java-home",
            Kind::CorruptArchive => "corrupt-archive",
            Kind::NoArchive => "no-archive",
            Kind::CorruptEntry => "corrupt-entry",
            Kind::NestedTooDeep => "nested-too-deep",
            Kind::DuplicateClass => "duplicate-class",
            Kind::MisplacedClass => "misplaced-class",
            Kind::UnreadableFile => "unreadable-file",
            Kind::EmptyPath => "empty-path",
            Kind::SourcesOnly => "sources-only",
            Kind::MissingClasspath => "missing-classpath",
            Kind::MissingDependency => "missing-dependency",
            Kind::UncompiledSources => "uncompiled-sources",
            Kind::StaleClasses => "stale-classes",
            Kind::BadBuildFile => "bad-build-file",
            Kind::OutdatedBuildPaths => "outdated-build-paths",
            Kind::TooManyFiles => "too-many-files",
            Kind::Unsettled => "unsettled-file",
            Kind::SourceErrors => "source-errors",
            Kind::Vanished => "vanished-path",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Kind::BadJavaHome => "JAVA_HOME does not name a usable JDK",
            Kind::CorruptArchive => "damaged archives; what can be read of them is used",
            Kind::NoArchive => "files named like archives that are none, left out",
            Kind::CorruptEntry => "archive entries that cannot be read and are left out",
            Kind::NestedTooDeep => "archives nested too deep, too many or too large, left out",
            Kind::DuplicateClass => "classes present more than once; the first on the class path is used",
            Kind::MisplacedClass => {
                "class files whose class has another name than their place says, left out"
            }
            Kind::UnreadableFile => "files or directories that cannot be read, left out",
            Kind::EmptyPath => "paths that hold no classes, jars or Java sources",
            Kind::SourcesOnly => {
                "archives that hold sources and no classes; name the one with the classes, or unpack the sources"
            }
            Kind::MissingClasspath => "class path elements that do not exist",
            Kind::MissingDependency => {
                "dependencies that are not on this machine; build the project once, or pass their jars with --classpath"
            }
            Kind::UncompiledSources => {
                "directories with sources in other languages than Java and no classes; build the project first"
            }
            Kind::StaleClasses => {
                "modules whose classes are older than their sources; build the project to see the latest"
            }
            Kind::BadBuildFile => "build files that cannot be read; the usual layout is assumed",
            Kind::OutdatedBuildPaths => {
                "projects whose build has changed since its tool was asked for class paths, which may be others now; \
                 an editor asks again"
            }
            Kind::TooManyFiles => "directories with too many files, read in part",
            Kind::Unsettled => {
                "files that are incomplete or cannot be read now; what they held before is used, if anything"
            }
            Kind::SourceErrors => {
                "source files that do not compile; the classes of their last good version are used"
            }
            Kind::Vanished => "paths that cannot be analysed any more",
        }
    }
}

#[derive(Debug, Default)]
pub struct Notes {
    seen: Mutex<BTreeMap<Kind, BTreeSet<String>>>,
}

impl Notes {
    /// `what` names the one place it happened; saying it again counts once.
    pub fn add(&self, kind: Kind, what: impl Into<String>) {
        let mut seen = self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        seen.entry(kind).or_default().insert(what.into());
    }

    /// Says again what was said elsewhere.
    pub fn repeat(&self, others: &Notes) {
        let others = others.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for (kind, places) in others.iter() {
            places.iter().for_each(|place| self.add(*kind, place.as_str()));
        }
    }

    /// One note per kind, with the first few places.
    pub fn list(&self) -> Vec<Note> {
        let seen = self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        seen.iter().map(|(kind, places)| note(*kind, places)).collect()
    }
}

fn note(kind: Kind, places: &BTreeSet<String>) -> Note {
    const SHOWN: usize = 3;
    let mut names: Vec<_> = places.iter().take(SHOWN).cloned().collect();
    if places.len() > SHOWN {
        names.push("…".to_string());
    }
    let message = format!("{}: {}", kind.text(), names.join(", "));
    Note { kind: kind.id().to_string(), message, count: places.len() as u64 }
}
