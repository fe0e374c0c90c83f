//! Modifiers are added where convention has them.

use crate::FieldModifier::{Final, Volatile};
use crate::{FieldModifier, Source, apply};

/// The text with the first method synchronised; `-` if that is refused.
fn synchronised(text: &str) -> String {
    let source = Source::parse(text);
    let edits = source.methods().first().and_then(|method| source.make_synchronized(method));
    edits.map_or("-".to_owned(), |edits| apply(text, &edits))
}

/// The text with the first field changed.
fn changed(text: &str, modifier: FieldModifier) -> String {
    let source = Source::parse(text);
    let edits = source.fields().first().and_then(|field| source.add_field_modifier(field, modifier));
    edits.map_or("-".to_owned(), |edits| apply(text, &edits))
}

#[test]
fn a_method_is_made_synchronised() {
    for (text, expected) in [
        ("class A { void f() { } }", "class A { synchronized void f() { } }"),
        ("class A { public static void f() { } }", "class A { public static synchronized void f() { } }"),
        ("class A { public final <T> T f() { } }", "class A { public final synchronized <T> T f() { } }"),
        (
            "class A {\n  @Override\n  public void f() { }\n}",
            "class A {\n  @Override\n  public synchronized void f() { }\n}",
        ),
        ("class A {\n  @X(1)\n  void f() { }\n}", "class A {\n  @X(1)\n  synchronized void f() { }\n}"),
        ("class A { public @B C f() { } }", "class A { public synchronized @B C f() { } }"),
        ("class A { public /* a */ void f() { } }", "class A { public /* a */ synchronized void f() { } }"),
        ("class A { @B strictfp void f() { } }", "class A { @B synchronized strictfp void f() { } }"),
        (
            "record R(int x) { int f() { return 1; } }",
            "record R(int x) { synchronized int f() { return 1; } }",
        ),
        ("enum E { A { void f() { } } }", "enum E { A { synchronized void f() { } } }"),
        ("class A { void 𝒳() { } }", "class A { synchronized void 𝒳() { } }"),
    ] {
        assert_eq!(synchronised(text), expected);
        assert!(Source::parse(expected).is_correct(), "{expected}");
    }
}

#[test]
fn what_cannot_be_synchronised_is_left_alone() {
    for text in [
        "class A { A() { } }",
        "class A { synchronized void f() { } }",
        "abstract class A { abstract void f(); }",
        "interface I { void f(); }",
        "interface I { default void f() { } }",
        "interface I { static void f() { } }",
        "record R(int x) { R { } }",
        "class A { }",
    ] {
        assert_eq!(synchronised(text), "-", "{text}");
    }
}

#[test]
fn a_field_is_made_volatile_or_final() {
    for (text, modifier, expected) in [
        ("class A { int x; }", Volatile, "class A { volatile int x; }"),
        ("class A { int x = 1; }", Final, "class A { final int x = 1; }"),
        ("class A { private static int x, y; }", Volatile, "class A { private static volatile int x, y; }"),
        ("class A { private transient int x; }", Volatile, "class A { private transient volatile int x; }"),
        ("class A { private transient int x; }", Final, "class A { private final transient int x; }"),
        ("class A { transient int x; }", Final, "class A { final transient int x; }"),
        (
            "class A {\r\n\t@X\r\n\tMap<A, B> x;\r\n}",
            Volatile,
            "class A {\r\n\t@X\r\n\tvolatile Map<A, B> x;\r\n}",
        ),
    ] {
        assert_eq!(changed(text, modifier), expected);
        assert!(Source::parse(expected).is_correct(), "{expected}");
    }
}

#[test]
fn no_field_is_both_volatile_and_final() {
    for text in [
        "class A { final int x = 1; }",
        "class A { volatile int x; }",
        "interface I { int X = 1; }",
        "record R(int x) { }",
        "enum E { A }",
    ] {
        assert_eq!(changed(text, Volatile), "-", "{text}");
        assert_eq!(changed(text, Final), "-", "{text}");
    }
}

#[test]
fn a_declaration_of_another_text_is_refused() {
    let other = Source::parse("class A { int yy; void ff() { } }");
    let source = Source::parse("class A { int x; void f() { } }");
    assert_eq!(source.make_synchronized(&other.methods()[0]), None);
    assert_eq!(source.add_field_modifier(&other.fields()[0], Volatile), None);
}
