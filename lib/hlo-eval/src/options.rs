//! The limits and settings of an evaluation.

use crate::lapack;
use hlo_custom_call::Registry;
use hlo_ir::watch::Watch;
use std::sync::Arc;

/// Limits and settings of an evaluation.
///
/// # Example
/// A limit on the number of operations ends an infinite loop:
///
/// ```
/// let module = hlo_parser::parse_module("HloModule m
/// same { s = s32[] parameter(0) }
/// always { s = s32[] parameter(0) ROOT p = pred[] constant(true) }
/// ENTRY main { z = s32[] constant(0) ROOT w = s32[] while(z), condition=always, body=same }
/// ").expect("a module");
/// let options = hlo_eval::Options { max_operations: Some(1000), ..Default::default() };
/// assert!(hlo_eval::evaluate(&module, &[], &options).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// Maximum total size in bytes of the values that the evaluation creates. Inputs and constants don't
    /// count.
    pub max_bytes: usize,
    /// Maximum number of element operations, or `None` for no limit. An instruction counts as at least one
    /// operation. With a limit, every evaluation ends. A custom call counts the bytes of its operands and the
    /// elements of its results, whatever its target does.
    pub max_operations: Option<u64>,
    /// Maximum call depth.
    pub max_call_depth: usize,
    /// The targets of custom calls. The default contains the built-in targets and those of
    /// [`lapack::LAPACK`].
    pub custom_calls: Registry,
    /// The seed of random numbers. They also depend on the instruction that draws them (see
    /// [`hlo_ir::streams`]).
    pub seed: u64,
    /// The observer of the evaluation, which may stop it.
    pub watch: Option<Arc<Watch>>,
    /// Whether to compute everything by its definition, element by element, instead of by the fast paths.
    /// This is slow; tests use it to check the fast paths.
    pub definitions_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        let mut custom_calls = Registry::new();
        custom_calls.add(lapack::LAPACK);
        Self {
            max_bytes: 8 << 30,
            max_operations: None,
            max_call_depth: 200,
            custom_calls,
            seed: 0,
            watch: None,
            definitions_only: false,
        }
    }
}
