//! Dimensions: arithmetic of sizes, and conversion of values to sizes and indices.

use super::{Evaluator, unsuitable};
use crate::ast::Binary;
use crate::error::error;
use crate::poly::Poly;
use crate::rules;
use crate::value::{Dim, Value};
use hlo_ir::Span;
use hlo_ir::diag::Diag;

impl<'b> Evaluator<'b, '_> {
    /// Returns a value as a size. The size must be known.
    pub(super) fn size(&self, value: &Value<'b>, span: Span) -> Result<i64, Diag> {
        match value {
            Value::Integer(n) => Ok(*n),
            Value::Dim(dim) => known(dim, span),
            Value::Index(poly) => match poly.as_constant() {
                Some(n) if n.is_integer() => i64::try_from(*n.numer()).map_err(|_| too_large(span)),
                _ => Err(unsuitable(span, "a size: a whole number or a TensorDim", value)),
            },
            other => Err(unsuitable(span, "a size: a whole number or a TensorDim", other)),
        }
    }

    /// Returns a value as an index expression.
    pub(super) fn poly(&self, value: Value<'b>, span: Span) -> Result<Poly, Diag> {
        match value {
            Value::Index(poly) => Ok(poly),
            Value::Integer(_) | Value::Dim(_) => {
                let size = self.size(&value, span)?;
                Poly::constant(size).ok_or_else(|| too_large(span))
            }
            other => {
                let found = other.describe();
                let message =
                    format!("an index is made of indices, dimensions and whole numbers, found {found}");
                Err(error(rules::TILE_NON_AFFINE, span, message, format!("this is {found}")))
            }
        }
    }

    /// Applies an operator to sizes. `//` rounds towards zero, as in PlaidML.
    pub(super) fn size_arithmetic(
        &mut self,
        operator: Binary,
        (a, left): (&Value<'b>, Span),
        (b, right): (&Value<'b>, Span),
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let (x, y) = (self.size(a, left)?, self.size(b, right)?);
        let result = match operator {
            Binary::Add => x.checked_add(y),
            Binary::Subtract => x.checked_sub(y),
            Binary::Multiply => x.checked_mul(y),
            Binary::FloorDivide | Binary::Modulo if y == 0 => {
                let message = "a dimension is divided by 0";
                return Err(error(rules::TILE_SIZE, right, message, "this is 0"));
            }
            Binary::FloorDivide => {
                if x < 0 && x % y != 0 {
                    let message = format!("{x} // {y} is rounded towards zero, to {}", x / y);
                    let d = Diag::warning(message).with_code(rules::TILE_NEGATIVE_DIVISION);
                    self.warnings.push(d.at(span, "Python would round it down"));
                }
                x.checked_div(y)
            }
            Binary::Modulo => x.checked_rem(y),
            other => {
                let message = format!("dimensions have no operator `{}`", other.text());
                return Err(error(rules::TILE_OPERAND, span, message, "the result would be no dimension")
                    .note("they have `+`, `-`, `*`, `//` and `%`"));
            }
        };
        result.map(|n| Value::Dim(Dim::known(n, span))).ok_or_else(|| too_large(span))
    }
}

/// Returns the size of a TensorDim.
pub(super) fn known(dim: &Dim, span: Span) -> Result<i64, Diag> {
    dim.size.get().map(|(size, _)| size).ok_or_else(|| {
        let name = dim.name.borrow().clone().map_or("a TensorDim".into(), |n| format!("TensorDim `{n}`"));
        error(rules::TILE_UNBOUND_DIM, span, format!("{name} has no size yet"), "its size is needed here")
            .note("`I.bind_dims(…)` of a tensor gives dimensions their sizes")
    })
}

/// Returns the error for a number that is too large for exact arithmetic.
pub(super) fn too_large(span: Span) -> Diag {
    error(rules::TILE_SIZE, span, "a number of an index or dimension is too large", "more than 60 bits")
}
