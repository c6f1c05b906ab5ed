//! Custom calls: external functions that a program calls by name. A [`Registry`] contains the built-in
//! targets, the targets that a program registers, and targets added as [`Targets`] (LAPACK's routines, shared
//! libraries). Both engines call through it.
//!
//! [`site`] returns what an instruction calls and how. [`Registry::plan`] checks before the run whether the
//! call is possible. Running the resulting [`PlannedCall`] only passes addresses.
//!
//! # Example
//! Registers a target and calls it on two numbers:
//!
//! ```
//! use hlo_custom_call::{ArrayType, CallSite, Registry, ValueType};
//!
//! let mut registry = Registry::new();
//! registry.register("double", |call| {
//!     let from = call.operand::<f32>(0)?;
//!     for (to, x) in call.result::<f32>(0)?.iter_mut().zip(from) {
//!         *to = 2.0 * x;
//!     }
//!     Ok(())
//! });
//!
//! let array =
//!     ArrayType { element: "f32".into(), element_bytes: 4, dims: vec![2], minor_to_major: vec![0] };
//! let site = CallSite {
//!     target: "double".into(),
//!     operands: vec![ValueType::Array(array.clone())],
//!     result: ValueType::Array(array),
//!     ..CallSite::default()
//! };
//! let (x, mut y) = ([1.5f32, -4.0].map(f32::to_ne_bytes), [[0; 4]; 2]);
//! let planned = registry.plan(site.clone()).expect("a target that is known");
//! planned.call_here(&[x.as_flattened()], &mut [y.as_flattened_mut()]).expect("two buffers of 8 bytes");
//! assert_eq!(y.map(f32::from_ne_bytes), [3.0, -8.0]);
//!
//! let unknown = registry.check(&CallSite { target: "duble".into(), ..site }).expect_err("no such target");
//! assert!(unknown.to_string().starts_with("unknown custom call target `duble`"));
//! ```

mod attributes;
mod call;
mod check;
mod csr;
mod instruction;
pub mod lapack;
mod moves;
mod plan;
mod python_callbacks;
mod registry;
mod site;
mod target;
mod top_k;
mod trace;

pub use attributes::{Attribute, Attributes};
pub use call::{Call, CallElement};
pub use hlo_runtime_core::Error;
pub use instruction::{operand_shape, site};
pub use plan::{Function, PlannedCall, PlannedCalls};
pub use python_callbacks::CALLBACKS;
pub use registry::Registry;
pub use site::{ApiVersion, ArrayType, CallSite, ValueType};
pub use target::{Target, Targets};
pub use trace::{TRACE, Tracer};

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::check::{Match, compare, ulps};
}
