//! The parent's side of the compiler process (`compiler/`): starts it, tells it what was edited, and gets classes back,
//! whatever becomes of it. The contract is `compiler/PROTOCOL.md`. Knows nothing of what classes are for, nor of
//! projects: which files and jars there are is said by whoever asks.

mod answer;
mod launch;
mod process;
mod request;
mod restart;
mod wire;

pub use answer::{
    Answer, Class, Compiled, FileAnswer, Method, ModuleAnswer, Place, Problem, Severity, Status, TypeChange,
};
pub use launch::Launch;
pub use process::{Failure, Patience, Welcome};
pub use request::{Edit, File, Module, ModuleChange};
pub use restart::{Compiler, Told};
