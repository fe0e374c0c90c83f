//! The plain data a parsed class file consists of. Owns no bytes: everything borrows from the input
//! (names are `Cow` because modified UTF-8 sometimes has to be re-encoded).

use crate::decode::Instructions;
use crate::error::Error;
use crate::pool::{BootstrapArg, Handle, Pool};
use std::borrow::Cow;

/// A name or descriptor as it stands in the constant pool (internal form, `java/lang/String`).
pub type Str<'a> = Cow<'a, str>;

/// Newest class-file major version this reader knows (69 = Java 25); newer ones are read as far as possible.
pub const NEWEST_KNOWN_MAJOR: u16 = 69;

#[derive(Debug)]
pub struct ClassFile<'a> {
    pub minor: u16,
    pub major: u16,
    pub access: u16,
    pub name: Str<'a>,
    pub super_name: Option<Str<'a>>,
    pub interfaces: Vec<Str<'a>>,
    pub fields: Vec<Field<'a>>,
    pub methods: Vec<Method<'a>>,
    pub source_file: Option<Str<'a>>,
    /// Class that encloses this one, from InnerClasses / EnclosingMethod.
    pub outer_class: Option<Str<'a>>,
    pub annotations: Vec<Annotation<'a>>,
    pub bootstrap_methods: Vec<BootstrapMethod<'a>>,
    pub is_record: bool,
    /// module-info and package-info carry no code.
    pub is_module: bool,
    /// What could not be read and was left out: attributes, members, the code of single methods.
    pub problems: Vec<Error>,
    pub(crate) pool: Pool<'a>,
}

impl<'a> ClassFile<'a> {
    /// Every text of the constant pool, whatever it is for; those that would have to be re-encoded are left out.
    pub fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.pool.texts()
    }
}

#[derive(Debug)]
pub struct Field<'a> {
    pub access: u16,
    pub name: Str<'a>,
    pub descriptor: Str<'a>,
    pub annotations: Vec<Annotation<'a>>,
}

#[derive(Debug)]
pub struct Method<'a> {
    pub access: u16,
    pub name: Str<'a>,
    pub descriptor: Str<'a>,
    /// Checked exceptions of the `throws` clause.
    pub exceptions: Vec<Str<'a>>,
    pub annotations: Vec<Annotation<'a>>,
    pub code: Option<Code<'a>>,
}

#[derive(Debug)]
pub struct Code<'a> {
    pub max_stack: u16,
    pub max_locals: u16,
    pub bytes: &'a [u8],
    pub handlers: Vec<Handler<'a>>,
    /// `(start pc, line)`, sorted by pc, from all line number tables together.
    pub lines: Vec<(u16, u16)>,
    pub locals: Vec<LocalVar<'a>>,
}

impl<'a> Code<'a> {
    /// Decodes the instructions in order, with constants resolved through `class`'s pool.
    pub fn instructions<'c>(&'c self, class: &'c ClassFile<'a>) -> Instructions<'c, 'a> {
        Instructions::new(self.bytes, &class.pool)
    }
}

/// An exception handler; its range is not empty and, like its target, inside the code.
#[derive(Debug)]
pub struct Handler<'a> {
    pub start: u16,
    pub end: u16,
    pub target: u16,
    /// `None` catches everything (finally).
    pub catch_type: Option<Str<'a>>,
}

#[derive(Debug)]
pub struct LocalVar<'a> {
    pub start: u16,
    pub len: u16,
    pub name: Str<'a>,
    pub descriptor: Str<'a>,
    pub slot: u16,
}

/// An annotation (visible or not), with its element values flattened to text where they are simple.
#[derive(Debug, Clone)]
pub struct Annotation<'a> {
    /// Descriptor of the annotation type, `Ljavax/annotation/concurrent/GuardedBy;`.
    pub descriptor: Str<'a>,
    /// `(element name, value)`; strings and numbers as text, enums by constant name, classes by descriptor,
    /// arrays as one entry per element. Nested annotations are dropped.
    pub values: Vec<(Str<'a>, String)>,
}

#[derive(Debug)]
pub struct BootstrapMethod<'a> {
    pub handle: Handle<'a>,
    pub args: Vec<BootstrapArg<'a>>,
}
