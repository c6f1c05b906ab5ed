//! The HLO IR: element types, shapes, literals, the opcode table, modules, the verifier, the printer
//! and diagnostics.
//!
//! This crate does not parse whole modules (`hlo-parser` does), does not execute them and does no IO. One
//! table, in [`opcode`], defines the text name and the attributes of each opcode.
//!
//! # Example
//! Builds a module in code: `y = x + x` on a matrix.
//!
//! ```
//! use hlo_ir::print::{PrintOptions, print_module};
//! use hlo_ir::verify::verify;
//! use hlo_ir::{ElementType, Module, Op, Shape};
//!
//! let mut module = Module::new("twice");
//! let main = module.add_computation("main");
//! let shape = Shape::array(ElementType::F32, [2, 3]);
//! let x = module.add(main, "x", shape.clone(), Op::parameter(0), []);
//! let y = module.add(main, "y", shape, Op::Add, [x, x]);
//! module.set_root(main, y);
//! module.set_entry(main);
//!
//! assert!(verify(&module).is_empty());
//! assert_eq!(module.users(x), [y]);
//! assert_eq!(module[y].shape.byte_size(), 2 * 3 * 4);
//! let text = print_module(&module, &PrintOptions::short());
//! assert!(text.contains("ROOT y = f32[2,3]{1,0} add(x, x)"), "{text}");
//! ```

#[macro_use]
pub mod opcode;

pub mod access;
pub mod attr;
pub mod build;
pub mod contraction;
pub mod diag;
pub mod effects;
mod execution;
mod module;
pub mod ops;
pub mod print;
pub mod rules;
mod text;
mod types;
pub mod verify;

pub use attr::Header;
pub use diag::span::{Span, floor_char_boundary};
pub use diag::suggest;
pub use execution::{budget, devices, host, program, streams, watch};
pub use module::frames::{
    DanglingReferences, FileLocation, JoinedFrames, SourceFrame, SourceFrames, StackFrame, StackFrames,
};
pub use module::ids::{ComputationId, InstrId};
pub use module::instruction::{CommonAttrs, CommonField, Instruction};
pub use module::names;
pub use module::{Computation, Module};
pub use opcode::{
    Arity, Class, ElementwiseOp, Family, FusionRole, Manual, Moves, Op, Opcode, Role, SizeRule, Traits, Work,
};
pub use text::{blank, cursor};
pub use types::bytes::human_bytes;
pub use types::element_type::ElementType;
pub use types::float_format::{FloatFormat, Special};
pub use types::indices::Indices;
pub use types::layout::{DimensionLevel, Layout, LayoutItems, LevelKind, SplitConfig, Tile, TileSize};
pub use types::literal::{Literal, LiteralData};
pub use types::memory::AlignedBytes;
pub use types::native::{Elements, NativeType};
#[cfg(feature = "ndarray")]
pub use types::ndarray;
pub use types::number::Number;
pub use types::packing::Packing;
pub use types::padded::{HostLayout, HostLayoutError, PaddingValue};
pub use types::reshape::{ReshapedSize, reshape_groups, reshaped_sizes};
pub use types::shape::{ArrayShape, Dims, Shape, ShapePool, Shapes, unravel};
pub use types::{accumulation, laid_out, narrow};

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::diag::excerpt::printable;
    pub use crate::module::uses::{MAX_LINEAR_SEARCH_LENGTH, OperandPlaces, Users};
    pub use crate::print::float::Decimal;
    pub use crate::types::reuse::{MAX_CACHED_ARRAYS, MAX_CACHED_BYTES, MIN_REUSED_BYTES, Words};
}
