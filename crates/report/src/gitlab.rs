//! GitLab's code quality report: an array of what is found, each with one place. Its form is GitLab's, a part of Code
//! Climate's; knows nothing of what a finding means.

use crate::{Sources, files::Files, json::pretty, names::Names, spot::Spot, text};
use findings::{Confidence, Finding, Level, Report};
use serde::Serialize;

/// The findings at least as certain as `min`. There is no place for notes.
pub fn render(report: &Report, min: Confidence, sources: &dyn Sources) -> String {
    let (files, names) = (Files::new(sources), Names::new(sources));
    let issues: Vec<Issue> = report.shown(min).map(|finding| Issue::new(finding, &files, &names)).collect();
    pretty(&issues)
}

#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

impl Issue {
    fn new(finding: &Finding, files: &Files<'_>, names: &Names<'_>) -> Issue {
        let spot = Spot::of(finding, files);
        Issue {
            description: text::sentences(finding, names).join("; "),
            check_name: finding.rule.id(),
            fingerprint: finding.id.clone(),
            severity: severity(finding.rule.level_at(finding.confidence)),
            location: Location {
                path: names.file_of(&spot.place(), spot.method()),
                lines: Lines { begin: spot.some_line() },
            },
        }
    }
}

fn severity(level: Level) -> &'static str {
    match level {
        Level::Error => "critical",
        Level::Warning => "major",
        Level::Note => "minor",
    }
}
