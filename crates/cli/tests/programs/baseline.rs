//! Baselines through the binary: what is known is not told, what is new is, and edits that change nothing leave it so.

use super::support::{Place, Run, place};

const MAIN: &str = "package app;
public class Main {
    static int n;
    static int m;
    static int k;
    static void spawn(Runnable task) {
        new Thread(task).start();
        new Thread(task).start();
    }
    static void first() {
        spawn(() -> n++);
        spawn(() -> m++);
    }
    public static void main(String[] args) {
        first();
        spawn(new Runnable() {
            int own;
            public void run() { own++; }
        });
    }
}
";

fn with(main: &str) -> Place {
    let place = place();
    place.write("src/app/Main.java", main);
    place
}

fn against(place: &Place) -> Run {
    place.check(&["src", "--baseline", "known.json"])
}

fn last(run: &Run) -> &str {
    run.stdout.lines().last().unwrap_or_default()
}

#[test]
fn what_is_known_is_not_told_and_what_is_new_is() {
    let place = with(MAIN);
    let written = place.check(&["src", "--write-baseline", "known.json"]);
    assert_eq!(
        (written.code, last(&written)),
        (0, "no findings · 3 known from the baseline"),
        "{}",
        written.stdout
    );
    assert_eq!(against(&place).code, 0);

    place.write(
        "src/app/Main.java",
        MAIN.replace("spawn(() -> m++);", "spawn(() -> m++);\n        spawn(() -> k++);"),
    );
    let run = against(&place);
    assert_eq!(
        (run.code, last(&run)),
        (1, "1 finding (1 race): 1 high · 3 known from the baseline"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.starts_with("race (high confidence): app.Main.k "), "{}", run.stdout);

    place.write("src/app/Main.java", MAIN.replace("spawn(() -> m++);", ""));
    let run = against(&place);
    assert_eq!(
        (run.code, last(&run)),
        (0, "no findings · 2 known from the baseline · 1 of the baseline gone")
    );
    let listed = place.check(&["src", "--baseline", "known.json", "--notes"]).stdout;
    assert!(listed.contains("note[gone-from-baseline]: race: app.Main.m is written by"), "{listed}");
}

#[test]
fn edits_that_change_nothing_leave_nothing_new() {
    let place = with(MAIN);
    place.check(&["src", "--write-baseline", "known.json"]);
    let unchanged = |main: &str, why: &str| {
        place.write("src/app/Main.java", main);
        let run = against(&place);
        assert_eq!(
            (run.code, last(&run)),
            (0, "no findings · 3 known from the baseline"),
            "{why}: {}",
            run.stdout
        );
    };
    unchanged(&MAIN.replace("static int n;", "\n\n\n// three lines down\nstatic int n;"), "moved lines");
    unchanged(
        &MAIN.replace(
            "spawn(() -> n++);",
            "Runnable before = () -> {}; before.run();\n        spawn(() -> n++);",
        ),
        "a lambda before the others",
    );
    unchanged(
        &MAIN.replace(
            "        spawn(() -> n++);\n        spawn(() -> m++);",
            "        spawn(() -> m++);\n        spawn(() -> n++);",
        ),
        "lambdas in another order",
    );
    unchanged(
        &MAIN.replace("        first();", "        new Object() { };\n        first();"),
        "an anonymous class before the other",
    );
    unchanged(
        &MAIN
            .replace("spawn(() -> n++);", "int by = Integer.parseInt(\"1\");\n        spawn(() -> n += by);"),
        "a lambda that captures something",
    );
    unchanged(
        &MAIN.replace(
            "    static void first() {",
            "    static void first(int n) { }\n    static void first() {",
        ),
        "another method of the same name",
    );
    let (head, rest) = MAIN.split_once("    static void first()").expect("two parts");
    let (first, main) = rest.split_once("    public static void main").expect("two parts");
    let (main, end) = main.rsplit_once("}\n").expect("an end");
    let turned = format!("{head}    public static void main{main}    static void first(){first}}}\n{end}");
    unchanged(&turned, "methods in another order");
}

#[test]
fn a_second_finding_of_the_same_kind_is_new() {
    let place = with(&MAIN.replace("spawn(() -> m++);", ""));
    place.check(&["src", "--write-baseline", "known.json"]);
    let two = "spawn(new Runnable() {\n            int own;\n            public void run() { own++; }\n        });\n        spawn(new Runnable() {\n";
    place.write(
        "src/app/Main.java",
        MAIN.replace("spawn(() -> m++);", "").replace("spawn(new Runnable() {\n", two),
    );
    let run = against(&place);
    assert_eq!(
        (run.code, last(&run)),
        (1, "1 finding (1 race): 1 high · 2 known from the baseline"),
        "{}",
        run.stdout
    );
}

#[test]
fn rules_that_the_baseline_does_not_know_fail_nothing() {
    let place = with(MAIN);
    place.check(&["src", "--write-baseline", "known.json"]);
    let file = place.path().join("known.json");
    let text = std::fs::read_to_string(&file).expect("a baseline");
    let older = text
        .replace("\"race\",\"deadlock\"", "\"deadlock\"")
        .replace("\"version\": \"", "\"version\": \"0.0.");
    let older: String =
        older.lines().filter(|line| !line.contains("fingerprint")).collect::<Vec<_>>().join("\n");
    place.write("known.json", older);
    let run = against(&place);
    assert_eq!(
        (run.code, last(&run)),
        (0, "no findings · 3 from rules new since the baseline"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("3 new-rule"), "{}", run.stdout);
}

#[test]
fn a_baseline_that_is_none_ends_the_run() {
    let place = with(MAIN);
    let run = against(&place);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("error: cannot read the baseline known.json: "), "{}", run.stderr);
    for (text, why) in [
        ("", "not a baseline"),
        ("{\"schema\": 1}", "not a baseline: missing field"),
        ("{\"schema\": 99}", "written by a newer version of Snarl (schema 99"),
    ] {
        place.write("known.json", text);
        let run = against(&place);
        assert_eq!(run.code, 2);
        assert!(run.stderr.starts_with(&format!("error: known.json: {why}")), "{}", run.stderr);
    }
}

#[test]
fn a_baseline_is_written_the_same_every_time() {
    let place = with(MAIN);
    place.check(&["src", "--write-baseline", "one.json"]);
    place.check(&["src", "--write-baseline", "two.json", "--threads", "3", "--all"]);
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).expect("a baseline");
    assert_eq!(read("one.json"), read("two.json"));
    let findings: Vec<String> =
        read("one.json").lines().filter(|line| line.contains("fingerprint")).map(str::to_owned).collect();
    let mut sorted = findings.clone();
    sorted.sort();
    assert_eq!((findings.len(), &findings), (3, &sorted));
    assert!(!read("one.json").contains(".java"), "{}", read("one.json"));
}
