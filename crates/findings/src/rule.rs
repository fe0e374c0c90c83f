//! The rules that findings are about, each a declared thing with an id. Knows nothing of how they are checked.

use serde::{Deserialize, Serialize};

/// In the order in which findings of the same confidence are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Rule {
    /// Two accesses to the same memory that nothing orders and no lock protects.
    #[default]
    Race,
    /// Locks that are taken in a circle.
    Deadlock,
    /// A write without a lock in code that any number of threads may run.
    UnprotectedWrite,
    /// A library container that is not thread-safe, changed without a lock.
    ContainerRace,
    /// An access without the lock that guards the field, by declaration or at all other accesses.
    GuardedBy,
    /// A call, in code that must be thread-safe, of an interface that does not say that it is.
    UnsafeInterfaceCall,
    /// Something that may take long, on the thread that must stay responsive.
    BlockingMainThread,
    /// Something that may take long while a lock is held.
    BlockingUnderLock,
}

impl Rule {
    pub const ALL: [Rule; 8] = [
        Rule::Race,
        Rule::Deadlock,
        Rule::UnprotectedWrite,
        Rule::ContainerRace,
        Rule::GuardedBy,
        Rule::UnsafeInterfaceCall,
        Rule::BlockingMainThread,
        Rule::BlockingUnderLock,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Rule::Race => "race",
            Rule::Deadlock => "deadlock",
            Rule::UnprotectedWrite => "unprotected-write",
            Rule::ContainerRace => "container-race",
            Rule::GuardedBy => "guarded-by",
            Rule::UnsafeInterfaceCall => "unsafe-interface-call",
            Rule::BlockingMainThread => "blocking-main-thread",
            Rule::BlockingUnderLock => "blocking-under-lock",
        }
    }
}
