//! Why something holds: reasons, and the list of them that each edge, use and rule keeps. Knows nothing of what
//! the reasons derive.

use crate::graph::UseId;
use crate::rule::RuleId;
use crate::types::Obj;

/// What one thing was derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reason {
    /// The entry points: true without more ado.
    Root,
    /// A rule that holds.
    Rule(RuleId),
    /// The object has reached the node that the use sits on.
    Fired(UseId, Obj),
}

/// All reasons for one thing, with multiplicity. The first is the chosen one: following chosen reasons from
/// anything leads to the roots without coming back to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Supports {
    first: Option<Reason>,
    others: Vec<Reason>,
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
            None => self.first = Some(reason),
            Some(_) => self.others.push(reason),
        }
    }

    pub(crate) fn remove(&mut self, reason: Reason) -> Lost {
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
        self.first
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn get(&self, at: usize) -> Option<Reason> {
        if at == 0 { self.first } else { self.others.get(at - 1).copied() }
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
