//! Who may point to what, and who calls whom: Andersen-style points-to with the call graph built on the fly,
//! over activations (a method in a context). Owns contexts and abstract objects; knows no order and no locks.

mod query;
mod types;

pub use query::PointsTo;
pub use types::*;
