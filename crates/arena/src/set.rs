//! Sets of ids: a short sorted list while small, then sorted blocks of 64 bits. Iteration is ascending.

use crate::Id;
use std::marker::PhantomData;

const SMALL: usize = 12;

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdSet<I> {
    repr: Repr,
    kind: PhantomData<fn(I)>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
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
        self.len() <= other.len() && self.iter().all(|id| other.contains(id))
    }

    /// The only member, if there is exactly one.
    pub fn single(&self) -> Option<I> {
        if self.len() == 1 { self.iter().next() } else { None }
    }

    /// Members of `self` that pass `keep` and are not in `other`, moved into `other`: what is new to it.
    pub fn flow_into(&self, other: &mut Self, mut keep: impl FnMut(I) -> bool) -> Self {
        let mut fresh = Self::new();
        for id in self.iter() {
            if !other.contains(id) && keep(id) {
                other.insert(id);
                fresh.insert(id);
            }
        }
        fresh
    }

    pub fn union_with(&mut self, other: &Self) {
        for id in other.iter() {
            self.insert(id);
        }
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
