//! What became of the findings of one version of a program in another. Goes by fingerprints and, where classes were
//! renamed, by everything but their names; knows nothing of how the versions were found.

use crate::moved::Renamed;
use crate::pairing::{Known, pairing};
use crate::unguarded::{Accesses, grown};
use crate::{Confidence, Finding, Report, Suppressed};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Findings at least as certain as was asked for, in the order of their reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    pub introduced: Vec<Arc<Finding>>,
    pub fixed: Vec<Arc<Finding>>,
    /// In both, and too doubtful before to be told.
    pub raised: Vec<Arc<Finding>>,
    /// Told before, and suppressed now.
    pub suppressed: Vec<Suppressed>,
    /// In both, those in renamed classes among them.
    pub unchanged: Vec<Arc<Finding>>,
    /// How many are in renamed classes.
    pub moved: usize,
}

impl Comparison {
    pub fn between(base: &Report, head: &Report, least: Confidence, renamed: &Renamed) -> Comparison {
        let mut out = Comparison::default();
        let pairs = pairing(&known(&base.findings), &known(&head.findings));
        let mut same: Vec<Option<usize>> = vec![None; head.findings.len()];
        let mut is_gone = vec![true; base.findings.len()];
        for (old, new) in pairs {
            (same[new], is_gone[old]) = (Some(old), false);
        }
        let mut is_moved = BTreeSet::new();
        let gone: Vec<usize> = (0..is_gone.len()).filter(|&at| is_gone[at]).collect();
        let new: Vec<usize> = (0..same.len()).filter(|&at| same[at].is_none()).collect();
        for (old, new) in renamed
            .pairs(&pick(&base.findings, &gone), &pick(&head.findings, &new))
            .iter()
            .map(|&(a, b)| (gone[a], new[b]))
        {
            (same[new], is_gone[old]) = (Some(old), false);
            is_moved.insert(old);
            out.moved += usize::from(head.findings[new].confidence.at_least(least));
        }
        let fields: BTreeSet<String> = base.findings.iter().flat_map(|finding| finding.affected()).collect();
        let keys: Vec<Vec<String>> = base.findings.iter().map(|finding| finding.unguarded_keys()).collect();
        let accesses = Accesses::of(keys.iter().cloned());
        for (finding, same) in head.findings.iter().zip(same) {
            let mut new: Vec<String> = finding.affected().filter(|field| !fields.contains(field)).collect();
            if let (Some(at), true) = (same, new.is_empty()) {
                new = accesses.lack(finding, &keys[at]);
            }
            let list =
                match same.map(|at| (base.findings[at].confidence.at_least(least), is_moved.contains(&at))) {
                    Some((was_told, false))
                        if !new.is_empty() && (was_told || finding.confidence.at_least(least)) =>
                    {
                        let before = same.map_or(finding.confidence, |at| base.findings[at].confidence);
                        out.introduced.push(Arc::new(grown(finding, before, &new)));
                        continue;
                    }
                    _ if !finding.confidence.at_least(least) => continue,
                    None => &mut out.introduced,
                    Some((false, _)) => &mut out.raised,
                    Some((true, _)) => &mut out.unchanged,
                };
            list.push(finding.clone());
        }
        let gone = base
            .findings
            .iter()
            .zip(is_gone)
            .filter(|(finding, is_gone)| *is_gone && finding.confidence.at_least(least));
        let gone: Vec<&Arc<Finding>> = gone.map(|(finding, _)| finding).collect();
        out.settle(&gone, &head.suppressed);
        out
    }

    /// What is suppressed is not fixed.
    fn settle(&mut self, gone: &[&Arc<Finding>], suppressed: &[Suppressed]) {
        let older: Vec<_> = gone.iter().map(|one| Known::of(one)).collect();
        let newer: Vec<_> = suppressed.iter().map(|one| Known::of(&one.finding)).collect();
        let pairs = pairing(&older, &newer);
        for (at, finding) in gone.iter().enumerate() {
            match pairs.iter().find(|(old, _)| *old == at) {
                Some(&(_, new)) => self.suppressed.push(suppressed[new].clone()),
                None => self.fixed.push(Arc::clone(finding)),
            }
        }
    }
}

fn known(findings: &[Arc<Finding>]) -> Vec<Known<'_>> {
    findings.iter().map(|finding| Known::of(finding)).collect()
}

fn pick<'f>(findings: &'f [Arc<Finding>], at: &[usize]) -> Vec<&'f Finding> {
    at.iter().map(|&at| findings[at].as_ref()).collect()
}
