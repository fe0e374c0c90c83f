//! Programs with the same mistake many times over: a report that can be read.

use crate::support::{Place, ids, javac, place};
use std::fmt::Write;

/// So many methods count under a lock of their own each, every one run by a thread of its own.
fn counters(methods: usize) -> Place {
    let mut main = String::from("package app;\npublic class Main {\n    static int hits;\n");
    let mut starts = String::new();
    for n in 0..methods {
        let _ = writeln!(main, "    static final Object L{n} = new Object();");
        let _ =
            writeln!(main, "    static void f{n}() {{\n        synchronized (L{n}) {{ hits++; }}\n    }}");
        let _ = writeln!(starts, "        new Thread(() -> f{n}()).start();");
    }
    let _ = writeln!(main, "    public static void main(String[] args) {{\n{starts}    }}\n}}");
    let place = place();
    place.write_all("out", &javac(&[("app/Main.java", &main)]));
    place
}

#[test]
fn different_locks_for_one_field_are_one_finding_where_they_are_many() {
    let (run, json) = counters(12).json(&["out"]);
    assert_eq!((run.code, ids(&json).len()), (1, 1), "{}", run.stdout);
    let found = &json["findings"][0];
    assert_eq!(found["field"], "app.Main.hits");
    assert_eq!(found["also"].as_array().map(Vec::len), Some(50), "{found}");
    let why = found["why"].as_array().expect("reasons");
    assert!(why.iter().any(|why| why.as_str().is_some_and(|why| why.contains("not all are listed"))));
}

#[test]
fn few_are_told_one_by_one() {
    let (run, json) = counters(4).json(&["out"]);
    assert_eq!((run.code, ids(&json).len()), (1, 6), "{}", run.stdout);
}
