//! The built binary as a user meets it: exit codes, messages, files.

#[path = "../../report/tests/schema/mod.rs"]
mod schema;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn snarl(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snarl"));
    command.args(args).current_dir(directory).env_remove("RUST_BACKTRACE");
    command
}

fn run(directory: &Path, args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = snarl(directory, args).output().expect("snarl runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code().expect("an exit code"), text(stdout), text(stderr))
}

/// The document, which must fit its published schema.
fn valid(json: &str) -> Value {
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let document = parse(json);
    let errors = schema::errors(&parse(include_str!("../../../docs/findings.schema.json")), &document);
    assert!(errors.is_empty(), "{errors:#?}");
    document
}

/// One thread, nothing shared.
fn clean_program() -> TempDir {
    program("package calm;\npublic class Main {\n    public static void main(String[] args) {}\n}\n")
}

fn program(main: &str) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let package = directory.path().join("src/calm");
    fs::create_dir_all(&package).expect("a package");
    fs::write(package.join("Main.java"), main).expect("a source file");
    directory
}

#[test]
fn a_clean_program_exits_with_0() {
    let program = clean_program();
    let (code, stdout, stderr) = run(program.path(), &["check"]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert_eq!(stdout.lines().last(), Some("no findings"));
}

#[test]
fn quiet_prints_findings_only() {
    let program = clean_program();
    assert_eq!(run(program.path(), &["check", "--quiet"]), (0, String::new(), String::new()));
}

#[test]
fn json_is_valid_and_the_same_every_time() {
    let program = clean_program();
    let (code, stdout, stderr) = run(program.path(), &["check", "--format", "json"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let document = valid(&stdout);
    assert_eq!(document["stats"].get("seconds"), None);

    for threads in ["1", "2", "8"] {
        let again = run(program.path(), &["check", "--format", "json", "--threads", threads]);
        assert_eq!(again, (0, stdout.clone(), String::new()), "{threads} threads");
    }
    let (_, with_stats, _) = run(program.path(), &["check", "--format", "json", "--stats"]);
    assert!(valid(&with_stats)["stats"]["seconds"]["open"].is_number());
}

#[test]
fn json_with_suppressed_findings_is_valid() {
    let program = program(
        "package calm;\npublic class Main {\n    static int n; // snarl: ignore race -- approximate\n    public static void main(String[] args) {\n        for (int i = 0; i < 2; i++) new Thread(() -> n++).start();\n    }\n}\n",
    );
    let (code, stdout, _) = run(program.path(), &["check", "--format", "json"]);
    let document = valid(&stdout);
    assert_eq!((code, document["suppressed"][0]["field"].as_str()), (0, Some("calm.Main.n")));
}

#[test]
fn a_report_can_go_to_a_file() {
    let program = clean_program();
    let (code, stdout, stderr) = run(program.path(), &["check", "--output", "report.txt"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert_eq!(stderr, "no findings · written to report.txt\n");
    let report = fs::read_to_string(program.path().join("report.txt")).expect("a report");
    assert!(report.ends_with("no findings\n"), "{report}");

    let (code, _, stderr) = run(program.path(), &["check", "--output", "missing/report.txt"]);
    assert_eq!(code, 2);
    assert!(stderr.starts_with("error: cannot write missing/report.txt: "), "{stderr}");
}

#[test]
fn stats_are_a_table() {
    let program = clean_program();
    let (code, stdout, _) = run(program.path(), &["check", "--stats"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("seconds\n  open "), "{stdout}");
}

#[test]
fn wrong_usage_exits_with_2() {
    let here = tempfile::tempdir().expect("a directory");
    for args in [
        &["check", "--no-such-flag"] as &[&str],
        &["chekc"],
        &["check", "--format", "yaml"],
        &["check", "--fail-on", "sometimes"],
        &["check", "--threads", "0"],
        &["check", "--color"],
        &["check", "--quiet", "--notes"],
    ] {
        let (code, stdout, stderr) = run(here.path(), args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}");
        assert!(stderr.contains("--help"), "{args:?}: {stderr}");
    }
}

#[test]
fn help_and_version_exit_with_0() {
    let here = tempfile::tempdir().expect("a directory");
    let (code, stdout, _) = run(here.path(), &["--version"]);
    assert_eq!((code, stdout), (0, format!("snarl {}\n", env!("CARGO_PKG_VERSION"))));
    let (code, stdout, _) = run(here.path(), &["check", "--help"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("\nExit code:\n  0  analysed, nothing found"), "{stdout}");
}

#[test]
fn input_that_cannot_be_analysed_exits_with_2_and_says_why() {
    let here = tempfile::tempdir().expect("a directory");
    fs::create_dir(here.path().join("empty")).expect("a directory");
    fs::write(here.path().join("notes.txt"), "not a program").expect("a file");
    for path in ["nowhere", "empty", "notes.txt"] {
        let (code, stdout, stderr) = run(here.path(), &["check", path]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{path}");
        assert!(stderr.starts_with("error: ") && stderr.contains(path), "{path}: {stderr}");
    }
}

#[test]
fn an_entry_point_that_is_not_there_exits_with_2() {
    let program = clean_program();
    for wrong in [["--main", "calm.Mian"], ["--entry", "calm.Main.mian"]] {
        let (code, _, stderr) = run(program.path(), &[&["check"], &wrong[..]].concat());
        assert_eq!(code, 2, "{wrong:?}");
        assert!(stderr.starts_with(&format!("error: {} ", wrong[0])), "{stderr}");
    }
    assert_eq!(run(program.path(), &["check", "-q", "--main", "calm.Main"]).0, 0);
    assert_eq!(run(program.path(), &["check", "-q", "--entry", "calm.Main.main"]).0, 0);
}

#[test]
fn a_name_that_nothing_has_is_answered_with_names_that_are_there() {
    let program = program(
        "package calm;
         public class Main extends Base {
             public void go(int n) {}
             void go() {}
             private void hidden() {}
             static class Part { void work() {} }
         }
         class Base { public static void main(String[] args) {} }
         class Empty { void open() {} void close() {} Object inner = new Object() {}; }
        ",
    );
    for (flag, name, answer) in [
        ("--main", "calm.Mian", "no such class; did you mean calm.Main?"),
        ("--main", "Main", "no such class; did you mean calm.Main?"),
        ("--main", "calm.Main.Part", "no such class; did you mean calm.Main$Part?"),
        ("--main", "com.acme.Server", "no such class"),
        ("--main", "calm.Empty$2", "no such class; did you mean calm.Empty?"),
        (
            "--main",
            "calm.Empty",
            "the class has no `static void main(String[])`; for --entry: calm.Empty.close, calm.Empty.open",
        ),
        ("--entry", "calm.Main.goo", "the class has no method `goo`; did you mean calm.Main.go?"),
        ("--entry", "calm.Main.shutdown", "the class has no method `shutdown`; for --entry: calm.Main.go"),
        ("--entry", "calm.Mian.go", "no such class; did you mean calm.Main.go?"),
        ("--entry", "calm.Main", "this is a class, and no method of one; for --entry: calm.Main.go"),
        ("--entry", "go", "expected a class and its method, as in bank.Account.deposit"),
    ] {
        let (code, stdout, stderr) = run(program.path(), &["check", flag, name]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{flag} {name}");
        assert_eq!(stderr, format!("error: {flag} {name}: {answer}\n"));
    }
    assert_eq!(run(program.path(), &["check", "-q", "--main", "calm.Main"]).0, 0, "an inherited main");
    assert_eq!(run(program.path(), &["check", "-q", "--entry", "calm.Main$Part.work"]).0, 0);
}

#[test]
fn a_program_without_a_main_is_not_silently_clean() {
    let program = program("package calm;\npublic class Main {}\n");
    for format in ["text", "json"] {
        let (code, stdout, stderr) = run(program.path(), &["check", "--format", format]);
        assert_eq!(code, 0, "{stderr}");
        assert!(stdout.contains("no-main") && stdout.contains("looked method by method only"), "{stdout}");
        let whole = ["check", "--format", format, "--engine", "whole-program"];
        let (code, stdout, stderr) = run(program.path(), &whole);
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        assert!(stderr.starts_with("error: no entry point found: "), "{stderr}");
        assert!(stderr.contains("in 1 class;"), "{stderr}");
        assert!(stderr.contains("--main") && stderr.contains("--entry"), "{stderr}");
    }
}

/// Two threads that count with one counter, on these lines.
const RACE: &str = "package calm;
public class Main {
    static int hits;
    public static void main(String[] args) {
        new Thread(() -> hits++).start();
        System.out.println(hits++);
    }
}
";

#[test]
fn findings_exit_with_1_as_far_as_they_are_asked_to() {
    let program = program(RACE);
    let (code, stdout, stderr) = run(program.path(), &["check"]);
    assert_eq!((code, stderr.as_str()), (1, ""), "{stdout}");
    assert!(stdout.starts_with("race (high confidence): calm.Main.hits "), "{stdout}");
    assert!(stdout.contains("src/calm/Main.java:5:26"), "{stdout}");
    assert!(stdout.contains("src/calm/Main.java:6:28"), "{stdout}");
    assert!(stdout.lines().last().expect("a summary").starts_with("1 finding (1 race): 1 high"), "{stdout}");

    assert_eq!(run(program.path(), &["check", "--fail-on", "high"]).0, 1);
    assert_eq!(run(program.path(), &["check", "--fail-on", "never"]).0, 0);
}

#[test]
fn text_names_files_from_here_and_json_from_the_project() {
    let program = program(RACE);
    let above = program.path().parent().expect("a parent");
    let name = program.path().file_name().and_then(|name| name.to_str()).expect("a name");
    let (_, text, _) = run(above, &["check", name]);
    assert!(text.contains(&format!("{name}/src/calm/Main.java:5:26")), "{text}");
    let (code, json, _) = run(above, &["check", name, "--format", "json"]);
    assert_eq!(code, 1);
    assert_eq!(valid(&json)["findings"][0]["sites"][0]["file"], "src/calm/Main.java");
    assert!(!json.contains(name), "{json}");
}

#[test]
fn sources_that_do_not_compile_exit_with_2_and_show_the_error() {
    let program = program("package calm;\nclass Main { void m() { int x = \"no\"; } }\n");
    let (code, _, stderr) = run(program.path(), &["check"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("Main.java:2"), "{stderr}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let program = clean_program();
    let mut command = snarl(program.path(), &["check", "--format", "json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("snarl runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("snarl ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn colour_is_only_used_when_asked_for_off_a_terminal() {
    let program = clean_program();
    assert!(!run(program.path(), &["check"]).1.contains('\u{1b}'));
    assert!(run(program.path(), &["check", "--color", "always"]).1.contains('\u{1b}'));
}

#[test]
fn nothing_is_left_behind() {
    let program = clean_program();
    let temporary = tempfile::tempdir().expect("a directory");
    let status = snarl(program.path(), &["check", "-q"]).env("TMPDIR", temporary.path()).status();
    assert!(status.expect("snarl runs").success());
    let left: Vec<PathBuf> = fs::read_dir(temporary.path())
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn every_format_is_written_for_a_program_with_findings_and_for_one_without() {
    let (racy, calm) = (program(RACE), clean_program());
    for (format, found, nothing) in [
        ("sarif", "\"ruleId\":\"race\"", "\"results\":[]"),
        ("github", "::error file=src/calm/Main.java,line=5,col=26,endColumn=30,title=race", ""),
        ("gitlab", "\"path\": \"src/calm/Main.java\"", "[]"),
        ("junit", "<failure type=\"race\"", "<testcase name=\"no findings\""),
    ] {
        let (code, stdout, stderr) = run(racy.path(), &["check", "--format", format]);
        assert_eq!((code, stderr.as_str()), (1, ""), "{format}");
        assert!(stdout.contains(found), "{stdout}");
        let (code, stdout, stderr) = run(calm.path(), &["check", "--format", format]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{format}");
        assert!(stdout.contains(nothing), "{stdout}");
    }
}

#[test]
fn services_are_told_paths_from_the_root_of_the_repository() {
    let repository = tempfile::tempdir().expect("a directory");
    fs::create_dir(repository.path().join(".git")).expect("a repository");
    let package = repository.path().join("parts/one/src/calm");
    fs::create_dir_all(&package).expect("a package");
    fs::write(package.join("Main.java"), RACE).expect("a source file");
    for (directory, path) in [("", "parts/one"), ("parts", "one"), ("parts/one", ".")] {
        let args = ["check", path, "--format", "sarif"];
        let (_, stdout, stderr) = run(&repository.path().join(directory), &args);
        let log: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("JSON: {stdout}{stderr}"));
        let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "parts/one/src/calm/Main.java", "from {directory}");
        assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
    }
}
