//! The interface of a cache of compiled code, and the keys of its entries.
//!
//! Only object files are cached, because compiling them takes most of the time. The rest of a program (its
//! plan, constants and custom calls) is built from the module each time, so it is never out of date.

use crate::aot::target::host_cpu;
use crate::jit;
use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, for_each_identifying_part};
use hlo_plan::Plan;
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};

/// The key of a program's object files: a digest of all the inputs of their compilation. Equal keys mean
/// equal code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeKey(pub [u8; 32]);

impl fmt::Display for CodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A store of compiled code. Several threads may call it at the same time.
///
/// # Safety
/// The program runs the object files that [`CodeCache::load`] returns. An implementation must return only
/// bytes that [`CodeCache::store`] was called with for the same key, unchanged, in this process or an earlier
/// one.
pub unsafe trait CodeCache: fmt::Debug + Send + Sync {
    /// Returns all object files stored under a key, unchanged.
    fn load(&self, key: CodeKey) -> Option<Vec<Vec<u8>>>;

    /// Stores object files. Failures are ignored.
    fn store(&self, key: CodeKey, objects: &[Vec<u8>]);
}

/// A digest that text is written to.
struct Digested(Sha256);

impl Write for Digested {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

/// Returns the key of a program's code. `parts` lists which kernels are compiled together.
pub(crate) fn key(module: &Module, plan: &Plan, parts: &impl fmt::Debug, optimize: bool) -> CodeKey {
    let mut digest = Digested(Sha256::new());
    let (cpu, features) = host_cpu();
    let Plan { steps, functions, transfers, custom_calls, arena_bytes, param_bytes, output_bytes, .. } = plan;
    // Constants that are not part of the code are passed to it at run time. Only their sizes matter, and the
    // module contains these.
    let made_of = (steps, functions, transfers, custom_calls, arena_bytes, param_bytes, output_bytes);
    let mut written = write!(digest, "{} {} {cpu:?} {features:?} ", env!("HLO_CODE_VERSION"), jit::version());
    written = written.and_then(|()| write!(digest, "{optimize} {parts:?} {made_of:?} "));
    debug_assert!(written.is_ok(), "a digest takes everything");
    // The metadata of a module does not affect its code.
    let options = PrintOptions { metadata: false, ..PrintOptions::default() };
    for_each_identifying_part(module, options, &mut |part| digest.0.update(part));
    CodeKey(digest.0.finalize().into())
}
