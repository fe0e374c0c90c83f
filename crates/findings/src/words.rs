//! The stable words for each enumeration, as they appear in every output. Knows nothing of formats.

use crate::{AccessKind, Confidence, Engine, Rule};

impl Rule {
    pub fn named(id: &str) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.id() == id)
    }
}

impl Confidence {
    pub fn named(id: &str) -> Option<Confidence> {
        [Confidence::High, Confidence::Medium, Confidence::Low].into_iter().find(|level| level.id() == id)
    }

    pub fn id(self) -> &'static str {
        match self {
            Confidence::High => "high",
            Confidence::Medium => "medium",
            Confidence::Low => "low",
        }
    }
}

impl Engine {
    pub fn id(self) -> &'static str {
        match self {
            Engine::WholeProgram => "whole-program",
            Engine::Compositional => "compositional",
        }
    }
}

impl AccessKind {
    pub fn id(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Acquire => "acquire",
            AccessKind::Wait => "wait",
            AccessKind::Block => "block",
            AccessKind::Call => "call",
        }
    }
}
