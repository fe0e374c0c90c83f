//! `snarl.toml` through the binary: where it is found, what it says, and what wins.

use super::support::{Place, place};

const MAIN: &str = "package app;
public class Main {
    static int n;
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) new Thread(() -> n++).start();
    }
}
";
const OTHER: &str = "package app;
public class Other {
    public static void main(String[] args) {}
}
";

fn with(config: &str) -> Place {
    let place = place();
    place.write("src/app/Main.java", MAIN);
    place.write("src/app/Other.java", OTHER);
    place.write("snarl.toml", config);
    place
}

fn code(place: &Place, args: &[&str]) -> i32 {
    place.check(args).code
}

#[test]
fn the_file_is_found_above_what_is_checked_and_arguments_win() {
    let place = with("engine = \"whole-program\"\nmain = \"app.Other\"\n");
    assert_eq!(code(&place, &["src"]), 0);
    assert_eq!(code(&place, &[]), 0);
    assert_eq!(code(&place, &["src", "--main", "app.Main"]), 1);
    assert_eq!(code(&place, &["src", "--no-config"]), 1);
    place.write("else.toml", "");
    assert_eq!(code(&place, &["src", "--config", "else.toml"]), 1);
    assert_eq!(code(&place, &["src", "--config", "nowhere.toml"]), 2);
}

#[test]
fn a_file_beyond_the_repository_does_not_count() {
    let place = with("engine = \"whole-program\"\nmain = \"app.Other\"\n");
    place.write("src/.git/HEAD", "");
    assert_eq!(code(&place, &["src"]), 1);
}

#[test]
fn levels_and_rules_decide_what_fails() {
    assert_eq!(code(&with("fail-on = \"never\"\n"), &["src"]), 0);
    assert_eq!(code(&with("fail-on = \"never\"\n"), &["src", "--fail-on", "high"]), 1);
    assert_eq!(code(&with("[rules]\nrace = \"off\"\n"), &["src"]), 0);
    assert_eq!(code(&with("[rules]\ndeadlock = \"off\"\n"), &["src"]), 1);
    assert_eq!(code(&with("[rules]\nrace = \"high\"\n"), &["src"]), 1);
}

#[test]
fn paths_are_relative_to_the_file() {
    let place = with("paths = [\"src\"]\nmodels = [\"nowhere/models.toml\"]\n");
    let run = place.check(&[]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("nowhere/models.toml"), "{}", run.stderr);
    place.write(
        "other/snarl.toml",
        "engine = \"whole-program\"\npaths = [\"../src\"]\nmain = \"app.Other\"\n",
    );
    assert_eq!(code(&place, &["--config", "other/snarl.toml"]), 0);
}

#[test]
fn a_mistake_is_told_with_its_place_and_what_may_be_meant() {
    let run = with("fail-on = \"high\"\nexlude = [\"a\"]\n").check(&["src"]);
    assert_eq!(run.code, 2);
    assert_eq!(run.stderr, "error: snarl.toml:2:1: unknown key `exlude`; did you mean `exclude`?\n");
    let run = with("main = [1]\n").check(&["src"]);
    assert_eq!(
        (run.code, run.stderr.contains("snarl.toml:1:9: expected a string")),
        (2, true),
        "{}",
        run.stderr
    );
}

#[test]
fn further_names_of_annotations_mean_what_the_file_says() {
    let source = "package app;\n@interface SafeToShare {}\n@SafeToShare\npublic class Main {\n    int n;\n    public void add() {\n        n++;\n    }\n}\n";
    let place = place();
    place.write("src/app/Main.java", source);
    assert_eq!(code(&place, &["src"]), 0);
    place.write("snarl.toml", "[annotations]\nthread-safe = [\"SafeToShare\"]\n");
    assert_eq!(code(&place, &["src"]), 1);
    place.write("snarl.toml", "[annotations]\nimmutable = [\"SafeToShare\"]\n");
    assert_eq!(code(&place, &["src"]), 0);
}

/// Two jobs on threads of their own, and a list of settings.
fn jobs(config: &str) -> Place {
    let source = "package app;
public class Jobs {
    static int n;
    static void nightly() { n++; }
    static void hourly() { n++; }
    public static void main(String[] args) {
        new Thread(Jobs::nightly).start();
        new Thread(Jobs::hourly).start();
    }
}
";
    let place = place();
    place.write("src/app/Jobs.java", source);
    place.write("snarl.toml", config);
    place
}

#[test]
fn what_the_file_assumes_is_believed_by_both_engines() {
    for engine in ["both", "whole-program"] {
        let code = |config: &str| code(&jobs(&format!("engine = \"{engine}\"\n{config}")), &["src"]);
        assert_eq!(code(""), 1);
        assert_eq!(code("[assume]\nconfined = [\"app.Jobs.n\"]\n"), 0);
        assert_eq!(code("[assume]\nconfined = \"app.Jobs\"\n"), 0);
        assert_eq!(code("[assume]\nconfined = [\"app.Jobs.m\"]\n"), 1);
        assert_eq!(code("[assume]\nnever-parallel = [[\"app.Jobs.nightly\", \"app.Jobs.hourly\"]]\n"), 0);
        assert_eq!(code("[assume]\nnever-parallel = [[\"app.Jobs.nightly\"], [\"app.Jobs.hourly\"]]\n"), 1);
    }
}

#[test]
fn an_assumption_about_nothing_is_noted() {
    let notes = |config: &str| {
        let (_, json) = jobs(config).json(&["src"]);
        let notes = json["notes"].as_array().cloned().unwrap_or_default();
        let unused = notes.into_iter().filter(|note| note["kind"] == "unused-assumption");
        unused.map(|note| note["message"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let used =
        "[assume]\nconfined = [\"app.Jobs\", \"app.Jobs.n\"]\nnever-parallel = [[\"app.Jobs.main\"]]\n";
    assert_eq!(notes(used), Vec::<String>::new());
    let unused = "[assume]\nconfined = [\"app.Job\"]\nnever-parallel = [[\"app.Jobs.n\"]]\n";
    assert_eq!(
        notes(unused),
        [
            "`confined` in `[assume]` names `app.Job`; there is no such class or field",
            "`never-parallel` in `[assume]` names `app.Jobs.n`; there is no such method",
        ]
    );
}

#[test]
fn a_kept_report_does_not_outlive_an_assumption() {
    let place = jobs("");
    place.write(".git/HEAD", "");
    assert_eq!((code(&place, &["."]), code(&place, &["."])), (1, 1));
    assert!(place.path().join(".snarl").is_dir());
    place.write("snarl.toml", "[assume]\nconfined = [\"app.Jobs.n\"]\n");
    assert_eq!((code(&place, &["."]), code(&place, &["."])), (0, 0));
    place.write("snarl.toml", "");
    assert_eq!(code(&place, &["."]), 1);
}
