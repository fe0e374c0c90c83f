//! The compositional engine summarises after an edit what the edit concerns, and nothing else; and it goes on from what
//! an earlier run has kept. Counts methods, not time.

use classfile::ClassSource;
use fixture::{Compiler, Fixture};
use project::{Project, Request};
use session::{Cancel, Change, Engines, Options, Session};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A counter with callers above it, and much that has nothing to do with it.
const FIRST: &str = r#"
class Counter {
    private int count;
    synchronized void add() { count++; }
    synchronized int read() { return count; }
    synchronized void clear() { count = 0; }
    int twice() { return 2 * read(); }
    int four() { return 2 * twice(); }
}
class Other {
    private int other;
    synchronized void change() { other++; }
    synchronized int look() { return other; }
}
"#;

fn options() -> Options {
    Options { engines: Engines::Compositional, follow: true, keep: true, ..Options::default() }
}

fn compiled(name: &str, source: &str) -> Arc<Project> {
    let directory = std::env::temp_dir().join(format!("snarl-summaries-{}", std::process::id())).join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    // Always the same: classes say where they come from.
    let path = directory.join("Program.java");
    std::fs::write(&path, source).expect("a file");
    let name = format!("summaries/program/{name}.java");
    let fixture = Fixture { name, path, source: source.to_owned() };
    // One process compiles one thing at a time.
    static COMPILING: Mutex<()> = Mutex::new(());
    let _alone = COMPILING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let classes = Compiler::of_environment().compile_all(&[fixture]).expect("the compiler runs").remove(0);
    open(classes.unwrap_or_else(|errors| panic!("{errors}")))
}

fn open(path: PathBuf) -> Arc<Project> {
    Arc::new(project::open(&Request { paths: vec![path], ..Request::default() }).expect("a project"))
}

fn changed(from: &Project, to: &Project) -> Vec<String> {
    let names: BTreeSet<String> = from.app_classes().into_iter().chain(to.app_classes()).collect();
    let bytes = |project: &Project, name: &str| project.find(name).map(|found| found.bytes);
    names.into_iter().filter(|name| bytes(from, name) != bytes(to, name)).collect()
}

/// How many methods are summarised when the first program becomes this one, and how many findings there are then.
fn after(name: &str, source: &str) -> (usize, usize) {
    follow(compiled("First", FIRST), compiled(name, source))
}

fn follow(from: Arc<Project>, to: Arc<Project>) -> (usize, usize) {
    let mut session = Session::new(from.clone(), options());
    assert!(session.check(&|_, _| ()).findings.is_empty(), "nothing is wrong at first");
    let change = Change { source: to.clone(), classes: changed(&from, &to), resources: false };
    let update = session.apply(change, &|_, _| (), &Cancel::default()).expect("nobody cancels");
    let fresh = Session::new(to, options()).check(&|_, _| ());
    assert_eq!(session.report().findings, fresh.findings);
    (update.redone.summaries, fresh.findings.len())
}

#[test]
fn nothing_is_summarised_for_another_line() {
    let (summaries, findings) = after("Lines", &FIRST.replace("class Other {", "\n\n\nclass Other {\n\n"));
    assert_eq!((summaries, findings), (0, 0));
}

#[test]
fn callers_are_left_alone_where_nothing_changes_for_them() {
    // Other arithmetic is no other access.
    let (summaries, _) = after("Arithmetic", &FIRST.replace("count = 0", "count = 1"));
    assert!(summaries <= 1, "{summaries}");
}

#[test]
fn callers_follow_where_something_changes_for_them() {
    // Without the lock: `read`, and `twice` and `four` above it; not `Other`.
    let (summaries, findings) = after("Unlocked", &FIRST.replace("synchronized int read", "int read"));
    assert_eq!(summaries, 3);
    assert!(findings > 0);
}

#[test]
fn a_class_that_nobody_has_named_before_is_called_by_those_who_can() {
    let without = r#"
interface Sink { void put() throws InterruptedException; }
class User {
    private final Sink sink;
    User(Sink sink) { this.sink = sink; }
    synchronized void go() throws InterruptedException { sink.put(); }
}
"#;
    let with = format!(
        "{without}class Slow implements Sink {{ public void put() throws InterruptedException {{ Thread.sleep(9); }} }}"
    );
    let (summaries, findings) = follow(compiled("Without", without), compiled("With", &with));
    assert!(summaries >= 2, "{summaries}");
    assert!(findings > 0, "it sleeps under the lock");
}

fn summaries(session: &mut Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    session.write_summaries(&mut bytes).expect("memory");
    bytes
}

#[test]
fn a_later_run_goes_on_from_what_was_kept() {
    let (from, to) =
        (compiled("First", FIRST), compiled("Kept", &FIRST.replace("synchronized int read", "int read")));
    let mut session = Session::new(from.clone(), options());
    session.check(&|_, _| ());
    let kept = summaries(&mut session);
    let mut again = Session::new(from, options());
    again.recall(kept.clone());
    assert!(again.check(&|_, _| ()).findings.is_empty());
    let mut later = Session::new(to.clone(), options());
    later.recall(kept);
    let fresh = Session::new(to, options()).check(&|_, _| ());
    assert_eq!(later.check(&|_, _| ()).findings, fresh.findings);
    assert!(!fresh.findings.is_empty());
}

#[test]
fn what_is_no_state_is_of_no_use_and_does_no_harm() {
    let project = compiled("First", FIRST);
    let mut session = Session::new(project.clone(), options());
    session.check(&|_, _| ());
    let kept = summaries(&mut session);
    for bytes in [Vec::new(), vec![0xff; 64], kept[..kept.len() / 2].to_vec(), kept[1..].to_vec()] {
        let mut later = Session::new(project.clone(), options());
        later.recall(bytes);
        assert!(later.check(&|_, _| ()).findings.is_empty());
        assert!(later.has_summaries());
    }
}
