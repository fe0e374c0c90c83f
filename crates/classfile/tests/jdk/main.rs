//! The reader against every class of the running JDK: the same as two other readers and as `javap`, and
//! unharmed by mutated bytes.

mod agreement;
mod cafebabe_oracle;
mod image;
mod insn_of_opcode;
mod javap;
mod mutation;
mod noak_oracle;

#[path = "../support/everything.rs"]
mod everything;

use agreement::{Difference, Tally};
use classfile::ClassFile;
use rayon::prelude::*;

type Oracle = fn(&ClassFile<'_>, &[u8]) -> Result<Tally, Difference>;

/// noak 0.7 reads all classes of JDK 17 and 25. Only its LineNumberTable is wrong (it takes the two-byte
/// start for four bytes), so that lines are left to the other oracle.
const MOST_REFUSED_BY_NOAK: usize = 0;

/// Classes that cafebabe 0.9 does not read, because bootstrap methods take dynamic constants as arguments:
/// none in JDK 17, one in JDK 25 (`jdk/jpackage/internal/PackageBuilder`).
const MOST_REFUSED_BY_CAFEBABE: usize = 5;

#[test]
fn every_class_is_read_as_noak_reads_it() {
    compare_all(noak_oracle::compare, MOST_REFUSED_BY_NOAK);
}

#[test]
fn every_class_is_read_as_cafebabe_reads_it() {
    let tally = compare_all(cafebabe_oracle::compare, MOST_REFUSED_BY_CAFEBABE);
    assert!(tally.lines > 0 && tally.locals > 0 && tally.annotations > 0 && tally.bootstrap_methods > 0);
}

fn compare_all(oracle: Oracle, most_refused: usize) -> Tally {
    let tally = image::with_classes(|classes| {
        let tallies = classes.par_iter().map(|class| compare_one(oracle, &class.full_name(), class.data()));
        tallies.reduce(Tally::default, Tally::plus)
    });
    println!("{tally:#?}");
    assert!(tally.differences.is_empty(), "{}", tally.differences.join("\n"));
    assert!(tally.refused.len() <= most_refused, "{}", tally.refused.join("\n"));
    assert!(tally.classes > 10_000 && tally.instructions > 1_000_000, "too little compared: {tally:?}");
    tally
}

fn compare_one(oracle: Oracle, name: &str, bytes: &[u8]) -> Tally {
    let ours = match classfile::parse(bytes) {
        Ok(ours) if ours.problems.is_empty() => ours,
        Ok(ours) => return Tally::difference(format!("{name}: we left out {:?}", ours.problems)),
        Err(error) => return Tally::difference(format!("{name}: we refused: {error}")),
    };
    match std::panic::catch_unwind(|| oracle(&ours, bytes)) {
        Ok(Ok(tally)) => tally,
        Ok(Err(Difference::Refused(why))) => Tally::refusal(format!("{name}: {why}")),
        Ok(Err(Difference::Differs(what))) => Tally::difference(format!("{name}: {what}")),
        Err(_) => Tally::refusal(format!("{name}: panicked")),
    }
}
