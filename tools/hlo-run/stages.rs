//! `--emit`: prints stages of the compilation.

use crate::args::{Args, Emit};
use crate::engine::at_opcodes;
use hlo_ir::Module;
use hlo_ir::diag::Source;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::verify::Verified;
use hlo_kernel::KernelTable;
use hlo_tools_common::Failure;

fn hlo(module: &Module) -> Vec<u8> {
    print_module(module, &PrintOptions::default()).into_bytes()
}

/// Returns the kernels of the compiled program as text.
fn kernels(module: &Module, source: &Source) -> Result<Vec<u8>, Failure> {
    let described = Verified::new(module).and_then(|module| {
        let plan = hlo_plan::plan(module, u64::MAX)?;
        Ok(KernelTable::new(module, &plan)?.describe())
    });
    described.map(String::into_bytes).map_err(|d| Failure::diags(source, at_opcodes(d, module, source)))
}

/// Returns a stage of the compilation as text or bytes.
#[cfg(feature = "codegen")]
pub fn emit(args: &Args, module: &Module, source: &Source, stage: Emit) -> Result<Vec<u8>, Failure> {
    use hlo_codegen::{SourceFile, Stage};
    let stage = match stage {
        Emit::Hlo => return Ok(hlo(module)),
        Emit::Kernels => return kernels(module, source),
        Emit::Mlir => Stage::Mlir,
        Emit::LlvmDialect => Stage::LlvmDialect,
        Emit::Llvm => Stage::Llvm,
        Emit::LlvmOpt => Stage::OptimizedLlvm,
        Emit::Asm => Stage::Asm,
        Emit::Obj => Stage::Obj,
    };
    let file = SourceFile::new(&source.name, &source.text);
    let target = crate::aot::target(args)?;
    Verified::new(module)
        .and_then(|module| {
            hlo_codegen::emit_for(module, stage, Some(&file), args.debug_info, target.as_ref())
        })
        .map_err(|d| Failure::diags(source, at_opcodes(d, module, source)))
}

/// Returns the HLO after the passes or the kernels. This build does not support other stages.
#[cfg(not(feature = "codegen"))]
pub fn emit(_: &Args, module: &Module, source: &Source, stage: Emit) -> Result<Vec<u8>, Failure> {
    match stage {
        Emit::Hlo => Ok(hlo(module)),
        Emit::Kernels => kernels(module, source),
        Emit::Mlir | Emit::LlvmDialect | Emit::Llvm | Emit::LlvmOpt | Emit::Asm | Emit::Obj => Err(
            Failure::Message("compiled execution was not built in: build with the feature `codegen`".into()),
        ),
    }
}

/// Reports an error if compiled execution is requested but not built in, before any file is read.
#[cfg(not(feature = "codegen"))]
pub fn check_built_in(args: &Args) -> Result<(), Failure> {
    use crate::args::Engine;
    let needs = match (args.emit, args.engine) {
        (Some(Emit::Mlir | Emit::LlvmDialect | Emit::Llvm | Emit::LlvmOpt | Emit::Asm | Emit::Obj), _) => {
            "--emit shows what the module is compiled to"
        }
        (None, _) if args.isolate.is_some() => "--isolate compares compiled code with the interpreter",
        (None, Engine::Jit | Engine::Both) => {
            return Err(Failure::Message(
                "compiled execution was not built in: use --engine=eval, or build with the feature `codegen`"
                    .into(),
            ));
        }
        _ => return Ok(()),
    };
    Err(Failure::Message(format!(
        "{needs}, and compiled execution was not built in: build with the feature `codegen`"
    )))
}
