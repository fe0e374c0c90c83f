//! Finds in the source what a line number only hints at, and cuts out the lines to show. Works on text, and for Java
//! on its syntax tree where a name stands more than once on a line; a wrong guess costs a less exact underline.

use annotate_snippets::{Annotation, AnnotationKind, Snippet};
use findings::{AccessKind, Finding, Site};
use std::ops::Range;
use std::sync::OnceLock;

/// One source file, by lines.
pub(crate) struct Source {
    text: String,
    /// The same with blanks instead of comments, and instead of literals too.
    code: String,
    names: String,
    is_java: bool,
    /// Parsed when it is first asked.
    tree: OnceLock<syntax::Source>,
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
        finding.field.as_deref().map_or(Target::Unnamed, Target::of_field)
    }

    pub fn of_field(field: &'a str) -> Target<'a> {
        match field.ends_with("[]") {
            true => Target::Elements,
            false => Target::Field(field.rsplit('.').next().unwrap_or(field)),
        }
    }
}

impl Source {
    /// `file` tells the language.
    pub fn new(text: String, file: &str) -> Source {
        let mut begin = 0;
        let lines = text.split_inclusive('\n').map(|piece| {
            let at = begin;
            begin += piece.len();
            at..at + piece.lines().next().unwrap_or_default().len()
        });
        let (code, names) = (syntax::without_comments(&text), syntax::without_comments_and_literals(&text));
        let lines = lines.collect();
        Source { text, code, names, is_java: file.ends_with(".java"), tree: OnceLock::new(), lines }
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
        let at = self.line(line)?;
        let line = line as usize;
        let (code, names) = (&self.code[at.clone()], &self.names[at]);
        let seen = match target {
            Target::Field(name) => self.uses(line, name),
            Target::Elements => with_assigned(names, elements(names)),
            Target::Unnamed => vec![],
        };
        let range = meant(&seen, access).unwrap_or_else(|| trimmed(code));
        (!range.is_empty()).then_some(Span { line, range })
    }

    /// Where a line may use a field of this name, each with whether it is assigned there.
    fn uses(&self, line: usize, name: &str) -> Vec<(Range<usize>, bool)> {
        let at = self.lines[line - 1].clone();
        let (text, names) = (&self.text[at.clone()], &self.names[at]);
        let mut seen = fields(names, name);
        if seen.is_empty() && !self.is_java {
            seen = in_templates(text, name);
        }
        match u32::try_from(line - 1) {
            // Locals, parameters and fields of one name: the tree knows which is which.
            Ok(number) if seen.len() > 1 && self.is_java => {
                let tree = self.tree.get_or_init(|| syntax::Source::parse(self.text.as_str()));
                let is_same_line = tree.line(number) == text;
                let uses = if is_same_line { tree.field_uses_on(number, name) } else { vec![] };
                match uses.is_empty() {
                    true => with_assigned(names, seen),
                    false => uses.into_iter().map(|one| (one.columns, one.is_assigned)).collect(),
                }
            }
            _ => with_assigned(names, seen),
        }
    }

    /// What takes a lock at this line: a `synchronized` block, the header of a synchronised method whose
    /// body begins here, or the whole statement. Of several blocks on the line, the one that names the lock.
    pub fn lock(&self, line: u32, name: &str) -> Option<Span> {
        let code = &self.code[self.line(line)?];
        let line = line as usize;
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

    /// The bytes of a line that counts from 1.
    fn line(&self, line: u32) -> Option<Range<usize>> {
        self.lines.get((line as usize).checked_sub(1)?).cloned()
    }

    fn at(&self, line: usize) -> &str {
        &self.text[self.lines[line - 1].clone()]
    }

    /// Class files know the first statement of a method but not its header: between the two there is no
    /// `;` and no `}`.
    fn header_above(&self, line: usize, name: &str) -> Option<Span> {
        for above in (1..line).rev() {
            let code = &self.code[self.lines[above - 1].clone()];
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
fn meant(seen: &[(Range<usize>, bool)], access: AccessKind) -> Option<Range<usize>> {
    let right_kind = seen.iter().find(|(_, is_assigned)| *is_assigned == (access == AccessKind::Write));
    right_kind.or(seen.first()).map(|(range, _)| range.clone())
}

fn with_assigned(code: &str, seen: Vec<Range<usize>>) -> Vec<(Range<usize>, bool)> {
    let with = |range: Range<usize>| {
        let is_assigned = assigned(code, &range);
        (range, is_assigned)
    };
    seen.into_iter().map(with).collect()
}

/// Kotlin, Groovy and Scala: `"$n"` and `"${o.n}"`.
fn in_templates(line: &str, name: &str) -> Vec<Range<usize>> {
    let words = line.match_indices(name).map(|(at, _)| at..at + name.len());
    let is_used = |word: &Range<usize>| {
        let (before, after) = (&line[..word.start], &line[word.end..]);
        let is_inside = before.rfind("${").is_some_and(|open| !before[open..].contains('}'));
        let is_whole = before.chars().next_back().is_some_and(|c| c == '$' || is_inside && !inside_word(c));
        is_whole && !after.chars().next().is_some_and(inside_word)
    };
    words.filter(is_used).collect()
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
        shown(code, Source::new(code.to_owned(), "A.java").access(1, Target::Field("n"), access))
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
        assert_eq!(access("  get(\"http://n\");", Write), "1:   [get(\"http://n\");]");
        let text = "  list.add(x);";
        assert_eq!(
            shown(text, Source::new(text.to_owned(), "A.java").access(1, Target::Unnamed, Write)),
            "1:   [list.add(x);]"
        );
    }

    #[test]
    fn names_in_literals_and_comments_are_no_fields() {
        assert_eq!(access("log(\"n = \" + n);", Read), "1: log(\"n = \" + [n]);");
        assert_eq!(access("c = 'n'; n = c; // n = 2", Write), "1: c = 'n'; [n] = c; // n = 2");
        assert_eq!(access("/* n */ use(\"n\");", Read), "1: /* n */ [use(\"n\");]");
    }

    #[test]
    fn a_field_is_told_from_a_local_variable_of_its_name() {
        let text = "class C {\n  int n;\n  void m(int n, C o) {\n    use(n, o.n);\n  }\n}";
        let source = Source::new(text.to_owned(), "C.java");
        let span = source.access(4, Target::Field("n"), Read);
        assert_eq!(shown(text, span), "4:     use(n, o.[n]);");
    }

    #[test]
    fn a_template_is_code_where_the_language_has_them() {
        let kotlin = |code: &str| {
            let source = Source::new(code.to_owned(), "A.kt");
            shown(code, source.access(1, Target::Field("n"), Read))
        };
        assert_eq!(kotlin("println(\"n is $n\")"), "1: println(\"n is $[n]\")");
        assert_eq!(kotlin("println(\"n is ${o.n}\")"), "1: println(\"n is ${o.[n]}\")");
        assert_eq!(kotlin("println(\"n\")"), "1: [println(\"n\")]");
    }

    #[test]
    fn array_elements_are_underlined_and_array_types_are_not() {
        let elements = |code, access| {
            shown(code, Source::new(code.to_owned(), "A.java").access(1, Target::Elements, access))
        };
        assert_eq!(elements("int[] b = {a[i], c}; d[j]++;", Read), "1: int[] b = {[a[i]], c}; d[j]++;");
        assert_eq!(elements("int[] b = {a[i], c}; d[j]++;", Write), "1: int[] b = {a[i], c}; [d[j]]++;");
        assert_eq!(elements("x = new int[n];", Write), "1: [x = new int[n];]");
        assert_eq!(elements("a[", Write), "1: [a[]");
    }

    #[test]
    fn columns_count_as_editors_do() {
        let text = "/* 𝒳 é */ n = 1;";
        let source = Source::new(text.to_owned(), "A.java");
        let span = source.access(1, Target::Field("n"), Write).expect("a span");
        assert_eq!(source.columns(&span), 12..13);
    }

    #[test]
    fn lines_that_are_not_there_have_no_span() {
        let source = Source::new("a\n   \n".to_owned(), "A.java");
        assert_eq!(source.access(0, Target::Unnamed, Write), None);
        assert_eq!(source.access(2, Target::Unnamed, Write), None);
        assert_eq!(source.access(3, Target::Unnamed, Write), None);
        assert_eq!(source.lock(9, "a"), None);
    }

    #[test]
    fn a_lock_is_the_synchronized_head_or_the_locking_statement() {
        let lock = |code| shown(code, Source::new(code.to_owned(), "A.java").lock(1, "app.Main.b"));
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
            shown(method, Source::new(method.to_owned(), "A.java").lock(5, "this")),
            "2: [synchronized] void m()"
        );
        assert_eq!(shown(method, Source::new(method.to_owned(), "A.java").lock(6, "this")), "6:   [n--;]");
    }
}
