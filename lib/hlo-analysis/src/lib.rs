//! Analyses of a module: which values share memory, when each value is live, and in which order instructions
//! run. Passes, code generation and tools share them.
//!
//! - [`alias`] finds the results that are another name of an operand's memory. [`Invariants`] finds the parts
//!   of a loop's state that never change.
//! - [`in_place`] finds the results that may be written over an operand. [`donations`] finds the results that
//!   may use a parameter's memory.
//! - [`Buffers`] lists the values of a computation that have memory of their own, for a given order of its
//!   instructions.
//! - [`Liveness`] computes when the buffers are live in that order, and the peak.
//! - [`schedule`] computes the order that needs the least memory.
//! - [`cost_model`] contains the constants by which passes and code generation weigh work.
//! - [`cumulative`] detects windows that make a `reduce-window` a cumulative reduction.
//!
//! The analyses work on instructions, before code generation has made any decision. The plan of the compiled
//! program contains the memory that the program uses.
//!
//! # Example
//! ```
//! use hlo_analysis::{ModuleLiveness, is_alias};
//!
//! let module = hlo_parser::parse_module("HloModule m, is_scheduled=true
//! ENTRY main {
//!   x = f32[256] parameter(0)
//!   a = f32[256] negate(x)
//!   b = f32[512] concatenate(a, a), dimensions={0}
//!   c = f32[2,256] bitcast(b)
//!   ROOT d = f32[2] slice(b), slice={[0:2]}
//! }").expect("a module");
//! let liveness = ModuleLiveness::of(&module);
//! let main = liveness.get(module.entry()).expect("the entry has memory");
//! assert_eq!(main.parameter_bytes, 1024);
//! // The peak is reached while `b` is computed from `a`.
//! assert_eq!(main.peak(), 1024 + 2048);
//! let at = main.order[main.peak_position().expect("an instruction")];
//! assert_eq!(&*module[at].name, "b");
//! assert!(main.order.iter().any(|&i| &*module[i].name == "c" && is_alias(&module, i)));
//! ```

mod alias;
mod buffers;
pub mod cost_model;
mod cumulative;
mod donation;
pub mod in_place;
mod invariant;
mod leaves;
mod liveness;
mod roles;
pub mod schedule;
mod sharing;

pub use alias::{Alias, alias, is_alias, keeps_bytes};
pub use buffers::{Buffer, BufferKind, Buffers};
pub use cumulative::{Cumulative, cumulative};
pub use donation::{Donation, donations, have_same_memory_layout};
pub use invariant::Invariants;
pub use leaves::{Elements, first_leaf_at};
pub use liveness::{Lifetime, Liveness, ModuleLiveness};
pub use roles::Roles;

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::schedule::graph::Graph;
}
