//! SARIF 2.1.0, as code scanning services read it: one run, all rules, a result for each finding. Knows the standard and
//! GitHub's conventions on top of it; the words are those of the text.

mod flow;
mod model;
mod place;

use crate::{Sources, files::Files, json::compact, names::Names, spot::Spot, text};
use findings::{Confidence, Finding, Level, Note, Report, Rule};
use model::{
    Base, Configuration, Descriptor, Driver, Help, Invocation, Location, Log, Message, Named, Notification,
    Outcome, Properties, Region, Run, Tool,
};
use place::{Places, ROOT};
use std::collections::BTreeMap;

/// GitHub takes no more; findings are ranked, so that the least important are left out.
const MOST_RESULTS: usize = 25_000;

/// The findings at least as certain as `min`, and all notes.
pub fn render(report: &Report, min: Confidence, sources: &dyn Sources) -> String {
    let (files, names) = (Files::new(sources), Names::new(sources));
    let places = Places { files: &files, names: &names };
    let shown = report.shown(min).take(MOST_RESULTS);
    compact(&Log {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool { driver: driver() },
            invocations: [invocation(report, min)],
            original_uri_base_ids: BTreeMap::from([(
                ROOT,
                Base { description: Message::new("The root of the repository.") },
            )]),
            column_kind: "utf16CodeUnits",
            results: shown.map(|finding| outcome(finding, &places)).collect(),
        }],
    })
}

fn driver() -> Driver {
    let version = env!("CARGO_PKG_VERSION");
    let rules = Rule::ALL.into_iter().map(descriptor).collect();
    Driver { name: "snarl", version, semantic_version: version, rules }
}

fn descriptor(rule: Rule) -> Descriptor {
    let precision = match rule.level() {
        Level::Error => "high",
        Level::Warning => "medium",
        Level::Note => "low",
    };
    Descriptor {
        id: rule.id(),
        short_description: Message::new(rule.summary()),
        full_description: Message::new(rule.meaning()),
        help: Help { text: rule.page(), markdown: rule.page() },
        default_configuration: Configuration { level: rule.level().id() },
        properties: Properties { tags: vec!["concurrency", "reliability"], precision },
    }
}

fn invocation(report: &Report, min: Confidence) -> Invocation {
    let count = report.shown(min).count();
    let too_many = (count > MOST_RESULTS).then(|| Note {
        kind: "too-many-results".to_owned(),
        message: format!("of {count} findings the first {MOST_RESULTS} are told"),
        count: 1,
    });
    let tool_execution_notifications = report.notes.iter().chain(&too_many).map(notification).collect();
    Invocation { execution_successful: true, tool_execution_notifications }
}

fn notification(note: &Note) -> Notification {
    let level = if text::note::needs_attention(note) { Level::Warning } else { Level::Note };
    Notification {
        descriptor: Named { id: note.kind.clone() },
        level: level.id(),
        message: Message::new(text::note::words(note)),
    }
}

fn outcome(finding: &Finding, places: &Places<'_>) -> Outcome {
    let spot = Spot::of(finding, places.files);
    let related = related(finding, &spot, places);
    Outcome {
        rule_id: finding.rule.id(),
        rule_index: Rule::ALL.iter().position(|&rule| rule == finding.rule).unwrap_or_default(),
        level: finding.rule.level_at(finding.confidence).id(),
        rank: rank(finding.confidence),
        message: Message::new(message(finding, &spot, places)),
        locations: [primary(finding, &spot, places)],
        related_locations: related,
        code_flows: flow::code_flow(finding, places).into_iter().collect(),
        partial_fingerprints: fingerprints(finding, &spot, places.files),
    }
}

fn rank(confidence: Confidence) -> f64 {
    match confidence {
        Confidence::High => 90.0,
        Confidence::Medium => 60.0,
        Confidence::Low => 20.0,
    }
}

/// GitHub refuses a whole upload for one result without a file and a line.
fn primary(finding: &Finding, spot: &Spot<'_>, places: &Places<'_>) -> Location {
    let mut location = match spot.site {
        Some(site) => places.site(site, finding, text::deed(site, places.names)),
        None => places.location(&spot.place(), "", String::from("at an unknown place")),
    };
    let nowhere = || Region { start_line: spot.some_line(), start_column: None, end_column: None };
    location.physical_location.region.get_or_insert_with(nowhere);
    location
}

/// What is found, with links to the other sides, which come first among the related locations.
fn message(finding: &Finding, spot: &Spot<'_>, places: &Places<'_>) -> String {
    let message = text::message(finding, places.names);
    let links: Vec<String> = others(finding, spot)
        .enumerate()
        .map(|(at, site)| format!("[{}]({})", link(&places.names.place(&site.place)), at + 1))
        .collect();
    match &links[..] {
        [] => message,
        [one] => format!("{message}. The other side is at {one}."),
        many => format!("{message}. The other sides are at {}.", many.join(", ")),
    }
}

fn link(text: &str) -> String {
    text::clean(text).replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

fn others<'a>(finding: &'a Finding, spot: &Spot<'a>) -> impl Iterator<Item = &'a findings::Site> {
    let primary =
        finding.sites.iter().position(|site| spot.site.is_some_and(|spot| std::ptr::eq(spot, site)));
    finding.sites.iter().enumerate().filter(move |(at, _)| Some(*at) != primary).map(|(_, site)| site)
}

/// The other sides, then the locks of all sides, then where the object comes from.
fn related(finding: &Finding, spot: &Spot<'_>, places: &Places<'_>) -> Vec<Location> {
    let names = places.names;
    let mut related: Vec<Location> =
        others(finding, spot).map(|site| places.site(site, finding, text::deed(site, names))).collect();
    for site in &finding.sites {
        related.extend(flow::held(site).map(|lock| {
            let message = format!("{} is taken here by {}", text::lock(lock, names), text::doer(site, names));
            places.location(&lock.place, "", message)
        }));
    }
    related.extend(
        finding
            .object
            .iter()
            .map(|place| places.location(place, "", "the object is allocated here".to_owned())),
    );
    for (at, location) in related.iter_mut().enumerate() {
        location.id = Some(at + 1);
    }
    related
}

/// Ours knows a finding by its cause, GitHub's by its line.
fn fingerprints(finding: &Finding, spot: &Spot<'_>, files: &Files<'_>) -> BTreeMap<&'static str, String> {
    let mut fingerprints = BTreeMap::from([("snarl/v1", finding.id.clone())]);
    if let Some(hash) = files.line_hash(&spot.place()) {
        fingerprints.insert("primaryLocationLineHash", hash);
    }
    fingerprints
}
