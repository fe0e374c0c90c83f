//! A table of values by key, each with what it read, and who read what.

use crate::read::{Changes, Key, Kind, Read};
use crate::readers::Readers;
use crate::record::{Reads, note, record};
use crate::sizes::Sizes;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Fewer units than this are not worth handing out.
const MANY: usize = 64;

/// Values of one stage. Who asks for one is noted as having read it.
#[derive(Debug)]
pub struct Memo<K, V> {
    kind: Kind,
    /// Whether changes will come.
    follows: bool,
    units: FxHashMap<K, Unit<V>>,
    readers: Readers<K>,
}

/// There may be no value, for reasons that may change.
#[derive(Debug)]
struct Unit<V> {
    value: Option<V>,
    reads: Reads,
}

impl<K: Key, V> Memo<K, V> {
    pub fn new(kind: Kind, follows: bool) -> Memo<K, V> {
        Memo { kind, follows, units: FxHashMap::default(), readers: Readers::default() }
    }

    /// The value of a key, if it has one. Noted either way.
    pub fn get(&self, key: K) -> Option<&V> {
        note(key.read(self.kind));
        self.peek(key)
    }

    /// The same for who looks after the table and does not depend on it.
    pub fn peek(&self, key: K) -> Option<&V> {
        self.units.get(&key)?.value.as_ref()
    }

    /// Has anybody here read this?
    pub fn reads(&self, read: Read) -> bool {
        self.readers.contains(read)
    }

    /// How many keys were worked out.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// In no particular order, unnoted.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.units.iter().filter_map(|(&key, unit)| Some((key, unit.value.as_ref()?)))
    }

    /// Units that read something that changed, ascending.
    pub fn stale(&self, changes: &Changes) -> Vec<K> {
        if !changes.everything {
            let stale = self.readers.of(changes);
            changes.count_stale(stale.len());
            return stale;
        }
        let mut all: Vec<K> = self.units.keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// Works something out, with what it reads if changes will come.
    pub fn record<T>(&self, work: impl FnOnce() -> T) -> (T, Reads) {
        if self.follows { record(work) } else { (work(), Reads::default()) }
    }

    /// Puts a value, or that there is none, in the place of the one before, and returns that.
    pub fn set(&mut self, key: K, value: Option<V>, reads: Reads) -> Option<V> {
        let before = self.units.remove(&key);
        if let Some(before) = &before {
            self.readers.change(key, &before.reads, &reads);
        } else {
            self.readers.add(key, &reads);
        }
        self.units.insert(key, Unit { value, reads });
        before.and_then(|unit| unit.value)
    }

    /// The value of a unit that is there rests on these as well.
    pub fn add(&mut self, key: K, reads: Reads) {
        let Some(unit) = self.units.get_mut(&key) else { return };
        let mut all = unit.reads.to_vec();
        all.extend(reads.iter().filter(|read| unit.reads.binary_search(read).is_err()));
        all.sort_unstable();
        self.readers.add(key, &reads);
        unit.reads = all.into_boxed_slice();
    }

    /// Takes a unit out.
    pub fn remove(&mut self, key: K) -> Option<V> {
        let unit = self.units.remove(&key)?;
        self.readers.remove(key, &unit.reads);
        unit.value
    }

    /// Keys, and what they read.
    pub fn sizes(&self, sizes: &mut Sizes) {
        sizes.add(format!("{:?}", self.kind), self.units.len());
        sizes.add(format!("{:?} reads", self.kind), self.units.values().map(|unit| unit.reads.len()).sum());
    }

    pub fn clear(&mut self) {
        self.units.clear();
        self.readers = Readers::default();
    }
}

impl<K: Key + Send + Sync, V: PartialEq + Send + Sync> Memo<K, V> {
    /// Works the units of these keys out and tells which values differ from before. They must not read each other.
    pub fn update(
        &mut self,
        keys: &[K],
        changes: &mut Changes,
        eval: impl Fn(K) -> Option<V> + Sync,
    ) -> Vec<K> {
        self.redo(keys, changes, eval).into_iter().map(|(key, _)| key).collect()
    }

    /// The same, with the values before.
    pub fn redo(
        &mut self,
        keys: &[K],
        changes: &mut Changes,
        eval: impl Fn(K) -> Option<V> + Sync,
    ) -> Vec<(K, Option<V>)> {
        let follows = self.follows;
        let work = |&key: &K| {
            let (value, reads) = if follows { record(|| eval(key)) } else { (eval(key), Reads::default()) };
            (key, value, reads)
        };
        let worked: Vec<(K, Option<V>, Reads)> = if keys.len() >= MANY {
            keys.par_iter().map(work).collect()
        } else {
            keys.iter().map(work).collect()
        };
        let mut differing = Vec::new();
        for (key, value, reads) in worked {
            let is_same = self.peek(key) == value.as_ref();
            let before = self.set(key, value, reads);
            if !is_same {
                changes.add(key.read(self.kind));
                differing.push((key, before));
            }
        }
        differing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena::define_id;

    define_id! {
        /// A number on a sheet.
        Cell
    }

    /// `input[n]` is read as `Other`; the unit `n` is the sum of inputs `n` and `n + 1`, halved.
    fn eval(input: &[u32], n: Cell) -> Option<u32> {
        let read = |at: u32| {
            note(Read::of(Kind::Other, Cell(at)));
            input[at as usize]
        };
        Some((read(n.0) + read(n.0 + 1)) / 2)
    }

    #[test]
    fn only_readers_of_what_changed_are_stale_and_only_what_differs_is_told() {
        let mut input = [0, 2, 4, 6, 8];
        let keys: Vec<Cell> = (0..4).map(Cell).collect();
        let mut memo: Memo<Cell, u32> = Memo::new(Kind::Accesses, true);
        let mut changes = Changes::everything();
        assert_eq!(memo.update(&keys, &mut changes, |n| eval(&input, n)).len(), 4);

        input[2] = 5;
        let mut changes = Changes::default();
        changes.add(Read::of(Kind::Other, Cell(2)));
        assert_eq!(memo.stale(&changes), [Cell(1), Cell(2)]);
        assert_eq!(changes.stale(), 2);
        // (2 + 5) / 2 is 3 as before; (5 + 6) / 2 is 5 as before.
        let stale = memo.stale(&changes);
        assert!(memo.update(&stale, &mut changes, |n| eval(&input, n)).is_empty());
        assert_eq!(changes.len(), 1);

        input[2] = 7;
        let differing = memo.update(&stale, &mut changes, |n| eval(&input, n));
        assert_eq!(differing, [Cell(1), Cell(2)]);
        assert!(changes.contains(Read::of(Kind::Accesses, Cell(1))));
    }

    #[test]
    fn what_is_taken_out_is_never_stale() {
        let mut memo: Memo<Cell, u32> = Memo::new(Kind::Accesses, true);
        let mut changes = Changes::default();
        memo.update(&[Cell(0)], &mut changes, |n| eval(&[1, 1], n));
        assert_eq!(memo.remove(Cell(0)), Some(1));
        changes.add(Read::of(Kind::Other, Cell(0)));
        assert!(memo.stale(&changes).is_empty());
    }

    #[test]
    fn what_a_unit_inside_reads_is_not_what_the_one_around_it_reads() {
        let (_, outer) = record(|| {
            let (_, inner) = record(|| note(Read::all(Kind::Roots)));
            assert_eq!(inner.len(), 1);
            note(Read::all(Kind::Permits));
            crate::unnoted(|| note(Read::all(Kind::Lambdas)));
        });
        assert_eq!(outer.as_ref(), [Read::all(Kind::Permits)]);
    }
}
