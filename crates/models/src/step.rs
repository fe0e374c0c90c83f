//! The small language models are written in: a model is a list of steps, expanded at each call of the
//! modelled method in terms of the call's own operands.

/// What one modelled method does, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Model {
    pub steps: Vec<Step>,
}

/// A value of the call: `this`, `p1`, `ret`, followed by fields and `[]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    pub root: Root,
    pub path: Vec<Member>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// The receiver.
    This,
    /// A parameter, counted from 0 without the receiver.
    Param(u8),
    /// The result of the call.
    Ret,
    /// The elements of a varargs/array parameter are written `p1[]`.
    /// A temporary of the model, `t0`, `t1`.
    Temp(u8),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Member {
    /// A field that exists only in models, without the `$`: `this.$task` is `Model("task")`.
    Model(String),
    /// Array contents.
    Elements,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Value(Operand),
    /// `new java.util.ArrayList`, optionally `serial`: an executor whose tasks never overlap.
    New { class: String, serial: bool },
    /// `copy this`: a fresh shallow copy per call site (clone, Arrays.copyOf).
    Copy(Operand),
    /// `class-named p0`: the Class object of a constant string.
    ClassNamed(Operand),
    /// `instance-of this`: a new object of the classes that the Class objects stand for, its no-argument (or any,
    /// when arguments are passed) constructor called.
    InstanceOf(Operand),
    /// `class-of this`: `getClass()`.
    ClassOf(Operand),
    /// `services p0`: instances of the providers listed under META-INF/services for a class literal.
    Services(Operand),
    /// `field-handle p0 p1`: a VarHandle or field updater for the field named by a constant string on a class literal.
    FieldHandle { class: Operand, name: Operand },
    /// `load-handle this p0`: what the handle's field of the object holds.
    LoadHandle { handle: Operand, base: Operand },
    /// `load-unsafe p0`: any reference field or element of the object.
    LoadUnsafe(Operand),
    /// `current-thread`
    CurrentThread,
    /// `opaque`: a fresh object of the declared result type.
    Opaque,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `dst = source`
    Assign { dst: Operand, src: Source },
    /// `call p0.accept(this.$elem)` or `ret = call p0.apply(p1)`: run in place, dispatched on the object. The
    /// method is found by name and number of arguments.
    Call { dst: Option<Operand>, receiver: Operand, method: String, args: Vec<Operand> },
    /// `spawn p0.run() on this handle ret`: runs in an origin of its own.
    Spawn(Spawn),
    /// `join this`: returns only after the origins with this handle have ended.
    Join { handle: Operand },
    /// `join-all this`: returns only after all origins spawned on this executor have ended.
    JoinAll { executor: Operand },
    /// `acquire this`, `acquire this shared`, `acquire this try` (held where the boolean result is true).
    Acquire { lock: Operand, shared: bool, try_: bool },
    /// `release this`, `release this shared`
    Release { lock: Operand, shared: bool },
    /// `view this shared`: the result is a lock that stands for the receiver in that mode (readLock()).
    View { of: Operand, shared: bool },
    /// `signal this` … `await this`: what precedes the signal happens before what follows the await.
    Signal { on: Operand },
    Await { on: Operand },
    /// `read this`, `write this`: unsynchronised access to the contents of a container.
    Read { on: Operand },
    Write { on: Operand },
    /// `give p0`: ownership of the value passes to whoever takes it; `take ret`: the result is owned by the taker.
    Give { value: Operand },
    Take { value: Operand },
    /// `store-handle this p0 p1`: through a VarHandle or updater.
    StoreHandle { handle: Operand, base: Operand, src: Operand },
    /// `store-unsafe p0 p3`
    StoreUnsafe { base: Operand, src: Operand },
    /// `escape p0`: the value goes where the analysis does not look; its methods may be called back.
    Escape { value: Operand },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spawn {
    pub receiver: Operand,
    /// Found by name and number of arguments on the receiver's class.
    pub method: String,
    pub args: Vec<Operand>,
    /// Where the returned value of the run goes (`into ret.$value`).
    pub result: Option<Operand>,
    /// `on this`: the executor, for `join-all` and serial executors.
    pub executor: Option<Operand>,
    /// `handle ret`: what to join on.
    pub handle: Option<Operand>,
    /// `repeat`: runs again and again (periodic tasks), never overlapping itself.
    pub repeat: bool,
    /// `parallel`: several instances run at the same time (parallel streams).
    pub parallel: bool,
    /// `waits`: the call returns only after the origin has ended (invokeAll, parallel forEach).
    pub waits: bool,
    /// `when-parallel`: only if the receiver stream of the call is parallel (its definition chain in the calling
    /// method contains `parallel()` or `parallelStream()`); otherwise run in place.
    pub when_parallel: bool,
}
