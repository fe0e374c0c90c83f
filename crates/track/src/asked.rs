//! A memo that fills itself while other units are worked out: each question is answered once, and again only when
//! something changed that the answer was worked out from.

use crate::read::{Changes, Kind, Read};
use crate::readers::Readers;
use crate::record::{Reads, note, record};
use crate::sizes::Sizes;
use arena::define_id;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Fewer questions than this are not worth handing out.
const MANY: usize = 16;

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
    answers: FxHashMap<K, (Question, V)>,
    /// By number, with what the answer was worked out from; nothing where a question was forgotten.
    questions: Vec<Option<(K, Reads)>>,
    free: Vec<Question>,
    readers: Readers<Question>,
}

impl<K: Clone + Eq + Hash, V: Clone + PartialEq> Asked<K, V> {
    pub fn new(kind: Kind, follows: bool) -> Asked<K, V> {
        Asked { kind, follows, known: Mutex::new(Known::new()) }
    }

    fn known(&self) -> MutexGuard<'_, Known<K, V>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer, worked out now if nobody asked before.
    pub fn ask(&self, key: &K, work_out: impl FnOnce() -> V) -> V {
        let known = self.known();
        if let Some((question, value)) = known.answers.get(key) {
            note(Read::of(self.kind, *question));
            return value.clone();
        }
        drop(known);
        let (value, reads) = if self.follows { record(work_out) } else { (work_out(), Reads::default()) };
        let mut known = self.known();
        // Another thread may have been faster: its answer is the same.
        let question = match known.answers.get(key) {
            Some(&(question, _)) => question,
            None => known.add(key, &value, reads),
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
        changes.count_stale(stale.len());
        for question in stale {
            let Some(key) = self.known().key(question) else { continue };
            let (value, reads) = record(|| work_out(&key));
            if self.known().set(question, value, reads) {
                changes.add(Read::of(self.kind, question));
            }
        }
    }

    /// Has an answer here read this?
    pub fn reads(&self, read: Read) -> bool {
        self.known().readers.contains(read)
    }

    /// How many questions there are.
    pub fn len(&self) -> usize {
        self.known().answers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Questions, and what their answers read.
    pub fn sizes(&self, sizes: &mut Sizes) {
        let (known, kind) = (self.known(), self.kind);
        sizes.add(format!("{kind:?}"), known.questions.len());
        let reads = known.questions.iter().flatten().map(|(_, reads)| reads.len()).sum();
        sizes.add(format!("{kind:?} reads"), reads);
    }

    /// Forgets everything. Whoever asked has to ask again.
    pub fn clear(&mut self) {
        *self.known() = Known::new();
    }
}

impl<K: Clone + Eq + Hash + Send + Sync, V: Clone + PartialEq + Send + Sync> Asked<K, V> {
    /// The same on all cores, and a question that nobody has read the answer of is forgotten instead: edits leave
    /// many such behind. Whoever has read it nevertheless is told that it is another one.
    pub fn refresh_read(
        &mut self,
        changes: &mut Changes,
        is_read: impl Fn(Read) -> bool,
        work_out: impl Fn(&K) -> V + Sync,
    ) {
        if changes.everything {
            self.clear();
            return;
        }
        let kind = self.kind;
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (read, unread): (Vec<Question>, Vec<Question>) =
            known.readers.of(changes).into_iter().partition(|&question| is_read(Read::of(kind, question)));
        changes.count_stale(read.len());
        for question in unread {
            known.forget(question);
            changes.add(Read::of(kind, question));
        }
        let keys: Vec<(Question, K)> =
            read.into_iter().filter_map(|question| Some((question, known.key(question)?))).collect();
        let work = |(question, key): (Question, K)| (question, record(|| work_out(&key)));
        let answered: Vec<_> = match keys.len() < MANY {
            true => keys.into_iter().map(work).collect(),
            false => keys.into_par_iter().map(work).collect(),
        };
        for (question, (value, reads)) in answered {
            if known.set(question, value, reads) {
                changes.add(Read::of(kind, question));
            }
        }
    }
}

impl<K: Clone + Eq + Hash, V: Clone + PartialEq> Known<K, V> {
    fn new() -> Known<K, V> {
        Known {
            answers: FxHashMap::default(),
            questions: Vec::new(),
            free: Vec::new(),
            readers: Readers::default(),
        }
    }

    fn key(&self, question: Question) -> Option<K> {
        self.questions[question.0 as usize].as_ref().map(|(key, _)| key.clone())
    }

    fn add(&mut self, key: &K, value: &V, reads: Reads) -> Question {
        let question = self.free.pop().unwrap_or_else(|| {
            self.questions.push(None);
            Question(self.questions.len() as u32 - 1)
        });
        self.answers.insert(key.clone(), (question, value.clone()));
        self.readers.add(question, &reads);
        self.questions[question.0 as usize] = Some((key.clone(), reads));
        question
    }

    /// True if the answer is another one than before.
    fn set(&mut self, question: Question, value: V, reads: Reads) -> bool {
        let Some((key, old_reads)) = &mut self.questions[question.0 as usize] else { return false };
        self.readers.change(question, old_reads, &reads);
        *old_reads = reads;
        let Some((_, old)) = self.answers.get_mut(key) else { return false };
        let differs = *old != value;
        *old = value;
        differs
    }

    fn forget(&mut self, question: Question) {
        if let Some((key, reads)) = self.questions[question.0 as usize].take() {
            self.answers.remove(&key);
            self.readers.remove(question, &reads);
            self.free.push(question);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    define_id! {
        /// Something that is read.
        Input
    }

    fn changed(at: u32) -> Changes {
        let mut changes = Changes::default();
        changes.add(Read::of(Kind::Other, Input(at)));
        changes
    }

    fn half(input: u32) -> impl Fn(&u32) -> u32 {
        move |&key| {
            note(Read::of(Kind::Other, Input(key)));
            input / 2
        }
    }

    #[test]
    fn an_answer_is_told_only_if_it_differs() {
        let mut asked: Asked<u32, u32> = Asked::new(Kind::Anchors, true);
        let (value, reads) = record(|| asked.ask(&7, || half(4)(&7)));
        assert_eq!((value, reads.as_ref()), (2, &[Read::of(Kind::Anchors, Question(0))][..]));
        for (input, is_told) in [(5, false), (6, true)] {
            let mut changes = changed(7);
            asked.refresh_read(&mut changes, |_| true, half(input));
            assert_eq!(changes.contains(Read::of(Kind::Anchors, Question(0))), is_told);
        }
        assert_eq!(asked.ask(&7, || unreachable!("it is known")), 3);
    }

    #[test]
    fn what_nobody_has_read_is_forgotten_and_worked_out_when_it_is_asked_again() {
        let mut asked: Asked<u32, u32> = Asked::new(Kind::Anchors, true);
        asked.ask(&7, || half(4)(&7));
        asked.ask(&8, || half(4)(&8));
        let mut changes = changed(7);
        asked.refresh_read(&mut changes, |_| false, |_| unreachable!("nobody wants to know"));
        assert_eq!(asked.len(), 1);
        // Whoever has read it nevertheless is told.
        assert!(changes.contains(Read::of(Kind::Anchors, Question(0))));
        let times = Cell::new(0);
        let again = || {
            asked.ask(&7, || {
                times.set(times.get() + 1);
                9
            })
        };
        assert_eq!((again(), again(), times.get()), (9, 9, 1));
        assert_eq!(asked.ask(&8, || unreachable!("it is known")), 2);
    }

    #[test]
    fn what_there_is_only_one_of_is_not_the_first_of_many() {
        let mut changes = Changes::default();
        changes.add(Read::all(Kind::Other));
        assert!(!changes.contains(Read::of(Kind::Other, Input(0))));
        assert_eq!(changes.of::<Input>(Kind::Other).count(), 0);
    }
}
