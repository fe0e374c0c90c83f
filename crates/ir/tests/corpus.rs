//! Replays what the fuzzers of lowering and of the class reader start from and what they have found.

#[path = "support/everything.rs"]
mod everything;

use std::path::Path;

#[test]
fn the_fuzzing_corpus_is_lowered_without_panic() {
    let mut lowered = 0;
    for target in ["lowering", "classfile"] {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        for input in std::fs::read_dir(&corpus).unwrap_or_else(|e| panic!("{}: {e}", corpus.display())) {
            let bytes = std::fs::read(input.expect("an entry").path()).expect("a file");
            lowered += everything::lower_everything(&bytes).unwrap_or(0);
        }
    }
    assert!(lowered > 20, "only {lowered} methods");
}
