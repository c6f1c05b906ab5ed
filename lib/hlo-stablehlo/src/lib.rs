//! StableHLO to HLO and back.
//!
//! A program in any of MLIR's forms becomes a [`Tree`] of operations. Each operation has operands, attributes
//! and regions. The dialects are `builtin`, `func`, `stablehlo`, `chlo` and `sdy`. The tree does not depend
//! on the form: operations, attributes and types have the names and the structure of MLIR's generic text
//! form.

pub mod bytecode;
pub mod dialect;
mod entry;
pub mod export;
pub mod import;
mod polymorphic;
pub mod refine;
pub mod text;
pub mod tree;
pub mod verify;

pub use entry::entry_function;
pub use polymorphic::{Polymorphic, Program};
pub use tree::Tree;

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::bytecode::read::cursor::Cursor;
    pub use crate::bytecode::write::sink::Sink;
}
