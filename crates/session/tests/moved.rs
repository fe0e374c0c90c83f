//! Where a class lies does not matter to a session, only what it is: moved with its bytes it changes nothing, and
//! moved with other bytes it changes as much as if it had stayed.

use fixture::{Compiler, Fixture, Sequence, root};
use project::{Project, Request};
use session::{Cancel, Change, Options, Redone, Session, Update, Verdict};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::{env, fs};

const CLASSES: [&str; 2] = ["Helper", "Main"];

/// The compiled versions of `edits/class_missing`: with the helper that races, and with the one that does not.
fn versions() -> [PathBuf; 2] {
    let sequences = Sequence::below(&root(), "edits/class_missing").expect("the fixtures can be read");
    let versions = &sequences.first().expect("it is there").versions;
    let fixtures: Vec<Fixture> = versions.iter().map(|version| version.fixture.clone()).collect();
    let compiled = Compiler::of_environment().compile_all(&fixtures).expect("the compiler runs");
    [0, 2].map(|at| compiled[at].clone().expect("it compiles"))
}

/// An empty directory for one class path.
fn place(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("moved").join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).expect("a directory");
    place
}

/// A directory with this class only.
fn directory(from: &Path, class: &str, name: &str) -> PathBuf {
    let place = place(name);
    let file = format!("{class}.class");
    fs::copy(from.join(&file), place.join(&file)).expect("a copy");
    place
}

/// An archive with this class only.
fn archive(from: &Path, class: &str, name: &str) -> PathBuf {
    let archive = place(name).join("helper.jar");
    let jar = match env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        Some(home) => Path::new(&home).join("bin").join("jar"),
        None => PathBuf::from("jar"),
    };
    let mut command = Command::new(jar);
    command.arg("--create").arg("--file").arg(&archive).arg("-C").arg(from).arg(format!("{class}.class"));
    assert!(command.status().expect("a JDK has jar").success());
    archive
}

fn open(paths: &[&Path], classpath: &[&Path]) -> Arc<Project> {
    let owned = |paths: &[&Path]| paths.iter().map(|path| path.to_path_buf()).collect();
    let request = Request { paths: owned(paths), classpath: owned(classpath), ..Request::default() };
    Arc::new(project::open(&request).unwrap_or_else(|error| panic!("{error}")))
}

fn start(source: Arc<Project>) -> Session {
    let mut session = Session::new(source, Options { follow: true, ..Options::default() });
    session.check(&|_, _| ());
    session
}

/// Follows, with every class named as if it had changed, and compares with a first run.
fn follow(session: &mut Session, source: Arc<Project>) -> Update {
    let classes = CLASSES.map(String::from).to_vec();
    let change = Change { source: source.clone(), classes, resources: false };
    let update = session.apply(change, &|_, _| (), &Cancel::default()).expect("nobody cancels");
    assert!(!update.from_scratch);
    assert_eq!(session.report().findings, start(source).report().findings);
    assert_eq!(session.verify(), Verdict::Same);
    update
}

#[test]
fn a_class_moved_to_another_directory_or_archive_changes_nothing() {
    let [racy, _] = versions();
    let main = directory(&racy, "Main", "same-main");
    let other = directory(&racy, "Helper", "same-helper");
    let jar = archive(&racy, "Helper", "same-jar");
    let mut session = start(open(&[&racy], &[]));
    let first = session.report();
    assert_eq!(first.findings.len(), 2);
    for source in [open(&[&main, &other], &[]), open(&[&jar, &main], &[]), open(&[&racy], &[])] {
        let update = follow(&mut session, source);
        assert!(update.delta.is_empty());
        assert_eq!(update.redone, Redone::default());
        assert!(Arc::ptr_eq(&first, &session.report()), "nothing was worked out again");
    }
}

#[test]
fn a_class_moved_and_changed_is_changed() {
    let [racy, guarded] = versions();
    let main = directory(&racy, "Main", "other-main");
    let jar = archive(&guarded, "Helper", "other-jar");
    let stayed = follow(&mut start(open(&[&racy], &[])), open(&[&guarded], &[]));
    let mut session = start(open(&[&racy], &[]));
    let moved = follow(&mut session, open(&[&main, &jar], &[]));
    assert_eq!(moved.redone, stayed.redone);
    assert_eq!((moved.delta.introduced.len(), moved.delta.fixed.len()), (0, 1));
    let back = follow(&mut session, open(&[&racy], &[]));
    assert_eq!(back.delta.introduced, moved.delta.fixed);
}

#[test]
fn a_class_moved_to_the_dependencies_is_somebody_elses() {
    let [racy, _] = versions();
    let main = directory(&racy, "Main", "dependency-main");
    let jar = archive(&racy, "Helper", "dependency-jar");
    let mut session = start(open(&[&racy], &[]));
    let first = session.report();
    follow(&mut session, open(&[&main], &[&jar]));
    follow(&mut session, open(&[&racy], &[]));
    assert_eq!(session.report().findings, first.findings);
}

#[test]
fn the_first_place_wins_and_a_second_one_is_not_looked_at() {
    let [racy, guarded] = versions();
    let jar = archive(&guarded, "Helper", "shadowed-jar");
    let mut session = start(open(&[&racy], &[]));
    assert!(follow(&mut session, open(&[&racy, &jar], &[])).delta.is_empty());
    let moved = follow(&mut session, open(&[&jar, &racy], &[]));
    assert_eq!((moved.delta.introduced.len(), moved.delta.fixed.len()), (0, 1));
}
