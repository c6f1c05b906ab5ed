//! How programs are compiled.

use hlo_custom_call::Registry;
use hlo_passes::Pipeline;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Machine code, by MLIR and LLVM.
    Compiled,
    /// The interpreter: slow, and written to be held against the semantics.
    Interpreted,
}

impl Default for Engine {
    /// Machine code, where this build has it.
    fn default() -> Self {
        if cfg!(feature = "codegen") { Engine::Compiled } else { Engine::Interpreted }
    }
}

/// The passes that run before a program is compiled.
#[derive(Clone, Default)]
pub enum Passes {
    /// Those that make programs fast (`cpu` in docs/passes.md) for compiled code, none for the interpreter.
    #[default]
    Default,
    /// None but what code generation needs.
    Lowering,
    /// These, and after them what code generation needs.
    These(Arc<Pipeline>),
}

/// The targets of custom calls for each engine: the same ones, but for LAPACK's routines, which each engine has of its own, so
/// that there is something to compare.
#[derive(Clone, Debug)]
pub struct CustomCalls {
    /// Tells those with other targets apart; clones have the same ones.
    number: u64,
    pub(crate) interpreted: Registry,
    #[cfg(feature = "codegen")]
    pub(crate) compiled: Registry,
}

impl CustomCalls {
    /// The targets of a registry, and LAPACK's routines after them. Programs that were compiled with others are not taken from
    /// a client's cache, so who compiles often keeps these and clones them.
    pub fn new(registry: Registry) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(1);
        Self::numbered(registry, MADE.fetch_add(1, Ordering::Relaxed))
    }

    fn numbered(registry: Registry, number: u64) -> Self {
        #[cfg(feature = "codegen")]
        let compiled = {
            let mut registry = registry.clone();
            registry.add(hlo_lapack::LAPACK);
            registry
        };
        let mut interpreted = registry;
        interpreted.add(hlo_eval::lapack::LAPACK);
        Self {
            number,
            interpreted,
            #[cfg(feature = "codegen")]
            compiled,
        }
    }

    /// What tells them apart.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl Default for CustomCalls {
    /// Those that are built in, and LAPACK's routines.
    fn default() -> Self {
        Self::numbered(Registry::new(), 0)
    }
}

/// How a program is compiled.
#[derive(Clone)]
pub struct CompileOptions {
    /// What computes.
    pub engine: Engine,
    /// The passes before.
    pub passes: Passes,
    /// Threads to compile and to run on; 0 for all that this process may use. The interpreter takes one.
    pub threads: usize,
    /// What random numbers follow from, besides the instruction that draws them (see [`hlo_ir::streams`]).
    pub seed: u64,
    /// The bytes that parameters, results and all between them may take together.
    pub memory_limit: u64,
    /// The targets of custom calls.
    pub custom_calls: CustomCalls,
    /// Whether results take over the memory of parameters as the module's `input_output_alias` says, if the arguments are given
    /// away ([`crate::Argument::Donated`]). In a run to which they are not given, compiled code copies them.
    pub donation: bool,
    /// Whether LLVM optimises. Without, compilation takes a fraction of the time, and the program several times as long.
    pub optimize: bool,
    /// The file that the module was read from, if debuggers and profilers are to be told of the code.
    #[cfg(feature = "codegen")]
    pub debug_info: Option<Arc<hlo_codegen::SourceFile>>,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            engine: Engine::default(),
            passes: Passes::default(),
            threads: 0,
            seed: 0,
            memory_limit: crate::client::memory(),
            custom_calls: CustomCalls::default(),
            donation: false,
            optimize: true,
            #[cfg(feature = "codegen")]
            debug_info: None,
        }
    }
}
