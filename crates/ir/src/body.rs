//! A method body: basic blocks of three-address statements over SSA variables. Primitive values are kept
//! (branches, constants and race accesses need them) but carry no type beyond "not a reference".

use crate::program::{ClassId, FieldRef, MethodRef, Selector};
use crate::stmts::Stmts;
use arena::{IndexVec, Name, define_id};
use serde::{Deserialize, Serialize};

define_id! {
    /// An SSA variable of one body: defined by exactly one statement, a parameter, or nothing (undefined).
    Var
}
define_id! {
    /// A statement of one body. Ascending in block order, block by block; some numbers are free.
    StmtId
}
define_id! {
    /// A basic block of one body; block 0 is the entry.
    BlockId
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    pub vars: IndexVec<Var, VarInfo>,
    /// Parameters in order, `this` first for instance methods. `params[i]` is always a defined Var (primitives
    /// included).
    pub params: Vec<Var>,
    pub stmts: Stmts,
    pub blocks: IndexVec<BlockId, Block>,
    /// What could not be understood, for the notes: `jsr/ret inlined`, `unknown bootstrap …`.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VarInfo {
    /// From LocalVariableTable where present.
    pub name: Option<Name>,
    pub is_ref: bool,
    /// The statement that defines it; `None` for parameters and undefined values.
    pub def: Option<StmtId>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Statements `first..end`, as far as those numbers are not free; the first and the last one are not.
    pub first: u32,
    pub end: u32,
    /// Normal successors: for a conditional branch `[taken, fallen through]`.
    pub succs: Vec<BlockId>,
    /// Exceptional successors: handler blocks covering this block (a block never straddles a handler range
    /// border), innermost first; each starts with `Catch` and is entered by exceptions only. Empty if nothing in
    /// the block can throw.
    pub handlers: Vec<BlockId>,
    /// Sources of all edges into this block; twice the same if both arms of a branch lead here.
    pub preds: Vec<BlockId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stmt {
    pub kind: StmtKind,
    pub block: BlockId,
    /// Source line, 0 if unknown.
    pub line: u32,
    /// Bytecode offset it came from (0 for phis and catches: that of the block).
    pub pc: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StmtKind {
    /// `dst = new C` (the constructor call follows as `Call`).
    New {
        dst: Var,
        class: ClassId,
    },
    /// `dst = new E[…]`; `class` is the array class. Multi-dimensional arrays give one NewArray for the outermost
    /// and one per inner dimension, each stored into the elements of the outer one by a StoreElem.
    NewArray {
        dst: Var,
        class: ClassId,
        /// Made with the constant length 0: it never holds anything.
        empty: bool,
    },
    Const {
        dst: Var,
        value: Const,
    },
    Copy {
        dst: Var,
        src: Var,
    },
    /// A checked cast: only objects of `class` pass.
    Cast {
        dst: Var,
        src: Var,
        class: ClassId,
    },
    /// One source per predecessor of the block, in `preds` order. Handler blocks: predecessors are the covered
    /// blocks that can throw, and the source is what the local held when that block began (after its phis); blocks
    /// are cut so that every statement of it that can throw sees that value.
    Phi {
        dst: Var,
        srcs: Vec<Var>,
    },
    /// First statement of a handler block; `class` `None` catches everything.
    Catch {
        dst: Var,
        class: Option<ClassId>,
    },
    Load {
        dst: Var,
        base: Var,
        field: FieldRef,
    },
    Store {
        base: Var,
        field: FieldRef,
        src: Var,
    },
    LoadStatic {
        dst: Var,
        field: FieldRef,
    },
    StoreStatic {
        field: FieldRef,
        src: Var,
    },
    /// Array element; the index is kept so that constant indices can be told apart.
    LoadElem {
        dst: Var,
        base: Var,
        index: Var,
    },
    StoreElem {
        base: Var,
        index: Var,
        src: Var,
    },
    Call {
        dst: Option<Var>,
        kind: CallKind,
        target: MethodRef,
        args: Vec<Var>,
    },
    /// `invokedynamic` through LambdaMetafactory: an object of functional interface `interface` whose method
    /// `selector` runs `target` with the captured values first.
    Lambda {
        dst: Var,
        interface: ClassId,
        selector: Selector,
        target: MethodRef,
        target_kind: LambdaKind,
        captures: Vec<Var>,
    },
    /// StringConcatFactory: `toString` of reference arguments is called, a String comes out.
    Concat {
        dst: Var,
        args: Vec<Var>,
    },
    /// ObjectMethods bootstrap of a record: toString/hashCode/equals over the record's fields.
    RecordMethod {
        dst: Var,
        args: Vec<Var>,
        fields: Vec<FieldRef>,
    },
    /// Any other invokedynamic: opaque; counted in the notes. `class` is the returned type if a reference.
    Dynamic {
        dst: Option<Var>,
        args: Vec<Var>,
        class: Option<ClassId>,
    },
    MonitorEnter {
        lock: Var,
    },
    MonitorExit {
        lock: Var,
    },
    /// Any primitive computation (arithmetic, comparison, instanceof, array length, conversion).
    Compute {
        dst: Var,
        args: Vec<Var>,
        op: Op,
    },
    /// Last statement of a block with two successors. `a` against `b`, or against zero/null when `b` is `None`.
    Branch {
        cond: Cond,
        a: Var,
        b: Option<Var>,
    },
    Switch {
        on: Var,
    },
    Throw {
        value: Var,
    },
    Return {
        value: Option<Var>,
    },
    /// A free number.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Op {
    InstanceOf(ClassId),
    ArrayLength,
    Add,
    /// Zero iff both are equal (lcmp and its kin).
    Compare,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Cond {
    Eq,
    Ne,
    Lt,
    Ge,
    Gt,
    Le,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Const {
    Null,
    Int(i64),
    Float,
    String(Name),
    Class(ClassId),
    MethodHandle(MethodRef),
    /// MethodType, dynamic constants; `class` is the type of the value.
    Other(ClassId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CallKind {
    /// Dispatched on the class of `args[0]` (invokevirtual and invokeinterface).
    Virtual,
    /// invokespecial: constructors, private methods, super calls.
    Special,
    Static,
}

/// How a lambda's target is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LambdaKind {
    Static,
    /// Dispatched on the first argument (captured or passed).
    Virtual,
    Special,
    /// `C::new`: allocates `target.class`, then calls its constructor; the object is the result.
    New,
}
