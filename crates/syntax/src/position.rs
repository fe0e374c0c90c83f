//! Where something is: bytes of the text, and lines with columns as editors count them. Knows nothing of what is there.

/// Bytes of the text.
pub(crate) type Span = std::ops::Range<usize>;

/// A place between two characters. Both numbers count from 0, the second in UTF-16 units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub line: u32,
    pub character: u32,
}

/// From a place to a place; the character after the end does not belong to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

impl Position {
    pub fn new(line: u32, character: u32) -> Position {
        Position { line, character }
    }
}

impl Range {
    pub fn new(start: Position, end: Position) -> Range {
        Range { start, end }
    }

    /// Whether a place is inside or at either end.
    pub fn contains(&self, position: Position) -> bool {
        self.start <= position && position <= self.end
    }
}

/// Where the lines of a text begin.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub fn of(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = |(at, byte): (usize, &u8)| match byte {
            b'\n' => Some(at + 1),
            b'\r' if bytes.get(at + 1) != Some(&b'\n') => Some(at + 1),
            _ => None,
        };
        Lines { starts: std::iter::once(0).chain(bytes.iter().enumerate().filter_map(ends)).collect() }
    }

    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// A line without its end; nothing at the end of the text if there is no such line.
    pub fn span(&self, text: &str, line: u32) -> Span {
        let Some(&start) = self.starts.get(line as usize) else { return text.len()..text.len() };
        let end = self.starts.get(line as usize + 1).copied().unwrap_or(text.len());
        start..start + text[start..end].trim_end_matches(['\n', '\r']).len()
    }

    /// The line that a byte is on.
    pub fn line(&self, offset: usize) -> u32 {
        (self.starts.partition_point(|&start| start <= offset) - 1) as u32
    }

    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let line = self.line(offset);
        let start = self.starts[line as usize];
        Position { line, character: text[start..offset].encode_utf16().count() as u32 }
    }

    pub fn offset(&self, text: &str, position: Position) -> usize {
        let line = self.span(text, position.line);
        let mut left = position.character as usize;
        for (at, c) in text[line.clone()].char_indices() {
            if left < c.len_utf16() {
                return line.start + at;
            }
            left -= c.len_utf16();
        }
        line.end
    }
}

#[cfg(test)]
#[path = "tests/position.rs"]
mod tests;
