//! What is known of one field, for a terminal and as JSON: every access with its threads and locks, the guard, the
//! verdict with its reason. Leaves nothing out; knows nothing of the analysis.

use crate::Sources;
use crate::json::{JsonFinding, JsonTool, SCHEMA, pretty, tool};
use crate::names::Names;
use crate::text::{Look, clean, lock, readable};
use findings::{About, Access, Dismissed, Finding, Guard, Held, PairVerdict, Part, Place};
use serde::Serialize;

/// The field, its verdict, its findings, and a line or two for each access.
pub fn text(about: &About, sources: &dyn Sources, look: &Look) -> String {
    let names = Names::new(sources);
    let mut out = format!("{}\n", look.key(&clean(&about.field)));
    let mut row =
        |name: &str, value: String| out.push_str(&format!("  {} {value}\n", look.key(&format!("{name:<8}"))));
    row("verdict", clean(&names.prose(&about.why.text())));
    if let Some(guard) = &about.guard {
        row("guard", clean(&guard_text(guard)));
    }
    if !about.guards.is_empty() {
        row("guards", clean(&about.guards.join(", ")));
    }
    for finding in &about.findings {
        let (rule, confidence) = (finding.rule.id(), finding.confidence.id());
        let message = clean(&names.prose(&finding.message));
        row("finding", format!("{rule} ({confidence} confidence): {message}; id {}", finding.id));
    }
    out.push_str(&format!("\n{}\n", look.key("accesses")));
    if about.accesses.is_empty() {
        out.push_str("  none\n");
    }
    for access in &about.accesses {
        out.push_str(&access_text(access, &names, look));
    }
    if !about.pairs.is_empty() {
        out.push_str(&format!("\n{}\n", look.key("pairs")));
    }
    for pair in &about.pairs {
        let [one, other] = pair.sides.each_ref().map(|place| clean(&names.place(place)));
        let verdict = match &pair.verdict {
            Ok(confidence) => format!("race ({} confidence)", confidence.id()),
            Err(why) => why.text().to_owned(),
        };
        out.push_str(&format!("  {one} with {other}\n        {verdict}\n"));
    }
    out
}

fn guard_text(guard: &Guard) -> String {
    match guard.is_declared {
        true => format!("`{}`, declared; {} of {} accesses hold it", guard.name, guard.with, guard.of),
        false => format!("`{}`: {} of {} accesses hold it", guard.name, guard.with, guard.of),
    }
}

fn access_text(access: &Access, names: &Names<'_>, look: &Look) -> String {
    let part = match access.part {
        Part::Field => "",
        Part::Elements => "element ",
        Part::Contents => "contents ",
    };
    let place = clean(&names.place(&access.place));
    let kind = look.key(&format!("{:<5}", access.kind.id()));
    let mut out = format!("  {kind} {part}{place}  {}\n", readable(&access.method));
    let held: Vec<String> = access.locks.iter().map(|held| lock(&held.lock, names)).collect();
    let locks = if held.is_empty() { "no lock".to_owned() } else { held.join(", ") };
    let lacks = if access.lacks_guard { " (lacks the guard)" } else { "" };
    out.push_str(&format!("        holds    {locks}{lacks}\n"));
    if access.is_published {
        let origins: Vec<String> = access.origins.iter().map(|origin| origin_text(origin, names)).collect();
        let threads = if origins.is_empty() {
            "not reached from an entry point".to_owned()
        } else {
            origins.join(", ")
        };
        out.push_str(&format!("        threads  {threads}\n"));
    } else {
        out.push_str("        threads  one: no other thread knows the object yet\n");
    }
    out
}

fn origin_text(origin: &findings::Origin, names: &Names<'_>) -> String {
    let several = if origin.is_several { " (several at a time)" } else { "" };
    format!("{}{several}", clean(&names.prose(&origin.name)))
}

/// Fields and findings for a program, in the form that `docs/json.md` describes.
pub fn json(fields: &[About], findings: &[&Finding], sources: &dyn Sources) -> String {
    let names = Names::new(sources);
    pretty(&Document {
        schema: SCHEMA,
        tool: tool(),
        fields: fields.iter().map(|about| JsonField::new(about, &names)).collect(),
        findings: findings.iter().map(|finding| JsonFinding::new(finding, &names)).collect(),
    })
}

#[derive(Serialize)]
struct Document {
    schema: u32,
    tool: JsonTool,
    fields: Vec<JsonField>,
    findings: Vec<JsonFinding>,
}

#[derive(Serialize)]
struct JsonField {
    field: String,
    verdict: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<JsonGuard>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guards: Vec<String>,
    findings: Vec<JsonReported>,
    accesses: Vec<JsonAccess>,
    pairs: Vec<JsonPair>,
    engines: Vec<&'static str>,
}

#[derive(Serialize)]
struct JsonGuard {
    name: String,
    held: usize,
    accesses: usize,
    declared: bool,
}

#[derive(Serialize)]
struct JsonReported {
    id: String,
    rule: &'static str,
    confidence: &'static str,
    message: String,
}

#[derive(Serialize)]
struct JsonAccess {
    access: &'static str,
    part: &'static str,
    file: String,
    line: u32,
    method: String,
    origins: Vec<JsonOrigin>,
    locks: Vec<JsonHeld>,
    published: bool,
    lacks_guard: bool,
    engine: &'static str,
}

#[derive(Serialize)]
struct JsonPair {
    places: [JsonPairPlace; 2],
    /// `race`, or the id of the reason that rules it out.
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<&'static str>,
}

#[derive(Serialize)]
struct JsonPairPlace {
    file: String,
    line: u32,
}

impl JsonPair {
    fn new(pair: &PairVerdict, names: &Names<'_>) -> JsonPair {
        let place = |place: &Place| JsonPairPlace { file: names.file(&place.file), line: place.line };
        JsonPair {
            places: pair.sides.each_ref().map(place),
            verdict: pair.verdict.map_or_else(Dismissed::id, |_| "race"),
            confidence: pair.verdict.ok().map(|confidence| confidence.id()),
        }
    }
}

#[derive(Serialize)]
struct JsonOrigin {
    name: String,
    several: bool,
}

#[derive(Serialize)]
struct JsonHeld {
    name: String,
    file: String,
    line: u32,
    shared: bool,
}

impl JsonField {
    fn new(about: &About, names: &Names<'_>) -> JsonField {
        let guard = about.guard.as_ref().map(|guard| JsonGuard {
            name: guard.name.clone(),
            held: guard.with,
            accesses: guard.of,
            declared: guard.is_declared,
        });
        let findings = about.findings.iter().map(|finding| JsonReported {
            id: finding.id.clone(),
            rule: finding.rule.id(),
            confidence: finding.confidence.id(),
            message: names.prose(&finding.message),
        });
        JsonField {
            field: about.field.clone(),
            verdict: names.prose(&about.why.text()),
            guard,
            guards: about.guards.clone(),
            findings: findings.collect(),
            accesses: about.accesses.iter().map(|access| JsonAccess::new(access, names)).collect(),
            pairs: about.pairs.iter().map(|pair| JsonPair::new(pair, names)).collect(),
            engines: about.engines.iter().map(|engine| engine.id()).collect(),
        }
    }
}

impl JsonAccess {
    fn new(access: &Access, names: &Names<'_>) -> JsonAccess {
        let part = match access.part {
            Part::Field => "field",
            Part::Elements => "elements",
            Part::Contents => "contents",
        };
        let held = |held: &Held| JsonHeld {
            name: names.prose(&held.lock.name),
            file: names.file(&held.lock.place.file),
            line: held.lock.place.line,
            shared: held.lock.shared,
        };
        let origins = access.origins.iter();
        let origin =
            |one: &findings::Origin| JsonOrigin { name: names.prose(&one.name), several: one.is_several };
        JsonAccess {
            access: access.kind.id(),
            part,
            file: names.file(&access.place.file),
            line: access.place.line,
            method: access.method.clone(),
            origins: origins.map(origin).collect(),
            locks: access.locks.iter().map(held).collect(),
            published: access.is_published,
            lacks_guard: access.lacks_guard,
            engine: access.engine.id(),
        }
    }
}
