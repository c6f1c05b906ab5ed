//! The memory kinds of a program's arguments and results, as reported to the caller. All kinds are the same
//! memory.

use crate::device::MEMORY_KINDS;
use hlo_ir::{InstrId, LayoutItems, Module, Op, Shape};

/// The memory kind of the host memory space.
const PINNED_HOST: &str = "pinned_host";
/// The target of a custom call that places its operand in a memory, and the frontend attribute with the
/// memory kind.
const PLACEMENT: (&str, &str) = ("annotate_device_placement", "_xla_buffer_placement");

/// Returns the number of a kind in [`MEMORY_KINDS`], or the number of the default kind if it is not in the
/// list.
fn number(kind: &str) -> usize {
    MEMORY_KINDS.iter().position(|k| *k == kind).unwrap_or_default()
}

/// Returns the numbers in [`MEMORY_KINDS`] of the leaves of the parameters, by the layouts of the entry
/// computation.
pub fn of_parameters(module: &Module) -> Vec<usize> {
    let (shapes, _) = module.entry_shapes();
    shapes.iter().flat_map(|shape| shape.leaves()).map(of_layout).collect()
}

/// Returns the numbers in [`MEMORY_KINDS`] of the leaves of the result. A placement call just before the
/// result takes precedence over the layout of the entry computation.
pub fn of_results(module: &Module) -> Vec<usize> {
    let (_, result) = module.entry_shapes();
    let root = module[module.entry()].root();
    let values = match module[root].op {
        Op::Tuple => &module[root].operands[..],
        _ => std::slice::from_ref(&root),
    };
    let said = values.iter().flat_map(|&id| vec![placement(module, id); module[id].shape.leaf_count()]);
    let kinds = said.zip(result.leaves());
    kinds.map(|(said, shape)| said.map_or_else(|| of_layout(shape), number)).collect()
}

fn of_layout(leaf: &Shape) -> usize {
    let is_host = leaf.as_array().is_some_and(|array| array.memory_space() == LayoutItems::HOST_MEMORY);
    if is_host { number(PINNED_HOST) } else { 0 }
}

/// Returns the memory kind that a placement call specifies for a value. Between the call and the value there
/// may be other calls that forward their operand, and tuples with this value only.
fn placement(module: &Module, mut id: InstrId) -> Option<&str> {
    loop {
        let &[operand] = &module[id].operands[..] else { return None };
        match &module[id].op {
            Op::CustomCall(call) if call.custom_call_target == PLACEMENT.0 => {
                return module[id].common.as_deref()?.frontend_attributes.get(PLACEMENT.1)?.as_str();
            }
            Op::CustomCall(call) if call.forwards_operands() => id = operand,
            Op::GetTupleElement(_) if matches!(module[operand].op, Op::Tuple) => id = operand,
            Op::Tuple => id = operand,
            _ => return None,
        }
    }
}
