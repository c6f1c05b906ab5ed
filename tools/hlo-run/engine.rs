//! The two ways to a result: the interpreter, and compiled code where it is built in.

use hlo_ir::diag::Source;
use hlo_ir::{Literal, Module};
use hlo_tools_common::Failure;
use hlo_tools_common::memory::available_bytes;

#[cfg(feature = "codegen")]
pub use crate::compiled::{compile, emit};
#[cfg(not(feature = "codegen"))]
pub use missing::{compile, emit};

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

#[cfg(not(feature = "codegen"))]
mod missing {
    use crate::args::Emit;
    use crate::timing::Codegen;
    use hlo_ir::diag::Source;
    use hlo_ir::{Literal, Module};
    use hlo_tools_common::Failure;

    /// Without code generation nothing is ever compiled.
    pub enum Compiled {}

    fn not_built_in() -> Failure {
        Failure::Message(
            "compiled execution was not built in: use --engine=eval, or build with the feature `codegen`"
                .into(),
        )
    }

    /// Says that compiled execution was not built in.
    pub fn compile(_: &Module, _: &Source, _: usize, _: &[Literal]) -> Result<Compiled, Failure> {
        Err(not_built_in())
    }

    impl Compiled {
        /// Never called.
        pub fn run(&mut self) -> Result<(), Failure> {
            match *self {}
        }

        /// Never called.
        pub fn codegen(&self) -> Codegen {
            match *self {}
        }

        /// Never called.
        pub fn into_result(self) -> Result<Literal, Failure> {
            match self {}
        }
    }

    /// The HLO after the passes; other stages were not built in.
    pub fn emit(module: &Module, _: &Source, stage: Emit) -> Result<Vec<u8>, Failure> {
        match stage {
            Emit::Hlo => {
                let options = hlo_ir::print::PrintOptions::default();
                Ok(hlo_ir::print::print_module(module, &options).into_bytes())
            }
            Emit::Mlir | Emit::LlvmDialect | Emit::Asm | Emit::Obj => Err(not_built_in()),
        }
    }
}
