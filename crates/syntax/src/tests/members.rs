//! Fields and methods are found with all that is known of them.

use crate::{Range, Source};

fn text_of(source: &Source, range: Range) -> String {
    source.text()[source.offset(range.start)..source.offset(range.end)].to_owned()
}

fn fields(text: &str) -> Vec<String> {
    let source = Source::parse(text);
    let shown = |field: crate::FieldDeclaration| {
        assert_eq!(text_of(&source, field.name_range), field.name);
        let initialiser = if field.has_initialiser { " =" } else { "" };
        format!(
            "{} {} {}.{}{initialiser}",
            field.modifiers.join(" "),
            field.type_text,
            field.class,
            field.name
        )
    };
    source.fields().into_iter().map(shown).collect()
}

fn methods(text: &str) -> Vec<String> {
    let source = Source::parse(text);
    let shown = |method: crate::MethodDeclaration| {
        assert_eq!(text_of(&source, method.name_range), method.name);
        let flags = [(method.is_static, "S"), (method.is_abstract, "A"), (method.is_constructor, "C")];
        let flags: String = flags.into_iter().filter(|(is, _)| *is).map(|(_, flag)| flag).collect();
        let body = method.body.map(|body| text_of(&source, body)).unwrap_or_default();
        format!("{flags} {}.{}({}) {body}", method.class, method.name, method.parameters.join(", "))
    };
    source.methods().into_iter().map(shown).collect()
}

#[test]
fn fields_are_told_with_their_types_and_modifiers() {
    assert_eq!(
        fields(
            "class A { @X(1) private static volatile int a = 1, b[]; Map<String, ? extends List<int [ ]>> m; }"
        ),
        [
            "private static volatile int A.a =",
            "private static volatile int[] A.b",
            " Map<String, ? extends List<int[]>> A.m",
        ]
    );
    assert_eq!(fields("interface I { int X = 1; }"), [" int I.X ="]);
    assert_eq!(fields("enum E { A, B; int x; }"), [" int E.x"]);
    assert_eq!(fields("record R(int x) { static int y; }"), ["static int R.y"]);
    assert_eq!(fields("class A { void f() { int x; new B() { int y; }; } }"), [" int A$1.y"]);
}

#[test]
fn a_declaration_is_told_as_a_whole() {
    let source = Source::parse("class A {\n  @X\n  private int a,\n    b;\n}");
    let field = &source.fields()[1];
    assert_eq!(text_of(&source, field.range), "@X\n  private int a,\n    b;");
}

#[test]
fn methods_are_told_with_their_parameters_and_bodies() {
    assert_eq!(
        methods(
            "class A { A(int x) { } static <T> void f(final T[] a, int b[], String... c) { } abstract int g(A this); native int h(); }"
        ),
        ["C A.A(int) { }", "S A.f(T[], int[], String...) { }", "A A.g() ", " A.h() "]
    );
    assert_eq!(methods("interface I { void f(); default void g() { } }"), ["A I.f() ", " I.g() { }"]);
    assert_eq!(methods("record R(int x) { R { } }"), ["C R.R() { }"]);
    assert_eq!(methods("enum E { A { void f() { } }; void f() { } }"), [" E$1.f() { }", " E.f() { }"]);
}

#[test]
fn the_innermost_method_has_a_line() {
    let text = "class A {\n  @X\n  void f(\n    int x) {\n    new B() {\n      void g() { }\n    };\n  }\n\n  void h() { }\n}\n";
    let source = Source::parse(text);
    let names: Vec<String> =
        (0..12).map(|line| source.method_at(line).map_or("-".to_owned(), |method| method.name)).collect();
    assert_eq!(names.join(" "), "- f f f f g f f - h - -");
}
