//! Rules of random numbers. Their result shapes must be written.

use super::context::{Context, Types};
use super::dim::shapes_agree;
use super::violation::{Place, Rule};
use crate::rules::code;
use crate::{ElementType, Shape};

/// `rng`: the distribution's two parameters are scalars of the result's type.
pub(super) fn rng(cx: &Context<'_>) -> Rule {
    let t = cx.array(0)?.element_type;
    for i in 0..cx.operands.len() {
        cx.scalar(i)?;
        cx.same_type(0, i)?;
    }
    if let Some(w) = cx.written_array()?
        && w.element_type != t
    {
        return Err(cx
            .written_error(format!("of {t} parameters gives {t}, but its shape is written {w}"))
            .with(Place::Operand(0), format!("this is {t}[]")));
    }
    Ok(None)
}

/// `rng-bit-generator`: the new state and the bits, or the bits alone.
pub(super) fn bit_generator(cx: &Context<'_>) -> Rule {
    let state = cx.operand(0)?;
    cx.array_of(0, Types::UNSIGNED)?;
    let bits = match cx.written {
        None => return Ok(None),
        Some(Shape::Tuple(parts)) => match &parts[..] {
            [new_state, bits] if shapes_agree(new_state, state) => bits,
            _ => {
                return Err(cx.written_error(format!(
                    "gives the state, {state}, and the bits, but its shape is written {}",
                    Shape::Tuple(parts.clone())
                )));
            }
        },
        Some(bits) => bits,
    };
    match bits {
        Shape::Array(a) if Types::REAL.contains(a.element_type) => Ok(None),
        Shape::Array(a) => {
            Err(cx.error(code::ELEMENT_TYPE, format!("gives bits as {}, found {a}", Types::REAL)))
        }
        Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            Err(cx.written_error(format!("gives an array of bits, found {bits}")))
        }
    }
}

/// `rng-get-and-update-state`: the state as a vector of `u64`.
pub(super) fn get_and_update_state(cx: &Context<'_>) -> Rule {
    match cx.written_array()? {
        Some(w) if w.element_type != ElementType::U64 || w.rank() != 1 => {
            Err(cx.written_error(format!("gives a vector of u64, but its shape is written {w}")))
        }
        _ => Ok(None),
    }
}
