//! Rules on result sizes that follow from operands, attributes and constants.

use super::check::{Check, agree, sizes_text};
use crate::text::type_text;
use crate::tree::{Attribute, DYNAMIC, TypeKind};

/// Checks `constant`: the result has the type of the value.
pub(super) fn constant(check: &mut Check<'_, '_>) {
    let Some(Attribute::Elements(value)) = check.operation.attribute("value") else { return };
    let (Some(own), Some(result)) = (value.ty.as_tensor(), check.result_array(0)) else { return };
    let Some(ty) = check.result(0) else { return };
    let sizes = own.dims == result.dims;
    // The value of a quantized constant consists of the stored integers.
    let elements = match &*result.element {
        TypeKind::Quantized(q) => own.element == q.storage || own.element == result.element,
        _ => own.element == result.element,
    };
    check.require(sizes && elements, "C1", || {
        format!(
            "its value and its result are of one type, found {} and {}",
            type_text(&value.ty),
            type_text(ty)
        )
    });
}

/// Checks `broadcast` of early versions, which adds dimensions before those of the operand.
pub(super) fn broadcast(check: &mut Check<'_, '_>) {
    let sizes = check.operation.attribute("broadcast_sizes").and_then(Attribute::ints);
    let (Some(mut sizes), Some(operand)) = (sizes, check.operand_array(0)) else { return };
    sizes.extend(&operand.dims);
    check.result_sizes(0, "", &sizes);
}

/// Checks an operand that contains the sizes of the result: it is a vector of known length, and a constant
/// matches the result.
pub(super) fn by_operand(check: &mut Check<'_, '_>, index: usize, rule: &str) {
    let Some(operand) = check.operand(index) else { return };
    let is_vector = operand.as_tensor().is_none_or(|a| matches!(a.dims[..], [n] if n != DYNAMIC));
    check.require(is_vector, "", || {
        format!("operand {index} is a vector of known length, found {}", type_text(operand))
    });
    if let Some(sizes) = check.constant(index).filter(|_| is_vector) {
        check.require(sizes.iter().all(|&s| s >= 0), rule, || {
            format!("sizes are not negative, found {sizes:?}")
        });
        check.result_sizes(0, rule, &sizes);
    }
}

/// Checks `reshape`: the result has at most one bounded dimension.
pub(super) fn one_bounded(check: &mut Check<'_, '_>) {
    let Some(result) = check.result_array(0).filter(|a| a.encoding.is_some()) else { return };
    let open = result.dims.iter().filter(|&&d| d == DYNAMIC).count();
    check.require(open <= 1, "", || format!("its result has one bounded dimension at most, found {open}"));
}

/// Checks `transpose`: the result has the sizes of the operand in another order.
pub(super) fn transpose(check: &mut Check<'_, '_>) {
    let permutation = check.operation.attribute("permutation").and_then(Attribute::ints);
    let (Some(permutation), Some(operand)) = (permutation, check.operand_array(0)) else { return };
    let size = |&d: &i64| usize::try_from(d).ok().and_then(|d| operand.dims.get(d)).copied();
    if let Some(sizes) = permutation.iter().map(size).collect::<Option<Vec<i64>>>() {
        check.result_sizes(0, "C3", &sizes);
    }
}

/// Checks `dot` of early versions: vectors and matrices, contracted along the last and the first dimension.
pub(super) fn dot(check: &mut Check<'_, '_>) {
    let (Some(lhs), Some(rhs)) = (check.operand_array(0), check.operand_array(1)) else { return };
    let (lhs, rhs) = (&lhs.dims[..], &rhs.dims[..]);
    if !(1..=2).contains(&lhs.len()) || !(1..=2).contains(&rhs.len()) {
        let (lhs, rhs) = (sizes_text(lhs), sizes_text(rhs));
        return check.report("", format!("its operands are vectors or matrices, found {lhs} and {rhs}"));
    }
    let (Some((&last, rows)), Some((&first, columns))) = (lhs.split_last(), rhs.split_first()) else {
        return;
    };
    check.require(agree(&[last], &[first]), "", || {
        format!("it sums over {last} elements of the one operand and {first} of the other")
    });
    check.result_sizes(0, "", &[rows, columns].concat());
}

/// Checks `chlo.scan`: the size of the scanned dimension, if the operation contains it.
pub(super) fn scan(check: &mut Check<'_, '_>) {
    let number = |name: &str| check.operation.attribute(name).and_then(Attribute::as_int);
    let (Some(wanted), Some(dimension)) = (number("scan_dim_size"), number("dimension")) else { return };
    let inputs = check.operation.attribute("operandSegmentSizes").and_then(Attribute::ints);
    let inputs = inputs.and_then(|sizes| usize::try_from(*sizes.first()?).ok()).unwrap_or(0);
    for index in 0..inputs.min(check.operation.operands.len()) {
        let size =
            usize::try_from(dimension).ok().and_then(|d| check.operand_array(index)?.dims.get(d).copied());
        let Some(size) = size else { continue };
        check.require(agree(&[size], &[wanted]), "", || {
            format!("`scan_dim_size` is the size of dimension {dimension} of operand {index}, {size}, found {wanted}")
        });
    }
}
