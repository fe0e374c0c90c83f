//! Where on a line something is, for a reader who has a line number and a name. Works on words rather than on the
//! tree, so that it also holds in code that is being written: a wrong guess costs a less exact mark, never a wrong line.

use crate::position::Span;
use crate::{Range, Source};

/// What is done to the name that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

impl Source {
    /// Where a field is read or written on a line: its name outside of comments and literals, for a write one that is
    /// assigned or else one whose method is called, for a read one that is not assigned. The elements of any array for
    /// a name that ends with `[]`. All code of the line if there is no such name; nothing if there is no code.
    pub fn token_range(&self, line: u32, name: &str, access: Access) -> Option<Range> {
        let code = self.code(line);
        let seen = if name.ends_with("[]") { self.elements(&code) } else { self.uses(&code, name) };
        let span = self.meant(&code, seen, access).unwrap_or(code);
        (!span.is_empty()).then(|| self.range(span))
    }

    /// What takes a lock on a line: a `synchronized` block, of several the one that names the lock; the word in the
    /// header of a synchronised method whose body begins here; or all code of the line.
    pub fn lock_range(&self, line: u32, lock: &str) -> Option<Range> {
        let code = self.code(line);
        let found = match self.synchronized_head(&code, lock) {
            Some(found) => found,
            None if takes_lock(&self.text[code.clone()]) => code,
            None => self.header_above(line, lock).unwrap_or(code),
        };
        (!found.is_empty()).then(|| self.range(found))
    }

    /// The code of a line, without the comments and spaces around it.
    pub(crate) fn code(&self, line: u32) -> Span {
        self.lexed.code(&self.text, self.lines.span(&self.text, line))
    }

    /// Of several candidates, an assigned one for a write and another for a read.
    fn meant(&self, code: &Span, seen: Vec<Span>, access: Access) -> Option<Span> {
        let parts = |span: &Span| (&self.text[code.start..span.start], &self.text[span.end..code.end]);
        let assigned = |span: &&Span| is_assigned(parts(span));
        let found = match access {
            Access::Write => {
                seen.iter().find(assigned).or_else(|| seen.iter().find(|span| is_receiver(parts(span).1)))
            }
            Access::Read => seen.iter().find(|span| !assigned(span)),
        };
        found.or(seen.first()).cloned()
    }

    /// The name as a whole word, save as the name of a method.
    fn uses(&self, code: &Span, name: &str) -> Vec<Span> {
        let is_method = |word: &Span| self.text[word.end..code.end].trim_start().starts_with('(');
        self.words(code, name).filter(|word| !is_method(word)).collect()
    }

    fn words<'s>(&'s self, code: &Span, word: &'s str) -> impl Iterator<Item = Span> + 's {
        let (start, text) = (code.start, &self.text[code.clone()]);
        // An empty word would be found everywhere.
        let found = text.match_indices(word).filter(|(_, word)| !word.is_empty());
        let spans = found.map(|(at, word)| at..at + word.len());
        let whole = spans.filter(move |span| {
            !text[..span.start].ends_with(inside_word) && !text[span.end..].starts_with(inside_word)
        });
        whole
            .map(move |span| start + span.start..start + span.end)
            .filter(|span| self.lexed.is_code(span.start))
    }

    /// `name[index]`, but neither `int[]` nor `new int[size]`.
    fn elements(&self, code: &Span) -> Vec<Span> {
        let text = &self.text[code.clone()];
        let element = |(open, _): (usize, &str)| {
            let name = text[..open].trim_end_matches(inside_word);
            let close = open + text[open..].find(']')?;
            let is_type = name.len() == open || close == open + 1 || name.trim_end().ends_with("new");
            let is_code = self.lexed.is_code(code.start + open);
            (!is_type && is_code).then_some(code.start + name.len()..code.start + close + 1)
        };
        text.match_indices('[').filter_map(element).collect()
    }

    /// `synchronized (lock)`, or the bare word in the header of a method.
    fn synchronized_head(&self, code: &Span, lock: &str) -> Option<Span> {
        let simple = lock.rsplit('.').next().unwrap_or(lock);
        let all: Vec<Span> =
            self.words(code, "synchronized").map(|word| self.with_lock(code, word)).collect();
        let naming = all.iter().find(|head| self.words(head, simple).next().is_some());
        naming.or(all.first()).cloned()
    }

    /// The word and the parentheses after it.
    fn with_lock(&self, code: &Span, word: Span) -> Span {
        let rest = &self.text[word.end..code.end];
        if !rest.trim_start().starts_with('(') {
            return word;
        }
        let mut depth = 0;
        let is_code = |at: usize| self.lexed.is_code(word.end + at);
        for (at, c) in rest.char_indices().filter(|(at, _)| is_code(*at)) {
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => return word.start..word.end + at + 1,
                ')' => depth -= 1,
                _ => {}
            }
        }
        word.start..code.end
    }

    /// Class files know the first statement of a method but not its header: between the two there is no `;` and no `}`.
    fn header_above(&self, line: u32, lock: &str) -> Option<Span> {
        for above in (0..line.min(self.line_count())).rev() {
            let code = self.code(above);
            if let Some(found) = self.synchronized_head(&code, lock) {
                return Some(found);
            }
            let ends = |(at, _): (usize, &str)| self.lexed.is_code(code.start + at);
            if self.text[code.clone()].match_indices([';', '}']).any(ends) {
                return None;
            }
        }
        None
    }
}

fn takes_lock(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    code.contains("lock") || code.contains("acquire")
}

fn is_assigned((before, after): (&str, &str)) -> bool {
    let (before, after) = (before.trim_end(), after.trim_start());
    let steps = |text: &str| text.starts_with("++") || text.starts_with("--");
    let operator = after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    let assigns = operator.starts_with('=') && !operator.starts_with("==");
    let compares = after.starts_with("<=") || after.starts_with(">=");
    (assigns && !compares) || steps(after) || before.ends_with("++") || before.ends_with("--")
}

/// `.add(`.
fn is_receiver(after: &str) -> bool {
    let Some(name) = after.trim_start().strip_prefix('.') else { return false };
    name.trim_start().trim_start_matches(inside_word).trim_start().starts_with('(')
}

fn inside_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
#[path = "tests/token.rs"]
mod tests;
