//! Nothing in a report depends on the order in which ids are handed out: after edits it is another than in a cold
//! run. Classes are loaded and the solver's work is taken in arbitrary orders; the report has to stay the same.

use findings::Report;
use fixture::{Compiler, Fixture, root};
use project::{Project, Request};
use rayon::prelude::*;
use session::{Options, Session};
use std::path::PathBuf;
use std::sync::Arc;

/// Every so many of the fixtures are tried, unless `SNARL_FIXTURE` names some, or `SNARL_ORDERS` says under how many
/// orders all of them are.
const STEP: usize = 3;

fn open(request: &Request) -> Arc<Project> {
    Arc::new(project::open(request).unwrap_or_else(|error| panic!("{error}")))
}

/// Everything a run says, seconds aside.
fn text(mut report: Report) -> String {
    report.stats.seconds.clear();
    format!("{report:#?}")
}

/// The report of a plain run, and the classes it loaded.
fn plain(project: &Arc<Project>, options: &Options) -> (String, Vec<String>) {
    let mut session = Session::new(project.clone(), options.clone());
    let report = session.check(&|_, _| ());
    (text(report), session.classes())
}

/// The report of a run whose ids are in another order.
fn disordered(project: &Arc<Project>, options: &Options, mut classes: Vec<String>, seed: u64) -> String {
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for at in (1..classes.len()).rev() {
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        classes.swap(at, (random % (at as u64 + 1)) as usize);
    }
    let mut session = Session::new(project.clone(), options.clone());
    session.disorder(&classes, seed);
    text(session.check(&|_, _| ()))
}

/// The lines around the first difference.
fn difference(expected: &str, actual: &str) -> String {
    let at = expected.lines().zip(actual.lines()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.lines().skip(at.saturating_sub(5)).take(12).collect::<Vec<_>>().join("\n");
    format!("expected\n{}\ngot\n{}", around(expected), around(actual))
}

#[test]
fn fixtures_give_the_same_report_whatever_the_order_of_ids() {
    let (containing, orders) = (std::env::var("SNARL_FIXTURE").ok(), number("SNARL_ORDERS"));
    let step = if containing.is_some() || orders.is_some() { 1 } else { STEP };
    let fixtures = Fixture::below(&root(), &containing.unwrap_or_default());
    let fixtures: Vec<Fixture> =
        fixtures.expect("the fixtures can be read").into_iter().step_by(step).collect();
    let compiled = Compiler::of_environment().compile_all(&fixtures).expect("the compiler runs");
    let check = |(fixture, classes): (&Fixture, fixture::Compiled)| {
        let classes = classes.unwrap_or_else(|errors| panic!("{}: {errors}", fixture.name));
        let project = open(&Request { paths: vec![classes], ..Request::default() });
        let options = Options::default();
        let (expected, classes) = plain(&project, &options);
        let actual = (1..=orders.unwrap_or(1))
            .map(|seed| disordered(&project, &options, classes.clone(), seed))
            .find(|actual| *actual != expected)?;
        Some(format!("{}: {}", fixture.name, difference(&expected, &actual)))
    };
    let wrong: Vec<String> = fixtures.par_iter().zip(compiled).filter_map(check).collect();
    assert!(wrong.is_empty(), "{} fixtures differ\n{}", wrong.len(), wrong.join("\n\n"));
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Tries one program under several orders: `SNARL_PATHS` and `SNARL_CLASSPATH` as for `java`, `SNARL_MAINS` with
/// commas, `SNARL_FULL_JDK` if set, `SNARL_ORDERS` for how many orders. Reports that differ are left in the temporary directory.
#[test]
#[ignore = "takes a program from the environment"]
fn a_program_gives_the_same_report_whatever_the_order_of_ids() {
    let list = |name: &str, separator: char| -> Vec<String> {
        let text = std::env::var(name).unwrap_or_default();
        text.split(separator).filter(|part| !part.is_empty()).map(str::to_string).collect()
    };
    let paths = |name: &str| list(name, ':').into_iter().map(PathBuf::from).collect();
    let request = Request { paths: paths("SNARL_PATHS"), classpath: paths("SNARL_CLASSPATH"), jdk: None };
    let full_jdk = std::env::var_os("SNARL_FULL_JDK").is_some();
    let options = Options { mains: list("SNARL_MAINS", ','), full_jdk, ..Options::default() };
    let project = open(&request);
    let (expected, classes) = plain(&project, &options);
    let orders = number("SNARL_ORDERS").unwrap_or(1);
    let wrong = (1..=orders).filter(|&seed| {
        let actual = disordered(&project, &options, classes.clone(), seed);
        if actual != expected {
            let write = |name: String, text: &str| {
                std::fs::write(std::env::temp_dir().join(name), text).expect("the report can be written");
            };
            write("snarl-plain.txt".to_string(), &expected);
            write(format!("snarl-seed-{seed}.txt"), &actual);
        }
        actual != expected
    });
    assert_eq!(wrong.count(), 0, "of {orders} orders, so many change the report");
}
