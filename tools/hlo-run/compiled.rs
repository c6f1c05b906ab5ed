//! Compiled execution: buffers for the program's leaves from literals, and literals from its results.

use crate::args::Emit;
use crate::layout;
use hlo_codegen::{CompileOptions, Executable, Stage};
use hlo_ir::diag::Source;
use hlo_ir::{AlignedBytes, Literal, Module, Shape};
use hlo_tools_common::Failure;
use hlo_tools_common::memory::available_bytes;
use std::time::Duration;

/// A compiled module with the buffers that it runs on.
pub struct Compiled {
    /// The time from HLO to machine code.
    pub codegen: Option<Duration>,
    /// The time to link it into the process.
    pub jit: Option<Duration>,
    /// The bytes of the arena for temporary values.
    pub arena: Option<usize>,
    /// The number of threads that it runs on.
    pub threads: usize,
    executable: Executable,
    inputs: Vec<AlignedBytes>,
    outputs: Vec<AlignedBytes>,
}

/// Compiles a module for this computer.
pub fn compile(module: &Module, source: &Source, threads: usize) -> Result<Compiled, Failure> {
    let options = CompileOptions { threads, memory_limit: available_bytes() as u64 };
    let executable = hlo_codegen::compile(module, &options).map_err(|diags| Failure::diags(source, diags))?;
    let timings = executable.timings();
    Ok(Compiled {
        codegen: Some(timings.plan + timings.compile),
        jit: Some(timings.link),
        arena: usize::try_from(executable.arena_bytes()).ok(),
        threads: executable.threads(),
        executable,
        inputs: Vec::new(),
        outputs: Vec::new(),
    })
}

impl Compiled {
    /// Takes the flattened parameters and makes room for the results.
    pub fn load(&mut self, inputs: &[Literal]) -> Result<(), Failure> {
        let shapes = self.executable.parameters().iter().flat_map(Shape::leaves);
        self.inputs = inputs
            .iter()
            .zip(shapes)
            .map(|(literal, shape)| AlignedBytes::from_slice(&layout::to_buffer(literal, shape)))
            .collect();
        self.outputs = self
            .executable
            .result()
            .leaves()
            .into_iter()
            .map(|shape| {
                let bytes = shape.byte_size();
                let message = || Failure::Message(format!("out of memory: {bytes} bytes for a result"));
                AlignedBytes::try_zeroed(bytes).ok_or_else(message)
            })
            .collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Runs it on what was loaded.
    pub fn run(&mut self) -> Result<(), Failure> {
        let inputs: Vec<&[u8]> = self.inputs.iter().map(|b| &**b).collect();
        let mut outputs: Vec<&mut [u8]> = self.outputs.iter_mut().map(|b| &mut **b).collect();
        self.executable.run_into(&inputs, &mut outputs).map_err(|e| Failure::Message(e.to_string()))
    }

    /// The result of the last run.
    pub fn result(self) -> Result<Literal, Failure> {
        let shape = self.executable.result();
        let mut leaves =
            shape.leaves().into_iter().zip(self.outputs).map(|(shape, bytes)| match shape.as_array() {
                Some(array) => layout::from_buffer(bytes, array),
                None => Literal::token(),
            });
        let result = Literal::from_leaves(shape, &mut leaves);
        result.ok_or_else(|| Failure::Message("the program has not been run".to_string()))
    }
}

/// A stage of the compilation as text or bytes.
pub fn emit(module: &Module, source: &Source, stage: Emit) -> Result<Vec<u8>, Failure> {
    let stage = match stage {
        // The text after the passes is the caller's: it needs no compiler.
        Emit::Hlo | Emit::Mlir => Stage::Mlir,
        Emit::LlvmDialect => Stage::LlvmDialect,
        Emit::Asm => Stage::Asm,
        Emit::Obj => Stage::Obj,
    };
    hlo_codegen::emit(module, stage).map_err(|diags| Failure::diags(source, diags))
}
