//! Reads JVM class files: bytes in, a borrowed [`ClassFile`] out. Never panics, whatever the bytes;
//! knows nothing of types, hierarchies or analysis.

mod annotations;
mod attributes;
mod body;
mod code;
mod cursor;
mod decode;
mod error;
mod lambdas;
mod mutf8;
mod pool;
mod reader;
mod resolve;
mod source;
mod types;

pub use code::{ArrayKind, Branch, Const, FieldRef, Insn, InvokeKind, MethodRef, NumKind};
pub use decode::Instructions;
pub use error::Error;
pub use lambdas::{LAMBDA, is_number, lambdas_of, told_lambdas};
pub use pool::{BootstrapArg, Handle, HandleKind};
pub use reader::{parse, parse_as_written};
pub use source::{ClassBytes, ClassSource, Earlier, Kept, Layer};
pub use types::*;
