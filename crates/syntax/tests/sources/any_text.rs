//! Whatever the text is, every question has an answer: truncated and garbled sources of this repository are asked
//! everything.

use crate::support::{Chance, rounds, sources};
use std::ops::Range;
use syntax::{FieldModifier, LineMap, Position, Source, TextEdit, Thing, apply};

/// What is put into sources: what opens and closes, what is not ASCII, and what ends a line.
const PIECES: [&str; 26] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "\"",
    "'",
    "\"\"\"",
    "/*",
    "*/",
    "//",
    ";",
    "\\",
    "\r",
    "\n",
    "\r\n",
    "\t",
    "é",
    "𝒳",
    "\u{0}",
    "synchronized (x) {",
    "class A {",
    "->",
    "case",
    "\u{feff}",
];

#[test]
fn no_text_makes_it_panic() {
    let mut chance = Chance::new();
    for (_, text) in sources() {
        let mut source = Source::parse(text.as_str());
        for _ in 0..rounds() {
            let garbled = garbled(&text, &mut chance);
            source = source.edited(garbled.as_str());
            ask(&source, &mut chance);
            let truncated = &text[..chance.place(&text)];
            ask(&Source::parse(truncated), &mut chance);
        }
    }
}

#[test]
fn texts_of_nothing_but_pieces_are_asked_too() {
    let mut chance = Chance::new();
    for size in 0..200 {
        let text: String = (0..size % 40).map(|_| chance.one_of(&PIECES)).collect();
        ask(&Source::parse(text), &mut chance);
    }
}

#[test]
fn a_correct_source_is_the_same_however_it_came_about() {
    let mut chance = Chance::new();
    for (path, text) in sources() {
        let anew = Source::parse(text.as_str());
        for _ in 0..rounds() {
            let back = Source::parse(garbled(&text, &mut chance)).edited(text.as_str());
            assert_eq!(back.is_correct(), anew.is_correct(), "{}", path.display());
            assert_eq!(back.classes(), anew.classes(), "{}", path.display());
            assert_eq!(back.fields(), anew.fields(), "{}", path.display());
            assert_eq!(back.methods(), anew.methods(), "{}", path.display());
        }
    }
}

fn garbled(text: &str, chance: &mut Chance) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + chance.below(4) {
        let (a, b) = (chance.place(&text), chance.place(&text));
        match chance.below(3) {
            0 => text.insert_str(a, chance.one_of(&PIECES)),
            1 => text.replace_range(a.min(b)..a.max(b), ""),
            _ => {
                let end =
                    text[a..].char_indices().nth(1 + chance.below(9)).map_or(text.len(), |(at, _)| a + at);
                text.replace_range(a..end, chance.one_of(&PIECES));
            }
        }
    }
    text
}

fn ask(source: &Source, chance: &mut Chance) {
    source.is_balanced();
    let _ = source.is_correct();
    let text = source.text().to_string();
    for field in source.fields() {
        all_in(source, field.name_range);
        made(
            source,
            source
                .add_field_modifier(&field, chance.one_of(&[FieldModifier::Volatile, FieldModifier::Final])),
        );
    }
    for method in source.methods() {
        all_in(source, method.range);
        made(source, source.make_synchronized(&method));
    }
    for _ in 0..6 {
        let line = chance.below(source.line_count() as usize + 2) as u32;
        let at = Position::new(line, chance.below(80) as u32);
        let other = source.position(chance.place(&text));
        source.is_plainly_assigned(at);
        all_in_some(source, source.statement_at(line));
        all_in_some(source, source.statement_around(at));
        source.method_at(line);
        for position in [at, other] {
            if let Some(Thing::Field { range, .. } | Thing::Member { range, .. }) =
                source.what_is_at(position)
            {
                all_in(source, range);
            }
        }
        made(source, source.suppress(line, "race", "it is so"));
        made(source, source.wrap_in_synchronized(syntax::Range::new(at, other), "this"));
        made(source, source.wrap_in_synchronized(syntax::Range::new(other, other), "this"));
        made(source, source.wrap_value_in_synchronized(syntax::Range::new(other, other), "this"));
        made(source, source.swap_locks(at, other));
    }
    let locks: Vec<Position> =
        text.match_indices("synchronized").map(|(at, _)| source.position(at)).collect();
    locks.windows(2).for_each(|two| made(source, source.swap_locks(two[0], two[1])));
    let other = garbled(&text, chance);
    let map = LineMap::between(&text, &other);
    (0..source.line_count() + 2).for_each(|line| assert!(line == 0 || map.map(line) > 0));
}

fn all_in(source: &Source, range: syntax::Range) -> Range<usize> {
    let span = source.offset(range.start)..source.offset(range.end);
    assert!(span.start <= span.end && source.text().get(span.clone()).is_some());
    span
}

fn all_in_some(source: &Source, range: Option<syntax::Range>) {
    if let Some(range) = range {
        assert!(!all_in(source, range).is_empty());
    }
}

fn made(source: &Source, edits: Option<Vec<TextEdit>>) {
    if let Some(edits) = edits {
        assert!(!edits.is_empty());
        assert_ne!(apply(source.text(), &edits), **source.text());
    }
}
