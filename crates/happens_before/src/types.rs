//! Origins, program points and locks: the vocabulary of order and mutual exclusion.

use arena::define_id;
use ir::{FieldId, StmtId, Var};
use pointsto::{Act, Obj};

define_id! {
    /// A thread or task that runs code: an entry point, or a spawned task object with its entry method.
    Origin
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginInfo {
    /// First activation it runs.
    pub entry: Act,
    /// The task object; `None` for entry points.
    pub task: Option<Obj>,
    /// Spawn statements that start it, each with the origin that executes them.
    pub spawned_by: Vec<SpawnedBy>,
    /// More than one instance may be alive at the same time.
    pub overlaps_itself: bool,
    /// Each instance runs on a task object of its own (allocated anew before each spawn).
    pub own_task: bool,
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

/// Why two points never run at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Entry points of different programs.
    DifferentPrograms,
}

/// One way a lock is known, so that two holders can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockKey {
    /// One concrete object: static, class literal, or allocated once.
    Unique(Obj),
    /// A path of fields that never change from a parameter or variable of the holding method.
    Path { root: Var, fields: Vec<FieldId> },
}

/// A lock certainly held at a point.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HeldLock {
    pub key: LockKey,
    pub shared: bool,
    /// Abstract objects it may be (for naming and for the deadlock graph).
    pub objects: Vec<Obj>,
    /// Where it is acquired (possibly in a caller); the statement is `None` for a synchronized method.
    pub act: Act,
    pub stmt: Option<StmtId>,
}
