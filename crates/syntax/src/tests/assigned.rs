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
