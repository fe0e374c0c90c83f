//! What is kept does not grow from edit to edit: a program that is edited back and forth takes as much room after many
//! rounds as after two. Counted in entries of tables, because memory is also the allocator's affair.

use classfile::ClassSource;
use fixture::{Compiler, Fixture, Sequence, root};
use project::{Project, Request};
use session::{Cancel, Change, Options, Session, Sizes, Verdict};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rounds after which everything that is ever needed has been there.
const FIRST: usize = 2;
const ROUNDS: usize = 8;

/// A class comes and goes, a thread, a method, a lock, an override, fields, whole programs.
const SEQUENCES: [&str; 16] = [
    "edits/anonymous_swapped",
    "edits/d4_fig2",
    "edits/echo_fig2",
    "edits/executor",
    "edits/extract_method",
    "edits/factory",
    "edits/interface_added",
    "edits/lambda_before",
    "edits/new_class",
    "edits/new_override",
    "edits/rename_class",
    "edits/rename_field",
    "edits/rename_method",
    "edits/signature",
    "edits/synchronized_method",
    "edits/thread_start",
];

fn session(project: &Arc<Project>) -> Session {
    let mut session = Session::new(project.clone(), Options { follow: true, ..Options::default() });
    session.tidy();
    session.check(&|_, _| ());
    session
}

fn open(fixtures: &[Fixture]) -> Vec<Arc<Project>> {
    let compiled = Compiler::of_environment().compile_all(fixtures).expect("the compiler runs");
    let open = |directory| project::open(&Request { paths: vec![directory], ..Request::default() });
    compiled.into_iter().map(|path| Arc::new(open(path.expect("it compiles")).expect("it opens"))).collect()
}

fn versions(name: &str) -> Vec<Arc<Project>> {
    let sequences = Sequence::below(&root(), name).expect("the fixtures can be read");
    let versions = &sequences.first().unwrap_or_else(|| panic!("{name} is not there")).versions;
    open(&versions.iter().map(|version| version.fixture.clone()).collect::<Vec<_>>())
}

fn step(session: &mut Session, from: &Project, to: &Arc<Project>) {
    let names: BTreeSet<String> = from.app_classes().into_iter().chain(to.app_classes()).collect();
    let bytes = |project: &Project, name: &str| project.find(name).map(|found| found.bytes);
    let classes = names.into_iter().filter(|name| bytes(from, name) != bytes(to, name)).collect();
    let change = Change { source: to.clone(), classes, resources: false };
    session.apply(change, &|_, _| (), &Cancel::default()).expect("nobody cancels");
}

/// Tables that are larger than before, in words.
fn grown(before: &Sizes, now: &Sizes) -> Vec<String> {
    let known = |name: &str| before.iter().find(|table| table.0 == name).map_or(0, |table| table.1);
    let grown = now.iter().filter(|&(name, entries)| entries > known(name));
    grown.map(|(name, entries)| format!("{name}: {} to {entries}", known(name))).collect()
}

/// Edits that lead back to where they began, round after round.
fn assert_no_growth(what: &str, session: &mut Session, mut round: impl FnMut(&mut Session)) {
    let mut before = Sizes::default();
    for at in 0..ROUNDS {
        if at == FIRST {
            before = session.sizes();
        }
        round(session);
    }
    let grown = grown(&before, &session.sizes());
    assert!(grown.is_empty(), "{what} leaves behind\n  {}", grown.join("\n  "));
    assert_eq!(session.verify(), Verdict::Same, "{what}");
}

#[test]
fn versions_of_a_program_that_come_and_go_leave_nothing_behind() {
    for name in SEQUENCES {
        let versions = versions(name);
        assert_no_growth(name, &mut session(&versions[0]), |session| {
            let there = versions.windows(2).map(|pair| (&pair[0], &pair[1]));
            let back = versions.windows(2).rev().map(|pair| (&pair[1], &pair[0]));
            there.chain(back).for_each(|(from, to)| step(session, from, to));
        });
    }
}

#[test]
fn statements_and_bodies_that_come_and_go_leave_nothing_behind() {
    for (name, whole) in [("papers/", false), ("papers/", true), ("threads/pool", false)] {
        let fixtures = Fixture::below(&root(), name).expect("the fixtures can be read");
        for (fixture, project) in fixtures.iter().zip(open(&fixtures)).take(3) {
            assert_no_growth(&fixture.name, &mut session(&project), |session| {
                for statement in session.statements() {
                    let (_, deleted) = session.delete(statement, whole, &|_, _| ()).expect("it can go");
                    session.put_back(deleted, &|_, _| ());
                }
            });
        }
    }
}
