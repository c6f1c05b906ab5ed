//! Defaults of compile options in this process.

use hlo_ir::program::{CompileOptions, Engine};

/// The engines of this build. The first one is the default.
pub const ENGINES: &[Engine] =
    if cfg!(feature = "codegen") { &[Engine::Compiled, Engine::Interpreted] } else { &[Engine::Interpreted] };

/// Returns the engine that runs the program.
pub(crate) fn engine(options: &CompileOptions) -> Engine {
    options.engine.unwrap_or(ENGINES[0])
}

/// Returns the maximum number of bytes that a program may use.
pub(crate) fn memory_limit(options: &CompileOptions) -> u64 {
    #[cfg(feature = "codegen")]
    let there_are = || hlo_codegen::CompileOptions::default().memory_limit;
    #[cfg(not(feature = "codegen"))]
    let there_are = || hlo_eval::Options::default().max_bytes as u64;
    options.memory_limit.unwrap_or_else(there_are)
}
