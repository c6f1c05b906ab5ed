//! Computations built from Rust: XLA's `ComputationBuilder` (XLA preview, "Building computations"), today's `XlaBuilder`.
//!
//! `axpy` of the preview, built and read as text:
//!
//! ```
//! use hlo_builder::Builder;
//! use hlo_ir::print::{PrintOptions, print_module};
//! use hlo_ir::{ElementType, Shape};
//!
//! let b = Builder::new("axpy");
//! let alpha = b.parameter(0, Shape::scalar(ElementType::F32), "alpha");
//! let x = b.parameter(1, Shape::array(ElementType::F32, [10]), "x");
//! let y = b.parameter(2, Shape::array(ElementType::F32, [10]), "y");
//! let axpy = alpha * x + y;
//! assert_eq!(axpy.shape()?, Shape::array(ElementType::F32, [10]));
//! println!("{}", print_module(&b.build()?, &PrintOptions::short()));
//! # Ok::<(), hlo_builder::BuildErrors>(())
//! ```
//!
//! `hlo-client` compiles and runs what is built. `docs/builder.md` has each method of XLA's interface and what it is called
//! here.
//!
//! - [`Builder`] begins computations and ends them; what has no first operand is a method of it.
//! - [`Value`] is what an instruction gives. Operators and methods make others of it; their shapes follow. Elementwise
//!   operations broadcast their operands to each other; [`Value::along`] says how, for ranks that differ.
//! - [`Computation`] is a finished computation that others call: the function of a reduction, the body of a loop.
//! - [`BuildErrors`] is all that was wrong, each error with the line of the program that it comes from.

mod broadcasting;
mod builder;
mod collective;
mod computation;
mod constant;
mod control;
mod data_movement;
mod effects;
mod elementwise;
mod error;
mod gradient;
mod indexing;
mod linear_algebra;
mod normalization;
mod operand;
mod random;
mod reduction;
mod scope;
mod structural;
mod value;
mod window;

pub use builder::Builder;
pub use collective::{Participants, PermutedSlices};
pub use computation::Computation;
pub use error::BuildErrors;
pub use indexing::ScatterDimensions;
pub use linear_algebra::{Convolution, DotDimensions};
pub use operand::Operand;
pub use scope::Scope;
pub use value::Value;
pub use window::Padding;

/// The examples of docs/builder.md.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/builder.md")]
struct Documentation;
