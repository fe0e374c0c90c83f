//! Reads JVM class files: bytes in, a borrowed [`ClassFile`] out. Never panics, whatever the bytes;
//! knows nothing of types, hierarchies or analysis.

mod code;
mod error;
mod pool;
mod reader;
mod source;
mod types;

pub use code::{ArrayKind, Branch, Const, FieldRef, Insn, Instructions, InvokeKind, MethodRef, NumKind};
pub use error::Error;
pub use pool::{BootstrapArg, Handle, HandleKind};
pub use reader::parse;
pub use source::{ClassBytes, ClassSource, Layer};
pub use types::*;
