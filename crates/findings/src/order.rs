//! The one order in which findings and notes are told, and which findings are worth telling. Knows nothing
//! of how they are rendered.

use crate::{Confidence, Finding, Harm, Report};
use std::cmp::Ordering;
use std::sync::Arc;

impl Report {
    /// Ranks the findings by confidence, harm, rule, file, line, id and all else they say, and the notes by kind and
    /// message: the same facts give the same report, whichever thread found them first.
    pub fn sort(&mut self) {
        sort_findings(&mut self.findings);
        self.notes.sort();
    }

    /// The findings at least as certain as `min`, in the report's order.
    pub fn shown(&self, min: Confidence) -> impl Iterator<Item = &Finding> {
        self.told(min).map(Arc::as_ref)
    }

    /// The same to be kept.
    pub fn told(&self, min: Confidence) -> impl Iterator<Item = &Arc<Finding>> {
        let is_told =
            move |finding: &&Arc<Finding>| finding.confidence.at_least(min) && finding.dismissed.is_empty();
        self.findings.iter().filter(is_told)
    }

    /// What one engine suspects at least as certainly as `min`, and the other rules out.
    pub fn dismissed(&self, min: Confidence) -> impl Iterator<Item = &Finding> {
        let findings = self.findings.iter().map(Arc::as_ref);
        findings.filter(move |one| one.confidence.at_least(min) && !one.dismissed.is_empty())
    }
}

impl Finding {
    /// Which of the two is told first.
    pub fn ranks(&self, other: &Finding) -> Ordering {
        let by_harm = || self.harm().cmp(&other.harm());
        self.confidence.cmp(&other.confidence).then_with(by_harm).then_with(|| by_place(self, other))
    }
}

/// In the order of a report; the harm of each is found once.
pub fn sort_findings(findings: &mut Vec<Arc<Finding>>) {
    let with_harm = |finding: Arc<Finding>| (finding.harm(), finding);
    let mut all: Vec<(Harm, Arc<Finding>)> = std::mem::take(findings).into_iter().map(with_harm).collect();
    all.sort_by(|(a_harm, a), (b_harm, b)| {
        let by_harm = || a_harm.cmp(b_harm);
        a.confidence.cmp(&b.confidence).then_with(by_harm).then_with(|| by_place(a, b))
    });
    findings.extend(all.into_iter().map(|(_, finding)| finding));
}

/// Of two that are as certain and as harmful.
fn by_place(a: &Finding, b: &Finding) -> Ordering {
    rank(a).cmp(&rank(b))
}

impl Confidence {
    pub fn at_least(self, min: Confidence) -> bool {
        self <= min
    }
}

fn rank(finding: &Finding) -> impl Ord + '_ {
    let place = finding.sites.first().map(|site| &site.place);
    (finding.rule, place, &finding.id, &finding.message, finding)
}

#[cfg(test)]
mod tests {
    use crate::{AccessKind, Confidence, Finding, Note, Place, Report, Rule, Site};
    use std::sync::Arc;

    fn finding(confidence: Confidence, rule: Rule, file: &str, line: u32, id: &str) -> Finding {
        let site = Site {
            access: AccessKind::Write,
            place: Place { file: file.into(), line },
            method: String::new(),
            origin: String::new(),
            ..Site::default()
        };
        Finding {
            id: id.into(),
            rule,
            confidence,
            engines: vec![],
            message: String::new(),
            field: None,
            object: None,
            sites: vec![site],
            why: vec![],
            ..Finding::default()
        }
    }

    fn ids<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> String {
        findings.into_iter().map(|finding| finding.id.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn mixed() -> Report {
        use Confidence::*;
        use Rule::*;
        let findings = vec![
            finding(Low, Race, "a/A.java", 1, "low"),
            finding(High, Race, "b/B.java", 2, "late-file"),
            finding(High, Race, "a/A.java", 10, "late-line"),
            finding(High, Race, "a/A.java", 9, "twin-2"),
            finding(High, Race, "a/A.java", 9, "twin-1"),
            finding(High, Deadlock, "a/A.java", 1, "deadlock"),
            finding(Medium, Race, "a/A.java", 1, "medium"),
        ];
        Report { findings: findings.into_iter().map(Arc::new).collect(), ..Report::default() }
    }

    #[test]
    fn findings_rank_by_confidence_harm_rule_file_line_and_id() {
        let mut report = mixed();
        report.sort();
        assert_eq!(
            ids(report.shown(Confidence::Low)),
            "deadlock twin-1 twin-2 late-line late-file medium low"
        );
    }

    #[test]
    fn the_order_of_discovery_leaves_no_trace() {
        let mut expected = mixed();
        expected.sort();
        for turn in 0..expected.findings.len() {
            let mut report = mixed();
            report.findings.rotate_left(turn);
            report.sort();
            assert_eq!(report, expected);
        }
    }

    #[test]
    fn a_finding_without_sites_still_has_a_rank() {
        let mut report = mixed();
        Arc::make_mut(&mut report.findings[1]).sites.clear();
        report.sort();
        assert_eq!(report.findings[1].id, "late-file");
    }

    #[test]
    fn notes_sort_by_kind_then_message() {
        let note = |kind: &str, message: &str| Note { kind: kind.into(), message: message.into(), count: 1 };
        let notes = vec![note("b", "x"), note("a", "y"), note("a", "x")];
        let mut report = Report { notes, ..Report::default() };
        report.sort();
        assert_eq!(report.notes, [note("a", "x"), note("a", "y"), note("b", "x")]);
    }

    #[test]
    fn shown_keeps_what_is_at_least_as_certain() {
        let mut report = mixed();
        report.sort();
        assert_eq!(report.shown(Confidence::High).count(), 5);
        assert_eq!(
            ids(report.shown(Confidence::Medium)),
            "deadlock twin-1 twin-2 late-line late-file medium"
        );
        assert_eq!(report.shown(Confidence::Low).count(), 7);
    }
}
