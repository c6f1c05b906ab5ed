//! LLVM's side of an ahead-of-time program: its parts, constants and entry as one module, of which the entry alone is
//! visible.

use crate::jit::{self, Effort, FileType, TargetMachine};
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::transforms::pass_builder::*;
use llvm_sys::{LLVMLinkage, LLVMUnnamedAddr};
use melior::Context;
use melior::ir::Module;
use std::ffi::{CStr, CString};

/// An LLVM context, and the module in it that grows into the program.
pub(super) struct Linker {
    context: LLVMContextRef,
    program: LLVMModuleRef,
}

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: both are this value's own, and alive until here.
        unsafe {
            LLVMDisposeModule(self.program);
            LLVMContextDispose(self.context);
        }
    }
}

impl Linker {
    /// An empty program.
    pub(super) fn new() -> Self {
        // SAFETY: the module is made in a context that lives as long.
        unsafe {
            let context = LLVMContextCreate();
            Self { context, program: LLVMModuleCreateWithNameInContext(c"program".as_ptr(), context) }
        }
    }

    /// Adds a module in the LLVM dialect, optimised for `machine`.
    pub(super) fn add_mlir(
        &mut self,
        context: &Context,
        module: &Module<'_>,
        machine: &TargetMachine,
        effort: Effort,
    ) -> Result<(), String> {
        // SAFETY: this LLVM context is alive; the module is given away or freed.
        unsafe {
            let part = jit::translate(context, module, self.context)?;
            if let Err(message) = jit::optimize(part, machine, effort) {
                LLVMDisposeModule(part);
                return Err(message);
            }
            self.link(part)
        }
    }

    /// Adds LLVM IR as text.
    pub(super) fn add_text(&mut self, text: &str) -> Result<(), String> {
        let text = CString::new(text).map_err(|_| "a NUL in LLVM IR".to_string())?;
        // SAFETY: the text is NUL-terminated and copied; the module is given away below.
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
    /// `part` is a module of this context, and given away.
    unsafe fn link(&mut self, part: LLVMModuleRef) -> Result<(), String> {
        // SAFETY: the caller's promise.
        unsafe {
            LLVMSetDataLayout(part, LLVMGetDataLayoutStr(self.program));
            LLVMSetTarget(part, LLVMGetTarget(self.program));
            match LLVMLinkModules2(self.program, part) {
                0 => Ok(()),
                _ => Err("LLVM can't link the parts of the program".to_string()),
            }
        }
    }

    /// True if the program calls a function that it does not define.
    pub(super) fn needs(&self, function: &CStr) -> bool {
        // SAFETY: the module is alive, the name NUL-terminated.
        unsafe {
            let function = LLVMGetNamedFunction(self.program, function.as_ptr());
            !function.is_null() && LLVMIsDeclaration(function) != 0 && !LLVMGetFirstUse(function).is_null()
        }
    }

    /// True if the program calls a function of that beginning, which it does not define, other than those.
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

    /// Calls another function, of the same signature, instead of one.
    pub(super) fn replace_function(&mut self, function: &CStr, by: &str) {
        // SAFETY: the module is alive, and so is its function; names are copied.
        unsafe {
            let function = LLVMGetNamedFunction(self.program, function.as_ptr());
            if !function.is_null() {
                LLVMSetValueName2(function, by.as_ptr().cast(), by.len());
            }
        }
    }

    /// Gives `list` its value: the addresses of the constants, which are read-only data.
    pub(super) fn define_constants(
        &mut self,
        list: &str,
        constants: &[&[u8]],
        alignment: u32,
    ) -> Result<(), String> {
        let name = CString::new(list).map_err(|_| "a symbol with a NUL".to_string())?;
        // SAFETY: everything is of this context, which is alive; LLVM copies the bytes.
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
        // SAFETY: the caller's promise.
        unsafe {
            let global = LLVMAddGlobal(self.program, LLVMTypeOf(value), name.as_ptr());
            LLVMSetInitializer(global, value);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetAlignment(global, alignment);
            LLVMSetUnnamedAddress(global, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            global
        }
    }

    /// Makes everything but the entry the object's own, with the program's name before its name, and removes what nothing
    /// uses.
    pub(super) fn internalize(&mut self, entry: &str, machine: &TargetMachine) -> Result<(), String> {
        // SAFETY: the module and all that is in it are alive; names are copied.
        unsafe {
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

    /// The object file.
    pub(super) fn object(&self, machine: &TargetMachine) -> Result<Vec<u8>, String> {
        // SAFETY: the module is alive and valid.
        unsafe { jit::emit(self.program, machine, FileType::Object) }
    }

    /// Gives what has no target yet that of `machine`.
    pub(super) fn target(&mut self, machine: &TargetMachine) -> Result<(), String> {
        // SAFETY: the module is alive; without effort nothing but its target is set.
        unsafe { jit::optimize(self.program, machine, Effort::None) }
    }
}
