//! Two pieces of work at the same time, or one after the other where handing one out would take longer than doing it.
//! Knows how much changed; not what the work is.

use crate::world::World;
use track::Changes;

/// Fewer changes than this are followed at once.
const FEW: usize = 500;

/// Is there little to follow? Where cycles of calls are others, much is looked at again, however little changed.
pub fn is_small(world: &World<'_>, changes: &Changes) -> bool {
    !changes.everything && changes.len() < FEW && world.components.touched().is_empty()
}

pub fn both(is_small: bool, one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
    if is_small {
        one();
        other();
    } else {
        rayon::join(one, other);
    }
}
