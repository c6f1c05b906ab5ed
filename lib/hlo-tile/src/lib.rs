//! Tile, PlaidML's eDSL: tensor programs whose contractions are formulas of indices.
//!
//! ```
//! use hlo_ir::print::{PrintOptions, print_module};
//! use hlo_tile::{Argument, Tile};
//!
//! let tile = Tile::new("matmul.tile", "
//! def matmul(A, B):
//!   I, J, K = TensorDims(3)
//!   i, j, k = TensorIndexes(3)
//!   A.bind_dims(I, K)
//!   B.bind_dims(K, J)
//!   C = TensorOutput(I, J)
//!   C[i, j] += A[i, k] * B[k, j]
//!   return C
//! ").map_err(|e| e.message)?;
//! let f32 = |dims: &[i64]| Argument::tensor(hlo_ir::ElementType::F32, dims);
//! let made = tile.specialize("matmul", &[f32(&[2, 3]), f32(&[3, 4])]).map_err(|e| e.message)?;
//! let text = print_module(&made.module, &PrintOptions::short());
//! assert!(text.contains("f32[2,4]{1,0} contraction(A, B)"), "{text}");
//! # Ok::<(), String>(())
//! ```
//!
//! A file has functions (`grammar/tile.pest`), which are polymorphic: [`Tile::specialize`] runs one on the shapes and numbers
//! that it is called with, and what it does with tensors becomes a module. Every contraction is an instruction `contraction`
//! (`docs/tile.md`); the pass `contraction-raising` finds those that are products, convolutions, reductions. Files import functions
//! for neural networks from the [`library`], which is written in Tile.

mod argument;
pub mod ast;
mod contraction;
mod elementwise;
mod error;
mod evaluate;
pub mod library;
mod lines;
mod parse;
mod poly;
mod scope;
mod specialize;
mod syntax_error;
mod types;
mod value;

pub use argument::{Argument, ArgumentValue, Directive};
pub use parse::parse;
pub use specialize::{Specialized, Tile};
