//! Tile, PlaidML's eDSL: a language for tensor programs in which index formulas express contractions.
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
//! A file contains functions (`grammar/tile.pest`), which are polymorphic. [`Tile::specialize`] runs a
//! function on the shapes and numbers of its arguments and converts the tensor operations to a module. Every
//! contraction becomes an instruction `contraction` (`docs/tile.md`). The pass `contraction-raising` converts
//! contractions to dot products, convolutions and reductions where possible. Files can import functions for
//! neural networks from the [`library`], which is written in Tile.

mod argument;
mod builtins;
mod contraction;
pub mod edsl;
mod elementwise;
#[doc(hidden)]
pub mod embedded;
mod error;
mod evaluate;
mod known;
mod lens;
pub mod library;
mod poly;
mod scope;
mod specialize;
mod types;
mod value;

pub use argument::{Argument, ArgumentValue, Directive, FunctionArgument};
pub use builtins::builtin_names;
pub use hlo_tile_syntax::{ast, is_name, parse, rules};
pub use known::{Known, KnownValue};
pub use specialize::{Called, Specialized, Tile};

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::evaluate::einsum::Formula;
    pub use crate::library::TEXTS;
    pub use crate::poly::{Poly, Rational};
    pub use crate::scope::check as check_imports;
    pub use crate::types::{Kind, promoted};
}

/// The examples of docs/tile.md.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../../docs/tile.md")]
struct Documentation;

/// Defines Tile functions in a Rust program. Each one becomes a Rust function that adds its operations to a
/// computation that is being built. The first argument is the builder. The others are tensors, numbers, or
/// `()` for a parameter's default.
///
/// ```
/// use hlo_builder::Builder;
/// use hlo_ir::{ElementType, Shape};
///
/// hlo_tile::tile! {
///     def dense(X, W, B):
///       """X: [I, K], W: [K, J], B: [J]"""
///       I, J, K = TensorDims(3)
///       i, j, k = TensorIndexes(3)
///       X.bind_dims(I, K)
///       W.bind_dims(K, J)
///       O = TensorOutput(I, J)
///       O[i, j] += X[i, k] * W[k, j]
///       return O + B
///
///     def halves(X, step=2):
///       N = TensorDim()
///       n = TensorIndex()
///       X.bind_dims(N)
///       O = TensorOutput((N + step - 1) / / step)
///       O[n] = X[step * n]
///       return O
/// }
///
/// let b = Builder::new("layer");
/// let f32 = |dims: [i64; 2]| Shape::array(ElementType::F32, dims);
/// let (x, w) = (b.parameter(0, f32([8, 3]), "x"), b.parameter(1, f32([3, 4]), "w"));
/// let bias = halves(&b, b.constant_r1(&[1.0f32; 7]), ());
/// assert_eq!(dense(&b, x, w, bias).shape()?, f32([8, 4]));
/// # Ok::<(), hlo_builder::BuildErrors>(())
/// ```
///
/// The text is parsed with Tile's grammar when the program is compiled (`docs/tile.md`). The Rust compiler
/// reports syntax errors at their locations. Errors that depend on the shapes in a call are reported by the
/// builder, with the line of the text. A function that returns several tensors returns an array. Because the
/// text consists of Rust tokens, write `/ /` instead of `//` and use double quotes for strings. A line cannot
/// end with a backslash.
///
/// ```compile_fail
/// hlo_tile::tile! {
///     def sum(X)
///       return X
/// }
/// ```
#[cfg(feature = "macros")]
pub use hlo_tile_macros::tile;
