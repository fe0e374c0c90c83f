//! Classes have the names that compilers give them.

use crate::Source;

fn classes(text: &str) -> Vec<String> {
    Source::parse(text).classes()
}

#[test]
fn members_are_named_with_the_class_around_them() {
    let text = "package a . b /* c */ . c;\nclass Outer<T> { interface Inner { enum Deep { X } } record R(int x) { @interface A { } } }\nclass Other { }";
    let expected = [
        "a.b.c.Outer",
        "a.b.c.Outer$Inner",
        "a.b.c.Outer$Inner$Deep",
        "a.b.c.Outer$R",
        "a.b.c.Outer$R$A",
        "a.b.c.Other",
    ];
    assert_eq!(classes(text), expected);
    assert_eq!(classes("class A { }"), ["A"]);
}

#[test]
fn anonymous_classes_are_numbered_within_the_class_around_them() {
    let text = "class A { Object a = new Object() { Object b = new B(new C() { }) { }; }; void f() { run(() -> new Object() { }); } class D { Object e = new E() { }; } }";
    assert_eq!(classes(text), ["A", "A$1", "A$1$1", "A$1$2", "A$2", "A$D", "A$D$1"]);
}

#[test]
fn local_classes_have_a_number_and_a_name() {
    let text = "class A { void f() { class L { class M { } } record R(int x) { } } void g() { class L { } switch (1) { default: enum E { } } } A() { class L { } } }";
    assert_eq!(classes(text), ["A", "A$1L", "A$1L$M", "A$1R", "A$2L", "A$1E", "A$3L"]);
}

#[test]
fn constants_with_bodies_are_anonymous_classes() {
    let text = "enum E { A { int x; }, B(1) { }, C; E(int... x) { } Runnable r = new Runnable() { public void run() { } }; }";
    assert_eq!(classes(text), ["E", "E$1", "E$2", "E$3"]);
}

#[test]
fn sealed_classes_are_read() {
    let text = "sealed interface S permits S.A, S.B { record A(int x) implements S { } non-sealed class B implements S { } }";
    assert!(Source::parse(text).is_correct());
    assert_eq!(classes(text), ["S", "S$A", "S$B"]);
}

#[test]
fn classes_are_found_in_code_that_is_being_written() {
    for text in [
        "package p; class A { int x; void f() { x. } }",
        "package p; class A { int x; void f() { if (x > 0) { x++; } ",
        "package p;\nclass A { Object o = \"abc;\n int x; void f() { x++; } }",
        "package p;\nclass A { /* open\n int x; void f() { x++; } }",
        "package p; class A { int x; void f( void g() { x = 1; } }",
    ] {
        let source = Source::parse(text);
        assert_eq!(source.classes(), ["p.A"], "{text}");
        assert!(source.fields().iter().any(|field| field.name == "x"), "{text}");
    }
}

#[test]
fn an_edited_source_is_the_one_parsed_anew() {
    let steps = [
        "class A { int x; }",
        "class A { int x; void f() { x++; } }",
        "class A { int x; void f() { x++; \"é𝒳 } }\nclass B { }",
        "class A { int x; void f() { x++; y(\"é𝒳\"); } }\nclass B { int z; }",
        "",
        "// nothing\r\nclass C { }",
        "// nothing\rclass C { }",
        "class C { }",
    ];
    let mut source = Source::parse("");
    for text in steps {
        source = source.edited(text);
        let anew = Source::parse(text);
        assert_eq!(source.root().to_sexp(), anew.root().to_sexp(), "{text}");
        assert_eq!((source.fields(), source.methods()), (anew.fields(), anew.methods()), "{text}");
    }
}

#[test]
fn deep_nesting_costs_no_stack() {
    let deep =
        format!("class A {{ int x; int f() {{ return {}x{}; }} }}", "(".repeat(50_000), ")".repeat(50_000));
    let source = Source::parse(deep.as_str());
    assert_eq!(source.classes(), ["A"]);
    assert!(source.what_is_at(source.position(deep.rfind('x').unwrap())).is_some());
}
