//! What comments and annotations are about, and what is said about those that make no sense.

use super::*;

fn said(text: &str) -> Remarks {
    read("Account.java", text, "src/bank/Account.java").remarks
}

/// What the only suppression of a text covers, in short.
fn covers(text: &str) -> Vec<String> {
    let said = said(text);
    assert_eq!(said.notes, [], "{text}");
    assert_eq!(said.suppressions.len(), 1, "{text}");
    let short = |covers: &Covers| match covers {
        Covers::Lines { file, from, to } => format!("{file} {from}-{to}"),
        Covers::Field(field) => field.clone(),
        Covers::FieldsOf(class) => format!("{class}.*"),
        Covers::Like(_) => unreachable!("sources have no patterns"),
    };
    said.suppressions[0].covers.iter().map(short).collect()
}

#[test]
fn a_comment_is_about_its_line_or_the_next_one_with_code() {
    let text = |before: &str, after: &str| {
        format!("package bank;\nclass Account {{\n void f() {{\n{before}\n  n++; {after}\n }}\n}}\n")
    };
    let comment = "// snarl: ignore race -- counted twice is fine";
    assert_eq!(covers(&text("", comment)), ["bank/Account.java 5-5"]);
    assert_eq!(covers(&text(comment, "")), ["bank/Account.java 5-5"]);
    assert_eq!(covers(&text(&format!("x(); {comment}"), "")), ["bank/Account.java 4-4"]);
    let one = &said(&text("", comment)).suppressions[0];
    assert_eq!(
        (one.rules.as_slice(), one.reason.as_str()),
        ([Rule::Race].as_slice(), "counted twice is fine")
    );
    assert_eq!(one.place, "src/bank/Account.java:5");
}

#[test]
fn a_comment_at_a_declaration_is_about_what_is_declared() {
    let field = "package bank;\nclass Account {\n  private int n; // snarl: ignore race -- approximate\n}\n";
    assert_eq!(covers(field), ["bank.Account.n", "bank/Account.java 3-3"]);
    let above =
        "package bank;\nclass Account {\n  // snarl: ignore race -- x\n  /** Doc. */\n  @A\n  int n;\n}\n";
    assert_eq!(covers(above), ["bank.Account.n", "bank/Account.java 5-5"]);
    let method =
        "package bank;\nclass Account {\n  // snarl: ignore all -- x\n  void f() {\n   n++;\n  }\n}\n";
    assert_eq!(covers(method), ["bank/Account.java 4-6", "bank/Account.java 4-4"]);
    let class = "package bank;\n// snarl: ignore-class race -- test helper\nclass Account {\n  int n;\n}\n";
    assert_eq!(covers(class), ["bank/Account.java 3-5", "bank.Account.*"]);
}

#[test]
fn what_makes_no_sense_is_told_and_does_not_bite() {
    let wrong = |comment: &str| {
        let said = said(&format!("class Account {{\n  int n; {comment}\n}}\n"));
        assert_eq!(said.suppressions, [], "{comment}");
        said.notes.into_iter().map(|note| format!("{}: {}", note.kind, note.message)).collect::<Vec<_>>()
    };
    let start = "malformed-suppression: src/bank/Account.java:2 suppresses nothing: ";
    for (comment, why) in [
        ("// snarl: ignore race", "it has no reason"),
        ("// snarl: ignore race --", "it has no reason"),
        ("// snarl: ignore -- because", "it names no rule"),
        ("// snarl: ignroe race -- because", "unknown command `ignroe`"),
        ("// snarl: ignore-class race -- because", "no class is declared here"),
    ] {
        let notes = wrong(comment);
        assert!(notes.len() == 1 && notes[0].starts_with(&format!("{start}{why}")), "{notes:?}");
    }
    let notes = wrong("// snarl: ignore rase -- because");
    assert!(
        notes.len() == 1
            && notes[0].starts_with("unknown-rule: src/bank/Account.java:2 names the rule `rase`")
    );
    let class = said("// snarl: ignore race -- x\nclass Account { }\n");
    assert!(class.notes[0].message.contains("write `ignore-class`"), "{class:?}");
    assert!(
        said("class A { }\n// snarl: ignore race -- x\n").notes[0].message.contains("no code follows it")
    );
}

#[test]
fn a_known_rule_beside_an_unknown_one_counts() {
    let said = said("class A {\n  int n; // snarl: ignore rase, deadlock -- x\n}\n");
    assert_eq!((said.suppressions[0].rules.as_slice(), said.notes.len()), ([Rule::Deadlock].as_slice(), 1));
}

#[test]
fn strings_and_other_comments_say_nothing() {
    let text = "class A {\n String s = \"// snarl: ignore race -- x\"; // see snarl: ignore race -- x\n}\n";
    assert_eq!(said(text), Remarks::default());
}

#[test]
fn an_annotation_is_about_what_it_stands_at() {
    let text = |values: &str| format!("class A {{\n  @SuppressWarnings({values})\n  int n;\n}}\n");
    assert_eq!(covers(&text("\"snarl:race\"")), ["A.n"]);
    assert_eq!(covers(&text("{\"unchecked\", \"snarl\"}")), ["A.n"]);
    assert_eq!(said(&text("\"unchecked\"")), Remarks::default());
    assert_eq!(said(&text("\"snarl:rase\"")).notes[0].kind, "unknown-rule");
    let class = "@SuppressWarnings(\"snarl:race\")\nclass A {\n  int n;\n}\n";
    assert_eq!(covers(class), ["Account.java 1-4", "A.*"]);
}

#[test]
fn kotlin_is_read_too() {
    let text = "package bank\nvar total = 0 // snarl: ignore race -- approximate\n";
    let said = read("Bank.kt", text, "Bank.kt").remarks;
    assert_eq!(said.suppressions[0].covers[0], Covers::Field("bank.BankKt.total".into()));
}
