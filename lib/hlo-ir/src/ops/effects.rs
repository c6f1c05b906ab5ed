//! Rules for tokens, transfers between devices and with the host, asynchronous copies, and custom calls. The
//! result shape of a custom call must be declared. It is checked only against the attributes.

use super::context::Context;
use super::contract::{counted, fits};
use super::violation::{Rule, Violation};
use crate::attr::{CustomCallAttrs, LayoutConstraints, OperandAlias, OutfeedAttrs, index_text};
use crate::rules::code;
use crate::{ElementType, Shape};
use std::collections::HashSet;

/// Checks `add-dependency(value, token)`. The result is the value.
pub(super) fn add_dependency(cx: &Context<'_>) -> Rule {
    cx.record_violation(cx.token(1));
    Ok(Some(cx.operand(0)?.clone()))
}

/// Checks `copy-start`. The result contains the copy, the source and a context.
pub(super) fn copy_start(cx: &Context<'_>) -> Rule {
    let a = cx.operand(0)?;
    Ok(Some(Shape::tuple(vec![a.clone(), a.clone(), Shape::scalar(ElementType::U32)])))
}

/// Checks `copy-done`. The result is the copy.
pub(super) fn copy_done(cx: &Context<'_>) -> Rule {
    match cx.tuple(0)? {
        [copy, source, context] if fits(copy, source) && is_context(context) => Ok(Some(copy.clone())),
        _ => Err(cx.operand_error(
            code::COPY_STATE,
            0,
            format!("takes a copy, its source and a context as one tuple, found {}", cx.operand(0)?),
        )),
    }
}

/// Returns whether the shape is that of a context, which identifies a transfer.
fn is_context(shape: &Shape) -> bool {
    shape.as_array().is_some_and(|a| a.rank() == 0 && a.element_type == ElementType::U32)
}

/// Checks `infeed`. The result contains the value that was read and a token.
pub(super) fn infeed(cx: &Context<'_>) -> Rule {
    cx.record_violation(cx.token(0));
    match cx.written {
        Some(Shape::Tuple(parts)) if matches!(parts[..], [_, Shape::Token]) => Ok(None),
        None => Ok(None),
        Some(other) => Err(cx
            .error(
                code::INFEED_RESULT,
                format!("gives a tuple of a value and a token, but its shape is written {other}"),
            )
            .of_shape()),
    }
}

/// Checks `outfeed(value, token)`. The result is a token.
pub(super) fn outfeed(cx: &Context<'_>, attrs: &OutfeedAttrs) -> Rule {
    cx.record_violation(cx.token(1));
    let value = cx.operand(0)?;
    if let Some(shape) = attrs.outfeed_shape.0.as_ref().filter(|&s| !fits(s, value)) {
        cx.report(
            cx.operand_error(
                code::OUTFEED_SHAPE,
                0,
                format!("sends {value}, but `outfeed_shape` says {shape}"),
            )
            .of("outfeed_shape"),
        );
    }
    Ok(Some(Shape::Token))
}

/// Checks `send(value, token)`. The result contains the value, a context and a token.
pub(super) fn send(cx: &Context<'_>) -> Rule {
    cx.record_violation(cx.token(1));
    Ok(Some(Shape::tuple(vec![cx.operand(0)?.clone(), Shape::scalar(ElementType::U32), Shape::Token])))
}

/// Returns the shape of the transferred value. Operand 0 is the result of `send` or `recv`.
fn transferred<'a>(cx: &Context<'a>) -> Result<&'a Shape, Violation> {
    match cx.tuple(0)? {
        [value, context, Shape::Token] if is_context(context) => Ok(value),
        _ => Err(cx.operand_error(
            code::TRANSFER_STATE,
            0,
            format!("takes a value, a context and a token as one tuple, found {}", cx.operand(0)?),
        )),
    }
}

/// Checks `send-done`. The result is a token.
pub(super) fn send_done(cx: &Context<'_>) -> Rule {
    transferred(cx).map(|_| Some(Shape::Token))
}

/// Checks `recv`. The result contains a value, a context and a token.
pub(super) fn recv(cx: &Context<'_>) -> Rule {
    cx.record_violation(cx.token(0));
    match cx.written {
        Some(Shape::Tuple(parts)) if matches!(&parts[..], [_, c, Shape::Token] if is_context(c)) => Ok(None),
        None => Ok(None),
        Some(other) => Err(cx
            .error(
                code::RECV_RESULT,
                format!("gives a value, a context and a token, but its shape is written {other}"),
            )
            .of_shape()),
    }
}

/// Checks `recv-done`. The result contains the value and a token.
pub(super) fn recv_done(cx: &Context<'_>) -> Rule {
    transferred(cx).map(|value| Some(Shape::tuple(vec![value.clone(), Shape::Token])))
}

/// Returns the shape of `partition-id` and `replica-id`: a `u32` scalar.
pub(super) fn device_id() -> Rule {
    Ok(Some(Shape::scalar(ElementType::U32)))
}

/// Checks the attributes of a `custom-call` against its operands and its declared result.
pub(super) fn custom_call(cx: &Context<'_>, attrs: &CustomCallAttrs) -> Rule {
    check_layout_constraints(cx, &attrs.operand_layout_constraints);
    if let Some(written) = cx.written {
        let aliased =
            Aliased { result: written, operands: cx.operands, through_buffers: wraps_buffers(attrs) };
        check_aliases(cx, &attrs.output_to_operand_aliasing, aliased);
        let is_seed = cx.operands.is_empty() && *written == Shape::scalar(ElementType::U64);
        if attrs.custom_call_target.as_bytes() == b"GetRngSeed" && !is_seed {
            let operands = counted(cx.operands.len(), "operand");
            return Err(cx.error(
                code::RNG_SEED,
                format!("`GetRngSeed` takes nothing and gives u64[], found {operands} and {written}"),
            ));
        }
    }
    Ok(None)
}

fn check_layout_constraints(cx: &Context<'_>, constraints: &LayoutConstraints) {
    let Some(shapes) = &constraints.0 else { return };
    if shapes.len() != cx.operands.len() {
        cx.report(
            cx.error(
                code::LAYOUT_CONSTRAINT_COUNT,
                format!(
                    "has {} shapes in `operand_layout_constraints` for {} operands",
                    shapes.len(),
                    cx.operands.len()
                ),
            )
            .of("operand_layout_constraints"),
        );
        return;
    }
    for (i, (shape, &operand)) in shapes.iter().zip(cx.operands).enumerate() {
        if !fits(shape, operand) {
            cx.report(
                cx.operand_error(
                    code::LAYOUT_CONSTRAINT_SHAPE,
                    i,
                    format!(
                        "has {shape} in `operand_layout_constraints` for operand {i}, which is {operand}"
                    ),
                )
                .of("operand_layout_constraints"),
            );
        }
    }
}

/// Returns whether the custom call converts a value to a buffer or a buffer to a value. Both sides of its
/// alias are the same memory, but only one of them has a buffer shape.
fn wraps_buffers(attrs: &CustomCallAttrs) -> bool {
    ["CreateBuffer", "Pin", "Unpin"].iter().any(|t| attrs.custom_call_target.as_bytes() == t.as_bytes())
}

/// Returns the shape of a buffer's contents. Other shapes are returned unchanged.
pub(crate) fn unwrapped(shape: &Shape) -> &Shape {
    match shape {
        Shape::Buffer(inner) => inner,
        other => other,
    }
}

/// The values that `output_to_operand_aliasing` refers to.
pub(super) struct Aliased<'s> {
    /// The result.
    pub(super) result: &'s Shape,
    /// The operands.
    pub(super) operands: &'s [&'s Shape],
    /// Whether a buffer may share memory with an array of the same shape.
    pub(super) through_buffers: bool,
}

/// Checks the pairs of result part and operand part that share memory. With `through_buffers`, a buffer
/// matches the array that it contains.
pub(super) fn check_aliases(cx: &Context<'_>, aliases: &[OperandAlias], aliased: Aliased<'_>) {
    let Aliased { result, operands, through_buffers } = aliased;
    let mut seen = HashSet::new();
    for alias in aliases {
        let output = index_text(&alias.output);
        if !seen.insert(&alias.output) {
            cx.report(
                cx.error(
                    code::RESULT_ALIASED_ONCE,
                    format!("names part {output} of the result twice in `output_to_operand_aliasing`"),
                )
                .of("output_to_operand_aliasing"),
            );
        }
        let to = result.part(&alias.output);
        if to.is_none() {
            cx.report(cx.error(
                code::ALIASED_RESULT,
                format!(
                    "names part {output} of the result in `output_to_operand_aliasing`, but the result is {result}"
                ),
            ).of("output_to_operand_aliasing"));
        }
        let operand = usize::try_from(alias.operand).ok().and_then(|i| Some((i, *operands.get(i)?)));
        let Some((i, operand)) = operand else {
            cx.report(
                cx.error(
                    code::ALIASED_OPERAND,
                    format!(
                        "names operand {} in `output_to_operand_aliasing`, but has {} operands",
                        alias.operand,
                        operands.len()
                    ),
                )
                .of("output_to_operand_aliasing"),
            );
            continue;
        };
        let index = index_text(&alias.operand_index);
        let Some(from) = operand.part(&alias.operand_index) else {
            cx.report(cx.operand_error(
                code::ALIASED_OPERAND,
                i,
                format!(
                    "names part {index} of operand {i} in `output_to_operand_aliasing`, but that is {operand}"
                ),
            ).of("output_to_operand_aliasing"));
            continue;
        };
        let agree = |to: &Shape| fits(to, from) || (through_buffers && fits(unwrapped(to), unwrapped(from)));
        if let Some(to) = to.filter(|to| !agree(to)) {
            cx.report(cx.operand_error(
                code::ALIASED_SHAPES,
                i,
                format!(
                    "puts part {output} of the result, {to}, where part {index} of operand {i} is, {from}, in \
                     `output_to_operand_aliasing`"
                ),
            ).of("output_to_operand_aliasing"));
        }
    }
}
