//! Compiled code that is kept from one compilation to the next: what it is known by.
//!
//! Only object files are kept, which cost most of the time. What else a program is - its plan, its constants, its custom
//! calls - is made anew from the module each time, so that nothing of it can be out of date.

use crate::jit;
use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, for_each_identifying_part};
use hlo_plan::Plan;
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};

/// What object files are known by: a digest of all that they are made of. Equal keys mean equal code.
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
/// The program runs the object files that [`CodeCache::load`] returns. An implementation must return only bytes that
/// [`CodeCache::store`] was called with for the same key, unchanged, in this process or an earlier one.
pub unsafe trait CodeCache: fmt::Debug + Send + Sync {
    /// The object files that were kept under a key, whole and as they were.
    fn load(&self, key: CodeKey) -> Option<Vec<Vec<u8>>>;

    /// Keeps object files, if that can be done.
    fn store(&self, key: CodeKey, objects: &[Vec<u8>]);
}

/// Feeds a digest with text.
struct Digested(Sha256);

impl Write for Digested {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

/// The key of a program's code. `parts` says which kernels are compiled together.
pub(crate) fn key(module: &Module, plan: &Plan, parts: &impl fmt::Debug, optimize: bool) -> CodeKey {
    let mut digest = Digested(Sha256::new());
    let (cpu, features) = jit::host_cpu();
    let Plan { steps, functions, transfers, custom_calls, arena_bytes, param_bytes, output_bytes, .. } = plan;
    // Constants that are not part of the code are given to it; only their sizes matter, which the module says.
    let made_of = (steps, functions, transfers, custom_calls, arena_bytes, param_bytes, output_bytes);
    let mut written = write!(digest, "{} {} {cpu:?} {features:?} ", env!("HLO_CODE_VERSION"), jit::version());
    written = written.and_then(|()| write!(digest, "{optimize} {parts:?} {made_of:?} "));
    debug_assert!(written.is_ok(), "a digest takes everything");
    // Where a module comes from says nothing about its code.
    let options = PrintOptions { metadata: false, ..PrintOptions::default() };
    for_each_identifying_part(module, options, &mut |part| digest.0.update(part));
    CodeKey(digest.0.finalize().into())
}
