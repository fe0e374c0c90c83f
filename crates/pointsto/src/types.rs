//! Activations, contexts, abstract objects and the edges between them: the vocabulary of the solved state.

use arena::define_id;
use ir::{ClassId, FieldId, LambdaKind, MethodId, MethodRef, Selector, StmtId};
use models::ModelId;
use serde::{Deserialize, Serialize};

define_id! {
    /// A method analysed in one context.
    Act
}
define_id! {
    /// An abstract object: all objects allocated at one site in one context.
    Obj
}
define_id! {
    /// A context, interned.
    Ctx
}

/// What tells two analyses of the same method, or two objects of the same site, apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Context {
    /// The JDK's code and objects, shared by everybody.
    Shared,
    /// The application's code, as run from the entry point, by class initialisers and by origins over budget.
    Entry,
    /// The application's code as run from one entry point of several.
    Main(MethodId),
    /// The application's code as run by the origin whose task is this object.
    Origin(Obj),
    /// Constructors of this object, and what they allocate.
    Made(Obj),
    /// Library container code on this container (and everything it allocates).
    Container(Obj),
    /// A static library factory, by call site.
    Call(Ctx, MethodId, StmtId),
    /// Code that instances of this class inherit.
    Inherited(Ctx, ClassId),
    /// A static method of the application, by call site.
    Helper(Ctx, MethodId, StmtId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Activation {
    pub ctx: Ctx,
    pub method: MethodId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Object {
    pub site: Site,
    pub ctx: Ctx,
    /// Runtime class (the functional interface for lambdas, the declared type for opaque results).
    pub class: ClassId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Site {
    /// `new`, array creation, lambda creation: the statement.
    Alloc(MethodId, StmtId),
    /// Made by step `n` of a model expanded at a call.
    Model(MethodId, StmtId, u16),
    /// One object for all instances of the class (strings, boxes, exceptions).
    Merged,
    /// The one model object of its class (`the …`): the same at every call.
    The,
    /// `C.class`
    Literal(ClassId),
    /// A value that comes from an opaque call or from outside (arguments of entry points).
    Opaque,
}

/// How to run a lambda object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LambdaTarget {
    pub selector: Selector,
    pub target: MethodRef,
    pub kind: LambdaKind,
    pub captures: u32,
}

/// One way an origin comes to be: a spawn step of a model expanded at a call, for one task object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SpawnEdge {
    pub from: Act,
    pub stmt: StmtId,
    pub model: ModelId,
    /// Index of the `Step::Spawn` in the model.
    pub step: u16,
    pub task: Obj,
    pub entry: Act,
}

/// A heap location, as far as the analysis tells locations apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Slot {
    Field(Obj, FieldId),
    Elements(Obj),
    Static(FieldId),
}
