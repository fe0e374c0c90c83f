//! After edits everything is said that would be said at first, and to ask changes nothing.

use crate::programs::*;
use classfile::ClassSource;
use findings::Engine;
use fixture::{Fixture, Sequence, root};
use project::Project;
use session::{Cancel, Change, Engines, Options, Session, Verdict};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The answers to every question that can be asked about a program.
fn everything(session: &Session, project: &Project, file: &str, lines: usize) -> Vec<String> {
    let mut told = Vec::new();
    for class in project.app_classes() {
        let class = class.replace('/', ".");
        let guards = session.guards(&class);
        told.extend(guards.iter().map(|guard| format!("{:?}", session.about_field(&class, &guard.field))));
        told.push(format!("{class}: {guards:?}"));
    }
    told.extend((1..=lines as u32).map(|line| format!("{line}: {:?}", session.about_lock(file, line))));
    told
}

fn change(from: &Project, to: &Arc<Project>) -> Change {
    let names: BTreeSet<String> = from.app_classes().into_iter().chain(to.app_classes()).collect();
    let bytes = |project: &Project, name: &str| project.find(name).map(|found| found.bytes);
    let classes = names.into_iter().filter(|name| bytes(from, name) != bytes(to, name)).collect();
    Change { source: to.clone(), classes, resources: false }
}

/// Of the edit fixtures one in so many is followed, unless one is named.
const STEP: usize = 4;

#[test]
fn answers_after_an_edit_are_those_of_a_first_run_and_to_ask_costs_the_next_edit_nothing() {
    let named = std::env::var("SNARL_FIXTURE").ok();
    let (is_named, step) = (named.is_some(), if named.is_some() { 1 } else { STEP });
    let sequences = Sequence::below(&root(), &named.unwrap_or_default()).expect("the fixtures can be read");
    let mut compared = 0;
    for (at, sequence) in sequences.iter().enumerate().step_by(step) {
        let fixtures: Vec<Fixture> =
            sequence.versions.iter().map(|version| version.fixture.clone()).collect();
        let projects = compile(&fixtures);
        let lines = fixtures.iter().map(|fixture| fixture.source.lines().count()).max().unwrap_or(0);
        // Each engine has its turn.
        let all = [Engines::Both, Engines::WholeProgram, Engines::Compositional];
        let several = if is_named { &all[..] } else { &all[at % all.len()..][..1] };
        for &engines in several {
            let name = format!("{}, {engines:?}", sequence.name);
            compared += follow(&name, &projects, engines, (fixtures[0].file_name(), lines));
        }
    }
    assert!(compared > 0, "nothing was compared");
}

/// Follows versions there and back again, and compares after each step; how many answers that were.
fn follow(name: &str, projects: &[Arc<Project>], engines: Engines, (file, lines): (&str, usize)) -> usize {
    let [mut asked, mut silent] = [(); 2].map(|()| session(&projects[0], engines));
    let there = projects.windows(2).map(|pair| (&pair[0], &pair[1]));
    let back = projects.windows(2).rev().map(|pair| (&pair[1], &pair[0]));
    everything(&asked, &projects[0], file, lines);
    let mut compared = 0;
    for (from, to) in there.chain(back) {
        let [update, other] = [&mut asked, &mut silent].map(|session| {
            session.apply(change(from, to), &|_, _| (), &Cancel::default()).expect("nobody cancels")
        });
        assert_eq!(update.redone, other.redone, "{name}");
        let fresh = session(to, engines);
        let (told, expected) = (everything(&asked, to, file, lines), everything(&fresh, to, file, lines));
        told.iter().zip(&expected).for_each(|(told, expected)| assert_eq!(told, expected, "{name}"));
        assert_eq!(told.len(), expected.len(), "{name}");
        compared += told.len();
    }
    assert_eq!(asked.report().findings, silent.report().findings, "{name}");
    assert_eq!(format!("{:?}", asked.sizes()), format!("{:?}", silent.sizes()), "{name}");
    assert_eq!(asked.verify(), Verdict::Same, "{name}");
    compared
}

#[test]
fn to_ask_leaves_everything_as_it_was() {
    for (name, source) in [("Shared", SHARED), ("Pool", POOL), ("Library", LIBRARY)] {
        let project = compiled(name, source);
        let mut session = session(&project, Engines::Both);
        let state = |session: &mut Session| {
            let mut summaries = Vec::new();
            session.write_summaries(&mut summaries).expect("memory");
            (session.state(), summaries, format!("{:?}", session.sizes()), session.classes())
        };
        let before = state(&mut session);
        let told = everything(&session, &project, "Program.java", source.lines().count());
        assert_eq!(everything(&session, &project, "Program.java", source.lines().count()), told);
        assert!(state(&mut session) == before, "{name}");
    }
}

#[test]
fn the_order_of_ids_leaves_no_trace_in_answers() {
    for (name, source) in [("Shared", SHARED), ("Pool", POOL)] {
        let project = compiled(name, source);
        let lines = source.lines().count();
        let plain = session(&project, Engines::Both);
        let mut classes = plain.classes();
        for seed in 1..4 {
            let by = seed * classes.len() / 5;
            classes.rotate_left(by);
            classes.reverse();
            let options = Options { engines: Engines::Both, follow: true, ..Options::default() };
            let mut other = Session::new(project.clone(), options);
            other.disorder(&classes, seed as u64);
            other.check(&|_, _| ());
            let told = everything(&other, &project, "Program.java", lines);
            assert_eq!(told, everything(&plain, &project, "Program.java", lines), "{name}");
        }
    }
}

#[test]
fn summaries_that_were_kept_answer_as_new_ones_do() {
    let project = compiled("Library", LIBRARY);
    let mut first = session(&project, Engines::Compositional);
    let mut kept = Vec::new();
    first.write_summaries(&mut kept).expect("memory");
    let options = Options { engines: Engines::Compositional, follow: true, ..Options::default() };
    let mut later = Session::new(project.clone(), options);
    later.recall(kept);
    later.check(&|_, _| ());
    let lines = LIBRARY.lines().count();
    let told = everything(&later, &project, "Program.java", lines);
    assert_eq!(told, everything(&first, &project, "Program.java", lines));
}

#[test]
fn after_an_update_that_was_given_up_only_methods_speak_until_the_next() {
    let edited = SHARED.replace("void reset() {", "synchronized void reset() {");
    let (from, to) = (compiled("Shared", SHARED), compiled("Edited", &edited));
    let mut given_up = session(&from, Engines::Both);
    let cancel = Cancel::default();
    cancel.cancel();
    assert!(given_up.apply(change(&from, &to), &|_, _| (), &cancel).is_none());
    let about = given_up.about_field("Shared", "guarded").expect("it is there");
    assert_eq!(about.engines, [Engine::Compositional]);
    assert!(about.accesses.iter().all(|access| !access.lacks_guard), "{about:?}");
    given_up.apply(change(&to, &to), &|_, _| (), &Cancel::default()).expect("nobody cancels");
    let fresh = session(&to, Engines::Both);
    let lines = edited.lines().count();
    let told = everything(&given_up, &to, "Program.java", lines);
    assert_eq!(told, everything(&fresh, &to, "Program.java", lines));
}
