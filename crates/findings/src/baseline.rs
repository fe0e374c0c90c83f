//! Findings that were accepted at some time, and what a later run has beside them. Knows nothing of files and formats.

use crate::pairing::{Known, pairing};
use crate::unguarded::{Accesses, grown};
use crate::{Confidence, Finding, Report, Rule};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What there was when the baseline was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Of the tool that wrote it.
    pub version: String,
    /// Ids of the rules that were checked then.
    pub rules: Vec<String>,
    pub findings: Vec<Accepted>,
}

/// One finding of a baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accepted {
    pub fingerprint: String,
    /// Differs from the fingerprint where that is not the only one of its kind.
    pub id: String,
    pub rule: String,
    pub confidence: Confidence,
    pub message: String,
    /// Everything it affects.
    pub fields: Vec<String>,
    /// See [`Finding::members`].
    pub members: Vec<String>,
    /// See [`Finding::unguarded_keys`]. Versions that did not know them wrote none.
    pub unguarded: Vec<String>,
}

/// What a report looks like beside a baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// Of the tool that wrote the baseline.
    pub version: String,
    /// In both.
    pub known: Vec<Arc<Finding>>,
    /// Accepted once, and not there any more.
    pub gone: Vec<Accepted>,
    /// Of rules that were not checked when the baseline was written: an upgrade found them, not an edit made them.
    pub of_new_rules: Vec<Arc<Finding>>,
}

impl Baseline {
    /// Everything in a report for which these rules were checked, whatever its confidence: doubts come and go with code
    /// elsewhere.
    pub fn of(report: &Report, checked: &[Rule], version: &str) -> Baseline {
        let mut findings: Vec<Accepted> =
            report.findings.iter().map(|finding| Accepted::of(finding)).collect();
        findings.sort();
        let rules = checked.iter().map(|rule| rule.id().to_owned()).collect();
        Baseline { version: version.to_owned(), rules, findings }
    }

    /// Leaves in the report what is neither known nor of a new rule.
    pub fn compare(&self, report: &mut Report) -> Beside {
        let older: Vec<Known> = self.findings.iter().map(Accepted::known).collect();
        let newer: Vec<Known> = report.findings.iter().map(|finding| Known::of(finding)).collect();
        let pairs = pairing(&older, &newer);
        let fields: BTreeSet<&String> = self.findings.iter().flat_map(|known| &known.fields).collect();
        let accesses = Accesses::of(self.findings.iter().map(|known| known.unguarded.clone()));
        let new_in = |finding: &Finding, known: &Accepted| {
            let new: Vec<String> = finding.affected().filter(|field| !fields.contains(field)).collect();
            if new.is_empty() { accesses.lack(finding, &known.unguarded) } else { new }
        };
        let mut is_old = vec![false; older.len()];
        let mut is_known = vec![false; newer.len()];
        let mut partly_new: Vec<(usize, Confidence, Vec<String>)> = Vec::new();
        for (old, new) in pairs {
            let lacking = new_in(&report.findings[new], &self.findings[old]);
            (is_old[old], is_known[new]) = (true, lacking.is_empty());
            partly_new.push((new, self.findings[old].confidence, lacking));
        }
        for (at, before, new) in partly_new.iter().filter(|(.., new)| !new.is_empty()) {
            report.findings[*at] = Arc::new(grown(&report.findings[*at], *before, new));
        }
        let gone = self.findings.iter().zip(is_old).filter(|(_, is_old)| !is_old);
        let mut beside = Beside {
            version: self.version.clone(),
            gone: gone.map(|(gone, _)| gone.clone()).collect(),
            ..Beside::default()
        };
        for (finding, is_known) in std::mem::take(&mut report.findings).into_iter().zip(is_known) {
            let kind = match is_known {
                true => &mut beside.known,
                false if !self.rules.iter().any(|rule| rule == finding.rule.id()) => &mut beside.of_new_rules,
                false => &mut report.findings,
            };
            kind.push(finding);
        }
        beside
    }
}

impl Accepted {
    fn known(&self) -> Known<'_> {
        Known { fingerprint: &self.fingerprint, id: &self.id, members: &self.members }
    }

    fn of(finding: &Finding) -> Accepted {
        Accepted {
            fingerprint: finding.fingerprint().to_owned(),
            id: finding.id.clone(),
            rule: finding.rule.id().to_owned(),
            confidence: finding.confidence,
            message: finding.message.clone(),
            fields: finding.affected().collect(),
            members: finding.members.clone(),
            unguarded: finding.unguarded_keys(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(findings: &[(&str, &str, Rule)]) -> Report {
        let finding = |&(id, cause, rule): &(&str, &str, Rule)| {
            Arc::new(Finding { id: id.into(), cause: cause.into(), rule, ..Finding::default() })
        };
        Report { findings: findings.iter().map(finding).collect(), ..Report::default() }
    }

    fn ids(findings: &[Arc<Finding>]) -> Vec<&str> {
        findings.iter().map(|finding| finding.id.as_str()).collect()
    }

    #[test]
    fn only_what_is_new_is_left() {
        let before = report(&[("a", "", Rule::Race), ("b", "", Rule::Race)]);
        let baseline = Baseline::of(&before, &Rule::ALL, "1");
        let mut now = report(&[("b", "", Rule::Race), ("c", "", Rule::Race)]);
        let beside = baseline.compare(&mut now);
        assert_eq!((ids(&now.findings), ids(&beside.known)), (vec!["c"], vec!["b"]));
        assert_eq!(beside.gone.len(), 1);
        assert_eq!(beside.gone[0].id, "a");
    }

    #[test]
    fn twins_are_counted() {
        let baseline = Baseline::of(&report(&[("x", "", Rule::Race)]), &Rule::ALL, "1");
        let mut now = report(&[("x1", "x", Rule::Race), ("x2", "x", Rule::Race)]);
        let beside = baseline.compare(&mut now);
        assert_eq!((ids(&now.findings), ids(&beside.known)), (vec!["x2"], vec!["x1"]));

        let baseline =
            Baseline::of(&report(&[("x1", "x", Rule::Race), ("x2", "x", Rule::Race)]), &Rule::ALL, "1");
        let mut now = report(&[("x", "", Rule::Race)]);
        let beside = baseline.compare(&mut now);
        assert_eq!((now.findings.len(), beside.known.len(), beside.gone.len()), (0, 1, 1));
    }

    #[test]
    fn an_upgrade_brings_no_new_findings() {
        let mut baseline = Baseline::of(&report(&[]), &Rule::ALL, "1");
        baseline.rules.retain(|rule| rule != "deadlock");
        let mut now = report(&[("a", "", Rule::Race), ("b", "", Rule::Deadlock)]);
        let beside = baseline.compare(&mut now);
        assert_eq!((ids(&now.findings), ids(&beside.of_new_rules)), (vec!["a"], vec!["b"]));
    }
}
