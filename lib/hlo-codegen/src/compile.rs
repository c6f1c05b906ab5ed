//! Compilation of a module to an [`Executable`], or to any of the stages in between.
//!
//! Kernels and the host function are distributed over several MLIR modules. Each module is built, lowered and
//! compiled on its own thread. The object files are then linked. The number of threads does not affect how
//! each part is compiled, so the program computes the same bits for any number of threads.

use crate::aot::target::Target;
use crate::builder::{ModuleBuilder, SourceFile};
use crate::code_cache::{self, CodeCache};
use crate::executable::{Executable, Timings};
use crate::host::emit_host;
use crate::jit::{self, Effort, FileType, Linked};
use crate::kernel_functions::emit_functions;
use hlo_custom_call::{PlannedCalls, Registry};
use hlo_ir::Module;
use hlo_ir::budget::{self, Budget};
use hlo_ir::devices::DeviceCounts;
use hlo_ir::diag::Diag;
use hlo_ir::human_bytes;
use hlo_ir::rules::code;
use hlo_ir::verify::Verified;
use hlo_kernel::KernelTable;
use hlo_plan::Plan;
use hlo_runtime::Context;
use melior::ir::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Code size up to which one MLIR module for the whole program compiles faster than several.
const MAX_SINGLE_MODULE_SIZE: usize = 64;

/// Approximate maximum code size of the kernels in one MLIR module. The compiler checks the compilation's
/// budget before each module.
const MAX_PART_SIZE: usize = 4096;

/// Options of a compilation.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// Number of threads to compile and to run on. 0 means as many as the process may use.
    pub threads: usize,
    /// The maximum number of bytes that parameters, results, constants and temporaries may take together.
    pub memory_limit: u64,
    /// The targets of custom calls.
    pub custom_calls: Registry,
    /// The seed of the random numbers. Together with the instruction that draws them, it determines their
    /// values (see [`hlo_ir::streams`]).
    pub seed: u64,
    /// Whether LLVM optimizes. Without optimization, compilation takes a fraction of the time and the program
    /// runs several times slower.
    pub optimize: bool,
    /// The file that the module was read from, for debug information. If present, debuggers (`gdb`) and
    /// profilers (`perf`, through LLVM's jitdump) learn about the code and about the source line of each part
    /// of it.
    pub debug_info: Option<Arc<SourceFile>>,
    /// Whether callers may donate the parameters that the module's `input_output_alias` names
    /// ([`crate::Input::InOutput`]). A run copies these parameters if the caller does not donate them.
    pub donation: bool,
    /// The cache that stores compiled code between compilations, if any. Code with debug information is not
    /// cached.
    pub code_cache: Option<Arc<dyn CodeCache>>,
    /// The budget of the compilation, if any. It is checked before each part of the program that LLVM
    /// compiles.
    pub budget: Option<Arc<dyn Budget>>,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            threads: 0,
            memory_limit: default_memory_limit(),
            custom_calls: Registry::new(),
            seed: 0,
            optimize: true,
            debug_info: None,
            donation: false,
            code_cache: None,
            budget: None,
        }
    }
}

/// Returns the size of the machine's memory, or 1 TiB if it cannot be determined.
fn default_memory_limit() -> u64 {
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    });
    total.unwrap_or(1 << 40)
}

/// A stage of compilation whose output can be printed or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// MLIR as built, as text.
    Mlir,
    /// The LLVM dialect, as text.
    LlvmDialect,
    /// LLVM IR as translated from the LLVM dialect, as text.
    Llvm,
    /// LLVM IR after LLVM's passes, as text.
    OptimizedLlvm,
    /// Assembly for this computer's CPU, as text.
    Asm,
    /// An object file for this computer's CPU.
    Obj,
}

/// Compiles a module.
///
/// # Errors
/// Returns one diagnostic for each of these, at its instruction: an instruction that code generation does not
/// support for its element types, a custom call without a target or rejected by its target, and memory beyond
/// the limit. Errors of LLVM are returned as internal errors.
pub fn compile(module: Verified<&Module>, options: &CompileOptions) -> Result<Executable, Vec<Diag>> {
    let threads = match options.threads {
        0 => hlo_runtime::default_threads(),
        n => n,
    };
    let start = Instant::now();
    let (plan, kernels) = plan_module(module, options.memory_limit, options.donation)?;
    let module = module.get();
    let custom_calls = plan_custom_calls(module, &plan, &options.custom_calls)?;
    let planned = start.elapsed();
    let parts = partition(&plan, &kernels, threads);
    let compile = || compile_parts(module, &plan, &kernels, &parts, threads, options);
    let link = |objects: &[Vec<u8>]| link(objects, options.debug_info.is_some());
    let kept = options.code_cache.as_deref().filter(|_| options.debug_info.is_none());
    let kept = kept.map(|cache| (cache, code_cache::key(module, &plan, &parts, options.optimize)));
    let found = kept.and_then(|(cache, key)| cache.load(key));
    let found_at = start.elapsed();
    // Code that does not link cannot be this program's code: compile again.
    let (built, compiled, (linked, main)) = match found.and_then(|objects| link(&objects).ok()) {
        Some(linked) => (BuildTimes { was_kept: true, ..BuildTimes::default() }, found_at, linked),
        None => {
            let (objects, built) = compile()?;
            let compiled = start.elapsed();
            let linked = link(&objects).map_err(internal)?;
            if let Some((cache, key)) = kept {
                cache.store(key, &objects);
            }
            (built, compiled, linked)
        }
    };
    let timings = Timings {
        plan: planned,
        mlir: built.mlir,
        llvm: built.llvm,
        compile: compiled - planned,
        link: start.elapsed() - compiled,
        was_kept: built.was_kept,
    };
    // Each device already has a thread of its own.
    let devices = DeviceCounts::of(module).map_or(1, DeviceCounts::devices);
    let threads = (threads + 1).saturating_sub(devices).max(1);
    let context = Context::with_custom_calls(threads, Arc::new(custom_calls)).with_seed(options.seed);
    // SAFETY: the address is that of the host function of `plan`, and `linked` keeps its code alive.
    unsafe { Executable::new(module, plan, linked, main, context, timings) }.map_err(|e| vec![e])
}

/// Links a program's object files into this process and returns them with the address of the host function.
fn link(objects: &[Vec<u8>], observed: bool) -> Result<(Linked, *const ()), String> {
    let symbols: Vec<(&str, *const ())> =
        hlo_runtime::symbols().iter().map(|s| (s.name, s.address as *const ())).collect();
    let linked = Linked::link(objects, &symbols, observed)?;
    let main = linked.lookup(crate::host::MAIN)?;
    Ok((linked, main))
}

/// Plans the program's custom calls. Their targets are looked up and their types checked at compile time, not
/// when the calls run.
fn plan_custom_calls(module: &Module, plan: &Plan, registry: &Registry) -> Result<PlannedCalls, Vec<Diag>> {
    let (mut calls, mut errors) = (Vec::with_capacity(plan.custom_calls.len()), Vec::new());
    for &id in &plan.custom_calls {
        let planned = hlo_custom_call::site(module, id).and_then(|s| registry.plan(s).map_err(|e| e.0));
        match planned {
            Ok(call) => calls.push(call),
            Err(message) => errors.push(Diag::error(message).at(module.span(id), "this call")),
        }
    }
    if errors.is_empty() { Ok(PlannedCalls(calls)) } else { Err(errors) }
}

/// Compiles a module up to a stage, with everything in one MLIR module. MLIR operations carry the names of
/// their instructions and their locations in `source`. With `debug_info`, LLVM's instructions carry these
/// locations too.
///
/// # Errors
/// Returns the errors of [`compile`], except those about custom calls and the memory limit, which this function
/// does not check.
pub fn emit(
    module: Verified<&Module>,
    stage: Stage,
    source: Option<&SourceFile>,
    debug_info: bool,
) -> Result<Vec<u8>, Vec<Diag>> {
    emit_for(module, stage, source, debug_info, None)
}

/// Like [`emit`], but for another machine if `target` is given.
///
/// # Errors
/// Returns the errors of [`emit`].
pub fn emit_for(
    module: Verified<&Module>,
    stage: Stage,
    source: Option<&SourceFile>,
    debug_info: bool,
    target: Option<&Target>,
) -> Result<Vec<u8>, Vec<Diag>> {
    let no_thread = || internal("there is no thread to compile on".into());
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(COMPILER_STACK_BYTES);
        let emit = || emit_here(module, stage, source, debug_info, target);
        let thread = thread.spawn_scoped(scope, emit).map_err(|_| no_thread())?;
        thread.join().unwrap_or_else(|_| Err(no_thread()))
    })
}

fn emit_here(
    module: Verified<&Module>,
    stage: Stage,
    source: Option<&SourceFile>,
    debug_info: bool,
    target: Option<&Target>,
) -> Result<Vec<u8>, Vec<Diag>> {
    let (plan, kernels) = plan_module(module, u64::MAX, false)?;
    let module = module.get();
    let all =
        Part { kernels: (0..kernels.functions().len()).collect(), host: Some(Host::WithKernels), size: 0 };
    let context = jit::context();
    let mut mlir = melior::ir::Module::new(Location::unknown(&context));
    let functions = ModuleBuilder::new(&context, &mlir).with_source(source);
    let functions = if debug_info { functions.with_debug_info() } else { functions };
    build(&functions, module, &plan, &kernels, &all)?;
    match stage {
        Stage::Mlir => return jit::text(&mlir).map_err(internal),
        Stage::LlvmDialect | Stage::Llvm | Stage::OptimizedLlvm | Stage::Asm | Stage::Obj => {}
    }
    jit::lower_to_llvm_dialect(&context, &mut mlir).map_err(internal)?;
    let (effort, file_type) = match stage {
        Stage::Llvm => (Effort::None, FileType::Ir),
        Stage::OptimizedLlvm => (Effort::Full, FileType::Ir),
        Stage::Asm => (Effort::Full, FileType::Assembly),
        Stage::Obj => (Effort::Full, FileType::Object),
        Stage::Mlir | Stage::LlvmDialect => return jit::text(&mlir).map_err(internal),
    };
    let code = match target {
        None => jit::compile(&context, &mlir, effort, file_type),
        Some(target) => jit::TargetMachine::of(target, effort)
            .and_then(|machine| jit::compile_for(&context, &mlir, &machine, effort, file_type)),
    };
    code.map_err(internal)
}

pub(crate) fn internal(message: String) -> Vec<Diag> {
    vec![Diag::error(format!("internal error: {message}"))]
}

/// Plans a module and its kernels.
pub(crate) fn plan_module(
    module: Verified<&Module>,
    memory_limit: u64,
    donation: bool,
) -> Result<(Plan, KernelTable<'_>), Vec<Diag>> {
    let plan = if donation {
        hlo_plan::plan_with_donations(module, memory_limit)?
    } else {
        hlo_plan::plan(module, memory_limit)?
    };
    let kernels = KernelTable::new(module, &plan)?;
    Ok((plan, kernels))
}

/// The MLIR module in which the host function is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// A module with all kernels.
    WithKernels,
    /// A separate module. Long programs are straight-line code that does not profit from loop optimizations.
    Alone,
}

/// The contents of one MLIR module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub(crate) kernels: Vec<usize>,
    pub(crate) host: Option<Host>,
    size: usize,
}

/// Distributes the kernels and the host function over MLIR modules. The largest kernels come first, and each
/// kernel goes to the module with the least code so far.
pub(crate) fn partition(plan: &Plan, kernels: &KernelTable<'_>, threads: usize) -> Vec<Part> {
    let functions = kernels.functions();
    let total: usize = functions.iter().map(|f| f.kernel.code_size).sum();
    let slots: usize = kernels.uses().iter().map(|u| u.buffers.len()).sum();
    let inline = slots + plan.bodies().map(crate::host::copies::in_code).sum::<usize>();
    if total + inline <= MAX_SINGLE_MODULE_SIZE {
        let kernels = (0..functions.len()).collect();
        return vec![Part { kernels, host: Some(Host::WithKernels), size: total }];
    }
    let mut order: Vec<usize> = (0..functions.len()).collect();
    order.sort_by_key(|&k| (std::cmp::Reverse(functions[k].kernel.code_size), k));
    let count = threads.max(total.div_ceil(MAX_PART_SIZE));
    let mut parts = vec![Part::default(); count.clamp(1, order.len().max(1))];
    for k in order {
        if let Some(least) = parts.iter_mut().min_by_key(|p| p.size) {
            least.size += functions[k].kernel.code_size;
            least.kernels.push(k);
        }
    }
    // A stable order of functions makes the output easier to read.
    parts.iter_mut().for_each(|p| p.kernels.sort_unstable());
    parts.retain(|p| !p.kernels.is_empty());
    parts.insert(0, Part { kernels: Vec::new(), host: Some(Host::Alone), size: inline });
    parts
}

/// The compile times, summed over all threads.
#[derive(Clone, Copy, Debug, Default)]
struct BuildTimes {
    mlir: Duration,
    llvm: Duration,
    /// Whether the code came from the cache, so that nothing was compiled.
    was_kept: bool,
}

/// Compiles all parts to object files, on up to `threads` threads.
fn compile_parts(
    module: &Module,
    plan: &Plan,
    kernels: &KernelTable<'_>,
    parts: &[Part],
    threads: usize,
    options: &CompileOptions,
) -> Result<(Vec<Vec<u8>>, BuildTimes), Vec<Diag>> {
    type Outcome = Result<(Vec<u8>, BuildTimes), Vec<Diag>>;
    let outcomes: Vec<Mutex<Option<Outcome>>> = parts.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let (Some(part), Some(slot)) = (parts.get(i), outcomes.get(i)) else { return };
            let outcome = compile_part(module, plan, kernels, part, options);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(parts.len()) {
            // If a thread cannot be started, the other threads compile its parts.
            let _ = std::thread::Builder::new().stack_size(COMPILER_STACK_BYTES).spawn_scoped(scope, work);
        }
    });
    let (mut objects, mut total, mut errors) = (Vec::new(), BuildTimes::default(), Vec::new());
    for slot in outcomes {
        match slot.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(Ok((object, built))) => {
                objects.push(object);
                total.mlir += built.mlir;
                total.llvm += built.llvm;
            }
            Some(Err(e)) => errors.extend(e),
            None => errors.push(Diag::error("no thread could be started to compile on")),
        }
    }
    if errors.is_empty() { Ok((objects, total)) } else { Err(errors) }
}

/// Stack size of the threads that compile. Kernel emission recurses over instructions, and LLVM and MLIR
/// recurse over nested regions, so the caller's stack may be too small.
pub(crate) const COMPILER_STACK_BYTES: usize = 64 << 20;

/// Approximate number of bytes that MLIR and LLVM allocate per unit of a part's size.
const COMPILER_BYTES_PER_SIZE: u64 = 16 << 10;

/// Approximate number of bytes that MLIR and LLVM allocate for each part, whatever its size.
const COMPILER_BYTES_PER_PART: u64 = 1 << 20;

/// Approximate number of bytes that LLVM maps in addition, once per process.
const COMPILER_MAPPED_BYTES: u64 = 64 << 20;

/// Checks that a limit on the address space of the process (`ulimit -v`) leaves enough room for LLVM. LLVM
/// aborts the process if an allocation fails.
fn check_address_space(memory: u64) -> Result<(), Vec<Diag>> {
    let Some(left) = address_space_left().filter(|&left| left < memory) else { return Ok(()) };
    let (memory, left) = (human_bytes(memory), human_bytes(left));
    let message =
        format!("to compile takes about {memory}, and the limit on the address space leaves {left}");
    let advice = "raise the limit (`ulimit -v`), or interpret the program";
    Err(vec![Diag::error(message).with_code(code::MEMORY).note(advice)])
}

/// Returns the number of bytes of address space that the process may still map. Returns `None` if there is no
/// limit or it cannot be determined.
fn address_space_left() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|l| l.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let used = status.lines().find_map(|l| l.strip_prefix("VmSize:"))?;
    let used: u64 = used.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(limit.saturating_sub(used.saturating_mul(1024)))
}

fn compile_part(
    module: &Module,
    plan: &Plan,
    kernels: &KernelTable<'_>,
    part: &Part,
    options: &CompileOptions,
) -> Result<(Vec<u8>, BuildTimes), Vec<Diag>> {
    let memory =
        (part.size as u64).saturating_mul(COMPILER_BYTES_PER_SIZE).saturating_add(COMPILER_BYTES_PER_PART);
    budget::check(options.budget.as_ref(), memory).map_err(|d| vec![d])?;
    check_address_space(memory.saturating_add(COMPILER_MAPPED_BYTES))?;
    let start = Instant::now();
    let context = jit::context();
    let mut mlir = melior::ir::Module::new(Location::unknown(&context));
    let functions = ModuleBuilder::new(&context, &mlir).with_source(options.debug_info.as_deref());
    let functions = functions.with_debug_info();
    build(&functions, module, plan, kernels, part)?;
    jit::lower_to_llvm_dialect(&context, &mut mlir).map_err(internal)?;
    let built = start.elapsed();
    let effort = match part.host {
        _ if !options.optimize => Effort::None,
        Some(Host::Alone) => Effort::Low,
        Some(Host::WithKernels) | None => Effort::Full,
    };
    let object = jit::compile(&context, &mlir, effort, FileType::Object).map_err(internal)?;
    Ok((object, BuildTimes { mlir: built, llvm: start.elapsed() - built, was_kept: false }))
}

/// Emits the functions of a part.
fn build(
    functions: &ModuleBuilder<'_>,
    module: &Module,
    plan: &Plan,
    kernels: &KernelTable<'_>,
    part: &Part,
) -> Result<(), Vec<Diag>> {
    let mut errors = Vec::new();
    for &k in &part.kernels {
        errors.extend(emit_functions(functions, &kernels.functions()[k]).err());
    }
    if let Some(host) = part.host {
        let with_kernels = host == Host::WithKernels;
        errors.extend(emit_host(functions, module, plan, kernels, with_kernels).err());
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
