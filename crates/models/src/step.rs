//! The small language models are written in: a model is a list of steps, expanded at each call of the
//! modelled method in terms of the call's own operands.

/// What one modelled method does, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Model {
    pub steps: Vec<Step>,
    /// `body`: the method's own body is analysed as well; otherwise the steps replace it.
    pub keep_body: bool,
    /// `own`: the model is of this very method; methods that override it keep their bodies.
    pub own: bool,
}

impl Model {
    /// Does what the steps mean depend on how the arguments of a call were made, on constants and parallel streams?
    pub fn looks_back(&self) -> bool {
        self.steps.iter().any(|step| match step {
            Step::Assign { src, .. } => matches!(src, Source::ClassNamed(_) | Source::FieldHandle { .. }),
            Step::Spawn(spawn) => spawn.when_parallel,
            _ => false,
        })
    }

    /// The highest numbered parameter any step mentions.
    pub(crate) fn highest_param(&self) -> Option<u8> {
        let roots = self.steps.iter().flat_map(Step::operands).map(|operand| operand.root);
        roots.filter_map(|root| if let Root::Param(number) = root { Some(number) } else { None }).max()
    }
}

/// A value of the call: `this`, `p1`, `ret`, followed by fields and `[]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    pub root: Root,
    pub path: Vec<Member>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// The receiver: of the objects at the call, those on which it runs the modelled method.
    This,
    /// A parameter, counted from 0 without the receiver; the elements of an array parameter are `p1[]`.
    Param(u8),
    /// The result of the call.
    Ret,
    /// A temporary of the model, `t0`, `t1`; `_` is the last one, for arguments that are no references.
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
    /// `new java.util.ArrayList`, optionally `serial`: an executor whose tasks never overlap. One object per
    /// calling statement; its constructor is not run. `class` is an internal name (`java/util/ArrayList`,
    /// `[Ljava/lang/Object;`) and may be an interface.
    New {
        class: String,
        serial: bool,
    },
    /// `new-result`: one object per calling statement, of the result type the called method declares.
    NewResult,
    /// `the java.awt.EventQueue serial`: the one model object of this class in the whole program, the same at
    /// every call.
    The {
        class: String,
        serial: bool,
    },
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
    FieldHandle {
        class: Operand,
        name: Operand,
    },
    /// `load-handle this p0`: what the handle's field of the object holds.
    LoadHandle {
        handle: Operand,
        base: Operand,
    },
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
    Assign {
        dst: Operand,
        src: Source,
    },
    /// `call p0.accept(this.$elem)` or `ret = call p0.apply(p1)`: run in place, dispatched on the object. The
    /// method is found by name and number of arguments.
    Call {
        dst: Option<Operand>,
        receiver: Operand,
        method: String,
        args: Vec<Operand>,
    },
    /// `spawn p0.run() on this handle ret`: runs in an origin of its own.
    Spawn(Spawn),
    /// `join this`: returns only after the origins with this handle have ended. `join this if-false` (isAlive()):
    /// they have ended where the call returned false.
    Join {
        handle: Operand,
        when: Outcome,
    },
    /// `covers ret p0[]`: whoever has joined `handle` has joined every one of `parts` as well (allOf, thenCompose).
    Covers {
        handle: Operand,
        parts: Operand,
    },
    /// `join-all this`: returns only after all origins spawned on this executor have ended.
    JoinAll {
        executor: Operand,
        when: Outcome,
    },
    /// `acquire this`, `acquire this shared`, `acquire this try` (held where the boolean result is true).
    Acquire {
        lock: Operand,
        shared: bool,
        try_: bool,
    },
    /// `release this`, `release this shared`
    Release {
        lock: Operand,
        shared: bool,
    },
    /// `view this shared`: the result is a lock that stands for the receiver in that mode (readLock()).
    View {
        of: Operand,
        shared: bool,
    },
    /// `signal this` … `await this`: what precedes the signal happens before what follows the await.
    Signal {
        on: Operand,
    },
    Await {
        on: Operand,
        when: Outcome,
    },
    /// `permits this p0`: a semaphore made with this many permits. A constant 1 makes it a lock (its `signal` and
    /// `await` mean nothing), a constant 0 an order (its `acquire` and `release` mean nothing), anything else
    /// neither. On an executor (its largest number of threads), a constant 1 makes it serial.
    Permits {
        of: Operand,
        count: Operand,
    },
    /// `read this`, `write this`: unsynchronised access to the contents of a container or array.
    Read {
        on: Operand,
    },
    Write {
        on: Operand,
    },
    /// `pause`: the call gives up locks and takes them back before it returns.
    Pause,
    /// `give p0`: ownership of the value passes to whoever takes it; `take ret`: the result is owned by the taker.
    Give {
        value: Operand,
    },
    Take {
        value: Operand,
    },
    /// `per-thread this`: what is taken from it is what the same thread has given to it, or got first.
    PerThread {
        of: Operand,
    },
    /// `publish p1`: what the caller did to the value before this call is seen by whoever gets it later
    /// (concurrent maps, atomic references).
    Publish {
        value: Operand,
    },
    /// `store-handle this p0 p1`: through a VarHandle or updater.
    StoreHandle {
        handle: Operand,
        base: Operand,
        src: Operand,
    },
    /// `store-unsafe p0 p3`
    StoreUnsafe {
        base: Operand,
        src: Operand,
    },
    /// `escape p0`: the value goes where the analysis does not look; its methods may be called back.
    Escape {
        value: Operand,
    },
}

/// Which result of the call means that it has waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Whatever it returns.
    Any,
    /// `if-true`: a question that was answered with yes (isDone()).
    True,
    /// `if-false`: a question that was answered with no (isAlive()).
    False,
    /// `unless-false`: a wait with a timeout. Where nobody looks at the result, it is taken to have succeeded.
    NotFalse,
    /// `if-returned`: a wait with a timeout that throws when the time is over.
    Returned,
}

impl Outcome {
    /// Does the call go on at some time, whatever happens?
    pub fn gives_up(self) -> bool {
        self != Outcome::Any
    }
}

impl Source {
    /// Every operand the source mentions.
    pub fn operands(&self) -> Vec<&Operand> {
        match self {
            Source::Value(value)
            | Source::Copy(value)
            | Source::ClassNamed(value)
            | Source::InstanceOf(value)
            | Source::ClassOf(value)
            | Source::Services(value)
            | Source::LoadUnsafe(value) => vec![value],
            Source::FieldHandle { class, name } => vec![class, name],
            Source::LoadHandle { handle, base } => vec![handle, base],
            Source::New { .. }
            | Source::The { .. }
            | Source::NewResult
            | Source::CurrentThread
            | Source::Opaque => Vec::new(),
        }
    }
}

impl Step {
    /// Every operand the step mentions, read or written.
    pub fn operands(&self) -> Vec<&Operand> {
        match self {
            Step::Assign { dst, src } => std::iter::once(dst).chain(src.operands()).collect(),
            Step::Call { dst, receiver, args, .. } => dst.iter().chain([receiver]).chain(args).collect(),
            Step::Spawn(spawn) => {
                let optional = [&spawn.result, &spawn.executor, &spawn.handle].into_iter().flatten();
                let passed = std::iter::once(&spawn.receiver).chain(&spawn.args);
                passed.chain(optional).chain(&spawn.after).collect()
            }
            Step::Join { handle: value, .. }
            | Step::JoinAll { executor: value, .. }
            | Step::Acquire { lock: value, .. }
            | Step::Release { lock: value, .. }
            | Step::View { of: value, .. }
            | Step::Signal { on: value }
            | Step::Await { on: value, .. }
            | Step::Read { on: value }
            | Step::Write { on: value }
            | Step::Give { value }
            | Step::Take { value }
            | Step::PerThread { of: value }
            | Step::Publish { value }
            | Step::Escape { value } => vec![value],
            Step::Pause => Vec::new(),
            Step::Covers { handle, parts } => vec![handle, parts],
            Step::Permits { of, count } => vec![of, count],
            Step::StoreHandle { handle, base, src } => vec![handle, base, src],
            Step::StoreUnsafe { base, src } => vec![base, src],
        }
    }
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
    /// `after this`, any number of times: starts only after the origins with this handle (other than itself) have
    /// ended, or after a `signal` on it (continuations of a future).
    pub after: Vec<Operand>,
    /// `serial`: origins spawned so on the same executor never overlap each other (timers, event threads).
    pub serial: bool,
    /// `once`: the handle is started at most once, however often the call is made (threads).
    pub once: bool,
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
