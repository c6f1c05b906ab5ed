//! The choice of the engine for each run: the interpreter first, compiled code where it pays off.
//!
//! LLVM needs about 40 ms for the smallest program. JAX compiles hundreds of tiny programs, most of which run
//! only a few times. A program is therefore interpreted first. Compilation starts in the background once its
//! runs have taken a certain fraction of the estimated compile time. If a single run would take that long,
//! the program is compiled before its first run. Both engines return the same bits where docs/numerics.md
//! promises that. The engine of a run therefore depends only on the program and the number of earlier runs.

use crate::estimate;
use crate::fault::{Fault, Result};
use crate::platform::Platform;
pub use crate::policy::Policy;
use hlo_client::{CompileOptions, ENGINES, Engine, Executable};
use hlo_ir::{Module, Op};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Compilation starts once interpreted runs have taken this fraction (1/16) of the estimated compile time. An
/// early start makes compiled code available to more runs.
const COMPILE_AFTER_FRACTION: u64 = 16;
/// Runs use compiled code from this multiple of the run at which compilation starts.
const SWITCH_AFTER_FACTOR: u64 = 4;

/// Runs expected to take less than this time execute on the calling thread. Handing a run to another thread
/// takes a tenth of this time.
const MAX_CALLING_THREAD_TIME: Duration = Duration::from_micros(200);

/// Minimum number of instructions of a function. A smaller program is a single operation that JAX runs by
/// itself.
const MIN_FUNCTION_INSTRUCTIONS: usize = 64;

/// Pending runs expected to take less than this time execute on the thread that is about to wait for them.
/// That thread could do something else instead, so the time is short.
const MAX_WAITING_THREAD_TIME: Duration = Duration::from_millis(5);

/// Maximum call depth of a computation that runs on the calling thread, whose stack may be small.
const MAX_CALL_DEPTH: usize = 16;

/// The engines of a program. The engine of a run depends only on the program and the number of the run, never
/// on measured times: engines may differ in the last bits, and the same script must return the same numbers
/// each time.
pub struct Engines {
    first: Executable,
    better: OnceLock<Option<Executable>>,
    /// Number of runs that were started.
    turns: AtomicU64,
    /// The run at which background compilation starts, and the first run that uses compiled code.
    compiled_at: RunIndex,
    compiled_from: RunIndex,
    /// Duration of the last run, in nanoseconds.
    last: AtomicU64,
    is_shallow: bool,
    too_large: Option<Fault>,
}

/// The number of a run of a program, in the order of their starts, from 0.
pub type RunIndex = u64;

impl Engines {
    /// Compiles a module by the policy of a platform.
    ///
    /// # Errors
    /// As [`hlo_client::Client::compile`].
    pub fn new(platform: &Platform, module: &Module, options: &CompileOptions) -> Result<Self> {
        let (expected, price) = (estimate::interpreted_run(module), estimate::compilation(module));
        let can_compile = ENGINES.contains(&Engine::Compiled);
        // Callers of a large function expect its first call to take long, and measure the second one.
        let least = if estimate::instructions(module) >= MIN_FUNCTION_INSTRUCTIONS {
            MAX_CALLING_THREAD_TIME
        } else {
            price
        };
        let first = match platform.engines {
            Policy::Interpreted => Engine::Interpreted,
            // The partitioning functions of the caller must be called only once.
            Policy::Tiered if can_compile && is_partitioned_by_caller(module, options) => Engine::Compiled,
            Policy::Tiered if !can_compile || expected < least => Engine::Interpreted,
            Policy::Compiled | Policy::Tiered => Engine::Compiled,
        };
        let is_final = !can_compile || first == Engine::Compiled || platform.engines == Policy::Interpreted;
        let (compiled_at, compiled_from) =
            if is_final { NEVER_COMPILED } else { compilation_runs(price, expected) };
        let options = CompileOptions { engine: Some(first), ..options.clone() };
        let (first, too_large) = match platform.client.compile(module, &options) {
            // The caller can still ask for the memory requirements of a program that is too large to run.
            Err(error) if error.is_memory() => {
                let unlimited = CompileOptions { memory_limit: Some(u64::MAX), ..options };
                (platform.client.compile(module, &unlimited)?, Some(Fault::from(error)))
            }
            compiled => (compiled?, None),
        };
        Ok(Self {
            first,
            better: OnceLock::new(),
            turns: AtomicU64::new(0),
            compiled_at,
            compiled_from,
            last: AtomicU64::new(nanoseconds(expected)),
            is_shallow: depth(module) <= MAX_CALL_DEPTH,
            too_large,
        })
    }

    /// Returns the best executable available now.
    pub fn best(&self) -> &Executable {
        self.better.get().and_then(Option::as_ref).unwrap_or(&self.first)
    }

    /// Starts a run and returns its number.
    ///
    /// # Errors
    /// The program needs more memory than is available.
    pub fn begin_run(&self) -> Result<RunIndex> {
        match &self.too_large {
            None => Ok(self.turns.fetch_add(1, Ordering::Relaxed)),
            Some(fault) => Err(fault.clone()),
        }
    }

    /// Returns whether a run is expected to end before another thread could start it.
    pub fn is_quick(&self, turn: RunIndex) -> bool {
        self.is_over_in(MAX_CALLING_THREAD_TIME, turn)
    }

    /// Returns whether a pending run may execute on the thread that is about to wait for it.
    pub fn is_short(&self, turn: RunIndex) -> bool {
        self.is_over_in(MAX_WAITING_THREAD_TIME, turn)
    }

    fn is_over_in(&self, time: Duration, turn: RunIndex) -> bool {
        self.is_shallow
            && self.last.load(Ordering::Relaxed) < nanoseconds(time)
            && (turn < self.compiled_from || self.better.get().is_some())
    }

    /// Returns whether background compilation starts at this run.
    pub fn starts_compilation(&self, turn: RunIndex) -> bool {
        turn == self.compiled_at
    }

    /// Returns the executable for a run. Compiles the program first if necessary: its module, with the options
    /// of [`Engines::new`].
    pub fn of(
        &self,
        turn: RunIndex,
        platform: &Platform,
        module: &Module,
        options: &CompileOptions,
    ) -> &Executable {
        if turn < self.compiled_from {
            return &self.first;
        }
        self.compiled(platform, module, options).unwrap_or(&self.first)
    }

    /// Returns the compiled program. Compiles it if necessary. Returns `None` if the program cannot be
    /// compiled, and it stays interpreted.
    pub fn compiled(
        &self,
        platform: &Platform,
        module: &Module,
        options: &CompileOptions,
    ) -> Option<&Executable> {
        let compile = || {
            let options = CompileOptions { engine: Some(Engine::Compiled), ..options.clone() };
            platform.client.compile(module, &options).ok()
        };
        self.better.get_or_init(compile).as_ref()
    }

    /// Records the duration of a run.
    pub fn note(&self, time: Duration) {
        self.last.store(nanoseconds(time), Ordering::Relaxed);
    }
}

/// The runs of a program that is never compiled after its first run.
const NEVER_COMPILED: (RunIndex, RunIndex) = (RunIndex::MAX, RunIndex::MAX);

/// Returns the run at which background compilation starts and the first run that uses compiled code.
fn compilation_runs(price: Duration, expected: Duration) -> (RunIndex, RunIndex) {
    if expected >= MAX_CALLING_THREAD_TIME {
        // A program that runs twice is expected to run often. Callers that measure a run execute the program
        // once before.
        return (RunIndex::MAX, 1);
    }
    let begin = (nanoseconds(price) / COMPILE_AFTER_FRACTION / nanoseconds(expected).max(1)).max(1);
    (begin, SWITCH_AFTER_FACTOR * begin)
}

/// Returns whether the caller has functions that partition calls of a module.
pub fn is_partitioned_by_caller(module: &Module, options: &CompileOptions) -> bool {
    options.spmd_partitioning && hlo_passes::has_custom_partitions(module, &crate::partitioners::Partitioners)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the maximum call depth of the computations.
fn depth(module: &Module) -> usize {
    let mut depths = std::collections::HashMap::new();
    let mut deepest = 0;
    // In post-order, called computations come before their callers.
    for computation in module.computations_post_order() {
        let called =
            module[computation].instructions().iter().flat_map(|&i| module[i].op.called_computations());
        let depth = called.filter_map(|c| depths.get(&c).copied()).max().unwrap_or(0usize) + 1;
        depths.insert(computation, depth);
        deepest = deepest.max(depth);
    }
    deepest
}

/// The functions outside the program that a program calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Calls {
    /// No functions.
    #[default]
    Nobody,
    /// Handlers of custom calls.
    Handlers,
    /// Python functions.
    Python,
}

impl Calls {
    /// Returns the functions that a module calls.
    pub fn of(module: &Module) -> Self {
        let instructions = module.computations().flat_map(|c| module[c].instructions());
        let calls = instructions.map(|&i| match &module[i].op {
            Op::CustomCall(call) => {
                if hlo_custom_call::CALLBACKS.iter().any(|&name| call.custom_call_target == *name) {
                    Self::Python
                } else {
                    Self::Handlers
                }
            }
            _ => Self::Nobody,
        });
        calls.max().unwrap_or_default()
    }
}
