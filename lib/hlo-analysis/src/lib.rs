//! What of a module shares memory, when it is live, and in which order it runs: asked by passes, by code generation and by
//! tools, answered here once.
//!
//! - [`alias`]: which results are other names of the memory of operands; [`Invariants`]: which parts of a loop's state stay;
//! - [`in_place`]: what may be written where an operand is read;
//! - [`Buffers`]: which values of a computation have memory of their own, in an order of its instructions;
//! - [`Liveness`]: when they are live in that order, and the peak;
//! - [`schedule`]: the order that needs least.
//!
//! These look at instructions, before anything is known of how code is generated. What memory the compiled program takes is
//! in its plan.

mod alias;
mod buffers;
pub mod in_place;
mod invariant;
mod leaves;
mod liveness;
mod roles;
pub mod schedule;
mod sharing;

pub use alias::{Alias, alias, is_alias, keeps_bytes};
pub use buffers::{Buffer, BufferKind, Buffers};
pub use invariant::Invariants;
pub use leaves::{Elements, first_leaf_at};
pub use liveness::{Lifetime, Liveness, ModuleLiveness};
pub use roles::Roles;
