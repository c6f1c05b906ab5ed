//! Operators on numbers, dimensions, indices, elements of tensors, and tensors.

use super::dims::too_large;
use super::{Evaluator, unsuitable};
use crate::ast::{Binary, Unary};
use crate::elementwise::Function;
use crate::error::error;
use crate::poly::Rational;
use crate::rules;
use crate::value::Value;
use hlo_ir::Span;
use hlo_ir::contraction::Combination;
use hlo_ir::diag::Diag;
use num_traits::Zero;

/// A value and its span.
pub(super) type Placed<'b> = (Value<'b>, Span);

/// The advice for a statement that a contraction cannot express.
pub(super) const ONE_LINE: &str = "a contraction takes an element of one tensor, or combines those of two by `*`, `+` or `==`, or \
                                   of three by `cond(a, b, c)`: compute the rest in statements of their own, on whole tensors";

impl<'b> Evaluator<'b, '_> {
    /// Applies a unary operator.
    pub(super) fn unary(
        &mut self,
        operator: Unary,
        operand: Placed<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let (value, place) = operand;
        match (operator, &value) {
            (Unary::Plus, Value::Elements(..) | Value::Constraint(..)) => {}
            (Unary::Plus, _) if is_operand(&value) => return Ok(value),
            (Unary::Negate, Value::Integer(n)) => {
                return n.checked_neg().map(Value::Integer).ok_or_else(|| too_large(span));
            }
            (Unary::Negate, Value::Float(x)) => return Ok(Value::Float(-x)),
            (Unary::Negate, Value::Dim(_)) => {
                return self.size_arithmetic(
                    Binary::Subtract,
                    (&Value::Integer(0), span),
                    (&value, place),
                    span,
                );
            }
            (Unary::Negate, Value::Index(poly)) => {
                let negated = poly.times(Rational::from_integer(-1));
                return negated.map(Value::Index).ok_or_else(|| too_large(span));
            }
            (Unary::Invert, Value::Integer(n)) => return Ok(Value::Integer(!n)),
            (_, Value::Tensor(_) | Value::Output(_)) => {
                let function = match operator {
                    Unary::Negate => Function::Neg,
                    Unary::Invert => Function::BitNot,
                    _ => {
                        let message = "a tensor has no single truth value";
                        return Err(error(rules::TILE_OPERAND, span, message, "this is a tensor")
                            .note("`logical_not(A)` is that of each element"));
                    }
                };
                return self.elementwise(function, &[(value, place)], span);
            }
            (Unary::Not, value) if !matches!(value, Value::Elements(..)) => {
                return Ok(Value::Truth(!self.truth(value, place)?));
            }
            _ => {}
        }
        if let Value::Elements(..) = value {
            return Err(not_combined(span, "an operator before an element"));
        }
        Err(unsuitable(place, "a number or a tensor", &value))
    }

    /// Applies a binary operator.
    pub(super) fn binary(
        &mut self,
        operator: Binary,
        left: Placed<'b>,
        right: Placed<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let either = |is: fn(&Value<'b>) -> bool| is(&left.0) || is(&right.0);
        if either(|v| matches!(v, Value::Elements(..))) {
            return combined(operator, left, right, span);
        }
        if either(|v| matches!(v, Value::Tensor(_) | Value::Output(_))) {
            let Some(function) = Function::of_operator(operator) else {
                let message = format!("`{}` is not an operation on tensors", operator.text());
                return Err(error(rules::TILE_OPERAND, span, message, "not an elementwise operation")
                    .note("`logical_and(A, B)`, `logical_or(A, B)` are those of truth values"));
            };
            return self.elementwise(function, &[left, right], span);
        }
        if either(|v| matches!(v, Value::Constraint(..))) {
            return Err(bad_constraint(span, "comparisons can't be chained"));
        }
        if either(|v| matches!(v, Value::Index(_))) {
            return self.affine(operator, left, right, span);
        }
        let beside_numbers = |v: &Value<'b>| {
            matches!(
                v,
                Value::Sequence(_)
                    | Value::ShapeOf(_)
                    | Value::Text(_)
                    | Value::ElementType(_)
                    | Value::Nothing
            )
        };
        if (beside_numbers(&left.0) || beside_numbers(&right.0))
            && let Some(value) = self.listwise(operator, &left, &right, span)?
        {
            return Ok(value);
        }
        let of_sizes = operator != Binary::Divide && !operator.is_comparison();
        if of_sizes && either(|v| matches!(v, Value::Dim(_))) && !either(|v| matches!(v, Value::Float(_))) {
            return self.size_arithmetic(operator, (&left.0, left.1), (&right.0, right.1), span);
        }
        self.numbers(operator, left, right, span)
    }

    /// Applies an operator to operands that include an index.
    fn affine(
        &mut self,
        operator: Binary,
        (left, at_left): Placed<'b>,
        (right, at_right): Placed<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        if operator.is_comparison() {
            return self.constraint(operator, (left, at_left), (right, at_right), span);
        }
        let (a, b) = (self.poly(left, at_left)?, self.poly(right, at_right)?);
        let result = match operator {
            Binary::Add => a.plus(&b, 1),
            Binary::Subtract => a.plus(&b, -1),
            Binary::Multiply => match (a.as_constant(), b.as_constant()) {
                (_, Some(factor)) => a.times(factor),
                (Some(factor), None) => b.times(factor),
                (None, None) => {
                    let message = "the product of two indices is not affine";
                    return Err(error(rules::TILE_NON_AFFINE, span, message, "an index times an index")
                        .note("an index has whole numbers and dimensions as its factors"));
                }
            },
            Binary::FloorDivide => match b.as_constant() {
                Some(divisor) if divisor.is_zero() => {
                    return Err(error(
                        rules::TILE_NON_AFFINE,
                        at_right,
                        "an index is divided by 0",
                        "this is 0",
                    ));
                }
                Some(divisor) => a.times(divisor.recip()),
                None => {
                    let message = "an index is the divisor";
                    return Err(error(rules::TILE_NON_AFFINE, at_right, message, "not a whole number"));
                }
            },
            other => {
                let message = format!("indices have no operator `{}`", other.text());
                return Err(error(rules::TILE_NON_AFFINE, span, message, "not affine")
                    .note("they have `+`, `-`, `*` and `//` by whole numbers; `//` leaves out what is not divisible"));
            }
        };
        result.map(Value::Index).ok_or_else(|| too_large(span))
    }

    /// Creates a constraint from `index < bound`.
    fn constraint(
        &mut self,
        operator: Binary,
        (left, at_left): Placed<'b>,
        (right, at_right): Placed<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let index = |v: &Value<'b>| matches!(v, Value::Index(p) if p.as_constant().is_none());
        if operator != Binary::Less {
            let message = format!("a constraint is `index < bound`, found `{}`", operator.text());
            return Err(bad_constraint(span, message));
        }
        if index(&right) {
            return Err(bad_constraint(at_right, "the bound of a constraint has an index"));
        }
        let bound = self.size(&right, at_right)?;
        Ok(Value::Constraint(self.poly(left, at_left)?, bound))
    }

    /// Applies Python's arithmetic to numbers. Dimensions count as numbers.
    fn numbers(
        &mut self,
        operator: Binary,
        (left, at_left): Placed<'b>,
        (right, at_right): Placed<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let a = self.number(left, at_left)?;
        let b = self.number(right, at_right)?;
        let result = match (a, b) {
            (Number::Integer(a), Number::Integer(b)) if operator != Binary::Divide => {
                if b == 0 && matches!(operator, Binary::FloorDivide | Binary::Modulo) {
                    return Err(error(
                        rules::TILE_OPERAND,
                        at_right,
                        "a number is divided by 0",
                        "this is 0",
                    ));
                }
                integers(operator, a, b)
            }
            (a, b) => floats(operator, a.as_f64(), b.as_f64()),
        };
        result.ok_or_else(|| {
            let message = format!("`{}` of these numbers has no value that fits", operator.text());
            error(rules::TILE_OPERAND, span, message, "not a number of 64 bits")
        })
    }

    fn number(&self, value: Value<'b>, span: Span) -> Result<Number, Diag> {
        Ok(match value {
            Value::Integer(n) => Number::Integer(n),
            Value::Truth(x) => Number::Integer(x.into()),
            Value::Float(x) => Number::Float(x),
            Value::Dim(_) => Number::Integer(self.size(&value, span)?),
            other => return Err(unsuitable(span, "a number, an index or a tensor", &other)),
        })
    }
}

/// A Python number.
#[derive(Clone, Copy)]
enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    fn as_f64(self) -> f64 {
        match self {
            Number::Integer(n) => n as f64,
            Number::Float(x) => x,
        }
    }
}

/// Whether operators accept the value.
fn is_operand(value: &Value<'_>) -> bool {
    use Value::{Dim, Float, Index, Integer, Output, Tensor, Truth};
    matches!(value, Integer(_) | Float(_) | Truth(_) | Dim(_) | Index(_) | Tensor(_) | Output(_))
}

/// Applies an operator to integers. The divisor must not be 0. Returns `None` if the result does not fit in
/// 64 bits or does not exist.
fn integers<'b>(operator: Binary, a: i64, b: i64) -> Option<Value<'b>> {
    let shift = u32::try_from(b).ok().filter(|&n| n < 63);
    Some(Value::Integer(match operator {
        Binary::Add => a.checked_add(b)?,
        Binary::Subtract => a.checked_sub(b)?,
        Binary::Multiply => a.checked_mul(b)?,
        // Python rounds the quotient down. The remainder has the sign of the divisor.
        Binary::FloorDivide => {
            a.checked_div_euclid(b)?.checked_sub(i64::from(b < 0 && a.checked_rem(b)? != 0))?
        }
        Binary::Modulo => {
            let r = a.checked_rem(b)?;
            if r != 0 && (r < 0) != (b < 0) { r.checked_add(b)? } else { r }
        }
        Binary::Power => a.checked_pow(u32::try_from(b).ok()?)?,
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft => a.checked_mul(1 << shift?)?,
        Binary::ShiftRight => a >> shift?,
        Binary::Equal => return Some(Value::Truth(a == b)),
        Binary::NotEqual => return Some(Value::Truth(a != b)),
        Binary::Less => return Some(Value::Truth(a < b)),
        Binary::LessEqual => return Some(Value::Truth(a <= b)),
        Binary::Greater => return Some(Value::Truth(a > b)),
        Binary::GreaterEqual => return Some(Value::Truth(a >= b)),
        Binary::LogicalAnd => {
            if a == 0 {
                a
            } else {
                b
            }
        }
        Binary::LogicalOr => {
            if a == 0 {
                b
            } else {
                a
            }
        }
        Binary::Divide => return None,
    }))
}

/// Applies an operator to numbers, at least one of which is floating-point.
fn floats<'b>(operator: Binary, a: f64, b: f64) -> Option<Value<'b>> {
    Some(Value::Float(match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::FloorDivide => (a / b).floor(),
        Binary::Modulo => a - b * (a / b).floor(),
        Binary::Power => a.powf(b),
        Binary::Equal => return Some(Value::Truth(a == b)),
        Binary::NotEqual => return Some(Value::Truth(a != b)),
        Binary::Less => return Some(Value::Truth(a < b)),
        Binary::LessEqual => return Some(Value::Truth(a <= b)),
        Binary::Greater => return Some(Value::Truth(a > b)),
        Binary::GreaterEqual => return Some(Value::Truth(a >= b)),
        _ => return None,
    }))
}

/// Combines elements of two tensors.
fn combined<'b>(
    operator: Binary,
    (left, at_left): Placed<'b>,
    (right, at_right): Placed<'b>,
    span: Span,
) -> Result<Value<'b>, Diag> {
    let combination = match operator {
        Binary::Multiply => Combination::Multiply,
        Binary::Add => Combination::Add,
        Binary::Equal => Combination::Equal,
        other => return Err(not_combined(span, format!("`{}`", other.text()))),
    };
    match (left, right) {
        (Value::Elements(Combination::Single, mut a), Value::Elements(Combination::Single, b)) => {
            a.extend(b);
            Ok(Value::Elements(combination, a))
        }
        (Value::Elements(..), Value::Elements(..)) => Err(not_combined(span, "more than two elements")),
        (Value::Elements(..), other) => Err(not_element(at_right, &other)),
        (other, _) => Err(not_element(at_left, &other)),
    }
}

fn not_element(span: Span, found: &Value<'_>) -> Diag {
    let found = found.describe();
    let message = format!("an element of a tensor is combined with {found}");
    error(rules::TILE_COMBINATION, span, message, "an element of a tensor is expected").note(ONE_LINE)
}

fn not_combined(span: Span, what: impl std::fmt::Display) -> Diag {
    let message = format!("a contraction does not take {what}");
    error(rules::TILE_COMBINATION, span, message, "not a combination").note(ONE_LINE)
}

/// Returns the error for a comparison that is not a constraint.
fn bad_constraint(span: Span, message: impl Into<String>) -> Diag {
    error(rules::TILE_CONSTRAINT, span, message, "not a constraint")
        .note(
            "a constraint is `index < bound`, the bound of dimensions and numbers, and includes `0 <= index`",
        )
        .note("`k <= i` is `i - k < N`, where N is a bound that `i - k` never reaches")
}
