//! Rules on elementwise operations: the element types and the numbers of dimensions match.

use super::check::{Check, agree, sizes_text};
use super::quantized::same_kind;
use crate::dialect::elementwise_opcode;
use crate::text::type_text;
use crate::tree::{Type, TypeKind};
use hlo_ir::Class;
use hlo_ir::opcode::ResultType;

/// The relation between the element types of the result and the operands.
enum Elements {
    /// The types are equal.
    Same,
    /// The types are equal, but the result is real if the operands are complex.
    Real,
    /// Another relation, which the translation checks.
    Other,
}

fn elements_of(name: &str) -> Option<Elements> {
    if name == "chlo.atan" {
        return Some(Elements::Same);
    }
    let opcode = elementwise_opcode(name)?.elementwise().filter(|e| e.class != Class::Ternary)?;
    Some(match opcode.result {
        ResultType::Same => Elements::Same,
        ResultType::Real => Elements::Real,
        ResultType::Pred | ResultType::Complex | ResultType::Written => Elements::Other,
    })
}

/// Checks the rules of an operation if it is elementwise.
pub(super) fn elementwise(check: &mut Check<'_, '_>, name: &str) {
    if let "chlo.broadcast_add"
    | "chlo.broadcast_maximum"
    | "chlo.broadcast_minimum"
    | "chlo.broadcast_subtract"
    | "chlo.broadcast_multiply"
    | "chlo.broadcast_divide" = name
    {
        return of_one_kind(check);
    }
    let Some(elements) = elements_of(name) else { return };
    let Some(result) = check.result_array(0) else { return };
    for index in 0..check.operation.operands.len() {
        let Some(operand) = check.operand_array(index) else { continue };
        check.require(agree(&operand.dims, &result.dims), "", || {
            let (operand, result) = (sizes_text(&operand.dims), sizes_text(&result.dims));
            format!("operand {index} and the result have one shape, found {operand} and {result}")
        });
    }
    let Some(operand) = check.operand_array(0) else { return };
    for index in 1..check.operation.operands.len() {
        let Some(other) = check.operand_array(index) else { continue };
        let is_quantized = |ty: &Type| matches!(&**ty, TypeKind::Quantized(_));
        let comparable = is_quantized(&operand.element) || is_quantized(&other.element);
        check.require(comparable || operand.element == other.element, "", || {
            let (first, other) = (type_text(&operand.element), type_text(&other.element));
            format!("its operands have elements of one type, found {first} and {other}")
        });
    }
    let wanted: &Type = match (elements, &*operand.element) {
        (Elements::Other, _) => return,
        (Elements::Real, TypeKind::Complex(part)) => part,
        (Elements::Same | Elements::Real, _) => &operand.element,
    };
    match (&**wanted, &*result.element) {
        (TypeKind::Quantized(_), _) | (_, TypeKind::Quantized(_)) => {
            of_one_kind(check);
            super::quantized::same_axis(check);
        }
        (wanted_kind, found) => check.require(wanted_kind == found, "", || {
            format!("its result has elements of {}, found {}", type_text(wanted), type_text(&result.element))
        }),
    }
}

/// Checks that operands and results have the same kind of elements, and are all quantized or all not.
fn of_one_kind(check: &mut Check<'_, '_>) {
    let elements: Vec<&Type> = check.types().filter_map(|ty| ty.as_tensor()).map(|a| &a.element).collect();
    let Some((first, rest)) = elements.split_first() else { return };
    if let Some(other) = rest.iter().find(|other| !same_kind(first, other)) {
        check.report(
            "",
            format!(
                "operands and results are of one kind of numbers, found {} and {}",
                type_text(first),
                type_text(other)
            ),
        );
    }
}
