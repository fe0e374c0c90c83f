//! Replays what the fuzzer starts from and what it has found.

#[path = "support/everything.rs"]
mod everything;

use std::path::Path;

#[test]
fn the_fuzzing_corpus_is_read_without_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/classfile");
    let inputs = std::fs::read_dir(&corpus).unwrap_or_else(|e| panic!("{}: {e}", corpus.display()));
    let read = inputs.map(|input| std::fs::read(input.expect("an entry").path()).expect("a file"));
    let decoded: Vec<_> = read.map(|bytes| everything::read_everything(&bytes)).collect();
    // The seeds, at least, are classes with code.
    assert!(decoded.iter().filter(|&&count| count > Some(0)).count() >= 8, "{decoded:?}");
}
