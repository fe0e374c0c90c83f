//! Whole programs through the built binary: every kind of input, good and bad.

mod bad_input;
mod baseline;
mod beginnings;
mod bench;
mod config;
mod crowds;
mod diff;
mod explain;
mod inputs;
mod kept;
mod kept_state;
mod lists;
mod models;
mod rules;
mod sites;
mod support;
mod suppress;
mod watch;
