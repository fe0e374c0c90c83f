//! Why a suspicion is not reported: one reason for each way in which a program keeps two accesses, or the steps of a
//! lock-order cycle, apart. Plain data with its words; knows nothing of how a reason is found.

use serde::{Deserialize, Serialize};

/// What rules a pair of accesses or a lock-order cycle out. Ordered by how much of the program it rests on: of several
/// reasons for one pair of statements the last says most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dismissed {
    /// The lock objects of the program close no cycle.
    NoCycle,
    /// No thread that runs the one has an object that a thread running the other has.
    DifferentObjects,
    /// One thread runs both, and no second instance of it.
    SingleThread,
    /// Constant indices into one array that differ.
    DifferentElements,
    /// One side runs while its object is still being made, or before another thread can know it.
    Unpublished,
    /// A queue or a thread-local variable gives the object to one thread at a time.
    HandedOver,
    /// Each instance of the thread allocates the object anew.
    PerInstance,
    /// The object belongs to the task that runs.
    TaskOwned,
    /// Parts of different owners: no two owners share one.
    DifferentOwners,
    /// The entry points are programs of their own.
    DifferentPrograms,
    /// A class initialiser runs before all other code.
    ClassInitialization,
    /// Tasks of one executor with a single thread.
    SerialExecutor,
    /// One thread has ended before the other starts.
    Sequential,
    /// Before the start of the thread, or after its join.
    StartOrJoin,
    /// A signal after the one and an await before the other: latch, barrier, future, volatile hand-over.
    Signal,
    /// The methods are declared never to run in parallel.
    NeverParallel,
    /// The class is declared immutable.
    DeclaredImmutable,
    /// The memory is declared to be confined to one thread.
    DeclaredConfined,
    /// Both hold the same lock.
    CommonLock,
}

impl Dismissed {
    pub const ALL: [Dismissed; 19] = [
        Dismissed::NoCycle,
        Dismissed::DifferentObjects,
        Dismissed::SingleThread,
        Dismissed::DifferentElements,
        Dismissed::Unpublished,
        Dismissed::HandedOver,
        Dismissed::PerInstance,
        Dismissed::TaskOwned,
        Dismissed::DifferentOwners,
        Dismissed::DifferentPrograms,
        Dismissed::ClassInitialization,
        Dismissed::SerialExecutor,
        Dismissed::Sequential,
        Dismissed::StartOrJoin,
        Dismissed::Signal,
        Dismissed::NeverParallel,
        Dismissed::DeclaredImmutable,
        Dismissed::DeclaredConfined,
        Dismissed::CommonLock,
    ];

    /// Its name in JSON and statistics.
    pub fn id(self) -> &'static str {
        match self {
            Dismissed::NoCycle => "no-cycle",
            Dismissed::DifferentObjects => "different-objects",
            Dismissed::SingleThread => "single-thread",
            Dismissed::DifferentElements => "different-elements",
            Dismissed::Unpublished => "unpublished",
            Dismissed::HandedOver => "handed-over",
            Dismissed::PerInstance => "per-instance",
            Dismissed::TaskOwned => "task-owned",
            Dismissed::DifferentOwners => "different-owners",
            Dismissed::DifferentPrograms => "different-programs",
            Dismissed::ClassInitialization => "class-initialization",
            Dismissed::SerialExecutor => "serial-executor",
            Dismissed::Sequential => "sequential",
            Dismissed::StartOrJoin => "start-or-join",
            Dismissed::Signal => "signal",
            Dismissed::NeverParallel => "never-parallel",
            Dismissed::DeclaredImmutable => "declared-immutable",
            Dismissed::DeclaredConfined => "declared-confined",
            Dismissed::CommonLock => "common-lock",
        }
    }

    /// In a word or two.
    pub fn short(self) -> &'static str {
        match self {
            Dismissed::NoCycle => "no cycle",
            Dismissed::DifferentObjects | Dismissed::DifferentOwners => "never shared",
            Dismissed::SingleThread => "one thread",
            Dismissed::DifferentElements => "different elements",
            Dismissed::Unpublished => "before publication",
            Dismissed::HandedOver => "handed over",
            Dismissed::PerInstance | Dismissed::TaskOwned | Dismissed::DeclaredConfined => "thread-confined",
            Dismissed::DeclaredImmutable => "immutable",
            Dismissed::DifferentPrograms
            | Dismissed::ClassInitialization
            | Dismissed::SerialExecutor
            | Dismissed::Sequential
            | Dismissed::StartOrJoin
            | Dismissed::Signal => "ordered",
            Dismissed::NeverParallel => "never parallel",
            Dismissed::CommonLock => "locked",
        }
    }

    /// What it means, for a reader.
    pub fn text(self) -> &'static str {
        match self {
            Dismissed::NoCycle => {
                "no cycle: the lock objects of the program are never taken in opposite order"
            }
            Dismissed::DifferentObjects => {
                "different objects: no thread that runs one side has the object of the other"
            }
            Dismissed::SingleThread => "single thread: both sides run on one thread",
            Dismissed::DifferentElements => "different elements of the array",
            Dismissed::Unpublished => {
                "not published: one side runs before another thread can know the object"
            }
            Dismissed::HandedOver => {
                "handed over: a queue or thread-local gives the object to one thread at a time"
            }
            Dismissed::PerInstance => "thread-confined: each thread allocates such an object for itself",
            Dismissed::TaskOwned => "task-owned: each task has an object of its own",
            Dismissed::DifferentOwners => "different owners: each owner has an object of its own",
            Dismissed::DifferentPrograms => "different programs: the entry points never run in one process",
            Dismissed::ClassInitialization => "ordered: class initialisation completes first",
            Dismissed::SerialExecutor => "ordered: tasks of one single-threaded executor never overlap",
            Dismissed::Sequential => "ordered: one thread has ended before the other starts",
            Dismissed::StartOrJoin => "ordered: before the thread is started, or after it is joined",
            Dismissed::Signal => "ordered: a signal of one side is awaited by the other",
            Dismissed::NeverParallel => "declared: the methods never run in parallel",
            Dismissed::DeclaredImmutable => "declared: the class is immutable",
            Dismissed::DeclaredConfined => "declared: confined to one thread",
            Dismissed::CommonLock => "common lock: both sides hold the same lock",
        }
    }
}
