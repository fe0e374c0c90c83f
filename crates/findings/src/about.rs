//! What is known of one field or one lock: who touches it, on which threads, under which locks, what guards it, and why
//! there is a warning or none. Plain data; knows nothing of how it was found out, nor of how it is shown.

use crate::{AccessKind, Confidence, Dismissed, Engine, Finding, LockUse, Place, Rule};
use serde::{Deserialize, Serialize};

/// What is known of a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// `bank.Account.balance`.
    pub field: String,
    /// The lock that is there for it, as far as one can be made out.
    pub guard: Option<Guard>,
    pub why: Why,
    /// Where it is a lock: the fields of its class that it guards, by their names.
    pub guards: Vec<String>,
    /// What was found about it and is not discharged, in the order of the report.
    pub findings: Vec<Reported>,
    /// In the order of their places, one for each place and method.
    pub accesses: Vec<Access>,
    /// Each two places of which one writes and threads of the program reach both, with what is concluded about them.
    pub pairs: Vec<PairVerdict>,
    /// Who was asked. Where both were, what only the compositional engine knows is never reached.
    pub engines: Vec<Engine>,
}

/// Two places that touch the same field, or one that two threads may be at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PairVerdict {
    pub sides: [Place; 2],
    /// How sure a race is, or why there is none.
    pub verdict: Result<Confidence, Dismissed>,
}

/// The lock that accesses to a field hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Guard {
    /// From the object that has the field: `this`, `this.lock`; or `bank.Account.LOCK`, `bank.Account.class`, or
    /// `bank.Bank.this` for the object that has this one in a field.
    pub name: String,
    /// How many of the accesses that need it hold it, and how many do.
    pub with: usize,
    pub of: usize,
    /// The field says so itself.
    pub is_declared: bool,
}

/// An access as it stands in the code, over all threads and calls that lead to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Access {
    pub place: Place,
    /// `bank.Account.deposit(int)`.
    pub method: String,
    /// A write where the line does both.
    pub kind: AccessKind,
    pub part: Part,
    /// Who gets there.
    pub origins: Vec<Origin>,
    /// Locks that are held whoever gets there.
    pub locks: Vec<Held>,
    /// Others may know the object: it is not being made, nor has one thread it for itself.
    pub is_published: bool,
    /// It needs the guard and does not hold it.
    pub lacks_guard: bool,
    /// By whom this is known.
    pub engine: Engine,
}

/// What of a field is touched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Part {
    #[default]
    Field,
    /// The elements of the array in it.
    Elements,
    /// What the container in it holds.
    Contents,
}

/// A thread or task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// "main thread", "thread started at bank/Main.java:20", "any thread", …
    pub name: String,
    /// More than one of them may run at a time.
    pub is_several: bool,
}

/// A lock that is held.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Held {
    /// As it is called where it is taken.
    pub lock: LockUse,
    /// As it is called from the accessed object, so that two accesses can be compared; see [`Guard::name`].
    pub known_as: Vec<String>,
}

/// A finding in brief.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reported {
    pub id: String,
    pub rule: Rule,
    pub confidence: Confidence,
    pub message: String,
}

/// Why there is a warning, or none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Why {
    /// See [`About::findings`].
    Reported,
    Untouched,
    Volatile,
    /// With the class of what it holds, if that is made for several threads.
    Final(Option<String>),
    /// Nobody else knows the object at any access, or the class is not used yet.
    Unpublished,
    /// Nobody writes after that; or nobody that the program gets to.
    NeverWritten,
    NeverWrittenWhereReached,
    /// This one alone.
    OneThread(Origin),
    /// This lock, at all accesses; or at all that the program gets to.
    Guarded(String),
    GuardedWhereReached(String),
    /// What keeps the threads of the program apart that do get there.
    Dismissed(Dismissed),
    /// The program never gets there.
    Unreached,
    /// Nothing says that several threads get there.
    Unsuspected,
}

impl Why {
    /// A sentence without its end.
    pub fn text(&self) -> String {
        match self {
            Why::Reported => "it is reported".into(),
            Why::Untouched => "nothing touches it".into(),
            Why::Volatile => "it is volatile".into(),
            Why::Final(None) => "it is final".into(),
            Why::Final(Some(class)) => format!("it is final, and made for several threads: {class}"),
            Why::Unpublished => "it is touched only while nobody else knows its object".into(),
            Why::NeverWritten => "it is never written once others know its object".into(),
            Why::NeverWrittenWhereReached => {
                "no thread of the program writes it once others know its object".into()
            }
            Why::OneThread(origin) => format!("only the {} touches it", origin.name),
            Why::Guarded(lock) => format!("all accesses hold `{lock}`"),
            Why::GuardedWhereReached(lock) => {
                format!("all accesses that the program gets to hold `{lock}`")
            }
            Why::Dismissed(why) => why.text().into(),
            Why::Unreached => "no thread of the program touches it".into(),
            Why::Unsuspected => "nothing says that several threads touch it".into(),
        }
    }
}

/// What guards a field, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldGuard {
    /// `balance`.
    pub field: String,
    pub guard: Option<Guard>,
    pub why: Why,
    pub findings: Vec<Reported>,
}

/// What is known of a lock that is taken somewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AboutLock {
    /// As it is called and where it is taken.
    pub lock: LockUse,
    pub method: String,
    /// Who takes it here.
    pub origins: Vec<Origin>,
    /// Where the same lock is taken besides, as far as that is known, in order.
    pub elsewhere: Vec<Place>,
    /// What is touched while it is held, by the names of fields.
    pub covers: Vec<Covered>,
    pub engines: Vec<Engine>,
}

/// A field that is touched under a lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Covered {
    /// `bank.Account.balance`.
    pub field: String,
    /// In the order of their places.
    pub accesses: Vec<Access>,
}

impl Reported {
    pub fn of(finding: &Finding) -> Reported {
        Reported {
            id: finding.id.clone(),
            rule: finding.rule,
            confidence: finding.confidence,
            message: finding.message.clone(),
        }
    }
}

impl Part {
    /// Of what one line does, the greatest tells most: to get a container and to change it is to change it.
    pub fn weight(self, kind: AccessKind) -> u8 {
        match (self, kind == AccessKind::Write) {
            (Part::Field, true) => 5,
            (Part::Contents, true) => 4,
            (Part::Elements, true) => 3,
            (Part::Contents, false) => 2,
            (Part::Elements, false) => 1,
            (Part::Field, false) => 0,
        }
    }
}

impl Access {
    /// What is true of two accesses in one place: whoever gets to either, with the locks that are held at both. Before
    /// others know the object nobody needs any.
    pub fn and(self, other: Access) -> Access {
        let does = |access: &Access| access.part.weight(access.kind);
        let (part, kind) = match does(&self) >= does(&other) {
            true => (self.part, self.kind),
            false => (other.part, other.kind),
        };
        if self.is_published != other.is_published {
            let told = if self.is_published { self } else { other };
            return Access { part, kind, ..told };
        }
        let held_too = |held: &Held| other.locks.iter().find_map(|twin| held.and(twin));
        let locks = self.locks.iter().filter_map(held_too).collect();
        let mut origins = self.origins;
        origins.extend(other.origins);
        origins.sort();
        origins.dedup();
        Access { part, kind, origins, locks, ..self }
    }

    /// Does it hold a lock of this name, in a mode that is enough for what it does?
    pub fn holds(&self, guard: &str) -> bool {
        self.locks.iter().any(|held| {
            let is_enough = !(held.lock.shared && self.kind == AccessKind::Write);
            is_enough && held.known_as.iter().any(|name| name == guard)
        })
    }
}

impl Held {
    /// What is true of a lock here and there, if it is one lock.
    fn and(&self, other: &Held) -> Option<Held> {
        let known_as: Vec<String> =
            self.known_as.iter().filter(|name| other.known_as.contains(name)).cloned().collect();
        let is_same = self.lock.name == other.lock.name || !known_as.is_empty();
        let shared = self.lock.shared || other.lock.shared;
        let lock = LockUse { shared, ..(&self.lock).min(&other.lock).clone() };
        is_same.then_some(Held { lock, known_as })
    }
}
