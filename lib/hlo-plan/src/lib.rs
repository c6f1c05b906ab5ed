//! The plan of a compiled program: its steps and the buffers that they use. This crate generates no code.
//!
//! Tuples exist at compile time only. A plan is a tree of [`Step`]s. The steps of loop bodies and branches
//! are inside their `while` or `conditional`. Calls are expanded in place, unless that would copy too many
//! instructions.
//!
//! Planning has two phases. Expansion (`expand`) creates steps over [`BufId`]s, with one buffer per value and
//! a copy wherever a value must be in a certain place. Buffer assignment then lets values share memory, which
//! removes most of these copies, and replaces every [`BufId`] by a [`BufferRef`].
//!
//! # Example
//! ```
//! use hlo_ir::verify::Verified;
//! use hlo_plan::{BufferRef, Step};
//!
//! let module = hlo_parser::parse_module("HloModule m
//! ENTRY main {
//!   x = f32[4] parameter(0)
//!   e = f32[4] exponential(x)
//!   ROOT y = f32[2,2] reshape(e)
//! }").expect("a module");
//! let module = Verified::new(module).expect("a valid module");
//! let plan = hlo_plan::plan(module.as_ref(), 1 << 20).expect("a plan");
//! assert_eq!((&plan.param_bytes[..], &plan.output_bytes[..], plan.arena_bytes), (&[16][..], &[16][..], 0));
//! // One kernel, which writes its result to the caller's buffer. The reshape costs nothing.
//! let [Step::Kernel(kernel)] = &plan.steps[..] else { panic!("{:?}", plan.steps) };
//! assert_eq!(kernel.operands, [Some(BufferRef::Param(0))]);
//! assert_eq!(kernel.results, [BufferRef::Output(0)]);
//! // The program needs 32 bytes.
//! assert!(hlo_plan::plan(module.as_ref(), 31).is_err());
//! ```

pub mod applied;
pub mod assignment;
mod classify;
mod comparator;
mod constants;
mod convolution;
mod copy;
mod dot;
pub mod expand;
pub mod fusions;
mod in_place;
mod join;
mod layouts;
mod linear_algebra;
pub mod memory;
mod random;
mod refusal;
mod sort;
mod steps;

pub use classify::{Role, role};
pub use constants::{is_embedded, stored_constants};
pub(crate) use in_place::{overwritable_operands, updated_operands};
pub use refusal::Refusal;
pub use steps::{
    Argument, BufId, BufferInfo, BufferRef, Buffers, Constant, KernelCall, OuterLoop, Pin, RuntimeCall, Step,
};

use hlo_analysis::Donation;
use hlo_ir::diag::Diag;
use hlo_ir::verify::{Verified, verify_bitcasts, verify_execution};
use hlo_ir::{ArrayShape, InstrId, Module};

/// Plans a module on which the passes of `LOWERING` have run.
///
/// # Errors
/// Returns why the module can't run here, or each instruction that can't be compiled. Also fails if
/// parameters, results, constants and the arena together need more than `memory_limit` bytes.
pub fn plan(module: Verified<&Module>, memory_limit: u64) -> Result<Plan, Vec<Diag>> {
    assignment::assign(&module, expanded(module, Vec::new())?, memory_limit).map_err(|e| vec![e])
}

/// Like [`plan`], for a program whose caller may donate parameters. Each parameter in
/// [`hlo_analysis::donations`] may be in the memory of its result when the program starts. The program then
/// updates it there. A parameter that is elsewhere is copied there first.
///
/// # Errors
/// The errors of [`plan`].
pub fn plan_with_donations(module: Verified<&Module>, memory_limit: u64) -> Result<Plan, Vec<Diag>> {
    let donations = hlo_analysis::donations(&module);
    assignment::assign(&module, expanded(module, donations)?, memory_limit).map_err(|e| vec![e])
}

/// Returns the steps of a module before buffer assignment. Fails if the module can't run here.
fn expanded(module: Verified<&Module>, donations: Vec<Donation>) -> Result<expand::Expanded, Vec<Diag>> {
    let module = module.get();
    for refused in [verify_execution(module), verify_bitcasts(module)] {
        if !refused.is_empty() {
            return Err(refused);
        }
    }
    if module.has_implicit_information() {
        let message = "expected a module that `Module::make_explicit` has changed: this one mixes floating-point types in an \
                       operation, or binds operands of an asynchronous operation late";
        return Err(vec![Diag::error(message)]);
    }
    expand::expand(module, donations)
}

/// A whole program after buffer assignment.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The steps of the entry computation.
    pub steps: Vec<Step<BufferRef>>,
    /// The steps of computations that are called from several places, callees first. The call passes their
    /// parameters, outputs and arena.
    pub functions: Vec<Vec<Step<BufferRef>>>,
    /// The constants. [`BufferRef::Constant`] is an index into this list.
    pub constants: Vec<Constant>,
    /// The transfers. Runtime calls refer to them by index.
    pub transfers: Vec<InstrId>,
    /// The custom calls. Runtime calls refer to them by index.
    pub custom_calls: Vec<InstrId>,
    /// The collectives of several devices. Runtime calls refer to them by index.
    pub collectives: Vec<InstrId>,
    /// The size of the arena in bytes, which is its peak. No buffer extends beyond it.
    pub arena_bytes: u64,
    /// The sizes of the flattened parameters in bytes.
    pub param_bytes: Vec<u64>,
    /// The sizes of the leaves of the flattened result in bytes.
    pub output_bytes: Vec<u64>,
    /// The parameters that may be in the memory of their results when the program starts.
    pub donations: Vec<Donation>,
}

impl Plan {
    /// Returns the steps of each function, then those of the entry computation.
    pub fn bodies(&self) -> impl Iterator<Item = &[Step<BufferRef>]> {
        self.functions.iter().chain([&self.steps]).map(Vec::as_slice)
    }
}

/// Returns the array shape of an instruction that the verifier has checked to be an array.
///
/// # Errors
/// The instruction's shape is not an array.
pub fn array(module: &Module, id: InstrId) -> Result<&ArrayShape, Refusal> {
    module[id]
        .shape
        .as_array()
        .ok_or_else(|| format!("`{}` has shape {}, not an array", module[id].name, module[id].shape).into())
}

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::comparator::{key, keys};
}
