//! The models by method, with inheritance: a model on an interface holds for library classes that implement it.

use crate::policy::Policy;
use crate::step::Model;
use arena::{IndexVec, define_id};
use ir::{MethodId, Program};
use rustc_hash::FxHashMap;
use std::fmt;

define_id! {
    /// One model.
    ModelId
}

/// A model file that cannot be used, with the place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelError {
    pub file: String,
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for ModelError {}

#[derive(Debug, Clone, Default)]
pub struct Models {
    /// The default boundary (quiet JDK).
    pub quiet: Policy,
    /// With `--full-jdk`.
    pub full: Policy,
    pub(crate) models: IndexVec<ModelId, Model>,
    pub(crate) cache: FxHashMap<MethodId, Option<ModelId>>,
}

impl Models {
    /// The models that ship with Snarl.
    pub fn builtin() -> Models {
        todo!()
    }

    /// Adds a user's model file on top.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), ModelError> {
        let _ = (file, text);
        todo!()
    }

    /// The model of a method: its own, or the one of a method it overrides if its class is not application code.
    pub fn of(&mut self, program: &mut Program, method: MethodId) -> Option<ModelId> {
        let _ = (program, method);
        todo!()
    }

    /// The model if [`Models::of`] was asked before.
    pub fn known(&self, method: MethodId) -> Option<ModelId> {
        *self.cache.get(&method)?
    }

    pub fn model(&self, model: ModelId) -> &Model {
        &self.models[model]
    }
}
