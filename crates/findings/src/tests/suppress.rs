//! That suppressions cover what they say, and nothing beyond it.

use super::*;
use crate::{AccessKind, LockUse, Site};

const ALL: &[Rule] = &Rule::ALL;

fn place(file: &str, line: u32) -> Place {
    Place { file: file.into(), line }
}

/// A race on `bank.Account.balance` between lines 5 and 9 of `bank/Account.java`.
fn race() -> Finding {
    let site = |line, method: &str| Site {
        access: AccessKind::Write,
        place: place("bank/Account.java", line),
        method: method.into(),
        ..Site::default()
    };
    Finding {
        id: "r".into(),
        field: Some("bank.Account.balance".into()),
        message: "bank.Account.balance is written by two threads".into(),
        sites: vec![site(5, "bank.Account.deposit(int)"), site(9, "bank.Account$1.run()")],
        ..Finding::default()
    }
}

fn suppression(rules: &[Rule], covers: Covers) -> Suppression {
    Suppression { rules: rules.to_vec(), covers: vec![covers], reason: "why".into(), place: "here:1".into() }
}

fn lines(from: u32, to: u32) -> Covers {
    Covers::Lines { file: "bank/Account.java".into(), from, to }
}

fn outcome(finding: Finding, all: &[Suppression]) -> (usize, usize, usize) {
    let mut report = Report { findings: vec![finding.into()], ..Report::default() };
    report.suppress(all, ALL, &|file| format!("src/{file}"));
    (report.findings.len(), report.suppressed.len(), report.notes.len())
}

fn bites(finding: Finding, covers: Covers) -> bool {
    match outcome(finding, &[suppression(&[Rule::Race], covers)]) {
        (0, 1, 0) => true,
        (1, 0, 1) => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_line_covers_the_accesses_on_it_and_no_others() {
    assert!(bites(race(), lines(5, 5)));
    assert!(bites(race(), lines(9, 9)));
    assert!(bites(race(), lines(1, 20)));
    assert!(!bites(race(), lines(6, 8)));
    assert!(!bites(race(), Covers::Lines { file: "shop/Account.java".into(), from: 5, to: 5 }));
}

#[test]
fn a_field_covers_findings_about_it_and_no_others() {
    assert!(bites(race(), Covers::Field("bank.Account.balance".into())));
    assert!(!bites(race(), Covers::Field("bank.Account.name".into())));
    assert!(bites(race(), Covers::FieldsOf("bank.Account".into())));
    assert!(!bites(race(), Covers::FieldsOf("bank.Acc".into())));
    assert!(!bites(race(), Covers::FieldsOf("bank.Account$Entry".into())));
}

#[test]
fn what_is_in_a_container_belongs_to_the_field_that_holds_it() {
    let mut finding = race();
    finding.field = Some("java.util.ArrayList".into());
    finding.message = "bank.Bank.names (java.util.ArrayList) is written by two threads".into();
    assert!(bites(finding.clone(), Covers::Field("bank.Bank.names".into())));
    assert!(!bites(finding, Covers::Field("bank.Bank.others".into())));
}

#[test]
fn fields_of_anonymous_classes_are_known_by_any_number() {
    let finding = Finding { field: Some("bank.Main$2.n".into()), ..race() };
    assert!(bites(finding, Covers::Field("bank.Main$.n".into())));
}

#[test]
fn another_rule_is_not_suppressed() {
    assert_eq!(outcome(race(), &[suppression(&[Rule::Deadlock], lines(5, 5))]), (1, 0, 1));
    assert_eq!(outcome(race(), &[suppression(&[Rule::Deadlock, Rule::Race], lines(5, 5))]), (0, 1, 0));
    assert_eq!(outcome(race(), &[suppression(&[], lines(5, 5))]), (0, 1, 0));
}

#[test]
fn what_is_suppressed_in_part_is_told_with_a_word_about_that() {
    let mut finding = race();
    finding.also = vec![(place("bank/Account.java", 9), place("bank/Account.java", 30))];
    let line_5 = suppression(&[], lines(5, 5));
    let line_9 = suppression(&[], lines(9, 9));
    assert_eq!(outcome(finding.clone(), std::slice::from_ref(&line_5)), (1, 0, 0));
    assert_eq!(outcome(finding.clone(), &[line_9]), (0, 1, 0));
    assert_eq!(outcome(finding.clone(), &[line_5.clone(), suppression(&[], lines(30, 30))]), (0, 1, 0));

    let mut report = Report { findings: vec![finding.into()], ..Report::default() };
    report.suppress(&[line_5], ALL, &|file| file.to_owned());
    assert_eq!(report.findings[0].why, ["here:1 suppresses a part of it only: see what else is affected"]);

    let finding =
        Finding { fields: vec!["bank.Account.balance".into(), "bank.Account.name".into()], ..race() };
    let balance = suppression(&[], Covers::Field("bank.Account.balance".into()));
    let name = suppression(&[], Covers::Field("bank.Account.name".into()));
    assert_eq!(outcome(finding.clone(), std::slice::from_ref(&balance)), (1, 0, 0));
    assert_eq!(outcome(finding, &[balance, name]), (0, 1, 0));
}

#[test]
fn patterns_for_a_field_each_add_up() {
    let finding =
        Finding { fields: vec!["bank.Account.balance".into(), "bank.Account.name".into()], ..race() };
    let like = |field: &str, class: Option<&str>| {
        let class = class.map(str::to_owned);
        suppression(&[], Covers::Like(Pattern { field: Some(field.into()), class, ..Pattern::default() }))
    };
    let (balance, name) = (like("balance", None), like("bank.Account.na*", None));
    assert_eq!(outcome(finding.clone(), &[balance.clone(), name.clone()]), (0, 1, 0));
    // Each alone covers a part, and is not unused.
    assert_eq!(outcome(finding.clone(), std::slice::from_ref(&balance)), (1, 0, 0));
    assert_eq!(outcome(finding.clone(), &[name]), (1, 0, 0));
    // The class of one of them is another.
    assert_eq!(outcome(finding.clone(), &[balance.clone(), like("name", Some("shop.Account"))]), (1, 0, 1));
    let field = suppression(&[], Covers::Field("bank.Account.name".into()));
    assert_eq!(outcome(finding, &[balance, field]), (0, 1, 0));
}

#[test]
fn a_deadlock_is_covered_where_a_lock_is_taken() {
    let mut finding = race();
    let lock = LockUse {
        name: "this".into(),
        place: place("bank/Account.java", 3),
        shared: false,
        ..LockUse::default()
    };
    finding.sites[0].holds = Some(lock);
    assert!(bites(finding, lines(3, 3)));
}

#[test]
fn a_pattern_holds_if_all_of_it_does() {
    let like = |class: &str, field: &str, method: &str, file: &str| {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Covers::Like(Pattern {
            class: text(class),
            field: text(field),
            method: text(method),
            file: text(file),
        })
    };
    for covers in [
        like("bank.Account", "", "", ""),
        like("bank.*", "balance", "deposit", "src/bank/**"),
        like("", "bank.Account.balance", "bank.Account.deposit", ""),
        like("", "", "bank.Account.deposit(int)", "bank/Account.java"),
        like("bank.Account$1", "", "run", ""),
    ] {
        assert!(bites(race(), covers.clone()), "{covers:?}");
    }
    for covers in [
        like("bank.Acc", "", "", ""),
        like("bank.Account", "name", "", ""),
        like("bank.Account", "balance", "withdraw", ""),
        like("", "", "", "test/**"),
    ] {
        assert!(!bites(race(), covers.clone()), "{covers:?}");
    }
}

#[test]
fn only_suppressions_of_rules_that_were_checked_are_called_unused() {
    let mut report = Report::default();
    let all = [suppression(&[Rule::Race], lines(1, 1)), suppression(&[Rule::GuardedBy], lines(2, 2))];
    report.suppress(&all, &[Rule::Race], &|file| file.to_owned());
    let messages: Vec<&str> = report.notes.iter().map(|note| note.message.as_str()).collect();
    assert_eq!(messages, ["here:1 suppresses race, and there is nothing to suppress"]);
}
