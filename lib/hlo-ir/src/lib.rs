//! The HLO IR: element types, shapes, literals, the opcode table, modules, the verifier, the printer
//! and diagnostics.
//!
//! This crate does no parsing of whole modules (that is `hlo-parser`), no execution and no IO. Everything
//! that knows an opcode's text name or attributes gets it from the one table in [`opcode`].

#[macro_use]
pub mod opcode;

pub mod access;
pub mod accumulation;
mod asynchronous;
pub mod attr;
pub mod blank;
mod brief;
mod bytes;
pub mod cursor;
pub mod diag;
pub mod effect;
pub mod effects;
mod element_type;
mod excerpt;
mod float_format;
mod frames;
pub mod host;
mod ids;
mod instruction;
pub mod laid_out;
mod late_binding;
mod layout;
pub mod lines;
mod literal;
mod module;
mod names;
pub mod ops;
mod order;
mod packing;
mod part;
mod precision;
pub mod print;
mod reshape;
pub mod rules;
mod same;
mod shape;
mod span;
pub mod streams;
pub mod suggest;
mod uses;
pub mod verify;
pub mod watch;

pub use attr::Header;
pub use bytes::human_bytes;
pub use element_type::ElementType;
pub use float_format::{FloatFormat, Special};
pub use frames::{Dangling, FileLocation, JoinedFrames, SourceFrame, SourceFrames, StackFrame, StackFrames};
pub use ids::{ComputationId, InstrId};
pub use instruction::{CommonAttrs, CommonField, Instruction};
pub use layout::{DimensionLevel, Layout, LayoutItems, LevelKind, SplitConfig, Tile, TileSize};
pub use literal::{AlignedBytes, Literal, LiteralData};
pub use module::{Computation, Module};
pub use opcode::{Arity, Class, ElementwiseOp, Family, Op, Opcode, Work};
pub use packing::Packing;
pub use reshape::{ReshapedSize, reshape_groups, reshaped_sizes};
pub use shape::{ArrayShape, Dims, Shape, ShapePool, Shapes, unravel};
pub use span::{Span, floor_char_boundary};
