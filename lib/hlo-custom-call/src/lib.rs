//! Custom calls: functions from outside, by name. A [`Registry`] has those that are built in, those that a
//! program registers, and those of shared libraries; both engines call through it.
//!
//! [`site`] says what an instruction calls and how, [`Registry::check`] whether that can be, before anything runs.

mod attributes;
mod call;
mod foreign;
mod instruction;
mod lapack;
mod moves;
mod registry;
mod site;
mod top_k;

pub use attributes::{Attribute, Attributes};
pub use call::{Call, CallElement};
pub use foreign::{XlaCustomCallStatus, XlaCustomCallStatusSetFailure, XlaCustomCallStatusSetSuccess};
pub use instruction::{operand_shape, site};
pub use registry::Registry;
pub use site::{ApiVersion, ArrayType, CallSite, ValueType};
