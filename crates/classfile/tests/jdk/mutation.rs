//! Damaged classes: a few thousand of the JDK's, each broken in several ways, the same ones in every run.

use crate::everything::read_everything;
use crate::image;
use rayon::prelude::*;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Every how many classes one is taken.
const STRIDE: usize = 8;
const MUTATIONS_PER_CLASS: u64 = 12;

#[test]
fn damaged_classes_neither_panic_nor_hang() {
    let results: Vec<_> = image::with_classes(|classes| {
        let sample = classes.par_iter().step_by(STRIDE).enumerate();
        sample
            .flat_map_iter(|(nr, class)| {
                let donor = classes[nr * 31 % classes.len()].data();
                (0..MUTATIONS_PER_CLASS).map(move |round| {
                    let seed = nr as u64 * MUTATIONS_PER_CLASS + round;
                    let damaged = mutate(class.data(), donor, &mut Random::new(seed));
                    let start = Instant::now();
                    let decoded = read_everything(&damaged);
                    let spent = start.elapsed();
                    assert!(spent < Duration::from_secs(5), "seed {seed} took {spent:?}");
                    decoded
                })
            })
            .collect()
    });
    let read = results.iter().flatten().count();
    println!("{} damaged classes, {read} of them still read", results.len());
    assert!(results.len() > 20_000);
    assert!(read > results.len() / 4, "too few get as far as instructions");
    assert!(read < results.len() * 9 / 10, "too little damage");
}

fn mutate(class: &[u8], donor: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = class.to_vec();
    match random.below(6) {
        0 => flip_bits(&mut bytes, random),
        1 => bytes.truncate(random.below(class.len())),
        2 => splice(&mut bytes, donor, random),
        3 => lie_about_lengths(&mut bytes, random),
        _ => {
            let code = some_code(class, random);
            match random.below(3) {
                0 => flip_bits(&mut bytes[code], random),
                1 => bytes[code].fill_with(|| random.below(256) as u8),
                // With the lengths before the code.
                _ => lie_about_lengths(&mut bytes[code.start - 12..code.end], random),
            }
        }
    }
    bytes
}

/// Where the code of one method lies in the class; all after the header, if it has none.
fn some_code(class: &[u8], random: &mut Random) -> Range<usize> {
    let read = classfile::parse(class).expect("a class of the JDK");
    let bodies: Vec<_> = read.methods.iter().filter_map(|method| method.code.as_ref()).collect();
    let Some(code) = bodies.get(random.below(bodies.len())) else { return 12..class.len() };
    let start = code.bytes.as_ptr().addr() - class.as_ptr().addr();
    start..start + code.bytes.len()
}

fn flip_bits(bytes: &mut [u8], random: &mut Random) {
    for _ in 0..=random.below(16) {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }
}

/// Replaces a range by one of another class, of another length.
fn splice(bytes: &mut Vec<u8>, donor: &[u8], random: &mut Random) {
    let start = random.below(bytes.len());
    let end = (start + random.below(64)).min(bytes.len());
    let donor_start = random.below(donor.len());
    let donor_end = (donor_start + random.below(64)).min(donor.len());
    bytes.splice(start..end, donor[donor_start..donor_end].iter().copied());
}

/// Overwrites numbers, wherever they are, with the ones that lengths and indices are most likely to break on.
fn lie_about_lengths(bytes: &mut [u8], random: &mut Random) {
    const LIES: [u32; 8] = [0, 1, 0x7fff, 0xffff, 0x0001_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
    for _ in 0..=random.below(4) {
        let width = [1, 2, 4][random.below(3)];
        let lie = LIES[random.below(LIES.len())].to_be_bytes();
        let at = random.below(bytes.len().saturating_sub(4));
        bytes[at..at + width].copy_from_slice(&lie[4 - width..]);
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit.max(1) as u64) as usize
    }
}
