//! Custom calls: functions from outside, by name. A [`Registry`] has those that are built in, those that a
//! program registers, and those that are added as [`Targets`] (LAPACK's routines, shared libraries); both engines call
//! through it.
//!
//! [`site`] says what an instruction calls and how, [`Registry::plan`] whether that can be, before anything runs: a
//! [`PlannedCall`] only passes addresses.

mod attributes;
mod call;
mod csr;
mod instruction;
pub mod lapack;
mod moves;
mod plan;
mod registry;
mod site;
mod stub;
mod top_k;

pub use attributes::{Attribute, Attributes};
pub use call::{Call, CallElement};
pub use hlo_runtime_core::Error;
pub use instruction::{operand_shape, site};
pub use plan::{Function, PlannedCall, PlannedCalls};
pub use registry::{Registry, Target, Targets};
pub use site::{ApiVersion, ArrayType, CallSite, ValueType};
pub use stub::CALLBACKS;
