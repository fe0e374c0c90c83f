//! The solver against a naive evaluation of the same rules, on the fixtures, on random programs and on programs
//! that once went wrong: both must find exactly the same.

mod case;
mod compare;
mod edits;
mod naive;
mod random;
mod rules;

use case::{Case, compile};
use classfile::ClassSource;
use compare::Counts;
use fixture::Fixture;
use pointsto::Options;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Beyond this the naive evaluation takes seconds.
const MOST_FACTS: u64 = 10_000;

#[test]
fn fixtures_agree() {
    let mut counts = Counts::default();
    for case in fixtures("") {
        counts.add(case.agree());
    }
    println!("fixtures: {counts:?}");
}

/// With the JVM's own start-up, which is most of the code.
#[test]
fn fixtures_agree_with_the_start_up_of_the_jvm() {
    let mut counts = Counts::default();
    for mut case in fixtures("").into_iter().step_by(20) {
        case.boot = true;
        counts.add(case.agree());
    }
    println!("with start-up: {counts:?}");
}

#[test]
fn fixtures_agree_without_models_of_containers() {
    let mut counts = Counts::default();
    for mut case in fixtures("containers/").into_iter().chain(fixtures("").into_iter().step_by(10)) {
        case.few_models = true;
        counts.add(case.agree());
    }
    println!("without models: {counts:?}");
}

#[test]
fn fixtures_agree_with_the_full_jdk() {
    let mut counts = Counts::default();
    for mut case in fixtures("").into_iter().step_by(40) {
        case.options.full_jdk = true;
        counts.add(case.agree());
    }
    println!("full JDK: {counts:?}");
}

#[test]
fn random_programs_agree() {
    let mut counts = Counts::default();
    for case in random_programs() {
        if let Some(more) = case.agree_within(MOST_FACTS) {
            counts.add(more);
        }
    }
    println!("random: {counts:?}");
    let tried = random_programs().len();
    assert!(counts.programs * 4 >= tried * 3, "only {} of {tried} are small enough", counts.programs);
}

#[test]
fn solving_again_gives_the_same_ids() {
    for case in random_programs().iter().take(40).chain(&fixtures("containers")) {
        let (first, second) = (case.solve(), case.solve());
        assert_eq!(first.dump, second.dump, "{}", case.name);
    }
}

#[test]
fn ids_are_the_same_at_any_number_of_threads() {
    for case in random_programs().iter().take(40).chain(&fixtures("containers")) {
        let [one, many] = [1, 4].map(|threads| pool(threads).install(|| case.solve()));
        assert_eq!(one.dump, many.dump, "{}", case.name);
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

fn fixtures(containing: &str) -> Vec<Case> {
    let fixtures = Fixture::below(&fixture::root(), containing).expect("readable fixtures");
    let case = |(fixture, classes): (&Fixture, PathBuf)| Case::new(&fixture.name, case::open(&classes));
    fixtures.iter().zip(compile(&fixtures)).map(case).collect()
}

/// Of the random programs; `SNARL_SEEDS=1000..1200` tries others.
fn seeds() -> std::ops::Range<u64> {
    let wanted = std::env::var("SNARL_SEEDS").unwrap_or_else(|_| "0..200".to_string());
    let range = wanted.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    range.unwrap_or_else(|| panic!("no range of seeds: {wanted}"))
}

/// All in one source file, for the compiler's sake.
fn random_programs() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let programs: Vec<random::RandomProgram> = seeds().map(random::program).collect();
        let mut source = String::from(random::IMPORTS);
        for program in &programs {
            let _ = writeln!(source, "{}", program.source);
        }
        let classes = case::compile_source("Random", source);
        let classes = case::open(&classes);
        programs.into_iter().map(|program| case_of(program, classes.clone())).collect()
    })
}

fn case_of(program: random::RandomProgram, classes: Arc<dyn ClassSource>) -> Case {
    let mut case = Case::new(&program.name, classes);
    case.main = Some(format!("{}$Main", program.name));
    case.entries = program.entries;
    case.models = program.models;
    case.few_models = program.few_models;
    let (exclude, origin_budget) = (program.exclude, program.origin_budget);
    // Every third is solved anew as soon as half of it goes.
    let most_taken = if origin_budget % 3 == 0 { 0 } else { Options::default().most_taken };
    case.options = Options { exclude, origin_budget, most_taken, ..Options::default() };
    case
}
