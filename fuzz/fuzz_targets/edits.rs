//! Any edits of any fixture: every state on the way must be that of a run from nothing.

#![no_main]

use fixture::{Compiler, Shelf, replay};
use std::sync::LazyLock;

static SHELF: LazyLock<Shelf> =
    LazyLock::new(|| Shelf::open(&Compiler::of_environment()).expect("the fixtures compile"));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let shaken = replay(&SHELF, bytes);
    if let Some(problem) = shaken.problem {
        panic!("{}, {:?}: {problem}\n{}", shaken.name, shaken.way, shaken.trail.edits.join("\n"));
    }
});
