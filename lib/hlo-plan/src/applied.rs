//! Size limits for computations that `reduce`, `map`, `sort`, `scatter` and similar operations apply to
//! scalars.

use crate::Refusal;
use hlo_ir::{ComputationId, InstrId, Module};
use std::collections::HashMap;

/// Maximum call depth of computations that are applied to scalars.
const MAX_CALL_DEPTH: usize = 64;
/// Maximum number of their instructions after all calls are expanded.
const MAX_APPLIED_INSTRUCTIONS: usize = 20_000;

/// Checks that the computations that the given instructions apply can be expanded.
///
/// # Errors
/// The computations call each other too deeply, or have too many instructions after all calls are expanded.
pub fn check_size(module: &Module, instructions: &[InstrId]) -> Result<(), Refusal> {
    let mut known = HashMap::new();
    let mut total = 0usize;
    for &id in instructions {
        for c in module[id].op.called_computations() {
            total = total.saturating_add(applied_size(module, c, 0, &mut known)?);
        }
    }
    if total > MAX_APPLIED_INSTRUCTIONS {
        return Err(format!(
            "computations on scalars that expand to more than {MAX_APPLIED_INSTRUCTIONS} instructions"
        )
        .into());
    }
    Ok(())
}

/// Returns the number of instructions of a computation after all calls are expanded.
fn applied_size(
    module: &Module,
    computation: ComputationId,
    depth: usize,
    known: &mut HashMap<ComputationId, usize>,
) -> Result<usize, Refusal> {
    if depth > MAX_CALL_DEPTH {
        return Err(
            format!("computations on scalars that call each other more than {MAX_CALL_DEPTH} deep").into()
        );
    }
    if let Some(&size) = known.get(&computation) {
        return Ok(size);
    }
    let mut size = 0usize;
    for &id in module[computation].instructions() {
        size = size.saturating_add(1);
        for c in module[id].op.called_computations() {
            size = size.saturating_add(applied_size(module, c, depth + 1, known)?);
        }
    }
    known.insert(computation, size);
    Ok(size)
}
