//! What earlier runs have kept: reports, solved states and summaries, what each of them is known by, and the way of a
//! report into bytes and back. Knows nothing of files in the cache, nor of what a report says.

use crate::{Keep, Setup};
use cache::{Hash, Key, Store};
use classfile::ClassSource;
use findings::{Note, Report};
use project::Project;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use session::{Options, Progress, Session};
use std::fs;
use std::path::{Path, absolute};

/// Counted up with every change of what a report is made of.
const FORMAT: u32 = 2;
/// The same for a solved state.
const STATE_FORMAT: u32 = 1;
/// The same for classes without annotations.
const SILENT_FORMAT: u32 = 1;
/// The same for summaries.
const SUMMARIES_FORMAT: u32 = 2;
/// Reports of large programs take a few megabytes, solved states and summaries some tens.
const LIMIT: u64 = 512 << 20;
/// Of very large programs more: for each class so much on top.
const FOR_EACH_CLASS: u64 = 24 << 10;
/// A directory with one of these is that of a project. Other directories are left as they are: one of classes would
/// be packed with what is kept in it.
const SIGNS: [&str; 7] = [
    ".git",
    ".snarl",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
];

/// The places of the report of one program as it is now, and of its solved state as it was last.
pub struct Kept {
    store: Store,
    report: Key,
    state: Key,
    summaries: Key,
    silent: Key,
    /// What is measured has to run.
    is_measured: bool,
}

impl Kept {
    /// None where nothing is to be kept. To be asked before the program is analysed, which may bring further notes.
    pub fn of(project: &Project, setup: &Setup) -> Option<Kept> {
        let directory = match &setup.keep {
            Keep::Nowhere => return None,
            Keep::In(directory) => directory,
            Keep::InProject => Some(project.directory()).filter(|directory| is_project(directory))?,
        };
        // All of them are asked for, here and later: it is quicker if several are at it.
        let (binary, ()) = rayon::join(binary, || {
            project.app_classes().par_iter().for_each(|class| _ = project.stamp(class));
        });
        let binary = binary?;
        let report = report_content(project, setup, binary)?;
        let state = state_content(project, setup, binary)?;
        let limit = LIMIT + FOR_EACH_CLASS * project.app_classes().len() as u64;
        Some(Kept {
            store: Store::open(directory, limit),
            report: Key::new("report", report, FORMAT),
            state: Key::new("state", state, STATE_FORMAT),
            summaries: Key::new("summaries", state, SUMMARIES_FORMAT),
            silent: Key::new("silent", state, SILENT_FORMAT),
            is_measured: setup.measured,
        })
    }

    pub fn report(&self) -> Option<Report> {
        if self.is_measured {
            return None;
        }
        read(&self.store.get(&self.report)?)
    }

    pub fn keep(&self, report: &Report) {
        if let Ok(bytes) = postcard::to_stdvec(report) {
            self.store.put(&self.report, &bytes);
        }
    }

    /// Has a session begin with the summaries that were kept last.
    pub fn recall(&self, session: &mut Session) {
        if session.summarises() {
            self.store.get(&self.summaries).into_iter().for_each(|summaries| session.recall(summaries));
        }
    }

    /// Analyses the program from its state as it was kept last. None if there is none that is of use.
    pub fn resume(&self, session: &mut Session, progress: Progress<'_>) -> Option<Report> {
        if !session.solves() {
            return None;
        }
        session.resume(&self.store.get(&self.state)?, progress)
    }

    /// In the place of the one before.
    pub fn keep_state(&self, session: &mut Session) {
        if let Some(bytes) = session.state() {
            self.store.put(&self.state, &bytes);
        }
        if session.has_summaries() {
            self.store.put_from(&self.summaries, &mut |to| session.write_summaries(to));
        }
    }

    /// Stamps of classes in which nothing is suppressed.
    pub fn silent(&self) -> Vec<u64> {
        self.store.get(&self.silent).and_then(|bytes| read(&bytes)).unwrap_or_default()
    }

    pub fn keep_silent(&self, stamps: &[u64]) {
        if let Ok(bytes) = postcard::to_stdvec(stamps) {
            self.store.put(&self.silent, &bytes);
        }
    }

    /// What went wrong with the cache.
    pub fn notes(&self) -> Vec<Note> {
        self.store.notes()
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (read, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(read)
}

fn is_project(directory: &Path) -> bool {
    SIGNS.iter().any(|sign| directory.join(sign).exists())
}

/// Everything that decides a report. None if that cannot be known.
fn report_content(project: &Project, setup: &Setup, binary: Hash) -> Option<Hash> {
    let mut parts = Parts::of(setup, &setup.options, binary)?;
    for note in project.notes() {
        parts.add(format!("{note:?}").as_bytes());
    }
    parts.add(b"classes");
    project.identify(&mut |part| parts.add(part));
    Some(parts.hash())
}

/// Which program it is and everything that decides its solved state apart from classes and resources: those the state
/// compares itself.
fn state_content(project: &Project, setup: &Setup, binary: Hash) -> Option<Hash> {
    let mut parts = Parts::of(
        setup,
        &Options { least: Default::default(), engines: Default::default(), ..setup.options.clone() },
        binary,
    )?;
    // Within the project by where they are in it: it may be kept elsewhere on another machine.
    let directory = absolute(Path::new(".").join(project.directory())).ok()?;
    for path in setup.request.paths.iter().chain(&setup.request.classpath) {
        let path = absolute(path).ok()?;
        let within = path.strip_prefix(&directory).unwrap_or(&path);
        parts.add(within.as_os_str().as_encoded_bytes());
    }
    parts.add(b"jdk");
    project.identify_jdk(&mut |part| parts.add(part));
    Some(parts.hash())
}

/// During development the same version comes to other results; on another machine it is the same binary.
fn binary() -> Option<Hash> {
    Some(Hash::of(&fs::read(std::env::current_exe().ok()?).ok()?))
}

#[derive(Default)]
struct Parts(Vec<[u8; 16]>);

impl Parts {
    /// What decides every result, whatever is analysed.
    fn of(setup: &Setup, options: &Options, binary: Hash) -> Option<Parts> {
        let mut parts = Parts::default();
        parts.add(&binary.0.to_le_bytes());
        // None of these decides what is found.
        let options = Options { threads: 0, follow: false, keep: false, ..options.clone() };
        parts.add(format!("{options:?}").as_bytes());
        for path in &setup.models {
            parts.add(path.as_os_str().as_encoded_bytes());
            parts.add(&fs::read(path).ok()?);
        }
        Some(parts)
    }

    fn add(&mut self, bytes: &[u8]) {
        self.0.push(Hash::of(bytes).0.to_le_bytes());
    }

    fn hash(&self) -> Hash {
        Hash::of_parts(self.0.iter().map(|part| part.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::{
        AccessKind, Confidence, Engine, Finding, Frame, LockUse, Place, Rule, Site, Stats, Unguarded,
    };

    fn report() -> Report {
        let place = || Place { file: "a/B.java".into(), line: 7 };
        let lock = || LockUse { name: "this".into(), place: place(), shared: true, ..LockUse::default() };
        let site = Site {
            evidence: Some(findings::Evidence::Locks),
            access: AccessKind::Acquire,
            place: place(),
            method: "a.B.run()".into(),
            origin: "main thread".into(),
            started: Some(place()),
            concurrent: vec!["synchronized".into()],
            locks: vec![lock()],
            holds: Some(lock()),
            acquires: None,
            trace: vec![Frame { method: "a.B.main(String[])".into(), place: place() }],
        };
        let finding = Finding {
            about_contents: true,
            held_in: Some("bank.Bank.names".into()),
            is_declared: true,
            shows_harm: true,
            limit: Some(Confidence::Medium),
            id: "3cb8837cfb27ba79".into(),
            cause: "2ba68a385dfb6997".into(),
            rule: Rule::Deadlock,
            confidence: Confidence::Medium,
            engines: vec![Engine::WholeProgram, Engine::Compositional],
            message: "two · threads".into(),
            field: Some("a.B.n".into()),
            object: Some(place()),
            sites: vec![site.clone(), site],
            members: vec!["2ba68a385dfb6997".into()],
            why: vec!["no lock".into()],
            fields: vec!["a.B.n".into()],
            also: vec![(place(), Place::default())],
            unguarded: vec![Unguarded {
                access: AccessKind::Write,
                method: "a.B.run()".into(),
                field: "a.B.n".into(),
                place: place(),
            }],
            assumed: vec!["one of each".into()],
            fix: vec!["a lock".into()],
            dismissed: vec![findings::Dismissed::CommonLock],
        };
        let stats = Stats {
            sizes: vec![("facts".into(), u64::MAX)],
            seconds: vec![("points-to".into(), 0.1)],
            pairs: vec![("all".into(), 3)],
        };
        let note = Note { kind: "missing-class".into(), message: "x".into(), count: 2 };
        Report { findings: vec![finding.into()], notes: vec![note], stats, ..Report::default() }
    }

    #[test]
    fn a_directory_of_gradle_settings_is_a_project() {
        for (sign, expected) in
            [("settings.gradle", true), ("settings.gradle.kts", true), ("setup.gradle", false)]
        {
            let directory = tempfile::tempdir().expect("a directory");
            std::fs::write(directory.path().join(sign), "").expect("a file");
            assert_eq!(is_project(directory.path()), expected, "{sign}");
        }
    }

    #[test]
    fn a_report_is_read_back_as_it_was() {
        let bytes = postcard::to_stdvec(&report()).expect("bytes");
        assert_eq!(read(&bytes), Some(report()));
    }

    #[test]
    fn bytes_that_are_no_report_are_none() {
        let bytes = postcard::to_stdvec(&report()).expect("bytes");
        for end in 0..bytes.len() {
            assert_eq!(read::<Report>(&bytes[..end]), None, "{end}");
        }
        assert_eq!(read::<Report>(&[bytes, vec![0]].concat()), None);
        assert_eq!(read::<Report>(&[0xff; 64]), None);
    }
}
