use super::*;
use crate::{Baseline, Comparison, Confidence, Renamed, Report, Rule};
use std::sync::Arc;

fn access(access: AccessKind, method: &str, line: u32) -> Unguarded {
    let place = Place { file: "a/C.java".into(), line };
    Unguarded { access, method: format!("a.C.{method}"), field: "a.C.n".into(), place }
}

fn report(accesses: &[Unguarded]) -> Report {
    let finding = Finding {
        id: "1".into(),
        confidence: Confidence::High,
        field: Some("a.C.n".into()),
        unguarded: Unguarded::listed(accesses.iter().cloned()),
        ..Finding::default()
    };
    Report { findings: vec![Arc::new(finding)], ..Report::default() }
}

fn introduced(before: &[Unguarded], after: &[Unguarded]) -> Vec<String> {
    let (before, after) = (report(before), report(after));
    let compared = Comparison::between(&before, &after, Confidence::Medium, &Renamed::default());
    let by_diff: Vec<String> = compared.introduced.iter().flat_map(|one| one.why.clone()).collect();
    let mut now = after.clone();
    Baseline::of(&before, &Rule::ALL, "1").compare(&mut now);
    let by_baseline: Vec<String> = now.findings.iter().flat_map(|one| one.why.clone()).collect();
    assert_eq!(by_diff, by_baseline);
    by_diff
}

const READ: AccessKind = AccessKind::Read;
const WRITE: AccessKind = AccessKind::Write;

#[test]
fn an_access_in_another_method_is_introduced() {
    let before = [access(WRITE, "inc()", 5)];
    let after = [access(WRITE, "inc()", 5), access(WRITE, "reset()", 31)];
    assert_eq!(introduced(&before, &after), ["new: C.reset (:31); the rest was reported before"]);
    assert!(introduced(&after, &before).is_empty());
    assert!(introduced(&after, &after).is_empty());
}

#[test]
fn a_write_beside_a_read_and_a_second_write_are_introduced() {
    let read = [access(READ, "get()", 5)];
    let both = [access(READ, "get()", 5), access(WRITE, "get()", 6)];
    assert_eq!(introduced(&read, &both), ["new: C.get (:6); the rest was reported before"]);
    let twice = [access(WRITE, "get()", 6), access(WRITE, "get()", 9)];
    assert_eq!(introduced(&both[1..], &twice), ["new: C.get (:6), C.get (:9); the rest was reported before"]);
}

#[test]
fn lines_and_numbers_of_lambdas_make_nothing_new() {
    let before = [access(WRITE, "inc()", 5), access(WRITE, "lambda$main$0(a.C)", 8)];
    let after = [access(WRITE, "inc()", 50), access(WRITE, "lambda$main$7(int)", 80)];
    assert!(introduced(&before, &after).is_empty());
}

#[test]
fn where_nothing_was_written_down_only_fields_count() {
    assert!(introduced(&[], &[access(WRITE, "inc()", 5)]).is_empty());
}

#[test]
fn what_a_list_left_out_is_not_new() {
    let many: Vec<Unguarded> = (0..300).map(|at| access(WRITE, &format!("m{at:03}()"), at)).collect();
    assert_eq!(report(&many).findings[0].unguarded.len(), MOST_UNGUARDED);
    assert!(introduced(&many, &many[1..]).is_empty());
    let more: Vec<Unguarded> = many.iter().cloned().chain([access(READ, "a()", 7)]).collect();
    assert_eq!(introduced(&many, &more), ["new: C.a (:7); the rest was reported before"]);
}

#[test]
fn one_more_access_makes_nothing_less_certain() {
    let before = report(&[access(WRITE, "inc()", 5)]);
    let mut after = report(&[access(WRITE, "inc()", 5), access(WRITE, "reset()", 31)]);
    Arc::make_mut(&mut after.findings[0]).confidence = Confidence::Low;
    let compared = Comparison::between(&before, &after, Confidence::Medium, &Renamed::default());
    assert_eq!(compared.introduced[0].confidence, Confidence::High);
    Baseline::of(&before, &Rule::ALL, "1").compare(&mut after);
    assert_eq!(after.findings[0].confidence, Confidence::High);
    // Nothing is new, and it is less certain.
    let mut same = before.clone();
    Arc::make_mut(&mut same.findings[0]).confidence = Confidence::Low;
    let compared = Comparison::between(&before, &same, Confidence::Medium, &Renamed::default());
    assert_eq!((compared.introduced.len(), compared.fixed.len()), (0, 0));
}
