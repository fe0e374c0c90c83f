//! `snarl bench edits`: what it edits, what it prints, and how it ends.

use crate::support::{Classes, Place, Run, javac, place, run};
use serde_json::Value;
use std::sync::OnceLock;

const MAIN: &str = "
package app;
class Main {
    static int n;
    static void count() { n = n + 1; }
    static void show() { System.out.println(n); }
    public static void main(String[] args) {
        new Thread(Main::count).start();
        show();
    }
}";

/// The same with a lock, and a class more.
const LATER: &str = "
package app;
class Lock {
    static final Object IT = new Object();
}
class Main {
    static int n;
    static void count() { synchronized (Lock.IT) { n = n + 1; } }
    static void show() { synchronized (Lock.IT) { System.out.println(n); } }
    public static void main(String[] args) {
        new Thread(Main::count).start();
        show();
    }
}";

/// The program in `now`, and as it is later in `later`.
fn programs() -> Place {
    static COMPILED: OnceLock<[Classes; 2]> = OnceLock::new();
    let [now, later] = COMPILED.get_or_init(|| [MAIN, LATER].map(|main| javac(&[("Main.java", main)])));
    let place = place();
    place.write_all("now", now);
    place.write_all("later", later);
    place
}

fn bench(place: &Place, args: &[&str]) -> Run {
    run(place.snarl("bench", &[&["edits"], args].concat()))
}

fn json(place: &Place, args: &[&str]) -> Value {
    let run = bench(place, &[args, &["--json"]].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    serde_json::from_str(&run.stdout).expect("JSON")
}

fn stages(json: &Value, side: &str) -> Vec<String> {
    json[side]["stages"].as_object().expect("stages").keys().cloned().collect()
}

#[test]
fn the_table_has_every_stage_of_deletions_and_insertions() {
    let run = bench(&programs(), &["now"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let first = run.stdout.lines().next().expect("a line");
    assert!(
        first.contains(" edits; from nothing ") && first.ends_with("; 0 compared with a run from nothing")
    );
    let rows = |begin: &str| run.stdout.lines().filter(|line| line.starts_with(begin)).count();
    for stage in ["  points-to ", "  happens-before ", "  races ", "  deadlocks "] {
        assert_eq!(rows(stage), 2, "{stage} in\n{}", run.stdout);
    }
    for row in ["deletion ", "insertion ", "slowest deletions", "slowest insertions"] {
        assert_eq!(rows(row), 1, "{row} in\n{}", run.stdout);
    }
    // Which ones are slow is the machine's affair.
    assert!(run.stdout.contains(" of app.Main."), "{}", run.stdout);
}

#[test]
fn json_has_the_same_and_every_edit_can_be_compared() {
    let json = json(&programs(), &["now", "--verify", "1"]);
    assert_eq!(json["schema"], 1);
    assert!(json["edits"].as_u64() > Some(6), "{json:#}");
    assert_eq!(json["compared"], json["edits"]);
    assert!(json["from_nothing_ms"].as_f64() > Some(0.0));
    for side in ["deletion", "insertion"] {
        for figure in ["mean_ms", "p50_ms", "p95_ms", "p99_ms", "max_ms"] {
            assert!(json[side]["all"][figure].is_number(), "{figure} of {side} in {json:#}");
        }
        assert_eq!(json[side]["from_scratch"], 0);
        for stage in ["points-to", "happens-before", "races", "deadlocks", "merge"] {
            assert!(stages(&json, side).contains(&stage.to_string()), "{stage} in {json:#}");
        }
    }
}

#[test]
fn one_engine_alone_has_nothing_to_merge() {
    let json = json(&programs(), &["now", "--engine", "whole-program", "--method", "--verify", "1"]);
    assert!(!stages(&json, "deletion").contains(&"merge".to_string()), "{json:#}");
    assert_eq!(json["compared"], json["edits"]);
}

#[test]
fn a_sample_takes_so_many_and_compares_every_few_and_the_last() {
    let place = programs();
    for (every, compared) in [("4", 2), ("3", 2), ("0", 1)] {
        let json = json(&place, &["now", "--sample", "3", "--seed", "7", "--verify", every]);
        // Away and back.
        assert_eq!((&json["edits"], &json["compared"]), (&Value::from(6), &Value::from(compared)));
    }
}

#[test]
fn what_is_kept_and_how_long_edits_take_is_told_of_the_beginning_and_of_the_end() {
    let place = programs();
    let run = bench(&place, &["now"]);
    for (row, times) in [("\nafter ", 2), ("\nfirst tenth ", 1), ("\nlast tenth ", 1)] {
        assert_eq!(run.stdout.matches(row).count(), times, "{row} in\n{}", run.stdout);
    }
    let json = json(&place, &["now"]);
    assert!(json["kept_early"]["edits"].as_u64() < json["edits"].as_u64(), "{json:#}");
    assert_eq!(json["kept"]["edits"], json["edits"]);
    for kept in ["kept_early", "kept"] {
        assert!(json[kept]["entries"]["activations"].as_u64() > Some(0), "{json:#}");
    }
    for tenth in ["first_tenth", "last_tenth"] {
        assert!(json[tenth]["p50_ms"].is_number(), "{json:#}");
    }
}

#[test]
fn whole_methods_are_fewer_than_statements() {
    let place = programs();
    let (methods, statements) = (json(&place, &["now", "--method", "--verify", "1"]), json(&place, &["now"]));
    // Of main, count and show, and of the class's own constructor none.
    assert_eq!((&methods["edits"], &methods["compared"]), (&Value::from(6), &Value::from(6)));
    assert!(methods["edits"].as_u64() < statements["edits"].as_u64());
}

#[test]
fn another_version_is_gone_to_and_come_back_from() {
    let place = programs();
    let run = bench(&place, &["now", "--commit", "later", "--verify", "1"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.starts_with("2 edits; "), "{}", run.stdout);
    assert!(run.stdout.contains("; 2 compared with a run from nothing"), "{}", run.stdout);
    assert_eq!(run.stdout.matches("  2 classes").count(), 2, "{}", run.stdout);
}

#[test]
fn points_to_alone_is_followed_no_further() {
    let json = json(&programs(), &["now", "--points-to", "--verify", "1"]);
    assert_eq!(stages(&json, "deletion"), ["diff", "points-to"]);
    assert_eq!(json["compared"], json["edits"]);
}

#[test]
fn what_cannot_be_measured_exits_with_2_and_says_why() {
    let place = programs();
    place.write_all("mainless", &javac(&[("Box.java", "class Box { int size; }")]));
    let cases: [(&[&str], &str); 7] = [
        (&["nowhere"], "nowhere"),
        (&["mainless"], "main"),
        (&["now", "--commit", "nowhere"], "nowhere"),
        (&["now", "--commit", "later", "--sample", "3"], "--sample"),
        (&["now", "--commit", "later", "--method"], "--method"),
        (&["now", "--sample", "few"], "few"),
        (&["now", "--engine", "compositional"], "--commit"),
    ];
    for (args, why) in cases {
        let run = bench(&place, args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{args:?}: {}", run.stderr);
    }
    assert_eq!(run(place.snarl("bench", &[])).code, 2);
}
