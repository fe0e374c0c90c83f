//! The last line: how many findings of each kind, and what was kept back. Counts, nothing else.

use super::Look;
use findings::{Confidence, Finding, Report, Rule};
use std::sync::Arc;

/// "2 findings (1 race, 1 deadlock): 2 high · 13 hidden at low confidence, --all shows them".
pub fn summary(report: &Report, min: Confidence, look: &Look) -> String {
    let shown = report.shown(min).count();
    let head = match shown {
        0 => look.good("no findings"),
        n => format!("{} ({}): {}", look.key(&plural(n, "finding")), rules(report, min), levels(report, min)),
    };
    let dismissed = report.findings.iter().filter(|finding| !finding.dismissed.is_empty()).count();
    let hidden = match report.findings.len() - shown - dismissed {
        0 => None,
        1 => Some("1 hidden at low confidence, --all shows it".to_owned()),
        hidden => Some(format!("{hidden} hidden at low confidence, --all shows them")),
    };
    let proven = listed(report.dismissed(min).count());
    [head].into_iter().chain(hidden).chain(proven).chain(aside(report, min)).collect::<Vec<_>>().join(" · ")
}

fn listed(dismissed: usize) -> Option<String> {
    match dismissed {
        0 => None,
        1 => Some("1 dismissed, --dismissed shows why".to_owned()),
        count => Some(format!("{count} dismissed, --dismissed shows why")),
    }
}

/// "3 suppressed", "2 known from the baseline", ….
fn aside(report: &Report, min: Confidence) -> Vec<String> {
    let certain =
        |findings: &[Arc<Finding>]| findings.iter().filter(|one| one.confidence.at_least(min)).count();
    let mut counts = vec![(report.suppressed_from(min).count(), "suppressed")];
    if let Some(beside) = &report.beside {
        let gone = beside.gone.iter().filter(|one| one.confidence.at_least(min)).count();
        counts.extend([
            (certain(&beside.known), "known from the baseline"),
            (gone, "of the baseline gone"),
            (certain(&beside.of_new_rules), "from rules new since the baseline"),
        ]);
    }
    let present = counts.into_iter().filter(|(count, _)| *count > 0);
    present.map(|(count, what)| format!("{count} {what}")).collect()
}

fn rules(report: &Report, min: Confidence) -> String {
    list(Rule::ALL.map(|rule| {
        let count = report.shown(min).filter(|finding| finding.rule == rule).count();
        (count, rule.counted(count))
    }))
}

fn levels(report: &Report, min: Confidence) -> String {
    list([Confidence::High, Confidence::Medium, Confidence::Low].map(|level| {
        let count = report.shown(min).filter(|finding| finding.confidence == level).count();
        (count, format!("{count} {}", level.id()))
    }))
}

fn list<const N: usize>(counted: [(usize, String); N]) -> String {
    let present: Vec<String> =
        counted.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    present.join(", ")
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
