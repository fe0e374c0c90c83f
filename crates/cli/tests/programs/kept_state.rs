//! Solved states kept between runs: after any change the report is that of a run from nothing, whether the state was of
//! use or not.

use crate::support::{Classes, Place, Run, jar_of, javac, place};
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

const POM: &str = "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId>\
                   <version>1</version></project>";

const MAIN: &str = "package app;
public class Main {
    static int hits;
    static final Counter counter = new Counter();
    public static void main(String[] args) {
        new Thread(() -> { hits++; counter.count(); }).start();
        hits++;
        counter.count();
    }
}
";

const COUNTER: &str = "package app;
class Counter {
    int n;
    synchronized void count() { n++; }
}
";

fn compiled(main: &str, counter: &str) -> Classes {
    javac(&[("app/Main.java", main), ("app/Counter.java", counter)])
}

fn project() -> Place {
    let place = place();
    place.write("project/pom.xml", POM);
    place.write_all("project/target/classes", &compiled(MAIN, COUNTER));
    place
}

fn state(place: &Place) -> Option<PathBuf> {
    let all = fs::read_dir(place.path().join("project/.snarl")).into_iter().flatten();
    let mut paths = all
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("state-")));
    let state = paths.next();
    assert_eq!(paths.next(), None, "one state is enough");
    state
}

/// Runs as a user would, and from nothing; both must say the same in every format. Gives the first run.
#[track_caller]
fn check_both_ways(place: &Place, args: &[&str]) -> Run {
    let with = |more: &[&str]| place.check(&[&["project"], args, more].concat());
    let (json, fresh_json) =
        (with(&["--format", "json", "--all"]), with(&["--format", "json", "--all", "--no-cache"]));
    assert_eq!((json.code, &json.stdout), (fresh_json.code, &fresh_json.stdout));
    let (run, fresh) = (with(&["--notes"]), with(&["--notes", "--no-cache"]));
    assert_eq!((run.code, &run.stdout, &run.stderr), (fresh.code, &fresh.stdout, &fresh.stderr));
    run
}

/// Whether the analysis of the project as it is now goes on from the state that is kept.
fn is_resumed(place: &Place, args: &[&str]) -> bool {
    let run = place.check(&[&["project", "--cache", "project", "--stats"], args].concat());
    assert!(run.stdout.contains("points-to"), "{}", run.stdout);
    run.stdout.contains("kept state")
}

#[test]
fn after_an_edit_the_analysis_goes_on_from_the_state_before() {
    let place = project();
    assert!(!is_resumed(&place, &[]));
    assert!(state(&place).is_some() && is_resumed(&place, &[]));

    let racy = COUNTER.replace("synchronized ", "");
    place.write_all("project/target/classes", &compiled(MAIN, &racy));
    assert!(is_resumed(&place, &[]));
    let run = check_both_ways(&place, &[]);
    assert!(run.stdout.contains("app.Counter.n"), "{}", run.stdout);

    // Members and hierarchy.
    let other = MAIN
        .replace("hits++;", "more(new Counter() { void count() { hits++; } });")
        .replace("static int hits;", "static int hits; static void more(Counter it) { it.count(); }");
    place.write_all("project/target/classes", &compiled(&other, &racy));
    check_both_ways(&place, &[]);
    place.write_all("project/target/classes", &compiled(MAIN, COUNTER));
    let run = check_both_ways(&place, &[]);
    assert!(!run.stdout.contains("app.Counter.n"), "{}", run.stdout);
}

#[test]
fn what_is_kept_does_not_grow_with_the_number_of_edits() {
    let place = project();
    let versions = [compiled(MAIN, &COUNTER.replace("synchronized ", "")), compiled(MAIN, COUNTER)];
    let mut sizes = Vec::new();
    for _ in 0..8 {
        for version in &versions {
            place.write_all("project/target/classes", version);
            // Written even if the report is known.
            assert!(is_resumed(&place, &[]) || sizes.is_empty());
        }
        let files = fs::read_dir(place.path().join("project/.snarl")).expect("a directory");
        let files = files.map(|file| file.expect("an entry").metadata().expect("a file").len());
        sizes.push((files.count(), fs::metadata(state(&place).expect("a state")).expect("a file").len()));
    }
    let (entries, bytes) = sizes[2];
    let (entries_now, bytes_now) = sizes[7];
    assert_eq!(entries_now, entries, "{sizes:?}");
    assert!(bytes_now <= bytes + bytes / 100, "{sizes:?}");
}

#[test]
fn classes_and_archives_come_and_go() {
    let place = project();
    let source = |run: &str| {
        format!("package lib; public class Lib {{ public static void run(Runnable it) {{ {run} }} }}")
    };
    let lib = |run: &str| javac(&[("lib/Lib.java", &source(run))]);
    let (open, locked) = ("it.run();", "synchronized (Lib.class) { it.run(); }");
    let main = MAIN.replace("hits++;", "lib.Lib.run(() -> hits++);");
    let mut classes =
        javac(&[("lib/Lib.java", &source(open)), ("app/Main.java", &main), ("app/Counter.java", COUNTER)]);
    classes.remove("lib/Lib.class");
    place.write_all("project/target/classes", &classes);
    let args = ["--classpath", "lib.jar"];
    let races = |run: Run| run.stdout.contains("app.Main.hits");
    place.write("lib.jar", jar_of(&lib(locked)));
    assert!(!races(check_both_ways(&place, &args)));

    // The archive is another one, has lost the class, and is what it was.
    place.write("lib.jar", jar_of(&lib(open)));
    assert!(is_resumed(&place, &args));
    assert!(races(check_both_ways(&place, &args)));
    place.write("lib.jar", jar_of(&javac(&[("other/Other.java", "package other; class Other { }")])));
    let run = check_both_ways(&place, &args);
    assert!(run.stdout.contains("lib.Lib is not on the class path"), "{}", run.stdout);
    place.write("lib.jar", jar_of(&lib(open)));
    assert!(is_resumed(&place, &args));
    let run = check_both_ways(&place, &args);
    assert!(!run.stdout.contains("missing-class") && races(run));

    // A class of the application shadows one of the archive, and goes.
    place.write_all("project/target/classes", &lib(locked));
    assert!(is_resumed(&place, &args));
    assert!(!races(check_both_ways(&place, &args)));
    fs::remove_file(place.path().join("project/target/classes/lib/Lib.class")).expect("a class");
    assert!(is_resumed(&place, &args));
    assert!(races(check_both_ways(&place, &args)));

    // Another beginning.
    let second = MAIN.replace("Main", "Second");
    place.write_all(
        "project/target/classes",
        &javac(&[("app/Second.java", &second), ("app/Counter.java", COUNTER)]),
    );
    check_both_ways(&place, &args);
}

#[test]
fn what_nobody_asks_for_any_more_is_not_missed() {
    let place = project();
    let helped =
        "package app; class Counter extends Gone { int n; synchronized void count() { n++; new Unused(); } }";
    let missing = [
        ("app/Gone.java", "package app; class Gone { }"),
        ("app/Unused.java", "package app; class Unused { }"),
    ];
    let mut classes = javac(&[missing[0], missing[1], ("app/Main.java", MAIN), ("app/Counter.java", helped)]);
    classes.remove("app/Gone.class");
    classes.remove("app/Unused.class");
    place.write_all("project/target/classes", &classes);
    let run = check_both_ways(&place, &[]);
    assert!(
        run.stdout.contains("app.Gone is not") && run.stdout.contains("app.Unused is not"),
        "{}",
        run.stdout
    );

    place.write_all("project/target/classes", &compiled(MAIN, COUNTER));
    let run = check_both_ways(&place, &[]);
    assert!(!run.stdout.contains("missing-class"), "{}", run.stdout);
}

#[test]
fn other_resources_are_not_followed() {
    let place = project();
    let main = "package app;
public class Main {
    public interface Task { void run(); }
    public static class Quiet implements Task { public void run() { } }
    public static class Racy implements Task { static int n; public void run() { n++; } }
    public static void main(String[] args) {
        for (Task task : java.util.ServiceLoader.load(Task.class)) new Thread(task::run).start();
        for (Task task : java.util.ServiceLoader.load(Task.class)) task.run();
    }
}
";
    place.write_all("project/target/classes", &javac(&[("app/Main.java", main)]));
    let services = "project/target/classes/META-INF/services/app.Main$Task";
    place.write(services, "app.Main$Quiet\n");
    let run = check_both_ways(&place, &[]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(is_resumed(&place, &[]));

    place.write(services, "app.Main$Quiet\napp.Main$Racy\n");
    assert!(!is_resumed(&place, &[]));
    let run = check_both_ways(&place, &[]);
    assert!(run.stdout.contains("Racy.n"), "{}", run.stdout);
}

#[test]
fn a_damaged_state_is_not_used() {
    let place = project();
    let racy = compiled(MAIN, &COUNTER.replace("synchronized ", ""));
    let damages: [fn(&mut Vec<u8>); 4] = [
        |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        },
        |bytes| bytes.truncate(bytes.len() / 2),
        Vec::clear,
        |bytes| bytes.extend([0; 8]),
    ];
    for damage in damages {
        place.write_all("project/target/classes", &compiled(MAIN, COUNTER));
        is_resumed(&place, &[]);
        let state = state(&place).expect("a state");
        let mut bytes = fs::read(&state).expect("a state");
        damage(&mut bytes);
        fs::write(&state, bytes).expect("a state");
        place.write_all("project/target/classes", &racy);
        assert!(!is_resumed(&place, &[]));
        check_both_ways(&place, &[]);
    }
}

#[test]
fn killed_writers_and_two_at_once_leave_a_whole_state_or_none() {
    let place = project();
    let spawn = || {
        let mut command = place.snarl("check", &["project", "--cache", "project", "--stats"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("snarl runs")
    };
    for pause in 0..8 {
        // It writes the state when it has told the report.
        let mut child = spawn();
        let mut first = [0];
        let _ = child.stdout.take().expect("a pipe").read(&mut first);
        thread::sleep(Duration::from_millis(pause * 2));
        let _ = child.kill();
        let _ = child.wait();
    }
    let racy = COUNTER.replace("synchronized ", "");
    place.write_all("project/target/classes", &compiled(MAIN, &racy));
    let writers: Vec<_> = (0..3).map(|_| spawn()).collect();
    for writer in writers {
        let output = writer.wait_with_output().expect("snarl ends");
        assert_eq!(output.status.code(), Some(1));
    }
    assert!(is_resumed(&place, &[]));
    check_both_ways(&place, &[]);
    place.write_all("project/target/classes", &compiled(MAIN, COUNTER));
    check_both_ways(&place, &[]);
    let leftovers = fs::read_dir(place.path().join("project/.snarl")).expect("a directory");
    assert!(
        leftovers.flatten().all(|entry| entry.path().extension().is_none_or(|extension| extension != "tmp"))
    );
}

#[test]
fn what_is_wrong_with_a_class_is_told_although_it_is_not_read_again() {
    let place = project();
    let classes = compiled(MAIN, COUNTER);
    place.write("project/target/classes/app/Wrong.class", &classes["app/Counter.class"]);
    let alone = ["--engine", "compositional"];
    let run = check_both_ways(&place, &alone);
    assert!(run.stdout.contains("app/Wrong.class"), "{}", run.stdout);
    place.write_all("project/target/classes", &compiled(MAIN, &COUNTER.replace("synchronized ", "")));
    let run = check_both_ways(&place, &alone);
    assert!(run.stdout.contains("app/Wrong.class"), "{}", run.stdout);
}

#[test]
fn one_engine_says_nothing_of_what_the_other_has_kept() {
    let place = project();
    let call = "try { java.security.MessageDigest.getInstance(\"MD5\").reset(); } catch (Exception none) { }";
    let opaque = MAIN.replace("(String[] args) {", &format!("(String[] args) {{ {call}"));
    place.write_all("project/target/classes", &compiled(&opaque, COUNTER));
    let run = check_both_ways(&place, &[]);
    assert!(run.stdout.contains("are not followed"), "{}", run.stdout);
    let run = check_both_ways(&place, &["--engine", "compositional"]);
    assert!(!run.stdout.contains("are not followed"), "{}", run.stdout);
}
