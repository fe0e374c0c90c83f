//! `snarl diff` on real histories: bugs that come, go and move, and what is said where a side cannot be analysed.

use super::support::{Place, Run, jar_of, javac, place, run};
use serde_json::Value;
use std::process::Command;

const COUNTER: &str = "package app;
class Counter {
    int n;
    void inc() {
        n++;
    }
    synchronized int get() {
        return n;
    }
}
";
const SAFE: &str = "package app;
class Counter {
    int n;
    synchronized void inc() {
        n++;
    }
    synchronized int get() {
        return n;
    }
}
";
const MAIN: &str = "package app;
public class Main {
    static final Counter counter = new Counter();
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(() -> counter.inc()).start();
        }
        System.out.println(counter.get());
    }
}
";

/// A repository whose first commit has these sources.
fn history(counter: &str) -> Place {
    let place = place();
    git(&place, &["init", "--quiet", "-b", "main"]);
    place.write("src/app/Main.java", MAIN);
    place.write("src/app/Counter.java", counter);
    commit(&place, "first");
    place
}

fn git(place: &Place, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]);
    let output = command.args(args).current_dir(place.path()).output().expect("git runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn commit(place: &Place, message: &str) {
    git(place, &["add", "--all"]);
    git(place, &["commit", "--quiet", "-m", message]);
}

fn diff(place: &Place, args: &[&str]) -> Run {
    run(place.snarl("diff", args))
}

fn last(run: &Run) -> &str {
    run.stdout.lines().last().unwrap_or_default()
}

fn expect(place: &Place, args: &[&str], code: i32, summary: &str) {
    let run = diff(place, args);
    assert_eq!((run.code, last(&run)), (code, summary), "{}{}", run.stdout, run.stderr);
}

#[test]
fn a_bug_that_comes_fails_and_one_that_goes_does_not() {
    let place = history(SAFE);
    place.write("src/app/Counter.java", COUNTER);
    let run = diff(&place, &["main"]);
    assert_eq!(
        (run.code, last(&run)),
        (1, "1 introduced, nothing fixed · main → working tree"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.starts_with("introduced race (high confidence): app.Counter.n "), "{}", run.stdout);
    assert!(run.stdout.contains("src/app/Counter.java:5:9"), "{}", run.stdout);
    expect(&place, &["main", "--fail-on", "never"], 0, "1 introduced, nothing fixed · main → working tree");
    commit(&place, "second");
    expect(&place, &["HEAD~1..HEAD"], 1, "1 introduced, nothing fixed · HEAD~1 → HEAD");
    expect(&place, &["main"], 0, "nothing introduced, nothing fixed, 1 unchanged · main → working tree");
    let run = diff(&place, &["HEAD", "HEAD~1"]);
    assert_eq!((run.code, last(&run)), (0, "nothing introduced, 1 fixed · HEAD → HEAD~1"));
    assert!(run.stdout.starts_with("fixed race (high confidence): app.Counter.n is "), "{}", run.stdout);
}

/// Two methods hold the lock, one does not.
const MOSTLY: &str = "package app;
class Counter {
    private final Object lock = new Object();
    private int n;
    void inc() {
        synchronized (lock) {
            n++;
        }
    }
    void dec() {
        synchronized (lock) {
            n--;
        }
    }
    int get() {
        return n;
    }
}
";

#[test]
fn an_unlocked_access_to_a_field_that_has_a_finding_is_introduced() {
    let place = history(MOSTLY);
    let main = MAIN.replace("counter.inc()", "{ counter.inc(); counter.dec(); counter.get(); }");
    place.write("src/app/Main.java", &main);
    commit(&place, "second");
    place.check(&["src", "--write-baseline", "known.json"]);
    let reset =
        MOSTLY.replace("    int get() {", "    void reset() {\n        n = 0;\n    }\n    int get() {");
    place.write("src/app/Counter.java", &reset);
    place.write("src/app/Main.java", main.replace("counter.dec();", "counter.dec(); counter.reset();"));
    let run = diff(&place, &["main"]);
    assert_eq!((run.code, last(&run)), (1, "1 introduced, nothing fixed · main → working tree"));
    assert!(run.stdout.starts_with("introduced race (high confidence): app.Counter.n "), "{}", run.stdout);
    let why = "why     new: Counter.reset (:16); the rest was reported before\n";
    assert!(run.stdout.contains(why), "{}", run.stdout);
    let run = place.check(&["src", "--baseline", "known.json"]);
    assert!(run.code == 1 && run.stdout.contains(why), "{}", run.stdout);
    commit(&place, "third");
    expect(&place, &["HEAD", "HEAD~1"], 0, "nothing introduced, nothing fixed, 1 unchanged · HEAD → HEAD~1");
}

#[test]
fn a_locked_access_to_a_field_that_has_a_finding_is_not() {
    let place = history(MOSTLY);
    let main = MAIN.replace("counter.inc()", "{ counter.inc(); counter.dec(); counter.get(); }");
    place.write("src/app/Main.java", &main);
    commit(&place, "second");
    let reset = MOSTLY.replace(
        "    int get() {",
        "    void reset() {\n        synchronized (lock) {\n            n = 0;\n        }\n    }\n    int get() {",
    );
    place.write("src/app/Counter.java", &reset);
    place.write("src/app/Main.java", main.replace("counter.dec();", "counter.dec(); counter.reset();"));
    expect(&place, &["main"], 0, "nothing introduced, nothing fixed, 1 unchanged · main → working tree");
}

#[test]
fn edits_that_change_nothing_introduce_nothing() {
    let place = history(COUNTER);
    let unchanged = "nothing introduced, nothing fixed, 1 unchanged · main → working tree";
    place.write("src/app/Counter.java", COUNTER.replace("class Counter", "\n// moved\n\nclass Counter"));
    expect(&place, &["main"], 0, unchanged);
    let (inc, get) = (
        "    void inc() {\n        n++;\n    }\n",
        "    synchronized int get() {\n        return n;\n    }\n",
    );
    place.write("src/app/Counter.java", COUNTER.replace(&format!("{inc}{get}"), &format!("{get}{inc}")));
    expect(&place, &["main"], 0, unchanged);
    place.write("src/app/Main.java", MAIN.replace("counter.get()", "\"n = \" + counter.get()"));
    place.write(
        "src/app/More.java",
        "package app;\nclass More { static int twice(int n) { return 2 * n; } }\n",
    );
    expect(&place, &["main"], 0, unchanged);
    std::fs::rename(place.path().join("src/app/Counter.java"), place.path().join("src/app/Parts.java"))
        .expect("renamed");
    expect(&place, &["main"], 0, unchanged);
}

#[test]
fn what_joins_an_old_cause_is_introduced_and_what_was_there_is_not_fixed() {
    let place = history(COUNTER);
    let grown = COUNTER.replace("int n;", "int n;\n    int a;").replace("n++;", "n++;\n        a++;");
    place.write("src/app/Counter.java", &grown);
    let run = diff(&place, &["main"]);
    assert_eq!(
        (run.code, last(&run)),
        (1, "1 introduced, nothing fixed · main → working tree"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("new: app.Counter.a; the rest was reported before"), "{}", run.stdout);
    commit(&place, "grown");
    place.write("src/app/Counter.java", COUNTER);
    expect(&place, &["main"], 0, "nothing introduced, nothing fixed, 1 unchanged · main → working tree");
}

#[test]
fn whichever_access_stands_for_a_cause_nothing_is_introduced() {
    let methods =
        ["void inc() { n++; }", "void dec() { n--; }", "int get() { return n; }", "void reset() { n = 0; }"];
    let counter = |order: [usize; 4]| {
        let methods: Vec<&str> = order.iter().map(|&at| methods[at]).collect();
        format!("package app;\nclass Counter {{\n    int n;\n    {}\n}}\n", methods.join("\n    "))
    };
    let place = history(&counter([0, 1, 2, 3]));
    let all = "-> { counter.inc(); counter.dec(); counter.get(); counter.reset(); }";
    place.write("src/app/Main.java", MAIN.replace("-> counter.inc()", all));
    commit(&place, "all");
    let before = diff(&place, &["main"]);
    for order in [[3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]] {
        place.write("src/app/Counter.java", counter(order));
        let run = diff(&place, &["main"]);
        assert_eq!((run.code, last(&run)), (0, last(&before)), "{order:?}: {}", run.stdout);
    }
}

#[test]
fn a_finding_moves_with_its_class() {
    let place = history(COUNTER);
    std::fs::remove_file(place.path().join("src/app/Counter.java")).expect("removed");
    place.write("src/app/Tally.java", COUNTER.replace("Counter", "Tally"));
    place.write("src/app/Main.java", MAIN.replace("Counter", "Tally"));
    let moved = "nothing introduced, nothing fixed, 1 unchanged (1 in renamed classes) · main → working tree";
    expect(&place, &["main"], 0, moved);
    // A copy is another bug.
    place.write("src/app/Counter.java", COUNTER);
    let main = MAIN.replace("    public", "    static final Tally tally = new Tally();\n    public");
    place.write("src/app/Main.java", main.replace("-> counter.inc()", "-> { counter.inc(); tally.inc(); }"));
    let run = diff(&place, &["main"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.starts_with("introduced race (high confidence): app.Tally.n "), "{}", run.stdout);
}

#[test]
fn the_working_tree_and_the_index_stay_as_they_are() {
    let place = history(SAFE);
    place.write("src/app/Counter.java", COUNTER);
    commit(&place, "second");
    place.write("src/app/Counter.java", SAFE);
    git(&place, &["add", "src/app/Counter.java"]);
    place.write("src/app/Counter.java", COUNTER.replace("int n;", "int n; // dirty"));
    place.write("left.txt", "untracked");
    let state = || {
        (
            git(&place, &["status", "--porcelain"]),
            git(&place, &["diff", "--cached"]),
            git(&place, &["worktree", "list"]),
        )
    };
    let before = state();
    expect(&place, &["HEAD~1", "HEAD"], 1, "1 introduced, nothing fixed · HEAD~1 → HEAD");
    assert_eq!(state(), before);
    let text = std::fs::read_to_string(place.path().join("src/app/Counter.java")).expect("a file");
    assert!(text.contains("// dirty"));
}

#[test]
fn a_side_that_cannot_be_analysed_is_named() {
    let place = history(SAFE);
    place.write("src/app/Counter.java", "package app;\nclass Counter {\n");
    commit(&place, "broken");
    place.write("src/app/Counter.java", SAFE);
    let run = diff(&place, &["HEAD"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    let start = "error: cannot analyse HEAD: the sources do not compile:\nsrc/app/Counter.java:2: error:";
    assert!(run.stderr.starts_with(start), "{}", run.stderr);
    commit(&place, "repaired");
    place.write("src/app/Counter.java", "package app;\nclass Counter {\n");
    let run = diff(&place, &["main"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.starts_with("error: cannot analyse working tree: "), "{}", run.stderr);
}

#[test]
fn words_that_mean_nothing_or_two_things_are_refused() {
    let place = history(SAFE);
    let said = |args: &[&str]| {
        let run = diff(&place, args);
        assert_eq!(run.code, 2, "{}", run.stdout);
        run.stderr
    };
    assert!(said(&["nowhere"]).contains("nowhere: neither a path nor a revision of "));
    assert!(said(&["main..nowhere"]).contains("nowhere: neither a path nor a revision of "));
    assert!(said(&["src"]).contains("src: name a second path to compare it with"));
    assert!(
        said(&["main", "--path", "build/classes"])
            .contains("cannot analyse main: it has no build/classes; --build COMMAND")
    );
    git(&place, &["branch", "src"]);
    let both = "src is a path and a revision; write ./src for the path, src^0 for the revision";
    assert!(said(&["src", "main"]).contains(both));
    expect(&place, &["src^0", "main"], 0, "nothing introduced, nothing fixed · src^0 → main");
    expect(&place, &["./src", "main"], 0, "nothing introduced, nothing fixed · ./src → main");
}

#[test]
fn three_dots_begin_where_the_branches_parted() {
    let place = history(COUNTER);
    git(&place, &["checkout", "--quiet", "-b", "work"]);
    place.write("src/app/More.java", "package app;\nclass More { }\n");
    commit(&place, "work");
    git(&place, &["checkout", "--quiet", "main"]);
    place.write("src/app/Counter.java", SAFE);
    commit(&place, "repaired");
    assert_eq!(diff(&place, &["main..work"]).code, 1);
    let run = diff(&place, &["main...work"]);
    assert!(
        run.code == 0 && last(&run).starts_with("nothing introduced, nothing fixed, 1 unchanged"),
        "{}",
        run.stdout
    );
}

#[test]
fn jars_and_directories_are_compared_without_a_repository() {
    let place = place();
    place.write("old.jar", jar_of(&javac(&[("app/Main.java", MAIN), ("app/Counter.java", SAFE)])));
    place.write_all("new", &javac(&[("app/Main.java", MAIN), ("app/Counter.java", COUNTER)]));
    expect(&place, &["old.jar", "new"], 1, "1 introduced, nothing fixed · old.jar → new");
    expect(&place, &["new", "old.jar"], 0, "nothing introduced, 1 fixed · new → old.jar");
    let run = diff(&place, &["main"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("main: no such path, and there is no git repository here"), "{}", run.stderr);
}

#[test]
fn a_build_command_makes_the_classes_of_a_revision() {
    let place = history(SAFE);
    place.write("src/app/Counter.java", COUNTER);
    commit(&place, "second");
    let build = "mkdir -p out && javac -g -d out src/app/*.java";
    std::process::Command::new("sh")
        .args(["-c", build])
        .current_dir(place.path())
        .status()
        .expect("javac runs");
    expect(
        &place,
        &["HEAD~1", "HEAD", "--path", "out", "--build", build],
        1,
        "1 introduced, nothing fixed · HEAD~1 → HEAD",
    );
    let run = diff(&place, &["HEAD~1", "HEAD", "--build", "echo went wrong; exit 3"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("cannot analyse HEAD~1: `echo went wrong; exit 3` failed:\nwent wrong"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_a_comment_suppresses_is_neither_introduced_nor_fixed() {
    let place = history(COUNTER);
    place.write("src/app/Counter.java", COUNTER.replace("n++;", "n++; // snarl: ignore race -- approximate"));
    let run = diff(&place, &["main"]);
    assert_eq!(
        (run.code, last(&run)),
        (0, "nothing introduced, nothing fixed, 1 suppressed · main → working tree")
    );
    commit(&place, "suppressed");
    place.write("src/app/Counter.java", COUNTER);
    assert_eq!(diff(&place, &["main"]).code, 1);
}

#[test]
fn the_difference_is_told_as_json_with_files_named_from_the_repository() {
    let place = history(SAFE);
    place.write("src/app/Counter.java", COUNTER);
    let inside = Place::path(&place).join("src");
    let mut command = place.snarl("diff", &["main", "--format", "json"]);
    let run = run({
        command.current_dir(inside);
        command
    });
    assert_eq!(run.code, 1, "{}", run.stderr);
    let json: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((json["schema"].as_u64(), json["unchanged"].as_u64()), (Some(1), Some(0)));
    assert_eq!((json["base"].as_str(), json["head"].as_str()), (Some("main"), Some("working tree")));
    assert_eq!(json["introduced"][0]["sites"][0]["file"].as_str(), Some("src/app/Counter.java"));
    assert_eq!(json["fixed"].as_array().map(Vec::len), Some(0));
}
