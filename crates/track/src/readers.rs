//! Who read what. Most things are read by a few, some by nearly everybody.

use crate::read::{Changes, Read};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// More readers than this are not kept in a list.
const FEW: usize = 64;

#[derive(Debug)]
pub(crate) struct Readers<K> {
    by_read: FxHashMap<Read, Keys<K>>,
}

/// There are hundreds of thousands, so those of one reader take no room of their own.
#[derive(Debug)]
enum Keys<K> {
    One(K),
    Few(Vec<K>),
    Many(Box<FxHashSet<K>>),
}

impl<K> Default for Readers<K> {
    fn default() -> Readers<K> {
        Readers { by_read: FxHashMap::default() }
    }
}

impl<K: Copy + Eq + Hash> Keys<K> {
    fn add(&mut self, key: K) {
        match self {
            Keys::One(one) if *one == key => {}
            Keys::One(one) => *self = Keys::Few(vec![*one, key]),
            Keys::Many(keys) => _ = keys.insert(key),
            Keys::Few(keys) if keys.contains(&key) => {}
            Keys::Few(keys) if keys.len() < FEW => keys.push(key),
            Keys::Few(keys) => {
                let mut many: FxHashSet<K> = keys.drain(..).collect();
                many.insert(key);
                *self = Keys::Many(Box::new(many));
            }
        }
    }

    /// True if nobody is left.
    fn remove(&mut self, key: K) -> bool {
        match self {
            Keys::One(one) => *one == key,
            Keys::Many(keys) => {
                keys.remove(&key);
                keys.is_empty()
            }
            Keys::Few(keys) => {
                if let Some(at) = keys.iter().position(|&other| other == key) {
                    keys.swap_remove(at);
                }
                if let &[one] = &keys[..] {
                    *self = Keys::One(one);
                }
                false
            }
        }
    }

    fn put_into(&self, all: &mut Vec<K>) {
        match self {
            Keys::One(one) => all.push(*one),
            Keys::Few(keys) => all.extend(keys),
            Keys::Many(keys) => all.extend(keys.iter()),
        }
    }
}

impl<K: Copy + Eq + Ord + Hash> Readers<K> {
    pub(crate) fn add(&mut self, key: K, reads: &[Read]) {
        for &read in reads {
            self.by_read.entry(read).and_modify(|keys| keys.add(key)).or_insert(Keys::One(key));
        }
    }

    /// Both sorted; most of what is read again was read before.
    pub(crate) fn change(&mut self, key: K, before: &[Read], now: &[Read]) {
        let is_in = |reads: &[Read], read: &Read| reads.binary_search(read).is_ok();
        if before != now {
            let gone: Vec<Read> = before.iter().filter(|read| !is_in(now, read)).copied().collect();
            let new: Vec<Read> = now.iter().filter(|read| !is_in(before, read)).copied().collect();
            self.remove(key, &gone);
            self.add(key, &new);
        }
    }

    pub(crate) fn remove(&mut self, key: K, reads: &[Read]) {
        for read in reads {
            if self.by_read.get_mut(read).is_some_and(|keys| keys.remove(key)) {
                self.by_read.remove(read);
            }
        }
    }

    pub(crate) fn contains(&self, read: Read) -> bool {
        self.by_read.contains_key(&read)
    }

    /// Ascending.
    pub(crate) fn of(&self, changes: &Changes) -> Vec<K> {
        let mut found: Vec<K> = Vec::new();
        if changes.len() < self.by_read.len() {
            for read in changes.iter() {
                self.by_read.get(&read).into_iter().for_each(|keys| keys.put_into(&mut found));
            }
        } else {
            for (_, keys) in self.by_read.iter().filter(|&(&read, _)| changes.contains(read)) {
                keys.put_into(&mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Kind;
    use arena::define_id;

    define_id! {
        /// Something that is read.
        Input
    }

    #[test]
    fn readers_come_and_go_however_many_they_are() {
        let (read, mut readers) = (Read::of(Kind::Other, Input(7)), Readers::default());
        let mut changes = Changes::default();
        changes.add(read);
        for count in [1, 2, 3, 64, 65, 200] {
            let keys: Vec<u32> = (0..count).collect();
            keys.iter().chain(&keys).for_each(|&key| readers.add(key, &[read]));
            assert_eq!(readers.of(&changes), keys);
            for key in keys {
                assert!(readers.contains(read));
                readers.remove(1000, &[read]);
                readers.remove(key, &[read]);
            }
            assert!(!readers.contains(read) && readers.of(&changes).is_empty());
        }
    }
}
