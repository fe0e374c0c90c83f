//! Bytes, lines and columns are told apart.

use crate::{Position, Source};

#[test]
fn columns_count_utf_16_units_and_offsets_count_bytes() {
    let source = Source::parse("é𝒳n\n\tx");
    for (offset, line, character) in
        [(0, 0, 0), (2, 0, 1), (6, 0, 3), (7, 0, 4), (8, 1, 0), (9, 1, 1), (10, 1, 2)]
    {
        let position = Position::new(line, character);
        assert_eq!(source.position(offset), position, "{offset}");
        assert_eq!(source.offset(position), offset, "{position:?}");
    }
}

#[test]
fn what_is_between_two_characters_belongs_to_the_first_of_them() {
    let source = Source::parse("é𝒳n");
    assert_eq!(source.position(1), Position::new(0, 0));
    assert_eq!(source.position(4), Position::new(0, 1));
    assert_eq!(source.offset(Position::new(0, 2)), 2);
}

#[test]
fn what_is_outside_is_taken_for_the_nearest_end() {
    let source = Source::parse("ab\ncd");
    assert_eq!(source.offset(Position::new(0, 99)), 2);
    assert_eq!(source.offset(Position::new(9, 0)), 5);
    assert_eq!(source.position(99), Position::new(1, 2));
    let empty = Source::parse("");
    assert_eq!((empty.position(3), empty.offset(Position::new(1, 1))), (Position::new(0, 0), 0));
}

#[test]
fn lines_end_in_three_ways() {
    let source = Source::parse("a\r\nb\rc\nd");
    assert_eq!(source.line_count(), 4);
    let lines: Vec<&str> = (0..5).map(|line| source.line(line)).collect();
    assert_eq!(lines, ["a", "b", "c", "d", ""]);
    assert_eq!(source.position(3), Position::new(1, 0));
    assert_eq!(source.offset(Position::new(0, 9)), 1);
}
