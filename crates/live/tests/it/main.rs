//! Texts as they are typed, over the classes of a build.

mod broken;
mod edits;
mod processed;
mod support;
