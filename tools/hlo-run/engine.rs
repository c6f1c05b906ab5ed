//! The two ways to a result: the interpreter, and compiled code.

use hlo_ir::diag::Source;
use hlo_ir::{Literal, Module};
use hlo_tools_common::Failure;
use hlo_tools_common::memory::available_bytes;

/// Runs the interpreter. `inputs` are the flattened parameters.
pub fn interpret(module: &Module, source: &Source, inputs: &[Literal]) -> Result<Literal, Failure> {
    let mut leaves = inputs.iter().cloned();
    let parameters = module.parameters(module.entry());
    let arguments = parameters.iter().map(|&p| Literal::from_leaves(&module[p].shape, &mut leaves));
    let arguments: Option<Vec<Literal>> = arguments.collect();
    let arguments = arguments.ok_or_else(|| Failure::Message("too few inputs".to_string()))?;
    let options = hlo_eval::Options { max_bytes: available_bytes(), ..hlo_eval::Options::default() };
    hlo_eval::evaluate(module, &arguments, &options)
        .map_err(|e| Failure::diags(source, vec![e.to_diag(module)]))
}

#[cfg(feature = "codegen")]
pub use crate::compiled::{compile, emit};
#[cfg(not(feature = "codegen"))]
pub use without_codegen::{compile, emit};

/// What stands in for compiled execution where it was not built in.
#[cfg(not(feature = "codegen"))]
mod without_codegen {
    use crate::args::Emit;
    use hlo_ir::diag::Source;
    use hlo_ir::{Literal, Module};
    use hlo_tools_common::Failure;
    use std::time::Duration;

    /// A compiled module: there are none.
    pub struct Compiled {
        /// The time from HLO to machine code.
        pub codegen: Option<Duration>,
        /// The time to link it into the process.
        pub jit: Option<Duration>,
        /// The bytes of the arena for temporary values.
        pub arena: Option<usize>,
        /// The number of threads that it runs on.
        pub threads: usize,
    }

    fn not_built_in() -> Failure {
        Failure::Message(
            "compiled execution was not built in; use --engine=eval, or build with the feature codegen"
                .into(),
        )
    }

    /// Compiles a module for this computer.
    pub fn compile(_module: &Module, _source: &Source, _threads: usize) -> Result<Compiled, Failure> {
        Err(not_built_in())
    }

    impl Compiled {
        /// Takes the flattened parameters.
        pub fn load(&mut self, _inputs: &[Literal]) -> Result<(), Failure> {
            Err(not_built_in())
        }

        /// Runs it.
        pub fn run(&mut self) -> Result<(), Failure> {
            Err(not_built_in())
        }

        /// The result of the last run.
        pub fn result(self) -> Result<Literal, Failure> {
            Err(not_built_in())
        }
    }

    /// A stage of the compilation as text or bytes.
    pub fn emit(_module: &Module, _source: &Source, _stage: Emit) -> Result<Vec<u8>, Failure> {
        Err(not_built_in())
    }
}
