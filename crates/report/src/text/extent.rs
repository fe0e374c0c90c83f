//! How much of what could go on for long is told. Knows numbers only, not what they count.

/// The most that is listed of each; what is beyond is counted.
pub(super) struct Extent {
    /// Calls of one trace.
    pub calls: usize,
    /// Further pairs with the same cause, on one line.
    pub also: usize,
    /// Names of affected fields.
    pub fields: usize,
}

impl Extent {
    /// As much as a reader of many findings wants to know of each.
    pub fn brief() -> Extent {
        Extent { calls: 8, also: 2, fields: 8 }
    }

    /// All there is, but for the pairs, of which one line would not be enough.
    pub fn whole() -> Extent {
        Extent { calls: usize::MAX, also: 0, fields: usize::MAX }
    }
}
