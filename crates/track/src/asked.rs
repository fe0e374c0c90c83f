//! A memo that fills itself while other units are worked out: each question is answered once, and again only when
//! something changed that the answer was worked out from.

use crate::read::{Changes, Kind, Read};
use crate::readers::Readers;
use crate::record::{Reads, note, record};
use arena::define_id;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

define_id! {
    /// A question asked before.
    Question
}

/// Answers of one kind. Any thread may ask; the answer to a question does not depend on who does.
#[derive(Debug)]
pub struct Asked<K, V> {
    kind: Kind,
    follows: bool,
    known: Mutex<Known<K, V>>,
}

#[derive(Debug)]
struct Known<K, V> {
    numbers: FxHashMap<K, Question>,
    answers: Vec<(K, V, Reads)>,
    readers: Readers<Question>,
}

impl<K: Clone + Eq + Hash, V: Clone + PartialEq> Asked<K, V> {
    pub fn new(kind: Kind, follows: bool) -> Asked<K, V> {
        let known = Known { numbers: FxHashMap::default(), answers: Vec::new(), readers: Readers::default() };
        Asked { kind, follows, known: Mutex::new(known) }
    }

    fn known(&self) -> MutexGuard<'_, Known<K, V>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer, worked out now if nobody asked before.
    pub fn ask(&self, key: &K, work_out: impl FnOnce() -> V) -> V {
        let known = self.known();
        if let Some(&question) = known.numbers.get(key) {
            note(Read::of(self.kind, question));
            return known.answers[question.0 as usize].1.clone();
        }
        drop(known);
        let (value, reads) = if self.follows { record(work_out) } else { (work_out(), Reads::default()) };
        let mut known = self.known();
        // Another thread may have been faster: its answer is the same.
        let question = match known.numbers.get(key) {
            Some(&question) => question,
            None => {
                let question = Question(known.answers.len() as u32);
                known.numbers.insert(key.clone(), question);
                known.readers.add(question, &reads);
                known.answers.push((key.clone(), value.clone(), reads));
                question
            }
        };
        note(Read::of(self.kind, question));
        value
    }

    /// Answers again what may have another answer now, and tells which do. Answers must not ask for each other.
    pub fn refresh(&mut self, changes: &mut Changes, work_out: impl Fn(&K) -> V) {
        if changes.everything {
            self.clear();
            return;
        }
        let stale = self.known().readers.of(changes);
        for question in stale {
            let key = self.known().answers[question.0 as usize].0.clone();
            let (value, reads) = record(|| work_out(&key));
            let mut known = self.known();
            let known = &mut *known;
            let (_, old, old_reads) = &mut known.answers[question.0 as usize];
            known.readers.change(question, old_reads, &reads);
            *old_reads = reads;
            if *old != value {
                *old = value;
                changes.add(Read::of(self.kind, question));
            }
        }
    }

    /// How many questions there are.
    pub fn len(&self) -> usize {
        self.known().answers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything. Whoever asked has to ask again.
    pub fn clear(&mut self) {
        let mut known = self.known();
        known.numbers.clear();
        known.answers.clear();
        known.readers = Readers::default();
    }
}
