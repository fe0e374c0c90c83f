//! Two services made of real frameworks, as a user has them: a Spring Boot application and a servlet application. Every
//! finding is the user's own, and the ones that the comments in the sources claim.

use fixture::{Expectation, Standing, Subject, parse};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is expected, by the name of the source file; no two have the same.
type Expected = BTreeMap<String, Vec<Expectation>>;

#[test]
fn of_a_spring_boot_application_only_its_own_bugs_are_reported() {
    check("spring-boot", "shop.jar");
}

#[test]
fn of_a_servlet_application_only_its_own_bugs_are_reported() {
    check("servlet", "board.war");
}

fn check(service: &str, archive: &str) {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/services").join(service);
    let made = tempfile::tempdir().expect("a directory");
    let built = Command::new(home.join("build")).arg(made.path()).output().expect("the build starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut command = Command::new(env!("CARGO_BIN_EXE_snarl"));
    command.current_dir(made.path()).args(["check", archive, "--format", "json", "--no-cache"]);
    let output = command.output().expect("snarl runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let problems = problems(&expected(&home.join("src")), report["findings"].as_array().expect("findings"));
    assert!(problems.is_empty(), "{service}\n{}", problems.join("\n"));
}

fn expected(sources: &Path) -> Expected {
    let directories = fs::read_dir(sources).expect("sources").flatten().map(|entry| entry.path());
    let files = directories.filter(|path| path.is_dir()).flat_map(|directory| {
        fs::read_dir(directory)
            .expect("sources")
            .flatten()
            .map(|entry| entry.path())
            .collect::<Vec<PathBuf>>()
    });
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("a source file");
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        (name, parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
    };
    files.map(read).collect()
}

fn problems(expected: &Expected, findings: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    let all = || expected.iter().flat_map(|(file, list)| list.iter().map(move |one| (file.as_str(), one)));
    for finding in findings {
        let is_claimed = |(file, one): (&str, &Expectation)| {
            !matches!(one.standing, Standing::Silent | Standing::Missed(_)) && is_met(file, one, finding)
        };
        if !all().any(is_claimed) {
            found.push(format!("unexpected: {} {}", finding["confidence"], finding["message"]));
        }
    }
    for (file, one) in all() {
        let is_there = findings.iter().any(|finding| is_met(file, one, finding));
        let should_be = match &one.standing {
            Standing::Reported | Standing::At(_) | Standing::Imprecise(_) => true,
            Standing::Missed(_) => false,
            Standing::Silent => continue,
        };
        if is_there != should_be {
            let what = if should_be { "missing" } else { "no longer missed" };
            found.push(format!("{what}: {file}: {one}"));
        }
    }
    found
}

fn is_met(file: &str, expectation: &Expectation, finding: &Value) -> bool {
    let (rule, names, others) = match &expectation.subject {
        Subject::Memory { rule, field, others, .. } => (rule.id(), vec![field], others),
        Subject::Deadlock { holds, wants, others } => ("deadlock", vec![holds, wants], others),
        Subject::Call { rule, method } => {
            return is_call(file, (rule.id(), method), expectation.line, finding);
        }
    };
    let text = finding.to_string();
    let mut wanted = [expectation.line, others.first().copied().unwrap_or(expectation.line)].map(u64::from);
    wanted.sort_unstable();
    finding["rule"] == rule
        && names.iter().all(|name| text.contains(name.as_str()))
        && places(finding).iter().any(|pair| {
            let mut lines: Vec<u64> =
                pair.iter().filter(|(at, _)| at == file).map(|&(_, line)| line).collect();
            // One place stands for both sides.
            lines.extend(lines.first().copied().filter(|_| pair.len() == 1));
            lines.sort_unstable();
            match others.is_empty() {
                true => lines.contains(&wanted[0]),
                false => lines == wanted,
            }
        })
}

fn is_call(file: &str, (rule, method): (&str, &str), line: u32, finding: &Value) -> bool {
    let is_there = |pair: &Vec<(String, u64)>| pair.contains(&(file.to_owned(), u64::from(line)));
    finding["rule"] == rule
        && finding["message"].as_str().is_some_and(|message| message.contains(method))
        && places(finding).iter().any(is_there)
}

/// The pairs of places of a finding, by file name and line: those that are shown, and those beside them.
fn places(finding: &Value) -> Vec<Vec<(String, u64)>> {
    let place = |place: &Value| {
        let file = place["file"].as_str().unwrap_or_default();
        let name = file.rsplit('/').next().unwrap_or(file);
        (name.to_owned(), place["line"].as_u64().unwrap_or_default())
    };
    let list = |value: &Value| value.as_array().into_iter().flatten().map(place).collect::<Vec<_>>();
    let also = finding["also"].as_array().into_iter().flatten().map(list);
    std::iter::once(list(&finding["sites"])).chain(also).collect()
}
