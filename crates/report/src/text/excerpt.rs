//! Finds in the source what a line number only hints at, and cuts out the lines to show. Works on text
//! alone: a wrong guess costs a less exact underline, never a wrong line.

use annotate_snippets::{Annotation, AnnotationKind, Snippet};
use findings::{AccessKind, Finding, Site};
use std::ops::Range;

/// One source file, by lines.
pub(crate) struct Source {
    text: String,
    /// Where each line begins and ends.
    lines: Vec<Range<usize>>,
}

/// A stretch of one line; the line counts from 1, the range is in bytes of that line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub line: usize,
    range: Range<usize>,
}

/// A span with what to say about it.
pub(crate) struct Mark {
    pub span: Span,
    pub label: String,
    pub kind: AnnotationKind,
}

/// What an access touches, as far as the source can show it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'a> {
    Field(&'a str),
    /// Elements of an array.
    Elements,
    Unnamed,
}

impl<'a> Target<'a> {
    pub fn of(finding: &'a Finding) -> Target<'a> {
        match finding.field.as_deref() {
            Some(field) if field.ends_with("[]") => Target::Elements,
            Some(field) => Target::Field(field.rsplit('.').next().unwrap_or(field)),
            None => Target::Unnamed,
        }
    }
}

impl Source {
    pub fn new(text: String) -> Source {
        let mut begin = 0;
        let lines = text.split_inclusive('\n').map(|piece| {
            let at = begin;
            begin += piece.len();
            at..at + piece.lines().next().unwrap_or_default().len()
        });
        Source { lines: lines.collect(), text }
    }

    /// What happens at this site: the access, the lock that is wanted, or the statement.
    pub fn site(&self, site: &Site, target: Target<'_>) -> Option<Span> {
        let line = site.place.line;
        match (site.access, &site.acquires) {
            (AccessKind::Read | AccessKind::Write, _) => self.access(line, target, site.access),
            (_, Some(wants)) => self.lock(line, &wants.name),
            (_, None) => self.access(line, Target::Unnamed, site.access),
        }
    }

    /// First column of the span and the one after it, counted from 1 in UTF-16 units, as editors and web pages do.
    pub fn columns(&self, span: &Span) -> Range<usize> {
        let line = self.at(span.line);
        let column = |at: usize| line[..at].encode_utf16().count() + 1;
        column(span.range.start)..column(span.range.end)
    }

    /// Where the target is read or written on this line; the whole statement if it is not seen there.
    /// `None` if the source has no such line: it is not the one that was compiled.
    pub fn access(&self, line: u32, target: Target<'_>, access: AccessKind) -> Option<Span> {
        let (line, text) = self.line(line)?;
        let code = code(text);
        let seen = match target {
            Target::Field(name) => fields(code, name),
            Target::Elements => elements(code),
            Target::Unnamed => vec![],
        };
        let range = meant(code, &seen, access).unwrap_or_else(|| trimmed(code));
        (!range.is_empty()).then_some(Span { line, range })
    }

    /// What takes a lock at this line: a `synchronized` block, the header of a synchronised method whose
    /// body begins here, or the whole statement. Of several blocks on the line, the one that names the lock.
    pub fn lock(&self, line: u32, name: &str) -> Option<Span> {
        let (line, text) = self.line(line)?;
        let code = code(text);
        let found = match synchronized(code, name) {
            Some(range) => Span { line, range },
            None if takes_lock(code) => Span { line, range: trimmed(code) },
            None => self.header_above(line, name).unwrap_or(Span { line, range: trimmed(code) }),
        };
        (!found.range.is_empty()).then_some(found)
    }

    /// The lines from the first to the last mark.
    pub fn snippet(&self, path: String, marks: Vec<Mark>) -> Snippet<'static, Annotation<'static>> {
        let first = marks.iter().map(|mark| mark.span.line).min().unwrap_or(1);
        let last = marks.iter().map(|mark| mark.span.line).max().unwrap_or(1);
        let mut text = String::new();
        let starts: Vec<usize> = (first..=last)
            .map(|line| {
                let start = text.len();
                text.push_str(self.at(line));
                text.push('\n');
                start
            })
            .collect();
        let annotations = marks.into_iter().map(|Mark { span, label, kind }| {
            let start = starts[span.line - first];
            kind.span(start + span.range.start..start + span.range.end).label(label)
        });
        Snippet::source(text).path(path).line_start(first).annotations(annotations.collect::<Vec<_>>())
    }

    fn line(&self, line: u32) -> Option<(usize, &str)> {
        let line = line as usize;
        let range = self.lines.get(line.checked_sub(1)?)?;
        Some((line, &self.text[range.clone()]))
    }

    fn at(&self, line: usize) -> &str {
        &self.text[self.lines[line - 1].clone()]
    }

    /// Class files know the first statement of a method but not its header: between the two there is no
    /// `;` and no `}`.
    fn header_above(&self, line: usize, name: &str) -> Option<Span> {
        for above in (1..line).rev() {
            let code = code(self.at(above));
            if code.trim_start().starts_with(['*', '/']) {
                continue;
            }
            if let Some(range) = synchronized(code, name) {
                return Some(Span { line: above, range });
            }
            if code.contains([';', '}']) {
                return None;
            }
        }
        None
    }
}

/// The line without a trailing comment. A `//` inside a string mostly follows a colon, not a space.
fn code(line: &str) -> &str {
    line.match_indices("//")
        .find(|(at, _)| {
            line[..*at].chars().next_back().is_none_or(|c| c.is_whitespace() || ";{})".contains(c))
        })
        .map_or(line, |(at, _)| &line[..at])
}

fn trimmed(code: &str) -> Range<usize> {
    let start = code.len() - code.trim_start().len();
    start..code.trim_end().len().max(start)
}

fn takes_lock(code: &str) -> bool {
    let code = code.to_ascii_lowercase();
    code.contains("lock") || code.contains("acquire")
}

/// `synchronized (lock)`, or the bare word in a method header (Kotlin: `@Synchronized`).
fn synchronized(code: &str, name: &str) -> Option<Range<usize>> {
    let simple = name.rsplit('.').next().unwrap_or(name);
    let all =
        words(code, "synchronized").chain(words(code, "Synchronized")).map(|word| with_lock(code, word));
    let (naming, others): (Vec<_>, Vec<_>) =
        all.partition(|range| words(&code[range.clone()], simple).next().is_some());
    naming.into_iter().chain(others).next()
}

/// The word and the parentheses after it.
fn with_lock(code: &str, word: Range<usize>) -> Range<usize> {
    let rest = &code[word.end..];
    if !rest.trim_start().starts_with('(') {
        return word;
    }
    let mut depth = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return word.start..word.end + at + 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    word.start..trimmed(code).end
}

/// Of several candidates, an assigned one for a write and another for a read.
fn meant(code: &str, seen: &[Range<usize>], access: AccessKind) -> Option<Range<usize>> {
    let right_kind = seen.iter().find(|range| assigned(code, range) == (access == AccessKind::Write));
    right_kind.or(seen.first()).cloned()
}

fn fields(code: &str, name: &str) -> Vec<Range<usize>> {
    words(code, name).filter(|word| !code[word.end..].trim_start().starts_with('(')).collect()
}

/// `name[index]`, but neither `int[]` nor `new int[size]`.
fn elements(code: &str) -> Vec<Range<usize>> {
    let element = |(open, _): (usize, &str)| {
        let name = code[..open].trim_end_matches(inside_word);
        let close = open + code[open..].find(']')?;
        let is_type = name.len() == open || close == open + 1 || name.trim_end().ends_with("new");
        (!is_type).then_some(name.len()..close + 1)
    };
    code.match_indices('[').filter_map(element).collect()
}

fn assigned(code: &str, word: &Range<usize>) -> bool {
    let before = code[..word.start].trim_end();
    let after = code[word.end..].trim_start();
    let steps = |text: &str| text.starts_with("++") || text.starts_with("--");
    let operator = after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    let assigns = operator.starts_with('=') && !operator.starts_with("==");
    let compares = after.starts_with("<=") || after.starts_with(">=");
    (assigns && !compares) || steps(after) || before.ends_with("++") || before.ends_with("--")
}

fn words<'c>(code: &'c str, word: &'c str) -> impl Iterator<Item = Range<usize>> + 'c {
    code.match_indices(word).map(|(at, _)| at..at + word.len()).filter(move |range| {
        !code[..range.start].chars().next_back().is_some_and(inside_word)
            && !code[range.end..].chars().next().is_some_and(inside_word)
    })
}

fn inside_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccessKind::{Read, Write};

    /// The line with `[ ]` around what is underlined.
    fn shown(text: &str, span: Option<Span>) -> String {
        let Some(Span { line, range }) = span else { return "none".to_owned() };
        let text = text.lines().nth(line - 1).unwrap();
        format!("{line}: {}[{}]{}", &text[..range.start], &text[range.clone()], &text[range.end..])
    }

    fn access(code: &str, access: AccessKind) -> String {
        shown(code, Source::new(code.to_owned()).access(1, Target::Field("n"), access))
    }

    #[test]
    fn a_write_is_the_assigned_name_and_a_read_is_another() {
        assert_eq!(access("n = n + 1;", Write), "1: [n] = n + 1;");
        assert_eq!(access("n = n + 1;", Read), "1: n = [n] + 1;");
        assert_eq!(access("m = n; n = m;", Write), "1: m = n; [n] = m;");
        assert_eq!(access("if (n == 0 || n <= 1) n <<= 2;", Write), "1: if (n == 0 || n <= 1) [n] <<= 2;");
        assert_eq!(access("int m = n + --n;", Write), "1: int m = n + --[n];");
        assert_eq!(access("n++;", Read), "1: [n]++;");
    }

    #[test]
    fn only_the_whole_name_counts_and_not_a_method_of_that_name() {
        assert_eq!(access("nn = n() + this.n;", Read), "1: nn = n() + this.[n];");
        assert_eq!(access("ñn = x$n;", Write), "1: [ñn = x$n;]");
    }

    #[test]
    fn without_the_name_the_statement_is_underlined_and_its_comment_is_not() {
        assert_eq!(access("  list.add(x); // n is safe", Write), "1:   [list.add(x);] // n is safe");
        assert_eq!(access("  get(\"http://n\");", Write), "1:   get(\"http://[n]\");");
        let text = "  list.add(x);";
        assert_eq!(
            shown(text, Source::new(text.to_owned()).access(1, Target::Unnamed, Write)),
            "1:   [list.add(x);]"
        );
    }

    #[test]
    fn array_elements_are_underlined_and_array_types_are_not() {
        let elements =
            |code, access| shown(code, Source::new(code.to_owned()).access(1, Target::Elements, access));
        assert_eq!(elements("int[] b = {a[i], c}; d[j]++;", Read), "1: int[] b = {[a[i]], c}; d[j]++;");
        assert_eq!(elements("int[] b = {a[i], c}; d[j]++;", Write), "1: int[] b = {a[i], c}; [d[j]]++;");
        assert_eq!(elements("x = new int[n];", Write), "1: [x = new int[n];]");
        assert_eq!(elements("a[", Write), "1: [a[]");
    }

    #[test]
    fn columns_count_as_editors_do() {
        let text = "/* 𝒳 é */ n = 1;";
        let source = Source::new(text.to_owned());
        let span = source.access(1, Target::Field("n"), Write).expect("a span");
        assert_eq!(source.columns(&span), 12..13);
    }

    #[test]
    fn lines_that_are_not_there_have_no_span() {
        let source = Source::new("a\n   \n".to_owned());
        assert_eq!(source.access(0, Target::Unnamed, Write), None);
        assert_eq!(source.access(2, Target::Unnamed, Write), None);
        assert_eq!(source.access(3, Target::Unnamed, Write), None);
        assert_eq!(source.lock(9, "a"), None);
    }

    #[test]
    fn a_lock_is_the_synchronized_head_or_the_locking_statement() {
        let lock = |code| shown(code, Source::new(code.to_owned()).lock(1, "app.Main.b"));
        assert_eq!(lock("  synchronized (a(b)) { x(); }"), "1:   [synchronized (a(b))] { x(); }");
        assert_eq!(lock("  synchronized (a("), "1:   [synchronized (a(]");
        assert_eq!(lock("  mutex.lock();"), "1:   [mutex.lock();]");
        assert_eq!(
            lock("synchronized (a) { synchronized (b) {"),
            "1: synchronized (a) { [synchronized (b)] {"
        );
        assert_eq!(
            lock("synchronized (x) { synchronized (y) {"),
            "1: [synchronized (x)] { synchronized (y) {"
        );
    }

    #[test]
    fn the_lock_of_a_synchronised_method_is_taken_in_its_header() {
        let method = "int a;\nsynchronized void m()\n    throws X {\n  // synchronized\n  n++;\n  n--;\n}";
        assert_eq!(
            shown(method, Source::new(method.to_owned()).lock(5, "this")),
            "2: [synchronized] void m()"
        );
        assert_eq!(shown(method, Source::new(method.to_owned()).lock(6, "this")), "6:   [n--;]");
    }
}
