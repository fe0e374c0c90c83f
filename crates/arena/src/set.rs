//! Sets of ids: a short sorted list while small, then sorted blocks of 64 bits. Iteration is ascending.

use crate::Id;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

const SMALL: usize = 12;

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct IdSet<I> {
    repr: Repr,
    kind: PhantomData<fn(I)>,
}

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Repr {
    /// At most `SMALL` ids, ascending.
    List(Vec<u32>),
    /// Blocks `(index, bits)`, ascending by index, no empty block; `len` counts the bits.
    Blocks { blocks: Vec<(u32, u64)>, len: u32 },
}

impl<I> Default for IdSet<I> {
    fn default() -> Self {
        IdSet { repr: Repr::List(Vec::new()), kind: PhantomData }
    }
}

impl<I: Id> IdSet<I> {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn len(&self) -> usize {
        match &self.repr {
            Repr::List(list) => list.len(),
            Repr::Blocks { len, .. } => *len as usize,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn contains(&self, id: I) -> bool {
        let id = id.index() as u32;
        match &self.repr {
            Repr::List(list) => list.contains(&id),
            Repr::Blocks { blocks, .. } => blocks
                .binary_search_by_key(&(id >> 6), |block| block.0)
                .is_ok_and(|at| blocks[at].1 >> (id & 63) & 1 == 1),
        }
    }

    /// Adds `id`; true if it was not there.
    pub fn insert(&mut self, id: I) -> bool {
        let id = id.index() as u32;
        match &mut self.repr {
            Repr::List(list) => {
                let Err(at) = list.binary_search(&id) else { return false };
                if list.len() < SMALL {
                    list.insert(at, id);
                    return true;
                }
                let mut blocks: Vec<(u32, u64)> = Vec::with_capacity(SMALL);
                for &old in list.iter() {
                    match blocks.last_mut() {
                        Some(last) if last.0 == old >> 6 => last.1 |= 1 << (old & 63),
                        _ => blocks.push((old >> 6, 1 << (old & 63))),
                    }
                }
                let len = list.len() as u32;
                self.repr = Repr::Blocks { blocks, len };
                self.insert(I::new(id as usize))
            }
            Repr::Blocks { blocks, len } => {
                let bit = 1u64 << (id & 63);
                // Ids are handed out in order, so the last block is the likely one.
                let found = match blocks.last() {
                    Some(last) if last.0 == id >> 6 => Ok(blocks.len() - 1),
                    Some(last) if last.0 < id >> 6 => Err(blocks.len()),
                    _ => blocks.binary_search_by_key(&(id >> 6), |block| block.0),
                };
                match found {
                    Ok(at) if blocks[at].1 & bit != 0 => false,
                    Ok(at) => {
                        blocks[at].1 |= bit;
                        *len += 1;
                        true
                    }
                    Err(at) => {
                        blocks.insert(at, (id >> 6, bit));
                        *len += 1;
                        true
                    }
                }
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        let (list, blocks) = match &self.repr {
            Repr::List(list) => (list.as_slice(), [].as_slice()),
            Repr::Blocks { blocks, .. } => ([].as_slice(), blocks.as_slice()),
        };
        let in_blocks = blocks.iter().flat_map(|&(index, bits)| Bits(bits).map(move |bit| index << 6 | bit));
        list.iter().copied().chain(in_blocks).map(|id| I::new(id as usize))
    }

    /// Blocks of 64 ids, ascending; a list is presented the same way.
    fn blocks(&self) -> Vec<(u32, u64)> {
        match &self.repr {
            Repr::Blocks { blocks, .. } => blocks.clone(),
            Repr::List(list) => {
                let mut blocks: Vec<(u32, u64)> = Vec::with_capacity(list.len());
                for &id in list {
                    match blocks.last_mut() {
                        Some(last) if last.0 == id >> 6 => last.1 |= 1 << (id & 63),
                        _ => blocks.push((id >> 6, 1 << (id & 63))),
                    }
                }
                blocks
            }
        }
    }

    pub fn intersects(&self, other: &Self) -> bool {
        let (small, large) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        if small.len() <= SMALL {
            return small.iter().any(|id| large.contains(id));
        }
        let (left, right) = (small.blocks(), large.blocks());
        let (mut i, mut j) = (0, 0);
        while i < left.len() && j < right.len() {
            match left[i].0.cmp(&right[j].0) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal if left[i].1 & right[j].1 != 0 => return true,
                std::cmp::Ordering::Equal => {
                    i += 1;
                    j += 1;
                }
            }
        }
        false
    }

    pub fn is_subset(&self, other: &Self) -> bool {
        let (Repr::Blocks { blocks: own, .. }, Repr::Blocks { blocks, .. }) = (&self.repr, &other.repr)
        else {
            return self.len() <= other.len() && self.iter().all(|id| other.contains(id));
        };
        let mut blocks = blocks.iter();
        own.iter().all(|&(index, bits)| {
            blocks
                .by_ref()
                .find(|&&(other, _)| other >= index)
                .is_some_and(|&(other, all)| other == index && bits & !all == 0)
        })
    }

    /// The only member, if there is exactly one.
    pub fn single(&self) -> Option<I> {
        if self.len() == 1 { self.iter().next() } else { None }
    }

    /// Adds every member of `other` whose bit is set in `mask` (all, without one); what was new goes to `fresh`
    /// as well. Returns how many were new.
    pub fn absorb(&mut self, other: &Self, mask: Option<&[u64]>, fresh: &mut Self) -> usize {
        let passes = |id: u32| mask.is_none_or(|mask| mask[id as usize >> 6] >> (id & 63) & 1 == 1);
        match (&mut self.repr, &other.repr) {
            (Repr::Blocks { blocks, len }, Repr::Blocks { blocks: from, .. }) => {
                let (added, missing) = merge_present(blocks, from, mask, fresh);
                let inserted: u32 = missing.iter().map(|block| block.1.count_ones()).sum();
                if !missing.is_empty() {
                    merge_missing(blocks, &missing);
                }
                *len += added + inserted;
                (added + inserted) as usize
            }
            _ => {
                let mut added = 0;
                for id in other.iter() {
                    if passes(id.index() as u32) && self.insert(id) {
                        fresh.insert(id);
                        added += 1;
                    }
                }
                added
            }
        }
    }

    fn insert_block(&mut self, index: u32, bits: u64) {
        if let Repr::Blocks { blocks, len } = &mut self.repr {
            match blocks.last_mut() {
                Some(last) if last.0 < index => {
                    blocks.push((index, bits));
                    *len += bits.count_ones();
                    return;
                }
                _ => {
                    if let Ok(at) = blocks.binary_search_by_key(&index, |block| block.0) {
                        *len += (bits & !blocks[at].1).count_ones();
                        blocks[at].1 |= bits;
                        return;
                    }
                }
            }
        }
        for bit in Bits(bits) {
            self.insert(I::new((index << 6 | bit) as usize));
        }
    }

    pub fn union_with(&mut self, other: &Self) {
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        self.absorb(other, None, &mut Self::new());
    }

    /// Takes `id` out; true if it was there.
    pub fn remove(&mut self, id: I) -> bool {
        let id = id.index() as u32;
        match &mut self.repr {
            Repr::List(list) => match list.binary_search(&id) {
                Ok(at) => {
                    list.remove(at);
                    true
                }
                Err(_) => false,
            },
            Repr::Blocks { blocks, len } => {
                let Ok(at) = blocks.binary_search_by_key(&(id >> 6), |block| block.0) else { return false };
                let bit = 1u64 << (id & 63);
                if blocks[at].1 & bit == 0 {
                    return false;
                }
                blocks[at].1 &= !bit;
                *len -= 1;
                if blocks[at].1 == 0 {
                    blocks.remove(at);
                }
                self.shrink();
                true
            }
        }
    }

    /// Takes every member of `other` out.
    pub fn subtract(&mut self, other: &Self) {
        match (&mut self.repr, &other.repr) {
            (Repr::Blocks { blocks, len }, Repr::Blocks { blocks: from, .. }) => {
                let mut from = from.iter().peekable();
                blocks.retain_mut(|block| {
                    while from.next_if(|other| other.0 < block.0).is_some() {}
                    if let Some(other) = from.peek().filter(|other| other.0 == block.0) {
                        *len -= (block.1 & other.1).count_ones();
                        block.1 &= !other.1;
                    }
                    block.1 != 0
                });
                self.shrink();
            }
            (Repr::List(list), _) => list.retain(|&id| !other.contains(I::new(id as usize))),
            (Repr::Blocks { .. }, Repr::List(list)) => {
                for &id in list {
                    self.remove(I::new(id as usize));
                }
            }
        }
    }

    /// What is in both.
    pub fn intersection(&self, other: &Self) -> Self {
        if let (Repr::Blocks { blocks: own, .. }, Repr::Blocks { blocks: from, .. }) =
            (&self.repr, &other.repr)
        {
            let mut from = from.iter().peekable();
            let mut blocks = Vec::new();
            for &(index, bits) in own {
                while from.next_if(|other| other.0 < index).is_some() {}
                if let Some(other) = from.peek().filter(|other| other.0 == index && other.1 & bits != 0) {
                    blocks.push((index, other.1 & bits));
                }
            }
            let len = blocks.iter().map(|block| block.1.count_ones()).sum();
            let mut both = IdSet { repr: Repr::Blocks { blocks, len }, kind: PhantomData };
            both.shrink();
            return both;
        }
        let (small, large) = if self.len() <= other.len() { (self, other) } else { (other, self) };
        small.iter().filter(|&id| large.contains(id)).collect()
    }

    /// A set that is small again is a list again: equal sets are represented equally.
    fn shrink(&mut self) {
        if let Repr::Blocks { len, .. } = &self.repr
            && *len as usize <= SMALL
        {
            let list = self.iter().map(|id| id.index() as u32).collect();
            self.repr = Repr::List(list);
        }
    }
}

/// Ors `from` into the blocks that exist; returns how many bits were new there, and the blocks that are missing.
fn merge_present<I: Id>(
    blocks: &mut [(u32, u64)],
    from: &[(u32, u64)],
    mask: Option<&[u64]>,
    fresh: &mut IdSet<I>,
) -> (u32, Vec<(u32, u64)>) {
    let (mut added, mut at) = (0, 0);
    let mut missing = Vec::new();
    for &(index, bits) in from {
        let bits = bits & mask.map_or(u64::MAX, |mask| mask[index as usize]);
        if bits == 0 {
            continue;
        }
        while at < blocks.len() && blocks[at].0 < index {
            at += 1;
        }
        if at < blocks.len() && blocks[at].0 == index {
            let new = bits & !blocks[at].1;
            if new != 0 {
                blocks[at].1 |= new;
                added += new.count_ones();
                fresh.insert_block(index, new);
            }
        } else {
            missing.push((index, bits));
            fresh.insert_block(index, bits);
        }
    }
    (added, missing)
}

/// Inserts blocks that are not there yet, from the back so that each old block moves once.
fn merge_missing(blocks: &mut Vec<(u32, u64)>, missing: &[(u32, u64)]) {
    let mut old = blocks.len();
    let mut new = missing.len();
    blocks.resize(old + new, (0, 0));
    while new > 0 {
        if old > 0 && blocks[old - 1].0 > missing[new - 1].0 {
            blocks[old + new - 1] = blocks[old - 1];
            old -= 1;
        } else {
            blocks[old + new - 1] = missing[new - 1];
            new -= 1;
        }
    }
}

impl<I: Id> Extend<I> for IdSet<I> {
    fn extend<T: IntoIterator<Item = I>>(&mut self, ids: T) {
        ids.into_iter().for_each(|id| {
            self.insert(id);
        });
    }
}

impl<I: Id> FromIterator<I> for IdSet<I> {
    fn from_iter<T: IntoIterator<Item = I>>(ids: T) -> Self {
        let mut set = Self::new();
        for id in ids {
            set.insert(id);
        }
        set
    }
}

impl<I: Id> std::fmt::Debug for IdSet<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

struct Bits(u64);

impl Iterator for Bits {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::define_id;
    use std::collections::BTreeSet;

    define_id!(N);

    /// A small deterministic generator, enough to mix ids.
    fn numbers(seed: u64, count: usize, below: u64) -> Vec<u32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % below) as u32
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn behaves_like_an_ordered_set() {
        for (seed, &(count, below)) in
            [(3, 10), (12, 30), (13, 1000), (200, 500), (400, 100_000)].iter().enumerate()
        {
            let ids = numbers(seed as u64, count, below);
            let set: IdSet<N> = ids.iter().map(|&id| N(id)).collect();
            let oracle: BTreeSet<u32> = ids.into_iter().collect();
            assert_eq!(
                set.iter().map(|id| id.0).collect::<Vec<_>>(),
                oracle.iter().copied().collect::<Vec<_>>()
            );
            assert_eq!(set.len(), oracle.len());
            assert!((0..below as u32).all(|id| set.contains(N(id)) == oracle.contains(&id)));
        }
    }

    #[test]
    fn is_a_subset_if_every_member_is_there() {
        for seed in 0..300 {
            let all = numbers(seed, 1 + seed as usize % 90, 500);
            let mut some = all[..all.len() - seed as usize % all.len()].to_vec();
            some.extend(numbers(seed, usize::from(seed % 3 == 0), 600));
            let (set, part): (IdSet<N>, IdSet<N>) =
                (all.iter().map(|&id| N(id)).collect(), some.iter().map(|&id| N(id)).collect());
            let is_part = some.iter().all(|id| all.contains(id));
            assert_eq!(part.is_subset(&set), is_part);
        }
    }

    #[test]
    fn absorbs_what_the_mask_lets_through_and_tells_what_was_new() {
        for seed in 0..300 {
            let below = [20, 200, 5000][seed as usize % 3];
            let left = numbers(seed, 1 + seed as usize % 60, below);
            let right = numbers(seed + 1000, 1 + seed as usize % 90, below);
            let mut mask = vec![0u64; below as usize / 64 + 1];
            for id in numbers(seed + 2000, below as usize / 2, below) {
                mask[id as usize >> 6] |= 1 << (id & 63);
            }
            let mask = (seed % 2 == 0).then_some(mask.as_slice());
            let mut set: IdSet<N> = left.iter().map(|&id| N(id)).collect();
            let other: IdSet<N> = right.iter().map(|&id| N(id)).collect();
            let mut fresh = IdSet::new();
            let added = set.absorb(&other, mask, &mut fresh);

            let old: BTreeSet<u32> = left.into_iter().collect();
            let passes = |id: u32| mask.is_none_or(|mask| mask[id as usize >> 6] >> (id & 63) & 1 == 1);
            let new: BTreeSet<u32> =
                right.into_iter().filter(|&id| passes(id) && !old.contains(&id)).collect();
            assert_eq!(fresh.iter().map(|id| id.0).collect::<BTreeSet<_>>(), new);
            assert_eq!((added, fresh.len()), (new.len(), new.len()));
            let all: Vec<u32> = old.union(&new).copied().collect();
            assert_eq!(set.iter().map(|id| id.0).collect::<Vec<_>>(), all);
            assert_eq!(set.len(), all.len());
        }
    }

    #[test]
    fn takes_out_what_it_is_told_to() {
        for seed in 0..400 {
            let below = [20, 200, 5000][seed as usize % 3];
            let left = numbers(seed, 1 + seed as usize % 60, below);
            let right = numbers(seed + 1000, 1 + seed as usize % 90, below);
            let set: IdSet<N> = left.iter().map(|&id| N(id)).collect();
            let other: IdSet<N> = right.iter().map(|&id| N(id)).collect();
            let is_right = |id: &u32| right.contains(id);
            let rest: IdSet<N> = left.iter().filter(|id| !is_right(id)).map(|&id| N(id)).collect();
            let both: IdSet<N> = left.iter().filter(|id| is_right(id)).map(|&id| N(id)).collect();
            let (mut at_once, mut one_by_one) = (set.clone(), set.clone());
            at_once.subtract(&other);
            for id in other.iter() {
                assert_eq!(one_by_one.remove(id), set.contains(id));
            }
            assert_eq!((&at_once, &one_by_one), (&rest, &rest));
            assert_eq!(set.intersection(&other), both);
        }
    }

    #[test]
    fn meets_and_subsets() {
        for seed in 0..200 {
            let left: IdSet<N> = numbers(seed, 1 + seed as usize % 40, 300).into_iter().map(N).collect();
            let right: IdSet<N> = numbers(seed + 7, 1 + seed as usize % 30, 300).into_iter().map(N).collect();
            assert_eq!(left.intersects(&right), left.iter().any(|id| right.contains(id)));
            assert_eq!(left.is_subset(&right), left.iter().all(|id| right.contains(id)));
        }
    }
}
