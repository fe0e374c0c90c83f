//! What is marked on a line; `[ ]` stands around it.

use crate::Access::{Read, Write};
use crate::{Access, Range, Source};

fn shown(text: &str, range: Option<Range>) -> String {
    let Some(range) = range else { return "none".to_owned() };
    let source = Source::parse(text);
    assert_eq!(range.start.line, range.end.line);
    let (start, end) = (source.offset(range.start), source.offset(range.end));
    let line = source.offset(crate::Position::new(range.start.line, 0));
    let rest = source.line(range.start.line)[end - line..].to_owned();
    format!("{}: {}[{}]{rest}", range.start.line, &text[line..start], &text[start..end])
}

fn field(code: &str, access: Access) -> String {
    shown(code, Source::parse(code).token_range(0, "n", access))
}

#[test]
fn a_write_is_the_assigned_name_and_a_read_is_another() {
    assert_eq!(field("n = n + 1;", Write), "0: [n] = n + 1;");
    assert_eq!(field("n = n + 1;", Read), "0: n = [n] + 1;");
    assert_eq!(field("m = n; n = m;", Write), "0: m = n; [n] = m;");
    assert_eq!(field("if (n == 0 || n <= 1) n <<= 2;", Write), "0: if (n == 0 || n <= 1) [n] <<= 2;");
    assert_eq!(field("int m = n + --n;", Write), "0: int m = n + --[n];");
    assert_eq!(field("n++;", Read), "0: [n]++;");
}

#[test]
fn what_is_changed_by_a_call_comes_before_what_is_only_passed() {
    assert_eq!(field("f(n); n.add(m);", Write), "0: f(n); [n].add(m);");
    assert_eq!(field("f(n.m); n .add (m);", Write), "0: f(n.m); [n] .add (m);");
    assert_eq!(field("f(n); n.add(m);", Read), "0: f([n]); n.add(m);");
}

#[test]
fn only_the_whole_name_counts_and_not_a_method_of_that_name() {
    assert_eq!(field("nn = n() + this.n;", Read), "0: nn = n() + this.[n];");
    assert_eq!(field("ñn = x$n;", Write), "0: [ñn = x$n;]");
}

#[test]
fn a_word_in_a_comment_or_a_literal_is_no_use() {
    assert_eq!(field("f(\"n\", 'n', /* n */ n); // n = 1", Write), "0: f(\"n\", 'n', /* n */ [n]); // n = 1");
    assert_eq!(field("  list.add(x); // n is safe", Write), "0:   [list.add(x);] // n is safe");
    assert_eq!(field("  get(\"http://n\");", Write), "0:   [get(\"http://n\");]");
}

#[test]
fn without_a_name_all_code_of_the_line_is_marked() {
    let text = "  /* a */ list.add(x); /* b */";
    assert_eq!(
        shown(text, Source::parse(text).token_range(0, "", Write)),
        "0:   /* a */ [list.add(x);] /* b */"
    );
}

#[test]
fn array_elements_are_marked_and_array_types_are_not() {
    let elements = |code, access| shown(code, Source::parse(code).token_range(0, "A.b[]", access));
    assert_eq!(elements("int[] b = {a[i], c}; d[j]++;", Read), "0: int[] b = {[a[i]], c}; d[j]++;");
    assert_eq!(elements("int[] b = {a[i], c}; d[j]++;", Write), "0: int[] b = {a[i], c}; [d[j]]++;");
    assert_eq!(elements("x = new int[n];", Write), "0: [x = new int[n];]");
    assert_eq!(elements("f(\"a[1]\"); a[", Write), "0: [f(\"a[1]\"); a[]");
}

#[test]
fn columns_count_as_editors_do() {
    let range = Source::parse("/* 𝒳 é */ n = 1;").token_range(0, "n", Write).expect("a range");
    assert_eq!((range.start.character, range.end.character), (11, 12));
}

#[test]
fn lines_without_code_have_no_mark() {
    let source = Source::parse("a\n   \n// c\n/*\nn\n*/");
    assert!(source.token_range(0, "n", Read).is_some());
    for line in [1, 2, 3, 4, 5, 6, u32::MAX] {
        assert_eq!(source.token_range(line, "n", Write), None, "{line}");
        assert_eq!(source.lock_range(line, "n"), None, "{line}");
    }
}

#[test]
fn a_lock_is_the_synchronized_head_or_the_locking_statement() {
    let lock = |code: &str| shown(code, Source::parse(code).lock_range(0, "app.Main.b"));
    assert_eq!(lock("  synchronized (a(b)) { x(); }"), "0:   [synchronized (a(b))] { x(); }");
    assert_eq!(lock("  synchronized (a(\")\")) { x(); }"), "0:   [synchronized (a(\")\"))] { x(); }");
    assert_eq!(lock("  synchronized (a("), "0:   [synchronized (a(]");
    assert_eq!(lock("  mutex.lock();"), "0:   [mutex.lock();]");
    assert_eq!(lock("synchronized (a) { synchronized (b) {"), "0: synchronized (a) { [synchronized (b)] {");
    assert_eq!(lock("synchronized (x) { synchronized (y) {"), "0: [synchronized (x)] { synchronized (y) {");
}

#[test]
fn the_lock_of_a_synchronised_method_is_taken_in_its_header() {
    let method = "int a;\nsynchronized void m()\n    throws X {\n  // synchronized;\n  n++;\n  n--;\n}";
    assert_eq!(shown(method, Source::parse(method).lock_range(4, "this")), "1: [synchronized] void m()");
    assert_eq!(shown(method, Source::parse(method).lock_range(5, "this")), "5:   [n--;]");
}
