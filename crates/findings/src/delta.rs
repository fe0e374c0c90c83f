//! What one report says and an older one does not. Findings are told apart by their ids, which edits elsewhere do not
//! change.

use crate::{Finding, Report};
use std::collections::{BTreeMap, BTreeSet};
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
        let by_id = |findings: &[&'_ Arc<Finding>]| -> BTreeMap<String, usize> {
            findings.iter().enumerate().map(|(at, finding)| (finding.id.clone(), at)).collect()
        };
        let (before, after) = (by_id(&old), by_id(&new));
        let mut delta = FindingsDelta::default();
        for &finding in &new {
            match before.get(&finding.id) {
                None => delta.introduced.push(finding.clone()),
                Some(&at) if *old[at] != *finding => delta.changed.push(finding.clone()),
                Some(_) => {}
            }
        }
        let fixed = old.into_iter().filter(|finding| !after.contains_key(&finding.id));
        delta.fixed = fixed.cloned().collect();
        delta
    }

    pub fn is_empty(&self) -> bool {
        self.introduced.is_empty() && self.fixed.is_empty() && self.changed.is_empty()
    }
}

/// The findings of one report that are not shared with the other.
fn apart<'r>(one: &'r Report, other: &Report) -> Vec<&'r Arc<Finding>> {
    let shared: BTreeSet<*const Finding> = other.findings.iter().map(Arc::as_ptr).collect();
    one.findings.iter().filter(|finding| !shared.contains(&Arc::as_ptr(finding))).collect()
}
