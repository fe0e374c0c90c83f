//! The program as the analysis sees it: classes, methods, fields and SSA bodies, loaded when first needed.
//! Owns identity and hierarchy; refuses to know any library by name beyond what the JVM itself defines.

mod align;
mod apart;
mod body;
pub mod cfg;
mod change;
mod delta;
pub mod descriptor;
mod display;
mod dump;
mod edit;
mod hierarchy;
mod kept;
mod load;
mod lower;
mod operands;
mod parsed;
mod program;
mod read;
mod slots;
mod stmts;
mod verify;

pub use align::Alignment;
pub use apart::{Apart, Renaming};
pub use body::*;
pub use delta::*;
pub use dump::dump;
pub use program::*;
pub use stmts::Stmts;
pub use verify::verify;
