//! What a program has of threads, locks and guarded fields, as lists that a person can ask for. Plain data; knows nothing
//! of how it was found out, nor of how it is shown.

use crate::{FieldGuard, Place};
use serde::{Deserialize, Serialize};

/// A thread or task of the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// "main thread", "thread started at bank/Main.java:20", …
    pub name: String,
    /// Where it is started or submitted; empty for entry points.
    pub started: Vec<Place>,
    /// The method it runs first: `bank.Main.main(String[])`.
    pub runs: String,
    /// Several of them may run at the same time.
    pub is_several: bool,
    /// It runs on an executor with a single thread: never beside other tasks of that.
    pub is_serial: bool,
    /// The others that may run at the same time, by name.
    pub overlaps: Vec<String>,
}

/// A lock, or locks that are known by one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LockInfo {
    /// `bank.Account.lock`, `bank.Bank.class`, `bank.Account (this)`.
    pub name: String,
    /// Where it is taken.
    pub taken: Vec<Place>,
    /// Fields all of whose accesses, or most, hold it.
    pub guards: Vec<String>,
    /// Locks that are taken while it is held, and where.
    pub before: Vec<LockEdge>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LockEdge {
    pub lock: String,
    pub place: Place,
}

/// The fields of a class with what guards them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassGuards {
    /// `bank.Account`.
    pub class: String,
    pub fields: Vec<FieldGuard>,
}
