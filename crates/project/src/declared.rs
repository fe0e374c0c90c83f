//! Which classes, methods and fields a source file declares, and on which lines. Follows braces and goes by the look of
//! what stands before them: a wrong guess costs a suppression that is told to be of no use, never a wrong finding.

use crate::lexed::Token;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    pub kind: Kind,
    /// As in a class file, without numbers: `Account$Entry` for a class and what is in it, empty at the top of a file.
    pub owner: String,
    /// `balance`; for a class its own name.
    pub name: String,
    /// Where it begins, annotations included.
    pub from: u32,
    /// Where its name stands.
    pub at: u32,
    /// Where it ends.
    pub to: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Class,
    Method,
    Field,
}

const TYPES: [&str; 6] = ["class", "interface", "enum", "record", "object", "trait"];
/// A line that begins like this goes on with the one before.
const GO_ON: [&str; 9] = ["{", ".", "?", ":", "=", ")", "]", "&", "|"];

/// `newlines` where the end of a line ends a declaration, as in all of these languages but Java.
pub fn declared(tokens: &[Token<'_>], newlines: bool) -> Vec<Declared> {
    let mut reader = Reader { frames: vec![Frame::new(What::Members(String::new()))], out: Vec::new() };
    for (at, token) in tokens.iter().enumerate() {
        let is_new_line = newlines && at > 0 && tokens[at - 1].line < token.line;
        if is_new_line && !GO_ON.contains(&token.text) {
            reader.line_ends();
        }
        reader.token(*token);
    }
    let last = tokens.last().map_or(0, |token| token.line);
    while reader.frames.len() > 1 {
        reader.close(last);
    }
    reader.ends(last);
    reader.out
}

struct Reader<'t> {
    frames: Vec<Frame<'t>>,
    out: Vec<Declared>,
}

/// What is between two braces.
struct Frame<'t> {
    what: What,
    /// Since the last declaration or statement ended.
    segment: Vec<Token<'t>>,
    /// Parentheses that are open.
    depth: usize,
    /// Which of the declared things ends with it.
    declares: Option<usize>,
}

enum What {
    /// Of a class, by its name.
    Members(String),
    /// The body of a method, or a block.
    Code,
    /// A part of an expression, which goes on behind it.
    Expression(Option<String>),
}

impl<'t> Frame<'t> {
    fn new(what: What) -> Frame<'t> {
        Frame { what, segment: Vec::new(), depth: 0, declares: None }
    }

    /// The class whose members stand here.
    fn members(&self) -> Option<&str> {
        match &self.what {
            What::Members(class) | What::Expression(Some(class)) => Some(class),
            What::Code | What::Expression(None) => None,
        }
    }
}

impl<'t> Reader<'t> {
    fn top(&mut self) -> &mut Frame<'t> {
        self.frames.last_mut().unwrap_or_else(|| unreachable!("the file itself is never closed"))
    }

    fn token(&mut self, token: Token<'t>) {
        match token.text {
            "{" => self.open(token),
            "}" => self.close(token.line),
            ";" if self.top().depth == 0 => self.ends(token.line),
            text => {
                let top = self.top();
                match text {
                    "(" | "[" => top.depth += 1,
                    ")" | "]" => top.depth = top.depth.saturating_sub(1),
                    _ => {}
                }
                top.segment.push(token);
            }
        }
    }

    fn line_ends(&mut self) {
        let top = self.top();
        let Some(last) = top.segment.last() else { return };
        let is_open = top.depth > 0 || ["=", ",", ".", ":", "+", "-", "&", "|"].contains(&last.text);
        if !is_open && !is_annotation(&top.segment) {
            let line = last.line;
            self.ends(line);
        }
    }

    fn open(&mut self, brace: Token<'t>) {
        let class = self.frames.iter().rev().find_map(Frame::members).unwrap_or_default().to_owned();
        let top = self.frames.last().unwrap_or_else(|| unreachable!("the file itself is never closed"));
        let (is_member, segment) = (top.members().is_some(), top.segment.as_slice());
        let frame = if let Some((name, at)) = type_name(segment) {
            let inner = if class.is_empty() { name.to_owned() } else { format!("{class}${name}") };
            let declared = self.out.len();
            self.out.push(declare(Kind::Class, &inner, name, segment, at, brace.line));
            Frame { declares: Some(declared), ..Frame::new(What::Members(inner)) }
        } else if is_anonymous(segment) {
            Frame::new(What::Expression(Some(format!("{class}$"))))
        } else if top.depth > 0 || segment.iter().any(|token| token.text == "=") && !is_function(segment) {
            Frame::new(What::Expression(None))
        } else if let Some((name, at)) = method_name(segment).filter(|_| is_member) {
            let declared = self.out.len();
            self.out.push(declare(Kind::Method, &class, name, segment, at, brace.line));
            Frame { declares: Some(declared), ..Frame::new(What::Code) }
        } else {
            Frame::new(What::Code)
        };
        self.frames.push(frame);
    }

    fn close(&mut self, line: u32) {
        self.ends(line);
        if self.frames.len() == 1 {
            return;
        }
        let Some(frame) = self.frames.pop() else { return };
        if let Some(declared) = frame.declares {
            self.out[declared].to = line;
        }
        match frame.what {
            What::Expression(_) => {}
            What::Members(_) | What::Code => self.top().segment.clear(),
        }
    }

    /// A declaration without a body, or a statement.
    fn ends(&mut self, line: u32) {
        let top = self.top();
        top.depth = 0;
        let segment = std::mem::take(&mut top.segment);
        let Some(class) = top.members().map(str::to_owned) else { return };
        let is_header = segment.iter().any(|token| ["import", "package"].contains(&token.text));
        if type_name(&segment).is_some() || is_header {
            return;
        }
        let before_value = segment.split(|token| token.text == "=").next().unwrap_or_default();
        match method_name(before_value) {
            Some((name, at)) => self.out.push(declare(Kind::Method, &class, name, &segment, at, line)),
            None => {
                for (name, at) in field_names(&segment) {
                    self.out.push(declare(Kind::Field, &class, name, &segment, at, line));
                }
            }
        }
    }
}

fn declare(kind: Kind, owner: &str, name: &str, segment: &[Token<'_>], at: u32, to: u32) -> Declared {
    let from = segment.first().map_or(at, |token| token.line);
    Declared { kind, owner: owner.to_owned(), name: name.to_owned(), from, at, to }
}

/// Nothing but annotations so far.
fn is_annotation(segment: &[Token<'_>]) -> bool {
    unannotated(segment).is_empty()
}

/// Without the annotations in front.
fn unannotated<'s, 't>(mut segment: &'s [Token<'t>]) -> &'s [Token<'t>] {
    while let [at, name, rest @ ..] = segment
        && at.text == "@"
        && name.text != "interface"
    {
        segment = rest;
        while let [dot, _, rest @ ..] = segment
            && [".", ":"].contains(&dot.text)
        {
            segment = rest;
        }
        if segment.first().is_some_and(|token| token.text == "(") {
            segment = &segment[closing(segment)..];
        }
    }
    segment
}

/// How many tokens a parenthesis takes, with all in it.
fn closing(segment: &[Token<'_>]) -> usize {
    let mut depth = 0usize;
    for (at, token) in segment.iter().enumerate() {
        match token.text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    segment.len()
}

fn type_name<'t>(segment: &[Token<'t>]) -> Option<(&'t str, u32)> {
    let segment = unannotated(segment);
    let before = segment.iter().position(|token| ["(", "="].contains(&token.text)).unwrap_or(segment.len());
    let at = (0..before).find(|&at| {
        let is_member_of = at > 0 && segment[at - 1].text == ".";
        let is_modifier = segment.get(at + 1).is_some_and(|next| ["class", "object"].contains(&next.text));
        TYPES.contains(&segment[at].text) && !is_member_of && !is_modifier
    })?;
    match segment.get(at + 1) {
        // `record` and `object` are names, too.
        Some(name) if name.is_word() => Some((name.text, name.line)),
        None if segment[at].text == "object" && at > 0 && segment[at - 1].text == "companion" => {
            Some(("Companion", segment[at].line))
        }
        _ => None,
    }
}

/// `new Runnable()` or `object : Runnable`.
fn is_anonymous(segment: &[Token<'_>]) -> bool {
    let is_last_call = segment.last().is_some_and(|last| last.text == ")");
    let is_control =
        |token: &Token<'_>| ["if", "for", "while", "switch", "catch", "when"].contains(&token.text);
    let new = segment.iter().rposition(|token| token.text == "new");
    let is_new = is_last_call && new.is_some() && !segment.first().is_some_and(is_control);
    is_new || segment.windows(2).any(|pair| pair[0].text == "object" && pair[1].text == ":")
}

/// Kotlin, Scala: `fun f() = …`, `def f = { … }`.
fn is_function(segment: &[Token<'_>]) -> bool {
    segment.iter().any(|token| ["fun", "def"].contains(&token.text))
}

/// The word before the first parenthesis, or after `def`; not in front of a value.
fn method_name<'t>(segment: &[Token<'t>]) -> Option<(&'t str, u32)> {
    let segment = unannotated(segment);
    let def = segment.iter().position(|token| token.text == "def").and_then(|at| segment.get(at + 1));
    let open = segment.iter().position(|token| token.text == "(");
    let value = segment.iter().position(|token| token.text == "=").unwrap_or(segment.len());
    let called = open.filter(|&open| open > 0 && open < value).map(|open| &segment[open - 1]);
    let is_value = |token: &&Token<'_>| ["val", "var"].contains(&token.text);
    if segment.iter().take(value).any(|token| is_value(&token)) {
        return None;
    }
    def.or(called).filter(|name| name.is_word()).map(|name| (name.text, name.line))
}

/// `int a = 1, b;`: words before `=`, `,` or the end, with a type in front; after `val` and `var`.
fn field_names<'t>(segment: &[Token<'t>]) -> Vec<(&'t str, u32)> {
    let segment = unannotated(segment);
    if let Some(at) = segment.iter().position(|token| ["val", "var"].contains(&token.text)) {
        return segment
            .get(at + 1)
            .filter(|name| name.is_word())
            .map(|name| (name.text, name.line))
            .into_iter()
            .collect();
    }
    let (mut names, mut depth, mut is_value) = (Vec::new(), 0i32, false);
    for (at, token) in segment.iter().enumerate() {
        match token.text {
            "<" | "(" | "[" => depth += 1,
            ">" | ")" | "]" => depth -= 1,
            _ => {}
        }
        let next = segment.get(at + 1).map_or(";", |next| next.text);
        let is_name = depth == 0 && at > 0 && token.is_word() && ["=", ",", ";", "["].contains(&next);
        let follows = !is_value || segment[at - 1].text == ",";
        if is_name && follows && !(next == "[" && is_type(segment, at)) {
            names.push((token.text, token.line));
        }
        is_value =
            depth == 0 && (is_value && token.text != "," || token.text == "=") || depth > 0 && is_value;
    }
    names
}

/// Whether a word in front of `[` is the type of what follows: `int[] a`, not `int a[]`.
fn is_type(segment: &[Token<'_>], at: usize) -> bool {
    let mut after = segment[at + 1..].iter().skip_while(|token| ["[", "]"].contains(&token.text));
    after.next().is_some_and(|next| next.is_word())
}

#[cfg(test)]
#[path = "tests/declared.rs"]
mod tests;
