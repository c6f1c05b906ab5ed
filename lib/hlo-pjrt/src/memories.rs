//! In which kind of memory a program has its arguments and results: what the caller is told. All are the same memory.

use crate::device::MEMORY_KINDS;
use hlo_ir::{InstrId, LayoutItems, Module, Op, Shape};

/// The kind of memory that the host's memory space is.
const PINNED_HOST: &str = "pinned_host";
/// The target of a call that says in which kind of memory its operand is, and the frontend attribute that names the kind.
const PLACEMENT: (&str, &str) = ("annotate_device_placement", "_xla_buffer_placement");

/// The number of a kind in [`MEMORY_KINDS`], of one that it does not have that of the default.
fn number(kind: &str) -> usize {
    MEMORY_KINDS.iter().position(|k| *k == kind).unwrap_or_default()
}

/// The numbers in [`MEMORY_KINDS`] for each leaf of the parameters, by the layouts of the entry.
pub fn of_parameters(module: &Module) -> Vec<usize> {
    let (shapes, _) = module.entry_shapes();
    shapes.iter().flat_map(|shape| shape.leaves()).map(of_layout).collect()
}

/// The numbers in [`MEMORY_KINDS`] for each leaf of the result: what a call says just before it, or the layout of the entry.
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

/// In which kind of memory a call says that a value is. What says something else of it may come after: calls, and a tuple of it alone.
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
