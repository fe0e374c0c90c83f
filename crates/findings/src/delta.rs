//! What one report says and an older one does not. Findings are told apart by their ids, which edits elsewhere do not
//! change.

use crate::{Finding, Report};
use std::collections::BTreeMap;

/// The difference between two reports, each list in the order of its report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingsDelta {
    pub introduced: Vec<Finding>,
    pub fixed: Vec<Finding>,
    /// In both, told otherwise: at other lines, along other ways, with another confidence.
    pub changed: Vec<Finding>,
}

impl FindingsDelta {
    pub fn between(older: &Report, newer: &Report) -> FindingsDelta {
        let by_id = |report: &Report| -> BTreeMap<String, usize> {
            report.findings.iter().enumerate().map(|(at, finding)| (finding.id.clone(), at)).collect()
        };
        let (before, after) = (by_id(older), by_id(newer));
        let mut delta = FindingsDelta::default();
        for finding in &newer.findings {
            match before.get(&finding.id) {
                None => delta.introduced.push(finding.clone()),
                Some(&at) if older.findings[at] != *finding => delta.changed.push(finding.clone()),
                Some(_) => {}
            }
        }
        let is_fixed = |finding: &&Finding| !after.contains_key(&finding.id);
        delta.fixed = older.findings.iter().filter(is_fixed).cloned().collect();
        delta
    }

    pub fn is_empty(&self) -> bool {
        self.introduced.is_empty() && self.fixed.is_empty() && self.changed.is_empty()
    }
}
