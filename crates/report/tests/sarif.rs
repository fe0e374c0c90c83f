//! What code scanning reads.

mod samples;
mod standards;

use findings::{Confidence, Finding, Report};
use report::{NoSources, Sources, sarif};
use samples::{Bank, deadlock, race};
use serde_json::Value;

/// What the standard objects to. Its schema has a stray bracket in one pattern, which strict readers refuse unless it is
/// escaped.
fn errors(log: &Value) -> Vec<String> {
    let schema = include_str!("standards/sarif-schema-2.1.0.json");
    standards::errors(&schema.replace("{2}]?$", "{2}\\\\]?$"), log)
}

fn log(report: &Report, sources: &dyn Sources) -> Value {
    let text = sarif::render(report, Confidence::Low, sources);
    let log = serde_json::from_str(&text).expect("JSON");
    let errors = errors(&log);
    assert!(errors.is_empty(), "{errors:#?}");
    log
}

fn of(finding: Finding) -> Value {
    let report = Report { findings: vec![finding.into()], ..Report::default() };
    log(&report, &Bank)["runs"][0]["results"][0].take()
}

#[test]
fn the_bank() {
    let mut log = log(&samples::report(), &Bank);
    let driver = &mut log["runs"][0]["tool"]["driver"];
    for version in ["version", "semanticVersion"] {
        driver[version] = "…".into();
    }
    for rule in driver["rules"].as_array_mut().expect("rules") {
        for text in ["text", "markdown"] {
            rule["help"][text] = "…".into();
        }
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&log).expect("text"));
}

#[test]
fn odd_findings_fit_the_standard_with_and_without_sources() {
    for sources in [&Bank as &dyn Sources, &NoSources] {
        let log = log(&samples::odd(), sources);
        let results = log["runs"][0]["results"].as_array().expect("results");
        assert_eq!(results.len(), samples::odd().findings.len());
        for result in results {
            let place = &result["locations"][0]["physicalLocation"];
            assert!(place["artifactLocation"]["uri"].as_str().is_some_and(|uri| !uri.is_empty()), "{result}");
            assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 0), "{result}");
        }
    }
    log(&Report::default(), &NoSources);
}

#[test]
fn the_standard_rejects_what_is_wrong() {
    let good = log(&samples::report(), &Bank);
    for (pointer, bad) in [
        ("/runs/0/results/0/level", Value::from("bad")),
        ("/runs/0/results/0/rank", Value::from(200)),
        ("/runs/0/results/0/message", Value::from("text")),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", Value::from(0)),
        ("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", Value::from("a b")),
        ("/runs/0/results/0/codeFlows/0/threadFlows", Value::Array(vec![])),
        ("/runs/0/tool/driver/name", Value::Null),
    ] {
        let mut log = good.clone();
        *log.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = bad;
        assert!(!errors(&log).is_empty(), "{pointer}");
    }
}

#[test]
fn each_side_has_a_thread_in_one_flow() {
    for finding in [race(), deadlock()] {
        let result = of(finding);
        let flows = result["codeFlows"].as_array().expect("flows");
        assert_eq!(flows.len(), 1);
        let threads = flows[0]["threadFlows"].as_array().expect("threads");
        assert_eq!(threads.len(), 2);
        for thread in threads {
            let last = thread["locations"].as_array().and_then(|steps| steps.last()).expect("a step");
            assert_eq!(last["importance"], "essential");
        }
    }
}

#[test]
fn links_lead_to_the_other_side() {
    let result = of(race());
    let text = result["message"]["text"].as_str().expect("a text");
    assert!(text.ends_with("The other side is at [src/bank/Account.java:12](1)."), "{text}");
    let other = &result["relatedLocations"][0];
    assert_eq!(other["id"], 1);
    assert_eq!(other["physicalLocation"]["region"]["startLine"], 12);
}

#[test]
fn locks_of_both_sides_are_related() {
    let result = of(deadlock());
    let related = result["relatedLocations"].as_array().expect("related");
    let taken =
        |one: &&Value| one["message"]["text"].as_str().is_some_and(|text| text.contains("is taken here"));
    assert_eq!(related.iter().filter(taken).count(), 2);
}

#[test]
fn only_what_has_a_source_lies_in_the_repository() {
    let log = log(&samples::odd(), &Bank);
    let mut files: Vec<(String, bool)> = vec![];
    let results = log["runs"][0]["results"].as_array().expect("results");
    for result in results {
        let artifact = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        files.push((artifact["uri"].as_str().expect("a URI").into(), artifact.get("uriBaseId").is_some()));
    }
    assert!(files.contains(&("src/bank/Account.java".into(), true)), "{files:?}");
    assert!(files.contains(&("org/h2%20x/100%25.java".into(), false)), "{files:?}");
    assert!(files.contains(&("bank/Account.java".into(), false)), "guessed: {files:?}");
    assert!(files.contains(&("unknown".into(), false)), "{files:?}");
}

#[test]
fn fingerprints_are_the_id_and_the_hash_of_the_line() {
    let fingerprints = &of(race())["partialFingerprints"];
    assert_eq!(fingerprints["snarl/v1"], race().id);
    let hash = fingerprints["primaryLocationLineHash"].as_str().expect("a hash").to_owned();
    let mut moved = race();
    moved.sites[0].place.line = 18;
    assert_ne!(of(moved)["partialFingerprints"]["primaryLocationLineHash"], hash);
    let report = Report { findings: vec![race().into()], ..Report::default() };
    let without = log(&report, &NoSources);
    assert_eq!(without["runs"][0]["results"][0]["partialFingerprints"].get("primaryLocationLineHash"), None);
}

#[test]
fn doubt_lowers_level_and_rank() {
    let level = |confidence| {
        let result = of(Finding { confidence, ..race() });
        (result["level"].as_str().expect("a level").to_owned(), result["rank"].as_f64().expect("a rank"))
    };
    assert_eq!(level(Confidence::High).0, "error");
    assert_eq!(level(Confidence::Medium).0, "warning");
    assert_eq!(level(Confidence::Low).0, "note");
    assert!(level(Confidence::High).1 > level(Confidence::Low).1);
}

#[test]
fn there_are_no_more_results_than_are_taken_and_that_is_said() {
    let bare = Finding { sites: vec![], ..race() };
    let report = Report { findings: vec![bare.into(); 25_001], ..Report::default() };
    let log: Value =
        serde_json::from_str(&sarif::render(&report, Confidence::Low, &NoSources)).expect("JSON");
    let run = &log["runs"][0];
    assert_eq!(run["results"].as_array().map(Vec::len), Some(25_000));
    let said = &run["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(said["message"]["text"], "of 25001 findings the first 25000 are told");
}

#[test]
fn notes_are_notifications() {
    let log = log(&samples::report(), &Bank);
    let notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().expect("notes");
    assert_eq!(notes.len(), 2);
    assert_eq!(notes[1]["descriptor"]["id"], "opaque-call");
    assert_eq!(notes[1]["message"]["text"], "java.io.PrintStream.println(int) is not analysed (3 times)");
}
