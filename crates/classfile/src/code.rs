//! Bytecode as data: one [`Insn`] per instruction with its constants resolved. Knows what instructions
//! there are, not how they are encoded and not what they mean.

use crate::pool::Handle;
use crate::types::Str;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumKind {
    Int,
    Long,
    Float,
    Double,
}

/// Element kind of an array instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArrayKind {
    Boolean,
    Char,
    Float,
    Double,
    Byte,
    Short,
    Int,
    Long,
    Ref,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Const<'a> {
    Null,
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    String(Str<'a>),
    Class(Str<'a>),
    MethodType(Str<'a>),
    MethodHandle(Handle<'a>),
    Dynamic { bootstrap: u16, name: Str<'a>, descriptor: Str<'a> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRef<'a> {
    pub class: Str<'a>,
    pub name: Str<'a>,
    pub descriptor: Str<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodRef<'a> {
    pub class: Str<'a>,
    pub name: Str<'a>,
    pub descriptor: Str<'a>,
    pub interface: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InvokeKind {
    Virtual,
    Special,
    Static,
    Interface,
}

/// Condition of a two-way branch, by operands popped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Branch {
    /// One int against zero.
    EqZero,
    NeZero,
    LtZero,
    GeZero,
    GtZero,
    LeZero,
    /// Two ints.
    Eq,
    Ne,
    Lt,
    Ge,
    Gt,
    Le,
    /// Two references.
    RefEq,
    RefNe,
    /// One reference.
    Null,
    NonNull,
}

/// One decoded instruction. Branch targets are absolute pcs.
#[derive(Debug, Clone, PartialEq)]
pub enum Insn<'a> {
    Nop,
    Const(Const<'a>),
    /// Load of a local; `None` means a reference.
    Load {
        slot: u16,
        num: Option<NumKind>,
    },
    /// Store to a local; `None` means a reference (or a return address).
    Store {
        slot: u16,
        num: Option<NumKind>,
    },
    ArrayLoad(ArrayKind),
    ArrayStore(ArrayKind),
    Pop,
    Pop2,
    Dup,
    DupX1,
    DupX2,
    Dup2,
    Dup2X1,
    Dup2X2,
    Swap,
    /// Binary arithmetic or logic on two operands of the kind (shifts take an int right operand).
    Arith {
        kind: NumKind,
        shift: bool,
    },
    Neg(NumKind),
    Iinc {
        slot: u16,
        by: i16,
    },
    /// Numeric conversion; int-to-byte/char/short are `from == to == Int`.
    Convert {
        from: NumKind,
        to: NumKind,
    },
    /// lcmp, fcmpl/g, dcmpl/g.
    Compare(NumKind),
    If {
        cond: Branch,
        target: u32,
    },
    Goto(u32),
    Jsr(u32),
    Ret(u16),
    TableSwitch {
        default: u32,
        low: i32,
        targets: Vec<u32>,
    },
    LookupSwitch {
        default: u32,
        pairs: Vec<(i32, u32)>,
    },
    /// `None` returns void; `Some(None)` a reference.
    Return(Option<Option<NumKind>>),
    GetStatic(FieldRef<'a>),
    PutStatic(FieldRef<'a>),
    GetField(FieldRef<'a>),
    PutField(FieldRef<'a>),
    Invoke {
        kind: InvokeKind,
        method: MethodRef<'a>,
    },
    InvokeDynamic {
        bootstrap: u16,
        name: Str<'a>,
        descriptor: Str<'a>,
    },
    New(Str<'a>),
    /// newarray: primitive element.
    NewPrimArray(ArrayKind),
    /// anewarray: element class name in internal form (`[I` for arrays).
    NewRefArray(Str<'a>),
    MultiNewArray {
        class: Str<'a>,
        dims: u8,
    },
    ArrayLength,
    Throw,
    CheckCast(Str<'a>),
    InstanceOf(Str<'a>),
    MonitorEnter,
    MonitorExit,
}
