//! Assignments, with a caret `|` before the name.

use crate::Source;

fn is_plain(code: &str) -> bool {
    let text = format!("class A {{ int n; A a; void f(int p) {{ {code} }} }}");
    let caret = text.find('|').expect("a caret");
    let source = Source::parse(text.replacen('|', "", 1));
    source.is_plainly_assigned(source.position(caret))
}

#[test]
fn what_was_there_does_not_matter() {
    for code in
        ["|n = 1;", "this.|n = p;", "a.|n = a.m();", "if (n == 0) |n = 1;", "p = |n = 3;", "|n = name;"]
    {
        assert!(is_plain(code), "{code}");
    }
}

#[test]
fn what_was_there_matters() {
    for code in
        ["|n++;", "--|n;", "|n += 1;", "|n = n + 1;", "this.|n = this.n << 1;", "|n = (n);", "p = |n;"]
    {
        assert!(!is_plain(code), "{code}");
    }
}

#[test]
fn no_text_is_an_assignment_by_accident() {
    for code in ["|", "|n =", "|n = ;", "|a.n = 1;", "|n == 1;", "a[|n] = 1;", "// |n = 1"] {
        assert!(!is_plain(code), "{code}");
    }
}

#[test]
fn a_loop_waits_for_what_its_condition_reads() {
    let waits = |code: &str| {
        let text = format!("class A {{ int n; void f() {{ {code} }} }}");
        let caret = text.find('|').expect("a caret");
        let source = Source::parse(text.replacen('|', "", 1));
        source.is_waited_for(source.position(caret))
    };
    for code in ["while (!|n) { }", "do { } while (|n > 0);", "for (; |n == 0; ) f();", "while (a.|n) ;"] {
        assert!(waits(code), "{code}");
    }
    for code in [
        "while (true) { |n = 1; }",
        "if (|n == 0) f();",
        "for (|n = 0; ; ) f();",
        "do { |n++; } while (f());",
    ] {
        assert!(!waits(code), "{code}");
    }
}

#[test]
fn a_line_tells_whether_it_needs_what_was_there() {
    let updates =
        |code: &str| Source::parse(format!("class A {{ void f() {{\n{code}\n}} }}")).is_updated_on(1, "n");
    for code in ["n++;", "this.n += 2;", "if (x) { --n; }", "n = 1; n = n + 1;"] {
        assert!(updates(code), "{code}");
    }
    for code in ["n = 1;", "m++;", "x = n + 1;", "// n++;", "", "f(n);"] {
        assert!(!updates(code), "{code}");
    }
}
