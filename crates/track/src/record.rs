//! Noting what is read. There is one recorder per thread, so that queries need not be handed one.

use crate::read::Read;
use std::cell::{Cell, RefCell};

/// Reads of late are not noted twice; the rest is sorted out at the end.
const RECENT: usize = 128;

/// What was read, sorted.
pub type Reads = Box<[Read]>;

struct Recorder {
    is_on: Cell<bool>,
    reads: RefCell<Noted>,
}

struct Noted {
    reads: Vec<Read>,
    recent: [Option<Read>; RECENT],
}

thread_local! {
    static RECORDER: Recorder = const {
        Recorder {
            is_on: Cell::new(false),
            reads: RefCell::new(Noted { reads: Vec::new(), recent: [None; RECENT] }),
        }
    };
}

/// Notes that something is read. Costs next to nothing when nobody records.
#[inline]
pub fn note(read: Read) {
    RECORDER.with(|recorder| {
        if recorder.is_on.get() {
            recorder.reads.borrow_mut().add(read);
        }
    });
}

impl Noted {
    fn add(&mut self, read: Read) {
        let place = &mut self.recent[read.hash() % RECENT];
        if *place != Some(read) {
            *place = Some(read);
            self.reads.push(read);
        }
    }
}

/// Works something out and returns what it read. Whoever records around this does not hear of it: it reads the
/// result.
pub fn record<T>(work: impl FnOnce() -> T) -> (T, Reads) {
    RECORDER.with(|recorder| {
        let outer = recorder.is_on.replace(true);
        let before = std::mem::replace(&mut *recorder.reads.borrow_mut(), Noted::new());
        let value = work();
        recorder.is_on.set(outer);
        let mut reads = std::mem::replace(&mut *recorder.reads.borrow_mut(), before).reads;
        reads.sort_unstable();
        reads.dedup();
        (value, reads.into_boxed_slice())
    })
}

/// Works something out without noting what it reads.
pub fn unnoted<T>(work: impl FnOnce() -> T) -> T {
    RECORDER.with(|recorder| {
        let outer = recorder.is_on.replace(false);
        let value = work();
        recorder.is_on.set(outer);
        value
    })
}

impl Noted {
    fn new() -> Noted {
        Noted { reads: Vec::new(), recent: [None; RECENT] }
    }
}

impl Read {
    fn hash(self) -> usize {
        (self.number().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
    }
}
