//! What sources say to Snarl: comments `// snarl: ignore …` and `@SuppressWarnings`, each with the code that it is about.
//! Knows nothing of findings, nor whether there are any.

use crate::declared::{Declared, Kind, declared};
use crate::lexed::{Comment, Lexed, Token, lex};
use crate::sources::source_text;
use crate::stamp::Stamp;
use findings::{Covers, Note, Rule, Suppression};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// What one file or several say.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    pub suppressions: Vec<Suppression>,
    /// What cannot be understood.
    pub notes: Vec<Note>,
}

/// What files said when they were read last; those that have not changed since are not read again.
#[derive(Default)]
pub struct Memory {
    files: FxHashMap<PathBuf, (Stamp, Option<Arc<Said>>)>,
    /// Files are taken to be as they were when they were looked at.
    trusts: bool,
    /// Texts that count instead of files, and what they say once somebody has asked.
    texts: FxHashMap<PathBuf, (Arc<str>, Asked)>,
}

/// Nothing before somebody has asked; then what is said, if anything.
type Asked = Option<Option<Arc<Said>>>;

impl Memory {
    /// Reads this instead of the file from now on.
    pub fn hold(&mut self, path: &Path, text: Arc<str>) {
        self.texts.insert(path.to_path_buf(), (text, None));
    }

    /// Reads the file again.
    pub fn release(&mut self, path: &Path) {
        self.texts.remove(path);
    }

    /// Whether files need not be looked at: whoever asks is told when one has changed. A thousand looks take
    /// milliseconds.
    pub fn trust(&mut self, trusts: bool) {
        self.trusts = trusts;
    }

    /// What a file says, if anything. `shown` is how users call it.
    pub(crate) fn said(&mut self, path: &Path, shown: impl FnOnce() -> String) -> Option<Arc<Said>> {
        let name = path.file_name()?.to_str()?;
        if let Some((text, said)) = self.texts.get_mut(path) {
            return said.get_or_insert_with(|| said_in(name, text, shown)).clone();
        }
        if let Some((_, said)) = self.files.get(path).filter(|_| self.trusts) {
            return said.clone();
        }
        let (stamp, now) = (Stamp::of(path).ok()?, SystemTime::now());
        if let Some((_, said)) = self.files.get(path).filter(|(before, _)| *before == stamp) {
            return said.clone();
        }
        let said = said_in(name, &source_text(path)?, shown);
        if stamp.is_sure(now) {
            self.files.insert(path.to_path_buf(), (stamp, said.clone()));
        }
        said
    }
}

fn said_in(name: &str, text: &str, shown: impl FnOnce() -> String) -> Option<Arc<Said>> {
    may_say(text).then(|| Arc::new(read(name, text, &shown())))
}

/// Whether a text may say anything: most say nothing, and need not be read any further.
fn may_say(text: &str) -> bool {
    text.contains("snarl:") || text.contains("@SuppressWarnings") && text.contains("snarl")
}

/// What one file says.
pub struct Said {
    /// How findings call it: `bank/Account.java` for a file of that name in the package `bank`.
    pub file: String,
    /// The classes it declares: `bank/Account$Entry`.
    pub classes: Vec<String>,
    pub remarks: Remarks,
}

/// What a text says, of a file of this name.
pub fn remarks_in(name: &str, text: &str) -> Remarks {
    read(name, text, name).remarks
}

/// `shown` is how users call the file.
pub fn read(name: &str, text: &str, shown: &str) -> Said {
    let Lexed { tokens, comments } = lex(text);
    let package = package(&tokens);
    let mut all = declared(&tokens, !name.ends_with(".java"));
    name_top(&mut all, name);
    let within = |name: &str| package.iter().copied().chain([name]).collect::<Vec<_>>().join("/");
    let classes = all.iter().map(|one| within(&one.owner)).collect();
    let file = within(name);
    let mut reader = Reader {
        package: package.join("."),
        file: file.clone(),
        shown,
        tokens: &tokens,
        declared: all,
        out: Remarks::default(),
    };
    comments.into_iter().for_each(|comment| reader.comment(comment));
    reader.annotations();
    Said { file, classes, remarks: reader.out }
}

/// Kotlin puts what is declared outside of classes into one that is named like the file.
fn name_top(all: &mut [Declared], name: &str) {
    let Some(stem) = name.strip_suffix(".kt") else { return };
    for one in all.iter_mut().filter(|one| one.owner.is_empty()) {
        one.owner = format!("{stem}Kt");
    }
}

fn package<'t>(tokens: &[Token<'t>]) -> Vec<&'t str> {
    let Some(at) = tokens.iter().position(|token| token.text == "package") else { return Vec::new() };
    let mut parts = Vec::new();
    for pair in tokens[at + 1..].chunks(2) {
        match pair {
            [part, rest @ ..] if part.is_word() => {
                parts.push(part.text);
                if rest.first().is_none_or(|dot| dot.text != ".") {
                    break;
                }
            }
            _ => break,
        }
    }
    parts
}

struct Reader<'t> {
    package: String,
    file: String,
    shown: &'t str,
    tokens: &'t [Token<'t>],
    declared: Vec<Declared>,
    out: Remarks,
}

impl Reader<'_> {
    fn comment(&mut self, comment: Comment<'_>) {
        let Some(said) = comment.text.trim_start_matches('/').trim_start().strip_prefix("snarl:") else {
            return;
        };
        if let Err(why) = self.command(said.trim(), comment.line) {
            self.malformed(comment.line, &why);
        }
    }

    /// `ignore race, deadlock -- reason`.
    fn command(&mut self, said: &str, line: u32) -> Result<(), String> {
        const FORM: &str = "write `// snarl: ignore RULE -- reason`";
        let (command, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
        if !["ignore", "ignore-class"].contains(&command) {
            return Err(format!("unknown command `{command}`; {FORM}"));
        }
        let (names, reason) = rest.split_once("--").ok_or_else(|| format!("it has no reason; {FORM}"))?;
        let reason = reason.trim();
        if reason.is_empty() {
            return Err(format!("it has no reason; {FORM}"));
        }
        let names: Vec<&str> =
            names.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            return Err(format!("it names no rule; {FORM}"));
        }
        let Some(rules) = self.rules(&names, line) else { return Ok(()) };
        let target = self.target(line).ok_or("no code follows it")?;
        let covers = match command {
            "ignore-class" => self.class(target),
            _ => self.code(target),
        }?;
        self.suppress(rules, covers, reason.to_owned(), line);
        Ok(())
    }

    /// The rules that are known, none in particular for all; `None` if there are none. The others are told.
    fn rules(&mut self, names: &[&str], line: u32) -> Option<Vec<Rule>> {
        if names.contains(&"all") {
            return Some(Vec::new());
        }
        let mut rules = Vec::new();
        for name in names {
            match Rule::named(name) {
                Some(rule) => rules.push(rule),
                None => self.unknown_rule(name, line),
            }
        }
        (!rules.is_empty()).then_some(rules)
    }

    /// The line with code that a comment is about: its own, or the next.
    fn target(&self, line: u32) -> Option<u32> {
        self.tokens.iter().map(|token| token.line).find(|&at| at >= line)
    }

    /// What is declared on a line, or has annotations on it.
    fn declared_on(&self, line: u32) -> impl Iterator<Item = &Declared> {
        self.declared.iter().filter(move |one| (one.from..=one.at).contains(&line))
    }

    fn class(&self, line: u32) -> Result<Vec<Covers>, String> {
        let class = self.declared_on(line).find(|one| one.kind == Kind::Class);
        let class = class.ok_or("no class is declared here; `ignore-class` stands at the head of one")?;
        Ok(self.covers(class))
    }

    /// The fields and methods that are declared there, otherwise the line itself.
    fn code(&self, line: u32) -> Result<Vec<Covers>, String> {
        let members: Vec<&Declared> = self.declared_on(line).filter(|one| one.kind != Kind::Class).collect();
        if members.is_empty() && self.declared_on(line).next().is_some() {
            return Err("a class is declared here; write `ignore-class` to leave out all of it".to_owned());
        }
        let own = Covers::Lines { file: self.file.clone(), from: line, to: line };
        Ok(members.into_iter().flat_map(|one| self.covers(one)).chain([own]).collect())
    }

    fn covers(&self, one: &Declared) -> Vec<Covers> {
        let lines = Covers::Lines { file: self.file.clone(), from: one.from, to: one.to };
        let owner = if self.package.is_empty() {
            one.owner.clone()
        } else {
            format!("{}.{}", self.package, one.owner)
        };
        match one.kind {
            Kind::Class => vec![lines, Covers::FieldsOf(owner)],
            Kind::Method => vec![lines],
            Kind::Field => vec![Covers::Field(format!("{owner}.{}", one.name))],
        }
    }

    /// `@SuppressWarnings("snarl:race")`, which is not in the class file.
    fn annotations(&mut self) {
        let tokens = self.tokens;
        for at in 0..tokens.len() {
            let [sign, name, open, ..] = &tokens[at..] else { return };
            if sign.text != "@" || name.text != "SuppressWarnings" || open.text != "(" {
                continue;
            }
            let values = tokens[at + 3..].iter().take_while(|token| token.text != ")");
            let values: Vec<&str> = values.map(|token| token.text.trim_matches('"')).collect();
            if let Some(rules) = self.named(&values, sign.line) {
                let about = self.declared_on(sign.line).min_by_key(|one| one.kind == Kind::Class);
                let covers = about.map(|one| self.covers(one)).unwrap_or_default();
                self.suppress(rules, covers, "@SuppressWarnings".to_owned(), sign.line);
            }
        }
    }

    /// What values that begin with `snarl` mean; those of other tools are their business.
    fn named(&mut self, values: &[&str], line: u32) -> Option<Vec<Rule>> {
        if values.contains(&"snarl") {
            return Some(Vec::new());
        }
        let ours: Vec<&str> = values.iter().filter_map(|value| value.strip_prefix("snarl:")).collect();
        self.rules(&ours, line)
    }

    fn suppress(&mut self, rules: Vec<Rule>, covers: Vec<Covers>, reason: String, line: u32) {
        let place = format!("{}:{line}", self.shown);
        self.out.suppressions.push(Suppression { rules, covers, reason, place });
    }

    fn malformed(&mut self, line: u32, why: &str) {
        let message = format!("{}:{line} suppresses nothing: {why}", self.shown);
        self.note("malformed-suppression", message);
    }

    fn unknown_rule(&mut self, name: &str, line: u32) {
        let known = Rule::ALL.map(Rule::id).join(", ");
        let message =
            format!("{}:{line} names the rule `{name}`, which there is not; there are {known}", self.shown);
        self.note("unknown-rule", message);
    }

    fn note(&mut self, kind: &str, message: String) {
        self.out.notes.push(Note { kind: kind.to_owned(), message, count: 1 });
    }
}

#[cfg(test)]
#[path = "tests/remarks.rs"]
mod tests;
