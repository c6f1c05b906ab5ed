//! Which fusions a kernel can compute: those of instructions whose elements are functions of their operands' elements.
//! The others, such as fusions of sorts or of other fusions, are calls.

use crate::plan::in_place::updated_operands;
use hlo_ir::{Family, InstrId, Module, Op, Shape};

/// True if a kernel can compute a fusion, some of whose operands or results may change their layout with it.
pub fn covers(module: &Module, fusion: InstrId, changes_layout: bool) -> bool {
    let Op::Fusion(f) = &module[fusion].op else { return true };
    let root = module[f.calls].root();
    module[f.calls].instructions().iter().all(|&i| match &module[i].op {
        Op::Parameter(_) => is_read(module, i, root),
        Op::GetTupleElement(_) => is_array(module, i) && has_results(module, i),
        Op::Tuple => i == root && module[i].operands.iter().all(|&o| is_result(module, o)),
        Op::Reduce(_) | Op::ReduceWindow(_) => is_result(module, i),
        // They work on the fusion's result in place.
        Op::Scatter(_) => {
            i == root
                && !changes_layout
                && updated_operands(module, fusion).len() == module[i].operands.len() / 2
        }
        Op::SelectAndScatter(_) => i == root,
        Op::Bitcast => {
            is_array(module, i) && element_bytes(module, i) == element_bytes(module, module[i].operands[0])
        }
        op => is_array(module, i) && has_element(op),
    })
}

/// True for an opcode with a single array as its result, an element of which a kernel computes.
fn has_element(op: &Op) -> bool {
    match op {
        Op::Constant(_) | Op::Iota(_) | Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) => true,
        Op::Reverse(_) | Op::Slice(_) | Op::Pad(_) | Op::Concatenate(_) | Op::Copy => true,
        Op::DynamicSlice(_) | Op::DynamicUpdateSlice | Op::Gather(_) | Op::Map(_) | Op::Dot(_) => true,
        op => op.opcode().family() == Family::Elementwise,
    }
}

fn is_array(module: &Module, id: InstrId) -> bool {
    module[id].shape.as_array().is_some()
}

/// The size of an element of an array.
fn element_bytes(module: &Module, id: InstrId) -> Option<usize> {
    module[id].shape.as_array().map(|a| a.element_type.byte_size())
}

/// True for an array, or a tuple of arrays that only its elements are taken from.
fn is_read(module: &Module, parameter: InstrId, root: InstrId) -> bool {
    let taken = |&u: &InstrId| matches!(module[u].op, Op::GetTupleElement(_));
    is_result(module, parameter)
        && (is_array(module, parameter) || (parameter != root && module.users(parameter).iter().all(taken)))
}

/// True for an array or a tuple of arrays.
fn is_result(module: &Module, id: InstrId) -> bool {
    match &module[id].shape {
        Shape::Array(_) => true,
        Shape::Tuple(parts) => parts.iter().all(|part| part.as_array().is_some()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => false,
    }
}

/// True if what an element is taken of computes all its elements at once, or is a parameter.
fn has_results(module: &Module, id: InstrId) -> bool {
    let whole = module[id].operands.first().map(|&o| &module[o].op);
    matches!(whole, Some(Op::Parameter(_) | Op::Reduce(_) | Op::ReduceWindow(_)))
}
