//! Typed ids, vectors indexed by them, interners and id sets: the small data structures every stage shares.
//! Knows nothing of programs.

mod chunks;
mod id;
mod interner;
mod set;

pub use chunks::Chunks;
pub use id::{Id, IndexVec};
pub use interner::{Interner, Name, Names};
pub use set::IdSet;

#[doc(hidden)]
pub use serde;

/// What a stage hands to the next: things that appeared and things that went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta<T> {
    pub added: Vec<T>,
    pub removed: Vec<T>,
}

impl<T> Default for Delta<T> {
    fn default() -> Self {
        Delta { added: Vec::new(), removed: Vec::new() }
    }
}

impl<T> Delta<T> {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}
