//! What a program reads.

mod samples;
mod schema;

use findings::{AccessKind, Confidence, Finding, Place, Report, Rule};
use report::{NoSources, json};
use samples::Bank;
use serde_json::Value;
use std::sync::Arc;

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("valid JSON")
}

fn errors(document: &Value) -> Vec<String> {
    schema::errors(&parse(include_str!("../../../docs/findings.schema.json")), document)
}

fn assert_valid(document: &Value) {
    assert_eq!(errors(document), [] as [&str; 0]);
}

#[test]
fn the_bank() {
    let text = json::render(&samples::report(), Confidence::Medium, &Bank);
    assert_valid(&parse(&text));
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    insta::assert_snapshot!(text.replace(&version, "\"version\": \"…\""));
}

#[test]
fn times_appear_only_when_asked_for() {
    let report = samples::report();
    let without = parse(&json::render(&report, Confidence::Medium, &Bank));
    assert_eq!(without["stats"].get("seconds"), None);
    let with = parse(&json::render_with_times(&report, Confidence::Medium, &Bank));
    assert_eq!(with["stats"]["seconds"]["points-to"], 0.042);
    assert_valid(&with);
}

#[test]
fn low_confidence_is_left_out_unless_asked_for() {
    let mut report = samples::report();
    report.findings.push(Finding { confidence: Confidence::Low, ..samples::race() }.into());
    let count = |min| parse(&json::render(&report, min, &Bank))["findings"].as_array().map(Vec::len);
    assert_eq!(count(Confidence::Medium), Some(2));
    assert_eq!(count(Confidence::Low), Some(3));
}

#[test]
fn the_order_of_discovery_changes_no_byte() {
    let expected = json::render(&samples::report(), Confidence::Low, &Bank);
    let mut report = samples::report();
    report.findings.reverse();
    report.notes.reverse();
    report.sort();
    assert_eq!(json::render(&report, Confidence::Low, &Bank), expected);
}

#[test]
fn what_is_not_known_still_fits_the_schema() {
    let mut report = samples::report();
    for finding in report.findings.iter_mut().map(Arc::make_mut) {
        finding.object = None;
        finding.also.clear();
        finding.why.clear();
        for site in &mut finding.sites {
            site.place = Place::default();
            site.trace.clear();
        }
    }
    let finding = Arc::make_mut(&mut report.findings[0]);
    finding.sites[0].access = AccessKind::Wait;
    finding.sites[0].acquires = None;
    assert_valid(&parse(&json::render(&report, Confidence::Low, &NoSources)));
    assert_valid(&parse(&json::render(&findings::Report::default(), Confidence::Low, &NoSources)));
}

#[test]
fn what_the_other_engine_says_is_told_and_absent_where_it_says_nothing() {
    let finding = parse(&json::finding(&samples::compositional(), &Bank));
    assert_eq!(finding["sites"][0]["concurrent"][0], "bank.Account is annotated @ThreadSafe");
    assert_eq!(finding["assumed"][0], "several threads share one bank.Account");
    assert_eq!(finding["fix"][0], "call it before src/bank/Account.java:16");
    let race = parse(&json::finding(&samples::race(), &Bank));
    for key in ["assumed", "fix"] {
        assert_eq!(race.get(key), None);
    }
    assert_eq!(race["sites"][0].get("concurrent"), None);
}

#[test]
fn odd_findings_are_still_json() {
    let document = parse(&json::render(&samples::odd(), Confidence::Low, &NoSources));
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(samples::odd().findings.len()));
}

#[test]
fn a_finding_of_any_rule_fits_the_schema() {
    for rule in Rule::ALL.into_iter().filter(|rule| ![Rule::Race, Rule::Deadlock].contains(rule)) {
        let finding = Finding { rule, ..samples::compositional() };
        let report = Report { findings: vec![finding.into()], ..Report::default() };
        assert_valid(&parse(&json::render(&report, Confidence::Low, &Bank)));
    }
}

#[test]
fn the_schema_rejects_half_a_finding() {
    let good = parse(&json::render(&samples::report(), Confidence::Low, &Bank));
    for (finding, key) in [(1, "sites"), (1, "field"), (1, "id")] {
        let mut bad = good.clone();
        bad["findings"][finding].as_object_mut().expect("a finding").remove(key);
        assert!(!errors(&bad).is_empty(), "without {key}");
    }
    let mut bad = good.clone();
    bad["findings"][0]["sites"][0].as_object_mut().expect("a site").remove("holds");
    assert!(!errors(&bad).is_empty(), "a deadlock without holds");
}
