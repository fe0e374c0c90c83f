//! What is code and what is not, also where nothing is closed.

use super::*;

/// The text with every byte that is no code as a dot.
fn code(text: &str) -> String {
    let lexed = Lexed::of(text);
    let shown =
        |(at, c): (usize, char)| if lexed.within(at..at + 1).next().is_none() || c == '\n' { c } else { '.' };
    text.char_indices().map(shown).collect()
}

#[test]
fn comments_and_literals_are_no_code() {
    for (text, expected) in [
        ("a // b\nc", "a ....\nc"),
        ("a /* b\n// c */ d", "a ....\n....... d"),
        ("a / b", "a / b"),
        ("s = \"a\\\"//b\" + '\"' + c", "s = ........ + ... + c"),
        ("'\\'' x", ".... x"),
        ("\"\"\"\n a \" \\\"\"\" b\n\"\"\" x", "...\n...........\n... x"),
        ("\"\" x", ".. x"),
        ("", ""),
    ] {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn what_is_not_closed_ends_with_its_line_or_with_the_text() {
    assert_eq!(code("\"a b\nc"), "....\nc");
    assert_eq!(code("'a\nc"), "..\nc");
    assert_eq!(code("x /* a\nb"), "x ....\n.");
    assert_eq!(code("\"\"\"a\nb"), "....\n.");
    assert_eq!(code("\"a\\"), "...");
    assert!(!Lexed::of("\"a").pieces[0].is_closed);
    assert!(Lexed::of("// a").pieces[0].is_closed);
}

#[test]
fn the_parser_is_shown_what_follows_an_open_string() {
    let closed = |text: &str| Lexed::of(text).closed(&Arc::from(text)).to_string();
    assert_eq!(closed("a \"é\nb"), "a 0  \nb");
    assert_eq!(closed("f(\"a);\nb"), "f(0 );\nb");
    assert_eq!(closed("a '\nb"), "a 0\nb");
    assert_eq!(closed("\"\"\"\nb"), "0  \nb");
    assert_eq!(closed("a /* b\nc"), "a     \nc");
    assert_eq!(closed("a\rb\r\nc"), "a\nb\r\nc");
    assert_eq!(closed("a \"b\" c"), "a \"b\" c");
}

#[test]
fn the_code_of_a_line_has_no_comments_around_it() {
    let shown = |text: &str| {
        let lexed = Lexed::of(text);
        text[lexed.code(text, 0..text.len())].to_owned()
    };
    assert_eq!(shown("  /* a */ b /* c */ d; // e"), "b /* c */ d;");
    assert_eq!(shown("/* a */ /* b */ // c"), "");
    assert_eq!(shown("  \"// a\" /* b"), "\"// a\"");
    let text = "/* a\n b */ c; /* d\n";
    assert_eq!(&text[Lexed::of(text).code(text, 5..text.len() - 1)], "c;");
}
