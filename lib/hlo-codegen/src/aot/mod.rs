//! Ahead-of-time programs: an object file with one function that C calls, and its C header and Rust binding.
//!
//! The object contains the kernels, the host function and the constants. Only the entry is visible. The
//! program keeps no state between calls and does not allocate memory. A library ([`archive`]) contains the
//! runtime functions that it calls, and nothing else.

pub mod archive;
mod entry;
mod header;
mod interface;
pub(crate) mod link;
pub(crate) mod names;
pub(crate) mod prune;
mod rust;
pub(crate) mod target;

pub use entry::BAD_POINTER;
pub use header::header;
pub use interface::{Interface, Leaf};
pub use names::check_program_name;
pub use rust::binding;
pub use target::{Architecture, Target, TargetError};

use crate::builder::{ModuleBuilder, SourceFile};
use crate::compile::{COMPILER_STACK_BYTES, Host, Part, internal, partition, plan_module};
use crate::executable::ARENA_ALIGNMENT;
use crate::host::{Watching, collect_all_runtime, emit_host_with};
use crate::jit::{self, Effort, TargetMachine};
use crate::kernel_functions::emit_functions;
use hlo_ir::devices::DeviceCounts;
use hlo_ir::diag::Diag;
use hlo_ir::verify::Verified;
use hlo_ir::{InstrId, Module};
use hlo_kernel::KernelTable;
use hlo_plan::Plan;
use hlo_runtime::{Accumulator, ElementCode, accumulator};
use link::Linker;
use melior::ir::Location;
use object::{Object, ObjectSymbol};
use std::sync::Arc;

/// The runtime function that runs a host function with a context.
pub(crate) const RUN_SYMBOL: &str = "hlo_rt_run";

/// The runtime functions that need no context.
const CONTEXT_FREE_FUNCTIONS: [&str; 2] = ["hlo_rt_addresses", "hlo_rt_copies"];

/// Options of an ahead-of-time compilation.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the entry: see [`check_program_name`].
    pub name: String,
    /// The machine to compile for.
    pub target: Target,
    /// Whether long loops may use the threads of a context. Without it, a program that consists of loops only
    /// needs no runtime.
    pub parallel: bool,
    /// Whether LLVM optimizes.
    pub optimize: bool,
    /// The file that the module was read from, for debug information.
    pub debug_info: Option<Arc<SourceFile>>,
}

/// A compiled ahead-of-time program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The object file.
    pub object: Vec<u8>,
    /// The program's parameters and results, and the libraries that it is linked with.
    pub interface: Interface,
}

/// Compiles `prepared`, which the compiler's passes produced from the module `given`.
///
/// # Errors
/// Returns one diagnostic, at its instruction, for each instruction that code generation does not support,
/// and for each one that ahead-of-time programs do not support (transfers, custom calls). Errors of LLVM are
/// returned as internal errors.
pub fn compile(
    given: Verified<&Module>,
    prepared: Verified<&Module>,
    options: &Options,
) -> Result<Program, Vec<Diag>> {
    let no_thread = || internal("there is no thread to compile on".into());
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(COMPILER_STACK_BYTES);
        let thread = thread.spawn_scoped(scope, || compile_here(given, prepared, options));
        thread.map_err(|_| no_thread())?.join().unwrap_or_else(|_| Err(no_thread()))
    })
}

fn compile_here(
    given: Verified<&Module>,
    prepared: Verified<&Module>,
    options: &Options,
) -> Result<Program, Vec<Diag>> {
    check_program_name(&options.name).map_err(|message| vec![Diag::error(message)])?;
    let (plan, kernels) = plan_module(prepared, u64::MAX, false)?;
    let prepared = prepared.get();
    reject_unsupported(prepared, &plan)?;
    let mut interface = Interface::new(&options.name, &given, prepared, &plan, &options.target)?;
    let machine = TargetMachine::of(&options.target, effort(options, Effort::Full)).map_err(internal)?;
    let mut linker = Linker::new();
    linker.target(&machine).map_err(internal)?;
    for part in partition(&plan, &kernels, 1) {
        add_part(&mut linker, prepared, (&plan, &kernels), &part, &machine, options)?;
    }
    let object = finish(linker, &interface, &plan, &machine, options)?;
    let needed = undefined(&object).map_err(internal)?;
    let (runtime, library) = needed.into_iter().partition(|name| name.starts_with("hlo_rt_"));
    (interface.runtime, interface.library) = (runtime, library);
    if interface.library.contains(&interface.name) {
        let message =
            format!("the program itself calls a function `{}`: give it another name", interface.name);
        return Err(vec![Diag::error(message)]);
    }
    Ok(Program { object, interface })
}

fn effort(options: &Options, wanted: Effort) -> Effort {
    if options.optimize { wanted } else { Effort::None }
}

/// Rejects instructions that ahead-of-time programs do not support.
fn reject_unsupported(module: &Module, plan: &Plan) -> Result<(), Vec<Diag>> {
    let refuse = |what: &str, ids: &[InstrId]| -> Vec<Diag> {
        let refusal = |&id: &InstrId| {
            let instruction = &module[id];
            let message = format!(
                "`{}` ({}) {what}, which an ahead-of-time program has not",
                instruction.name,
                instruction.opcode().name()
            );
            Diag::error(message).at(module.span(id), "this instruction")
        };
        ids.iter().map(refusal).collect()
    };
    let mut errors = refuse("needs another end of its transfer", &plan.transfers);
    errors.extend(refuse("needs the target of a custom call", &plan.custom_calls));
    errors.extend(refuse("needs other devices", &plan.collectives));
    let devices = DeviceCounts::of(module).map_or(1, DeviceCounts::devices);
    if devices > 1 && errors.is_empty() {
        let message = format!("the module runs on {devices} devices, an ahead-of-time program on one");
        errors.push(Diag::error(message));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Adds kernels and the host function. They are lowered and optimized as in just-in-time compilation, so that
/// the results have the same bits.
fn add_part(
    linker: &mut Linker,
    module: &Module,
    (plan, kernels): (&Plan, &KernelTable<'_>),
    part: &Part,
    machine: &TargetMachine,
    options: &Options,
) -> Result<(), Vec<Diag>> {
    let wanted = if part.host == Some(Host::Alone) { Effort::Low } else { Effort::Full };
    add_functions(linker, machine, options, wanted, |functions| {
        let functions = &functions.with_source(options.debug_info.as_deref()).with_debug_info();
        let mut errors = Vec::new();
        for &k in &part.kernels {
            errors.extend(emit_functions(functions, &kernels.functions()[k]).err());
        }
        if let Some(host) = part.host {
            let with_kernels = host == Host::WithKernels;
            let emitted = emit_host_with(functions, module, plan, kernels, with_kernels, Watching::Unwatched);
            errors.extend(emitted.err());
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    })
}

/// Adds the functions that `emit` builds.
fn add_functions(
    linker: &mut Linker,
    machine: &TargetMachine,
    options: &Options,
    wanted: Effort,
    emit: impl for<'c> FnOnce(ModuleBuilder<'c>) -> Result<(), Vec<Diag>>,
) -> Result<(), Vec<Diag>> {
    let context = jit::context();
    let mut mlir = melior::ir::Module::new(Location::unknown(&context));
    emit(ModuleBuilder::new(&context, &mlir))?;
    jit::lower_to_llvm_dialect(&context, &mut mlir).map_err(internal)?;
    linker.add_mlir(&context, &mlir, machine, effort(options, wanted)).map_err(internal)
}

/// Adds the entry and the constants, and generates code.
fn finish(
    mut linker: Linker,
    interface: &Interface,
    plan: &Plan,
    machine: &TargetMachine,
    options: &Options,
) -> Result<Vec<u8>, Vec<Diag>> {
    if has_narrow_products(plan) {
        linker.replace_function(c"hlo_rt_dot", "hlo_rt_dot_narrow");
    }
    if !options.parallel && linker.needs(c"hlo_rt_parallel_for") {
        add_functions(&mut linker, machine, options, Effort::Low, |functions| {
            entry::add_single_threaded_parallel_for(&functions);
            Ok(())
        })?;
    }
    let takes_context = linker.needs_other("hlo_rt_", &CONTEXT_FREE_FUNCTIONS);
    add_functions(&mut linker, machine, options, Effort::Low, |functions| {
        entry::add_entry(&functions, interface, takes_context);
        Ok(())
    })?;
    let constants: Vec<&[u8]> = plan.constants.iter().map(|c| &c.bytes[..]).collect();
    linker
        .define_constants(entry::CONSTANT_TABLE_SYMBOL, &constants, ARENA_ALIGNMENT as u32)
        .and_then(|()| linker.internalize(&interface.name, machine))
        .and_then(|()| linker.object(machine))
        .map_err(internal)
}

/// Returns whether no matrix product accumulates in f64 or complex numbers. Such a program needs a much
/// smaller part of the runtime.
fn has_narrow_products(plan: &Plan) -> bool {
    let mut narrow = true;
    collect_all_runtime(plan, &mut |call| {
        if call.symbol == "hlo_rt_dot" {
            let types: Option<[i64; 3]> = call.descriptor.first_chunk().copied();
            let sums = types.and_then(|types| {
                let [lhs, rhs, out] = types.map(|code| ElementCode::from_code(code).ok());
                accumulator(lhs?, rhs?, out?).ok()
            });
            let few = [Accumulator::F32, Accumulator::I32, Accumulator::I64, Accumulator::Pred];
            narrow &= sums.is_some_and(|sums| few.contains(&sums));
        }
    });
    narrow
}

/// Returns the undefined functions of an object file, sorted.
fn undefined(object: &[u8]) -> Result<Vec<String>, String> {
    let file = object::File::parse(object).map_err(|e| e.to_string())?;
    let symbols = file.symbols().filter(|s| s.is_undefined());
    let mut names: Vec<String> = symbols.filter_map(|s| s.name().ok().map(String::from)).collect();
    names.retain(|name| !name.is_empty() && name != "_GLOBAL_OFFSET_TABLE_");
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
