//! Which statements a line or a position is about.

use crate::{Range, Source};

fn shown(source: &Source, range: Option<Range>) -> String {
    let Some(range) = range else { return "-".to_owned() };
    let text = &source.text()[source.offset(range.start)..source.offset(range.end)];
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The statement of the line that has a caret `|`, which stands for nothing.
fn on_line(code: &str) -> String {
    let line = code[..code.find('|').expect("a caret")].matches('\n').count() as u32 + 1;
    let source = Source::parse(format!("class A {{ void f() {{\n{}\n}} }}", code.replacen('|', "", 1)));
    shown(&source, source.statement_at(line))
}

#[test]
fn statements_that_begin_on_a_line_are_meant() {
    for (code, expected) in [
        ("a();\n|b();\nc();", "b();"),
        ("|a(); b(); // c", "a(); b();"),
        ("|if (a) b();", "if (a) b();"),
        ("|if (a) {\n b();\n}", "if (a) { b(); }"),
        ("if (a) {\n |b();\n}", "b();"),
        ("if (a)\n |b();\n", "b();"),
        ("if (a) {\n b();\n|} else if (c) {\n d();\n}", "if (c) { d(); }"),
        ("try { a();\n|} catch (E e) { b(); c(); }", "b(); c();"),
        ("switch (a) {\n|case 1: b(); break;\n}", "b(); break;"),
        ("switch (a) {\n|case 1 -> b();\n}", "b();"),
        ("|x: for (;;) { }", "x: for (;;) { }"),
        ("|{ a(); }", "{ a(); }"),
        ("|int a = 1;", "int a = 1;"),
    ] {
        assert_eq!(on_line(code), expected, "{code}");
    }
}

#[test]
fn a_line_on_which_none_begins_belongs_to_the_smallest_around_it() {
    for (code, expected) in [
        ("a(b,\n |c);", "a(b, c);"),
        ("do {\n a();\n|} while (b);", "do { a(); } while (b);"),
        ("if (a) {\n b();\n|}", "if (a) { b(); }"),
        ("for (int a = 1;\n |a < b; a++) { }", "for (int a = 1; a < b; a++) { }"),
        ("if (a)\n |b(); else c();", "if (a) b(); else c();"),
        ("a();\n|", "-"),
        ("a();\n|// b();", "-"),
        ("a();\n| } void g() {", "-"),
    ] {
        assert_eq!(on_line(code), expected, "{code}");
    }
}

#[test]
fn a_member_of_a_class_is_no_part_of_the_statement_around_the_class() {
    assert_eq!(on_line("a(new B() {\n  |int c = d();\n});"), "-");
    assert_eq!(on_line("a(new B() {\n  |void c() { d(); }\n});"), "d();");
}

#[test]
fn a_position_is_about_the_smallest_statement() {
    let around = |text: &str| {
        let caret = text.find('|').expect("a caret");
        let source = Source::parse(text.replacen('|', "", 1));
        shown(&source, source.statement_around(source.position(caret)))
    };
    assert_eq!(around("class A { void f() { if (a) |b++; } }"), "b++;");
    assert_eq!(around("class A { void f() { if (|a) b++; } }"), "if (a) b++;");
    assert_eq!(around("class A { void f() { g(() -> { |b++; }); } }"), "b++;");
    assert_eq!(around("class A { void f() { g(() -> |b++); } }"), "g(() -> b++);");
    assert_eq!(around("class A { int a = |b++; }"), "-");
}
