//! A session that goes on from the state of an earlier one reports what a first run would, whatever has changed in
//! between, and follows edits from there.

use classfile::ClassSource;
use findings::Report;
use fixture::{Compiler, Fixture, root};
use project::{Project, Request};
use rayon::prelude::*;
use session::{KEPT_STATE, Options, Session, Verdict};
use std::path::PathBuf;
use std::sync::Arc;

/// Every so many of the fixtures, unless `SNARL_FIXTURE` names some or is empty.
const STEP: usize = 12;
/// Edits of each.
const EDITS: usize = 5;

struct Program {
    name: String,
    project: Arc<Project>,
}

impl Program {
    fn open((fixture, compiled): (&Fixture, &Result<PathBuf, String>)) -> Program {
        let paths = vec![compiled.clone().unwrap_or_else(|errors| panic!("{errors}"))];
        let project = project::open(&Request { paths, ..Request::default() });
        Program {
            name: fixture.name.clone(),
            project: Arc::new(project.unwrap_or_else(|error| panic!("{error}"))),
        }
    }

    fn session(&self, options: Options) -> Session {
        Session::new(self.project.clone() as Arc<dyn ClassSource>, options)
    }
}

fn programs() -> Vec<Program> {
    let named = std::env::var("SNARL_FIXTURE").ok();
    let step = if named.is_some() { 1 } else { STEP };
    let fixtures = Fixture::below(&root(), &named.unwrap_or_default()).expect("the fixtures can be read");
    // Neighbours, because most near twins are.
    let fixtures: Vec<Fixture> = fixtures.chunks(2).step_by(step).flatten().cloned().collect();
    let compiled = Compiler::of_environment().compile_all(&fixtures).expect("the compiler runs");
    fixtures.iter().zip(&compiled).map(Program::open).collect()
}

fn keep() -> Options {
    Options { keep: true, ..Options::default() }
}

/// All that is said, sizes included.
fn text(report: &Report) -> String {
    format!("{:#?}\n{:#?}\n{:?}\n{:?}", report.findings, report.notes, report.stats.sizes, report.stats.pairs)
}

fn state_of(program: &Program) -> Vec<u8> {
    let mut session = program.session(keep());
    session.check(&|_, _| ());
    session.state().unwrap_or_else(|| panic!("{}: no state", program.name))
}

/// What is wrong with going on from one program's state to another, and whether that was of use.
fn resume(state: &[u8], from: &Program, to: &Program) -> (Option<String>, bool) {
    let fresh = to.session(Options::default()).check(&|_, _| ());
    let Some(report) = to.session(keep()).resume(state, &|_, _| ()) else { return (None, false) };
    let differs = text(&report) != text(&fresh);
    let told = || format!("{} to {}: {} instead of {}", from.name, to.name, text(&report), text(&fresh));
    (differs.then(told), report.stats.seconds[0].0 == KEPT_STATE)
}

#[test]
fn a_kept_state_leads_to_the_report_of_a_first_run() {
    let programs = programs();
    let outcomes: Vec<_> = programs
        .par_windows(2)
        .map(|pair| {
            let state = state_of(&pair[0]);
            (resume(&state, &pair[0], &pair[0]), resume(&state, &pair[0], &pair[1]))
        })
        .collect();
    let problems: Vec<&String> =
        outcomes.iter().flat_map(|((same, _), (other, _))| [same, other]).flatten().collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(outcomes.iter().all(|((_, used), _)| *used), "the same program has the same state");
    // Many have too little in common.
    let used = outcomes.iter().filter(|(_, (_, used))| *used).count();
    assert!(used * 10 >= outcomes.len(), "{used} of {}", outcomes.len());
}

#[test]
fn edits_are_followed_from_a_kept_state() {
    let follow = |program: &Program| {
        let mut session = program.session(Options { follow: true, ..keep() });
        session.resume(&state_of(program), &|_, _| ()).expect("the same program");
        let mut problems = Vec::new();
        let mut verify = |session: &mut Session, what: &str| {
            if let Verdict::Different(difference) = session.verify() {
                problems.push(format!("{}: {what}: {difference}", program.name));
            }
        };
        verify(&mut session, "as it was");
        // The others do not go on from anything.
        session.only_points_to();
        let statements = session.statements();
        for statement in statements.iter().step_by(1 + statements.len() / EDITS) {
            let what = session.tell(*statement);
            let Some((_, deleted)) = session.delete(*statement, false, &|_, _| ()) else { continue };
            verify(&mut session, &format!("without {what}"));
            session.put_back(deleted, &|_, _| ());
            verify(&mut session, &format!("with {what} again"));
        }
        problems
    };
    let problems: Vec<String> = programs().par_iter().flat_map(follow).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn bytes_that_are_no_state_are_of_no_use() {
    let program = &programs()[0];
    let state = state_of(program);
    let mut session = program.session(keep());
    for bytes in [&[][..], &[0xff; 64], &state[..state.len() / 2], &[&state[..], &[0]].concat()] {
        assert!(session.resume(bytes, &|_, _| ()).is_none());
    }
    let report = session.check(&|_, _| ());
    assert_eq!(text(&report), text(&program.session(Options::default()).check(&|_, _| ())));
}
