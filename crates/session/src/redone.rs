//! How much an update looked at again, in counts that depend on neither the machine nor the number of threads.

use ir::ProgramDelta;
use pointsto::PointsToDelta;
use track::Changes;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Redone {
    /// Methods with other statements.
    pub bodies: usize,
    /// Facts that points-to took back, those that came back included.
    pub facts: u64,
    /// Whether the stages after points-to began anew.
    pub anew: bool,
    /// Values they keep that had read something that changed; none if they began anew.
    pub units: usize,
    /// Pairs of statements judged.
    pub pairs: usize,
    /// Methods that the compositional engine summarised.
    pub summaries: usize,
}

impl Redone {
    /// As far as points-to.
    pub(crate) fn by(delta: &ProgramDelta, told: &PointsToDelta) -> Redone {
        Redone { bodies: delta.bodies.len(), facts: told.work.taken, ..Redone::default() }
    }

    /// The rest.
    pub(crate) fn count(&mut self, changes: &Changes, pairs: usize) {
        self.anew = changes.everything;
        self.units = changes.stale();
        self.pairs = pairs;
    }
}
