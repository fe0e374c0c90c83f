//! How many entries every stage keeps. Knows nothing of what they are about.

use crate::Session;
use track::Sizes;

impl Session {
    /// By table, the entries that are there or were once and still take room. Over a long day of edits none of them may
    /// grow beyond what the program at hand needs.
    pub fn sizes(&self) -> Sizes {
        let mut sizes = Sizes::default();
        self.program.sizes(&mut sizes);
        self.pointsto.sizes(&mut sizes);
        self.happens_before.sizes(&mut sizes);
        self.detect.sizes(&mut sizes);
        sizes
    }
}
