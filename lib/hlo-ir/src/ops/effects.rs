//! Rules of tokens, host transfers, asynchronous copies and custom calls. What a custom call or a generic
//! asynchronous operation gives must be written and is not checked.

use super::context::Context;
use super::violation::Rule;
use crate::rules::code;
use crate::{ElementType, Shape};

/// `after-all`: tokens into one.
pub(super) fn after_all(cx: &Context<'_>) -> Rule {
    for i in 0..cx.operands.len() {
        cx.token(i)?;
    }
    Ok(Some(Shape::Token))
}

/// `add-dependency(value, token)`: the value.
pub(super) fn add_dependency(cx: &Context<'_>) -> Rule {
    cx.token(1)?;
    Ok(Some(cx.operand(0)?.clone()))
}

/// `copy-start`: the copy, the source and a context.
pub(super) fn copy_start(cx: &Context<'_>) -> Rule {
    let a = cx.operand(0)?;
    Ok(Some(Shape::Tuple(vec![a.clone(), a.clone(), Shape::scalar(ElementType::U32)])))
}

/// Element `index` of the tuple that the operand is: what `copy-done` and the like give.
pub(super) fn element_of_operand(cx: &Context<'_>, index: usize) -> Rule {
    let elements = cx.tuple(0)?;
    elements.get(index).map(|s| Some(s.clone())).ok_or_else(|| {
        cx.error(code::OPERAND_SHAPES, format!("takes element {index} of a tuple of {}", elements.len()))
    })
}

/// `infeed`: what is read, and a token.
pub(super) fn infeed(cx: &Context<'_>) -> Rule {
    cx.token(0)?;
    match cx.written {
        None | Some(Shape::Tuple(_)) => {}
        Some(other) => return Err(cx.written_error(format!("gives a value and a token, not {other}"))),
    }
    if let Some([_, Shape::Token]) | None = cx.written.and_then(Shape::as_tuple) {
        return Ok(None);
    }
    Err(cx.written_error("gives a tuple of a value and a token"))
}

/// `outfeed(value, token)`: a token.
pub(super) fn outfeed(cx: &Context<'_>) -> Rule {
    cx.token(1)?;
    Ok(Some(Shape::Token))
}

/// `send(value, token)`: the value, a context and a token.
pub(super) fn send(cx: &Context<'_>) -> Rule {
    cx.token(1)?;
    Ok(Some(Shape::Tuple(vec![cx.operand(0)?.clone(), Shape::scalar(ElementType::U32), Shape::Token])))
}

/// `send-done`: a token.
pub(super) fn send_done(cx: &Context<'_>) -> Rule {
    cx.tuple(0)?;
    Ok(Some(Shape::Token))
}

/// `recv`: a value, a context and a token.
pub(super) fn recv(cx: &Context<'_>) -> Rule {
    cx.token(0)?;
    match cx.written {
        None => Ok(None),
        Some(w) => match w.as_tuple() {
            Some([_, _, Shape::Token]) => Ok(None),
            _ => Err(cx.written_error(format!(
                "gives a value, a context and a token, but its shape is written {w}"
            ))),
        },
    }
}

/// `recv-done`: the value and a token.
pub(super) fn recv_done(cx: &Context<'_>) -> Rule {
    match cx.tuple(0)? {
        [value, ..] => Ok(Some(Shape::Tuple(vec![value.clone(), Shape::Token]))),
        [] => Err(cx.error(code::OPERAND_SHAPES, "takes the result of `recv`, found an empty tuple")),
    }
}

/// `partition-id`, `replica-id`: a `u32`.
pub(super) fn device_id() -> Rule {
    Ok(Some(Shape::scalar(ElementType::U32)))
}
