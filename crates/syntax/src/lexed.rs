//! Which parts of a text are code, and which are comments or literals: this holds for any text, however broken it is
//! as a program. Knows no grammar.

use crate::position::Span;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    LineComment,
    BlockComment,
    /// A string, a character or a text block.
    Literal,
}

/// A stretch of text that is not code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub kind: Kind,
    pub span: Span,
    /// Whether it ends as it must, rather than where the line or the text ends.
    pub is_closed: bool,
}

/// All that is not code, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lexed {
    pub pieces: Vec<Piece>,
}

impl Lexed {
    pub fn of(text: &str) -> Lexed {
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(found) =
            text.as_bytes()[at..].iter().position(|byte| matches!(byte, b'"' | b'\'' | b'/'))
        {
            let start = at + found;
            at = match piece(text, start) {
                Some(piece) => {
                    let end = piece.span.end;
                    pieces.push(piece);
                    end
                }
                None => start + 1,
            };
        }
        Lexed { pieces }
    }

    /// The text for the parser, byte by byte where it was: what is not closed ends with its line, instead of hiding all
    /// that follows, a literal being a number then, and every line ends as the grammar knows it.
    pub fn closed(&self, text: &Arc<str>) -> Arc<str> {
        let mut bytes: Option<Vec<u8>> = None;
        for piece in self.pieces.iter().filter(|piece| !piece.is_closed) {
            let rest = &text[piece.span.clone()];
            let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
            // What stands at the end was most likely meant to be code.
            let hidden = piece.span.start..piece.span.start + line.trim_end_matches([')', ';', ' ']).len();
            let bytes = bytes.get_or_insert_with(|| text.as_bytes().to_vec());
            bytes[hidden.clone()].fill(b' ');
            if piece.kind == Kind::Literal {
                bytes[hidden.start] = b'0';
            }
        }
        let lone = |(at, end): (usize, &str)| (!text[at + end.len()..].starts_with('\n')).then_some(at);
        for at in text.match_indices('\r').filter_map(lone) {
            bytes.get_or_insert_with(|| text.as_bytes().to_vec())[at] = b'\n';
        }
        let changed = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        changed.map_or_else(|| text.clone(), Arc::from)
    }

    /// The piece that has this byte and the one before.
    pub fn across(&self, offset: usize) -> Option<&Piece> {
        let next = self.pieces.partition_point(|piece| piece.span.end <= offset);
        self.pieces.get(next).filter(|piece| piece.span.start < offset)
    }

    pub fn is_closed(&self) -> bool {
        self.pieces.iter().all(|piece| piece.is_closed)
    }

    /// The pieces that have any of the span.
    pub fn within(&self, span: Span) -> impl Iterator<Item = &Piece> {
        let first = self.pieces.partition_point(|piece| piece.span.end <= span.start);
        self.pieces[first..].iter().take_while(move |piece| piece.span.start < span.end)
    }

    /// The span of a line without the comments around its code, and without spaces; empty if there is no code.
    pub fn code(&self, text: &str, line: Span) -> Span {
        let is_comment = |piece: &&Piece| piece.kind != Kind::Literal;
        let blank = |from: usize, to: usize| text[from..to].trim().is_empty();
        let (mut start, mut end) = (line.start, line.end);
        let comments: Vec<&Piece> = self.within(line.clone()).filter(is_comment).collect();
        for comment in &comments {
            if comment.span.start < start || blank(start, comment.span.start) {
                start = comment.span.end.min(end);
            }
        }
        for comment in comments.iter().rev() {
            if comment.span.start >= start && (comment.span.end > end || blank(comment.span.end, end)) {
                end = comment.span.start;
            }
        }
        let code = &text[start..end];
        let start = start + code.len() - code.trim_start().len();
        start..(start + code.trim().len())
    }
}

fn piece(text: &str, start: usize) -> Option<Piece> {
    let rest = &text[start..];
    let closed = |kind, length: Option<usize>| {
        let end = length.map_or(text.len(), |length| start + length);
        Piece { kind, span: start..end, is_closed: length.is_some() }
    };
    if rest.starts_with("//") {
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        Some(closed(Kind::LineComment, Some(length)))
    } else if let Some(inside) = rest.strip_prefix("/*") {
        Some(closed(Kind::BlockComment, inside.find("*/").map(|at| at + 4)))
    } else if let Some(inside) = rest.strip_prefix("\"\"\"") {
        Some(closed(Kind::Literal, unescaped(inside, "\"\"\"").map(|at| at + 6)))
    } else if rest.starts_with(['"', '\'']) {
        let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
        let end = unescaped(&line[1..], &rest[..1]);
        let length = end.map_or(line.len(), |at| at + 2);
        Some(Piece { kind: Kind::Literal, span: start..start + length, is_closed: end.is_some() })
    } else {
        None
    }
}

/// Where a mark stands that no `\` takes the meaning from.
fn unescaped(text: &str, mark: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find(['\\', '"', '\'']) {
        at += found;
        if text[at..].starts_with(mark) {
            return Some(at);
        }
        let is_escape = text[at..].starts_with('\\');
        at += 1;
        if is_escape {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    None
}

#[cfg(test)]
#[path = "tests/lexed.rs"]
mod tests;
