//! Locks are taken in the other order, or not at all.

use crate::{Source, apply};

/// Swaps the first two `synchronized` of a method's body.
fn swapped(code: &str) -> String {
    let (head, tail) = ("class A { void f() { ", " } }");
    let text = format!("{head}{code}{tail}");
    let source = Source::parse(text.as_str());
    let places: Vec<_> = text.match_indices("synchronized").map(|(at, _)| source.position(at)).collect();
    let Some(edits) = source.swap_locks(places[0], places[1]) else { return "-".to_owned() };
    let new = apply(&text, &edits);
    assert!(Source::parse(new.as_str()).is_correct(), "{new}");
    new[head.len()..new.len() - tail.len()].to_owned()
}

#[test]
fn locks_that_are_taken_at_once_are_exchanged() {
    for (code, expected) in [
        (
            "synchronized (a) { synchronized (b.c()) { x++; } }",
            "synchronized (b.c()) { synchronized (a) { x++; } }",
        ),
        (
            "synchronized (a) { /* c */ { synchronized (b) { } } }",
            "synchronized (b) { /* c */ { synchronized (a) { } } }",
        ),
    ] {
        assert_eq!(swapped(code), expected);
    }
}

#[test]
fn locks_around_other_code_stay_where_they_are() {
    for code in [
        "synchronized (a) { B b = a.b; synchronized (b) { } }",
        "synchronized (a) { synchronized (b) { } x++; }",
        "synchronized (a) { if (c) synchronized (b) { } }",
        "synchronized (a) { } synchronized (b) { }",
        "synchronized (a) { synchronized (a) { } }",
        "synchronized (a = b) { synchronized (a) { } }",
        "synchronized (a) { synchronized (b ) { x( } }",
    ] {
        assert_eq!(swapped(code), "-", "{code}");
    }
}

#[test]
fn locks_further_in_can_be_exchanged_too() {
    let text = "class A { void f() { synchronized (a) { synchronized (b) { synchronized (c) { } } } } }";
    let source = Source::parse(text);
    let at = |lock: &str| source.position(text.find(lock).expect("the lock"));
    let edits = source.swap_locks(at("(a)"), at("(c)")).expect("edits");
    assert_eq!(
        apply(text, &edits),
        "class A { void f() { synchronized (c) { synchronized (b) { synchronized (a) { } } } } }"
    );
    assert_eq!(source.swap_locks(at("(c)"), at("(a)")), None);
    assert_eq!(source.swap_locks(at("(a)"), at("(a)")), None);
    assert_eq!(source.swap_locks(at("void"), at("(a)")), None);
}
