//! Rules on written result types that follow from operands and regions.

use super::check::{Check, agree};
use super::regions::{compatible, given};
use crate::text::type_text;
use crate::tree::{Attribute, Type, TypeKind};

/// Checks `tuple`: the result has the types of the operands.
pub(super) fn tuple(check: &mut Check<'_, '_>) {
    let operands = check.operation.operands.iter().map(|&v| check.tree.type_of(v).clone()).collect();
    let follows: Type = TypeKind::Tuple(operands).into();
    let Some(result) = check.result(0) else { return };
    let fits = match (&*follows, &**result) {
        (TypeKind::Tuple(a), TypeKind::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| compatible(a, b))
        }
        _ => false,
    };
    check.require(fits, "C1", || {
        format!("its result is of type {}, found {}", type_text(&follows), type_text(result))
    });
}

/// Checks `get_tuple_element`: the result has the type of the element.
pub(super) fn element(check: &mut Check<'_, '_>) {
    let index = check.operation.attribute("index").and_then(Attribute::as_int);
    let (Some(index), Some(operand), Some(result)) = (index, check.operand(0), check.result(0)) else {
        return;
    };
    let TypeKind::Tuple(elements) = &**operand else { return };
    let element = usize::try_from(index).ok().and_then(|index| elements.get(index));
    let Some(element) = element else {
        return check.report("C1", format!("element {index} is none of {}", type_text(operand)));
    };
    check.require(compatible(element, result), "C2", || {
        format!("its result is of type {}, found {}", type_text(element), type_text(result))
    });
}

/// Checks `reduce`: the results have the element types that the region returns, and the remaining dimensions.
pub(super) fn reduce(check: &mut Check<'_, '_>) {
    let operation = check.operation;
    let reduced = operation.attribute("dimensions").and_then(Attribute::ints);
    let (Some(reduced), [region]) = (reduced, &operation.regions[..]) else { return };
    let Some(elements) = given(check, region) else { return };
    for (index, element) in elements.into_iter().enumerate() {
        let (Some(operand), Some(result), Some(element)) =
            (check.operand_array(index), check.result_array(index), element.as_tensor())
        else {
            continue;
        };
        let rank = operand.dims.len() as i64;
        if reduced.iter().any(|d| !(0..rank).contains(d)) {
            return check.report("C4", format!("its dimensions are in 0 to {}, found {reduced:?}", rank - 1));
        }
        let each = operand.dims.iter().enumerate();
        let left: Vec<i64> = each.filter(|(d, _)| !reduced.contains(&(*d as i64))).map(|(_, &n)| n).collect();
        let fits = agree(&result.dims, &left);
        if !fits {
            check.result_sizes(index, "C7", &left);
        }
        check.require(result.element == element.element, "C8", || {
            let (expected, found) = (type_text(&element.element), type_text(&result.element));
            format!("result {index} has elements of {expected}, as its region gives, found {found}")
        });
    }
}
