//! Sums and products in the computations of `reduce`, `reduce-window`, `scatter` and `select-and-scatter`.

use crate::{ComputationId, ElementType, InstrId, Module, Op};

/// Finds the results of a computation that are the sum or the product of their accumulator and their element.
/// Returns the operation (`add` or `multiply`) and the type for each of the `count` results, and `None` for
/// other results. The computation's first parameters are the accumulators, the others the elements.
///
/// The result is also `None` if the accumulator has another use. Otherwise, the type that the accumulator is
/// stored in does not affect the other results.
pub fn sums_and_products(
    module: &Module,
    computation: ComputationId,
    count: usize,
) -> Vec<Option<(&Op, ElementType)>> {
    let parameters = module.parameters(computation);
    if !module.has_root(computation) || parameters.len() != 2 * count {
        return vec![None; count];
    }
    let root = module[computation].root();
    let results: &[InstrId] = match module[root].op {
        Op::Tuple => &module[root].operands,
        _ => std::slice::from_ref(&root),
    };
    if results.len() != count {
        return vec![None; count];
    }
    let pairs = parameters[..count].iter().zip(&parameters[count..]);
    results.iter().zip(pairs).map(|(&r, (&a, &e))| sum_or_product(module, r, a, e)).collect()
}

/// Returns the operation by which a result is computed from its accumulator and its element, and its type.
fn sum_or_product(
    module: &Module,
    result: InstrId,
    accumulator: InstrId,
    element: InstrId,
) -> Option<(&Op, ElementType)> {
    let scalar = |id: InstrId| {
        module[id].shape.as_array().filter(|a| a.rank() == 0 && a.is_static()).map(|a| a.element_type)
    };
    let ty = scalar(result)?;
    // The computation may convert narrow floats to `f32`, compute in `f32`, and convert the result back.
    let operation = match module[result].op {
        Op::Convert if is_accumulated_wide(ty) => *module[result].operands.first()?,
        _ => result,
    };
    let is_in_steps = operation != result;
    let given = |id: InstrId| match module[id].op {
        Op::Convert if is_in_steps => module[id].operands.first().copied(),
        _ if is_in_steps => None,
        _ => Some(id),
    };
    let &[a, b] = &module[operation].operands[..] else { return None };
    let (from_a, from_b) = (given(a)?, given(b)?);
    let of_both = [from_a, from_b] == [accumulator, element] || [from_b, from_a] == [accumulator, element];
    let held = if is_in_steps { ElementType::F32 } else { ty };
    let typed = [operation, a, b].iter().all(|&i| scalar(i) == Some(held))
        && [accumulator, element].iter().all(|&i| scalar(i) == Some(ty));
    let used_by = if from_a == accumulator { a } else { b };
    let only_user = if is_in_steps { used_by } else { operation };
    let only_there = module.users(accumulator) == [only_user] && module.users(only_user).len() <= 1;
    let op = &module[operation].op;
    (matches!(op, Op::Add | Op::Multiply) && of_both && typed && only_there).then_some((op, ty))
}

/// Returns whether sums and products of a type are accumulated in `f32` and rounded once: floats of less than
/// 32 bits.
pub fn is_accumulated_wide(ty: ElementType) -> bool {
    ty.is_float() && ty.bit_width() < 32
}
