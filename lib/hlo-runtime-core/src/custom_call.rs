//! Custom calls: functions from outside, which a program brings with it.

use crate::context::{Context, Error};

/// What knows the targets of custom calls, and calls them.
pub trait CustomCalls: Send + Sync {
    /// Makes the call of that number, which the compiler got from the one who implements this. `operands` and `results`
    /// have an entry for each array.
    ///
    /// # Errors
    /// There is no call of that number, or what is called fails.
    ///
    /// # Safety
    /// There must be an entry for each array of the call; each operand must be readable and each result writable in full, aligned for
    /// their elements, and results must not overlap anything.
    unsafe fn call(
        &self,
        context: &Context,
        number: i64,
        operands: *const *const u8,
        results: *const *mut u8,
    ) -> Result<(), Error>;
}

/// Makes a custom call, by the [`CustomCalls`] of the context. Returns 0, or 1 with a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`]; the rest is as [`CustomCalls::call`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_custom_call(
    ctx: *const Context,
    number: i64,
    operands: *const *const u8,
    results: *const *mut u8,
) -> i32 {
    // SAFETY: the caller's promise.
    let ctx = unsafe { &*ctx };
    ctx.guard("custom-call", || {
        let calls =
            ctx.custom_calls().ok_or_else(|| Error("there are no custom calls in this context".into()))?;
        // SAFETY: the caller's promise.
        unsafe { calls.call(ctx, number, operands, results) }
    })
}
