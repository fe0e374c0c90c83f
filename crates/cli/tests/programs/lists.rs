//! What a program has of threads, locks and guards, and what was ruled out about it.

use crate::support::{Place, place, run};

/// The field is read after the join: one engine suspects it, the other knows the order.
const MAIN: &str = "package app;
public class Main {
    private int hits, free;
    private final Object gate = new Object();
    public synchronized void add() {
        hits++;
        synchronized (gate) { free++; }
    }
    public int hits() { return hits; }
    public static void main(String[] args) throws InterruptedException {
        Main shared = new Main();
        Thread one = new Thread(shared::add), two = new Thread(shared::add);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(shared.hits());
    }
}
";

fn program() -> Place {
    let place = place();
    place.write("src/app/Main.java", MAIN);
    place
}

fn list(program: &Place, what: &str) -> (String, serde_json::Value) {
    let text = run(program.snarl(what, &[]));
    assert_eq!((text.code, text.stderr.as_str()), (0, ""), "{}", text.stdout);
    let json = run(program.snarl(what, &["--format", "json"]));
    (text.stdout, serde_json::from_str(&json.stdout).expect("a document"))
}

#[test]
fn threads_are_listed_with_their_starts_and_what_they_overlap() {
    let (text, json) = list(&program(), "threads");
    for part in
        ["main thread", "started   src/app/Main.java:13", "runs      app.Main.main(String[])", "3 threads"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let threads = json["threads"].as_array().expect("threads");
    let started: Vec<usize> =
        threads.iter().map(|one| one["started"].as_array().expect("places").len()).collect();
    assert_eq!(started, [0, 1, 1], "{json}");
    assert!(
        threads.iter().all(|one| one["overlaps"].as_array().is_some_and(|others| others.len() == 2)),
        "{json}"
    );
}

#[test]
fn locks_are_listed_with_what_they_guard_and_their_order() {
    let (text, json) = list(&program(), "locks");
    for part in [
        "app.Main (this)",
        "app.Main.gate",
        "guards    app.Main.free",
        "then      app.Main.gate at src/app/Main.java:7",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(json["locks"].as_array().map(Vec::len), Some(2), "{json}");
}

#[test]
fn guards_are_listed_with_how_many_accesses_hold_them() {
    let (text, json) = list(&program(), "guards");
    assert!(text.contains("of 3 accesses hold it") || text.contains("of 2 accesses hold it"), "{text}");
    let fields = json["guards"].as_array().expect("guards");
    assert!(fields.iter().any(|field| field["field"] == "app.Main.free"), "{json}");
}

#[test]
fn what_is_ruled_out_is_listed_with_its_reason_where_somebody_asks() {
    let program = program();
    let plain = program.check(&["--all"]);
    assert!(!plain.stdout.contains("app.Main.hits"), "{}", plain.stdout);
    assert!(plain.stdout.contains("1 dismissed, --dismissed shows why"), "{}", plain.stdout);
    let listed = program.check(&["--all", "--dismissed"]).stdout;
    assert!(
        listed.contains("dismissed ") && listed.contains("ordered: before the thread is started"),
        "{listed}"
    );
    let (_, json) = program.json(&["--all", "--dismissed"]);
    assert_eq!(json["dismissed"][0]["dismissed"][0], "start-or-join", "{json}");
    let (_, json) = program.json(&["--all"]);
    assert!(json.get("dismissed").is_none(), "{json}");
}

#[test]
fn a_field_without_a_finding_is_explained_pair_by_pair() {
    let program = program();
    let told = run(program.snarl("explain", &["Main.hits"])).stdout;
    assert!(told.contains("src/app/Main.java:6 with src/app/Main.java:9"), "{told}");
    assert!(told.contains("common lock: both sides hold the same lock"), "{told}");
    assert!(told.contains("ordered: before the thread is started, or after it is joined"), "{told}");
}
