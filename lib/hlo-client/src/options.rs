//! How programs are compiled.

use hlo_custom_call::Registry;
use hlo_passes::Pipeline;
use std::sync::Arc;

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
    pub(crate) interpreted: Registry,
    #[cfg(feature = "codegen")]
    pub(crate) compiled: Registry,
}

impl CustomCalls {
    /// The targets of a registry, and LAPACK's routines after them.
    pub fn new(registry: Registry) -> Self {
        #[cfg(feature = "codegen")]
        let compiled = {
            let mut registry = registry.clone();
            registry.add(hlo_lapack::LAPACK);
            registry
        };
        let mut interpreted = registry;
        interpreted.add(hlo_eval::lapack::LAPACK);
        Self {
            interpreted,
            #[cfg(feature = "codegen")]
            compiled,
        }
    }
}

impl Default for CustomCalls {
    /// Those that are built in, and LAPACK's routines.
    fn default() -> Self {
        Self::new(Registry::new())
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
            #[cfg(feature = "codegen")]
            debug_info: None,
        }
    }
}
