//! The context that the host creates and that compiled code passes to every runtime function: the threads, the
//! error slot and the other end of transfers.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};

use hlo_communicator::{Communicator, Failure};

use crate::custom_call::CustomCalls;
use crate::feed::Transfers;
use crate::pool::Pool;

/// Why a runtime function failed, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// The threads and settings of one or more runs, and the first error of the current one.
///
/// A context may be used from several threads, and contexts of as many threads share them: the loops that go on at a time
/// have the threads together.
pub struct Context {
    common: Arc<Common>,
    /// The seed of random numbers.
    seed: u64,
    error: Mutex<Option<String>>,
    transfers: Mutex<Option<&'static mut dyn Transfers>>,
    watch: Option<&'static WatchWords>,
    /// The words where nobody watches.
    unwatched: WatchWords,
    communicator: Option<&'static dyn Communicator>,
    /// The number of the collective that failed, and why.
    failed_collective: Mutex<Option<(usize, Failure)>>,
}

/// What compiled code shares with whoever watches it from another thread: not 0 once it shall end, and where it is.
pub type WatchWords = [AtomicU32; 2];

/// Values by their types.
type Kept = Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>;

/// What all runs have in common.
struct Common {
    pool: Option<Arc<Pool>>,
    threads: usize,
    kept: Kept,
    custom_calls: Option<Arc<dyn CustomCalls>>,
}

/// The most threads of a context: a process can't start without end, and running out ends it.
pub const MAX_THREADS: usize = 1024;

/// The number of threads that a run uses unless told otherwise: the cores that this process may use, by its
/// affinity mask and by its cgroup's CPU quota.
pub fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

impl Context {
    /// A context that computes on `threads` threads, the caller's included; 0 means [`default_threads`], more than
    /// [`MAX_THREADS`] as many as that.
    pub fn new(threads: usize) -> Context {
        Context::make(threads, None)
    }

    /// As [`Context::new`], with what makes the program's custom calls.
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

    /// Calls `run` with a context on the same threads, for one run of a program: it has an error slot of its own,
    /// `transfers` at the other end of what the program reads and writes, is watched by these words, if any, and exchanges
    /// data with other devices by `communicator`, if there are any.
    pub fn with_transfers<R>(
        &self,
        transfers: &mut dyn Transfers,
        watch: Option<&WatchWords>,
        communicator: Option<&dyn Communicator>,
        run: impl FnOnce(&Context) -> R,
    ) -> R {
        // SAFETY: only the context made here holds the reference; it is gone when this returns, and `run` can't keep
        // what it borrows.
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

    /// One call at the other end of a transfer: 0, or 1 with its own message recorded.
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

    /// The number of the device that this run is of.
    pub fn device(&self) -> usize {
        self.communicator.map_or(0, Communicator::device)
    }

    /// A collective: 0, or 1 with its failure recorded.
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

    /// Takes the number of the collective that failed since the last call, and why.
    pub fn take_failed_collective(&self) -> Option<(usize, Failure)> {
        self.failed_collective.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The same context with another seed of random numbers than 0.
    pub fn with_seed(self, seed: u64) -> Context {
        Context { seed, ..self }
    }

    /// The seed of random numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The number of threads, the caller's included.
    pub fn threads(&self) -> usize {
        self.common.threads
    }

    /// What makes custom calls, if the program has any.
    pub fn custom_calls(&self) -> Option<&dyn CustomCalls> {
        self.common.custom_calls.as_deref()
    }

    /// What a library of the runtime keeps from call to call, for all runs: one value of each type, the default one at
    /// first.
    pub fn kept<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut kept = self.common.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let value = kept.entry(TypeId::of::<T>()).or_insert_with(|| Arc::<T>::default());
        value.clone().downcast().unwrap_or_default()
    }

    /// Takes the message of the first failure since the last call.
    pub fn take_error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Records a failure; the first one since [`Context::take_error`] is kept.
    pub fn set_error(&self, message: impl Into<String>) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| message.into());
    }

    /// Calls `body` for each of `0..chunks`, in parallel and in no particular order.
    pub fn for_each(&self, chunks: usize, body: impl Fn(usize) + Sync) {
        match &self.common.pool {
            Some(pool) => pool.run(chunks, &body),
            None => (0..chunks).for_each(body),
        }
    }

    /// As `for_each` for bodies that can fail.
    ///
    /// # Errors
    /// The error of the lowest chunk for which `body` fails, so that the message does not depend on timing.
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

    /// Runs the body of an exported function: 0 when it succeeds, else 1 with the message recorded. A panic is
    /// a failure as well; it never passes into compiled code.
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

/// The body of a compiled loop: does the iterations `begin..end` on the buffers that `args` points to.
pub type ParallelBody = unsafe extern "C" fn(args: *const *mut u8, begin: i64, end: i64);

/// Raw pointers that a loop's chunks share; the chunks write disjoint parts.
#[derive(Clone, Copy)]
pub struct Shared<T>(T);

impl<T: Copy> Shared<T> {
    /// # Safety
    /// What is done through the pointer on several threads at once must not conflict.
    pub unsafe fn new(value: T) -> Self {
        Shared(value)
    }

    /// The value.
    pub fn get(&self) -> T {
        self.0
    }
}

// SAFETY: the promise made to `Shared::new`.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: the promise made to `Shared::new`.
unsafe impl<T> Sync for Shared<T> {}

/// Calls `body(args, begin, end)` for consecutive chunks of `grain` iterations (the last may be shorter) that
/// cover `0..iterations`, in parallel, and returns when all are done.
///
/// The chunks depend on `iterations` and `grain` only, so a body that treats its ends specially gives the same
/// bits on any number of threads. A `grain` below 1 counts as 1; no call is made for `iterations` below 1.
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
    // SAFETY: the caller's promise about `body` and `args`.
    let args = unsafe { Shared::new(args) };
    let chunk = |i: usize| {
        let begin = i as u64 * grain;
        let end = iterations.min(begin.saturating_add(grain));
        // SAFETY: the caller's promise; the ranges are disjoint.
        unsafe { body(args.get(), begin as i64, end as i64) }
    };
    if chunks == 1 {
        return chunk(0);
    }
    // SAFETY: `ctx` is live by the caller's promise.
    unsafe { &*ctx }.for_each(chunks, chunk);
}

/// The words that compiled code looks at and writes while it runs.
///
/// # Safety
/// `ctx` must point to a live [`Context`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_watch(ctx: *const Context) -> *const AtomicU32 {
    // SAFETY: the caller's promise.
    let ctx = unsafe { &*ctx };
    ctx.watch.unwrap_or(&ctx.unwatched).as_ptr()
}

/// A compiled computation: reads what `params` lists, writes what `outputs` lists, and returns 0, or 1 with a message in
/// the context.
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
/// The arguments are what `function` takes.
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
    // SAFETY: the caller's promise.
    unsafe { function(ctx, params, outputs, arena, constants, counters) }
}

/// Records that compiled code failed, with the `len` bytes of UTF-8 at `message` as the reason.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `message` to `len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_fail(ctx: *const Context, message: *const u8, len: i64) {
    let len = usize::try_from(len).unwrap_or(0);
    let bytes: &[u8] = match len {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(message, len) },
    };
    // SAFETY: the caller's promise.
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
