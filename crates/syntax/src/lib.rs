//! Java source text as a tree: what is declared where, what a line means, and the text edits that would repair
//! something. Knows nothing of analysis, editors or files, and no text makes it panic.

mod assigned;
mod at;
mod balance;
mod blank;
mod edits;
mod lexed;
mod line_map;
mod members;
mod outline;
mod position;
mod scope;
mod statement;
mod tree;
mod uses;

pub use at::{Synchronized, Thing};
pub use blank::{without_comments, without_comments_and_literals};
pub use edits::{FieldModifier, TextEdit, Wrapping, apply};
pub use line_map::LineMap;
pub use members::{FieldDeclaration, MethodDeclaration};
pub use position::{Position, Range};
pub use uses::FieldUse;

use lexed::Lexed;
use outline::Outline;
use position::{Lines, Span};
use std::sync::{Arc, OnceLock};
use tree_sitter::{InputEdit, Node, Parser, Point, Tree};

/// One source file. Lines count from 0, as in [`Position`]; only [`LineMap`] counts from 1, as class files do.
#[derive(Debug, Clone)]
pub struct Source {
    text: Arc<str>,
    lines: Lines,
    lexed: Lexed,
    /// What was parsed, see [`Lexed::closed`].
    parsed: Arc<str>,
    tree: Tree,
    outline: OnceLock<Outline>,
}

impl Source {
    pub fn parse(text: impl Into<Arc<str>>) -> Source {
        Source::after(None, text.into())
    }

    /// The source after an edit: only what differs is parsed again.
    pub fn edited(&self, text: impl Into<Arc<str>>) -> Source {
        Source::after(Some(self), text.into())
    }

    fn after(before: Option<&Source>, text: Arc<str>) -> Source {
        let lexed = Lexed::of(&text);
        let parsed = lexed.closed(&text);
        let tree = parse(&parsed, before);
        Source { lines: Lines::of(&text), text, lexed, parsed, tree, outline: OnceLock::new() }
    }

    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Whether the whole text is Java as the grammar knows it.
    pub fn is_correct(&self) -> bool {
        !self.root().has_error() && self.lexed.is_closed()
    }

    /// How many lines there are; one more than there are line ends.
    pub fn line_count(&self) -> u32 {
        self.lines.count() as u32
    }

    /// A line without its end; empty if there is no such line.
    pub fn line(&self, line: u32) -> &str {
        &self.text[self.lines.span(&self.text, line)]
    }

    /// Where a byte of the text is; the end for one after it.
    pub fn position(&self, offset: usize) -> Position {
        self.lines.position(&self.text, offset)
    }

    /// The byte at a position; the end of the line, or of the text, for one after that.
    pub fn offset(&self, position: Position) -> usize {
        self.lines.offset(&self.text, position)
    }

    pub(crate) fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start), end: self.position(span.end) }
    }

    /// In order, whatever the range says.
    pub(crate) fn span(&self, range: Range) -> Span {
        let start = self.offset(range.start);
        start..self.offset(range.end).max(start)
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    pub(crate) fn text_of(&self, node: Node<'_>) -> &str {
        tree::text(&self.text, node)
    }

    pub(crate) fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::of(self.root(), &self.text))
    }
}

fn parse(text: &str, before: Option<&Source>) -> Tree {
    /// Positions in a tree have 32 bits; what needs more is not a program that anybody wrote.
    const LONGEST: usize = i32::MAX as usize;
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_java::LANGUAGE.into()).expect("a grammar that the parser can read");
    let text = if text.len() > LONGEST { "" } else { text };
    let before = before.filter(|before| before.parsed.len() <= LONGEST).map(|before| shifted(before, text));
    parser.parse(text, before.as_ref()).expect("a tree, as nobody stops the parser")
}

/// The old tree, with what differs marked in it.
fn shifted(before: &Source, text: &str) -> Tree {
    let (old, new) = difference(&before.parsed, text);
    let mut tree = before.tree.clone();
    tree.edit(&InputEdit {
        start_byte: old.start,
        old_end_byte: old.end,
        new_end_byte: new.end,
        start_position: point(&before.parsed, old.start),
        old_end_position: point(&before.parsed, old.end),
        new_end_position: point(text, new.end),
    });
    tree
}

/// Where two texts differ: the shortest stretch of each such that the rest is the same.
fn difference(old: &str, new: &str) -> (Span, Span) {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let same = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    (start..old.len() - same, start..new.len() - same)
}

/// Lines as the parser counts them, which has one end of line only.
fn point(text: &str, offset: usize) -> Point {
    let before = &text.as_bytes()[..offset];
    let row = before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    Point::new(row, offset - start)
}
