//! Statements are put under a lock, and still compile.

use crate::{Range, Source, Wrapping, apply};

/// The text with `synchronized (m)` around what stands between two carets `|`, or at a single one.
fn wrapped(text: &str) -> String {
    wrapped_in(Wrapping::Synchronized, text)
}

fn wrapped_in(wrapping: Wrapping, text: &str) -> String {
    let start = text.find('|').expect("a caret");
    let rest = text.replacen('|', "", 1);
    let end = rest.find('|').unwrap_or(start);
    let text = rest.replacen('|', "", 1);
    let source = Source::parse(text.as_str());
    let range = Range::new(source.position(start), source.position(end));
    let Some(edits) = source.wrap_in(wrapping, range, "m") else { return "-".to_owned() };
    let new = apply(&text, &edits);
    assert!(Source::parse(new.as_str()).is_correct() || !source.is_correct(), "{new}");
    new
}

/// The same inside of a method.
fn within(code: &str) -> String {
    let (head, tail) = ("class A { void f() { ", " } }");
    let new = wrapped(&format!("{head}{code}{tail}"));
    new.strip_prefix(head).and_then(|new| new.strip_suffix(tail)).unwrap_or(&new).to_owned()
}

#[test]
fn statements_on_lines_of_their_own_are_indented() {
    for (text, expected) in [
        (
            "class A {\n    void f() {\n        |n++;| // a\n    }\n}",
            "class A {\n    void f() {\n        synchronized (m) {\n            n++; // a\n        }\n    }\n}",
        ),
        (
            "class A {\n\tvoid f() {\n\t\t|a();\n\n\t\t// b\n\t\tb(c,\n\t\t\td);|\n\t\te();\n\t}\n}",
            "class A {\n\tvoid f() {\n\t\tsynchronized (m) {\n\t\t\ta();\n\n\t\t\t// b\n\t\t\tb(c,\n\t\t\t\td);\n\t\t}\n\t\te();\n\t}\n}",
        ),
        (
            "class A {\r\n  void f() {\r\n    |n++;|\r\n  }\r\n}\r\n",
            "class A {\r\n  void f() {\r\n    synchronized (m) {\r\n      n++;\r\n    }\r\n  }\r\n}\r\n",
        ),
        (
            "class A {\n  void f() {\n    |s = \"\"\"\n  a\n    \"\"\";|\n  }\n}",
            "class A {\n  void f() {\n    synchronized (m) {\n      s = \"\"\"\n  a\n    \"\"\";\n    }\n  }\n}",
        ),
        (
            "class A {\n  void f() {\n    if (a)\n      |n++;|\n  }\n}",
            "class A {\n  void f() {\n    if (a)\n      synchronized (m) {\n        n++;\n      }\n  }\n}",
        ),
        (
            "class A {\n  void f() {\n    g(\"𝒳\");\n    |g(\"𝒳\"); n++;| /* 𝒳 */\n  }\n}",
            "class A {\n  void f() {\n    g(\"𝒳\");\n    synchronized (m) {\n      g(\"𝒳\"); n++; /* 𝒳 */\n    }\n  }\n}",
        ),
    ] {
        assert_eq!(wrapped(text), expected);
    }
}

#[test]
fn a_lock_with_methods_is_taken_and_given_back() {
    for (text, expected) in [
        (
            "class A {\n  void f() {\n    |n++;\n    n--;|\n  }\n}",
            "class A {\n  void f() {\n    m.lock();\n    try {\n      n++;\n      n--;\n    } finally {\n      m.unlock();\n    }\n  }\n}",
        ),
        (
            "class A { int f() { |return n;| } }",
            "class A { int f() { m.lock(); try { return n; } finally { m.unlock(); } } }",
        ),
        (
            "class A { void f() { if (a) |n++;| } }",
            "class A { void f() { if (a) { m.lock(); try { n++; } finally { m.unlock(); } } } }",
        ),
        (
            "class A { void f() { run(() -> |n++|); } }",
            "class A { void f() { run(() -> { m.lock(); try { n++; } finally { m.unlock(); } }); } }",
        ),
        ("class A { void f() { int a = |n|; g(a); } }", "-"),
    ] {
        assert_eq!(wrapped_in(Wrapping::LockAndUnlock, text), expected);
    }
}

#[test]
fn statements_beside_others_stay_on_their_line() {
    for (code, expected) in [
        ("|n++;|", "synchronized (m) { n++; }"),
        ("a(); |n++; b();|", "a(); synchronized (m) { n++; b(); }"),
        ("if (a) |n++; else b();", "if (a) synchronized (m) { n++; } else b();"),
        ("switch (a) { case 1: |n++; break;| }", "switch (a) { case 1: synchronized (m) { n++; break; } }"),
        ("|return n;|", "synchronized (m) { return n; }"),
        ("x(|n);", "synchronized (m) { x(n); }"),
        ("if (|n > 0) { a(); }", "synchronized (m) { if (n > 0) { a(); } }"),
        ("/* a */ |n++;| /* b\n */ c();", "/* a */ synchronized (m) { n++; } /* b\n */ c();"),
        ("while (true) { |continue;| }", "while (true) { synchronized (m) { continue; } }"),
    ] {
        assert_eq!(within(code), expected);
    }
}

#[test]
fn an_expression_of_a_lambda_or_a_case_gets_braces() {
    for (code, expected) in [
        ("g(() -> |n++);", "g(() -> { synchronized (m) { n++; } });"),
        ("g(() -> h(|n));", "g(() -> { synchronized (m) { h(n); } });"),
        ("g(x -> |n|);", "g(x -> { synchronized (m) { return n; } });"),
        ("g(() -> { |n++; });", "g(() -> { synchronized (m) { n++; } });"),
        ("|g(() -> n++);|", "synchronized (m) { g(() -> n++); }"),
        (
            "switch (a) { case 1 -> |n++; default -> { } }",
            "switch (a) { case 1 -> { synchronized (m) { n++; } } default -> { } }",
        ),
        (
            "int b = switch (a) { default -> |n++; }; ",
            "int b = switch (a) { default -> { synchronized (m) { yield n++; } } }; ",
        ),
        (
            "int b = switch (a) { default -> |throw new E(n); }; ",
            "int b = switch (a) { default -> { synchronized (m) { throw new E(n); } } }; ",
        ),
    ] {
        assert_eq!(within(code), expected);
    }
    assert_eq!(
        wrapped("class A { Runnable r = () -> |n++; }"),
        "class A { Runnable r = () -> { synchronized (m) { n++; } }; }"
    );
}

#[test]
fn the_value_of_a_lambda_can_be_kept() {
    let kept = |text: &str| {
        let source = Source::parse(text);
        let at = source.position(text.find('n').expect("the name"));
        let edits = source.wrap_value_in_synchronized(Range::new(at, at), "m");
        edits.map_or("-".to_owned(), |edits| apply(text, &edits))
    };
    let expected = "class A { B b = () -> { synchronized (m) { return n++; } }; }";
    assert_eq!(kept("class A { B b = () -> n++; }"), expected);
    assert_eq!(kept("class A { B b = () -> n; }"), "-");
    assert_eq!(kept("class A { void f() { n++; } }"), "-");
}

#[test]
fn a_label_stays_with_its_loop() {
    assert_eq!(within("x: |for (;;) { continue x; }|"), "synchronized (m) { x: for (;;) { continue x; } }");
}

#[test]
fn what_is_used_behind_is_not_taken_into_the_block() {
    for code in [
        "|int a = n;| b(a);",
        "|int a = n; a++;| { { b(() -> a); } }",
        "|class L { }| L a;",
        "|int m = n;|",
        "if (!(|a instanceof B b)) return; b.c();",
        "switch (a) { case 1: |int b = n;| case 2: b = 1; }",
    ] {
        assert_eq!(within(code), "-", "{code}");
    }
    assert_eq!(within("|int a = n;| b(c);"), "synchronized (m) { int a = n; } b(c);");
    assert_eq!(within("int a; |a = n;| b(a);"), "int a; synchronized (m) { a = n; } b(a);");
    assert_eq!(within("|for (int a = 0; ; ) { }| a();"), "synchronized (m) { for (int a = 0; ; ) { } } a();");
}

#[test]
fn what_is_no_statement_cannot_be_wrapped() {
    for text in [
        "class A { int a = |n++; }",
        "class A { A() { |super(1);| } }",
        "class A { |void f() { }| }",
        "|class A { }",
        "|",
        "class A { void f() { |n = ;| } }",
        "class A { void f() { g(new B() { int a = |n++; }); } }",
    ] {
        assert_eq!(wrapped(text), "-", "{text}");
    }
}

#[test]
fn only_an_expression_can_be_a_lock() {
    let source = Source::parse("class A { void f() { n++; } }");
    let range = source.statement_at(0).expect("a statement");
    for lock in ["this", "A.class", "a.b().c[1]", "Outer.this.lock", " m "] {
        assert!(source.wrap_in_synchronized(range, lock).is_some(), "{lock}");
    }
    for lock in ["", " ", "a)", "a) + (b", "a // b", "a;", "int", "a b", "/* a */", "\"a"] {
        assert_eq!(source.wrap_in_synchronized(range, lock), None, "{lock}");
    }
}
