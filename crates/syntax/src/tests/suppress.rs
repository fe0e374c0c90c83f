//! The comment that suppresses is written where it is read.

use crate::{Source, apply};

fn suppressed(text: &str, line: u32) -> String {
    let edits = Source::parse(text).suppress(line, "race", "as  it\nis");
    edits.map_or("-".to_owned(), |edits| apply(text, &edits))
}

const COMMENT: &str = "// snarl: ignore race -- as it is";

#[test]
fn the_comment_stands_above_the_line_with_its_indentation() {
    let lines = |above: &str, line: &str| format!("class A {{\n{above}{line}\n}}");
    for (indent, line) in [
        ("    ", "int x;"),
        ("\t\t", "int x; // y"),
        ("", "int x;"),
        ("  ", "void f() { }"),
        ("  ", "/* a */ int x;"),
    ] {
        let text = lines("", &format!("{indent}{line}"));
        let expected = lines(&format!("{indent}{COMMENT}\n"), &format!("{indent}{line}"));
        assert_eq!(suppressed(&text, 1), expected);
    }
    assert_eq!(
        suppressed("class A {\r\n\tint x;\r\n}", 1),
        format!("class A {{\r\n\t{COMMENT}\r\n\tint x;\r\n}}")
    );
    assert_eq!(suppressed("class A { int x; }", 0), format!("{COMMENT}\nclass A {{ int x; }}"));
}

#[test]
fn where_nothing_can_stand_above_it_stands_behind() {
    let text = "class A { String s = \"\"\"\n  a\n  \"\"\" + n++;\n}";
    assert_eq!(suppressed(text, 2), text.replace("n++;", &format!("n++; {COMMENT}")));
    assert_eq!(suppressed(text, 1), "-");
    let text = "class A { /* a\n b */ int n;\n}";
    assert_eq!(suppressed(text, 1), text.replace("int n;", &format!("int n; {COMMENT}")));
    assert_eq!(suppressed("class A { /* a\n b */ int n; // c\n}", 1), "-");
    assert_eq!(suppressed("class A { /* a\n b */ int n; /*\n*/}", 1), "-");
}

#[test]
fn where_it_would_have_no_effect_it_is_not_written() {
    for (text, line) in [
        ("class A {\n}", 0),
        ("@X\nclass A {\n}", 0),
        ("record R(int x) {\n}", 0),
        ("class A {\n\n}", 1),
        ("class A {\n// a\n}", 1),
        ("class A {\n}", 9),
        ("", 0),
    ] {
        assert_eq!(suppressed(text, line), "-", "{text} {line}");
    }
}

#[test]
fn a_comment_says_what_it_must_and_nothing_that_breaks_the_program() {
    let said = |rule: &str, reason: &str| {
        let edits = Source::parse("class A {\nint x;\n}").suppress(1, rule, reason);
        edits.map_or("-".to_owned(), |edits| edits[0].text.clone())
    };
    assert_eq!(said("lock-order", "a \\u000a b"), "// snarl: ignore lock-order -- a /u000a b\n");
    assert_eq!(said("race", " \n "), "-");
    assert_eq!(said("", "a"), "-");
    assert_eq!(said("race\nint y;", "a"), "-");
    assert_eq!(said("race", "a\u{7}b"), "-");
}
