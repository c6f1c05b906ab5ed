//! Rules of parameters, constants and tuples.

use super::context::Context;
use super::violation::{Place, Rule, code};
use crate::Shape;
use crate::attr::{ConstantAttrs, GetTupleElementAttrs};

/// `constant`: the written shape is the literal's.
pub(super) fn constant(cx: &Context<'_>, attrs: &ConstantAttrs) -> Rule {
    cx.check_written(attrs.literal.shape())?;
    Ok(None)
}

/// `tuple`: the operands' shapes, layouts included.
pub(super) fn tuple(cx: &Context<'_>) -> Rule {
    Ok(Some(Shape::Tuple(cx.operands.iter().map(|&s| s.clone()).collect())))
}

/// `get-tuple-element`: the element's shape, layout included.
pub(super) fn get_tuple_element(cx: &Context<'_>, attrs: &GetTupleElementAttrs) -> Rule {
    let elements = cx.tuple(0)?;
    let element = usize::try_from(attrs.index).ok().and_then(|i| elements.get(i));
    element.map(|s| Some(s.clone())).ok_or_else(|| {
        cx.error(
            code::ATTRIBUTE,
            format!("asks for element {} of a tuple of {}", attrs.index, elements.len()),
        )
        .with(Place::Operand(0), format!("this tuple has {} elements", elements.len()))
    })
}
