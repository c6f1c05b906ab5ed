//! Python's lists and truth values, which functions for tensors of any rank need.

use super::arithmetic::Placed;
use super::{Evaluator, Frame, unsuitable};
use crate::ast::{Binary, Expr};
use crate::error::error;
use crate::rules;
use crate::value::Value;
use hlo_ir::Span;
use hlo_ir::diag::Diag;

/// Maximum number of values in a list, including the values in nested lists.
const MAX_VALUES: usize = 10_000;

/// Creates a list, unless it has too many values.
pub(super) fn list(all: Vec<Value<'_>>, span: Span) -> Result<Value<'_>, Diag> {
    let count = all.iter().map(count).fold(0, usize::saturating_add);
    check_count(count, span)?;
    Ok(Value::Sequence(all))
}

fn check_count(count: usize, span: Span) -> Result<(), Diag> {
    if count <= MAX_VALUES {
        return Ok(());
    }
    let message = format!("a list of {count} values, more than {MAX_VALUES}");
    Err(error(rules::TILE_SIZE, span, message, "too many"))
}

/// Returns the number of values, including those in nested lists.
fn count(value: &Value<'_>) -> usize {
    match value {
        Value::Sequence(all) => all.iter().map(count).fold(1, usize::saturating_add),
        _ => 1,
    }
}

/// Returns the values of a list or of `X.shape`.
pub(super) fn values_of<'b>(value: &Value<'b>) -> Option<Vec<Value<'b>>> {
    match value {
        Value::Sequence(all) => Some(all.clone()),
        Value::ShapeOf(sizes) => Some(sizes.iter().map(|&n| Value::Integer(n)).collect()),
        _ => None,
    }
}

impl<'b> Evaluator<'b, '_> {
    /// Evaluates `base[from:until]` for a list, with Python's rules for positions.
    pub(super) fn slice(
        &mut self,
        frame: &Frame<'b>,
        base: &Expr,
        [from, until]: [Option<&Expr>; 2],
    ) -> Result<Value<'b>, Diag> {
        let value = self.expression(frame, base)?;
        let Some(mut all) = values_of(&value) else {
            let d = unsuitable(base.span, "a list", &value);
            return Err(match value {
                Value::Tensor(_) | Value::Output(_) => d.note(
                    "a part of a tensor is a contraction: `O[i] = X[i + 1]` into a smaller TensorOutput",
                ),
                _ => d,
            });
        };
        let mut position = |expr: Option<&Expr>, otherwise: usize| -> Result<usize, Diag> {
            let Some(expr) = expr else { return Ok(otherwise) };
            let value = self.expression(frame, expr)?;
            let n = self.size(&value, expr.span)?;
            let n = if n < 0 { n.saturating_add_unsigned(all.len() as u64).max(0) } else { n };
            Ok(usize::try_from(n).unwrap_or(usize::MAX).min(all.len()))
        };
        let (from, until) = (position(from, 0)?, position(until, all.len())?);
        all.truncate(until);
        Ok(Value::Sequence(all.split_off(from.min(until))))
    }

    /// Applies an operator to operands that include a list, a string, a type or `None`. Returns `None` if the
    /// operator does not apply.
    pub(super) fn listwise(
        &mut self,
        operator: Binary,
        (left, at_left): &Placed<'b>,
        (right, at_right): &Placed<'b>,
        span: Span,
    ) -> Result<Option<Value<'b>>, Diag> {
        let result = match operator {
            Binary::Equal => Value::Truth(self.equal(left, right)),
            Binary::NotEqual => Value::Truth(!self.equal(left, right)),
            Binary::Add => match (values_of(left), values_of(right)) {
                (Some(mut all), Some(more)) => {
                    all.extend(more);
                    list(all, span)?
                }
                _ => return Ok(None),
            },
            Binary::Multiply => match (values_of(left), values_of(right)) {
                (Some(all), None) => self.repeated(&all, (right, *at_right), span)?,
                (None, Some(all)) => self.repeated(&all, (left, *at_left), span)?,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(result))
    }

    /// Repeats a list.
    fn repeated(
        &self,
        all: &[Value<'b>],
        (times, place): (&Value<'b>, Span),
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let times = match times {
            Value::Truth(x) => usize::from(*x),
            other => usize::try_from(self.size(other, place)?).unwrap_or(0),
        };
        let count = all.iter().map(count).fold(0, usize::saturating_add).saturating_mul(times);
        check_count(count, span)?;
        Ok(Value::Sequence(all.iter().cycle().take(all.len() * times).cloned().collect()))
    }

    /// Whether two values are equal in Python. Tensors, indices and dimensions without a size are not equal
    /// to anything.
    fn equal(&self, left: &Value<'b>, right: &Value<'b>) -> bool {
        if let (Some(a), Some(b)) = (values_of(left), values_of(right)) {
            return a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.equal(a, b));
        }
        let number = |value: &Value<'b>| match value {
            Value::Float(x) => Some(*x),
            Value::Truth(x) => Some(f64::from(u8::from(*x))),
            other => self.size(other, Span::default()).ok().map(|n| n as f64),
        };
        match (left, right) {
            (Value::Nothing, Value::Nothing) => true,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::ElementType(a), Value::ElementType(b)) => a == b,
            _ => matches!((number(left), number(right)), (Some(a), Some(b)) if a == b),
        }
    }

    /// Returns Python's truth value of a value.
    pub(super) fn truth(&self, value: &Value<'b>, span: Span) -> Result<bool, Diag> {
        Ok(match value {
            Value::Truth(x) => *x,
            Value::Nothing => false,
            Value::Float(x) => *x != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Sequence(all) => !all.is_empty(),
            Value::ShapeOf(sizes) => !sizes.is_empty(),
            Value::Integer(_) | Value::Dim(_) => self.size(value, span)? != 0,
            Value::Tensor(_) | Value::Output(_) => {
                let message = "a tensor has no single truth value";
                return Err(error(rules::TILE_OPERAND, span, message, "this is a tensor")
                    .note("`select(C, T, F)` chooses element by element"));
            }
            other => return Err(unsuitable(span, "a truth value, a number or a list", other)),
        })
    }

    /// Evaluates `left and right` or `left or right`. The right operand is evaluated only if it matters.
    pub(super) fn either(
        &mut self,
        frame: &Frame<'b>,
        operator: Binary,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let value = self.expression(frame, left)?;
        if matches!(value, Value::Tensor(_) | Value::Output(_)) {
            let other = self.expression(frame, right)?;
            return self.binary(operator, (value, left.span), (other, right.span), span);
        }
        if self.truth(&value, left.span)? == (operator == Binary::LogicalOr) {
            Ok(value)
        } else {
            self.expression(frame, right)
        }
    }

    /// Evaluates `assert test, message`.
    pub(super) fn assert(
        &mut self,
        frame: &Frame<'b>,
        test: &Expr,
        message: Option<&Expr>,
    ) -> Result<(), Diag> {
        let value = self.expression(frame, test)?;
        if self.truth(&value, test.span)? {
            return Ok(());
        }
        let text = match message {
            None => "an assertion does not hold".to_owned(),
            Some(message) => match self.expression(frame, message)? {
                Value::Text(text) => text,
                other => return Err(unsuitable(message.span, "a text", &other)),
            },
        };
        Err(error(rules::TILE_ASSERTION, test.span, text, "this does not hold"))
    }

    /// Evaluates `len(list)`.
    pub(super) fn length(&mut self, (value, span): Placed<'b>) -> Result<Value<'b>, Diag> {
        let count = match (&value, values_of(&value)) {
            (_, Some(all)) => all.len(),
            (Value::Text(text), _) => text.chars().count(),
            _ => {
                let d = unsuitable(span, "a list", &value);
                return Err(match value {
                    Value::Tensor(_) | Value::Output(_) => d.note("`X.rank` is how many dimensions X has"),
                    _ => d,
                });
            }
        };
        Ok(Value::Integer(count as i64))
    }
}
