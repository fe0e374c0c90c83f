//! Which pieces of code may run at the same time, and which locks are certainly held: origins (threads and
//! tasks), may-overlap between them, must-held locksets. Knows accesses only as statements; reports nothing.

mod types;

pub use types::*;
