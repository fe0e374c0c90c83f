//! One value with what it read.

use crate::read::{Changes, Read};
use crate::record::{Reads, record};

#[derive(Debug, Default)]
pub struct Single<V> {
    pub value: V,
    reads: Reads,
}

impl<V> Single<V> {
    /// Was the value worked out from this?
    pub fn reads(&self, read: Read) -> bool {
        self.reads.binary_search(&read).is_ok()
    }

    /// Works the value out again if something changed that it read. Returns the one before if so.
    pub fn update(&mut self, follows: bool, changes: &Changes, work: impl FnOnce() -> V) -> Option<V> {
        let is_stale = changes.everything || self.reads.iter().any(|&read| changes.contains(read));
        if !is_stale {
            return None;
        }
        changes.count_stale(usize::from(!changes.everything));
        let (value, reads) = if follows { record(work) } else { (work(), Reads::default()) };
        self.reads = reads;
        Some(std::mem::replace(&mut self.value, value))
    }
}
