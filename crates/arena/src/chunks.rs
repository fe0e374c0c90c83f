//! A long list that never moves what it holds: large ones grow without being copied, which costs as much as filling
//! them.

use crate::Id;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

const BITS: usize = 10;
const CHUNK: usize = 1 << BITS;

/// As [`crate::IndexVec`], in pieces of equal size.
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
pub struct Chunks<I, T> {
    chunks: Vec<Vec<T>>,
    len: usize,
    kind: PhantomData<fn(I)>,
}

impl<I: Id, T> Chunks<I, T> {
    pub fn push(&mut self, item: T) -> I {
        if self.len.is_multiple_of(CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        if let Some(last) = self.chunks.last_mut() {
            last.push(item);
        }
        self.len += 1;
        I::new(self.len - 1)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.len).map(I::new)
    }

    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.chunks.iter().flatten().enumerate().map(|(index, item)| (I::new(index), item))
    }
}

impl<I, T> Default for Chunks<I, T> {
    fn default() -> Self {
        Chunks { chunks: Vec::new(), len: 0, kind: PhantomData }
    }
}

impl<I: Id, T> Index<I> for Chunks<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.chunks[id.index() >> BITS][id.index() & (CHUNK - 1)]
    }
}

impl<I: Id, T> IndexMut<I> for Chunks<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.chunks[id.index() >> BITS][id.index() & (CHUNK - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::define_id;

    define_id!(N);

    #[test]
    fn holds_what_was_pushed_in_order() {
        let mut chunks: Chunks<N, usize> = Chunks::default();
        for at in 0..5000 {
            assert_eq!(chunks.push(at * 3), N(at as u32));
        }
        chunks[N(4999)] = 7;
        assert_eq!((chunks.len(), chunks[N(1024)], chunks[N(4999)]), (5000, 3072, 7));
        assert!(chunks.iter().zip(chunks.ids()).all(|((id, _), other)| id == other));
        assert_eq!(
            chunks.iter().map(|(_, &item)| item).sum::<usize>(),
            (0..4999).map(|at| at * 3).sum::<usize>() + 7
        );
    }
}
