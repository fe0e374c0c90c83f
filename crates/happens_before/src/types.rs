//! Origins, program points and locks: the vocabulary of order and mutual exclusion.

use crate::bits::Bits;
use arena::{Name, define_id};
use ir::{ClassId, FieldId, MethodId, StmtId, Var};
use pointsto::{Act, Obj};

define_id! {
    /// A thread or task that runs code: an entry point, or a spawned task object with its entry method.
    Origin
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OriginKind {
    /// `main`, or what the user named.
    Entry,
    /// All class initialisers together: ordered before everything.
    Initialization,
    /// Spawned.
    Task,
    /// There is none of this number, or not any more.
    Gone,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginInfo {
    pub kind: OriginKind,
    /// First activation it runs (one of them, for class initialisation).
    pub entry: Act,
    /// The task object; `None` for entry points.
    pub task: Option<Obj>,
    /// Spawn statements that start it, each with the origin that executes them; in the order of content.
    pub spawned_by: Vec<SpawnedBy>,
    /// More than one instance may be alive at the same time.
    pub overlaps_itself: bool,
    /// It is started at most once in the whole run.
    pub runs_once: bool,
    /// Each instance runs on a task object of its own (allocated anew before each spawn).
    pub own_task: bool,
    /// Its tasks all run on this executor, one after the other.
    pub serial_on: Option<Obj>,
    /// Each of its tasks runs on one of several such executors from one allocation site.
    pub each_serial: Option<Obj>,
    /// The entry points that lead to it, by number of origin; `None` if any may.
    pub(crate) programs: Option<Bits>,
}

impl OriginInfo {
    pub(crate) fn new(kind: OriginKind, entry: Act, task: Option<Obj>) -> OriginInfo {
        OriginInfo {
            kind,
            entry,
            task,
            spawned_by: Vec::new(),
            overlaps_itself: false,
            runs_once: kind != OriginKind::Task,
            own_task: false,
            serial_on: None,
            each_serial: None,
            programs: None,
        }
    }

    /// Of a number that nobody has.
    pub(crate) fn gone() -> OriginInfo {
        OriginInfo::new(OriginKind::Gone, Act(0), None)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpawnedBy {
    pub parent: Origin,
    pub act: Act,
    pub stmt: StmtId,
}

/// A statement as run by one origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    pub origin: Origin,
    pub act: Act,
    pub stmt: StmtId,
}

/// An access to memory at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccessPoint {
    pub point: Point,
    /// The variable whose object is accessed; `None` for statics.
    pub base: Option<Var>,
    /// The object under consideration; `None` for statics.
    pub object: Option<Obj>,
    pub is_write: bool,
}

/// Why two points never run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordered {
    /// One origin, one instance: program order.
    SameOrigin,
    /// The access is not reachable from the spawn without passing a join.
    BeforeStartOrAfterJoin,
    /// The origins' lifetimes never meet.
    Sequential,
    /// Both are tasks of one serial executor (or one event thread).
    SerialExecutor(Obj),
    /// A signal after the one, an await before the other (latch, barrier, volatile hand-over).
    SignalAwait,
    /// Class initialisation comes before every use of the class.
    ClassInitialization,
    /// Entry points of different programs.
    DifferentPrograms,
}

/// One step of a lock's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathStep {
    /// A field that never changes.
    Field(FieldId),
    /// What a lambda has captured, by position.
    Capture(u16),
    /// What a constructor had in a local variable and kept in more than one field.
    Made(MethodId, Var),
    /// The object whose field this one was loaded from.
    Owner(FieldId),
    /// The array this one was loaded from.
    OwnerArray,
    /// The last step to an explicit lock: what a `Lock` object is besides its monitor.
    Explicit,
}

/// What is locked of an object. A monitor and the lock that the object itself is do not exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockKind {
    /// `synchronized`.
    Monitor,
    /// By calls: a `Lock`, a `StampedLock`, the permit of a semaphore.
    Explicit,
}

/// One way a lock is known, so that two holders can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockKey {
    /// The monitor of one concrete object: class literal, or allocated once.
    Unique(Obj),
    /// One concrete explicit lock.
    UniqueExplicit(Obj),
    /// The class object of a class whose literal nobody mentions: the lock of static synchronized methods.
    Class(ClassId),
    /// A string constant: the same object everywhere.
    Text(Name),
    /// What a static field that never changes holds, and a path from there.
    Static { field: FieldId, steps: Vec<PathStep> },
    /// A path from a parameter or variable of the holding method.
    Path { root: Var, steps: Vec<PathStep> },
}

/// A lock certainly held at a point.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HeldLock {
    /// All ways it is known; empty if only its abstract objects are.
    pub keys: Vec<LockKey>,
    pub shared: bool,
    pub kind: LockKind,
    /// Abstract objects it may be, for naming.
    pub objects: Vec<Obj>,
    /// The same for comparing: two locks without a common node are different.
    pub nodes: Vec<LockNode>,
    /// Where it is acquired (possibly in a caller); the statement is `None` for a synchronized method.
    pub act: Act,
    pub stmt: Option<StmtId>,
}

/// An abstract lock. Finer than an abstract object: a lock that its owner has made for itself and keeps in a
/// field is told apart by the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockNode {
    Object(Obj),
    /// `object`, which belongs to `of` alone.
    Part {
        of: Obj,
        object: Obj,
    },
    /// The class object of a class whose literal nobody mentions.
    Class(ClassId),
    /// The same as the first two for an explicit lock: `of` is the object it belongs to alone.
    Explicit {
        of: Option<Obj>,
        object: Obj,
    },
}

/// Do locks keep two accesses apart?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection<'a> {
    Yes(Guard<'a>),
    /// Only if two abstract objects that may be equal are equal.
    Weak(Guard<'a>),
    No,
}

/// The two holders that exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard<'a> {
    pub first: &'a HeldLock,
    pub second: &'a HeldLock,
    pub why: GuardReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GuardReason {
    /// One concrete lock object.
    SameObject,
    /// The same path from the accessed object.
    SamePath,
    /// The same path from the only owner of the accessed object.
    SameOwner,
    /// The same path from an owner of the accessed object, which may have others.
    MaybeSameOwner,
    /// Lock objects from one allocation site.
    SameAllocation,
}

/// Taking a lock, by waiting for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acquisition {
    pub act: Act,
    /// `None` for a synchronized method.
    pub stmt: Option<StmtId>,
    pub lock: HeldLock,
}

/// Taking a lock, or waiting for something else, while another lock is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nesting {
    /// Who may do so, in the order of content.
    pub origins: Vec<Origin>,
    /// In the terms of its holder, which makes the first of the calls.
    pub held: HeldLock,
    pub wants: Wanted,
    pub act: Act,
    /// `None` for a synchronized method.
    pub stmt: Option<StmtId>,
    /// All locks certainly held then, in the terms of the activation that wants.
    pub locks: Vec<HeldLock>,
    /// From the holder down to the activation that wants, outermost first; none if the holder itself wants.
    pub calls: Vec<(Act, StmtId)>,
    /// Only if code that is not analysed calls an object back that was passed to it.
    pub called_back: bool,
    /// Most methods, of those that lead to trouble, that one of the calls may lead to.
    pub choices: usize,
    /// The wanted lock is found by way of the held one, as a child by its parent.
    pub is_reached: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    Lock(HeldLock),
    /// The end of one of these.
    End(Vec<End>),
}

/// An origin whose end is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    pub origin: Origin,
    /// The wait gives up after a time.
    pub is_timed: bool,
    /// It is this one that is waited for, not one that was made in the same place.
    pub is_certain: bool,
}

/// Can somebody else know the object yet?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Freshness {
    #[default]
    No,
    /// Allocated here and not published yet.
    Unpublished,
    /// Handed over by a queue or kept per thread, and not published since.
    Taken,
}
