//! The last line: how many findings of each kind, and what was kept back. Counts, nothing else.

use super::Look;
use findings::{Confidence, Report, Rule};

/// "2 findings (1 race, 1 deadlock): 2 high · 13 hidden at low confidence, --all shows them".
pub fn summary(report: &Report, min: Confidence, look: &Look) -> String {
    let shown = report.shown(min).count();
    let head = match shown {
        0 => look.good("no findings"),
        n => format!("{} ({}): {}", look.key(&plural(n, "finding")), rules(report, min), levels(report, min)),
    };
    match report.findings.len() - shown {
        0 => head,
        1 => format!("{head} · 1 hidden at low confidence, --all shows it"),
        hidden => format!("{head} · {hidden} hidden at low confidence, --all shows them"),
    }
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
