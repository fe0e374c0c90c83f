//! What holds at a point of a method on the way there: locks, threads that were started, paths that were given new
//! objects. Knows how states meet; what changes them is said next door.

use crate::outline::EventId;
use crate::path::Path;
use crate::summary::Held;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct State {
    held: Vec<Count>,
    /// Locks that were asked for and not held, on some way.
    denied: Vec<Path>,
    /// Locks of others that were released.
    released: Vec<(Path, bool)>,
    /// Starts that may be running.
    pub running: u64,
    /// A thread was waited for on every way.
    pub waited: bool,
    /// If a call has returned this, these starts have ended.
    promises: Vec<(EventId, bool, u64)>,
    /// Paths that were given new objects on every way: nobody else knows those.
    own: Vec<Path>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Count {
    held: Held,
    times: u8,
    /// Held only if this call has returned true.
    if_true: Option<EventId>,
}

/// Beyond this nobody counts how often a lock is held.
const MOST_TIMES: u8 = 4;

impl State {
    pub fn acquire(&mut self, lock: Path, shared: bool, at: EventId, if_true: Option<EventId>) {
        let known = self.held.iter_mut().find(|count| count.held.lock == lock && count.held.shared == shared);
        match known {
            Some(count) if count.if_true == if_true => {
                count.times = (count.times + 1).min(MOST_TIMES);
                count.held.sure |= if_true.is_none();
            }
            Some(count) if count.held.sure => count.times = (count.times + 1).min(MOST_TIMES),
            _ => {
                let held = Held { lock, shared, sure: if_true.is_none(), at };
                self.held.push(Count { held, times: 1, if_true });
                self.held.sort_by_key(|count| (count.held.lock, count.held.shared, count.held.at));
            }
        }
    }

    pub fn release(&mut self, lock: Path, shared: bool) {
        let found = self.held.iter().position(|count| count.held.lock == lock && count.held.shared == shared);
        // Which lock an unknown one is, nobody can say: it may be any that has no name either.
        let found = found.or_else(|| self.held.iter().position(|count| count.held.lock == Path::UNKNOWN));
        match found {
            Some(at) if self.held[at].times > 1 => self.held[at].times -= 1,
            Some(at) => {
                self.held.remove(at);
            }
            None if lock == Path::UNKNOWN => {
                // It may be the last one taken.
                if self.held.len() == 1 {
                    self.held.clear();
                }
            }
            None => {
                if !self.released.contains(&(lock, shared)) {
                    self.released.push((lock, shared));
                    self.released.sort_unstable();
                }
            }
        }
    }

    /// If the call returns this, these starts have ended.
    pub fn promise(&mut self, call: EventId, truth: bool, ended: u64) {
        self.promises.retain(|&(known, _, _)| known != call);
        self.promises.push((call, truth, ended));
        self.promises.sort_unstable();
    }

    /// The call has returned this.
    pub fn decide(&mut self, call: EventId, truth: bool) {
        let kept = self.promises.iter().filter(|(of, when, _)| (*of, *when) == (call, truth));
        for (.., ended) in kept {
            self.running &= !ended;
            self.waited = true;
        }
        if truth {
            for count in self.held.iter_mut().filter(|count| count.if_true == Some(call)) {
                count.if_true = None;
                count.held.sure = true;
            }
        } else {
            let is_denied = |count: &Count| count.if_true == Some(call);
            let asserted = self.held.iter().filter(|count| is_denied(count) && count.held.at == crate::ENTRY);
            self.denied.extend(asserted.map(|count| count.held.lock));
            self.denied.sort_unstable();
            self.denied.dedup();
            self.held.retain(|count| !is_denied(count));
        }
    }

    /// Somebody has looked at the result elsewhere, or nobody has: it may be held.
    pub fn held(&self) -> impl Iterator<Item = Held> + '_ {
        self.held.iter().map(|count| count.held)
    }

    pub fn holds(&self, lock: Path) -> bool {
        self.held.iter().any(|count| count.held.lock == lock)
    }

    /// Held locks with the calls on whose result they depend.
    pub fn left(&self) -> impl Iterator<Item = (Held, Option<EventId>)> + '_ {
        self.held.iter().map(|count| (count.held, count.if_true))
    }

    /// Locks of others that were released, and whether they were shared.
    pub fn released(&self) -> &[(Path, bool)] {
        &self.released
    }

    pub fn owns(&self, path: &Path) -> bool {
        self.own.iter().any(|own| own != path && own.leads_to(path))
    }

    /// The path was given something.
    pub fn give(&mut self, path: Path, is_new: bool) {
        self.own.retain(|own| !path.leads_to(own));
        if is_new && self.own.len() < 16 {
            self.own.push(path);
            self.own.sort_unstable();
        }
    }

    /// Where two ways meet; whether that is different from the first.
    pub fn meet(&mut self, other: &State) -> bool {
        let before = self.clone();
        for count in &mut self.held {
            let is_there =
                |other: &&Count| other.held.lock == count.held.lock && other.held.shared == count.held.shared;
            match other.held.iter().find(is_there) {
                Some(other) => {
                    count.held.sure &= other.held.sure;
                    count.held.at = count.held.at.min(other.held.at);
                    count.times = count.times.max(other.times);
                    if count.if_true != other.if_true {
                        count.if_true = None;
                    }
                }
                None => {
                    count.held.sure = false;
                    count.if_true = None;
                }
            }
        }
        for count in &other.held {
            let is_here =
                |mine: &Count| mine.held.lock == count.held.lock && mine.held.shared == count.held.shared;
            if !self.held.iter().any(is_here) {
                self.held.push(Count {
                    held: Held { sure: false, ..count.held },
                    times: count.times,
                    if_true: None,
                });
            }
        }
        self.denied.extend(&other.denied);
        self.denied.sort_unstable();
        self.denied.dedup();
        // That it is held is only said, and on another way it was said not to be.
        let is_denied =
            |held: &Held| !held.sure && held.at == crate::ENTRY && self.denied.contains(&held.lock);
        self.held.retain(|count| !is_denied(&count.held));
        self.held.sort_by_key(|count| (count.held.lock, count.held.shared, count.held.at));
        for &released in &other.released {
            if !self.released.contains(&released) {
                self.released.push(released);
            }
        }
        self.released.sort_unstable();
        self.running |= other.running;
        self.waited &= other.waited;
        self.promises.retain(|promise| other.promises.contains(promise));
        self.own.retain(|own| other.own.contains(own));
        *self != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Root;

    const LOCK: Path = Path::of(Root::Param(1));

    #[test]
    fn what_is_held_on_one_way_only_is_not_sure() {
        let (mut one, other) = (State::default(), State::default());
        one.acquire(LOCK, false, 3, None);
        assert!(one.held().all(|held| held.sure));
        assert!(one.meet(&other));
        assert_eq!(one.held().map(|held| held.sure).collect::<Vec<_>>(), [false]);
        assert!(!one.meet(&other));
    }

    #[test]
    fn a_lock_is_held_until_it_is_released_as_often() {
        let mut state = State::default();
        state.acquire(LOCK, false, 1, None);
        state.acquire(LOCK, false, 2, None);
        state.release(LOCK, false);
        assert!(state.holds(LOCK));
        state.release(LOCK, false);
        assert!(!state.holds(LOCK));
    }

    #[test]
    fn a_tried_lock_is_held_where_the_answer_was_yes() {
        let mut state = State::default();
        state.acquire(LOCK, false, 1, Some(1));
        let mut no = state.clone();
        state.decide(1, true);
        no.decide(1, false);
        assert!(state.held().all(|held| held.sure) && state.holds(LOCK));
        assert!(!no.holds(LOCK));
    }

    #[test]
    fn a_lock_that_was_said_not_to_be_held_is_not_held_afterwards() {
        let mut asked = State::default();
        asked.acquire(LOCK, false, crate::ENTRY, Some(1));
        let (mut yes, mut no, unasked) = (asked.clone(), asked, State::default());
        yes.decide(1, true);
        no.decide(1, false);
        // `assert holdsLock(…)`: the way on is the one where it is held, or where nobody asked.
        let mut asserted = yes.clone();
        asserted.meet(&unasked);
        assert!(asserted.holds(LOCK));
        // `assert !holdsLock(…)`
        let mut negated = no.clone();
        negated.meet(&unasked);
        assert!(!negated.holds(LOCK));
        yes.meet(&no);
        assert!(!yes.holds(LOCK));
    }

    #[test]
    fn what_was_given_a_new_object_is_own_until_it_is_given_another() {
        let mut state = State::default();
        let field = Path::THIS.then(crate::path::Step::Elements).expect("short");
        let deeper = field.then(crate::path::Step::Contents).expect("short");
        state.give(field, true);
        assert!(state.owns(&deeper) && !state.owns(&field));
        state.give(field, false);
        assert!(!state.owns(&deeper));
    }
}
