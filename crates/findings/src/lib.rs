//! What the engines found, as plain data: findings, sites, traces, notes, statistics. Knows nothing of how
//! they were computed, nor of JSON or terminals. Can be written down and read back, in whatever form.

mod about;
mod baseline;
mod comparison;
mod delta;
mod dismissed;
mod fingerprint;
mod glob;
mod harm;
mod moved;
mod order;
mod overview;
mod pairing;
mod rule;
mod suppress;
mod unguarded;
mod words;

pub use about::{
    About, AboutLock, Access, Covered, FieldGuard, Guard, Held, Origin, PairVerdict, Part, Reported, Why,
};
pub use baseline::{Accepted, Baseline, Beside};
pub use comparison::Comparison;
pub use delta::FindingsDelta;
pub use dismissed::Dismissed;
pub use fingerprint::{digest, fingerprint, unnumbered};
pub use glob::matches as is_like;
pub use harm::Harm;
pub use moved::Renamed;
pub use order::sort_findings;
pub use overview::{ClassGuards, LockEdge, LockInfo, ThreadInfo};
pub use rule::{Level, Rule};
pub use suppress::{Covers, Pattern, Suppressed, Suppression};
pub use unguarded::{MOST_UNGUARDED, Unguarded};

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Everything one run has to say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Ranked: highest confidence first, then what hurts most, then place. Shared with the reports before that say the same.
    pub findings: Vec<Arc<Finding>>,
    pub notes: Vec<Note>,
    pub stats: Stats,
    /// What somebody does not want to be told, in the order of findings.
    pub suppressed: Vec<Suppressed>,
    /// Where it was compared with a baseline: what is in both, gone or of new rules. Not in `findings`.
    #[serde(skip)]
    pub beside: Option<Beside>,
}

/// Ordered so that `High` sorts first. Who does not choose a level means all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Confidence {
    High,
    Medium,
    #[default]
    Low,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Engine {
    WholeProgram,
    Compositional,
}

/// One race or one deadlock, with every side of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// Fingerprint without line numbers; see [`fingerprint`]. No other finding of the report has it.
    pub id: String,
    /// The fingerprint, where others have the same and the id says more; see [`Finding::fingerprint`].
    pub cause: String,
    /// Fingerprints of the pairs with the same cause, sorted, of many the smallest; empty if there is but one. Which of
    /// them stands for all may change with lines and names elsewhere.
    pub members: Vec<String>,
    pub rule: Rule,
    pub confidence: Confidence,
    pub engines: Vec<Engine>,
    pub message: String,
    /// Races: `bank.Account.balance`, `int[]` elements, or the container type.
    pub field: Option<String>,
    /// Where the shared object was allocated.
    pub object: Option<Place>,
    /// Two sites for a race; one per thread for a deadlock.
    pub sites: Vec<Site>,
    /// Why it is believed, and what lowered the confidence.
    pub why: Vec<String>,
    /// Races: everything that the same cause affects, `field` included; empty if that is all.
    pub fields: Vec<String>,
    /// Further pairs of places with the same cause.
    pub also: Vec<(Place, Place)>,
    /// Races: every access of all pairs that holds no lock, or not the one that others hold; see [`Unguarded::listed`].
    pub unguarded: Vec<Unguarded>,
    /// What was taken for granted, and would make it untrue.
    pub assumed: Vec<String>,
    /// What would repair it.
    pub fix: Vec<String>,
    /// One engine has found it, and another one knows why it cannot happen: then it is not reported.
    pub dismissed: Vec<Dismissed>,
    /// It is about elements or contents of an object, not about a field; `field` is the class of the object then.
    pub about_contents: bool,
    /// The field that holds that object, where one does: `bank.Bank.names`.
    pub held_in: Option<String>,
    /// The most that its doubts allow to believe.
    pub limit: Option<Confidence>,
    /// The code itself says what it violates.
    pub is_declared: bool,
    /// The code itself shows what harm it does: an update that is lost, an object that is gone after it was tested for.
    pub shows_harm: bool,
}

/// How a fix begins that names no lock.
pub const GENERAL_FIX: &str = "guard every access with one lock";

/// A source position. `file` is relative to the project where the source is known, otherwise the class's
/// package path and source file name. `line` 0 means unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AccessKind {
    #[default]
    Read,
    Write,
    /// Deadlock sites acquire a lock while holding another.
    Acquire,
    /// A join or `Future.get` while holding a lock.
    Wait,
    /// A call that may take long.
    Block,
    /// A call of a method about which nothing is known.
    Call,
}

/// Why code is believed to run on several threads, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Evidence {
    /// Something beside it is meant for several threads.
    Hint,
    /// A framework keeps one object for all its threads.
    Framework,
    /// It is, or is reached from, what a thread or task runs.
    Task,
    /// The method itself starts the thread.
    Start,
    /// It takes locks.
    Locks,
    /// It says so.
    Declared,
}

/// One side of a finding.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site {
    pub access: AccessKind,
    pub place: Place,
    /// `bank.Account.deposit(int)`.
    pub method: String,
    /// "main thread", "thread started at src/bank/Main.java:20", …
    pub origin: String,
    /// Where that thread is started, when it is not an entry point.
    pub started: Option<Place>,
    /// Why this code is believed to run at the same time as other code.
    pub concurrent: Vec<String>,
    /// The kind of that reason, where it is no thread that was followed.
    pub evidence: Option<Evidence>,
    /// Locks certainly held at the access (races).
    pub locks: Vec<LockUse>,
    /// Deadlocks: the lock held and the lock wanted.
    pub holds: Option<LockUse>,
    pub acquires: Option<LockUse>,
    /// Calls from where the thread starts down to the access, outermost first; the last frame is the access.
    pub trace: Vec<Frame>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LockUse {
    /// `this`, `bank.Account.lock`, `Account.class`, …
    pub name: String,
    /// Which object it is, where another lock of the finding has the same name; else empty.
    pub object: String,
    /// Where it is acquired.
    pub place: Place,
    /// Held in read (shared) mode.
    pub shared: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Frame {
    pub method: String,
    pub place: Place,
}

/// Something the user should know about the run: what was not understood, not found, or assumed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Note {
    /// Stable kind: `missing-class`, `opaque-call`, `unsupported-dynamic`, `corrupt-class`, `newer-class-version`, …
    pub kind: String,
    pub message: String,
    /// How often it happened.
    pub count: u64,
}

/// Sizes and times, in the order in which they were measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// `("classes", 120)`, `("methods", …)`, `("facts", …)`.
    pub sizes: Vec<(String, u64)>,
    /// Stage name and seconds. Left out of byte-for-byte comparisons.
    pub seconds: Vec<(String, f64)>,
    /// Pairs surviving each stage of detection (Chord figure 11).
    pub pairs: Vec<(String, u64)>,
}
