//! What GitHub's actions, GitLab and build servers read.

mod samples;
mod standards;

use findings::{Confidence, Report};
use insta::assert_snapshot;
use report::{NoSources, Sources, github, gitlab, junit};
use samples::Bank;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const GITLAB: &str = include_str!("standards/gitlab-code-quality.schema.json");

#[test]
fn github_commands_for_the_bank() {
    assert_snapshot!(github::render(&samples::report(), Confidence::Medium, &Bank));
}

#[test]
fn every_github_command_is_one_line_with_clean_properties() {
    for sources in [&Bank as &dyn Sources, &NoSources] {
        let text = github::render(&samples::odd(), Confidence::Low, sources);
        // One for each finding, and one for the note.
        assert_eq!(text.lines().count(), samples::odd().findings.len() + 1, "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        for line in text.lines() {
            let (head, _) = line[2..].split_once("::").expect("a message");
            let (name, properties) = head.split_once(' ').expect("properties");
            assert!(["error", "warning", "notice"].contains(&name), "{line}");
            for property in properties.split(',') {
                let (key, value) = property.split_once('=').unwrap_or_else(|| panic!("{property} in {line}"));
                assert!(["file", "line", "col", "endColumn", "title"].contains(&key), "{line}");
                assert!(!value.contains(':') && !value.is_empty(), "{line}");
            }
        }
    }
    assert_eq!(github::render(&Report::default(), Confidence::Low, &NoSources), "");
}

fn gitlab_issues(report: &Report, sources: &dyn Sources) -> Value {
    serde_json::from_str(&gitlab::render(report, Confidence::Low, sources)).expect("JSON")
}

#[test]
fn gitlab_issues_for_the_bank() {
    assert_snapshot!(gitlab::render(&samples::report(), Confidence::Medium, &Bank));
}

#[test]
fn gitlab_issues_fit_their_schema() {
    for report in [samples::report(), samples::odd(), Report::default()] {
        for sources in [&Bank as &dyn Sources, &NoSources] {
            let issues = gitlab_issues(&report, sources);
            assert_eq!(standards::errors(GITLAB, &issues), [] as [&str; 0]);
            assert_eq!(issues.as_array().map(Vec::len), Some(report.findings.len()));
        }
    }
}

#[test]
fn the_schema_of_gitlab_rejects_what_is_wrong() {
    let good = gitlab_issues(&samples::report(), &Bank);
    for (pointer, bad) in [
        ("/0/severity", Value::from("error")),
        ("/0/location/lines/begin", Value::from(0)),
        ("/0/location/path", Value::from("./src/A.java")),
        ("/0/fingerprint", Value::Null),
    ] {
        let mut issues = good.clone();
        *issues.pointer_mut(pointer).expect("a member") = bad;
        assert!(!standards::errors(GITLAB, &issues).is_empty(), "{pointer}");
    }
}

#[test]
fn junit_for_the_bank() {
    assert_snapshot!(junit::render(&samples::report(), Confidence::Medium, &Bank));
}

#[test]
fn junit_fits_its_schema() {
    let mut documents = vec![];
    for report in [samples::report(), samples::odd(), Report::default()] {
        for sources in [&Bank as &dyn Sources, &NoSources] {
            documents.push(junit::render(&report, Confidence::Low, sources));
        }
    }
    let good = documents.len();
    documents.push(documents[0].replace("name=\"race\" tests", "name=\"race\" trials"));
    documents.push(documents[0].replace("<failure", "<failed").replace("</failure", "</failed"));
    documents.push(documents[0].replace("</testsuites>", ""));
    let verdicts = validate(&documents);
    assert_eq!(verdicts.len(), documents.len(), "{verdicts:#?}");
    for verdict in &verdicts[..good] {
        assert_eq!(verdict, "valid");
    }
    for verdict in &verdicts[good..] {
        assert_ne!(verdict, "valid", "the validator must be able to say no");
    }
}

#[test]
fn a_clean_program_is_a_test_that_passed() {
    let text = junit::render(&Report::default(), Confidence::Low, &NoSources);
    assert!(text.contains("tests=\"1\" failures=\"0\""), "{text}");
    assert!(text.contains("<testcase name=\"no findings\""), "{text}");
}

/// What the JDK's validator says of each.
fn validate(documents: &[String]) -> Vec<String> {
    let standards = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standards");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("junit");
    fs::create_dir_all(&directory).expect("a directory");
    let write = |(at, text): (usize, &String)| {
        let path = directory.join(format!("{at}.xml"));
        fs::write(&path, text).expect("a file");
        path
    };
    let paths: Vec<PathBuf> = documents.iter().enumerate().map(write).collect();
    let mut java = Command::new(java());
    java.arg(standards.join("Validate.java")).arg(standards.join("junit-10.xsd")).args(&paths);
    let output = java.output().expect("java runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Of the JDK that the other tests use.
fn java() -> PathBuf {
    match env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        Some(home) => Path::new(&home).join("bin/java"),
        None => "java".into(),
    }
}
