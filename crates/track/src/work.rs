//! How much was worked out: counts that do not depend on the machine.

use crate::read::Kind;
use std::sync::atomic::{AtomicU64, Ordering};

const KINDS: usize = 256;

static WORKED: [AtomicU64; KINDS] = [const { AtomicU64::new(0) }; KINDS];

/// A unit of this kind is worked out.
pub(crate) fn worked(kind: Kind) {
    WORKED[kind as usize].fetch_add(1, Ordering::Relaxed);
}

/// How many units of each kind were worked out so far in this process, by the number of the kind.
pub fn work() -> Vec<u64> {
    WORKED.iter().map(|count| count.load(Ordering::Relaxed)).collect()
}
