//! How much is kept, by name: what grows from edit to edit is seen here long before it is seen in memory. Knows
//! counts only.

use std::collections::BTreeMap;

/// How many entries each table has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sizes {
    kept: BTreeMap<String, usize>,
}

impl Sizes {
    /// Counts more entries under a name.
    pub fn add(&mut self, name: impl Into<String>, entries: usize) {
        *self.kept.entry(name.into()).or_default() += entries;
    }

    /// By name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.kept.iter().map(|(name, &entries)| (name.as_str(), entries))
    }

    /// All entries together.
    pub fn total(&self) -> usize {
        self.kept.values().sum()
    }
}
