//! Who may point to what, and who calls whom: Andersen-style points-to with the call graph built on the fly,
//! over activations (a method in a context). Owns contexts and abstract objects; knows no order and no locks.

mod again;
mod asked;
mod body;
mod call;
mod dependencies;
mod digest;
mod edit;
mod expand;
mod filter;
mod flow;
mod graph;
mod kept;
mod leaf;
mod log;
mod outside;
mod proof;
mod query;
mod removed;
mod retract;
mod room;
mod rule;
mod select;
mod sizes;
mod solver;
mod state;
mod support;
mod told;
mod traits;
mod types;

pub use digest::{Contents, Digest, hash};
pub use solver::{Options, Roots};
pub use state::{Gaps, PointsTo};
pub use told::{PointsToDelta, Work};
pub use types::*;
