//! The public JSON contract, schema 1, documented in `docs/json.md`. These structs are the contract: what
//! is renamed or removed here needs a new schema number.

use crate::{Sources, names::Names};
use findings::{
    Confidence, Dismissed, Finding, Frame, LockUse, Note, Place, Report, Site, Stats, Suppressed, Unguarded,
};
use serde::{Serialize, Serializer, ser::SerializeMap};

pub const SCHEMA: u32 = 1;

/// The findings at least as certain as `min`, all notes, and the statistics without times: the same
/// program gives the same bytes.
pub fn render(report: &Report, min: Confidence, sources: &dyn Sources) -> String {
    document(report, min, sources, vec![], false)
}

/// The same with what one engine suspects and the other rules out.
pub fn render_with_dismissed(report: &Report, min: Confidence, sources: &dyn Sources) -> String {
    document(report, min, sources, vec![], true)
}

/// The same with the seconds that each stage took.
pub fn render_with_times(report: &Report, min: Confidence, sources: &dyn Sources) -> String {
    document(report, min, sources, report.stats.seconds.clone(), false)
}

fn document(
    report: &Report,
    min: Confidence,
    sources: &dyn Sources,
    seconds: Vec<(String, f64)>,
    with_dismissed: bool,
) -> String {
    let names = Names::new(sources);
    let dismissed = report.dismissed(min).filter(|_| with_dismissed);
    let document = Document {
        schema: SCHEMA,
        tool: tool(),
        findings: report.shown(min).map(|finding| JsonFinding::new(finding, &names)).collect(),
        dismissed: dismissed.map(|finding| JsonFinding::new(finding, &names)).collect(),
        suppressed: report.suppressed_from(min).map(|one| JsonSuppressed::new(one, &names)).collect(),
        notes: report.notes.iter().map(JsonNote::new).collect(),
        stats: JsonStats::new(&report.stats, seconds),
    };
    pretty(&document)
}

/// One finding by itself, as it stands in the document.
pub fn finding(finding: &Finding, sources: &dyn Sources) -> String {
    pretty(&JsonFinding::new(finding, &Names::new(sources)))
}

pub(crate) fn pretty(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("strings and numbers always serialise") + "\n"
}

/// On one line, for what grows large and nobody reads.
pub(crate) fn compact(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("strings and numbers always serialise") + "\n"
}

pub(crate) fn tool() -> JsonTool {
    JsonTool { name: "snarl", version: env!("CARGO_PKG_VERSION") }
}

#[derive(Serialize)]
struct Document {
    schema: u32,
    tool: JsonTool,
    findings: Vec<JsonFinding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dismissed: Vec<JsonFinding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressed: Vec<JsonSuppressed>,
    notes: Vec<JsonNote>,
    stats: JsonStats,
}

#[derive(Serialize)]
pub(crate) struct JsonSuppressed {
    #[serde(flatten)]
    finding: JsonFinding,
    reason: String,
    suppressed_at: String,
}

impl JsonSuppressed {
    pub(crate) fn new(one: &Suppressed, names: &Names<'_>) -> JsonSuppressed {
        JsonSuppressed {
            finding: JsonFinding::new(&one.finding, names),
            reason: one.reason.clone(),
            suppressed_at: one.place.clone(),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct JsonTool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
pub(crate) struct JsonFinding {
    id: String,
    rule: &'static str,
    confidence: &'static str,
    engines: Vec<&'static str>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    sites: Vec<JsonSite>,
    why: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<[JsonPlace; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unguarded: Vec<JsonUnguarded>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumed: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fix: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dismissed: Vec<Dismissed>,
}

impl JsonFinding {
    pub(crate) fn new(finding: &Finding, names: &Names<'_>) -> JsonFinding {
        let prose = |sentences: &[String]| sentences.iter().map(|one| names.prose(one)).collect();
        let pair = |(a, b): &(Place, Place)| [JsonPlace::new(a, names), JsonPlace::new(b, names)];
        JsonFinding {
            id: finding.id.clone(),
            rule: finding.rule.id(),
            confidence: finding.confidence.id(),
            engines: finding.engines.iter().map(|engine| engine.id()).collect(),
            message: names.prose(&finding.message),
            field: finding.field.clone(),
            object: finding.object.as_ref().map(|place| names.place(place)),
            sites: finding.sites.iter().map(|site| JsonSite::new(site, names)).collect(),
            why: prose(&finding.why),
            fields: finding.fields.clone(),
            also: finding.also.iter().map(pair).collect(),
            unguarded: finding.unguarded.iter().map(|access| JsonUnguarded::new(access, names)).collect(),
            assumed: prose(&finding.assumed),
            fix: prose(&finding.fix),
            dismissed: finding.dismissed.clone(),
        }
    }
}

#[derive(Serialize)]
struct JsonUnguarded {
    access: &'static str,
    field: String,
    method: String,
    #[serde(flatten)]
    place: JsonPlace,
}

impl JsonUnguarded {
    fn new(one: &Unguarded, names: &Names<'_>) -> JsonUnguarded {
        JsonUnguarded {
            access: one.access.id(),
            field: one.field.clone(),
            method: one.method.clone(),
            place: JsonPlace::new(&one.place, names),
        }
    }
}

#[derive(Serialize)]
struct JsonSite {
    access: &'static str,
    #[serde(flatten)]
    place: JsonPlace,
    method: String,
    origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<JsonPlace>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    concurrent: Vec<String>,
    locks: Vec<JsonLock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<JsonLock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acquires: Option<JsonLock>,
    trace: Vec<JsonFrame>,
}

impl JsonSite {
    fn new(site: &Site, names: &Names<'_>) -> JsonSite {
        let lock = |lock: &LockUse| JsonLock::new(lock, names);
        JsonSite {
            access: site.access.id(),
            place: JsonPlace::new(&site.place, names),
            method: site.method.clone(),
            origin: names.prose(&site.origin),
            started: site.started.as_ref().map(|place| JsonPlace::new(place, names)),
            concurrent: site.concurrent.iter().map(|why| names.prose(why)).collect(),
            locks: site.locks.iter().map(lock).collect(),
            holds: site.holds.as_ref().map(lock),
            acquires: site.acquires.as_ref().map(lock),
            trace: site.trace.iter().map(|frame| JsonFrame::new(frame, names)).collect(),
        }
    }
}

#[derive(Serialize)]
struct JsonPlace {
    file: String,
    line: u32,
}

impl JsonPlace {
    fn new(place: &Place, names: &Names<'_>) -> JsonPlace {
        JsonPlace { file: names.file(&place.file), line: place.line }
    }
}

#[derive(Serialize)]
struct JsonLock {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    object: String,
    #[serde(flatten)]
    place: JsonPlace,
    shared: bool,
}

impl JsonLock {
    fn new(lock: &LockUse, names: &Names<'_>) -> JsonLock {
        JsonLock {
            name: names.prose(&lock.name),
            object: names.prose(&lock.object),
            place: JsonPlace::new(&lock.place, names),
            shared: lock.shared,
        }
    }
}

#[derive(Serialize)]
struct JsonFrame {
    method: String,
    #[serde(flatten)]
    place: JsonPlace,
}

impl JsonFrame {
    fn new(frame: &Frame, names: &Names<'_>) -> JsonFrame {
        JsonFrame { method: frame.method.clone(), place: JsonPlace::new(&frame.place, names) }
    }
}

#[derive(Serialize)]
pub(crate) struct JsonNote {
    kind: String,
    message: String,
    count: u64,
}

impl JsonNote {
    pub(crate) fn new(note: &Note) -> JsonNote {
        JsonNote { kind: note.kind.clone(), message: note.message.clone(), count: note.count }
    }
}

#[derive(Serialize)]
struct JsonStats {
    sizes: Rows<u64>,
    pairs: Rows<u64>,
    #[serde(skip_serializing_if = "Rows::is_empty")]
    seconds: Rows<f64>,
}

impl JsonStats {
    fn new(stats: &Stats, seconds: Vec<(String, f64)>) -> JsonStats {
        let milliseconds = |(stage, seconds): (String, f64)| (stage, (seconds * 1000.0).round() / 1000.0);
        JsonStats {
            sizes: Rows(stats.sizes.clone()),
            pairs: Rows(stats.pairs.clone()),
            seconds: Rows(seconds.into_iter().map(milliseconds).collect()),
        }
    }
}

/// An object whose keys stand in the order of measurement.
struct Rows<T>(Vec<(String, T)>);

impl<T> Rows<T> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for Rows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
