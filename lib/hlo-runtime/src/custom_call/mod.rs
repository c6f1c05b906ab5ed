//! Custom calls: functions from outside, by name. A [`Registry`] has those that are built in, those that a
//! program registers, and those of shared libraries; both engines call through it.

mod attributes;
mod call;
mod foreign;
mod lapack;
mod moves;
mod registry;
mod site;
mod top_k;

pub use attributes::{Attribute, Attributes};
pub use call::{Call, CallElement};
pub use foreign::{XlaCustomCallStatus, XlaCustomCallStatusSetFailure, XlaCustomCallStatusSetSuccess};
pub use registry::Registry;
pub use site::{ApiVersion, ArrayType, CallSite, ValueType};

use crate::context::{Context, Error};

/// Calls the target that `site` (the words of a [`CallSite`]) names, through the context's registry. `operands`
/// and `results` have an entry for each array. Returns 0, or 1 with a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `site` to the words; each operand must be readable and each result
/// writable in full, aligned for their elements, and results must not overlap anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_custom_call(
    ctx: *const Context,
    site: *const i64,
    operands: *const *const u8,
    results: *const *mut u8,
) -> i32 {
    // SAFETY: the caller's promise.
    let ctx = unsafe { &*ctx };
    ctx.guard("custom-call", || {
        // SAFETY: the caller's promise.
        let site = unsafe { CallSite::decode(site)? };
        let sizes = |arrays: Vec<&ArrayType>| arrays.iter().map(|a| a.byte_size()).collect::<Vec<_>>();
        let mut inputs = Vec::new();
        for (i, bytes) in sizes(site.operand_arrays()).into_iter().enumerate() {
            // SAFETY: the caller's promise: the operand is readable in full.
            inputs.push(unsafe { std::slice::from_raw_parts(*operands.add(i), bytes) });
        }
        let mut outputs = Vec::new();
        for (i, bytes) in sizes(site.result_arrays()).into_iter().enumerate() {
            // SAFETY: the caller's promise: the result is writable in full and overlaps nothing.
            outputs.push(unsafe { std::slice::from_raw_parts_mut(*results.add(i), bytes) });
        }
        ctx.custom_calls().call(ctx, &site, &inputs, &mut outputs).map_err(|e| Error(e.0))
    })
}
