//! Suppressions in comments, annotations and `snarl.toml`: they bite where they stand, and nowhere else.

use super::support::{Place, javac, place, strings};
use serde_json::Value;

/// Two races: `n` is written in `inc`, `m` in a lambda.
const MAIN: &str = "package app;
public class Main {
    static int n;
    static int m;
    static void inc() {
        n++;
    }
    public static void main(String[] args) {
        for (int i = 0; i < 2; i++) {
            new Thread(() -> {
                inc();
                m++;
            }).start();
        }
    }
}
";

/// The program with a line replaced.
fn with(line: &str, by: &str) -> Place {
    assert!(MAIN.contains(line));
    let place = place();
    place.write("src/app/Main.java", MAIN.replacen(line, by, 1));
    place
}

/// Exit code, fields that are told, fields that are suppressed, kinds of notes about suppressions.
fn outcome(place: &Place, args: &[&str]) -> (i32, String, String, String) {
    let (run, json) = place.json(&[&["src"], args].concat());
    let fields = |list: &str| {
        let mut fields = strings(&json, list, "field");
        fields.sort();
        fields.join(" ")
    };
    let kinds = strings(&json, "notes", "kind").into_iter();
    let kinds: Vec<String> =
        kinds.filter(|kind| kind.contains("suppression") || kind == "unknown-rule").collect();
    (run.code, fields("findings"), fields("suppressed"), kinds.join(" "))
}

fn expect(place: &Place, told: &str, suppressed: &str, notes: &str) {
    let code = i32::from(!told.is_empty());
    let expected = (code, told.to_owned(), suppressed.to_owned(), notes.to_owned());
    assert_eq!(outcome(place, &[]), expected);
}

const N: &str = "app.Main.n";
const M: &str = "app.Main.m";

#[test]
fn a_comment_on_the_line_before_it_on_the_field_or_on_the_method_bites() {
    expect(&with("n++;", "n++;"), "app.Main.m app.Main.n", "", "");
    expect(&with("n++;", "n++; // snarl: ignore race -- approximate"), M, N, "");
    expect(&with("n++;", "// snarl: ignore race -- approximate\n        n++;"), M, N, "");
    expect(&with("static int n;", "static int n; // snarl: ignore race -- approximate"), M, N, "");
    expect(
        &with("static void inc() {", "static void inc() { // snarl: ignore race, deadlock -- approximate"),
        M,
        N,
        "",
    );
    expect(&with("m++;", "m++; // snarl: ignore race -- approximate"), N, M, "");
}

#[test]
fn a_comment_elsewhere_or_for_another_rule_is_of_no_use_and_that_is_told() {
    let both = "app.Main.m app.Main.n";
    expect(&with("inc();\n", "inc(); // snarl: ignore race -- x\n"), both, "", "unused-suppression");
    expect(&with("n++;", "n++; // snarl: ignore deadlock -- x"), both, "", "unused-suppression");
    expect(&with("n++;", "n++; // snarl: ignore race"), both, "", "malformed-suppression");
    expect(&with("n++;", "n++; // snarl: ignore rase -- x"), both, "", "unknown-rule");
    expect(
        &with("public class Main {", "public class Main { // snarl: ignore race -- x"),
        both,
        "",
        "malformed-suppression",
    );
}

#[test]
fn a_class_is_left_out_as_a_whole_if_that_is_said() {
    let place =
        with("public class Main {", "public class Main { // snarl: ignore-class race -- a demonstration");
    expect(&place, "", "app.Main.m app.Main.n", "");
}

#[test]
fn what_is_suppressed_is_counted_and_listed_on_demand() {
    let place = with("n++;", "n++; // snarl: ignore race -- approximate");
    let run = place.check(&["src"]);
    assert_eq!(
        run.stdout.lines().last(),
        Some("1 finding (1 race): 1 high · 1 suppressed"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("approximate"), "{}", run.stdout);
    let run = place.check(&["src", "--suppressed", "--quiet"]);
    let line =
        run.stdout.lines().find(|line| line.starts_with("suppressed race (high confidence): app.Main.n "));
    assert!(line.is_some_and(|line| line.ends_with("· approximate (app/Main.java:6)")), "{}", run.stdout);
    let (_, json) = place.json(&["src"]);
    let one: &Value = &json["suppressed"][0];
    assert_eq!(
        (one["reason"].as_str(), one["suppressed_at"].as_str()),
        (Some("approximate"), Some("app/Main.java:6"))
    );
}

#[test]
fn annotations_bite_whether_or_not_there_are_sources() {
    let annotation = "package tools;
import java.lang.annotation.*;
@Retention(RetentionPolicy.CLASS)
public @interface SuppressFBWarnings { String[] value(); String justification() default \"\"; }
";
    let annotated = |on: &str, values: &str| {
        let by =
            format!("@tools.SuppressFBWarnings(value = {values}, justification = \"counted twice\") {on}");
        let main = MAIN.replacen(on, &by, 1);
        let place = place();
        place.write_all(
            "src",
            &javac(&[("app/Main.java", &main), ("tools/SuppressFBWarnings.java", annotation)]),
        );
        place
    };
    expect(&annotated("static int n;", "\"snarl:race\""), M, N, "");
    expect(&annotated("static void inc()", "{\"OTHER\", \"race\"}"), M, N, "");
    expect(&annotated("public class Main", "\"snarl\""), "", "app.Main.m app.Main.n", "");
    expect(&annotated("static int n;", "\"IS2\""), "app.Main.m app.Main.n", "", "");
    expect(
        &annotated("static int n;", "\"snarl:deadlock\""),
        "app.Main.m app.Main.n",
        "",
        "unused-suppression",
    );
    expect(&annotated("static int n;", "\"snarl:rase\""), "app.Main.m app.Main.n", "", "unknown-rule");

    let source = with("static int n;", "@SuppressWarnings(\"snarl:race\") static int n;");
    expect(&source, M, N, "");
}

#[test]
fn entries_of_the_file_bite_as_far_as_they_reach() {
    let configured = |entry: &str| {
        let place = with("n++;", "n++;");
        place.write("snarl.toml", format!("[[suppress]]\nrule = \"race\"\nreason = \"known\"\n{entry}\n"));
        place
    };
    let both = "app.Main.m app.Main.n";
    expect(&configured("field = \"app.Main.n\""), M, N, "");
    expect(&configured("method = \"inc\""), M, N, "");
    expect(&configured("class = \"app.*\""), "", both, "");
    expect(&configured("file = \"app/**\""), "", both, "");
    expect(&configured("field = \"n\"\nmethod = \"other\""), both, "", "unused-suppression");
    expect(&configured("file = \"test/**\""), both, "", "unused-suppression");
}

#[test]
fn a_comment_bites_at_once_where_a_report_is_kept() {
    let place = with("n++;", "n++;");
    place.write(".git/HEAD", "");
    let check = || place.json(&["."]).1["findings"].as_array().map(Vec::len);
    assert_eq!((check(), check()), (Some(2), Some(2)));
    assert!(place.path().join(".snarl").is_dir());
    place.write("src/app/Main.java", MAIN.replace("n++;", "n++; // snarl: ignore race -- x"));
    assert_eq!((check(), check()), (Some(1), Some(1)));
    place.write("src/app/Main.java", MAIN);
    assert_eq!(check(), Some(2));
}
