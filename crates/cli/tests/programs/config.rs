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
