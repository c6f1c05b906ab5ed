//! Which results are other names of the memory of operands.

use hlo_ir::{InstrId, Module, Op};

/// What the leaves of a result are, if they are memory of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// Those of all operands, one after the other.
    Tuple,
    /// Those of that element of the first operand.
    Element(i64),
    /// Those of the first operand.
    Whole,
}

/// What the leaves of a result are, if they are memory of the instruction's operands: of tuples and their elements, of what
/// changes no byte, and of the ends of asynchronous operations, whose starts have made the result.
pub fn alias(module: &Module, id: InstrId) -> Option<Alias> {
    Some(match &module[id].op {
        Op::Tuple => Alias::Tuple,
        Op::GetTupleElement(a) => Alias::Element(a.index),
        Op::Bitcast | Op::OptBarrier | Op::AddDependency | Op::Domain(_) => Alias::Whole,
        Op::Reshape(_) | Op::Transpose(_) | Op::BitcastConvert if keeps_bytes(module, id) => Alias::Whole,
        Op::AsyncUpdate(_) | Op::AllReduceDone => Alias::Whole,
        Op::CopyDone | Op::RecvDone(_) => Alias::Element(0),
        Op::AsyncDone(_) | Op::AllGatherDone | Op::CollectivePermuteDone => Alias::Element(1),
        _ => return None,
    })
}

/// True for what only gives another name to memory: that is no read of it, what is read through the name is. The end of an
/// asynchronous operation is one: until then the operation reads and writes.
pub fn is_alias(module: &Module, id: InstrId) -> bool {
    match &module[id].op {
        Op::AsyncUpdate(_) | Op::AllReduceDone | Op::CopyDone | Op::RecvDone(_) => false,
        Op::AsyncDone(_) | Op::AllGatherDone | Op::CollectivePermuteDone => false,
        _ => alias(module, id).is_some(),
    }
}

/// True if the value of a copy, reshape, transpose or bitcast-convert is the bytes of its operand in the same order.
pub fn keeps_bytes(module: &Module, id: InstrId) -> bool {
    let instr = &module[id];
    let operand = instr.operands.first().and_then(|&o| module[o].shape.as_array());
    let (Some(from), Some(to)) = (operand, instr.shape.as_array()) else { return false };
    if from.checked_element_count() != to.checked_element_count() {
        return false;
    }
    match &instr.op {
        Op::Copy => from.same_strides(to),
        Op::Transpose(t) => from.same_strides_by(to, |d| t.dimensions.get(d).map_or(d, |&p| p as usize)),
        // Sub-byte types are extended by sign or zeros to a byte, and a bool is one of two bytes.
        Op::BitcastConvert => {
            from.element_type.bit_width() == to.element_type.bit_width()
                && from.element_type.bit_width() >= 8
                && from.same_strides(to)
        }
        // Both in the order of their elements' numbers.
        _ => from.is_dense_row_major() && to.is_dense_row_major(),
    }
}
