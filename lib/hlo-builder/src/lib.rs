//! Builds computations from Rust: XLA's `ComputationBuilder` (XLA preview, "Building computations"), now
//! called `XlaBuilder`.
//!
//! This program builds `axpy` of the preview and prints it as text:
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
//! `hlo-client` compiles and runs the computations. `docs/builder.md` lists the methods of XLA's interface
//! with their names in this crate.
//!
//! - [`Builder`] starts and finishes computations. Operations without a first operand are methods of it.
//! - [`Value`] is the result of an instruction. Operators and methods create new values from it and infer
//!   their shapes. Elementwise operations broadcast their operands to each other. For operands of different
//!   ranks, [`Value::along`] specifies the dimensions.
//! - [`Computation`] is a finished computation that others call, such as the function of a reduction or the
//!   body of a loop.
//! - [`BuildErrors`] contains all errors, each with the source line that caused it.

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
