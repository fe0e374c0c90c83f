//! Why something holds: reasons, and the list of them that each edge, use and rule keeps. Knows nothing of what
//! the reasons derive.

use crate::graph::UseId;
use crate::rule::RuleId;
use crate::types::Obj;
use serde::{Deserialize, Serialize};

/// What one thing was derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Reason {
    /// The entry points: true without more ado.
    Root,
    /// A rule that holds.
    Rule(RuleId),
    /// The object has reached the node that the use sits on.
    Fired(UseId, Obj),
}

/// A reason in eight bytes: there are millions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Reason", into = "Reason")]
struct Packed(u64);

const ROOT: u64 = u64::MAX;
const RULE: u64 = 1 << 63;

impl Packed {
    fn new(reason: Reason) -> Packed {
        Packed(match reason {
            Reason::Root => ROOT,
            Reason::Rule(rule) => RULE | u64::from(rule.0),
            Reason::Fired(use_, obj) => u64::from(use_.0) << 32 | u64::from(obj.0),
        })
    }

    fn reason(self) -> Reason {
        match self.0 {
            ROOT => Reason::Root,
            rule if rule & RULE != 0 => Reason::Rule(RuleId(rule as u32)),
            fired => Reason::Fired(UseId((fired >> 32) as u32), Obj(fired as u32)),
        }
    }
}

impl From<Reason> for Packed {
    fn from(reason: Reason) -> Packed {
        Packed::new(reason)
    }
}

impl From<Packed> for Reason {
    fn from(packed: Packed) -> Reason {
        packed.reason()
    }
}

/// All reasons for one thing, with multiplicity. The first is the chosen one: following chosen reasons from
/// anything leads to the roots without coming back to it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Supports {
    first: Option<Packed>,
    others: Vec<Packed>,
}

/// What a thing lost when a reason was taken from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// One of several; the chosen one is still there.
    Spare,
    /// The chosen one. Another one may be left, but nobody has looked whether it will do.
    Chosen,
    /// It was not there.
    Nothing,
}

impl Supports {
    pub(crate) fn add(&mut self, reason: Reason) {
        match self.first {
            None => self.first = Some(Packed::new(reason)),
            Some(_) => self.others.push(Packed::new(reason)),
        }
    }

    pub(crate) fn remove(&mut self, reason: Reason) -> Lost {
        let reason = Packed::new(reason);
        if let Some(at) = self.others.iter().rposition(|&other| other == reason) {
            self.others.swap_remove(at);
            Lost::Spare
        } else if self.first == Some(reason) {
            self.first = self.others.pop();
            Lost::Chosen
        } else {
            Lost::Nothing
        }
    }

    pub(crate) fn chosen(&self) -> Option<Reason> {
        self.first.map(Packed::reason)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn get(&self, at: usize) -> Option<Reason> {
        let packed = if at == 0 { self.first } else { self.others.get(at - 1).copied() };
        packed.map(Packed::reason)
    }

    /// Makes the reason at this place the chosen one.
    pub(crate) fn choose(&mut self, at: usize) {
        if at > 0
            && let Some(first) = &mut self.first
        {
            std::mem::swap(first, &mut self.others[at - 1]);
        }
    }
}
