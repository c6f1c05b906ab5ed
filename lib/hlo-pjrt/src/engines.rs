//! Which engine runs a program: the interpreter at once, compiled code where it pays.
//!
//! LLVM takes some 40 ms for the smallest program, and JAX makes hundreds of tiny ones, most of which run a few times. So a program is
//! interpreted at first, and compiled beside its runs once they have taken a part of what compilation takes, by an estimate; a
//! program of which one run would take that long is compiled before the first. Both engines give the same bits where
//! docs/numerics.md promises that; so which one has a run depends on nothing else than the program and how often it ran.

use crate::estimate;
use crate::fault::{Fault, Result};
use crate::platform::Platform;
use crate::program::Program;
use hlo_client::{CompileOptions, ENGINES, Engine, Executable};
use hlo_ir::{Module, Op};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How programs are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Interpreted at first, compiled where it pays.
    #[default]
    Tiered,
    /// Always compiled.
    Compiled,
    /// Always interpreted.
    Interpreted,
}

impl Policy {
    /// The policy that an option names.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "tiered" => Some(Self::Tiered),
            "compiled" => Some(Self::Compiled),
            "interpreted" => Some(Self::Interpreted),
            _ => None,
        }
    }
}

/// Runs of together such a part of what compilation takes are interpreted before it is begun: the sooner it is over the more
/// runs gain by it. Compiled code runs after so many times as many.
const PART: u64 = 16;
const PARTS: u64 = 4;

/// A run that takes less is done on the caller's thread: handing it to another one takes a tenth of that.
const QUICK: Duration = Duration::from_micros(200);

/// A program of so many instructions is a function, not an operation that is done by itself.
const FUNCTION: usize = 64;

/// How long a caller is kept who says that it begins to wait, though it might do something else instead.
const SHORT: Duration = Duration::from_millis(5);

/// How deep computations may call each other in a run on the caller's thread, whose stack may be small.
const SHALLOW: usize = 16;

/// The engines of a program. Which one has the n-th run follows from the program and n, never from what a clock says: engines
/// may differ in last bits, and the same script has to give the same numbers each time.
pub struct Engines {
    first: Executable,
    better: OnceLock<Option<Executable>>,
    /// How many runs were begun.
    turns: AtomicU64,
    /// The run at which compilation is begun, where nobody waits for it, and the one from which on compiled code runs.
    compiled_at: Turn,
    compiled_from: Turn,
    /// What the last run took, in nanoseconds.
    last: AtomicU64,
    is_shallow: bool,
    too_large: Option<Fault>,
}

/// The number of a run of a program, in the order in which they were begun, from 0 on.
pub type Turn = u64;

impl Engines {
    /// Compiles a module by the policy of a platform.
    ///
    /// # Errors
    /// As [`hlo_client::Client::compile`].
    pub fn new(platform: &Platform, module: &Module, options: &CompileOptions) -> Result<Self> {
        let (expected, price) = (estimate::interpreted_run(module), estimate::compilation(module));
        let can_compile = ENGINES.contains(&Engine::Compiled);
        // Whoever calls a function of some size knows that its first call takes long, and measures the second one.
        let least = if estimate::instructions(module) >= FUNCTION { QUICK } else { price };
        let first = match platform.engines {
            Policy::Interpreted => Engine::Interpreted,
            // Functions of the caller's that partition are called once.
            Policy::Tiered if can_compile && is_partitioned_by_caller(module, options) => Engine::Compiled,
            Policy::Tiered if !can_compile || expected < least => Engine::Interpreted,
            Policy::Compiled | Policy::Tiered => Engine::Compiled,
        };
        let is_final = !can_compile || first == Engine::Compiled || platform.engines == Policy::Interpreted;
        let (compiled_at, compiled_from) = if is_final { NEVER } else { turns(price, expected) };
        let options = CompileOptions { engine: Some(first), ..options.clone() };
        let (first, too_large) = match platform.client.compile(module, &options) {
            // What it would take can be asked all the same.
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
            is_shallow: depth(module) <= SHALLOW,
            too_large,
        })
    }

    /// What runs the program best now.
    pub fn best(&self) -> &Executable {
        self.better.get().and_then(Option::as_ref).unwrap_or(&self.first)
    }

    /// Begins a run.
    ///
    /// # Errors
    /// The program takes more memory than there is.
    pub fn turn(&self) -> Result<Turn> {
        match &self.too_large {
            None => Ok(self.turns.fetch_add(1, Ordering::Relaxed)),
            Some(fault) => Err(fault.clone()),
        }
    }

    /// True if a run is over sooner than another thread has begun it.
    pub fn is_quick(&self, turn: Turn) -> bool {
        self.is_over_in(QUICK, turn)
    }

    /// True if a run that another thread has not begun may be done by whoever begins to wait for it.
    pub fn is_short(&self, turn: Turn) -> bool {
        self.is_over_in(SHORT, turn)
    }

    fn is_over_in(&self, time: Duration, turn: Turn) -> bool {
        self.is_shallow
            && self.last.load(Ordering::Relaxed) < nanoseconds(time)
            && (turn < self.compiled_from || self.better.get().is_some())
    }

    /// True for the run at which [`Engines::compiled`] is to be called, where nobody waits for it.
    pub fn pays(&self, turn: Turn) -> bool {
        turn == self.compiled_at
    }

    /// What makes a run, and is compiled before it if need be.
    pub fn of(&self, turn: Turn, program: &Program) -> &Executable {
        match turn < self.compiled_from {
            true => &self.first,
            false => self.compiled(program).unwrap_or(&self.first),
        }
    }

    /// Compiles the program for the runs that come after. What can't be compiled stays interpreted.
    pub fn compiled(&self, program: &Program) -> Option<&Executable> {
        let compile = || {
            let options = CompileOptions { engine: Some(Engine::Compiled), ..program.options.clone() };
            program.platform.client.compile(&program.module, &options).ok()
        };
        self.better.get_or_init(compile).as_ref()
    }

    /// Notes what a run took.
    pub fn note(&self, time: Duration) {
        self.last.store(nanoseconds(time), Ordering::Relaxed);
    }
}

/// Of a program that is never compiled after its first run.
const NEVER: (Turn, Turn) = (Turn::MAX, Turn::MAX);

/// The run at which compilation is begun beside the runs, and the one from which on compiled code runs.
fn turns(price: Duration, expected: Duration) -> (Turn, Turn) {
    if expected >= QUICK {
        // Who runs it twice runs it often, and whoever looks what a run takes runs it once before.
        return (Turn::MAX, 1);
    }
    let begin = (nanoseconds(price) / PART / nanoseconds(expected).max(1)).max(1);
    (begin, PARTS * begin)
}

/// True if the caller has functions that partition calls of a module.
pub fn is_partitioned_by_caller(module: &Module, options: &CompileOptions) -> bool {
    options.spmd_partitioning && hlo_passes::has_custom_partitions(module, &crate::partitioners::Partitioners)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// How deep computations call each other.
fn depth(module: &Module) -> usize {
    let mut depths = std::collections::HashMap::new();
    let mut deepest = 0;
    // Those that are called come first.
    for computation in module.computations_post_order() {
        let called =
            module[computation].instructions().iter().flat_map(|&i| module[i].op.called_computations());
        let depth = called.filter_map(|c| depths.get(&c).copied()).max().unwrap_or(0usize) + 1;
        depths.insert(computation, depth);
        deepest = deepest.max(depth);
    }
    deepest
}

/// Whom a program calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Calls {
    /// Nobody.
    #[default]
    Nobody,
    /// Handlers of custom calls.
    Handlers,
    /// Functions of Python.
    Python,
}

impl Calls {
    /// Whom a module calls.
    pub fn of(module: &Module) -> Self {
        let instructions = module.computations().flat_map(|c| module[c].instructions());
        let calls = instructions.map(|&i| match &module[i].op {
            Op::CustomCall(call) => {
                match hlo_custom_call::CALLBACKS.iter().any(|&name| call.custom_call_target == *name) {
                    true => Self::Python,
                    false => Self::Handlers,
                }
            }
            _ => Self::Nobody,
        });
        calls.max().unwrap_or_default()
    }
}

/// Compiles a program beside its runs.
pub fn compile_later(program: &Arc<Program>) {
    let later = Arc::downgrade(program);
    program.platform.pool.push(move || {
        if let Some(program) = later.upgrade() {
            program.engines.compiled(&program);
        }
    });
}
