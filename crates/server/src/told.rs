//! What an analysis has come to, in the protocol's terms: underlined places by file, and findings with their places. Knows
//! nothing of sessions, nor which of it a client has seen.

use crate::uri;
use findings::{Finding, FindingsDelta, Frame, Level, LockUse, Place, Rule, Site};
use project::{Project, source_text};
use report::Sources;
use report::editor::{Editor, Stretch, Texts, files, method};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything a client may see of a folder.
#[derive(Default)]
pub struct Told {
    /// In the order of importance; shared with what was told before where it is the same.
    pub findings: Vec<Arc<Value>>,
    pub diagnostics: BTreeMap<PathBuf, Vec<Diagnostic>>,
    /// The versions of open texts that it is about, and these texts.
    pub texts: BTreeMap<PathBuf, (i32, Arc<str>)>,
    /// What the last change that changed any finding did.
    pub delta: Option<Value>,
    /// From the last change to here, and what took how long.
    pub milliseconds: f64,
    pub stages: Vec<(String, f64)>,
    /// Everything was analysed that is to be analysed.
    pub is_whole: bool,
}

/// An underlined place.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    pub range: Range,
    pub severity: u8,
    pub rule: &'static str,
    /// Of the finding.
    pub id: String,
    pub message: String,
    pub related: Vec<(PathBuf, Range, String)>,
}

/// Lines and columns count from 0, columns in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    pub start: (u32, u32),
    pub end: (u32, u32),
}

impl Range {
    pub fn json(self) -> Value {
        let point = |(line, character): (u32, u32)| json!({"line": line, "character": character});
        object([("start", point(self.start)), ("end", point(self.end))])
    }

    /// Whether the other one touches it.
    pub fn meets(self, other: Range) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

impl Diagnostic {
    pub fn json(&self, uri: &dyn Fn(&Path) -> String) -> Value {
        let related: Vec<Value> = self
            .related
            .iter()
            .map(|(path, range, message)| {
                json!({"location": {"uri": uri(path), "range": range.json()}, "message": message})
            })
            .collect();
        json!({
            "range": self.range.json(),
            "severity": self.severity,
            "code": self.rule,
            "source": "snarl",
            "message": self.message,
            "relatedInformation": related,
            "data": {"id": self.id},
        })
    }
}

/// The sources of a program as they were analysed.
pub struct Open<'a> {
    pub project: &'a Project,
    /// Texts that count instead of files, with their versions.
    pub texts: &'a BTreeMap<PathBuf, (i32, Arc<str>)>,
}

impl Open<'_> {
    /// The file of a name as findings have it; one that is not saved yet too.
    pub fn path(&self, file: &str) -> Option<PathBuf> {
        let unsaved = || self.texts.keys().find(|path| path.ends_with(file)).cloned();
        self.project.source_file(file).or_else(unsaved)
    }
}

impl Sources for Open<'_> {
    fn text(&self, file: &str) -> Option<String> {
        let path = self.path(file)?;
        match self.texts.get(&path) {
            Some((_, text)) => Some(text.to_string()),
            None => source_text(&path),
        }
    }

    fn display(&self, file: &str) -> String {
        self.path(file).map_or_else(|| file.to_owned(), |path| self.project.shown(&path))
    }
}

/// Findings in the protocol's terms, kept until they or a text they are about change.
#[derive(Default)]
pub struct Pictures {
    /// By id.
    drawn: BTreeMap<String, Picture>,
    /// What was read when some were last drawn: what is drawn next is mostly about the same files.
    texts: Texts,
}

/// A finding in the protocol's terms.
pub struct Picture {
    finding: Arc<Finding>,
    pub value: Arc<Value>,
    /// Underlined places.
    pub marks: Vec<(PathBuf, Diagnostic)>,
    /// Files it is about, as findings name them.
    files: BTreeSet<String>,
}

impl Pictures {
    /// Forgets what is about a file of this name.
    pub fn forget(&mut self, path: &Path) {
        let is_about = |picture: &Picture| picture.files.iter().any(|file| path.ends_with(file));
        self.drawn.retain(|_, picture| !is_about(picture));
        self.texts.forget(|file| path.ends_with(file));
    }

    pub fn forget_all(&mut self) {
        *self = Pictures::default();
    }

    /// Has those of these findings, and no others.
    pub fn draw(&mut self, findings: &[Arc<Finding>], open: &Open<'_>) {
        let mut before = std::mem::take(&mut self.drawn);
        let mut others: Vec<&Arc<Finding>> = Vec::new();
        for finding in findings {
            match before.remove(&finding.id) {
                Some(known) if Arc::ptr_eq(&known.finding, finding) || known.finding == *finding => {
                    self.drawn.insert(finding.id.clone(), known);
                }
                _ => others.push(finding),
            }
        }
        if others.is_empty() {
            return;
        }
        self.texts.read(others.iter().map(|finding| &***finding), open);
        let editor = Editor { texts: &self.texts, sources: open };
        let teller = Teller { open, editor, files: RefCell::default() };
        for finding in others {
            let picture = Picture {
                finding: finding.clone(),
                value: Arc::new(teller.finding(finding)),
                marks: teller.diagnostics(finding),
                files: files(finding).into_iter().map(str::to_owned).collect(),
            };
            self.drawn.insert(finding.id.clone(), picture);
        }
    }

    pub fn of(&self, finding: &Finding) -> Option<&Picture> {
        self.drawn.get(&finding.id)
    }
}

/// Puts findings into the protocol's terms.
struct Teller<'a> {
    open: &'a Open<'a>,
    editor: Editor<'a>,
    /// By the names that findings have for them.
    files: RefCell<BTreeMap<String, Option<Arc<File>>>>,
}

struct File {
    path: PathBuf,
    uri: String,
}

impl Teller<'_> {
    /// The underlined places of a finding, by file.
    fn diagnostics(&self, finding: &Finding) -> Vec<(PathBuf, Diagnostic)> {
        let severity = match finding.rule.level_at(finding.confidence) {
            Level::Error => 1,
            Level::Warning => 2,
            Level::Note => 3,
        };
        let mut found = Vec::new();
        for mark in self.editor.marks(finding) {
            let Some(file) = self.file(&mark.at.file) else { continue };
            let related = mark
                .related
                .into_iter()
                .filter_map(|(at, message)| Some((self.file(&at.file)?.path.clone(), range(&at), message)));
            let diagnostic = Diagnostic {
                range: range(&mark.at),
                severity,
                rule: finding.rule.id(),
                id: finding.id.clone(),
                message: mark.message,
                related: related.collect(),
            };
            found.push((file.path.clone(), diagnostic));
        }
        found
    }

    fn file(&self, name: &str) -> Option<Arc<File>> {
        if let Some(known) = self.files.borrow().get(name) {
            return known.clone();
        }
        let path = self.open.path(name);
        let file = path.map(|path| Arc::new(File { uri: uri::of_path(&path), path }));
        self.files.borrow_mut().insert(name.to_owned(), file.clone());
        file
    }

    fn location(&self, at: Option<Stretch>) -> Value {
        match at.and_then(|at| Some((self.file(&at.file)?, range(&at)))) {
            Some((file, range)) => object([("uri", json!(file.uri)), ("range", range.json())]),
            None => Value::Null,
        }
    }

    /// The finding as a client's program reads it.
    fn finding(&self, finding: &Finding) -> Value {
        let name = |site: &Site| {
            let held = site.holds.as_ref().or(site.acquires.as_ref())?;
            // Of objects without a name of their own the class tells most.
            let class = || Some(site.method.split('(').next()?.rsplit_once('.')?.0.to_owned());
            if held.name == "this" { class() } else { Some(held.name.clone()) }
        };
        let locks: Vec<String> = finding.sites.iter().filter_map(name).collect();
        let mut told = json!({
            "id": finding.id,
            "rule": finding.rule.id(),
            "ruleName": finding.rule.summary(),
            "confidence": finding.confidence.id(),
            "message": finding.message,
            "locks": if finding.rule == Rule::Deadlock { locks } else { Vec::new() },
            "engines": finding.engines.iter().map(|engine| engine.id()).collect::<Vec<_>>(),
            "why": finding.why,
            "fix": finding.fix,
        });
        told["sites"] = finding.sites.iter().map(|site| self.site(site, finding)).collect();
        if let Some(field) = &finding.field {
            told["field"] = json!(field);
        }
        told
    }

    fn site(&self, site: &Site, finding: &Finding) -> Value {
        let frame =
            |frame: &Frame| with_location(json!({"method": method(&frame.method)}), self.at(&frame.place));
        let told = object([
            ("access", json!(site.access.id())),
            ("method", json!(method(&site.method))),
            ("origin", json!(site.origin)),
            ("locks", site.locks.iter().map(|held| self.lock(held)).collect()),
            ("trace", site.trace.iter().map(frame).collect()),
        ]);
        let mut told = with_location(told, self.location(self.editor.site(site, finding)));
        for (name, value) in [
            ("started", site.started.as_ref().map(|place| self.at(place))),
            ("holds", site.holds.as_ref().map(|held| self.lock(held))),
            ("acquires", site.acquires.as_ref().map(|held| self.lock(held))),
        ] {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                told[name] = value;
            }
        }
        told
    }

    fn lock(&self, held: &LockUse) -> Value {
        with_location(json!({"name": held.name}), self.location(self.editor.lock(held)))
    }

    fn at(&self, place: &Place) -> Value {
        self.location(self.editor.place(place))
    }
}

/// As `json!` makes it, which copies every value that is put into another.
fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Object(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn range(at: &Stretch) -> Range {
    Range { start: (at.line, at.columns.start), end: (at.line, at.columns.end) }
}

fn with_location(mut told: Value, location: Value) -> Value {
    if !location.is_null() {
        told["location"] = location;
    }
    told
}

/// `fixed 1 race, introduced 1 deadlock`.
pub fn words(delta: &FindingsDelta) -> String {
    let counted = |findings: &[Arc<Finding>]| {
        let of_rule = |rule: &Rule| findings.iter().filter(|finding| finding.rule == *rule).count();
        let counts = Rule::ALL.iter().map(|rule| (rule, of_rule(rule))).filter(|(_, count)| *count > 0);
        counts.map(|(rule, count)| rule.counted(count)).collect::<Vec<_>>().join(" and ")
    };
    let parts = [("fixed", &delta.fixed), ("introduced", &delta.introduced)];
    let parts = parts.iter().filter(|(_, findings)| !findings.is_empty());
    let parts: Vec<String> = parts.map(|(what, findings)| format!("{what} {}", counted(findings))).collect();
    if parts.is_empty() { "nothing introduced, nothing fixed".to_owned() } else { parts.join(", ") }
}
