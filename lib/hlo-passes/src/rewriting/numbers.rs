//! The constants of rules, and numbers that rules compute from constants.

use super::{Arithmetic, Expression, Relation, Value};
use crate::support::constants::{
    ElementBytes, Number, all_ones, exact_reciprocal, float_bytes, integer_bytes, wide_integer_bytes,
};
use crate::support::integer_range::{Range, type_range};
use hlo_ir::ElementType;
use smallvec::SmallVec;

/// Evaluates an expression. `value` returns the value of a variable, and `ty` its element type. Returns `None`
/// if a value is not known, or if a function is not defined for it.
pub fn evaluate(
    expression: &Expression,
    value: &dyn Fn(usize) -> Option<Number>,
    ty: &dyn Fn(usize) -> Option<ElementType>,
) -> Option<Number> {
    Some(match expression {
        Expression::Integer(n) => Number::Integer((*n).into()),
        Expression::Variable(v) => value(*v)?,
        Expression::Width(v) => Number::Integer(ty(*v)?.bit_width().into()),
        Expression::Lowest(v) => Number::Integer(type_range(ty(*v)?)?.low),
        Expression::Highest(v) => Number::Integer(type_range(ty(*v)?)?.high),
        Expression::Log2(operand) => match evaluate(operand.first()?, value, ty)? {
            Number::Integer(n) if n > 0 && n & (n - 1) == 0 => Number::Integer(n.trailing_zeros().into()),
            _ => return None,
        },
        Expression::Reciprocal(v) => match value(*v)? {
            Number::Float(x) => Number::Float(exact_reciprocal(ty(*v)?, x)?),
            Number::Integer(_) => return None,
        },
        Expression::Result(arithmetic, operands) => {
            let [a, b] = &operands[..] else { return None };
            let (Number::Integer(a), Number::Integer(b)) = (evaluate(a, value, ty)?, evaluate(b, value, ty)?)
            else {
                return None;
            };
            Number::Integer(arithmetic.compute(a, b)?)
        }
        // `hlo_rule_syntax::entry` evaluates lists.
        Expression::List(_)
        | Expression::Sizes(_)
        | Expression::Values(_)
        | Expression::Index
        | Expression::At(_)
        | Expression::Inverse(_)
        | Expression::Kept(_)
        | Expression::If(..) => return None,
    })
}

/// Returns the range of an expression of integers. `range` returns that of a variable.
pub(super) fn range(
    expression: &Expression,
    range_of: &dyn Fn(usize) -> Option<Range>,
    ty: &dyn Fn(usize) -> Option<ElementType>,
) -> Option<Range> {
    match expression {
        Expression::Variable(v) => range_of(*v),
        Expression::Result(arithmetic @ (Arithmetic::Add | Arithmetic::Subtract), operands) => {
            let [a, b] = &operands[..] else { return None };
            let (a, b) = (range(a, range_of, ty)?, range(b, range_of, ty)?);
            let (low, high) = if *arithmetic == Arithmetic::Add { (b.low, b.high) } else { (b.high, b.low) };
            Some(Range { low: arithmetic.compute(a.low, low)?, high: arithmetic.compute(a.high, high)? })
        }
        other => match evaluate(other, &|_| None, ty)? {
            Number::Integer(n) => Some(Range { low: n, high: n }),
            Number::Float(_) => None,
        },
    }
}

/// Returns whether a relation is true for two numbers. -0 is below +0. NaN has no relation to a number, and neither has
/// an integer to a floating-point number.
pub fn relates(relation: Relation, a: Number, b: Number) -> bool {
    let order = match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a.cmp(&b),
        (Number::Float(a), Number::Float(b)) if !a.is_nan() && !b.is_nan() => a.total_cmp(&b),
        _ => return false,
    };
    relation.of(&order, &std::cmp::Ordering::Equal)
}

/// Returns the bytes of a number, if the element type represents it.
pub fn number_bytes(number: Number, ty: ElementType) -> Option<ElementBytes> {
    match number {
        Number::Integer(n) => wide_integer_bytes(ty, n),
        Number::Float(x) => float_bytes(ty, x),
    }
}

/// Returns the bytes of a value in an element type, if the type has it.
pub fn value_bytes(value: Value, ty: ElementType) -> Option<ElementBytes> {
    match value {
        Value::Integer(n) => integer_bytes(ty, n),
        Value::Float(x) => float_bytes(ty, x),
        Value::Pred(p) if ty.is_pred() => Some(SmallVec::from_slice(&[p.into()])),
        Value::Pred(_) => None,
        Value::Ones => all_ones(ty),
        Value::Lowest if ty.is_float() => float_bytes(ty, f64::NEG_INFINITY),
        Value::Highest if ty.is_float() => float_bytes(ty, f64::INFINITY),
        Value::Lowest => wide_integer_bytes(ty, type_range(ty)?.low),
        Value::Highest => wide_integer_bytes(ty, type_range(ty)?.high),
    }
}
