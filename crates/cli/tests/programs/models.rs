//! Model files of the user's own: a lock and an executor that no bytecode tells about, and files with mistakes.

use crate::support::{Place, javac, place};

/// What `Gate` and `Pool` do is native.
const MAIN: &str = "package app;
public class Main {
    static final Gate GATE = new Gate();
    static int guarded, submitted;
    public static void main(String[] args) {
        new Thread(Main::count).start();
        count();
        new Pool().run(() -> submitted++);
        submitted++;
    }
    static void count() {
        GATE.enter();
        guarded++;
        GATE.leave();
    }
}
class Gate {
    native void enter();
    native void leave();
}
class Pool {
    native void run(Runnable task);
}
";

const GATE: &str = "[\"app.Gate\"]
\"enter()\" = \"acquire this\"
\"leave()\" = \"release this\"
";

const POOL: &str = "[\"app.Pool\"]
\"run(Runnable)\" = \"spawn p0.run() on this\"
";

fn program() -> Place {
    let place = place();
    place.write_all("out", &javac(&[("app/Main.java", MAIN)]));
    place.write("gate.toml", GATE);
    place.write("pool.toml", POOL);
    place
}

#[track_caller]
fn fields(place: &Place, args: &[&str]) -> Vec<String> {
    let (run, json) = place.json(&[&["out"], args].concat());
    assert_eq!(run.stderr, "");
    let findings = json["findings"].as_array().expect("findings");
    findings.iter().map(|finding| finding["field"].as_str().expect("a field").to_owned()).collect()
}

#[test]
fn a_lock_and_an_executor_of_the_users_own() {
    let place = program();
    assert_eq!(fields(&place, &[]), ["app.Main.guarded"]);
    assert_eq!(fields(&place, &["--models", "gate.toml"]), [""; 0]);
    assert_eq!(fields(&place, &["--models", "gate.toml", "--models", "pool.toml"]), ["app.Main.submitted"]);
}

#[test]
fn a_later_file_replaces_what_an_earlier_or_a_shipped_one_says() {
    let place = program();
    place.write("none.toml", "[\"app.Gate\"]\n\"enter()\" = \"nothing\"\n");
    let both = ["--models", "gate.toml", "--models", "none.toml"];
    assert_eq!(fields(&place, &both), ["app.Main.guarded"]);

    place.write("still.toml", "[\"java.lang.Thread\"]\n\"start()\" = \"nothing\"\n");
    assert_eq!(fields(&place, &["--models", "still.toml"]), [""; 0]);
}

#[test]
fn a_mistake_is_told_with_its_file_and_line() {
    let place = program();
    for (text, wrong) in [
        ("[\"app.Gate\"]\n\n\"enter()\" = \"aquire this\"\n", "bad.toml:3: "),
        ("[\"app.Gate\"]\n\"enter()\" = 7\n", "bad.toml:2: "),
        ("[\"app.Gate\"\n", "bad.toml:1: "),
    ] {
        place.write("bad.toml", text);
        let run = place.check(&["out", "--models", "bad.toml"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert!(run.stderr.starts_with(&format!("error: {wrong}")), "{}", run.stderr);
    }
    let run = place.check(&["out", "--models", "gone.toml"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("error: cannot read models from gone.toml: "), "{}", run.stderr);
}
