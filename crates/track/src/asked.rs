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
/// Nobody looks for questions that are not read any more before there are so many new ones, and an eighth more than
/// when somebody looked last.
const NEW: usize = 256;

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
    /// How many there were when those that are not read were forgotten.
    looked_over: usize,
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

    /// Forgets questions that nobody has read the answer of, once there are many new ones. Whoever has read one
    /// nevertheless is told that it is another one.
    pub fn forget_unread(&mut self, changes: &mut Changes, is_read: impl Fn(Read) -> bool) {
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        let many = known.looked_over + known.looked_over / 8 + NEW;
        if known.answers.len() > many || changes.tidies {
            self.forget_all_unread(changes, is_read);
        }
    }

    /// The same, however few there are.
    pub fn forget_all_unread(&mut self, changes: &mut Changes, is_read: impl Fn(Read) -> bool) {
        let kind = self.kind;
        self.retain(changes, |question, _| is_read(Read::of(kind, question)));
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        known.looked_over = known.answers.len();
    }

    /// Forgets questions about what is gone. Whoever has read one is told.
    pub fn forget(&mut self, changes: &mut Changes, is_gone: impl Fn(&K) -> bool) {
        self.retain(changes, |_, key| !is_gone(key));
    }

    fn retain(&mut self, changes: &mut Changes, is_kept: impl Fn(Question, &K) -> bool) {
        let kind = self.kind;
        let known = self.known.get_mut().unwrap_or_else(PoisonError::into_inner);
        let answers = known.answers.iter();
        let gone = answers.filter(|(key, (question, _))| !is_kept(*question, key));
        let mut gone: Vec<Question> = gone.map(|(_, &(question, _))| question).collect();
        gone.sort_unstable();
        for question in gone {
            known.forget(question);
            changes.add(Read::of(kind, question));
        }
    }

    /// Shows every question with its answer, in no particular order, unnoted.
    pub fn each(&self, mut show: impl FnMut(&K, &V)) {
        self.known().answers.iter().for_each(|(key, (_, value))| show(key, value));
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
        self.forget_unread(changes, &is_read);
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
            looked_over: 0,
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
    fn what_nobody_reads_any_more_goes_though_nothing_changed_for_it() {
        let mut asked: Asked<u32, u32> = Asked::new(Kind::Anchors, true);
        (0..2000).for_each(|key| _ = asked.ask(&key, || half(4)(&key)));
        let mut changes = Changes::default();
        asked.refresh_read(&mut changes, |read| read == Read::of(Kind::Anchors, Question(7)), half(4));
        assert_eq!((asked.len(), changes.len()), (1, 1999));
        // A few more are not looked for unless somebody wants it tidy.
        asked.ask(&8, || half(4)(&8));
        for (tidies, left) in [(false, 2), (true, 0)] {
            let mut changes = Changes::default();
            changes.tidies = tidies;
            asked.forget_unread(&mut changes, |_| false);
            assert_eq!(asked.len(), left);
        }
    }

    #[test]
    fn what_there_is_only_one_of_is_not_the_first_of_many() {
        let mut changes = Changes::default();
        changes.add(Read::all(Kind::Other));
        assert!(!changes.contains(Read::of(Kind::Other, Input(0))));
        assert_eq!(changes.of::<Input>(Kind::Other).count(), 0);
    }
}
