//! Linking of an ahead-of-time program: combines its parts, constants and entry into one LLVM module, in which only the
//! entry is visible.

use super::target::Target;
use crate::jit::{self, Effort, FileType, TargetMachine};
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::transforms::pass_builder::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage, LLVMUnnamedAddr};
use melior::Context;
use melior::ir::Module;
use std::ffi::{CStr, CString};

/// An LLVM context, and a module in it that the parts of the program are added to.
pub(super) struct Linker {
    context: LLVMContextRef,
    program: LLVMModuleRef,
}

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: this value owns both, and they are alive until here.
        unsafe {
            LLVMDisposeModule(self.program);
            LLVMContextDispose(self.context);
        }
    }
}

impl Linker {
    /// Creates an empty program.
    pub(super) fn new() -> Self {
        // SAFETY: the module is created in a context that lives as long as the module.
        unsafe {
            let context = LLVMContextCreate();
            Self { context, program: LLVMModuleCreateWithNameInContext(c"program".as_ptr(), context) }
        }
    }

    /// Adds a module in the LLVM dialect, optimized for `machine`.
    pub(super) fn add_mlir(
        &mut self,
        context: &Context,
        module: &Module<'_>,
        machine: &TargetMachine,
        effort: Effort,
    ) -> Result<(), String> {
        // SAFETY: this LLVM context is alive. Ownership of the module is passed on, or the module is freed.
        unsafe {
            let part = jit::translate(context, module, self.context)?;
            if let Err(message) = jit::optimize(part, machine, effort) {
                LLVMDisposeModule(part);
                return Err(message);
            }
            self.link(part)
        }
    }

    /// Adds LLVM IR in text form.
    fn add_text(&mut self, text: &str) -> Result<(), String> {
        let text = CString::new(text).map_err(|_| "a NUL in LLVM IR".to_string())?;
        // SAFETY: the text is NUL-terminated and copied. Ownership of the module is passed on below.
        unsafe {
            let length = text.as_bytes().len();
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text.as_ptr(), length, c"entry".as_ptr());
            let (mut part, mut message) = (std::ptr::null_mut(), std::ptr::null_mut());
            let failed = LLVMParseIRInContext2(self.context, buffer, &mut part, &mut message);
            LLVMDisposeMemoryBuffer(buffer);
            if failed != 0 {
                return Err(jit::take_message(message));
            }
            self.link(part)
        }
    }

    /// # Safety
    /// `part` is a module of this context. This function takes ownership of it.
    unsafe fn link(&mut self, part: LLVMModuleRef) -> Result<(), String> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            LLVMSetDataLayout(part, LLVMGetDataLayoutStr(self.program));
            LLVMSetTarget(part, LLVMGetTarget(self.program));
            match LLVMLinkModules2(self.program, part) {
                0 => Ok(()),
                _ => Err("LLVM can't link the parts of the program".to_string()),
            }
        }
    }

    /// Returns whether the program uses a function that it does not define.
    pub(super) fn needs(&self, function: &CStr) -> bool {
        // SAFETY: the module is alive, and the name is NUL-terminated.
        unsafe {
            let function = LLVMGetNamedFunction(self.program, function.as_ptr());
            !function.is_null() && LLVMIsDeclaration(function) != 0 && !LLVMGetFirstUse(function).is_null()
        }
    }

    /// Returns whether the program uses an undefined function whose name begins with `beginning` and is not
    /// in `than`.
    pub(super) fn needs_other(&self, beginning: &str, than: &[&str]) -> bool {
        // SAFETY: the module is alive, and so are its functions and their names.
        unsafe {
            let mut function = LLVMGetFirstFunction(self.program);
            while !function.is_null() {
                let mut length = 0;
                let name = LLVMGetValueName2(function, &mut length);
                let name = String::from_utf8_lossy(std::slice::from_raw_parts(name.cast::<u8>(), length));
                let used = LLVMIsDeclaration(function) != 0 && !LLVMGetFirstUse(function).is_null();
                if used && name.starts_with(beginning) && !than.contains(&&*name) {
                    return true;
                }
                function = LLVMGetNextFunction(function);
            }
            false
        }
    }

    /// Replaces calls of one function by calls of another with the same signature.
    pub(super) fn replace_function(&mut self, function: &CStr, by: &str) {
        // SAFETY: the module is alive, and so is its function. Names are copied.
        unsafe {
            let function = LLVMGetNamedFunction(self.program, function.as_ptr());
            if !function.is_null() {
                LLVMSetValueName2(function, by.as_ptr().cast(), by.len());
            }
        }
    }

    /// Defines `list` as the addresses of the constants, which become read-only data.
    pub(super) fn define_constants(
        &mut self,
        list: &str,
        constants: &[&[u8]],
        alignment: u32,
    ) -> Result<(), String> {
        let name = CString::new(list).map_err(|_| "a symbol with a NUL".to_string())?;
        // SAFETY: all values belong to this context, which is alive. LLVM copies the bytes.
        unsafe {
            let declared = LLVMGetNamedGlobal(self.program, name.as_ptr());
            let pointer = LLVMPointerTypeInContext(self.context, 0);
            let mut addresses: Vec<LLVMValueRef> = Vec::with_capacity(constants.len());
            for (number, bytes) in constants.iter().enumerate() {
                let value = LLVMConstStringInContext2(self.context, bytes.as_ptr().cast(), bytes.len(), 1);
                let name = CString::new(format!("constant_{number}")).unwrap_or_default();
                addresses.push(self.constant(&name, value, alignment));
            }
            let value = LLVMConstArray2(pointer, addresses.as_mut_ptr(), addresses.len() as u64);
            let defined = self.constant(c"constants", value, 8);
            if !declared.is_null() {
                LLVMReplaceAllUsesWith(declared, defined);
                LLVMDeleteGlobal(declared);
            }
        }
        Ok(())
    }

    /// # Safety
    /// `value` is a constant of this context.
    unsafe fn constant(&mut self, name: &CStr, value: LLVMValueRef, alignment: u32) -> LLVMValueRef {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let global = LLVMAddGlobal(self.program, LLVMTypeOf(value), name.as_ptr());
            LLVMSetInitializer(global, value);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetAlignment(global, alignment);
            LLVMSetUnnamedAddress(global, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            global
        }
    }

    /// Makes all symbols except the entry local to the object, prefixes their names with the program's name,
    /// and removes unused ones. Marks all functions as not unwinding, so that the object contains no unwind tables.
    pub(super) fn internalize(&mut self, entry: &str, machine: &TargetMachine) -> Result<(), String> {
        const NO_UNWIND: &str = "nounwind";
        // SAFETY: the module and its contents are alive. Names are copied.
        unsafe {
            let no_unwind = LLVMGetEnumAttributeKindForName(NO_UNWIND.as_ptr().cast(), NO_UNWIND.len());
            let no_unwind = LLVMCreateEnumAttribute(self.context, no_unwind, 0);
            type Next = unsafe extern "C" fn(LLVMValueRef) -> LLVMValueRef;
            let lists: [(LLVMValueRef, Next); 2] = [
                (LLVMGetFirstFunction(self.program), LLVMGetNextFunction),
                (LLVMGetFirstGlobal(self.program), LLVMGetNextGlobal),
            ];
            for (mut value, next) in lists {
                while !value.is_null() {
                    let mut length = 0;
                    let name = LLVMGetValueName2(value, &mut length);
                    let name = std::slice::from_raw_parts(name.cast::<u8>(), length).to_vec();
                    if LLVMIsDeclaration(value) == 0 && !LLVMIsAFunction(value).is_null() {
                        LLVMAddAttributeAtIndex(value, LLVMAttributeFunctionIndex, no_unwind);
                    }
                    if LLVMIsDeclaration(value) == 0 && name != entry.as_bytes() {
                        LLVMSetLinkage(value, LLVMLinkage::LLVMInternalLinkage);
                        let own = [entry.as_bytes(), b".", &name].concat();
                        LLVMSetValueName2(value, own.as_ptr().cast(), own.len());
                    }
                    value = next(value);
                }
            }
            let options = LLVMCreatePassBuilderOptions();
            let error = LLVMRunPasses(self.program, c"globaldce".as_ptr(), machine.raw(), options);
            LLVMDisposePassBuilderOptions(options);
            jit::check(error)
        }
    }

    /// Returns the object file.
    pub(super) fn object(&self, machine: &TargetMachine) -> Result<Vec<u8>, String> {
        // SAFETY: the module is alive and valid.
        unsafe { jit::emit(self.program, machine, FileType::Object) }
    }

    /// Sets the target of the module to that of `machine`.
    pub(super) fn target(&mut self, machine: &TargetMachine) -> Result<(), String> {
        // SAFETY: the module is alive. Without effort, only its target is set.
        unsafe { jit::optimize(self.program, machine, Effort::None) }
    }
}

/// Compiles LLVM IR in text form for a machine, and returns the object file.
///
/// # Errors
/// Fails if LLVM cannot read the text, or has no code generator for the machine.
///
/// # Safety
/// LLVM's verifier must accept the text.
pub unsafe fn object_of_text(text: &str, target: &Target) -> Result<Vec<u8>, String> {
    let machine = TargetMachine::of(target, Effort::Full)?;
    let mut linker = Linker::new();
    linker.target(&machine)?;
    linker.add_text(text)?;
    linker.object(&machine)
}
