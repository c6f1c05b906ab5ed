//! StableHLO in and out.
//!
//! A program in one of MLIR's forms becomes a [`Tree`] of operations, each with operands, attributes and regions, whose
//! dialects are `builtin`, `func`, `stablehlo`, `chlo` and `sdy`. Whatever the form, the tree is the same: operations,
//! attributes and types are called and structured as MLIR's generic text form has them.

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
