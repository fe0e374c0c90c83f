//! What stands where a caret `|` is.

use crate::{Source, Thing};

fn at(text: &str) -> String {
    let caret = text.find('|').expect("a caret");
    let text = text.replacen('|', "", 1);
    let source = Source::parse(text.as_str());
    match source.what_is_at(source.position(caret)) {
        Some(Thing::Field { class, name, range }) => {
            assert_eq!(source.offset(range.end) - source.offset(range.start), name.len());
            format!("{class}.{name}")
        }
        Some(Thing::Member { name, .. }) => format!("?.{name}"),
        Some(Thing::Method(method)) => format!("{}.{}()", method.class, method.name),
        Some(Thing::Synchronized(found)) => {
            let shown = &text[source.offset(found.range.start)..source.offset(found.range.end)];
            let method = found.method.unwrap_or_else(|| "-".to_owned());
            format!("{} {method} {}: {shown}", found.class, found.lock)
        }
        None => "-".to_owned(),
    }
}

/// Inside a method of `p.A`, which has a field `x`.
fn within(code: &str) -> String {
    at(&format!("package p; class A extends Z {{ int x; void f(int p, R r) {{ {code} }} }}"))
}

#[test]
fn a_field_is_known_where_it_is_declared() {
    assert_eq!(at("package p; class A { int |x, y; }"), "p.A.x");
    assert_eq!(at("package p; class A { int x, y|; }"), "p.A.y");
    assert_eq!(at("class A { class B { int x|x; } }"), "A$B.xx");
    assert_eq!(at("record R(int |x) { }"), "R.x");
    assert_eq!(at("enum E { |A { } }"), "E.A");
    assert_eq!(at("interface I { int |X = 1; }"), "I.X");
}

#[test]
fn a_field_is_known_where_it_is_used() {
    for code in [
        "|x++;",
        "this.|x = 1;",
        "this.x| = 1;",
        "A.this.|x = 1;",
        "A.|x = 1;",
        "g(() -> |x);",
        "y[|x] = 1;",
        "return |x;",
        "|x.f();",
        "|x::f;",
        "int z = |x;",
        "g(|x",
    ] {
        assert_eq!(within(code), "p.A.x", "{code}");
    }
    assert_eq!(within("new B() { int x; int g() { return |x; } };"), "p.A$1.x");
    assert_eq!(within("new B() { int y; int g() { return |x; } };"), "p.A.x");
    assert_eq!(within("new B() { int x; int g() { return A.this.|x; } };"), "p.A.x");
    assert_eq!(
        at("class A { static class B { int x; } class C extends A.B { void f() { |x = super.x; } } }"),
        "A$B.x"
    );
    assert_eq!(
        at("class A { static class B { int x; } class C extends B { void f() { x = super.|x; } } }"),
        "A$B.x"
    );
    assert_eq!(at("record R(int x) { int f() { return |x; } }"), "R.x");
}

#[test]
fn a_local_variable_is_no_field() {
    for code in [
        "int x = 1; |x++;",
        "int x = |x;",
        "int |x;",
        "for (int x = 0; |x < 1; ) { }",
        "for (int x : y) { |x++; }",
        "try (A x = y) { |x.f(); }",
        "try { } catch (E x) { |x.f(); }",
        "g(x -> |x);",
        "g((x, y) -> |x);",
        "g((int x) -> { |x++; });",
        "g(|x -> 1);",
        "if (y instanceof B x) { |x.f(); }",
        "if (y instanceof B x && |x.f()) { }",
        "if (!(y instanceof B x)) return; |x.f();",
        "switch (y) { case B x -> |x.f(); }",
        "switch (y) { case B x when |x.f() -> { } }",
        "switch (y) { case R(int x, var z) -> g(|x); }",
        "switch (y) { case 1: int x = 2; case 2: |x++; }",
        "class L { void g() { int x; |x++; } }",
        "|p++;",
        "x: for (;;) { break |x; }",
    ] {
        assert_eq!(within(code), "-", "{code}");
    }
    assert_eq!(at("record R(int x) { R { |x = 1; } }"), "-");
    assert_eq!(at("record R(int x) { R { this.|x = x; } }"), "R.x");
    assert_eq!(at("class A { int x; void f(int... x) { |x = null; } }"), "-");
}

#[test]
fn a_variable_is_seen_only_where_it_is_in_scope() {
    for code in [
        "{ int x = 1; } |x++;",
        "|x++; int x = 1;",
        "for (int x = 0; ; ) { } |x++;",
        "for (int x : |x) { }",
        "try (A x = y) { } finally { |x.f(); }",
        "try { } catch (E x) { } |x++;",
        "g(x -> x, |x);",
        "if (y instanceof B x) { } |x.f();",
        "switch (y) { case B x -> { } default -> |x.f(); }",
    ] {
        assert_eq!(within(code), "p.A.x", "{code}");
    }
}

#[test]
fn whose_member_it_is_is_not_guessed() {
    assert_eq!(within("r.|x = 1;"), "?.x");
    assert_eq!(within("f().|x = 1;"), "?.x");
    assert_eq!(within("this.|y = 1;"), "?.y");
    assert_eq!(within("|y = 1;"), "?.y");
    assert_eq!(within("super.|x = 1;"), "?.x");
    assert_eq!(within("this.r.|x = 1;"), "?.x");
}

#[test]
fn names_of_other_things_are_no_fields() {
    for code in [
        "|x();",
        "this.|x();",
        "y::|x;",
        "x.y.Z| z;",
        "@B(|x = 1) int y;",
        "// |x",
        "\"|x\";",
        "new |X();",
        "|",
        "  |  ",
    ] {
        assert_eq!(within(code), "-", "{code}");
    }
    assert_eq!(at("import a.|x;"), "-");
    assert_eq!(at("package |x;"), "-");
    assert_eq!(at("class |x { int x; }"), "-");
    assert_eq!(at("|"), "-");
}

#[test]
fn a_method_is_known_where_it_is_declared() {
    assert_eq!(at("package p; class A { void |f() { } }"), "p.A.f()");
    assert_eq!(at("package p; class A { A|() { } }"), "p.A.A()");
}

#[test]
fn what_is_synchronised_is_told_at_the_word_and_at_the_lock() {
    for code in [
        "|synchronized (x.y()) { }",
        "sync|hronized (x.y()) { }",
        "synchronized (|x.y()) { }",
        "synchronized (x.|y()) { }",
    ] {
        assert_eq!(within(code), "p.A f x.y(): synchronized (x.y())", "{code}");
    }
    assert_eq!(within("synchronized (this) { |x++; }"), "p.A.x");
    assert_eq!(at("class A { private |synchronized void f() { } }"), "A f this: synchronized");
    assert_eq!(
        at("class A { class B { static |synchronized void f() { } } }"),
        "A$B f B.class: synchronized"
    );
    assert_eq!(at("class A { { synchronized (|x) { } } }"), "A - x: synchronized (x)");
    assert_eq!(
        at("class A { void f() { new B() { Object o = g(() -> { synchronized (|x) { } }); }; } }"),
        "A$1 - x: synchronized (x)"
    );
}

#[test]
fn columns_after_other_scripts_are_right() {
    assert_eq!(at("class Ä { int größe; String s = \"𝒳𝒳\"; int f() { return /* 𝒳 */ |größe; } }"), "Ä.größe");
    assert_eq!(at("class A {\r\n\tint x;\r\n\tint f() { return this.|x; }\r\n}"), "A.x");
}
