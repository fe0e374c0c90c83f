//! The accesses of a finding that hold no common lock, and which of them an older report does not have. Compares them
//! by what they do and where in the code, never by line numbers.

use crate::{AccessKind, Confidence, Finding, Place, unnumbered};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One access that nothing guards against the others of its finding.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Unguarded {
    pub access: AccessKind,
    /// `bank.Account.deposit(int)`.
    pub method: String,
    /// `bank.Account.balance`.
    pub field: String,
    pub place: Place,
}

/// Of more accesses than this, those whose keys come first are listed.
pub const MOST_UNGUARDED: usize = 200;

impl Unguarded {
    /// What identifies the access from run to run. Several accesses of one method may have the same.
    pub fn key(&self) -> String {
        let (method, field) = (unnumbered(&self.method), unnumbered(&self.field));
        format!("{} {field} in {method}", self.access.id())
    }

    /// Each access once, in the order of keys and lines.
    pub fn listed(accesses: impl IntoIterator<Item = Unguarded>) -> Vec<Unguarded> {
        let distinct: BTreeSet<Unguarded> = accesses.into_iter().collect();
        let mut all: Vec<(String, Unguarded)> =
            distinct.into_iter().map(|access| (access.key(), access)).collect();
        all.sort();
        all.truncate(MOST_UNGUARDED);
        all.into_iter().map(|(_, access)| access).collect()
    }

    /// `Account.deposit (:31)`.
    fn shown(&self) -> String {
        let path = self.method.split('(').next().unwrap_or(&self.method);
        let mut parts = path.rsplitn(3, '.');
        let (name, class) = (parts.next().unwrap_or(path), parts.next());
        let class = class.map_or(String::new(), |class| format!("{class}."));
        match self.place.line {
            0 => format!("{class}{name}"),
            line => format!("{class}{name} (:{line})"),
        }
    }
}

impl Finding {
    /// Keys of its unguarded accesses, sorted, as often as each is there. Where none are recorded, those of its sites.
    pub fn unguarded_keys(&self) -> Vec<String> {
        if !self.unguarded.is_empty() {
            return self.unguarded.iter().map(Unguarded::key).collect();
        }
        let field = self.field.clone().unwrap_or_default();
        let is_access = |access| matches!(access, AccessKind::Read | AccessKind::Write);
        let sites = self.sites.iter().filter(|site| is_access(site.access));
        let accesses = sites.map(|site| Unguarded {
            access: site.access,
            method: site.method.clone(),
            field: field.clone(),
            place: site.place.clone(),
        });
        Unguarded::listed(accesses).iter().map(Unguarded::key).collect()
    }
}

/// The unguarded accesses of an older report.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    /// How often each is there in the finding that has most of it.
    counts: BTreeMap<String, usize>,
}

impl Accesses {
    /// Of findings, each as its sorted keys.
    pub(crate) fn of(findings: impl IntoIterator<Item = Vec<String>>) -> Accesses {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for keys in findings {
            for same in keys.chunk_by(|a, b| a == b) {
                let count = counts.entry(same[0].clone()).or_default();
                *count = same.len().max(*count);
            }
        }
        Accesses { counts }
    }

    /// The accesses of a finding that are not among these, as a reader knows them. `older` are the keys of the finding
    /// that it was: none if that was written down without them.
    pub(crate) fn lack(&self, finding: &Finding, older: &[String]) -> Vec<String> {
        // What else there was in a list that was cut is not known.
        let end = older.last().filter(|_| older.len() >= MOST_UNGUARDED);
        let is_listed = |key: &String| end.is_none_or(|end| key < end);
        if older.is_empty() {
            return Vec::new();
        }
        let keyed: Vec<(String, &Unguarded)> =
            finding.unguarded.iter().map(|access| (access.key(), access)).collect();
        let mut lacking = Vec::new();
        for same in keyed.chunk_by(|(a, _), (b, _)| a == b).filter(|same| is_listed(&same[0].0)) {
            let known = self.counts.get(&same[0].0).copied().unwrap_or(0);
            // Which of several is the new one is not known without lines; all are shown then.
            if same.len() > known {
                lacking.extend(same.iter().map(|(_, access)| access.shown()));
            }
        }
        let mut seen = BTreeSet::new();
        lacking.retain(|shown| seen.insert(shown.clone()));
        lacking
    }
}

/// A finding of which a part was there before, with what is new in it. One more unguarded access makes nothing less
/// certain, even if fewer of all accesses hold the lock now.
pub(crate) fn grown(finding: &Finding, before: Confidence, new: &[String]) -> Finding {
    let mut grown = finding.clone();
    grown.confidence = finding.confidence.min(before);
    grown.why.insert(0, format!("new: {}; the rest was reported before", new.join(", ")));
    grown
}

#[cfg(test)]
#[path = "tests/unguarded.rs"]
mod tests;
