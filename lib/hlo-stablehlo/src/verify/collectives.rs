//! Rules on collectives.

use super::check::Check;
use super::regions::given;
use crate::text::type_text;
use crate::tree::{Attribute, Type, TypeKind};

/// Checks whether numbers of one type can be converted to the other without a change of their kind.
fn promotable(from: &Type, to: &Type) -> bool {
    let bits = |ty: &Type| match &**ty {
        TypeKind::Float(float) => float.bits(),
        TypeKind::Integer(bits, _) => *bits,
        _ => 0,
    };
    match (&**from, &**to) {
        (TypeKind::Quantized(from), TypeKind::Quantized(to)) => {
            from.expressed == to.expressed && bits(&from.storage) <= bits(&to.storage)
        }
        (TypeKind::Integer(..), TypeKind::Integer(..)) | (TypeKind::Float(_), TypeKind::Float(_)) => {
            bits(from) <= bits(to)
        }
        (TypeKind::Complex(from), TypeKind::Complex(to)) => bits(from) <= bits(to),
        _ => from == to,
    }
}

/// Checks the results of `all_reduce` and `reduce_scatter`: they have the element type that the region
/// returns, to which the operands' element types can be promoted.
pub(super) fn reduction(check: &mut Check<'_, '_>) {
    let operation = check.operation;
    let Some(given) = operation.regions.first().and_then(|region| given(check, region)) else { return };
    let [one] = given[..] else { return };
    let Some(element) = one.as_tensor().map(|a| &a.element) else { return };
    for index in 0..operation.operands.len() {
        if let Some(operand) = check.operand_array(index) {
            check.require(promotable(&operand.element, element), "C5", || {
                format!(
                    "operand {index} has elements of {}, the region {}",
                    type_text(&operand.element),
                    type_text(element)
                )
            });
        }
        if let Some(result) = check.result_array(index) {
            check.require(result.element == *element, "", || {
                format!(
                    "result {index} has elements of {}, the region gives {}",
                    type_text(&result.element),
                    type_text(element)
                )
            });
        }
    }
}

/// Checks `all_to_all`: groups have `split_count` devices, and the element type does not change.
pub(super) fn all_to_all(check: &mut Check<'_, '_>) {
    let operation = check.operation;
    if let Some(Attribute::Elements(groups)) = operation.attribute("replica_groups") {
        let dims = groups.ty.as_tensor().map_or(&[][..], |t| &t.dims);
        let count = operation.attribute("split_count").and_then(Attribute::as_int);
        // An empty list of groups stands for one group of all devices.
        if let ([_, size], Some(count)) = (dims, count)
            && *size != 0
        {
            check.require(*size == count, "C8", || format!("groups are of {count} devices, found {size}"));
        }
    }
    for index in 0..operation.results.len() {
        if let (Some(operand), Some(result)) = (check.operand_array(index), check.result_array(index)) {
            check.require(operand.element == result.element, "C9", || {
                format!(
                    "result {index} has the elements of its operand, {}, found {}",
                    type_text(&operand.element),
                    type_text(&result.element)
                )
            });
        }
    }
}

/// Checks a `collective_broadcast` whose sender is computed at run time: one number for each operand.
pub(super) fn broadcast(check: &mut Check<'_, '_>) {
    let operation = check.operation;
    let is_dynamic = operation.attribute("has_dynamic_root").and_then(Attribute::as_bool) == Some(true);
    let Some(data) = operation.operands.len().checked_sub(1).filter(|_| is_dynamic) else { return };
    let Some(count) = check.operand_array(data).and_then(|a| a.count()) else { return };
    check.require(count == data, "C4", || {
        format!("its last operand has a number for each of {data} others, found {count}")
    });
}
