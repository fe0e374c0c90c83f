//! What a session says about fields and locks, word by word; that it says after edits what it would say at first, and
//! that to ask changes nothing.

mod engines;
mod fields;
mod following;
mod locks;
mod programs;
mod timing;
