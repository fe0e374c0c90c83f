//! All knowledge about libraries, read from data files: what a call means for points-to, threads, order and
//! locks, and which parts of the JDK are analysed. Knows no solver; both engines read the same models.

mod assumed;
mod builtin;
mod declared;
mod file;
mod knowledge;
mod parse;
mod policy;
mod registry;
mod signature;
mod step;
#[cfg(test)]
mod tests;

pub use assumed::{Assumed, Assumptions};
pub use declared::Declared;
pub use knowledge::{Kind, Knowledge, Says};
pub use policy::Policy;
pub use registry::{ModelError, ModelId, Models};
pub use step::*;
