//! Rules for random numbers. Their result shapes must be declared.

use super::context::Context;
use super::dim::shapes_agree;
use super::violation::{Place, Rule};
use crate::attr::{RngAlgorithm, RngAttrs, RngBitGeneratorAttrs, RngDistribution};
use crate::opcode::Types;
use crate::rules::code;
use crate::{ArrayShape, ElementType, Shape};

/// Checks `rng`. The two parameters of the distribution are scalars of the result's type.
pub(super) fn rng(cx: &Context<'_>, attrs: &RngAttrs) -> Rule {
    if cx.operands.len() != 2 {
        return Err(cx.error(
            code::ARITY,
            format!("takes the distribution's 2 parameters, found {}", cx.operands.len()),
        ));
    }
    let types = match attrs.distribution {
        RngDistribution::Uniform => Types::ORDERED,
        RngDistribution::Normal => Types::FLOAT,
        RngDistribution::Invalid => {
            return Err(cx
                .error(
                    code::RNG_DISTRIBUTION,
                    "needs a distribution to draw from in `distribution`, found none",
                )
                .of("distribution"));
        }
    };
    let t = cx.array(0)?.element_type;
    cx.record_violation(cx.array_of(0, types));
    cx.record_violation(cx.same_type(0, 1));
    cx.record_violation(cx.scalar(0));
    cx.record_violation(cx.scalar(1));
    if let Some(w) = cx.written_array()?
        && w.element_type != t
    {
        return Err(cx
            .error(code::RNG_RESULT, format!("of {t} parameters gives {t}, but its shape is written {w}"))
            .of_shape()
            .with(Place::Operand(0), format!("this is {t}[]")));
    }
    Ok(None)
}

/// Returns a description of the state that an algorithm requires, and whether the state fits it.
fn state_of(algorithm: RngAlgorithm, a: &ArrayShape) -> (&'static str, bool) {
    let vector = |sizes: &[i64]| {
        a.element_type == ElementType::U64 && a.rank() == 1 && a.is_static() && sizes.contains(&a.dims[0])
    };
    match algorithm {
        RngAlgorithm::Default => ("an array of unsigned integers", Types::UNSIGNED.contains(a.element_type)),
        RngAlgorithm::ThreeFry => ("u64[2]", vector(&[2])),
        RngAlgorithm::Philox => ("u64[2] or u64[3]", vector(&[2, 3])),
    }
}

/// Checks `rng-bit-generator`. The result contains the new state and the bits, or only the bits.
pub(super) fn bit_generator(cx: &Context<'_>, attrs: &RngBitGeneratorAttrs) -> Rule {
    let (state, a) = (cx.operand(0)?, cx.array(0)?);
    let (expected, fits) = state_of(attrs.algorithm, a);
    if !fits {
        cx.report(cx.operand_error(
            code::GENERATOR_STATE,
            0,
            format!("with algorithm={} needs {expected} as its state, found {a}", attrs.algorithm.text()),
        ));
    }
    let bits = match cx.written {
        None => return Ok(None),
        Some(Shape::Tuple(parts)) => match &parts[..] {
            [new_state, bits] if shapes_agree(new_state, state) => bits,
            _ => {
                return Err(cx
                    .operand_error(
                        code::GENERATOR_RESULT,
                        0,
                        format!(
                            "gives the state, {state}, and the bits, but its shape is written {}",
                            Shape::Tuple(parts.clone())
                        ),
                    )
                    .of_shape());
            }
        },
        Some(bits) => bits,
    };
    match bits {
        Shape::Array(a) if Types::REAL.contains(a.element_type) => Ok(None),
        Shape::Array(a) => {
            Err(cx.error(code::GENERATOR_BITS, format!("gives bits as {}, found {a}", Types::REAL)))
        }
        Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            Err(cx.error(code::GENERATOR_BITS, format!("gives an array of bits, found {bits}")))
        }
    }
}

/// Checks `rng-get-and-update-state`. The result is the state, 128 bits as a vector of two `u64`.
pub(super) fn get_and_update_state(cx: &Context<'_>) -> Rule {
    match cx.written_array()? {
        Some(w) if w.element_type != ElementType::U64 || w.dims[..] != [2] || !w.is_static() => {
            Err(cx.error(code::RNG_STATE, format!("gives u64[2], but its shape is written {w}")).of_shape())
        }
        _ => Ok(None),
    }
}
