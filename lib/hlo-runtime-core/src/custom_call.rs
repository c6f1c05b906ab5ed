//! The function that compiled code calls for a custom call.

use crate::context::Context;
use crate::error::Error;

/// Makes a custom call through the [`CustomCalls`](crate::CustomCalls) of the context. Returns 0, or 1 with a message in the
/// context.
///
/// # Safety
/// `ctx` must point to a live [`Context`]. The other requirements are those of
/// [`CustomCalls::call`](crate::CustomCalls::call).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_custom_call(
    ctx: *const Context,
    number: i64,
    operands: *const *const u8,
    results: *const *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let ctx = unsafe { &*ctx };
    ctx.guard("custom-call", || {
        let calls =
            ctx.custom_calls().ok_or_else(|| Error("there are no custom calls in this context".into()))?;
        // SAFETY: guaranteed by the caller.
        unsafe { calls.call(ctx, number, operands, results) }
    })
}
