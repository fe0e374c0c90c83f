//! One finding of a program, told in full.

use crate::support::{Place, place, run};

/// The first is certain; what is dealt out from an array is doubtful, and hidden by `check`.
const MAIN: &str = "package app;
public class Main {
    static int hits;
    int own;
    public static void main(String[] args) {
        Main[] parts = { new Main(), new Main() };
        for (Main part : parts) {
            new Thread(() -> part.own++).start();
        }
        new Thread(() -> hits++).start();
        System.out.println(hits++);
    }
}
";

fn program() -> Place {
    let place = place();
    place.write("src/app/Main.java", MAIN);
    place
}

/// The ids that `check --all` tells, with their confidence.
fn ids(program: &Place) -> Vec<(String, String)> {
    let (_, json) = program.json(&["--all"]);
    let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
    let findings = json["findings"].as_array().expect("findings");
    findings.iter().map(|finding| (text(&finding["id"]), text(&finding["confidence"]))).collect()
}

#[test]
fn a_finding_is_told_with_its_rule_by_id_or_by_how_that_begins() {
    let program = program();
    let (id, confidence) = ids(&program).remove(0);
    assert_eq!(confidence, "high");
    let whole = run(program.snarl("explain", &[&id]));
    assert_eq!((whole.code, whole.stderr.as_str()), (0, ""), "{}", whole.stdout);
    for part in ["race (high confidence): app.Main.hits", "thread started at", "  why  ", &id, "about race\n"]
    {
        assert!(whole.stdout.contains(part), "{part} in {}", whole.stdout);
    }
    let short = run(program.snarl("explain", &[&id[..9], "."]));
    assert_eq!((short.code, short.stdout), (0, whole.stdout));
}

#[test]
fn a_finding_that_check_hides_is_explained_all_the_same() {
    let program = program();
    let hidden: Vec<String> =
        ids(&program).into_iter().filter(|(_, level)| level == "low").map(|(id, _)| id).collect();
    assert_eq!(hidden.len(), 1);
    let id = &hidden[0];
    assert!(!program.check(&[]).stdout.contains(id.as_str()));
    let story = run(program.snarl("explain", &[id]));
    assert_eq!(story.code, 0, "{}", story.stderr);
    assert!(story.stdout.contains("race (low confidence): app.Main.own"), "{}", story.stdout);
    assert!(story.stdout.contains("calls:") || story.stdout.contains("in:"), "{}", story.stdout);
}

#[test]
fn what_a_check_has_kept_is_explained_alike() {
    let program = program();
    let id = ids(&program).remove(0).0;
    let fresh = run(program.snarl("explain", &[&id, "--no-cache"])).stdout;
    program.check(&["--cache", "kept"]);
    let again = run(program.snarl("explain", &[&id, "--cache", "kept"]));
    assert_eq!((again.code, again.stdout), (0, fresh));
}

#[test]
fn json_is_the_finding_as_check_tells_it() {
    let program = program();
    let (_, report) = program.json(&[]);
    let id = report["findings"][0]["id"].as_str().expect("an id").to_owned();
    let story = run(program.snarl("explain", &[&id, "--format", "json"]));
    let finding: serde_json::Value = serde_json::from_str(&story.stdout).expect("JSON");
    assert_eq!(finding, report["findings"][0]);
}

#[test]
fn an_id_that_nothing_has_ends_with_2_and_says_what_is_near() {
    let program = program();
    let id = ids(&program).remove(0).0;
    let wrong = format!("{}{}", &id[..15], if id.ends_with('0') { "1" } else { "0" });
    let answer = run(program.snarl("explain", &[&wrong]));
    assert_eq!((answer.code, answer.stdout.as_str()), (2, ""));
    assert_eq!(answer.stderr, format!("error: no finding has the id `{wrong}`; did you mean {id}?\n"));
    let answer = run(program.snarl("explain", &["zzz"]));
    assert_eq!(answer.code, 2);
    assert!(answer.stderr.contains("`snarl check --all` shows all ids"), "{}", answer.stderr);
}

const GUARDED: &str = "package app;
public class Main {
    static final Object lock = new Object();
    static int hits;
    static int safe;
    static void inc() {
        synchronized (lock) {
            hits++;
            safe++;
        }
    }
    static int peek() {
        return hits;
    }
    public static void main(String[] args) {
        new Thread(Main::inc).start();
        inc();
        System.out.println(peek());
    }
}
";

#[test]
fn a_field_is_explained_with_its_accesses_and_guard() {
    let program = place();
    program.write("src/app/Main.java", GUARDED);
    for name in ["app.Main.hits", "Main.hits", "Main#hits"] {
        let told = run(program.snarl("explain", &[name]));
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{}", told.stdout);
        for part in [
            "app.Main.hits\n",
            "verdict  it is reported",
            "`app.Main.lock`",
            "src/app/Main.java:13",
            "no lock",
        ] {
            assert!(told.stdout.contains(part), "{part} in {}", told.stdout);
        }
    }
    // Without a finding there is a reason why.
    let told = run(program.snarl("explain", &["Main.safe"]));
    assert!(told.stdout.contains("verdict  all accesses hold `app.Main.lock`"), "{}", told.stdout);
    let json = run(program.snarl("explain", &["Main.safe", "--format", "json"])).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["fields"][0]["field"], "app.Main.safe");
    assert_eq!(json["fields"][0]["guard"]["name"], "app.Main.lock");
}

#[test]
fn a_line_is_explained_by_its_fields_and_findings() {
    let program = place();
    program.write("src/app/Main.java", GUARDED);
    for line in ["Main.java:13", "src/app/Main.java:13", "app/Main.java:13"] {
        let told = run(program.snarl("explain", &[line]));
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{}", told.stdout);
        assert!(told.stdout.starts_with("app.Main.hits\n"), "{}", told.stdout);
        assert!(told.stdout.contains("race (medium confidence): app.Main.hits "), "{}", told.stdout);
        assert!(!told.stdout.contains("app.Main.safe"), "{}", told.stdout);
    }
}

#[test]
fn what_is_not_there_is_said() {
    let program = place();
    program.write("src/app/Main.java", GUARDED);
    let wrong = |what: &str| {
        let run = run(program.snarl("explain", &[what]));
        assert_eq!(run.code, 2, "{}", run.stdout);
        run.stderr
    };
    assert!(wrong("Mainn.hits").contains("the program has no class `Mainn`"));
    assert!(wrong("Main.hit").contains("`hit` of `Main`; did you mean hits?"), "{}", wrong("Main.hit"));
    assert!(wrong("Main.java:1").contains("nothing is known of Main.java:1"));
}
