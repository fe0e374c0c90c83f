//! Dense bitsets over small index ranges: statements of a body, blocks, activations. Knows plain numbers only.

/// A growable set of small numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Bits {
    words: Vec<u64>,
}

impl Bits {
    pub fn new() -> Bits {
        Bits::default()
    }

    /// With room for `0..len`.
    pub fn with_len(len: usize) -> Bits {
        Bits { words: vec![0; len.div_ceil(64)] }
    }

    /// True if the number was not there.
    pub fn insert(&mut self, at: usize) -> bool {
        if self.words.len() <= at >> 6 {
            self.words.resize((at >> 6) + 1, 0);
        }
        let word = &mut self.words[at >> 6];
        let bit = 1 << (at & 63);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    pub fn remove(&mut self, at: usize) -> bool {
        match self.words.get_mut(at >> 6) {
            Some(word) => {
                let bit = 1 << (at & 63);
                let had = *word & bit != 0;
                *word &= !bit;
                had
            }
            None => false,
        }
    }

    #[inline]
    pub fn contains(&self, at: usize) -> bool {
        self.words.get(at >> 6).is_some_and(|word| word >> (at & 63) & 1 == 1)
    }

    /// Adds `from..to`.
    pub fn insert_range(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        if self.words.len() <= (to - 1) >> 6 {
            self.words.resize(((to - 1) >> 6) + 1, 0);
        }
        let (first, last) = (from >> 6, (to - 1) >> 6);
        for at in first..=last {
            let low = if at == first { u64::MAX << (from & 63) } else { u64::MAX };
            let high = if at == last { u64::MAX >> (63 - ((to - 1) & 63)) } else { u64::MAX };
            self.words[at] |= low & high;
        }
    }

    pub fn insert_all(&mut self, items: impl IntoIterator<Item = usize>) {
        for item in items {
            self.insert(item);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Adds all of `other`; true if one of them was not there.
    pub fn grow(&mut self, other: &Bits) -> bool {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut grown = false;
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            grown |= *other & !*word != 0;
            *word |= other;
        }
        grown
    }

    pub fn union_with(&mut self, other: &Bits) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// What only one of the two has.
    pub fn differing<'a>(&'a self, other: &'a Bits) -> impl Iterator<Item = usize> + 'a {
        let own = self.iter().filter(|&at| !other.contains(at));
        own.chain(other.iter().filter(|&at| !self.contains(at)))
    }

    pub fn intersects(&self, other: &Bits) -> bool {
        self.words.iter().zip(&other.words).any(|(word, other)| word & other != 0)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors((word != 0).then_some(word), |&left| {
                let left = left & (left - 1);
                (left != 0).then_some(left)
            })
            .map(move |left| at << 6 | left.trailing_zeros() as usize)
        })
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<T: IntoIterator<Item = usize>>(items: T) -> Self {
        let mut bits = Bits::new();
        for item in items {
            bits.insert(item);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterates_in_order() {
        let bits: Bits = [200, 3, 64, 63, 3].into_iter().collect();
        assert_eq!(bits.iter().collect::<Vec<_>>(), [3, 63, 64, 200]);
    }

    #[test]
    fn inserts_ranges_across_words() {
        for (from, to) in [(0, 0), (3, 9), (60, 70), (0, 64), (64, 128), (1, 300)] {
            let mut bits = Bits::new();
            bits.insert_range(from, to);
            assert_eq!(bits.iter().collect::<Vec<_>>(), (from..to).collect::<Vec<_>>());
        }
    }

    #[test]
    fn removes_what_was_there() {
        let mut bits: Bits = [5, 70].into_iter().collect();
        assert!(bits.remove(70));
        assert!(!bits.remove(70));
        assert!(!bits.remove(7000));
        assert!(bits.contains(5) && !bits.contains(70));
    }
}
