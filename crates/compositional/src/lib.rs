//! The compositional engine: a summary for every method, made from its own body and the summaries of what it calls,
//! and rules that look at summaries only. Needs no entry point; knows no points-to and no order between threads
//! beyond one method.

mod about;
mod belief;
mod blocking;
mod branches;
mod call;
mod callers;
mod calls;
mod deadlock;
mod draft;
mod engine;
mod entry;
mod evidence;
mod fields;
mod frame;
mod guard;
mod habit;
mod harm;
mod homes;
mod kept;
mod libraries;
mod link;
mod lists;
mod methods;
mod misuse;
mod modelled;
mod noted;
mod order;
mod outline;
mod path;
mod race;
mod reading;
mod sealed;
mod sketch;
mod stages;
mod stale;
mod standing;
mod state;
mod summary;
mod summing;
mod tell;
mod uses;
mod value;

pub use about::{Asked, Covers, Uses};
pub use engine::{Compositional, Redone};

/// Where a synchronized method takes its lock.
pub(crate) const ENTRY: u32 = u32::MAX;
