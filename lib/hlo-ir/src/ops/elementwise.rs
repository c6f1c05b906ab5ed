//! Rules of elementwise opcodes: one result element from the operands' elements at the same index.

use super::context::{Context, Types};
use super::dim::{Dim, array_of, dims, dims_agree};
use super::violation::{Place, Rule, Violation};
use crate::attr::{CompareAttrs, ComparisonDirection, ComparisonType, ReducePrecisionAttrs};
use crate::rules::code;
use crate::{ArrayShape, ElementType};

/// The shape of an elementwise result: the sizes that the operands of `indices` share, with the layout of
/// the first.
fn shared_shape(
    cx: &Context<'_>,
    indices: &[usize],
    element_type: ElementType,
) -> Result<ArrayShape, Violation> {
    let Some((&first, rest)) = indices.split_first() else {
        return Ok(ArrayShape::new(element_type, []));
    };
    let mut shape = cx.array(first)?.with_element_type(element_type);
    for &i in rest {
        cx.same_dims(first, i)?;
        let other = cx.array(i)?;
        if other.dynamic.is_empty() && shape.dynamic.is_empty() {
            continue;
        }
        let merged: Vec<Dim> = dims(&shape).zip(dims(other)).map(|(a, b)| a.merge(b)).collect();
        shape = ArrayShape { layout: shape.layout, ..array_of(element_type, merged) };
    }
    Ok(shape)
}

/// An opcode of one operand of a type in `types`, the result having the same type.
pub(super) fn unary(cx: &Context<'_>, types: Types) -> Rule {
    Ok(Some(cx.array_of(0, types)?.clone().into()))
}

/// `copy`: whatever the operand is.
pub(super) fn copy(cx: &Context<'_>) -> Rule {
    Ok(Some(cx.operand(0)?.clone()))
}

/// `abs`, `real`, `imag`: a complex operand gives a real result.
pub(super) fn to_real(cx: &Context<'_>, types: Types) -> Rule {
    let a = cx.array_of(0, types)?;
    Ok(Some(a.with_element_type(a.element_type.real_type()).into()))
}

/// `is-finite`.
pub(super) fn is_finite(cx: &Context<'_>) -> Rule {
    Ok(Some(cx.array_of(0, Types::FLOAT)?.with_element_type(ElementType::Pred).into()))
}

/// An opcode of two operands of one type in `types`, the result having that type.
pub(super) fn binary(cx: &Context<'_>, types: Types) -> Rule {
    let t = cx.array(0)?.element_type;
    cx.array(1)?;
    cx.also(cx.array_of(0, types));
    cx.also(cx.same_type(0, 1));
    Ok(Some(shared_shape(cx, &[0, 1], t)?.into()))
}

/// `compare`: the order must be one of the element type.
pub(super) fn compare(cx: &Context<'_>, attrs: &CompareAttrs) -> Rule {
    let t = cx.array(0)?.element_type;
    cx.same_type(0, 1)?;
    let allowed = match attrs.comparison_type {
        ComparisonType::Default => Types::ANY,
        ComparisonType::Float => Types::INEXACT,
        ComparisonType::TotalOrder => Types::FLOAT,
        ComparisonType::Signed => Types::SIGNED,
        ComparisonType::Unsigned => Types::UNSIGNED_OR_PRED,
    };
    if !allowed.contains(t) {
        return Err(cx.error(
            code::ELEMENT_TYPE,
            format!("of type={} works on {allowed}, found {t}", attrs.comparison_type.text()),
        ));
    }
    let ordered = !matches!(attrs.direction, ComparisonDirection::Eq | ComparisonDirection::Ne);
    if t.is_complex() && ordered {
        return Err(cx.error(
            code::ELEMENT_TYPE,
            format!("of complex numbers has direction EQ or NE, found {}", attrs.direction.text()),
        ));
    }
    Ok(Some(shared_shape(cx, &[0, 1], ElementType::Pred)?.into()))
}

/// `complex`: the complex type of the parts' type.
pub(super) fn complex(cx: &Context<'_>) -> Rule {
    let t = cx.array(0)?.element_type;
    cx.same_type(0, 1)?;
    let Some(result) = t.complex_type() else {
        return Err(cx
            .error(code::ELEMENT_TYPE, format!("works on f32 and f64, found {t}"))
            .with(Place::Operand(0), format!("this is {}", cx.array(0)?)));
    };
    Ok(Some(shared_shape(cx, &[0, 1], result)?.into()))
}

/// `select`: the predicate is a scalar or has the sizes of the other two.
pub(super) fn select(cx: &Context<'_>) -> Rule {
    let predicate = cx.array_of(0, Types::PRED)?;
    let t = cx.array(1)?.element_type;
    cx.same_type(1, 2)?;
    cx.same_dims(1, 2)?;
    if predicate.rank() == 0 {
        return Ok(Some(shared_shape(cx, &[1, 2], t)?.into()));
    }
    Ok(Some(shared_shape(cx, &[1, 2, 0], t)?.into()))
}

/// `clamp(low, x, high)`: each bound is a scalar or has the sizes of `x`.
pub(super) fn clamp(cx: &Context<'_>) -> Rule {
    let t = cx.array_of(1, Types::ORDERED)?.element_type;
    let mut same_sizes = vec![1];
    for bound in [0, 2] {
        cx.same_type(1, bound)?;
        if cx.array(bound)?.rank() != 0 {
            same_sizes.push(bound);
        }
    }
    Ok(Some(shared_shape(cx, &same_sizes, t)?.into()))
}

/// Checks that the written shape has the sizes of operand 0, and gives it.
fn written_like_operand<'a>(cx: &Context<'a>) -> Result<Option<&'a ArrayShape>, Violation> {
    let a = cx.array(0)?;
    let Some(w) = cx.written_array()? else { return Ok(None) };
    if !dims_agree(a, w) {
        return Err(cx
            .written_error(format!("keeps the sizes of its operand, {a}, but its shape is written {w}"))
            .with(Place::Operand(0), format!("this is {a}")));
    }
    Ok(Some(w))
}

/// `convert`: any type to any other, but not complex to real.
pub(super) fn convert(cx: &Context<'_>) -> Rule {
    let a = cx.array(0)?;
    if let Some(w) = written_like_operand(cx)?
        && a.element_type.is_complex()
        && !w.element_type.is_complex()
    {
        return Err(cx
            .error(
                code::ELEMENT_TYPE,
                format!("does not turn {} into {}: use `real`", a.element_type, w.element_type),
            )
            .with(Place::Operand(0), format!("this is {a}")));
    }
    Ok(None)
}

/// `stochastic-convert(x, random)`: the random bits are as wide as `x`.
pub(super) fn stochastic_convert(cx: &Context<'_>) -> Rule {
    let x = cx.array_of(0, Types::FLOAT)?;
    let random = cx.array_of(1, Types::UNSIGNED)?;
    cx.same_dims(0, 1)?;
    if x.element_type.bit_width() != random.element_type.bit_width() {
        return Err(cx
            .error(
                code::ELEMENT_TYPE,
                format!(
                    "needs random numbers of {} bits as {} has, found {}",
                    x.element_type.bit_width(),
                    x.element_type,
                    random.element_type
                ),
            )
            .with(Place::Operand(1), format!("this is {random}")));
    }
    if let Some(w) = written_like_operand(cx)?
        && !Types::REAL.contains(w.element_type)
    {
        return Err(cx.error(code::ELEMENT_TYPE, format!("gives {}, found {}", Types::REAL, w.element_type)));
    }
    Ok(None)
}

/// `reduce-precision`: at least one exponent bit, no negative number of mantissa bits.
pub(super) fn reduce_precision(cx: &Context<'_>, attrs: &ReducePrecisionAttrs) -> Rule {
    let a = cx.array_of(0, Types::FLOAT)?;
    if attrs.exponent_bits < 1 {
        return Err(cx.error(
            code::ATTRIBUTE,
            format!("needs exponent_bits of 1 or more, found {}", attrs.exponent_bits),
        ));
    }
    if attrs.mantissa_bits < 0 {
        return Err(cx.error(
            code::ATTRIBUTE,
            format!("needs mantissa_bits of 0 or more, found {}", attrs.mantissa_bits),
        ));
    }
    Ok(Some(a.clone().into()))
}

/// `bitcast-convert`: the same sizes for types of one width; otherwise the wider side lacks the last
/// dimension, whose size is the ratio of the widths.
pub(super) fn bitcast_convert(cx: &Context<'_>) -> Rule {
    let a = cx.array(0)?;
    let Some(w) = cx.written_array()? else { return Ok(None) };
    if a.element_type.is_complex() != w.element_type.is_complex() {
        return Err(cx.error(
            code::ELEMENT_TYPE,
            format!(
                "does not turn {} into {}: complex and real types do not mix",
                a.element_type, w.element_type
            ),
        ));
    }
    let (from, to) = (i64::from(a.element_type.bit_width()), i64::from(w.element_type.bit_width()));
    let (wide, narrow, ratio) = if from >= to { (a, w, from / to) } else { (w, a, to / from) };
    let fits = from.max(to) % from.min(to) == 0
        && if from == to {
            dims_agree(a, w)
        } else {
            let expected = dims(wide).chain([Dim::fixed(ratio)]);
            narrow.rank() == wide.rank() + 1 && expected.zip(dims(narrow)).all(|(x, y)| x.agrees(y))
        };
    if fits {
        return Ok(None);
    }
    let rule = if from == to {
        "keeps the sizes between types of one width".to_string()
    } else {
        format!("between types of {from} and {to} bits adds or drops a last dimension of their ratio")
    };
    Err(cx
        .written_error(format!("{rule}; the operand is {a}, the shape is written {w}"))
        .with(Place::Operand(0), format!("this is {a}")))
}
