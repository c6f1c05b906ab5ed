//! Custom calls: functions from outside, by name. A [`Registry`] has those that are built in, those that a
//! program registers, and those of shared libraries; both engines call through it.
//!
//! [`site`] says what an instruction calls and how, [`Registry::plan`] whether that can be, before anything runs: a
//! [`PlannedCall`] only passes addresses.

mod attributes;
mod call;
mod csr;
mod ffi;
mod foreign;
mod instruction;
mod lapack;
mod library;
mod moves;
mod plan;
mod registry;
mod site;
mod stub;
mod top_k;

pub use attributes::{Attribute, Attributes};
pub use call::{Call, CallElement};
pub use ffi::XLA_FFI_GetApi;
pub use foreign::{XlaCustomCallStatus, XlaCustomCallStatusSetFailure, XlaCustomCallStatusSetSuccess};
pub use instruction::{operand_shape, site};
pub use plan::{PlannedCall, PlannedCalls};
pub use registry::Registry;
pub use site::{ApiVersion, ArrayType, CallSite, ValueType};
pub use stub::CALLBACKS;
