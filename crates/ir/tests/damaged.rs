//! Damaged classes: some of the JDK's, each broken in several ways inside its code, the same ones in every run.
//! Nothing may panic or hang, and what still lowers must be valid.

#[path = "support/answers.rs"]
#[allow(dead_code, reason = "other tests ask more")]
mod answers;
#[path = "support/everything.rs"]
mod everything;
mod support;

use classfile::ClassSource;
use everything::lower_everything;
use ir::Program;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const STRIDE: usize = 16;
const MUTATIONS_PER_CLASS: u64 = 8;

#[test]
fn damaged_classes_neither_panic_nor_hang() {
    let jdk = support::Jdk::open();
    let names = jdk.class_names("");
    let sample: Vec<(usize, &String)> = names.iter().step_by(STRIDE).enumerate().collect();
    let results: Vec<Option<usize>> = sample
        .par_iter()
        .flat_map_iter(|&(nr, name)| {
            let class = jdk.find(name).expect("listed").bytes;
            (0..MUTATIONS_PER_CLASS).map(move |round| {
                let seed = nr as u64 * MUTATIONS_PER_CLASS + round;
                let damaged = mutate(&class, &mut Random(seed));
                let start = Instant::now();
                let lowered = lower_everything(&damaged);
                let spent = start.elapsed();
                assert!(spent < Duration::from_secs(10), "seed {seed} of {name} took {spent:?}");
                lowered
            })
        })
        .collect();
    let read = results.iter().flatten().count();
    println!("{} damaged classes, {read} of them still read", results.len());
    assert!(results.len() > 10_000);
    assert!(read > results.len() / 2, "too few get as far as lowering");
}

#[test]
fn classes_can_be_damaged_and_mended_under_a_program() {
    let jdk = Arc::new(support::Jdk::open());
    let names = jdk.class_names("java.base");
    let over = |name: &String, bytes: Vec<u8>| {
        let classes = BTreeMap::from([(name.clone(), bytes)]);
        Arc::new(support::Memory { classes, below: Some(jdk.clone()) })
    };
    names.par_iter().step_by(STRIDE * 2).enumerate().for_each(|(seed, name)| {
        let whole = jdk.find(name).expect("listed").bytes.to_vec();
        let describe = |program: &mut Program| {
            let described = answers::described(program, name, |_| true);
            (described, answers::problems(program))
        };
        let mut program = Program::new(over(name, whole.clone()));
        let first = describe(&mut program);
        for round in 0..3 {
            let damaged = mutate(&whole, &mut Random(seed as u64 * 3 + round));
            let source = over(name, damaged);
            let delta = program.diff(source.clone(), std::slice::from_ref(name));
            program.commit(&delta);
            assert_eq!(describe(&mut program).0, describe(&mut Program::new(source)).0, "{name} {round}");
            let delta = program.diff(over(name, whole.clone()), std::slice::from_ref(name));
            program.commit(&delta);
            assert_eq!(describe(&mut program).0, first.0, "{name} {round}");
            // What is only named by damaged code may be missing for good.
            let is_other = |told: &&String| !told.starts_with("missing ");
            let told = describe(&mut program).1;
            assert_eq!(told.iter().filter(is_other).collect::<Vec<_>>(), first.1.iter().collect::<Vec<_>>());
        }
    });
}

/// Anywhere, or in all of the code: bytes overwritten, bytes copied from elsewhere, bits flipped.
fn mutate(class: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = class.to_vec();
    let read = classfile::parse(class).expect("a class of the JDK");
    let bodies = read.methods.iter().filter_map(|method| method.code.as_ref());
    // With the limits of stack and locals before the code and the first handlers behind it.
    let ranges: Vec<_> = bodies
        .map(|code| {
            let start = code.bytes.as_ptr().addr() - class.as_ptr().addr();
            start - 8..(start + code.bytes.len() + 18).min(class.len())
        })
        .collect();
    if ranges.is_empty() || random.below(8) == 0 {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
        return bytes;
    }
    for range in ranges {
        for _ in 0..random.below(4) {
            let at = range.start + random.below(range.len());
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = random.below(256) as u8,
                2 => bytes[at] = bytes[range.start + random.below(range.len())],
                // Subroutines are what compilers no longer test for us.
                _ => bytes[at] = [0xa8, 0xa9, 0xc4, 0xa7, 0xaa, 0xab][random.below(6)],
            }
        }
    }
    bytes
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit.max(1) as u64) as usize
    }
}
