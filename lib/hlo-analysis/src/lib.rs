//! What of a module shares memory, when it is live, and in which order it runs: asked by passes, by code generation and by
//! tools, answered here once.
//!
//! - [`alias`]: which results are other names of the memory of operands; [`Invariants`]: which parts of a loop's state stay;
//! - [`in_place`]: what may be written where an operand is read; [`donations`]: which results may have a parameter's memory;
//! - [`Buffers`]: which values of a computation have memory of their own, in an order of its instructions;
//! - [`Liveness`]: when they are live in that order, and the peak;
//! - [`schedule`]: the order that needs least;
//! - [`cost_model`]: the constants by which passes and code generation weigh work;
//! - [`cumulative`]: windows that make a `reduce-window` a cumulative reduction.
//!
//! These look at instructions, before anything is known of how code is generated. What memory the compiled program takes is
//! in its plan.
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
//! // Most is live while `b` is made of `a`.
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
pub use donation::{Donation, donations, lie_alike};
pub use invariant::Invariants;
pub use leaves::{Elements, first_leaf_at};
pub use liveness::{Lifetime, Liveness, ModuleLiveness};
pub use roles::Roles;
