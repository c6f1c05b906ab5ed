//! Constants: decides which are part of the code and which are stored in memory.

use hlo_ir::{ComputationId, InstrId, Module, Op};

/// Maximum number of elements of a constant array that is part of the code.
const MAX_EMBEDDED_ELEMENTS: usize = 64;

/// Returns the constants in a fused computation that are too large to be part of the code, in order. The
/// kernel receives their buffers after those of its operands.
pub fn stored_constants(module: &Module, computation: ComputationId) -> Vec<InstrId> {
    let large = |id: &InstrId| match (&module[*id].op, module[*id].shape.as_array()) {
        (Op::Constant(_), Some(a)) => a.element_count() > MAX_EMBEDDED_ELEMENTS,
        _ => false,
    };
    module.post_order(computation).into_iter().filter(large).collect()
}

/// Checks whether kernels contain a constant as an immediate value.
pub fn is_embedded(module: &Module, id: InstrId) -> bool {
    matches!(module[id].op, Op::Constant(_)) && module[id].shape.is_scalar()
}
