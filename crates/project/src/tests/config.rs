//! What can stand in `snarl.toml`, and what is said about what cannot.

use super::*;

fn good(text: &str) -> Config {
    read(Path::new("/work/snarl.toml"), text).expect("the file is right")
}

fn bad(text: &str) -> String {
    read(Path::new("snarl.toml"), text).expect_err("the file is wrong").to_string()
}

#[test]
fn everything_can_be_said() {
    let config = good(
        r#"
        paths = ["build/classes"]
        classpath = "lib/*"
        main = "bank.Main"
        entry = ["bank.Main.start", "bank.Main.stop"]
        exclude = ["com.acme"]
        models = ["snarl/models.toml"]
        jdk = "/opt/jdk"
        full-jdk = true
        engine = "compositional"
        min-confidence = "low"
        fail-on = "never"
        baseline = "snarl-baseline.json"

        [rules]
        deadlock = "off"
        race = "high"

        [[suppress]]
        rule = ["race", "deadlock"]
        class = "bank.gen.*"
        reason = "generated"

        [annotations]
        thread-safe = ["SafeToShare"]

        [assume]
        confined = ["bank.Ui", "bank.Context.buffer"]
        never-parallel = [["bank.Jobs.nightly", "bank.Jobs.hourly"], ["bank.Jobs.tick"]]
        "#,
    );
    assert_eq!(config.paths, [PathBuf::from("/work/build/classes")]);
    assert_eq!(config.classpath, [PathBuf::from("/work/lib/*")]);
    assert_eq!((config.main.len(), config.entry.len()), (1, 2));
    assert_eq!(config.jdk, Some("/opt/jdk".into()));
    assert_eq!((config.engine, config.full_jdk), (Engines::Compositional, true));
    assert_eq!((config.least, config.fail_on), (Some(Confidence::Low), Some(FailOn::Never)));
    assert_eq!(config.baseline, Some("/work/snarl-baseline.json".into()));
    assert!(!config.wants(Rule::Deadlock, Confidence::High));
    assert!(config.wants(Rule::Race, Confidence::High) && !config.wants(Rule::Race, Confidence::Medium));
    assert!(config.wants(Rule::GuardedBy, Confidence::Low));
    assert_eq!(config.suppressions[0].rules, [Rule::Race, Rule::Deadlock]);
    assert_eq!(config.suppressions[0].place, "snarl.toml:19");
    assert_eq!(config.annotations["thread-safe"], ["SafeToShare"]);
    assert_eq!(config.assume.confined, ["bank.Ui", "bank.Context.buffer"]);
    assert_eq!(config.assume.never_parallel[0], ["bank.Jobs.nightly", "bank.Jobs.hourly"]);
    assert_eq!(config.assume.never_parallel[1], ["bank.Jobs.tick"]);
    assert_eq!(good(""), Config::default());
}

#[test]
fn what_is_not_known_is_told_with_its_place_and_what_may_be_meant() {
    for (text, message) in [
        ("exlude = []", "snarl.toml:1:1: unknown key `exlude`; did you mean `exclude`?"),
        ("main = 3", "snarl.toml:1:8: expected a string or a list of strings, and this is a number"),
        ("main = ['a', 3]", "snarl.toml:1:14: expected a string that is not empty, and this is a number"),
        ("\n\nfull-jdk = 'yes'", "snarl.toml:3:12: expected true or false, and this is a string"),
        ("fail-on = 'hihg'", "snarl.toml:1:11: unknown value `hihg`; did you mean `high`?"),
        (
            "engine = 'fast'",
            "snarl.toml:1:10: unknown value `fast`; there are both, whole-program, compositional",
        ),
        ("[rules]\nraces = 'off'", "snarl.toml:2:1: unknown rule `races`; did you mean `race`?"),
        (
            "[rules]\nrace = true",
            "snarl.toml:2:8: expected a string that is not empty, and this is true or false",
        ),
        ("rules = 3", "snarl.toml:1:9: expected a table, and this is a number"),
        (
            "[annotations]\nthreadsafe = []",
            "snarl.toml:2:1: unknown key `threadsafe`; did you mean `thread-safe`?",
        ),
        ("[assume]\nconfine = []", "snarl.toml:2:1: unknown key `confine`; did you mean `confined`?"),
        (
            "[assume]\nnever-parallel = ['a.B.run']",
            "snarl.toml:2:19: expected a list of methods, inside a list of such groups, and this is a string",
        ),
        (
            "[assume]\nnever-parallel = 'a.B.run'",
            "snarl.toml:2:18: expected a list of lists of methods, and this is a string",
        ),
    ] {
        assert_eq!(bad(text), message);
    }
    assert!(bad("main = ").starts_with("snarl.toml:1:8: "));
}

#[test]
fn a_suppression_says_what_and_why() {
    let wrong = |entry: &str| bad(&format!("[[suppress]]\n{entry}"));
    assert_eq!(
        wrong("rule = 'race'\nclass = 'a.B'"),
        "snarl.toml:1:1: `reason` is missing: say why these findings are not to be told"
    );
    assert!(wrong("class = 'a.B'\nreason = 'x'").contains("`rule` is missing"));
    assert!(wrong("rule = 'race'\nreason = 'x'").contains("name a `class`, `field`, `method` or `file`"));
    assert!(wrong("rule = 'rase'\nclass = 'a.B'\nreason = 'x'").contains("did you mean `race`?"));
    assert!(wrong("rule = 'race'\nclas = 'a.B'\nreason = 'x'").contains("did you mean `class`?"));
    assert_eq!(bad("suppress = 3"), "snarl.toml:1:12: write `[[suppress]]`");
}
