//! Contractions written in Rust: operators build Tile's index formulas from the values of a builder.
//!
//! ```
//! use hlo_builder::{Builder, Value};
//! use hlo_ir::{ElementType, Shape};
//! use hlo_tile::edsl::{Tensor, TensorOutput, indices};
//!
//! /// A convolution without padding, in steps of `stride`: `f32[n,x,ci]` with `f32[k,ci,co]`.
//! fn conv_1d<'b>(image: Value<'b>, kernel: Value<'b>, stride: i64) -> Value<'b> {
//!     let [batch, width, channels] = image.dims();
//!     let [size, _, features] = kernel.bind_dims([None, Some(channels), None]);
//!     let [n, x, k, ci, co] = indices(["n", "x", "k", "ci", "co"]);
//!     let mut out = TensorOutput::new(image.builder(), [batch, (width - size) / stride + 1, features]);
//!     out[(n, x, co)] += image.at((n, stride * x + k, ci)) * kernel.at((k, ci, co));
//!     out.value()
//! }
//!
//! let b = Builder::new("conv");
//! let image = b.parameter(0, Shape::array(ElementType::F32, [1, 9, 2]), "image");
//! let kernel = b.parameter(1, Shape::array(ElementType::F32, [3, 2, 5]), "kernel");
//! let result = conv_1d(image, kernel, 2);
//! assert_eq!(result.shape()?, Shape::array(ElementType::F32, [1, 4, 5]));
//! # Ok::<(), hlo_builder::BuildErrors>(())
//! ```
//!
//! Write a [`TensorOutput`] at indices with `+=` and `*=`, or with [`Target::max`], [`Target::min`] and
//! [`Target::assign`]. The right-hand side is an element of a tensor ([`Tensor::at`]), a product or sum of
//! two elements, [`Element::equals`] or [`cond`]. The rules of the textual language for valid indices,
//! unwritten elements and errors apply (`docs/tile.md`). The builder reports the errors with the source line.
//! Use the elementwise operations of [`Value`](hlo_builder::Value). Dimensions are plain numbers, because the
//! shapes are known.

mod elements;
mod index;
mod output;

pub use elements::{Element, Elements, Tensor, cond};
pub use index::{Constraint, IndexExpression, IndexList, IndexTerm, TensorIndex, indices};
pub use output::{Target, TensorOutput};
