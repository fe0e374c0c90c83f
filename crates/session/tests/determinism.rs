//! The same program gives the same report, byte for byte: run after run, at any number of threads.

use findings::Confidence;
use fixture::{Compiler, Fixture, root};
use project::{Project, Request};
use report::{NoSources, json};
use session::{Engines, Options, Session};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many of the fixtures are tried, taken evenly from all directories.
const TRIED: usize = 40;

/// Everything a run says, seconds aside.
fn report(project: &Arc<Project>, engines: Engines, threads: usize) -> String {
    let options = Options { threads, engines, ..Options::default() };
    let report = Session::new(project.clone(), options).check(&|_, _| ());
    json::render(&report, Confidence::Low, &NoSources)
}

fn open(path: PathBuf) -> Arc<Project> {
    let request = Request { paths: vec![path], ..Request::default() };
    Arc::new(project::open(&request).unwrap_or_else(|error| panic!("{error}")))
}

#[track_caller]
fn assert_same_every_time(name: &str, project: &Arc<Project>, engines: Engines) -> String {
    let expected = report(project, engines, 0);
    for threads in [0, 1, 2, 8] {
        let again = report(project, engines, threads);
        assert!(again == expected, "{name}, {threads} threads:\n{}", first_difference(&expected, &again));
    }
    expected
}

fn first_difference(expected: &str, actual: &str) -> String {
    let at = expected.lines().zip(actual.lines()).position(|(a, b)| a != b);
    let at = at.unwrap_or_else(|| expected.lines().count().min(actual.lines().count()));
    let around = |text: &str| {
        let lines: Vec<&str> = text.lines().skip(at.saturating_sub(3)).take(8).collect();
        lines.join("\n")
    };
    format!("expected\n{}\ngot\n{}", around(expected), around(actual))
}

#[test]
fn fixtures_give_the_same_report_every_time() {
    let all = Fixture::every(&root(), "").expect("the fixtures can be read");
    let step = (all.len() / TRIED).max(1);
    let tried: Vec<Fixture> = all.into_iter().step_by(step).collect();
    let compiled = Compiler::of_environment().compile_all(&tried).expect("the compiler runs");
    let mut findings = 0;
    for (fixture, classes) in tried.iter().zip(compiled) {
        let classes = classes.unwrap_or_else(|errors| panic!("{}: {errors}", fixture.name));
        let report = assert_same_every_time(&fixture.name, &open(classes), fixture.engines());
        findings += report.matches("\"rule\": ").count();
    }
    assert!(findings > 0, "silence is easily repeated");
}

#[test]
fn the_example_gives_the_same_report_every_time() {
    let bank = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bank");
    let report = assert_same_every_time("examples/bank", &open(bank), Engines::Both);
    assert!(report.contains("\"race\"") && report.contains("\"deadlock\""), "{report}");
}
