//! Linear operations: the result on a sum is the sum of the results on the summands.

use crate::support::combiner::binary_combiner;
use crate::support::constants::{is_splat_float, is_splat_integer};
use hlo_ir::{ElementType, InstrId, Module, Op, Opcode};

/// Returns which operands an operation takes as summands, if it then produces summands of its result. All
/// other operands must be equal for all summands. `there` returns whether an operand is available as
/// summands.
pub(super) fn summand_operands(
    module: &Module,
    id: InstrId,
    there: impl Fn(usize) -> bool,
) -> Option<Vec<bool>> {
    let count = module[id].operands.len();
    let ty = element_type(module, id)?;
    let only = |wanted: &[usize]| -> Option<Vec<bool>> {
        let fits = (0..count).all(|n| there(n) == wanted.contains(&n));
        (fits && !wanted.is_empty()).then(|| (0..count).map(|n| wanted.contains(&n)).collect())
    };
    if ty.is_pred() {
        return None;
    }
    let zero = |n: usize| is_zero(module, *module[id].operands.get(n)?).then_some(());
    match &module[id].op {
        Op::Add | Op::Subtract => only(&[0, 1]),
        Op::Negate | Op::Real | Op::Imag => only(&[0]),
        Op::Convert => only(&[0]).filter(|_| rounds_only(module, id, ty)),
        Op::Multiply | Op::Dot(_) => only(&[0]).or_else(|| only(&[1])),
        Op::Divide if !ty.is_integer() => only(&[0]),
        Op::Pad(_) => zero(1).and_then(|()| only(&[0])),
        Op::Reduce(_) if is_sum(module, id) => only(&[0]),
        op => {
            let moves = op.opcode().traits().moves;
            only(&(0..count).filter(|&n| moves.contains(n)).collect::<Vec<_>>())
        }
    }
}

/// Returns whether the instruction is a sum of one array with the initial value zero.
pub(super) fn is_sum(module: &Module, id: InstrId) -> bool {
    let Op::Reduce(a) = &module[id].op else { return false };
    let &[_, init] = &module[id].operands[..] else { return false };
    binary_combiner(module, a.to_apply) == Some(Opcode::Add) && is_zero(module, init)
}

/// Returns whether the value is zero, looking through calls that only specify a sharding.
pub(super) fn is_zero(module: &Module, mut id: InstrId) -> bool {
    while let (true, &[operand]) = (only_forwards_operand(module, id), &module[id].operands[..]) {
        id = operand;
    }
    is_splat_float(module, id, 0.0) || is_splat_float(module, id, -0.0) || is_splat_integer(module, id, 0)
}

/// Returns whether the instruction only passes on its operand, in any sharding.
pub(super) fn only_forwards_operand(module: &Module, id: InstrId) -> bool {
    matches!(module[id].op, Op::Copy)
        || crate::partitioning::sharding_propagation::forwards_device_array(module, id)
}

/// Returns whether the conversion only changes the rounding. For other conversions, such as to a wider
/// integer, the sum of the results would differ.
fn rounds_only(module: &Module, id: InstrId, to: ElementType) -> bool {
    let from = module[id].operands.first().and_then(|&o| element_type(module, o));
    from.is_some_and(|from| {
        let inexact = |ty: ElementType| ty.is_float() || ty.is_complex();
        inexact(from) && inexact(to)
            || from.is_integer() && to.is_integer() && to.bit_width() <= from.bit_width()
    })
}

fn element_type(module: &Module, id: InstrId) -> Option<ElementType> {
    Some(module[id].shape.as_array()?.element_type)
}
