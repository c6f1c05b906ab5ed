//! Compilation of MLIR to machine code: lowering to the LLVM dialect, LLVM's optimizer and code generator,
//! and linking into this process.
//!
//! Each MLIR module is compiled in its own LLVM context, so that several modules compile at the same time.
//! ORC then links the object files.

use crate::aot::target::{self, Target, host_cpu};
use llvm_sys::core::*;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::execution_engine::{LLVMCreateGDBRegistrationListener, LLVMCreatePerfJITEventListener};
use llvm_sys::orc2::ee::*;
use llvm_sys::orc2::lljit::*;
use llvm_sys::orc2::*;
use llvm_sys::prelude::*;
use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use llvm_sys::transforms::pass_builder::*;
use melior::Context;
use melior::dialect::DialectHandle;
use melior::ir::Module;
use melior::ir::operation::{OperationLike, OperationPrintingFlags};
use melior::pass::{PassManager, conversion};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::rc::Rc;
use std::sync::Once;

/// Returns an MLIR context with only the dialects that the code generator uses.
pub fn context() -> Context {
    let context = Context::new_with_threading(false);
    for dialect in [DialectHandle::arith(), DialectHandle::scf(), DialectHandle::cf(), DialectHandle::llvm()]
    {
        dialect.register_dialect(&context);
        dialect.load_dialect(&context);
    }
    context
}

/// Lowers a module to the LLVM dialect in place. Errors quote MLIR's diagnostics.
///
/// # Errors
/// The module is not valid MLIR, or a pass fails on it. Both are bugs of the code that built the module.
pub fn lower_to_llvm_dialect(context: &Context, module: &mut Module<'_>) -> Result<(), String> {
    let messages = Rc::new(RefCell::new(Vec::new()));
    let sink = messages.clone();
    let handler = context.attach_diagnostic_handler(move |d| {
        sink.borrow_mut().push(format!("{}: {d}", d.location()));
        true
    });
    let passes = PassManager::new(context);
    passes.add_pass(conversion::create_scf_to_control_flow());
    passes.add_pass(conversion::create_arith_to_llvm());
    passes.add_pass(conversion::create_control_flow_to_llvm());
    passes.add_pass(conversion::create_reconcile_unrealized_casts());
    let valid = module.as_operation().verify();
    let result =
        if valid { passes.run(module).map_err(|e| e.to_string()) } else { Err("invalid MLIR".into()) };
    context.detach_diagnostic_handler(handler);
    result.map_err(|e| format!("{e}: {}", messages.borrow().join("; ")))
}

/// Returns a module as text that MLIR's tools can read, with the source locations of operations.
///
/// # Errors
/// MLIR's output is not valid UTF-8.
pub fn text(module: &Module<'_>) -> Result<Vec<u8>, String> {
    let flags = OperationPrintingFlags::new().enable_debug_info(true, false);
    let text = module.as_operation().to_string_with_flags(flags);
    text.map(String::into_bytes).map_err(|e| e.to_string())
}

/// Converts an LLVM error to its message, and frees it.
pub(crate) fn check(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: a non-null error has a message, which the caller must free.
    unsafe {
        let text = LLVMGetErrorMessage(error);
        let message = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(text);
        Err(message)
    }
}

/// Copies a message that LLVM allocated, and frees it.
pub(crate) fn take_message(text: *mut c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: LLVM returns a NUL-terminated string, which the caller must free.
    unsafe {
        let message = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        message
    }
}

fn initialize_target() {
    static ONCE: Once = Once::new();
    // SAFETY: the functions only register the target with LLVM. `Once` ensures that they do not run twice at
    // the same time.
    ONCE.call_once(|| unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
        }
        #[cfg(target_arch = "aarch64")]
        {
            LLVMInitializeAArch64TargetInfo();
            LLVMInitializeAArch64Target();
            LLVMInitializeAArch64TargetMC();
            LLVMInitializeAArch64AsmPrinter();
        }
    });
}

/// Sets the LLVM options that apply to the whole process.
fn set_options() {
    static ONCE: Once = Once::new();
    // `HashRecognize`, which looks for checksums, follows every path from a value to the operands of its
    // operands. In loops that use values several times, it takes exponential time.
    let arguments = [c"hlo", c"-disable-loop-idiom-hashrecognize"].map(CStr::as_ptr);
    // SAFETY: the array contains this number of strings, all NUL-terminated. `Once` ensures that options are
    // not set twice at the same time.
    ONCE.call_once(|| unsafe {
        LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr());
    });
}

/// The kind of output to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// An object file.
    Object,
    /// Assembly text.
    Assembly,
    /// LLVM IR as text, after LLVM's passes and before code generation.
    Ir,
}

/// The optimization level of LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Full optimization, with vectorized and unrolled loops: for kernels.
    Full,
    /// No loop optimization: for straight-line calls, such as the host function.
    Low,
    /// No optimization. Compilation takes a fraction of the time, and the code is several times slower.
    None,
}

/// Returns LLVM's version.
pub(crate) fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the function only writes the three numbers.
    unsafe { LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// LLVM's target machine.
pub(crate) struct TargetMachine(LLVMTargetMachineRef);

impl TargetMachine {
    /// Creates the target machine of this computer's CPU.
    fn host(effort: Effort) -> Result<Self, String> {
        initialize_target();
        let (cpu, features) = host_cpu();
        // SAFETY: the string is NUL-terminated and freed after its last use.
        unsafe {
            let triple = LLVMGetDefaultTargetTriple();
            let machine = Self::new(CStr::from_ptr(triple), cpu, features, effort);
            LLVMDisposeMessage(triple);
            machine
        }
    }

    /// Creates the target machine of another machine.
    pub(crate) fn of(target: &Target, effort: Effort) -> Result<Self, String> {
        target::initialize();
        Self::new(target.triple(), target.cpu(), target.features(), effort)
    }

    fn new(triple: &CStr, cpu: &CStr, features: &CStr, effort: Effort) -> Result<Self, String> {
        // SAFETY: every string is NUL-terminated. LLVM copies the strings that it keeps.
        unsafe {
            let mut target = std::ptr::null_mut();
            let mut message = std::ptr::null_mut();
            let failed = LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut message);
            let machine = if failed == 0 {
                let level = match effort {
                    Effort::Full => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
                    Effort::Low => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
                    Effort::None => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
                };
                LLVMCreateTargetMachine(
                    target,
                    triple.as_ptr(),
                    cpu.as_ptr(),
                    features.as_ptr(),
                    level,
                    LLVMRelocMode::LLVMRelocPIC,
                    LLVMCodeModel::LLVMCodeModelDefault,
                )
            } else {
                std::ptr::null_mut()
            };
            if machine.is_null() {
                return Err(format!("LLVM has no code generator for this CPU: {}", take_message(message)));
            }
            Ok(Self(machine))
        }
    }
}

impl TargetMachine {
    /// Returns LLVM's pointer, which is valid as long as `self`.
    pub(crate) fn raw(&self) -> LLVMTargetMachineRef {
        self.0
    }
}

impl Drop for TargetMachine {
    fn drop(&mut self) {
        // SAFETY: created by LLVMCreateTargetMachine and not freed before.
        unsafe { LLVMDisposeTargetMachine(self.0) }
    }
}

/// Compiles a module in the LLVM dialect for this computer's CPU to an object file, assembly or LLVM IR.
///
/// # Errors
/// LLVM has no code generator for this CPU, or the module cannot be translated.
pub fn compile(
    context: &Context,
    module: &Module<'_>,
    effort: Effort,
    file_type: FileType,
) -> Result<Vec<u8>, String> {
    compile_for(context, module, &TargetMachine::host(effort)?, effort, file_type)
}

/// Like [`compile`], but for a given machine.
pub(crate) fn compile_for(
    context: &Context,
    module: &Module<'_>,
    machine: &TargetMachine,
    effort: Effort,
    file_type: FileType,
) -> Result<Vec<u8>, String> {
    // SAFETY: the LLVM context outlives its module. Both are freed below on every path.
    unsafe {
        let llvm = LLVMContextCreate();
        let result = translate(context, module, llvm).and_then(|ir| {
            let r = optimize(ir, machine, effort).and_then(|()| emit(ir, machine, file_type));
            LLVMDisposeModule(ir);
            r
        });
        LLVMContextDispose(llvm);
        result
    }
}

/// Translates a module in the LLVM dialect to LLVM IR.
///
/// # Safety
/// `llvm` is alive, and the returned module must be freed before it.
pub(crate) unsafe fn translate(
    context: &Context,
    module: &Module<'_>,
    llvm: LLVMContextRef,
) -> Result<LLVMModuleRef, String> {
    // SAFETY: the MLIR module is alive. The caller guarantees that the LLVM context is alive.
    unsafe {
        mlir_sys::mlirRegisterAllLLVMTranslations(context.to_raw());
        let ir: LLVMModuleRef =
            mlir_sys::mlirTranslateModuleToLLVMIR(module.as_operation().to_raw(), llvm.cast()).cast();
        if ir.is_null() { Err("the module could not be translated to LLVM IR".to_string()) } else { Ok(ir) }
    }
}

/// The passes of LLVM's O3 pipeline that kernels need: canonical loops, loop-invariant code motion and
/// vectorization.
///
/// Measured against `default<O3>`, this pipeline takes a third less time and produces equally fast code.
/// Kernels have no calls to inline, no globals, and no loops except those that the code generator emits.
/// (Without `no-verify-fixpoint`, an instcombine pass that needs another iteration would abort the process.)
const KERNEL_PASSES: &CStr = c"function(sroa,early-cse<memssa>,simplifycfg,\
    instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm,simple-loop-unswitch<nontrivial>),\
    instcombine<no-verify-fixpoint>,loop(indvars,loop-idiom,loop-deletion),loop-vectorize,\
    instcombine<no-verify-fixpoint>,simplifycfg,early-cse,loop-mssa(licm))";

/// The passes that the host function needs: values in registers and loop-invariant code motion. The pipeline
/// omits the passes that look for redundant stores and copies, because they take quadratic time in functions
/// of thousands of steps.
const HOST_PASSES: &CStr = c"function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,\
    loop-mssa(loop-rotate,licm),early-cse,simplifycfg)";

/// Runs LLVM's passes on a module.
///
/// # Safety
/// `ir` is a valid module.
pub(crate) unsafe fn optimize(
    ir: LLVMModuleRef,
    machine: &TargetMachine,
    effort: Effort,
) -> Result<(), String> {
    set_options();
    // SAFETY: `ir` and `machine` are valid. The options are freed after use.
    unsafe {
        let layout = LLVMCreateTargetDataLayout(machine.0);
        LLVMSetModuleDataLayout(ir, layout);
        LLVMDisposeTargetData(layout);
        let triple = LLVMGetTargetMachineTriple(machine.0);
        LLVMSetTarget(ir, triple);
        LLVMDisposeMessage(triple);
        let passes = match effort {
            Effort::Full => KERNEL_PASSES,
            Effort::Low => HOST_PASSES,
            Effort::None => return Ok(()),
        };
        let options = LLVMCreatePassBuilderOptions();
        let full = i32::from(effort == Effort::Full);
        LLVMPassBuilderOptionsSetLoopVectorization(options, full);
        LLVMPassBuilderOptionsSetSLPVectorization(options, full);
        LLVMPassBuilderOptionsSetLoopInterleaving(options, full);
        LLVMPassBuilderOptionsSetLoopUnrolling(options, full);
        let error = LLVMRunPasses(ir, passes.as_ptr(), machine.0, options);
        LLVMDisposePassBuilderOptions(options);
        check(error)
    }
}

/// Generates code for a module.
///
/// # Safety
/// `ir` is a valid module.
pub(crate) unsafe fn emit(
    ir: LLVMModuleRef,
    machine: &TargetMachine,
    file_type: FileType,
) -> Result<Vec<u8>, String> {
    let file_type = match file_type {
        FileType::Object => LLVMCodeGenFileType::LLVMObjectFile,
        FileType::Assembly => LLVMCodeGenFileType::LLVMAssemblyFile,
        // SAFETY: `ir` is valid. LLVM's text is NUL-terminated and is freed after it is copied.
        FileType::Ir => unsafe {
            let text = LLVMPrintModuleToString(ir);
            let copy = CStr::from_ptr(text).to_bytes().to_vec();
            LLVMDisposeMessage(text);
            return Ok(copy);
        },
    };
    // SAFETY: `ir` and `machine` are valid. The buffer is copied before it is freed.
    unsafe {
        let mut message = std::ptr::null_mut();
        let mut buffer = std::ptr::null_mut();
        if LLVMTargetMachineEmitToMemoryBuffer(machine.0, ir, file_type, &mut message, &mut buffer) != 0 {
            return Err(take_message(message));
        }
        let bytes =
            std::slice::from_raw_parts(LLVMGetBufferStart(buffer).cast::<u8>(), LLVMGetBufferSize(buffer));
        let out = bytes.to_vec();
        LLVMDisposeMemoryBuffer(buffer);
        Ok(out)
    }
}

/// Creates a linker that informs debuggers and profilers about the code that it links. RTDyld is the only
/// linker of LLVM that supports listeners.
extern "C" fn observed_linking_layer(
    _: *mut c_void,
    session: LLVMOrcExecutionSessionRef,
    _: *const c_char,
) -> LLVMOrcObjectLayerRef {
    // SAFETY: the session is the one that the layer is created for. The listeners live as long as the
    // process.
    unsafe {
        // The sections are adjacent, so that references between them are in range.
        let layer = LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManagerReserveAlloc(session, 1);
        for listener in [LLVMCreateGDBRegistrationListener(), LLVMCreatePerfJITEventListener()] {
            // The listener is null if LLVM was built without support for it.
            if !listener.is_null() {
                LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, listener);
            }
        }
        layer
    }
}

/// Object files linked into this process. The code stays loaded until this value is dropped.
pub struct Linked(LLVMOrcLLJITRef);

// SAFETY: ORC's sessions may be used from any thread. After `link`, only lookups happen.
unsafe impl Send for Linked {}
// SAFETY: as above.
unsafe impl Sync for Linked {}

impl Linked {
    /// Links object files with each other and with `symbols` (name and address). If `observed` is set,
    /// debuggers and profilers are informed about the code.
    ///
    /// # Errors
    /// LLVM rejects an object file, or a name contains a NUL.
    pub fn link(objects: &[Vec<u8>], symbols: &[(&str, *const ())], observed: bool) -> Result<Self, String> {
        initialize_target();
        // SAFETY: ORC takes ownership of builders and buffers as commented. Strings are NUL-terminated.
        unsafe {
            let builder = LLVMOrcCreateLLJITBuilder();
            // The machine is given because ORC would otherwise detect the CPU's features again. It compiles
            // nothing.
            let machine = std::mem::ManuallyDrop::new(TargetMachine::host(Effort::None)?);
            LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
                builder,
                LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine.0),
            );
            if observed {
                LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(
                    builder,
                    observed_linking_layer,
                    std::ptr::null_mut(),
                );
            }
            let mut jit = std::ptr::null_mut();
            check(LLVMOrcCreateLLJIT(&mut jit, builder))?;
            let linked = Self(jit);
            let dylib = LLVMOrcLLJITGetMainJITDylib(jit);
            // Resolves the functions that the code generator itself calls: memcpy, memset, fmod, ….
            let mut process = std::ptr::null_mut();
            check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                &mut process,
                LLVMOrcLLJITGetGlobalPrefix(jit),
                None,
                std::ptr::null_mut(),
            ))?;
            LLVMOrcJITDylibAddGenerator(dylib, process);
            let mut pairs: Vec<LLVMOrcCSymbolMapPair> = Vec::with_capacity(symbols.len());
            for (name, address) in symbols {
                let name = CString::new(*name).map_err(|_| "a symbol with a NUL".to_string())?;
                pairs.push(LLVMOrcCSymbolMapPair {
                    Name: LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr()),
                    Sym: LLVMJITEvaluatedSymbol {
                        Address: *address as usize as u64,
                        Flags: LLVMJITSymbolFlags {
                            GenericFlags: LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8,
                            TargetFlags: 0,
                        },
                    },
                });
            }
            let unit = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
            check(LLVMOrcJITDylibDefine(dylib, unit))?;
            for object in objects {
                let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                    object.as_ptr().cast(),
                    object.len(),
                    c"object".as_ptr(),
                );
                check(LLVMOrcLLJITAddObjectFile(jit, dylib, buffer))?;
            }
            Ok(linked)
        }
    }

    /// Returns the address of a function.
    ///
    /// # Errors
    /// No object file contains a function of that name.
    pub fn lookup(&self, name: &str) -> Result<*const (), String> {
        let name = CString::new(name).map_err(|_| "a symbol with a NUL".to_string())?;
        let mut address: LLVMOrcExecutorAddress = 0;
        // SAFETY: the session is alive and the name NUL-terminated.
        check(unsafe { LLVMOrcLLJITLookup(self.0, &mut address, name.as_ptr()) })?;
        Ok(address as usize as *const ())
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        // SAFETY: created by LLVMOrcCreateLLJIT and not freed before. An error here cannot be reported.
        let _ = check(unsafe { LLVMOrcDisposeLLJIT(self.0) });
    }
}
