//! Aliases: results that are another name of their operands' memory.

use hlo_ir::{InstrId, Module, Op};

/// The operand leaves that a result consists of, if it has no memory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// The leaves of all operands, in order.
    Tuple,
    /// The leaves of this element of the first operand.
    Element(i64),
    /// The leaves of the first operand.
    Whole,
}

/// Returns the operand leaves that a result consists of, or `None` if the result has memory of its own.
///
/// Aliases are tuples, tuple elements, instructions that change no byte, and the ends of asynchronous
/// operations, whose result the start has allocated.
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

/// Checks whether an instruction only gives another name to memory. Such an instruction does not count as a
/// read: only the reads through the new name do.
///
/// The end of an asynchronous operation counts as a read, because the operation accesses the memory until
/// then.
pub fn is_alias(module: &Module, id: InstrId) -> bool {
    match &module[id].op {
        Op::AsyncUpdate(_) | Op::AllReduceDone | Op::CopyDone | Op::RecvDone(_) => false,
        Op::AsyncDone(_) | Op::AllGatherDone | Op::CollectivePermuteDone => false,
        _ => alias(module, id).is_some(),
    }
}

/// Checks whether a copy, reshape, transpose or bitcast-convert returns the bytes of its operand in the same
/// order.
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
        // Types narrower than a byte are sign-extended or zero-extended to a byte, and a bool is one of two
        // bytes.
        Op::BitcastConvert => {
            from.element_type.bit_width() == to.element_type.bit_width()
                && from.element_type.bit_width() >= 8
                && from.same_strides(to)
        }
        // Both must store their elements in row-major order.
        _ => from.is_dense_row_major() && to.is_dense_row_major(),
    }
}
