//! Rules for parameters, constants and tuples.

use super::context::Context;
use super::dim::shapes_agree;
use super::violation::{Place, Rule};
use crate::Shape;
use crate::attr::{ConstantAttrs, GetTupleElementAttrs};
use crate::rules::code;

/// Checks `constant`. The declared shape must be that of the literal.
pub(super) fn constant(cx: &Context<'_>, attrs: &ConstantAttrs) -> Rule {
    match cx.written {
        Some(w) if !shapes_agree(w, attrs.literal.shape()) => Err(cx
            .error(
                code::CONSTANT_SHAPE,
                format!("has a value of {}, but its shape is written {w}", attrs.literal.shape()),
            )
            .of_shape()),
        _ => Ok(None),
    }
}

/// Maximum number of parts of a tuple without a declared shape. Each level of nested tuples can double the
/// size, even if the innermost tuples are empty.
const MAX_INFERRED_PARTS: usize = 1 << 16;

/// Checks `tuple`. The result has the operands' shapes, including their layouts.
pub(super) fn tuple(cx: &Context<'_>) -> Rule {
    // Only parts nested in tuples count: an array operand is one part that the text itself contains.
    let parts = || cx.operands.iter().map(|s| s.node_count() - 1).fold(0, usize::saturating_add);
    if cx.written.is_none() && parts() > MAX_INFERRED_PARTS {
        return Err(cx.error(
            code::OVERFLOW,
            format!("of more than {MAX_INFERRED_PARTS} parts needs its shape written"),
        ));
    }
    Ok(Some(Shape::Tuple(cx.operands.iter().map(|&s| s.clone()).collect())))
}

/// Checks `get-tuple-element`. The result has the element's shape, including its layout.
pub(super) fn get_tuple_element(cx: &Context<'_>, attrs: &GetTupleElementAttrs) -> Rule {
    let elements = cx.tuple(0)?;
    let element = usize::try_from(attrs.index).ok().and_then(|i| elements.get(i));
    element.map(|s| Some(s.clone())).ok_or_else(|| {
        cx.error(
            code::TUPLE_INDEX,
            format!("names element {} in `index`, of a tuple of {}", attrs.index, elements.len()),
        )
        .of("index")
        .with(Place::Operand(0), format!("this tuple has {} elements", elements.len()))
    })
}
