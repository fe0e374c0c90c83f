//! Names for what can be read and can change, and the set of those that did.

use arena::Id;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What about something is read. Each stage adds its own; earlier ones come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// The statements of a method.
    Body,
    /// The lines of a method.
    Lines,
    /// Which classes are loaded.
    Loaded,
    /// What a class says of itself, apart from its supertypes and members.
    Class,
    /// The supertypes of a class.
    Supers,
    /// What is found in a class and above it when a field or a method is looked for.
    FieldsIn,
    MethodsIn,
    /// How a method or a field is declared.
    Method,
    Field,
    /// What a node of points-to holds.
    Node,
    /// Whether an activation runs.
    Runs,
    /// Which activations a method has.
    ActsOf,
    /// The calls of an activation.
    Callees,
    /// The calls that lead to an activation.
    Callers,
    /// The models expanded at the calls of an activation.
    Models,
    /// What the fields and elements of an object hold.
    Slots,
    /// What a static field holds.
    Static,
    /// Where an object is made, and whether it is at all.
    Object,
    /// Spawns, entry points, class initialisers.
    Roots,
    /// Calls that code outside makes back.
    CalledBack,
    /// The component of an activation in the call graph.
    ComponentOf,
    /// The members of a component, their places and their calls.
    Component,
    /// The calls of other components that lead to one.
    Entering,
    /// Whether calls lead from an activation to others.
    Above,
    /// From how many activations they do.
    AboveCount,
    /// What lambdas run.
    Lambdas,
    /// Edges of a body that nobody takes.
    NeverTaken,
    /// Stores of a method.
    Stores,
    /// Stores to a field.
    StoresTo,
    /// Fields in which a constructor keeps parameters.
    Kept,
    /// Calls of an activation whose results are known by a path.
    Results,
    /// Whether an activation is where an origin begins, or an object is handed to one.
    Started,
    /// What semaphores are used for.
    Permits,
    /// Statements of an activation that are about order and locks.
    Sync,
    /// Origins as such: who there is, who overlaps whom, who starts whom.
    Origins,
    /// What is known of an origin by itself.
    Origin,
    /// Where two origins may meet.
    Meeting,
    /// Origins that run an activation.
    OriginsOf,
    /// Whether an activation runs once.
    Once,
    /// Whether an object exists once.
    Unique,
    /// Who holds an object, if there are few.
    Holders,
    /// All who hold an object.
    AllHolders,
    /// Whether a field is private.
    Private,
    /// Whether a field never changes.
    Stable,
    /// What a field's lock is called otherwise.
    Alias,
    /// What a small method returns, as a path.
    Returned,
    /// What leaves a method that is thrown on purpose.
    Escapes,
    /// What a method throws on purpose, and where that goes.
    Throws,
    /// What an origin reaches from where it starts another.
    Reach,
    /// How control passes the activations that have one of some kills in them or below.
    Passing,
    /// Where origins are alive, by activation.
    Alive,
    /// Joins and waits.
    Joins,
    /// What an activation starts.
    Starts,
    /// What the statements of an activation decide to start.
    Decides,
    /// Whether locks may be given up below an activation.
    Pauses,
    /// Objects that stand for other locks.
    Views,
    /// The object of a class.
    Literals,
    /// What a caller's lock is called in a callee.
    Told,
    /// The same for a set of locks.
    ToldSets,
    /// Locks held inside an activation.
    Locks,
    /// The way from what a variable refers to, to a lock.
    Ways,
    /// The field that a variable is loaded from.
    Swapped,
    /// Locks held where a member of a cycle of calls is called.
    Arriving,
    /// Locks held when an activation is entered.
    Entry,
    /// What locks an activation wants itself.
    Wanted,
    /// What locks are wanted below a component.
    Wants,
    /// What is wanted in an activation while a lock is held.
    LockEdges,
    /// All of that together.
    Circles,
    /// What the holder of a lock wants to its harm.
    Harm,
    /// Locks of an activation under which something is wanted to its harm.
    Harmful,
    /// A lock if only some objects get to the parameters of its method.
    Narrowed,
    /// Objects that a call of an activation hands to code that may call them back.
    HandedOut,
    /// Calls of an activation that lead to harm.
    Steps,
    /// Where one of them is.
    StepStmts,
    /// Locks and waits of an activation, without their positions.
    Uses,
    /// What a call passes, for the search of nestings.
    Enters,
    /// What one holder of locks may want meanwhile.
    Walks,
    /// The same as it is told.
    Nested,
    /// All nestings.
    Nestings,
    /// All lock uses.
    Acquisitions,
    /// The same with those of the library, and those that are tried.
    Taken,
    /// Calls of methods that may be interrupted.
    Looks,
    /// Looks at one flag.
    LooksAt,
    /// Calls that may give up locks for a while.
    Waiting,
    /// Who sets a flag, and who sees it set.
    Flags,
    /// Where a lock comes to be held, and where it no longer is.
    Sections,
    /// Locks under which a flag may be set once.
    Candidates,
    /// What may run before a flag was seen unset, by activation.
    Unseen,
    /// A flag that is set once.
    SetOnce,
    /// Who signals and awaits an object.
    Traffic,
    /// What has to be known of a subject.
    Channels,
    /// Where signals and flags order something, by activation.
    Signals,
    /// What an origin signals.
    Signalled,
    /// Who signals and who awaits something.
    Wire,
    /// What does not come after a flag is set.
    Opened,
    /// Who loads a field, or elements.
    Loads,
    /// Who runs calls whose models load from an object.
    Modelled,
    /// From where an origin loads a field, or elements.
    LoadedFrom,
    /// Holders from which an origin may load an object.
    Sharing,
    /// Objects that a holder has its own of.
    Parts,
    /// Objects that each instance of an origin has its own of.
    Local,
    /// What an activation lets escape.
    Summary,
    /// Where values of an activation come from and go to.
    Look,
    /// How an activation is called.
    Arrivals,
    /// Whether an object is handed to an origin.
    Received,
    /// What is got out of objects that have a value for each thread.
    TakenOut,
    /// What comes to whom of that, and of what it holds.
    Confined,
    /// What is fresh in an activation.
    Fresh,
    /// Accesses of an activation.
    Accesses,
    /// Statements that touch memory of a kind.
    Touching,
    /// Fields that are filled when first needed.
    Cache,
    /// How far away an activation is from where an origin starts.
    Distance,
    /// Who comes to an activation, with which locks.
    Comers,
    /// Calls that bring an object to a parameter.
    Bringing,
    /// Where a variable comes from.
    Values,
    /// The statement after one.
    Next,
    /// Whether something is started before a statement.
    StartedBefore,
    /// Objects from which another is loaded.
    Owning,
    /// Objects on which an activation runs.
    Receivers,
    /// Where a statement is.
    Places,
    /// What comes after it.
    After,
    /// What a lock is called.
    LockNames,
    /// What an object is called.
    ObjectNames,
    /// Whether a task is handed over.
    Submitted,
    /// Ways an object reaches an access.
    Anchors,
    /// Objects of their own, and those that all instances fetch.
    Own,
    Sources,
    Fetched,
    /// Objects dealt out.
    Dealt,
    /// Whether an origin is the only one that makes an object.
    Makers,
    /// A judged pair.
    Pair,
    /// Pairs of a crowd that are left out.
    Crowd,
    /// A group of pairs.
    Group,
    /// A described finding.
    Described,
    /// The graph of locks.
    LockGraph,
    /// Locks whose order a condition chooses.
    Chosen,
    /// For tests, and for what a stage keeps to itself.
    Other,
}

/// One thing that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Read(u64);

const BITS: u32 = 28;
/// Instead of an id, for what there is only one of.
const ALL: u64 = (1 << (2 * BITS)) - 1;

impl Read {
    /// What there is only one of.
    pub const fn all(kind: Kind) -> Read {
        Read((kind as u64) << (2 * BITS) | ALL)
    }

    const fn first(kind: Kind) -> u64 {
        (kind as u64) << (2 * BITS)
    }

    pub fn of(kind: Kind, id: impl Id) -> Read {
        Read(Read::first(kind) | id.index() as u64)
    }

    pub fn pair(kind: Kind, first: impl Id, second: impl Id) -> Read {
        Read(Read::first(kind) | (first.index() as u64) << BITS | second.index() as u64)
    }

    /// Is it about classes and declarations?
    pub fn is_of_classes(&self) -> bool {
        (Kind::Loaded as u64..=Kind::Field as u64).contains(&(self.0 >> (2 * BITS)))
    }

    /// What is read of this kind, if it is of this kind.
    pub fn as_of<I: Id>(self, kind: Kind) -> Option<I> {
        let is_one = self.0 >> (2 * BITS) == kind as u64 && self.0 & ALL != ALL;
        is_one.then(|| I::new((self.0 & ((1 << BITS) - 1)) as usize))
    }

    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

/// By what a unit of a memo is read.
pub trait Key: Copy + Eq + std::hash::Hash + Ord {
    fn read(self, kind: Kind) -> Read;
}

impl<I: Id + Ord + std::hash::Hash> Key for I {
    fn read(self, kind: Kind) -> Read {
        Read::of(kind, self)
    }
}

/// What changed in one update, as far as the stages have come.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Nothing that was worked out before is of use.
    pub everything: bool,
    /// What nobody needs any more is forgotten at once, not only when there is much of it.
    pub tidies: bool,
    reads: FxHashSet<Read>,
    /// How many values were stale by this, in all branches of the work together.
    stale: Arc<AtomicUsize>,
}

impl Changes {
    /// A first run.
    pub fn everything() -> Changes {
        Changes { everything: true, ..Changes::default() }
    }

    pub fn add(&mut self, read: Read) {
        self.reads.insert(read);
    }

    pub fn contains(&self, read: Read) -> bool {
        self.everything || self.reads.contains(&read)
    }

    pub fn is_empty(&self) -> bool {
        !self.everything && self.reads.is_empty()
    }

    pub fn len(&self) -> usize {
        self.reads.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = Read> + '_ {
        self.reads.iter().copied()
    }

    /// The ids of what changed of one kind, unless everything did; in no particular order.
    pub fn of<I: Id>(&self, kind: Kind) -> impl Iterator<Item = I> + '_ {
        self.iter().filter_map(move |read| read.as_of(kind))
    }

    /// How many values had read something of this and were worked out again. Depends on neither machine nor threads,
    /// and leaves out what nobody had kept: new values, and everything if everything changed.
    pub fn stale(&self) -> usize {
        self.stale.load(Ordering::Relaxed)
    }

    pub(crate) fn count_stale(&self, values: usize) {
        self.stale.fetch_add(values, Ordering::Relaxed);
    }

    /// Adds what another branch of the work has found.
    pub fn extend(&mut self, other: Changes) {
        self.everything |= other.everything;
        self.reads.extend(other.reads);
    }
}
