//! Compiled execution: buffers from literals, runs, literals from buffers.

use crate::args::Emit;
use crate::engine::{Settings, at_opcodes};
use crate::timing::Codegen;
use crate::watchdog::Watchdog;
use hlo_codegen::{CompileOptions, Executable, RunError, SourceFile, Stage};
use hlo_ir::diag::{Diag, Source};
use hlo_ir::host::Host;
use hlo_ir::laid_out::{from_buffer, to_buffer};
use hlo_ir::{AlignedBytes, Literal, Module, Shape};
use hlo_tools_common::Failure;
use hlo_tools_common::memory::available_bytes;
use std::sync::Arc;

/// A compiled module with the buffers of one set of inputs.
pub struct Compiled<'a> {
    executable: Executable,
    /// What was compiled, for messages.
    module: &'a Module,
    source: &'a Source,
    /// The flattened parameters.
    inputs: &'a [Literal],
    /// Those of them whose layout is not row-major, laid out as the program wants them.
    laid_out: Vec<Option<AlignedBytes>>,
    /// Who ends runs that take too long.
    watchdog: Option<&'a Watchdog>,
    /// Reused from run to run: what is measured is the program, not the allocator.
    outputs: Vec<AlignedBytes>,
}

/// Compiles a module for this computer. `inputs` are the flattened parameters.
pub fn compile<'a>(
    module: &'a Module,
    source: &'a Source,
    settings: Settings<'a>,
    inputs: &'a [Literal],
) -> Result<Compiled<'a>, Failure> {
    // The limit counts the inputs too, which are there already.
    let held: usize = inputs.iter().map(|i| i.bytes().len()).sum();
    let memory_limit = available_bytes().saturating_add(held) as u64;
    let Settings { threads, seed, debug_info, custom_calls, watchdog } = settings;
    let options = CompileOptions {
        threads,
        memory_limit,
        custom_calls: custom_calls.compiled.clone(),
        seed,
        debug_info: debug_info.then(|| Arc::new(SourceFile::new(&source.name, &source.text))),
        ..Default::default()
    };
    let executable = hlo_codegen::compile(module, &options)
        .map_err(|d| Failure::diags(source, at_opcodes(d, module, source)))?;
    let shapes = executable.parameters().iter().flat_map(Shape::leaves);
    let laid_out = inputs.iter().zip(shapes).map(|(literal, shape)| to_buffer(literal, shape)).collect();
    let outputs = executable.result().leaves().into_iter().map(|leaf| {
        let no_memory = || Failure::Message(format!("there is no memory for a result of shape {leaf}"));
        AlignedBytes::try_zeroed(leaf.stored_size()).ok_or_else(no_memory)
    });
    let outputs = outputs.collect::<Result<_, _>>()?;
    Ok(Compiled { executable, module, source, inputs, laid_out, watchdog, outputs })
}

impl Compiled<'_> {
    /// Runs it once.
    pub fn run(&mut self, host: &mut dyn Host) -> Result<(), Failure> {
        let laid_out = self.laid_out.iter().zip(self.inputs);
        let inputs: Vec<&[u8]> =
            laid_out.map(|(bytes, literal)| bytes.as_deref().unwrap_or(literal.bytes())).collect();
        let mut outputs: Vec<&mut [u8]> = self.outputs.iter_mut().map(|o| &mut **o).collect();
        let (module, source) = (self.module, self.source);
        let running = self.watchdog.map(|w| w.run(module, source));
        let watch = running.as_ref().map(|r| &*r.watch);
        self.executable.run_watched(&inputs, &mut outputs, host, watch).map_err(|e| match e {
            RunError::Stopped { instruction } => match self.watchdog {
                Some(watchdog) => watchdog.ended(module, source, instruction),
                None => Failure::Message(e.to_string()),
            },
            RunError::Transfer { instruction, message } => {
                let label = format!("while running `{}`", module[instruction].name);
                let diag = Diag::error(message).at(module.span(instruction), label);
                Failure::diags(source, at_opcodes(vec![diag], module, source))
            }
            other => Failure::Message(other.to_string()),
        })
    }

    /// What the compilation took.
    pub fn codegen(&self) -> Codegen {
        let t = self.executable.timings();
        Codegen {
            total: t.plan + t.compile,
            plan: t.plan,
            mlir: t.mlir,
            llvm: t.llvm,
            link: t.link,
            arena: self.executable.arena_bytes(),
            threads: self.executable.threads(),
        }
    }

    /// The leaves of the result of the last run.
    pub fn into_leaves(self) -> Vec<Literal> {
        let leaves = self.executable.result().leaves();
        leaves
            .into_iter()
            .zip(self.outputs)
            .map(|(leaf, bytes)| match leaf.as_array() {
                Some(array) => from_buffer(bytes, array),
                None => Literal::token(),
            })
            .collect()
    }
}

/// A stage of the compilation as text or bytes.
pub fn emit(module: &Module, source: &Source, stage: Emit, debug_info: bool) -> Result<Vec<u8>, Failure> {
    let stage = match stage {
        Emit::Hlo => {
            let options = hlo_ir::print::PrintOptions::default();
            return Ok(hlo_ir::print::print_module(module, &options).into_bytes());
        }
        Emit::Mlir => Stage::Mlir,
        Emit::LlvmDialect => Stage::LlvmDialect,
        Emit::Llvm => Stage::Llvm,
        Emit::LlvmOpt => Stage::OptimizedLlvm,
        Emit::Asm => Stage::Asm,
        Emit::Obj => Stage::Obj,
    };
    let file = SourceFile::new(&source.name, &source.text);
    hlo_codegen::emit(module, stage, Some(&file), debug_info)
        .map_err(|d| Failure::diags(source, at_opcodes(d, module, source)))
}
