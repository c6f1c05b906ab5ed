//! The context that the host creates and that compiled code passes to every runtime function: the threads,
//! the error slot and the host's end of transfers.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};

use hlo_communicator::{Communicator, Failure};

use crate::error::Error;
use crate::pool::Pool;
use crate::transfers::Transfers;

/// The threads and settings of one or more runs, and the first error of the current run.
///
/// Several threads may use a context at once. Contexts with the same number of threads share these threads,
/// and the loops that run at the same time divide the threads among themselves.
pub struct Context {
    common: Arc<Common>,
    /// The seed of random numbers.
    seed: u64,
    error: Mutex<Option<String>>,
    transfers: Mutex<Option<&'static mut dyn Transfers>>,
    watch: Option<&'static WatchWords>,
    /// The watch words if no other thread watches the run.
    unwatched: WatchWords,
    communicator: Option<&'static dyn Communicator>,
    /// The number of the first collective that failed, and the reason.
    failed_collective: Mutex<Option<(usize, Failure)>>,
}

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

/// The words that compiled code shares with a thread that watches it: a flag that is nonzero once the program
/// must stop, and the instruction that runs.
pub type WatchWords = [AtomicU32; 2];

/// Values by type.
type Kept = Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>;

/// The state that all runs of a context share.
struct Common {
    pool: Option<Arc<Pool>>,
    threads: usize,
    kept: Kept,
    custom_calls: Option<Arc<dyn CustomCalls>>,
}

/// The maximum number of threads of a context. A process that starts too many threads runs out of them and
/// aborts.
pub const MAX_THREADS: usize = 1024;

/// Returns the default number of threads of a run: the number of cores that this process may use according to
/// its affinity mask and its cgroup's CPU quota.
pub fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

impl Context {
    /// Creates a context that computes on `threads` threads, including the calling thread. 0 means
    /// [`default_threads`]. More than [`MAX_THREADS`] means [`MAX_THREADS`].
    pub fn new(threads: usize) -> Context {
        Context::make(threads, None)
    }

    /// As [`Context::new`], with the implementation of the program's custom calls.
    pub fn with_custom_calls(threads: usize, custom_calls: Arc<dyn CustomCalls>) -> Context {
        Context::make(threads, Some(custom_calls))
    }

    fn make(threads: usize, custom_calls: Option<Arc<dyn CustomCalls>>) -> Context {
        let threads = if threads == 0 { default_threads() } else { threads.min(MAX_THREADS) };
        let pool = (threads > 1).then(|| Pool::shared(threads - 1));
        let common = Common { pool, threads, kept: Kept::default(), custom_calls };
        Context {
            common: Arc::new(common),
            seed: 0,
            error: Mutex::new(None),
            transfers: Mutex::new(None),
            watch: None,
            unwatched: WatchWords::default(),
            communicator: None,
            failed_collective: Mutex::new(None),
        }
    }

    /// Calls `run` with a context for one run of a program. The new context uses the same threads and has its
    /// own error slot. The program's transfers read from and write to `transfers`. The run uses `watch` if
    /// given, and exchanges data with other devices through `communicator` if given.
    pub fn with_transfers<R>(
        &self,
        transfers: &mut dyn Transfers,
        watch: Option<&WatchWords>,
        communicator: Option<&dyn Communicator>,
        run: impl FnOnce(&Context) -> R,
    ) -> R {
        // SAFETY: only the context created here holds the reference. It is dropped before this function
        // returns, and `run` cannot keep what it borrows.
        let transfers: &'static mut dyn Transfers = unsafe { std::mem::transmute(transfers) };
        // SAFETY: as above.
        let watch: Option<&'static WatchWords> = unsafe { std::mem::transmute(watch) };
        // SAFETY: as above.
        let communicator: Option<&'static dyn Communicator> = unsafe { std::mem::transmute(communicator) };
        run(&Context {
            common: self.common.clone(),
            seed: self.seed,
            error: Mutex::new(None),
            transfers: Mutex::new(Some(transfers)),
            watch,
            unwatched: WatchWords::default(),
            communicator,
            failed_collective: Mutex::new(None),
        })
    }

    /// Performs one transfer. Returns 0, or 1 after recording the error message.
    pub fn transfer(&self, call: impl FnOnce(&mut dyn Transfers) -> Result<(), Error>) -> i32 {
        let mut outcome = Ok(());
        let status = self.guard("transfer", || {
            let mut end = self.transfers.lock().unwrap_or_else(PoisonError::into_inner);
            outcome = match end.as_deref_mut() {
                Some(end) => call(end),
                None => Err(Error("the program was given nothing to transfer from or to".into())),
            };
            Ok(())
        });
        match outcome {
            Ok(()) => status,
            Err(error) => {
                self.set_error(error.0);
                1
            }
        }
    }

    /// Returns the device number of this run.
    pub fn device(&self) -> usize {
        self.communicator.map_or(0, Communicator::device)
    }

    /// Performs a collective. Returns 0, or 1 after recording the failure.
    pub fn communicate(
        &self,
        site: usize,
        call: impl FnOnce(&dyn Communicator) -> Result<(), Failure>,
    ) -> i32 {
        let mut failure = None;
        let status = self.guard("collective", || {
            let Some(communicator) = self.communicator else {
                return Err(Error("internal error: there are no other devices".into()));
            };
            failure = call(communicator).err();
            Ok(())
        });
        if let Some(failure) = failure {
            let mut failed = self.failed_collective.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert((site, failure));
            return 1;
        }
        status
    }

    /// Takes the number of the first collective that failed since the last call, and the reason.
    pub fn take_failed_collective(&self) -> Option<(usize, Failure)> {
        self.failed_collective.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the same context with the seed `seed`. The default seed is 0.
    pub fn with_seed(self, seed: u64) -> Context {
        Context { seed, ..self }
    }

    /// Returns the seed of random numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of threads, including the calling thread.
    pub fn threads(&self) -> usize {
        self.common.threads
    }

    /// Returns the implementation of custom calls, if the program has any.
    pub fn custom_calls(&self) -> Option<&dyn CustomCalls> {
        self.common.custom_calls.as_deref()
    }

    /// Returns the value of type `T` that a runtime library keeps between calls. All runs share one value of
    /// each type, which is initially the default value.
    pub fn kept<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut kept = self.common.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let value = kept.entry(TypeId::of::<T>()).or_insert_with(|| Arc::<T>::default());
        value.clone().downcast().unwrap_or_default()
    }

    /// Takes the message of the first failure since the last call, if there is one.
    pub fn take_error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Records a failure. Only the first failure since [`Context::take_error`] is kept.
    pub fn set_error(&self, message: impl Into<String>) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| message.into());
    }

    /// Calls `body` for each number in `0..chunks`, in parallel and in no particular order.
    pub fn for_each(&self, chunks: usize, body: impl Fn(usize) + Sync) {
        match &self.common.pool {
            Some(pool) => pool.run(chunks, &body),
            None => (0..chunks).for_each(body),
        }
    }

    /// As [`Context::for_each`], for bodies that can fail.
    ///
    /// # Errors
    /// Returns the error of the lowest chunk for which `body` fails, so that the message does not depend on
    /// timing.
    pub fn try_for_each(
        &self,
        chunks: usize,
        body: impl Fn(usize) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        self.for_each(chunks, |chunk| {
            if let Err(error) = body(chunk) {
                let mut slot = failure.lock().unwrap_or_else(PoisonError::into_inner);
                if slot.as_ref().is_none_or(|(first, _)| chunk < *first) {
                    *slot = Some((chunk, error));
                }
            }
        });
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Runs the body of an exported function. Returns 0 if it succeeds, otherwise 1 after recording the
    /// message. A panic is a failure too; it never unwinds into compiled code.
    pub fn guard(&self, what: &str, body: impl FnOnce() -> Result<(), Error>) -> i32 {
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(Ok(())) => 0,
            Ok(Err(error)) => {
                self.set_error(format!("{what}: {error}"));
                1
            }
            Err(panic) => {
                let text = panic
                    .downcast_ref::<&str>()
                    .map(|s| (*s).to_string())
                    .or_else(|| panic.downcast_ref::<String>().cloned())
                    .unwrap_or_else(|| "unknown cause".to_string());
                self.set_error(format!("{what}: internal error: {text}"));
                1
            }
        }
    }
}

/// The body of a compiled loop: runs the iterations `begin..end` on the buffers that `args` points to.
pub type ParallelBody = unsafe extern "C" fn(args: *const *mut u8, begin: i64, end: i64);

/// Raw pointers that the chunks of a loop share. The chunks write disjoint parts of the memory.
#[derive(Clone, Copy)]
pub struct Shared<T>(T);

impl<T: Copy> Shared<T> {
    /// Wraps `value`.
    ///
    /// # Safety
    /// Accesses through the pointer on several threads at once must not conflict.
    pub unsafe fn new(value: T) -> Self {
        Shared(value)
    }

    /// Returns the wrapped value.
    pub fn get(&self) -> T {
        self.0
    }
}

// SAFETY: guaranteed by the caller of `Shared::new`.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: guaranteed by the caller of `Shared::new`.
unsafe impl<T> Sync for Shared<T> {}

/// Calls `body(args, begin, end)` in parallel for consecutive chunks of `grain` iterations that cover
/// `0..iterations` (the last chunk may be shorter). Returns when all calls have returned.
///
/// The chunks depend only on `iterations` and `grain`. So a body that treats the ends of its range specially
/// computes the same bits on any number of threads. A `grain` below 1 counts as 1. If `iterations` is below
/// 1, `body` is not called.
///
/// # Safety
/// `ctx` must point to a live [`Context`]; `body` must be safe to call with `args` for disjoint ranges from
/// several threads at once, and must not unwind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_parallel_for(
    ctx: *const Context,
    body: ParallelBody,
    args: *const *mut u8,
    iterations: i64,
    grain: i64,
) {
    let (iterations, grain) = (iterations.max(0) as u64, grain.max(1) as u64);
    let chunks = iterations.div_ceil(grain) as usize;
    // SAFETY: the caller guarantees that `body` may use `args` on several threads.
    let args = unsafe { Shared::new(args) };
    let chunk = |i: usize| {
        let begin = i as u64 * grain;
        let end = iterations.min(begin.saturating_add(grain));
        // SAFETY: guaranteed by the caller; the ranges are disjoint.
        unsafe { body(args.get(), begin as i64, end as i64) }
    };
    if chunks == 1 {
        return chunk(0);
    }
    // SAFETY: the caller guarantees that `ctx` is live.
    unsafe { &*ctx }.for_each(chunks, chunk);
}

/// Returns the watch words, which compiled code reads and writes while it runs.
///
/// # Safety
/// `ctx` must point to a live [`Context`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_watch(ctx: *const Context) -> *const AtomicU32 {
    // SAFETY: guaranteed by the caller.
    let ctx = unsafe { &*ctx };
    ctx.watch.unwrap_or(&ctx.unwatched).as_ptr()
}

/// A compiled computation: reads the buffers in `params`, writes the buffers in `outputs`, and returns 0, or
/// 1 after recording a message in the context.
pub type Function = unsafe extern "C" fn(
    ctx: *const Context,
    params: *const *const u8,
    outputs: *const *mut u8,
    arena: *mut u8,
    constants: *const *const u8,
    counters: *mut i64,
) -> i32;

/// Calls a compiled computation.
///
/// # Safety
/// The arguments must be valid for `function`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_call(
    ctx: *const Context,
    function: Function,
    params: *const *const u8,
    outputs: *const *mut u8,
    arena: *mut u8,
    constants: *const *const u8,
    counters: *mut i64,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe { function(ctx, params, outputs, arena, constants, counters) }
}

/// Records that compiled code failed. The reason is the `len` bytes of UTF-8 at `message`.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `message` to `len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_fail(ctx: *const Context, message: *const u8, len: i64) {
    let len = usize::try_from(len).unwrap_or(0);
    let bytes: &[u8] = match len {
        0 => &[],
        // SAFETY: guaranteed by the caller.
        _ => unsafe { std::slice::from_raw_parts(message, len) },
    };
    // SAFETY: guaranteed by the caller.
    unsafe { &*ctx }.set_error(String::from_utf8_lossy(bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn mark(args: *const *mut u8, begin: i64, end: i64) {
        // SAFETY: the test passes one array of `iterations` i64.
        let out = unsafe { *args }.cast::<i64>();
        for i in begin..end {
            // SAFETY: as above; `i` is within the loop's range.
            unsafe { *out.add(i as usize) += 1000 * begin + i };
        }
    }

    #[test]
    fn the_split_depends_on_iterations_and_grain_only() {
        for (iterations, grain) in [(0, 4), (1, 4), (1000, 7), (1000, 0), (5, 1000)] {
            let run = |threads| {
                let ctx = Context::new(threads);
                let mut out = vec![0i64; iterations as usize];
                let args = [out.as_mut_ptr().cast::<u8>()];
                // SAFETY: `mark` writes `out[begin..end]` only.
                unsafe { hlo_rt_parallel_for(&ctx, mark, args.as_ptr(), iterations, grain) };
                out
            };
            let one = run(1);
            let grain = i64::max(grain, 1);
            assert!(one.iter().enumerate().all(|(i, &v)| v == 1000 * (i as i64 / grain * grain) + i as i64));
            for threads in 2..=4 {
                assert_eq!(run(threads), one);
            }
        }
    }

    #[test]
    fn the_first_error_is_kept_and_a_panic_is_an_error() {
        let ctx = Context::new(2);
        assert_eq!(ctx.guard("a", || Ok(())), 0);
        assert_eq!(ctx.guard("b", || Err(Error("too big".into()))), 1);
        assert_eq!(ctx.guard("c", || panic!("oh")), 1);
        assert_eq!(ctx.take_error().as_deref(), Some("b: too big"));
        assert_eq!(ctx.guard("c", || panic!("oh")), 1);
        assert_eq!(ctx.take_error().as_deref(), Some("c: internal error: oh"));
    }
}
