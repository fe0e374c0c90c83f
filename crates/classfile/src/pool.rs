//! The constant pool: offsets of entries, resolved on demand with every index checked.

use crate::types::Str;

/// A resolved method handle constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle<'a> {
    pub kind: HandleKind,
    pub class: Str<'a>,
    pub name: Str<'a>,
    pub descriptor: Str<'a>,
    /// The member is declared by an interface.
    pub interface: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleKind {
    GetField,
    GetStatic,
    PutField,
    PutStatic,
    InvokeVirtual,
    InvokeStatic,
    InvokeSpecial,
    NewInvokeSpecial,
    InvokeInterface,
}

/// One static argument of a bootstrap method.
#[derive(Debug, Clone, PartialEq)]
pub enum BootstrapArg<'a> {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    String(Str<'a>),
    Class(Str<'a>),
    MethodType(Str<'a>),
    MethodHandle(Handle<'a>),
    /// A dynamic constant (condy), by name and descriptor.
    Dynamic { name: Str<'a>, descriptor: Str<'a> },
    /// Unreadable, or of a tag newer than this reader.
    Unknown,
}

#[derive(Debug)]
pub(crate) struct Pool<'a> {
    pub(crate) bytes: &'a [u8],
}
