//! Values that know what they were worked out from: a query notes what it read, a memo keeps a value with what was
//! noted meanwhile, and after a change only values that read something that changed are worked out again. Written by
//! hand because the stages run in a fixed order and compare whole tables, which the general engines are not made
//! for. Knows nothing of what is read.

mod asked;
mod memo;
mod read;
mod readers;
mod record;
mod single;
mod sizes;

pub use asked::Asked;
pub use memo::Memo;
pub use read::{Changes, Key, Kind, Read};
pub use record::{Reads, note, record, unnoted};
pub use single::Single;
pub use sizes::Sizes;
