//! Rules for elementwise opcodes: each result element depends on the operands' elements at the same index.

use super::context::Context;
use super::dim::{Dim, array_of, dims, dims_agree};
use super::violation::{Place, Rule, Violation};
use crate::attr::{CompareAttrs, ComparisonDirection, ComparisonType, ReducePrecisionAttrs};
use crate::opcode::{Class, Elementwise, ResultType, Types};
use crate::rules::code;
use crate::{ArrayShape, ElementType, Op};
use smallvec::SmallVec;

/// Returns the shape of an elementwise result: the common sizes of the operands `indices`, with the layout of
/// the first. If the sizes differ, a violation is recorded, and the result is that of XLA's shape inference,
/// which repeats scalars and dimensions of size 1.
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
        let other = cx.array(i)?;
        if let Err(v) = cx.same_dims(first, i) {
            let Some(repeated) = repeated(&shape, other) else { return Err(v) };
            cx.report(v);
            shape = repeated;
        } else if !(other.dynamic.is_empty() && shape.dynamic.is_empty()) {
            let merged: Vec<Dim> = dims(&shape).zip(dims(other)).map(|(a, b)| repeat_dim(a, b)).collect();
            shape = ArrayShape { layout: shape.layout, ..array_of(element_type, merged) };
        }
    }
    Ok(shape)
}

/// Returns the shape of two arrays after each repeats its dimensions of size 1 to match the other.
fn repeated(a: &ArrayShape, b: &ArrayShape) -> Option<ArrayShape> {
    let element_type = a.element_type;
    if a.rank() == 0 || b.rank() == 0 {
        return Some(array_of(element_type, dims(if a.rank() == 0 { b } else { a })));
    }
    let fits = |(x, y): (Dim, Dim)| x.size == 1 || y.size == 1 || x.agrees(y);
    (a.rank() == b.rank() && dims(a).zip(dims(b)).all(fits))
        .then(|| array_of(element_type, dims(a).zip(dims(b)).map(|(x, y)| repeat_dim(x, y))))
}

/// Returns the result dimension for two dimensions that agree, or of which one has size 1.
fn repeat_dim(a: Dim, b: Dim) -> Dim {
    match (a.size, b.size) {
        (1, n) if n != 1 => b,
        (n, 1) if n != 1 => a,
        _ => a.merge(b),
    }
}

/// Checks an elementwise operation. Most opcodes are checked by the table alone.
pub(super) fn rule(cx: &Context<'_>, op: &Op) -> Rule {
    match op {
        Op::Convert => convert(cx),
        Op::ReducePrecision(a) => reduce_precision(cx, a),
        Op::StochasticConvert => stochastic_convert(cx),
        Op::Compare(a) => compare(cx, a),
        Op::Complex => complex(cx),
        Op::Clamp => clamp(cx),
        Op::Select => select(cx),
        _ => op.opcode().elementwise().map_or(Ok(None), |e| by_table(cx, e)),
    }
}

/// Checks an operation by the opcode table: the operands have one type, which the opcode accepts, and the
/// same sizes.
fn by_table(cx: &Context<'_>, opcode: Elementwise) -> Rule {
    let indices: SmallVec<[usize; 3]> = (0..opcode.class.operands()).collect();
    let t = match opcode.class {
        Class::Unary => cx.array_of(0, opcode.types)?.element_type,
        Class::Binary | Class::Commutative | Class::Associative | Class::Ternary => {
            cx.record_violation(cx.array_of(0, opcode.types));
            indices[1..].iter().try_fold(cx.array(0)?.element_type, |_, &i| cx.shared_type(0, i))?
        }
    };
    let result = match opcode.result {
        ResultType::Same => t,
        ResultType::Real => t.real_type(),
        ResultType::Pred => ElementType::Pred,
        ResultType::Complex => t.complex_type().unwrap_or(t),
        ResultType::Written => return Ok(None),
    };
    Ok(Some(shared_shape(cx, &indices, result)?.into()))
}

/// Checks `compare`. The element type must allow the comparison type.
pub(super) fn compare(cx: &Context<'_>, attrs: &CompareAttrs) -> Rule {
    let t = cx.shared_type(0, 1)?;
    let allowed = match attrs.comparison_type {
        ComparisonType::Default => Types::ANY,
        ComparisonType::Float => Types::INEXACT,
        ComparisonType::TotalOrder => Types::FLOAT,
        ComparisonType::Signed => Types::SIGNED,
        ComparisonType::Unsigned => Types::UNSIGNED_OR_PRED,
    };
    if !allowed.contains(t) {
        let message = format!("of type={} works on {allowed}, found {t}", attrs.comparison_type.text());
        cx.report(
            cx.error(code::COMPARE_TYPE, message)
                .with(Place::Operand(0), format!("this is {}", cx.array(0)?)),
        );
    }
    let ordered = !matches!(attrs.direction, ComparisonDirection::Eq | ComparisonDirection::Ne);
    if t.is_complex() && ordered {
        let message = format!("of complex numbers has direction EQ or NE, found {}", attrs.direction.text());
        cx.report(
            cx.error(code::COMPARE_DIRECTION, message)
                .with(Place::Operand(0), format!("this is {}", cx.array(0)?)),
        );
    }
    Ok(Some(shared_shape(cx, &[0, 1], ElementType::Pred)?.into()))
}

/// Checks `complex`. The result has the complex type for the type of the parts.
pub(super) fn complex(cx: &Context<'_>) -> Rule {
    let t = cx.array(0)?.element_type;
    cx.record_violation(cx.same_type(0, 1));
    let Some(result) = t.complex_type() else {
        return Err(cx
            .error(code::COMPLEX_PARTS, format!("works on f32 and f64, found {t}"))
            .with(Place::Operand(0), format!("this is {}", cx.array(0)?)));
    };
    Ok(Some(shared_shape(cx, &[0, 1], result)?.into()))
}

/// Checks `select`. The predicate is a scalar, or has the sizes of the other operands and determines the
/// layout of the result.
pub(super) fn select(cx: &Context<'_>) -> Rule {
    let predicate = cx.array(0)?;
    cx.record_violation(cx.array_of(0, Types::PRED));
    let t = cx.shared_type(1, 2)?;
    let result = shared_shape(cx, &[1, 2], t)?;
    if predicate.rank() == 0 {
        return Ok(Some(result.into()));
    }
    if !dims_agree(predicate, &result) {
        return Err(cx
            .error(
                code::SELECT_PREDICATE,
                format!("needs a predicate that is a scalar or has the sizes of the values, {result}, found {predicate}"),
            )
            .with(Place::Operand(0), format!("this is {predicate}"))
            .with(Place::Operand(1), format!("this is {}", cx.array(1)?)));
    }
    let merged: Vec<Dim> = dims(&result).zip(dims(predicate)).map(|(a, b)| a.merge(b)).collect();
    Ok(Some(ArrayShape { layout: predicate.layout.clone(), ..array_of(t, merged) }.into()))
}

/// Checks `clamp(low, x, high)`. Each bound is a scalar or has the sizes of `x`. The result has the shape of
/// `x`.
pub(super) fn clamp(cx: &Context<'_>) -> Rule {
    let x = cx.array(1)?;
    for i in [0, 2] {
        let bound = cx.array(i)?;
        cx.record_violation(cx.shared_type(1, i));
        if bound.rank() != 0 && !dims_agree(bound, x) {
            let message = format!("needs bounds that are scalars or have the sizes of {x}, found {bound}");
            cx.report(
                cx.error(code::CLAMP_BOUNDS, message)
                    .with(Place::Operand(i), format!("this is {bound}"))
                    .with(Place::Operand(1), format!("this is {x}")),
            );
        }
    }
    Ok(Some(x.clone().into()))
}

/// Checks that the declared shape has the sizes of operand 0. Returns the declared shape.
fn written_like_operand<'a>(cx: &Context<'a>) -> Result<Option<&'a ArrayShape>, Violation> {
    let a = cx.array(0)?;
    let Some(w) = cx.written_array()? else { return Ok(None) };
    if !dims_agree(a, w) {
        cx.report(
            cx.error(
                code::CONVERT_SIZES,
                format!("keeps the sizes of its operand, {a}, but its shape is written {w}"),
            )
            .of_shape()
            .with(Place::Operand(0), format!("this is {a}")),
        );
    }
    Ok(Some(w))
}

/// Checks `convert`. Any conversion is valid except from complex to real.
pub(super) fn convert(cx: &Context<'_>) -> Rule {
    let a = cx.array(0)?;
    if let Some(w) = written_like_operand(cx)?
        && a.element_type.is_complex()
        && !w.element_type.is_complex()
    {
        return Err(cx
            .error(
                code::CONVERT_COMPLEX,
                format!("does not turn {} into {}: use `real`", a.element_type, w.element_type),
            )
            .with(Place::Operand(0), format!("this is {a}")));
    }
    Ok(None)
}

/// Checks `stochastic-convert(x, random)`. The random numbers must have as many bits as `x`.
pub(super) fn stochastic_convert(cx: &Context<'_>) -> Rule {
    let (x, random) = (cx.array(0)?, cx.array(1)?);
    cx.record_violation(cx.array_of(0, Types::FLOAT));
    cx.record_violation(cx.array_of(1, Types::UNSIGNED));
    cx.record_violation(cx.same_dims(0, 1));
    let bits = x.element_type.bit_width();
    if Types::UNSIGNED.contains(random.element_type) && bits != random.element_type.bit_width() {
        cx.report(
            cx.error(
                code::RANDOM_WIDTH,
                format!(
                    "needs random numbers of {bits} bits as {} has, found {}",
                    x.element_type, random.element_type
                ),
            )
            .with(Place::Operand(0), format!("this is {x}"))
            .with(Place::Operand(1), format!("this is {random}")),
        );
    }
    if let Some(w) = written_like_operand(cx)?
        && !Types::REAL.contains(w.element_type)
    {
        return Err(cx
            .error(code::STOCHASTIC_RESULT, format!("gives {}, but its shape is written {w}", Types::REAL))
            .of_shape());
    }
    Ok(None)
}

/// Checks `reduce-precision`: at least one exponent bit, and no negative number of mantissa bits.
pub(super) fn reduce_precision(cx: &Context<'_>, attrs: &ReducePrecisionAttrs) -> Rule {
    let a = cx.array(0)?;
    cx.record_violation(cx.array_of(0, Types::FLOAT));
    if attrs.exponent_bits < 1 {
        let message = format!("needs `exponent_bits` of 1 or more, found {}", attrs.exponent_bits);
        cx.report(cx.error(code::EXPONENT_BITS, message).of("exponent_bits"));
    }
    if attrs.mantissa_bits < 0 {
        let message = format!("needs `mantissa_bits` of 0 or more, found {}", attrs.mantissa_bits);
        cx.report(cx.error(code::MANTISSA_BITS, message).of("mantissa_bits"));
    }
    Ok(Some(a.clone().into()))
}
