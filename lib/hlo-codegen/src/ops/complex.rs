//! Operations on complex numbers.
//!
//! Sums, differences and products use the textbook formulas, part by part, as in XLA. Division, the absolute
//! value and the functions scale their operands if the squares of the parts would overflow.

use crate::builder::{FloatPredicate, IntPredicate};
use crate::math::{F, I};

/// A complex number of `f32` or `f64` parts.
#[derive(Clone, Copy)]
pub struct C<'a, 'c> {
    /// The real part.
    pub re: F<'a, 'c>,
    /// The imaginary part.
    pub im: F<'a, 'c>,
}

#[allow(clippy::should_implement_trait, reason = "the operators are for real arithmetic; these are opcodes")]
impl<'a, 'c> C<'a, 'c> {
    /// Creates a complex number from its parts.
    pub fn new(re: F<'a, 'c>, im: F<'a, 'c>) -> Self {
        Self { re, im }
    }

    /// Emits `self * factor`.
    pub fn scale(self, factor: F<'a, 'c>) -> Self {
        Self::new(self.re * factor, self.im * factor)
    }

    /// Emits the sum.
    pub fn add(self, o: Self) -> Self {
        Self::new(self.re + o.re, self.im + o.im)
    }

    /// Emits the difference.
    pub fn sub(self, o: Self) -> Self {
        Self::new(self.re - o.re, self.im - o.im)
    }

    /// Emits the product.
    pub fn mul(self, o: Self) -> Self {
        Self::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }

    /// Emits the number with the greater (if `greater`) or smaller real part, which is XLA's order of complex
    /// numbers. If they cannot be compared, the result is `o`.
    pub fn extremum(self, o: Self, greater: bool) -> Self {
        let predicate = if greater { FloatPredicate::Oge } else { FloatPredicate::Ole };
        let first = self.re.cmp(predicate, o.re);
        Self::new(first.select(self.re, o.re), first.select(self.im, o.im))
    }

    /// Emits the greater of the parts' magnitudes, or either of them if one is NaN.
    pub(super) fn larger_part(self) -> F<'a, 'c> {
        let (x, y) = (self.re.abs(), self.im.abs());
        x.cmp(FloatPredicate::Ogt, y).select(x, y)
    }

    /// Emits a power of two that scales the larger part to near one without rounding. Its exponent is limited
    /// so that it stays away from the ends of the range. It is one for zero, infinity and NaN.
    pub(super) fn downscale(self) -> F<'a, 'c> {
        let larger = self.larger_part();
        let bits = larger.mantissa_bits();
        let field = larger.bits().shift_right(i64::from(bits));
        let bias = larger.bias();
        // 2^(bias - exponent), with exponents limited to 1 to 2 bias - 1.
        let low = field.cmp(IntPredicate::Slt, field.lit(1)).select_int(field.lit(1), field);
        let field = low.cmp(IntPredicate::Sgt, low.lit(2 * bias - 1)).select_int(low.lit(2 * bias - 1), low);
        ((field.lit(2 * bias) - field) << i64::from(bits)).as_float(larger.ty())
    }

    /// Emits the quotient: multiplies by the conjugate of the divisor, which is scaled to near one. As in C's
    /// Annex G, a zero divisor results in infinities (NaN for zero by zero), and an infinite divisor results
    /// in zero for a finite dividend.
    pub fn div(self, o: Self) -> Self {
        let scale = o.downscale();
        let d = o.scale(scale);
        let norm = d.re * d.re + d.im * d.im;
        // Scales the dividend away from the ends of the range, where its products would overflow or lose
        // bits.
        let size = self.larger_part();
        let ((high, low), up) = size.pick(((120, -70), 30), ((1000, -900), 60));
        let (large, small) = (size.gt(2f64.powi(high)), size.lt(2f64.powi(low)));
        let by = |down: i32, up: i32| {
            let r = small.select(size.lit(2f64.powi(up)), size.lit(1.0));
            large.select(size.lit(2f64.powi(down)), r)
        };
        let (near, undo) = (self.scale(by(-8, up)), by(8, -up));
        let re = (near.re * d.re + near.im * d.im) / norm * scale * undo;
        let im = (near.im * d.re - near.re * d.im) / norm * scale * undo;
        let zero = o.re.eq(0.0) & o.im.eq(0.0);
        let infinity = o.re.lit(f64::INFINITY).copysign(o.re);
        let by_zero = zero & !(self.re.is_nan() & self.im.is_nan());
        let infinite = |x: F<'a, 'c>| x.abs().eq(f64::INFINITY);
        let box_in = |x: F<'a, 'c>| infinite(x).select(x.lit(1.0), x.lit(0.0)).copysign(x);
        let large_over_finite = (infinite(self.re) | infinite(self.im)) & o.re.is_finite() & o.im.is_finite();
        let finite_over_large = (infinite(o.re) | infinite(o.im)) & self.re.is_finite() & self.im.is_finite();
        let (a, b) = (box_in(self.re), box_in(self.im));
        let (c, d) = (box_in(o.re), box_in(o.im));
        let special = |x: F<'a, 'c>, zero_case: F<'a, 'c>, large: F<'a, 'c>, small: F<'a, 'c>| {
            let r = finite_over_large.select(small * 0.0, x);
            let r = large_over_finite.select(large * x.lit(f64::INFINITY), r);
            by_zero.select(zero_case, r)
        };
        let re = special(re, infinity * self.re, a * o.re + b * o.im, self.re * c + self.im * d);
        let im = special(im, infinity * self.im, b * o.re - a * o.im, self.im * c - self.re * d);
        Self::new(re, im)
    }

    /// Emits the absolute value without overflow. It is infinite if a part is infinite, even if the other is
    /// NaN.
    pub fn abs(self) -> F<'a, 'c> {
        let (x, y) = (self.re.abs(), self.im.abs());
        let scale = self.downscale();
        let (sx, sy) = (x * scale, y * scale);
        let length = sx.fma(sx, sy * sy).sqrt() / scale;
        let infinite = x.eq(f64::INFINITY) | y.eq(f64::INFINITY);
        infinite.select(x.lit(f64::INFINITY), length)
    }

    /// Emits `sign`: x / |x|, or zero for zero.
    pub fn sign(self) -> Self {
        let near = self.scale(self.downscale());
        let length = near.abs();
        let zero = length.eq(0.0);
        let part = |x: F<'a, 'c>, whole: F<'a, 'c>| zero.select(whole, x / length);
        Self::new(part(near.re, self.re), part(near.im, self.im))
    }

    /// Emits the principal square root. The real part is not negative, and the imaginary part has the sign of
    /// the operand's.
    pub fn sqrt(self) -> Self {
        // The root of z 2^(-2k), whose squares are neither large nor small, times 2^k.
        let larger = self.larger_part();
        let bits = i64::from(larger.mantissa_bits());
        let bias = larger.bias();
        let exponent = larger.bits().shift_right(bits) - bias;
        let k = exponent.sar(1);
        // Limits k for zero, infinity and NaN.
        let limit = bias / 2;
        let k = k.cmp(IntPredicate::Slt, k.lit(-limit)).select_int(k.lit(-limit), k);
        let k = k.cmp(IntPredicate::Sgt, k.lit(limit)).select_int(k.lit(limit), k);
        let power = |n: I<'a, 'c>| ((n + bias) << bits).as_float(larger.ty());
        let (x, y) = (self.re, self.im);
        let near = self.scale(power(k.lit(0) - k - k));
        let t = ((near.re.abs() + near.abs()) * 0.5).sqrt() * power(k);
        // The other part may be subnormal, and is rounded once.
        let other = y.abs() / (t * 2.0);
        let negative = x.sign_bit();
        let zero = x.eq(0.0) & y.eq(0.0);
        let re = negative.select(other, t);
        let im = negative.select(t, other);
        let re = zero.select(x.lit(0.0), re);
        let im = zero.select(x.lit(0.0), im);
        let infinite = y.abs().eq(f64::INFINITY);
        let x_infinite = x.abs().eq(f64::INFINITY) & y.is_finite();
        let re = x_infinite.select(negative.select(x.lit(0.0), x.abs()), re);
        let im = x_infinite.select(negative.select(x.abs(), x.lit(0.0)), im);
        let inf = x.lit(f64::INFINITY);
        Self::new(infinite.select(inf, re), infinite.select(inf, im).copysign(y))
    }

    /// Emits a function computed in `f64` and rounded once. In `f64`, squares and exponentials of `f32`
    /// values neither overflow nor underflow.
    pub fn in_f64(self, f: impl FnOnce(Self) -> Self) -> Self {
        self.in_f64_with(self, |z, _| f(z))
    }

    /// Like [`C::in_f64`], for a function of two numbers.
    pub fn in_f64_with(self, o: Self, f: impl FnOnce(Self, Self) -> Self) -> Self {
        let wide = |z: Self| Self::new(z.re.to_f64(), z.im.to_f64());
        let r = f(wide(self), wide(o));
        Self::new(r.re.to_type_of(self.re), r.im.to_type_of(self.im))
    }
}
