//! What comparing two readings of a class can end in, and how much was compared.

use std::fmt::Debug;

#[derive(Debug)]
pub enum Difference {
    /// The other reader could not read the class.
    Refused(String),
    Differs(String),
}

impl Difference {
    pub fn refused(error: impl Debug) -> Self {
        Difference::Refused(format!("{error:?}"))
    }

    /// Says in which part of the class it lies.
    pub fn within(self, part: &str) -> Self {
        match self {
            Difference::Differs(what) => Difference::Differs(format!("{part}: {what}")),
            refused => refused,
        }
    }
}

pub fn same<A: PartialEq<B> + Debug, B: Debug>(what: &str, ours: A, theirs: B) -> Result<(), Difference> {
    if ours == theirs {
        return Ok(());
    }
    Err(Difference::Differs(format!("{what}: we read {ours:?}, they read {theirs:?}")))
}

#[derive(Debug, Default)]
pub struct Tally {
    pub classes: usize,
    pub fields: usize,
    pub methods: usize,
    pub instructions: usize,
    pub handlers: usize,
    pub lines: usize,
    pub locals: usize,
    pub annotations: usize,
    pub bootstrap_methods: usize,
    pub refused: Vec<String>,
    pub differences: Vec<String>,
}

impl Tally {
    pub fn refusal(what: String) -> Self {
        Tally { refused: vec![what], ..Tally::default() }
    }

    pub fn difference(what: String) -> Self {
        Tally { differences: vec![what], ..Tally::default() }
    }

    pub fn plus(mut self, other: Self) -> Self {
        self.classes += other.classes;
        self.fields += other.fields;
        self.methods += other.methods;
        self.instructions += other.instructions;
        self.handlers += other.handlers;
        self.lines += other.lines;
        self.locals += other.locals;
        self.annotations += other.annotations;
        self.bootstrap_methods += other.bootstrap_methods;
        self.refused.extend(other.refused);
        self.differences.extend(other.differences);
        self
    }
}
