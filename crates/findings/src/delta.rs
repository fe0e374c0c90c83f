//! What one report says and an older one does not. Findings are told apart by their fingerprints, which edits elsewhere
//! do not change.

use crate::pairing::{Known, pairing};
use crate::{Finding, Report};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The difference between two reports, each list in the order of its report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingsDelta {
    pub introduced: Vec<Arc<Finding>>,
    pub fixed: Vec<Arc<Finding>>,
    /// In both, told otherwise: at other lines, along other ways, with another confidence.
    pub changed: Vec<Arc<Finding>>,
}

impl FindingsDelta {
    pub fn between(older: &Report, newer: &Report) -> FindingsDelta {
        // Most are shared, and say the same for certain.
        let (old, new) = (apart(older, newer), apart(newer, older));
        let mut is_fixed = vec![true; old.len()];
        let mut same = vec![None; new.len()];
        for (before, after) in pairing(&known(&old), &known(&new)) {
            is_fixed[before] = false;
            same[after] = Some(before);
        }
        let mut delta = FindingsDelta::default();
        for (&finding, same) in new.iter().zip(same) {
            match same {
                None => delta.introduced.push(finding.clone()),
                Some(at) if *old[at] != *finding => delta.changed.push(finding.clone()),
                Some(_) => {}
            }
        }
        let fixed = old.into_iter().zip(is_fixed).filter(|(_, is_fixed)| *is_fixed);
        delta.fixed = fixed.map(|(finding, _)| finding.clone()).collect();
        delta
    }

    pub fn is_empty(&self) -> bool {
        self.introduced.is_empty() && self.fixed.is_empty() && self.changed.is_empty()
    }
}

fn known<'f>(findings: &[&'f Arc<Finding>]) -> Vec<Known<'f>> {
    findings.iter().map(|finding| Known::alone(finding)).collect()
}

/// The findings of one report that are not shared with the other.
fn apart<'r>(one: &'r Report, other: &Report) -> Vec<&'r Arc<Finding>> {
    let shared: BTreeSet<*const Finding> = other.findings.iter().map(Arc::as_ptr).collect();
    one.findings.iter().filter(|finding| !shared.contains(&Arc::as_ptr(finding))).collect()
}
