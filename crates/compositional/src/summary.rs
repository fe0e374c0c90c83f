//! What one method does, in terms of its own parameters and static fields: the whole that its callers see of it.
//! Plain data with a digest that does not depend on ids or lines; knows nothing of how it is worked out.

use crate::outline::EventId;
use crate::path::Path;
use ir::{ClassId, FieldId, MethodId, MethodRef, Selector};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// In the order of their digests.
    pub accesses: Vec<Access>,
    /// Every lock that is taken on the way, whatever is held.
    pub taken: Vec<Taken>,
    /// Locks that are taken while others are held.
    pub nested: Vec<Nested>,
    /// Calls that may take long.
    pub blocking: Vec<Blocking>,
    /// Parameters that are called: functions that run in place or are handed to another thread.
    pub runs: Vec<Run>,
    /// Locks that are held after it and were not before, or the other way round.
    pub leaves: Vec<Left>,
    pub returns: Returned,
    /// `this.f = p` in constructors: what an object was made with.
    pub stores: Vec<(FieldId, u16)>,
    /// The classes of what it makes, as far as its accesses begin there.
    pub made: Vec<(u32, ClassId)>,
    pub thread: Thread,
    /// Starts, counted from 0, that nobody has waited for when it returns.
    pub detached: u64,
    /// It takes a lock that others can know.
    pub locks: bool,
    /// Calls of interfaces, without a lock, in code that must be thread-safe.
    pub strangers: Vec<Stranger>,
    /// Calls of methods that touch something, or that not everybody can call: what holds there holds in them.
    pub calls: Vec<Called>,
    /// It was cut: there was too much to tell.
    pub is_cut: bool,
    /// Of everything that a caller can tell: where this is the same, callers are summarised to the same.
    pub digest: u64,
}

impl Summary {
    /// Starts, counted from 0, that a caller knows of: nobody has waited for them, or they run what it passes.
    pub fn seen_starts(&self) -> u64 {
        let runs = self.runs.iter().filter(|run| run.started > 0);
        runs.fold(self.detached, |seen, run| seen | 1 << (run.started - 1))
    }
}

/// The thread a method runs on, as far as it says so itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Thread {
    #[default]
    Unknown,
    /// The one thread of the user interface.
    Main,
    /// Any but that.
    Background,
}

/// A call of something that says nothing about threads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stranger {
    pub receiver: Path,
    pub interface: ClassId,
    pub target: MethodRef,
    pub at: EventId,
}

/// A call, in terms of the caller.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Called {
    pub target: MethodId,
    pub held: Box<[Path]>,
    /// What it is called with; [`Path::NEW`] for what has no name because nobody else knows it.
    pub args: Box<[Path]>,
    /// In a thread that the caller starts.
    pub started: bool,
    /// Threads that the caller has started may be running.
    pub beside: bool,
}

/// A lock that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Held {
    pub lock: Path,
    pub shared: bool,
    /// On every way to this point.
    pub sure: bool,
    /// Where it was taken, in the method that has it in its summary.
    pub at: EventId,
}

/// What happens in this method, or in one that it calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site {
    pub at: EventId,
    /// The method called there, and the digest of what happens in its summary.
    pub via: Option<(MethodId, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    pub path: Path,
    pub writes: bool,
    pub held: Arc<[Held]>,
    pub thread: Thread,
    /// Runs in a thread that this method starts: which of its starts, counted from 1.
    pub started: u8,
    /// Starts of this method, counted from 0, that may be running at this point.
    pub running: u64,
    /// It is the object that was started: mostly one thread has it.
    pub of_task: bool,
    /// It is started on this executor, which runs one task after the other.
    pub on: Option<Path>,
    /// It counts only if this method of a parameter works on a container that is not thread-safe.
    pub asks: Option<MethodRef>,
    /// It happens only where this method is the one that `this` runs, of several.
    pub only_if: Option<MethodId>,
    /// The object may be another one: it comes from several places.
    pub vague: bool,
    /// One of the calls that lead here may lead to another method.
    pub of_several: bool,
    /// It comes after a thread was waited for, whichever that was.
    pub waited: bool,
    /// It runs when something else is done, on whichever thread that is: a stage of a future, or a task of an executor that
    /// a library brings along.
    pub later: bool,
    pub site: Site,
    /// How many calls away.
    pub depth: u8,
    /// Of everything but the way.
    pub digest: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    pub lock: Path,
    pub shared: bool,
    /// Handed to another thread: what the caller holds is not held there.
    pub started: bool,
    /// It is only tried: nobody waits for it.
    pub tried: bool,
    /// One of the calls that lead here may lead to another method.
    pub of_several: bool,
    pub site: Site,
    pub depth: u8,
    pub digest: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nested {
    pub held: Arc<[Held]>,
    pub lock: Path,
    pub shared: bool,
    /// One of the calls that lead from the one to the other may lead to another method.
    pub of_several: bool,
    pub site: Site,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocking {
    /// Which call of a library, and the digest of its name.
    pub what: (MethodRef, u64),
    pub held: Arc<[Held]>,
    /// A lock that the call gives up while it waits.
    pub but: Option<Path>,
    pub started: bool,
    pub site: Site,
    pub depth: u8,
    pub digest: u64,
}

/// What a parameter is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub param: u16,
    pub method: Asked,
    pub args: Box<[Path]>,
    pub held: Arc<[Held]>,
    /// In a thread that this method starts: which of its starts, counted from 1.
    pub started: u8,
    /// Nobody has waited for that thread when the method returns.
    pub is_detached: bool,
    /// It runs when something else is done.
    pub later: bool,
    pub at: EventId,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Asked {
    Selector(Selector),
    /// By name and number of arguments, as models say it.
    Named(Box<str>, u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Left {
    pub lock: Path,
    pub shared: bool,
    /// Taken and not released, or released and not taken.
    pub taken: bool,
    /// If it is taken only where the method returns true.
    pub if_true: bool,
    pub at: EventId,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    /// What else may be returned has no name: it is new, or comes from somewhere.
    pub paths: Vec<Path>,
    pub class: Option<ClassId>,
    /// It stands for a lock, in this mode.
    pub view: Option<bool>,
    /// It is a part of a container: an iterator, a view.
    pub part: bool,
    /// It was made for the caller, who alone has it.
    pub new: bool,
}
