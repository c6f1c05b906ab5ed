//! Who compiles programs and runs them.

use crate::executable::Executable;
use crate::{CompileOptions, Error, prepare};
use hlo_ir::Module;

/// Who compiles programs and runs them. Cloning is cheap: both are the same client.
#[derive(Clone, Debug, Default)]
pub struct Client(());

impl Client {
    /// The client that runs programs in this process.
    pub fn local() -> Self {
        Self(())
    }

    /// Compiles a text.
    ///
    /// # Errors
    /// The text does not parse or verify, or one of those of [`Client::compile`].
    pub fn compile_text(&self, text: &str, options: &CompileOptions) -> Result<Executable, Error> {
        let module = hlo_parser::parse_module(text)?;
        let violations = hlo_ir::verify::verify(&module);
        if !violations.is_empty() {
            return Err(Error::Diags(violations));
        }
        self.compile(&module, options)
    }

    /// Compiles a verified module.
    ///
    /// # Errors
    /// One device can't run the module; a pass refuses it; or one of those of [`Client::load`].
    pub fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Executable, Error> {
        let mut module = module.clone();
        module.make_explicit();
        let refused = hlo_ir::verify::verify_execution(&module);
        if !refused.is_empty() {
            return Err(Error::Diags(refused));
        }
        let prepared = prepare(&module, options.engine, &options.passes)?.module;
        self.load(&module, prepared, options)
    }

    /// Makes a program of a module and of what passes made of it: those of [`prepare`], or others before [`crate::lower`]. The
    /// options' passes do not count.
    ///
    /// # Errors
    /// What the engine does not have, each at its instruction; custom calls without a target, or that it refuses; more memory
    /// than the options allow.
    pub fn load(
        &self,
        given: &Module,
        prepared: Module,
        options: &CompileOptions,
    ) -> Result<Executable, Error> {
        Executable::new(given, prepared, options)
    }
}

/// The memory that a program may take unless it is said.
pub(crate) fn memory() -> u64 {
    #[cfg(feature = "codegen")]
    return hlo_codegen::CompileOptions::default().memory_limit;
    #[cfg(not(feature = "codegen"))]
    return hlo_eval::Options::default().max_bytes as u64;
}
