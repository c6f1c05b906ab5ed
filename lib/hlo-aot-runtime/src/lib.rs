//! The runtime of ahead-of-time programs, built as `libhlo_aot_runtime.a`. `hlo-run --aot` links programs
//! with it.
//!
//! The library contains [`hlo_runtime`], whose functions the compiled code calls, and the functions that a
//! user of the program calls: they create and free a context, set its seed, and return the message of a
//! failure. Nothing here unwinds into C.
//!
//! # Example
//! A host function that fails, like that of a program:
//!
//! ```
//! use hlo_aot_runtime::{Program, hlo_last_error, hlo_rt_run};
//! use hlo_runtime::{Context, hlo_rt_fail};
//! use std::ptr::{null, null_mut};
//!
//! unsafe extern "C" fn program(
//!     context: *const Context, _: *const *const u8, _: *const *mut u8, _: *mut u8, _: *const *const u8,
//! ) -> i32 {
//!     // SAFETY: the context is alive, and the message has four bytes.
//!     unsafe { hlo_rt_fail(context, b"oh no".as_ptr(), 5) };
//!     1
//! }
//! let mut message = [0u8; 16];
//! // SAFETY: the program uses only the context; the buffer has 16 bytes.
//! let (status, length) = unsafe {
//!     let status = hlo_rt_run(null(), program as Program, null(), null(), null_mut(), null());
//!     (status, hlo_last_error(message.as_mut_ptr(), 16))
//! };
//! assert_eq!((status, &message[..length]), (1, &b"oh no"[..]));
//! ```

use hlo_runtime::{Context, Error, StandardFloats, Transfers};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The host function of a program.
pub type Program = unsafe extern "C" fn(
    context: *const Context,
    params: *const *const u8,
    results: *const *mut u8,
    arena: *mut u8,
    constants: *const *const u8,
) -> i32;

thread_local! {
    /// The reason why the last run on this thread failed; empty if it succeeded.
    static LAST_ERROR: RefCell<String> = const { RefCell::new(String::new()) };
}

fn set_last_error(message: &str) {
    // While the thread ends, no code can read the message any more.
    let _ = LAST_ERROR.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            last.clear();
            last.push_str(message);
        }
    });
}

/// Returns the default context, which uses only the calling thread.
fn serial() -> &'static Context {
    static SERIAL: OnceLock<Context> = OnceLock::new();
    SERIAL.get_or_init(|| Context::new(1))
}

/// Transfers that always fail, because ahead-of-time programs have none.
struct NoTransfers;

impl Transfers for NoTransfers {
    fn receive(&mut self, _: usize, _: usize, _: &mut [u8]) -> Result<(), Error> {
        Err(Error("an ahead-of-time program has nothing to transfer from".into()))
    }

    fn transmit(&mut self, _: usize, _: usize, _: &[u8]) -> Result<(), Error> {
        Err(Error("an ahead-of-time program has nothing to transfer to".into()))
    }
}

/// Runs the host function of a program. Without a context it runs on the calling thread alone. Returns 0, or
/// 1 with a message for [`hlo_last_error`].
///
/// # Safety
/// `context` must be null or a live context from [`hlo_context_create`]. The other arguments must be valid
/// for `program`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_run(
    context: *const Context,
    program: Program,
    params: *const *const u8,
    results: *const *mut u8,
    arena: *mut u8,
    constants: *const *const u8,
) -> i32 {
    // The results of a program do not depend on the floating-point mode of the calling thread.
    let _standard = StandardFloats::set();
    let run = || {
        // SAFETY: guaranteed by the caller.
        let context = unsafe { context.as_ref() }.unwrap_or_else(|| serial());
        context.with_transfers(&mut NoTransfers, None, None, |context| {
            // SAFETY: guaranteed by the caller; the context is alive.
            let status = unsafe { program(context, params, results, arena, constants) };
            (status != 0).then(|| context.take_error().unwrap_or_else(|| "a runtime function failed".into()))
        })
    };
    let failure = catch_unwind(AssertUnwindSafe(run));
    let failure = failure.unwrap_or_else(|_| Some("internal error: a panic".to_string()));
    set_last_error(failure.as_deref().unwrap_or_default());
    i32::from(failure.is_some())
}

/// Creates a context of `threads` threads, including the calling thread. 0 means as many threads as the
/// process may use. Returns null on failure.
#[unsafe(no_mangle)]
pub extern "C" fn hlo_context_create(threads: usize) -> *mut Context {
    let made = catch_unwind(|| Box::into_raw(Box::new(Context::new(threads))));
    made.unwrap_or(std::ptr::null_mut())
}

/// Stops the threads of a context and frees it. Null is ignored.
///
/// # Safety
/// `context` must be null or a context from [`hlo_context_create`] that is no longer used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_context_destroy(context: *mut Context) {
    if !context.is_null() {
        // SAFETY: guaranteed by the caller.
        let context = unsafe { Box::from_raw(context) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(context)));
    }
}

/// Sets the seed of the random numbers that programs draw. Null is ignored.
///
/// # Safety
/// `context` must be null or a live context from [`hlo_context_create`] that no program is using.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_context_set_seed(context: *mut Context, seed: u64) {
    if !context.is_null() {
        // SAFETY: guaranteed by the caller; the value that is read is written back, and nothing in between
        // can fail.
        unsafe { context.write(context.read().with_seed(seed)) }
    }
}

/// Returns the length of the message of the last failed run on this thread, or 0 if the last run succeeded.
/// Writes at most `capacity` bytes of the message to `message`, including a NUL at the end.
///
/// # Safety
/// `message` must have `capacity` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_last_error(message: *mut u8, capacity: usize) -> usize {
    let copy = |last: &RefCell<String>| {
        let Ok(last) = last.try_borrow() else { return 0 };
        if capacity > 0 && !message.is_null() {
            let copied = last.len().min(capacity - 1);
            // SAFETY: the caller guarantees that `copied + 1 <= capacity` bytes are writable.
            unsafe {
                std::ptr::copy_nonoverlapping(last.as_ptr(), message, copied);
                *message.add(copied) = 0;
            }
        }
        last.len()
    };
    LAST_ERROR.try_with(copy).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo_runtime::{hlo_rt_fail, hlo_rt_rng_state};
    use std::ptr::{null, null_mut};

    /// Fails if it has parameters. Otherwise it writes the context's seed to the first result.
    unsafe extern "C" fn program(
        context: *const Context,
        params: *const *const u8,
        results: *const *mut u8,
        _: *mut u8,
        _: *const *const u8,
    ) -> i32 {
        // SAFETY: the test passes a list of one result with room for a state, and a live context.
        unsafe {
            if !params.is_null() {
                hlo_rt_fail(context, b"as asked".as_ptr(), 8);
                return 1;
            }
            hlo_rt_rng_state(context, &mut 0, 0, 1, (*results).cast())
        }
    }

    #[test]
    fn a_program_runs_with_and_without_a_context() {
        let mut state = [0u64; 2];
        let results = [state.as_mut_ptr().cast::<u8>()];
        let mut message = [7u8; 4];
        // SAFETY: the program takes one result of two words; the context is used before it is destroyed.
        unsafe {
            assert_eq!(hlo_rt_run(null(), program, null(), results.as_ptr(), null_mut(), null()), 0);
            assert_eq!(state[0], 0);
            assert_eq!(hlo_last_error(message.as_mut_ptr(), 4), 0);
            let context = hlo_context_create(2);
            hlo_context_set_seed(context, 5);
            assert_eq!(hlo_rt_run(context, program, null(), results.as_ptr(), null_mut(), null()), 0);
            assert_eq!(state[0], 5);
            let params = [null()];
            assert_eq!(
                hlo_rt_run(context, program, params.as_ptr(), results.as_ptr(), null_mut(), null()),
                1
            );
            // The message belongs to this thread and remains until the next run.
            assert_eq!(std::thread::spawn(|| hlo_last_error(null_mut(), 0)).join().unwrap_or(1), 0);
            assert_eq!(hlo_last_error(message.as_mut_ptr(), 4), 8);
            assert_eq!(&message, b"as \0");
            hlo_context_destroy(context);
            hlo_context_destroy(null_mut());
        }
    }

    /// Writes the bits of the product of a subnormal number and 1.5 to the first result.
    #[cfg(target_arch = "x86_64")]
    unsafe extern "C" fn product(
        _: *const Context,
        _: *const *const u8,
        results: *const *mut u8,
        _: *mut u8,
        _: *const *const u8,
    ) -> i32 {
        use std::hint::black_box;
        let product = black_box(black_box(1e-40f32) * black_box(1.5));
        // SAFETY: the test passes a list of one result of four bytes.
        unsafe { (*results).cast::<u32>().write(product.to_bits()) };
        0
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_program_computes_in_the_standard_mode_for_floats() {
        let set_mode = |mode: u32| {
            // SAFETY: it reads the four bytes, a mode in which no exception is trapped.
            unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack)) }
        };
        let mut bits = 0u32;
        let results = [(&raw mut bits).cast::<u8>()];
        // This mode treats subnormal operands and results as zero.
        set_mode(0x9fc0);
        // SAFETY: the program takes one result of four bytes.
        let status = unsafe { hlo_rt_run(null(), product, null(), results.as_ptr(), null_mut(), null()) };
        set_mode(0x1f80);
        assert_eq!((status, bits), (0, (1e-40f32 * 1.5).to_bits()));
    }
}
