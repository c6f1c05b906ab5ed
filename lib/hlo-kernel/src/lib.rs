//! Kernels as data: the loop nests that compute fusions and single instructions.
//!
//! A [`Kernel`] contains the loops, their tiles and pieces, the way in which values are accumulated, the values
//! that are kept on the stack, and the results. It is made without LLVM, from shapes and instructions only, so
//! that it can be printed ([`Kernel::describe`], `hlo-run --emit=kernels`) and tested. `hlo-codegen` emits it in
//! one walk, and derives the code of an element, with its index arithmetic, from the instructions.
//!
//! A kernel has one of these strategies. [`Kernel::new`] selects the first that is suitable:
//!
//! - *update*: the root is a dynamic-update-slice of a buffer that the result shares: only the update is
//!   written;
//! - *scatter*: the root is a scatter into buffers that the results share;
//! - *select-and-scatter*: windows that each update one element of the result ([`select_scatter`]);
//! - *contraction*: the loop nest of a `contraction` ([`contraction`]);
//! - *cumulative*: windows that extend to the first or the last element of a dimension ([`cumulative`]);
//! - *rows*: reductions along rows and elementwise work on the same rows, one row after the other ([`rows`]);
//! - *columns*: a reduction that keeps the fastest varying dimension, by tile ([`columns`]);
//! - *loops*: all others, as a loop nest over the result's elements ([`loops`]);
//! - *separate*: results of different dimensions, a loop nest for each list of dimensions.
//!
//! # Example
//! ```
//! use hlo_ir::verify::Verified;
//! use hlo_kernel::{KernelTable, Strategy};
//!
//! let module = hlo_parser::parse_module("HloModule m
//! add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
//! ENTRY main {
//!   p = f32[100,32] parameter(0)
//!   zero = f32[] constant(0)
//!   ROOT sums = f32[32] reduce(p, zero), dimensions={0}, to_apply=add
//! }").expect("a module");
//! let module = Verified::new(module).expect("a valid module");
//! let plan = hlo_plan::plan(module.as_ref(), 1 << 20).expect("a plan");
//! let kernels = KernelTable::new(module.as_ref(), &plan).expect("kernels");
//! let [function] = kernels.functions() else { panic!("one kernel") };
//! // One tile of 32 columns. Rows are added up in blocks of 64.
//! let Strategy::Columns(columns) = &function.kernel.strategy else { panic!("columns") };
//! assert_eq!((columns.tile, columns.blocks.steps()), (32, vec![(0, vec![64])]));
//! ```

mod blocks;
mod body;
pub mod columns;
mod combine;
pub mod contraction;
mod cost;
pub mod cumulative;
mod describe;
mod kernel;
mod key;
mod loop_splitting;
pub mod loops;
mod reads;
mod reduction;
mod reshape;
pub mod rows;
pub mod select_scatter;
mod table;
mod tiling;
mod walk;

pub use blocks::{Extent, SumBlocks};
pub use body::{Body, KernelSpec, Root, Source};
pub use combine::{Combine, Extremum, accumulator_type, single_binary_op, summed_type};
pub use kernel::{Kernel, Strategy};
pub use reduction::{BLOCK_ELEMENTS, Reduction};
pub use table::{KernelCode, KernelFunction, KernelTable, KernelUse};
