//! The plan: what the compiled program does, step by step, and in which buffers. No code is generated here.
//!
//! Tuples exist at compile time only. A plan is a tree of [`Step`]s (the steps of loop bodies and branches sit
//! in their `while` or `conditional`; calls are expanded in place, unless that made too many copies). It is first made over
//! [`BufId`]s, one a value (`expand`), with a copy wherever a value has to be in a certain place; buffer assignment then
//! lets values share memory so that most of these copies vanish, and turns every [`BufId`] into a [`BufferRef`].
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
//! // One kernel, which writes the result where the caller wants it; the reshape costs nothing.
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
/// Why the module can't run here, each instruction that can't be compiled, or that parameters,
/// results, constants and the arena together take more than `memory_limit` bytes.
pub fn plan(module: Verified<&Module>, memory_limit: u64) -> Result<Plan, Vec<Diag>> {
    assignment::assign(&module, expanded(module, Vec::new())?, memory_limit).map_err(|e| vec![e])
}

/// As [`plan`], of a program whose caller may give parameters away: each of [`hlo_analysis::donations`] may lie in the memory
/// of its result when the program starts, which is then updated there. One that lies elsewhere is copied there first.
///
/// # Errors
/// Those of [`plan`].
pub fn plan_with_donations(module: Verified<&Module>, memory_limit: u64) -> Result<Plan, Vec<Diag>> {
    let donations = hlo_analysis::donations(&module);
    assignment::assign(&module, expanded(module, donations)?, memory_limit).map_err(|e| vec![e])
}

/// Returns the steps of a module that can run here, before their buffers have places.
fn expanded(module: Verified<&Module>, donations: Vec<Donation>) -> Result<expand::Expanded, Vec<Diag>> {
    let module = module.get();
    for refused in [verify_execution(module), verify_bitcasts(module)] {
        if !refused.is_empty() {
            return Err(refused);
        }
    }
    if module.leaves_unsaid() {
        let message = "expected a module that `Module::make_explicit` has changed: this one mixes floating-point types in an \
                       operation, or binds operands of an asynchronous operation late";
        return Err(vec![Diag::error(message)]);
    }
    expand::expand(module, donations)
}

/// The whole program with buffers assigned.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The steps of the entry computation.
    pub steps: Vec<Step<BufferRef>>,
    /// The steps of computations that several places call, callees first. Their parameters, outputs and arena are those
    /// of the call.
    pub functions: Vec<Vec<Step<BufferRef>>>,
    /// The constants that [`BufferRef::Constant`] numbers.
    pub constants: Vec<Constant>,
    /// The transfers that calls of the runtime number.
    pub transfers: Vec<InstrId>,
    /// The custom calls that calls of the runtime number.
    pub custom_calls: Vec<InstrId>,
    /// The collectives of several devices that calls of the runtime number.
    pub collectives: Vec<InstrId>,
    /// The size of the arena, its peak: every offset plus size is at most this.
    pub arena_bytes: u64,
    /// The sizes of the flattened parameters.
    pub param_bytes: Vec<u64>,
    /// The sizes of the flattened result's leaves.
    pub output_bytes: Vec<u64>,
    /// The parameters that may lie in the memory of their results when the program starts.
    pub donations: Vec<Donation>,
}

impl Plan {
    /// The steps of each function, then those of the entry computation.
    pub fn bodies(&self) -> impl Iterator<Item = &[Step<BufferRef>]> {
        self.functions.iter().chain([&self.steps]).map(Vec::as_slice)
    }
}

/// The array shape of an instruction that the verifier knows to be an array.
///
/// # Errors
/// The instruction's shape is not an array.
pub fn array(module: &Module, id: InstrId) -> Result<&ArrayShape, Refusal> {
    module[id]
        .shape
        .as_array()
        .ok_or_else(|| format!("`{}` has shape {}, not an array", module[id].name, module[id].shape).into())
}
