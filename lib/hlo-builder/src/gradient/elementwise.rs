//! Gradients of elementwise operations.

use super::{Gradients, Step};
use crate::Value;
use hlo_ir::Op;

impl<'b> Step<'b> {
    /// Returns the gradients of an elementwise operation with respect to its operands, or `None` for other
    /// operations.
    pub(super) fn of_elementwise(&self) -> Result<Option<Gradients<'b>>, String> {
        let g = self.gradient;
        Ok(Some(match *self.operands.as_slice() {
            [x] => match self.unary(x) {
                Some(gradient) => vec![gradient],
                None => return Ok(None),
            },
            [x, y] => match self.binary(x, y) {
                Some((dx, dy)) => vec![Some(dx), Some(dy)],
                None => return Ok(None),
            },
            [x, y, z] => match self.op {
                Op::Select => {
                    let zero = self.like(g, 0.0);
                    vec![None, Some(x.select(g, zero)), Some(x.select(zero, g))]
                }
                Op::Clamp => {
                    let zero = self.like(g, 0.0);
                    let inside = y.gt(x) & y.lt(z);
                    let bound = |bound: Value<'b>, counts: Value<'b>| {
                        let part = counts.select(g, zero);
                        let all: Vec<i64> = (0..self.array(g).rank() as i64).collect();
                        if self.array(bound).rank() == all.len() { part } else { self.sum(part, &all) }
                    };
                    vec![Some(bound(x, y.lt(x))), Some(inside.select(g, zero)), Some(bound(z, y.gt(z)))]
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    /// Returns the gradient of a unary operation with respect to its operand. `Some(None)` means that the
    /// operation is piecewise constant. `None` means another operation.
    fn unary(&self, x: Value<'b>) -> Option<Option<Value<'b>>> {
        let (g, y) = (self.gradient, self.result);
        Some(Some(match self.op {
            Op::Abs => g * x.sign(),
            Op::Acos => -g / (1.0 - x * x).sqrt(),
            Op::Acosh => g / (x * x - 1.0).sqrt(),
            Op::Asin => g / (1.0 - x * x).sqrt(),
            Op::Asinh => g / (x * x + 1.0).sqrt(),
            Op::Atanh => g / (1.0 - x * x),
            Op::Cbrt => g / (3.0 * y * y),
            Op::Cosine => -g * x.sin(),
            Op::Cosh => g * x.sinh(),
            Op::Erf => g * (-(x * x)).exp() * std::f64::consts::FRAC_2_SQRT_PI,
            Op::Exponential => g * y,
            Op::ExponentialMinusOne => g * (y + 1.0),
            Op::Log => g / x,
            Op::LogPlusOne => g / (x + 1.0),
            Op::Logistic => g * y * (1.0 - y),
            Op::Negate => -g,
            Op::Rsqrt => g * y * y * y * -0.5,
            Op::Sine => g * x.cos(),
            Op::Sinh => g * x.cosh(),
            Op::Sqrt => g * 0.5 / y,
            Op::Tan => g * (y * y + 1.0),
            Op::Tanh => g * (1.0 - y * y),
            Op::Convert => g.convert(self.array(x).element_type),
            Op::ReducePrecision(_) | Op::Copy => g,
            Op::Ceil | Op::Floor | Op::RoundNearestAfz | Op::RoundNearestEven | Op::Sign => {
                return Some(None);
            }
            _ => return None,
        }))
    }

    /// Returns the gradients of a binary operation with respect to its operands.
    fn binary(&self, x: Value<'b>, y: Value<'b>) -> Option<(Value<'b>, Value<'b>)> {
        let (g, z) = (self.gradient, self.result);
        let zero = || self.like(g, 0.0);
        // If the operands are equal, each gets half of the gradient.
        let larger = |x_wins: Value<'b>, y_wins: Value<'b>| {
            let half = g * 0.5;
            (x_wins.select(g, y_wins.select(zero(), half)), y_wins.select(g, x_wins.select(zero(), half)))
        };
        Some(match self.op {
            Op::Add => (g, g),
            Op::Subtract => (g, -g),
            Op::Multiply => (g * y, g * x),
            Op::Divide => (g / y, -g * z / y),
            Op::Maximum => larger(x.gt(y), y.gt(x)),
            Op::Minimum => larger(x.lt(y), y.lt(x)),
            Op::Power => {
                let dx = y.eq(0.0).select(zero(), g * y * x.pow(y - 1.0));
                let dy = x.eq(0.0).select(zero(), g * z * x.log());
                (dx, dy)
            }
            // x - y · trunc(x / y).
            Op::Remainder => (g, -g * ((x - z) / y).round_nearest_even()),
            Op::Atan2 => {
                let square = x * x + y * y;
                (g * y / square, -g * x / square)
            }
            _ => return None,
        })
    }
}
