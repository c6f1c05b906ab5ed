//! Which engine runs a program: the interpreter at once, compiled code where it pays.
//!
//! LLVM takes some 40 ms for the smallest program, and JAX makes hundreds of tiny ones, most of which run a few times. So a program is
//! interpreted at first. Once it has taken as long as its compilation is thought to take, it is compiled beside the runs; a
//! program of which one run would take that long is compiled before the first. Both engines give the same bits where
//! docs/numerics.md promises that.

use crate::fault::Result;
use crate::platform::Platform;
use hlo_client::{CompileOptions, ENGINES, Engine, Executable};
use hlo_ir::{Module, Op};
use hlo_passes::analysis::ModuleCost;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

/// What a compilation by LLVM takes, whatever the program, and for each instruction.
const COMPILATION: Duration = Duration::from_millis(50);
const COMPILATION_OF_ONE: Duration = Duration::from_micros(500);

/// Such a part of what compilation takes may quick runs take before it is begun: it is done on another thread, and the sooner it is
/// over the more runs gain by it.
const PART: u32 = 8;

/// A run that takes less is done on the caller's thread: handing it to another one takes a tenth of that.
const QUICK: Duration = Duration::from_micros(200);

/// How deep computations may call each other in a run on the caller's thread, whose stack may be small.
const SHALLOW: usize = 16;

/// The engines of a program.
pub struct Engines {
    first: Executable,
    better: OnceLock<Option<Executable>>,
    is_asked: AtomicBool,
    /// What all interpreted runs took together, and what the last run took, in nanoseconds.
    spent: AtomicU64,
    last: AtomicU64,
    /// What quick runs have to take together before compilation is begun.
    price: Duration,
    /// True unless all runs are thought to be quick.
    may_be_slow: bool,
    is_shallow: bool,
}

impl Engines {
    /// Compiles a module by the policy of a platform.
    ///
    /// # Errors
    /// As [`hlo_client::Client::compile`].
    pub fn new(platform: &Platform, module: &Module, options: &CompileOptions) -> Result<Self> {
        let compile = |engine| {
            platform.client.compile(module, &CompileOptions { engine: Some(engine), ..options.clone() })
        };
        let instructions: usize = module.computations().map(|c| module[c].instructions().len()).sum();
        let price = COMPILATION + COMPILATION_OF_ONE * u32::try_from(instructions).unwrap_or(u32::MAX);
        let can_compile = ENGINES.contains(&Engine::Compiled);
        let expected = interpreted_time(module, instructions);
        let first = match platform.engines {
            Policy::Interpreted => Engine::Interpreted,
            // Functions of the caller's that partition are called once.
            Policy::Tiered if can_compile && is_partitioned_by_caller(module, options) => Engine::Compiled,
            Policy::Tiered if !can_compile || expected < price => Engine::Interpreted,
            Policy::Compiled | Policy::Tiered => Engine::Compiled,
        };
        let is_final = !can_compile || first == Engine::Compiled || platform.engines == Policy::Interpreted;
        Ok(Self {
            first: compile(first)?,
            better: if is_final { OnceLock::from(None) } else { OnceLock::new() },
            is_asked: AtomicBool::new(is_final),
            spent: AtomicU64::new(0),
            last: AtomicU64::new(nanoseconds(expected)),
            price: price / PART,
            may_be_slow: expected >= QUICK / 4,
            is_shallow: depth(module) <= SHALLOW,
        })
    }

    /// What runs the program best now.
    pub fn best(&self) -> &Executable {
        self.better.get().and_then(Option::as_ref).unwrap_or(&self.first)
    }

    /// True if a run is over sooner than another thread has begun it.
    pub fn is_quick(&self) -> bool {
        self.is_shallow && self.last.load(Ordering::Relaxed) < nanoseconds(QUICK)
    }

    /// True before the second run of a program whose runs are not quick: who is run twice is run often, and whoever looks what a run
    /// takes runs it once before. It is up to the caller to call [`Engines::compile`] then.
    pub fn pays_at_once(&self) -> bool {
        self.may_be_slow
            && self.spent.load(Ordering::Relaxed) > 0
            && self.last.load(Ordering::Relaxed) >= nanoseconds(QUICK)
            && !self.is_asked.load(Ordering::Relaxed)
            && !self.is_asked.swap(true, Ordering::Relaxed)
    }

    /// Notes what a run took. True the first time that compilation pays: it is up to the caller then to call
    /// [`Engines::compile`] where nobody waits for it.
    pub fn note(&self, time: Duration) -> bool {
        self.last.store(nanoseconds(time), Ordering::Relaxed);
        if self.is_asked.load(Ordering::Relaxed) {
            return false;
        }
        let spent = self.spent.fetch_add(nanoseconds(time), Ordering::Relaxed);
        spent.saturating_add(nanoseconds(time)) >= nanoseconds(self.price)
            && !self.is_asked.swap(true, Ordering::Relaxed)
    }

    /// Compiles the program for the runs that come after. What can't be compiled stays interpreted.
    pub fn compile(&self, platform: &Platform, module: &Module, options: &CompileOptions) {
        let options = CompileOptions { engine: Some(Engine::Compiled), ..options.clone() };
        let compiled = platform.client.compile(module, &options).ok();
        // Nobody else sets it: it is asked for once.
        let _ = self.better.set(compiled);
    }
}

/// True if the caller has functions that partition calls of a module.
pub fn is_partitioned_by_caller(module: &Module, options: &CompileOptions) -> bool {
    options.spmd_partitioning && hlo_passes::has_custom_partitions(module, &crate::partitioners::Partitioners)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// About what one run takes in the interpreter. Loops whose iterations are not known are taken for long ones.
fn interpreted_time(module: &Module, instructions: usize) -> Duration {
    let cost = ModuleCost::of(module);
    let total = cost.total(module);
    let loops = if cost.unknown_loops.is_empty() { 1.0 } else { 100.0 };
    let elements = total.flops as f64 + 10.0 * total.transcendentals as f64 + 0.5 * total.bytes as f64;
    let calls: u64 =
        cost.runs.iter().map(|&(c, n)| n.saturating_mul(module[c].instructions().len() as u64)).sum();
    let seconds = (elements * 2e-9 + calls.max(instructions as u64) as f64 * 5e-7) * loops;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
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

/// What compiles a program beside its runs.
pub fn compile_later(program: &Arc<crate::program::Program>) {
    let later = Arc::downgrade(program);
    program.platform.pool.push(move || {
        if let Some(program) = later.upgrade() {
            program.engines.compile(&program.platform, &program.module, &program.options);
        }
    });
}
