//! Puts statements under a lock. Refuses where they would no longer compile as far as one source can tell; whether
//! the lock exists there, it does not know.

use super::TextEdit;
use crate::lexed::Kind;
use crate::position::Span;
use crate::scope::{bound, lets_through};
use crate::statement::{Run, is_list, is_statement};
use crate::tree::{self, children, is_class_body, nodes, path, role};
use crate::{Range, Source};
use tree_sitter::Node;

/// How a lock is held around statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapping {
    /// `synchronized (lock) { … }`.
    Synchronized,
    /// `lock.lock(); try { … } finally { lock.unlock(); }`.
    LockAndUnlock,
}

impl Source {
    /// Puts the statements that a range is about under a lock: those that begin there, or else the smallest around it.
    /// An expression that is all of a lambda or of a `case … ->` gets the braces that it needs.
    pub fn wrap_in(&self, wrapping: Wrapping, range: Range, lock: &str) -> Option<Vec<TextEdit>> {
        match wrapping {
            Wrapping::Synchronized => self.wrap_in_synchronized(range, lock),
            Wrapping::LockAndUnlock => self.wrap_in_lock(range, lock),
        }
    }

    fn wrap_in_lock(&self, range: Range, lock: &str) -> Option<Vec<TextEdit>> {
        let lock = lock.trim();
        let span = self.code_of(range, lock)?;
        let path = path(self.root(), &span);
        let (take, release) = (format!("{lock}.lock();"), format!("{lock}.unlock();"));
        if let Some(body) = lambda_body(&path) {
            let word = if may_be_dropped(body) { "" } else { "return " };
            let (before, after) =
                (format!("{{ {take} try {{ {word}"), format!("; }} finally {{ {release} }} }}"));
            return (!body.has_error()).then(|| self.around(&body.byte_range(), before, &after));
        }
        let run = unlabelled(self.run(&span)?, &path)?;
        if self.is_tied(&run, lock) || run.parent.kind() == "switch_rule" {
            return None;
        }
        if is_list(run.parent) && self.has_own_lines(&run.span()) {
            return Some(self.wrap_lines_in_lock(&run.span(), &take, &release));
        }
        let (open, close) = if is_list(run.parent) { ("", "") } else { ("{ ", " }") };
        let before = format!("{open}{take} try {{ ");
        Some(self.around(&run.span(), before, &format!(" }} finally {{ {release} }}{close}")))
    }

    fn wrap_lines_in_lock(&self, span: &Span, take: &str, release: &str) -> Vec<TextEdit> {
        let first = self.line_of(span.start);
        let (indent, end) = (self.indent(first), self.line_end(first));
        let step = self.indent_step(indent);
        let before = format!("{take}{end}{indent}try {{{end}{indent}{step}");
        let after = format!("{end}{indent}}} finally {{{end}{indent}{step}{release}{end}{indent}}}");
        self.indented(span, before, after)
    }

    /// Puts the statements that a range is about into `synchronized (lock) { … }`.
    pub fn wrap_in_synchronized(&self, range: Range, lock: &str) -> Option<Vec<TextEdit>> {
        let lock = lock.trim();
        let span = self.code_of(range, lock)?;
        let path = path(self.root(), &span);
        if let Some(body) = lambda_body(&path) {
            let word = if may_be_dropped(body) { "" } else { "return " };
            return self.wrap_lambda(body, lock, word);
        }
        let run = unlabelled(self.run(&span)?, &path)?;
        if self.is_tied(&run, lock) {
            return None;
        }
        match run.parent.kind() {
            "switch_rule" => self.wrap_rule(&run, lock),
            _ if self.has_own_lines(&run.span()) => Some(self.wrap_lines(&run.span(), lock)),
            _ => Some(self.around(&run.span(), format!("synchronized ({lock}) {{ "), " }")),
        }
    }

    /// The same for an expression that is all of a lambda and whose value `wrap_in_synchronized` takes to be dropped:
    /// one of the two compiles, and which one depends on types. Nothing else is wrapped.
    pub fn wrap_value_in_synchronized(&self, range: Range, lock: &str) -> Option<Vec<TextEdit>> {
        let lock = lock.trim();
        let span = self.code_of(range, lock)?;
        let body = lambda_body(&path(self.root(), &span)).filter(|body| may_be_dropped(*body))?;
        self.wrap_lambda(body, lock, "return ")
    }

    /// The code in a range, unless the lock is none.
    fn code_of(&self, range: Range, lock: &str) -> Option<Span> {
        is_expression(lock).then(|| self.lexed.code(&self.text, self.span(range)))
    }

    fn around(&self, span: &Span, before: String, after: &str) -> Vec<TextEdit> {
        vec![self.insertion(span.start, before), self.insertion(span.end, after)]
    }

    fn wrap_lambda(&self, body: Node<'_>, lock: &str, word: &str) -> Option<Vec<TextEdit>> {
        let before = format!("{{ synchronized ({lock}) {{ {word}");
        (!body.has_error()).then(|| self.around(&body.byte_range(), before, "; } }"))
    }

    /// `case 1 -> n++;`, whose value is wanted unless the switch is a statement.
    fn wrap_rule(&self, run: &Run<'_>, lock: &str) -> Option<Vec<TextEdit>> {
        let switch = run.parent.parent()?.parent()?;
        let is_dropped = switch.parent().is_some_and(|around| is_statement(around, switch));
        let gives = run.statements.iter().any(|one| one.kind() == "expression_statement");
        let word = if gives && !is_dropped { "yield " } else { "" };
        Some(self.around(&run.span(), format!("{{ synchronized ({lock}) {{ {word}"), " } }"))
    }

    /// Whether nothing but comments stands beside it on its lines.
    fn has_own_lines(&self, span: &Span) -> bool {
        let (first, last) = (self.line_of(span.start), self.line_of(span.end));
        let end = self.lines.span(&self.text, last).end;
        let rest = self.lexed.code(&self.text, span.end..end);
        self.indent(first).len() == span.start - self.lines.span(&self.text, first).start
            && rest.is_empty()
            && self.lexed.across(end).is_none()
    }

    fn wrap_lines(&self, span: &Span, lock: &str) -> Vec<TextEdit> {
        let first = self.line_of(span.start);
        let (indent, end) = (self.indent(first), self.line_end(first));
        let step = self.indent_step(indent);
        let before = format!("synchronized ({lock}) {{{end}{indent}{step}");
        self.indented(span, before, format!("{end}{indent}}}"))
    }

    /// Lines one step further in, with something before the first and behind the last.
    fn indented(&self, span: &Span, before: String, after: String) -> Vec<TextEdit> {
        let (first, last) = (self.line_of(span.start), self.line_of(span.end));
        let step = self.indent_step(self.indent(first));
        let mut edits = vec![self.insertion(span.start, before)];
        for line in first + 1..=last {
            let start = self.lines.span(&self.text, line).start;
            let is_text = self.lexed.across(start).is_some_and(|piece| piece.kind == Kind::Literal);
            if !is_text && !self.line(line).trim().is_empty() {
                edits.push(self.insertion(start, step.clone()));
            }
        }
        let last = self.lines.span(&self.text, last).end;
        edits.push(self.insertion(last, after));
        edits
    }

    /// Whether something else holds the statements where they are: what they declare is used behind them or by the
    /// lock, or they are not understood.
    fn is_tied(&self, run: &Run<'_>, lock: &str) -> bool {
        let span = run.span();
        let is_inside = |node: &Node<'_>| span.start <= node.start_byte() && node.end_byte() <= span.end;
        let inside: Vec<Node<'_>> = children(run.parent).filter(is_inside).collect();
        let is_open = self.lexed.within(span.clone()).any(|piece| !piece.is_closed);
        let is_odd = |node: &Node<'_>| node.has_error() || node.kind() == "explicit_constructor_invocation";
        if is_open || inside.iter().any(is_odd) {
            return true;
        }
        let declared: Vec<&str> = inside.iter().flat_map(|node| self.declared_by(*node)).collect();
        if declared.is_empty() || !is_list(run.parent) {
            return false;
        }
        // What one group of a `switch` declares, the next can use.
        let scope = match run.parent.kind() {
            "switch_block_statement_group" => run.parent.parent().unwrap_or(run.parent),
            _ => run.parent,
        };
        let behind = nodes(scope).filter(|node| node.start_byte() >= span.end && node.child_count() == 0);
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        behind.map(|node| self.text_of(node)).any(|word| declared.contains(&word))
            || lock.split(|c| !is_word(c)).any(|word| declared.contains(&word))
    }

    /// The names that a statement gives to what follows it.
    fn declared_by(&self, statement: Node<'_>) -> Vec<&str> {
        let names: Vec<Node<'_>> = match statement.kind() {
            "local_variable_declaration" => {
                children(statement).filter_map(|child| role(child, "name")).collect()
            }
            "if_statement" | "while_statement" if lets_through(&self.text, statement) => {
                nodes(statement).filter_map(bound).collect()
            }
            kind if kind.ends_with("_declaration") => role(statement, "name").into_iter().collect(),
            _ => Vec::new(),
        };
        names.into_iter().map(|name| self.text_of(name)).collect()
    }

    fn line_of(&self, offset: usize) -> u32 {
        self.lines.line(offset)
    }
}

/// The expression that is all of a lambda, if the path ends in it before it comes to a statement or a class.
fn lambda_body<'t>(path: &[Node<'t>]) -> Option<Node<'t>> {
    let mut upwards = path
        .windows(2)
        .rev()
        .take_while(|pair| !is_class_body(pair[1]) && !is_list(pair[1]) && !is_statement(pair[0], pair[1]));
    let is_body =
        |pair: &&[Node<'t>]| pair[0].kind() == "lambda_expression" && role(pair[0], "body") == Some(pair[1]);
    upwards.find(is_body).map(|pair| pair[1])
}

/// Whether an expression can be a statement.
fn may_be_dropped(expression: Node<'_>) -> bool {
    matches!(
        expression.kind(),
        "assignment_expression" | "update_expression" | "method_invocation" | "object_creation_expression"
    )
}

/// A label stays with its loop, or `continue` would not find it.
fn unlabelled<'t>(mut run: Run<'t>, path: &[Node<'t>]) -> Option<Run<'t>> {
    while run.parent.kind() == "labeled_statement" {
        let at = path.iter().position(|node| *node == run.parent)?;
        run = Run { parent: *path.get(at.checked_sub(1)?)?, statements: vec![run.parent] };
    }
    Some(run)
}

/// Whether a text is one expression, with nothing before or behind it.
fn is_expression(text: &str) -> bool {
    let source = Source::parse(format!("class A {{ Object o = ({text}); }}"));
    let all = "class A { Object o = ".len();
    let path = path(source.root(), &(all..all + text.len() + 2));
    let is_whole = path.last().is_some_and(|node| node.kind() == "parenthesized_expression");
    let has_comment = source.lexed.pieces.iter().any(|piece| piece.kind != Kind::Literal);
    is_whole
        && source.is_correct()
        && !has_comment
        && tree::nodes(source.root()).all(|node| !node.is_missing())
}

#[cfg(test)]
#[path = "../tests/wrap.rs"]
mod tests;
