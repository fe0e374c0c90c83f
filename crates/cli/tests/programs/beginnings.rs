//! Where an analysis begins, and what is said if it cannot.

use crate::support::{Place, Run, javac, kinds, place};

const MAIN: &str = "package app;
public abstract class Main {
    static int hits;
    abstract void open();
    native void close();
    static void quiet() { hits++; }
    public static void main(String[] args) {
        new Thread(() -> hits++).start();
        hits++;
    }
}
";

fn program() -> Place {
    let place = place();
    place.write_all("out", &javac(&[("app/Main.java", MAIN)]));
    place
}

#[track_caller]
fn assert_refused(run: &Run, why: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains(why), "{}", run.stderr);
}

#[test]
fn what_is_excluded_is_not_begun_at() {
    let place = program();
    assert_refused(&place.check(&["out", "--exclude", ""]), "--exclude");
    assert_refused(&place.check(&["out", "--exclude", "app"]), "leaves out app.Main.main");
    assert_refused(&place.check(&["out", "--exclude", "app/", "--main", "app.Main"]), "leaves out app.Main");
    assert_eq!(place.check(&["out", "--exclude", "org"]).code, 1);
}

#[test]
fn an_entry_has_code_and_no_parameters() {
    let place = program();
    let entry = |name: &str| place.check(&["out", "--entry", name]);
    assert_refused(&entry("app.Main.open"), "the method is abstract");
    assert_refused(&entry("app.Main.close"), "the method is native");
    assert_refused(&entry("app.Main.main(java.lang.String[])"), "parameters are no part of the name");
    assert_eq!(entry("app.Main.main").code, 1);
}

#[test]
fn an_entry_that_starts_no_thread_is_told() {
    let place = program();
    let noted = |entry: &str| {
        let (run, json) = place.json(&["out", "--entry", entry, "--engine", "whole-program"]);
        (run.code, kinds(&json).contains(&"one-thread".to_string()))
    };
    assert_eq!(noted("app.Main.quiet"), (0, true));
    assert_eq!(noted("app.Main.main"), (1, false));
}

#[test]
fn many_beginnings_are_announced() {
    let main = |n| format!("public class M{n} {{ public static void main(String[] args) {{}} }}\n");
    let sources: Vec<(String, String)> = (0..9).map(|n| (format!("M{n}.java"), main(n))).collect();
    let sources: Vec<(&str, &str)> = sources.iter().map(|(name, text)| (&name[..], &text[..])).collect();
    let place = place();
    place.write_all("out", &javac(&sources));
    assert_eq!(place.check(&["out"]).stderr, "analysing 9 entry points; --main picks one\n");
    assert_eq!(place.check(&["out", "--quiet"]).stderr, "");
    assert_eq!(place.check(&["out", "--main", "M1"]).stderr, "");
}
