//! `snarl watch` on programs that change under it. What it tells, taken together, is always what `check` finds.

use crate::support::{Classes, PATIENCE, Place, ids, jar_of, javac, place};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// D4, figure 2: x is written under two locks, and the lock that is added against that closes a circle.
const RACE: &str = include_str!("../../../../fixtures/papers/d4_fig2a.java");
const DEADLOCK: &str = include_str!("../../../../fixtures/papers/d4_fig2b.java");

fn classes(source: &str) -> Classes {
    javac(&[("Amy.java", source)])
}

/// A run of `snarl watch`, ended with the test.
struct Watch {
    child: Child,
    lines: Option<Receiver<String>>,
    /// Ids of all findings told and not taken back.
    told: BTreeSet<String>,
}

impl Watch {
    fn start(place: &Place, args: &[&str]) -> Watch {
        let mut child = place.snarl("watch", args).stdout(Stdio::piped()).spawn().expect("snarl runs");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        // Ends with the process, or when nobody wants to read any more.
        thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)).ok();
        });
        let mut watch = Watch { child, lines: Some(lines), told: BTreeSet::new() };
        watch.until("following the files");
        watch
    }

    /// Everything up to the first line with this text.
    #[track_caller]
    fn until(&mut self, wanted: &str) -> String {
        let lines = self.lines.as_ref().expect("a reader");
        let mut text = String::new();
        loop {
            let Ok(line) = lines.recv_timeout(PATIENCE) else { panic!("no `{wanted}` in:\n{text}") };
            let id = line.rsplit(' ').next().unwrap_or_default().to_owned();
            if line.starts_with("fixed ") {
                assert!(self.told.remove(&id), "{id} was never there: {line}");
            } else if line.starts_with("race ") || line.starts_with("deadlock ") || line.starts_with("  id ")
            {
                assert!(self.told.insert(id), "told twice: {line}");
            }
            text.push_str(&line);
            text.push('\n');
            if line.contains(wanted) {
                return text;
            }
        }
    }

    #[cfg(unix)]
    fn interrupt(&mut self) -> i32 {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
        assert!(sent.success());
        self.child.wait().expect("snarl ends").code().expect("an exit code")
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn assert_as_checked(watch: &Watch, place: &Place, args: &[&str]) {
    let (_, json) = place.json(args);
    assert_eq!(watch.told.iter().cloned().collect::<Vec<_>>(), ids(&json));
}

#[test]
fn the_lock_that_fixes_the_race_makes_the_deadlock() {
    let place = place();
    place.write_all("out", &classes(RACE));
    let mut watch = Watch::start(&place, &["out"]);
    assert_as_checked(&watch, &place, &["out"]);
    assert_eq!(watch.told.len(), 1);

    place.write_all("out", &classes(DEADLOCK));
    let text = watch.until("1 introduced, 1 fixed · 1 finding (1 deadlock): 1 high · 1 class changed: Amy ·");
    assert!(text.contains("introduced deadlock (high confidence): lock-order inversion: "), "{text}");
    assert!(text.contains("waits for `Amy.l2`"), "{text}");
    assert!(
        text.contains("fixed race (medium confidence): Amy.x is written by two threads · Amy.java:"),
        "{text}"
    );
    assert!(text.contains("ms: files "), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    assert_as_checked(&watch, &place, &["out"]);

    // The same program with other lines.
    place.write_all("out", &classes(&format!("// One line more.\n{DEADLOCK}")));
    let text = watch.until("class changed: Amy");
    assert!(text.starts_with("1 moved · 1 finding (1 deadlock)"), "{text}");

    let unused = DEADLOCK.replace("static int y;", "static int y; static void unused() {}");
    place.write_all("out", &classes(&format!("// One line more.\n{unused}")));
    let text = watch.until("class changed: Amy");
    assert!(text.starts_with("nothing introduced, nothing fixed · 1 finding (1 deadlock)"), "{text}");
}

#[test]
fn a_comment_is_heeded_though_no_class_changes() {
    let place = place();
    let line = "x = 1;";
    let source = "class Amy {\n    static int x;\n    public static void main(String[] a) {\n        for (int i = 0; i < 2; i++)\n            new Thread(() -> {\n                x = 1;\n            }).start();\n    }\n}\n";
    place.write("src/Amy.java", source);
    let mut watch = Watch::start(&place, &["src"]);
    assert_eq!(watch.told.len(), 1);
    place.write(
        "src/Amy.java",
        source.replace(line, &format!("{line} // snarl: ignore race -- the same every time")),
    );
    let text = watch.until("suppressed race (medium confidence): Amy.x");
    assert!(text.contains("· the same every time (Amy.java:6)"), "{text}");
    place.write("src/Amy.java", source);
    watch.told.clear();
    watch.until("introduced race (medium confidence): Amy.x");
}

#[test]
fn a_half_written_class_is_waited_for() {
    let place = place();
    place.write_all("out", &classes(RACE));
    let mut watch = Watch::start(&place, &["out"]);

    let whole = classes(DEADLOCK);
    let bytes = &whole["Amy.class"];
    place.write("out/Amy.class", &bytes[..bytes.len() / 2]);
    watch.until("note[unsettled-file]");
    assert_eq!(watch.told.len(), 1);
    place.write_all("out", &whole);
    let text = watch.until("1 introduced, 1 fixed");
    assert_eq!(text.matches("no longer[unsettled-file]").count(), 1, "{text}");
    assert!(!text.contains("note[unsettled-file]"), "{text}");
    assert_as_checked(&watch, &place, &["out"]);
}

#[test]
fn a_directory_that_is_wiped_and_written_again_is_one_change() {
    let place = place();
    place.write_all("out", &classes(RACE));
    let mut watch = Watch::start(&place, &["out"]);

    fs::remove_dir_all(place.path().join("out")).expect("a directory");
    watch.until("note[unsettled-file]");
    assert_eq!(watch.told.len(), 1);
    place.write_all("out", &classes(DEADLOCK));
    let text = watch.until("1 introduced, 1 fixed");
    assert_eq!(text.matches("no longer[unsettled-file]").count(), 1, "{text}");
    assert_as_checked(&watch, &place, &["out"]);
}

#[test]
fn a_jar_is_followed() {
    let place = place();
    place.write("app.jar", jar_of(&classes(RACE)));
    let mut watch = Watch::start(&place, &["app.jar"]);
    place.write("app.jar", jar_of(&classes(DEADLOCK)));
    watch.until("1 introduced, 1 fixed");
    assert_as_checked(&watch, &place, &["app.jar"]);
}

#[test]
fn a_source_with_an_error_keeps_its_findings_until_it_compiles_again() {
    let place = place();
    place.write("src/Amy.java", RACE);
    let mut watch = Watch::start(&place, &["src"]);
    assert_eq!(watch.told.len(), 1);

    place.write("src/Amy.java", RACE.replace("x = 1;", "x = 1"));
    let text = watch.until("note[source-errors]");
    assert!(text.contains("src/Amy.java:11: error: ';' expected"), "{text}");
    assert_eq!(watch.told.len(), 1);

    place.write("src/Amy.java", DEADLOCK);
    let text = watch.until("1 introduced, 1 fixed");
    assert_eq!(text.matches("no longer[source-errors]").count(), 1, "{text}");
    // The excerpt is that of the source as it is now.
    assert!(
        text.contains("synchronized (l1) {\n     │                     ━━━━━━━━━━━━━━━━━ waits for"),
        "{text}"
    );
    assert_as_checked(&watch, &place, &["src"]);
}

#[test]
fn a_program_without_entry_point_is_not_taken_for_a_clean_one() {
    let place = place();
    place.write_all("out", &classes(RACE));
    let whole_program = ["out", "--engine", "whole-program"];
    let mut watch = Watch::start(&place, &whole_program);

    place.write_all("out", &classes(&RACE.replace("void main(", "void other(")));
    let text = watch.until("not analysed: nowhere to begin");
    assert!(text.contains("note[no-entry-point]"), "{text}");
    assert_eq!(watch.told.len(), 1);

    place.write_all("out", &classes(DEADLOCK));
    let text = watch.until("1 introduced, 1 fixed");
    assert!(text.contains("no longer[no-entry-point]"), "{text}");
    assert_as_checked(&watch, &place, &whole_program);
}

#[test]
fn without_entry_points_it_is_looked_method_by_method() {
    let place = place();
    place.write_all("out", &classes(RACE));
    let mut watch = Watch::start(&place, &["out"]);
    place.write_all("out", &classes(&RACE.replace("void main(", "void other(")));
    watch.until("note[no-main]");
    place.write_all("out", &classes(DEADLOCK));
    watch.until("no longer[no-main]");
    assert_as_checked(&watch, &place, &["out"]);
}

#[test]
fn changes_that_overtake_each_other_end_in_the_state_of_the_last() {
    let place = place();
    let versions = [classes(RACE), classes(DEADLOCK)];
    let last = RACE.replace("int r = y;", "int r = y; last = r;").replace("x = 1;", "last = 1; x = 1;");
    let last = classes(&last.replace("static int y;", "static int y; static int last;"));
    place.write_all("out", &versions[0]);
    let mut watch = Watch::start(&place, &["out"]);
    for version in versions.iter().cycle().take(40) {
        place.write_all("out", version);
        // Some come while an update runs, some between two.
        thread::sleep(Duration::from_millis(37));
    }
    place.write_all("out", &last);
    // The finding is told before its update is over.
    watch.until("introduced race (medium confidence): Amy.last");
    watch.until("1 class changed: Amy");
    assert_as_checked(&watch, &place, &["out"]);
}

#[test]
fn what_was_kept_is_told_first_and_followed_from_there() {
    let place = place();
    place.write_all("out", &classes(RACE));
    assert_eq!(place.check(&["out", "--cache", "."]).code, 1);
    let mut watch = Watch::start(&place, &["out", "--cache", "."]);
    assert_eq!(watch.told.len(), 1);
    place.write_all("out", &classes(DEADLOCK));
    let text = watch.until("1 introduced, 1 fixed");
    assert!(text.starts_with("\nintroduced deadlock"), "{text}");
    assert_as_checked(&watch, &place, &["out"]);
}

#[test]
fn what_is_kept_in_a_quiet_moment_is_what_check_says() {
    let place = place();
    place.write_all("out", &classes(RACE));
    let watch = Watch::start(&place, &["out", "--cache", "."]);
    let is_entry = |path: PathBuf| path.extension().is_some_and(|extension| extension == "entry");
    let entries = || {
        let found = fs::read_dir(place.path().join(".snarl")).into_iter().flatten().flatten();
        found.filter(|entry| is_entry(entry.path())).count()
    };
    let end = Instant::now() + PATIENCE;
    // The report, and the state and summaries it rests on.
    while entries() < 3 {
        assert!(Instant::now() < end, "nothing is kept");
        thread::sleep(Duration::from_millis(50));
    }
    drop(watch);
    let fresh = place.check(&["out", "--no-cache", "--format", "json"]);
    assert_eq!(place.check(&["out", "--cache", ".", "--format", "json"]).stdout, fresh.stdout);
    assert!(place.check(&["out", "--cache", ".", "--stats"]).stdout.contains("kept state"));
    // And what only `check` keeps: in which classes nothing is suppressed.
    assert_eq!(entries(), 4);
}

#[test]
fn files_are_looked_at_where_nothing_tells_of_changes() {
    let place = place();
    place.write_all("out", &classes(RACE));
    let mut watch = Watch::start(&place, &["out", "--poll"]);
    place.write_all("out", &classes(DEADLOCK));
    watch.until("1 introduced, 1 fixed");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_in_peace() {
    let place = place();
    place.write_all("out", &classes(RACE));
    let mut watch = Watch::start(&place, &["out"]);
    assert_eq!(watch.interrupt(), 0);
}

#[test]
fn it_ends_when_nobody_reads_any_more() {
    let place = place();
    place.write_all("out", &classes(RACE));
    let mut watch = Watch::start(&place, &["out"]);
    drop(watch.lines.take());
    // The pipe is closed with the first line that nobody wants.
    let end = Instant::now() + PATIENCE;
    for version in [classes(DEADLOCK), classes(RACE)].iter().cycle() {
        place.write_all("out", version);
        thread::sleep(Duration::from_millis(300));
        if let Some(status) = watch.child.try_wait().expect("a process") {
            assert_eq!(status.code(), Some(0));
            break;
        }
        assert!(Instant::now() < end, "it goes on");
    }
}

#[test]
fn what_cannot_begin_ends_like_check() {
    let place = place();
    let output = place.snarl("watch", &["nowhere"]).output().expect("snarl runs");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: nowhere: no such file or directory\n");
}
