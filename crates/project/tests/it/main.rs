//! The crate from outside: every kind of input, and every kind of bad input.

mod bad_input;
mod build_paths;
mod identity;
mod jars;
mod jdk;
mod projects;
mod support;
mod trees;
mod watch;
mod watch_jars;
mod watch_random;
mod watch_sources;
mod watch_support;
