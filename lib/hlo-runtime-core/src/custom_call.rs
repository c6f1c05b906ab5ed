//! Custom calls: external functions that a program calls.

use crate::context::{Context, Error};

/// The table of custom calls of a program. It finds the target of a call and calls it.
pub trait CustomCalls: Send + Sync {
    /// Makes the custom call with number `number`, which the compiler got from the implementer of this trait.
    /// `operands` and `results` have one entry for each array.
    ///
    /// # Errors
    /// Returns an error if there is no call with this number, or if the target fails.
    ///
    /// # Safety
    /// `operands` and `results` must have one entry for each array of the call. Each operand must be fully
    /// readable and each result fully writable. All must be aligned for their elements. Results must not
    /// overlap anything.
    unsafe fn call(
        &self,
        context: &Context,
        number: i64,
        operands: *const *const u8,
        results: *const *mut u8,
    ) -> Result<(), Error>;
}

/// Makes a custom call through the [`CustomCalls`] of the context. Returns 0, or 1 with a message in the
/// context.
///
/// # Safety
/// `ctx` must point to a live [`Context`]. The other requirements are those of [`CustomCalls::call`].
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
