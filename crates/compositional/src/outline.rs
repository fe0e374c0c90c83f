//! A method body reduced to what summaries are made of: accesses, locks, calls, and where their operands come from.
//! Made from one class at a time; knows nothing of what is called.

mod build;
mod packed;
mod rename;

use arena::Name;
use ir::{CallKind, ClassId, FieldRef, LambdaKind, MethodRef, Selector};
pub use packed::Packed;
use serde::{Deserialize, Serialize};

/// The number of a value.
pub type ValueId = u32;
/// The number of an event.
pub type EventId = u32;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    pub params: u16,
    pub values: Vec<Value>,
    /// In an order in which most come after those that lead to them; the first is the entry.
    pub blocks: Vec<Block>,
    pub events: Vec<Event>,
    /// Of the events. Apart from them: a summary does not depend on lines.
    #[serde(skip)]
    pub lines: Vec<u32>,
    pub lambdas: Vec<Lambda>,
    /// Of the parameters, as the source calls them.
    #[serde(skip)]
    pub names: Vec<Option<Name>>,
}

/// Where an operand comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Value {
    Param(u16),
    /// `new` of this class.
    Made(ClassId),
    /// A class literal.
    Class(ClassId),
    /// Null, a string, a number: nothing that can be shared and written.
    Constant,
    /// The number one: an executor with one thread runs its tasks one after the other.
    One,
    Field {
        base: ValueId,
        field: FieldRef,
    },
    Static {
        field: FieldRef,
    },
    Element {
        base: ValueId,
    },
    /// The result of a call.
    Result(EventId),
    /// By its number in [`Outline::lambdas`].
    Lambda(u32),
    /// One of these.
    Any(Box<[ValueId]>),
    /// Caught, or made in a way that is not understood.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lambda {
    pub interface: ClassId,
    pub selector: Selector,
    pub target: MethodRef,
    pub kind: LambdaKind,
    pub captures: Box<[ValueId]>,
}

impl Lambda {
    /// As what kind of call its target is run.
    pub fn call_kind(&self) -> CallKind {
        match self.kind {
            LambdaKind::Static => CallKind::Static,
            LambdaKind::Special | LambdaKind::New => CallKind::Special,
            LambdaKind::Virtual => CallKind::Virtual,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub first: EventId,
    pub end: EventId,
    pub succs: Box<[u32]>,
    /// Blocks entered by exceptions, as far as the first that catches everything.
    pub handlers: Box<[u32]>,
    /// Which of two successors is taken depends on the result of a call, or on what is read in a field.
    pub test: Option<Test>,
    pub returns: Option<Return>,
}

/// The method ends here without an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Return {
    /// The call whose result is returned.
    pub call: Option<EventId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Test {
    /// The call, or the read.
    pub of: EventId,
    /// The first successor is taken if it was true (not zero, not null).
    pub first_if_true: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Read { base: ValueId, field: FieldRef },
    Write { base: ValueId, field: FieldRef, src: ValueId },
    ReadStatic { field: FieldRef },
    WriteStatic { field: FieldRef, src: ValueId },
    ReadElement { base: ValueId },
    WriteElement { base: ValueId, src: ValueId },
    Enter(ValueId),
    Exit(ValueId),
    Call { target: MethodRef, kind: CallKind, args: Box<[ValueId]> },
    Return(ValueId),
}
