//! A session that follows from one program to another reports what a first run on the other would. The programs are
//! the fixtures in the order of their names, where near twins are neighbours: most share names of classes and
//! methods, and nearly all else differs.

use classfile::ClassSource;
use findings::Report;
use fixture::{Compiler, Fixture, Sequence, root};
use project::{Project, Request};
use rayon::prelude::*;
use session::{Cancel, Change, Options, Session, Verdict};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Every so many of the chains of fixtures are followed, unless `SNARL_FIXTURE` names some or is empty.
const STEP: usize = 8;
/// Fixtures that one session follows.
const CHAIN: usize = 8;

struct Program {
    name: String,
    project: Arc<Project>,
}

impl Program {
    fn open((fixture, compiled): (&Fixture, &Result<PathBuf, String>)) -> Program {
        let paths = vec![compiled.clone().unwrap_or_else(|errors| panic!("{errors}"))];
        let project = project::open(&Request { paths, ..Request::default() });
        let project = Arc::new(project.unwrap_or_else(|error| panic!("{error}")));
        Program { name: fixture.name.clone(), project }
    }

    /// Classes that are in one of both, or have other bytes in the other.
    fn changed(&self, other: &Program) -> Vec<String> {
        let classes = self.project.app_classes().into_iter().chain(other.project.app_classes());
        let bytes = |program: &Program, name: &str| program.project.find(name).map(|found| found.bytes);
        let names: BTreeSet<String> = classes.collect();
        names.into_iter().filter(|name| bytes(self, name) != bytes(other, name)).collect()
    }
}

fn text(report: &Report) -> String {
    format!("{:#?}", report.findings)
}

/// What is wrong after each step.
fn follow(programs: &[Program]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut session =
        Session::new(programs[0].project.clone(), Options { follow: true, ..Options::default() });
    session.check(&|_, _| ());
    for pair in programs.windows(2) {
        let (from, to) = (&pair[0], &pair[1]);
        let step = format!("{} to {}", from.name, to.name);
        let source = to.project.clone();
        let change = Change { source: source.clone(), classes: from.changed(to), resources: false };
        let update = session.apply(change, &|_, _| (), &Cancel::default()).expect("nobody cancels");
        if update.from_scratch {
            problems.push(format!("{step}: worked out from nothing"));
        }
        let fresh = Session::new(source, Options::default()).check(&|_, _| ());
        if text(&fresh) != text(&session.report()) {
            problems.push(format!("{step}: {} instead of {}", text(&session.report()), text(&fresh)));
        }
        if let Verdict::Different(what) = session.verify() {
            problems.push(format!("{step}: {what}"));
        }
    }
    problems
}

#[test]
fn a_session_follows_from_any_program_to_any_other() {
    let named = std::env::var("SNARL_FIXTURE").ok();
    let step = if named.is_some() { 1 } else { STEP };
    let fixtures = Fixture::below(&root(), &named.unwrap_or_default()).expect("the fixtures can be read");
    let chains: Vec<&[Fixture]> = fixtures.chunks(CHAIN).step_by(step).collect();
    let fixtures: Vec<Fixture> = chains.concat();
    let compiled = Compiler::of_environment().compile_all(&fixtures).expect("the compiler runs");
    let programs: Vec<Program> = fixtures.iter().zip(&compiled).map(Program::open).collect();
    let problems: Vec<String> = programs.par_chunks(CHAIN).flat_map(follow).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_program_that_lost_its_beginning_and_its_resources_is_followed_to_another() {
    let sequences = Sequence::below(&root(), "edits/main_gone").expect("the fixtures can be read");
    let versions = &sequences.first().expect("it is there").versions;
    let fixtures: Vec<Fixture> = versions.iter().map(|version| version.fixture.clone()).collect();
    let compiled = Compiler::of_environment().compile_all(&fixtures).expect("the compiler runs");
    let programs: Vec<Program> = fixtures.iter().zip(&compiled).map(Program::open).collect();
    let [with, without] = [&programs[0], &programs[1]];
    let mut session = Session::new(with.project.clone(), Options { follow: true, ..Options::default() });
    let first = session.check(&|_, _| ());
    for (from, to, resources) in [(with, without, true), (without, with, false)] {
        let change = Change { source: to.project.clone(), classes: from.changed(to), resources };
        session.apply(change, &|_, _| (), &Cancel::default()).expect("nobody cancels");
        assert_eq!(session.verify(), Verdict::Same);
    }
    assert_eq!(text(&session.report()), text(&first));
}
