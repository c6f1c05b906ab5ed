//! Functions of complex numbers whose parts are `f64`, based on functions of real numbers. [`C::in_f64`]
//! converts numbers of type `c64` for these functions.
//!
//! The formulas avoid cancellation, so the error is small relative to the magnitude of the result. Source: W.
//! Kahan, "Branch Cuts for Complex Elementary Functions".

use super::complex::C;
use crate::builder::FloatPredicate;
use crate::math::{F, P};
use crate::math::{exp, log, trig};

/// e^700, the second factor of [`exp_factors`] for large x. It keeps e^x from overflowing before the
/// multiplication with a small number.
const E_700: f64 = 1.014_232_054_735_004_5e304;

/// Emits e^x as two factors. If e^x overflows, but e^x cos y is finite for some `f64` y, the first factor is
/// finite.
fn exp_factors<'a, 'c>(x: F<'a, 'c>) -> (F<'a, 'c>, F<'a, 'c>) {
    let large = x.gt(700.0);
    (exp::exp(large.select(x - 700.0, x)), large.select(x.lit(E_700), x.lit(1.0)))
}

/// Emits two numbers and a common factor. The products with the factor are sinh x and cosh x. For large x,
/// the factor is that of [`exp_factors`].
fn hyperbolic<'a, 'c>(x: F<'a, 'c>) -> (F<'a, 'c>, F<'a, 'c>, F<'a, 'c>) {
    let large = x.abs().gt(700.0);
    let (e, factor) = exp_factors(large.select(x.abs(), x.lit(0.0)));
    let half = e * 0.5;
    let near = large.select(x.lit(0.0), x);
    (large.select(half.copysign(x), exp::sinh(near)), large.select(half, exp::cosh(near)), factor)
}

/// Emits `product`, which is a product of `zero` and `other`. If `zero` is 0, emits 0 with the sign of the
/// product, even if `other` is infinite.
fn product_or_zero<'a, 'c>(zero: F<'a, 'c>, other: F<'a, 'c>, product: F<'a, 'c>) -> F<'a, 'c> {
    zero.eq(0.0).select(zero * other.lit(1.0).copysign(other), product)
}

impl<'a, 'c> C<'a, 'c> {
    /// Emits the number multiplied by i.
    fn times_i(self) -> Self {
        Self::new(-self.im, self.re)
    }

    /// Emits the number divided by i.
    fn over_i(self) -> Self {
        Self::new(self.im, -self.re)
    }

    fn one(self) -> Self {
        Self::new(self.re.lit(1.0), self.re.lit(0.0))
    }

    /// Emits e^z. If the argument is real, so is the result, even if the argument is infinite.
    pub fn exp(self) -> Self {
        let (sin, cos) = (trig::sin(self.im), trig::cos(self.im));
        let (e, factor) = exp_factors(self.re);
        let re = self.im.eq(0.0).select(exp::exp(self.re), e * cos * factor);
        let im = self.im.eq(0.0).select(self.im, e * sin * factor);
        let vanishes = self.re.eq(f64::NEG_INFINITY) & !self.im.is_finite();
        let zero = re.lit(0.0);
        Self::new(vanishes.select(zero, re), vanishes.select(zero, im))
    }

    /// Emits e^z - 1, without cancellation near 0.
    pub fn exp_m1(self) -> Self {
        let half_sin = trig::sin(self.im * 0.5);
        let m = exp::exp_m1(self.re);
        let large = self.exp();
        // e^x cos y - 1 = (e^x - 1) cos y - 2 sin²(y/2)
        let re = m * trig::cos(self.im) - half_sin * half_sin * 2.0;
        let far = self.re.gt(1.0);
        // If Im z is infinite, the direction of e^z is undefined, even where e^z approaches 0. XLA returns
        // NaN.
        let im = self.im.is_finite().select(large.im, re.lit(f64::NAN));
        Self::new(far.select(large.re - 1.0, re), im)
    }

    /// Emits the natural logarithm of z. The real part is accurate even near |z| = 1.
    pub fn log(self) -> Self {
        let (x, y) = (self.re.abs(), self.im.abs());
        let larger = x.cmp(FloatPredicate::Ult, y).select(y, x);
        let smaller = x.cmp(FloatPredicate::Ult, y).select(x, y);
        let near = larger.gt(0.5) & larger.lt(3.0);
        let ratio = smaller / larger;
        let ratio = larger.eq(0.0).select(ratio.lit(0.0), ratio);
        let outside = smaller.fma(smaller, (larger - 1.0) * (larger + 1.0));
        let half = log::log1p(near.select(outside, ratio * ratio)) * 0.5;
        let re = near.select(half, log::log(larger) + half);
        let infinite = self.has_infinite_part();
        let re = (x.is_nan() | y.is_nan()).select(re.lit(f64::NAN), re);
        Self::new(infinite.select(re.lit(f64::INFINITY), re), trig::atan2(self.im, self.re))
    }

    /// Emits log(1 + z), without cancellation near 0.
    pub fn log1p(self) -> Self {
        let far = Self::new(self.re + 1.0, self.im).log();
        let near = self.re.abs().lt(0.5) & self.im.abs().lt(0.5);
        let r = log::log1p(self.im.fma(self.im, self.re * (self.re + 2.0))) * 0.5;
        Self::new(near.select(r, far.re), far.im)
    }

    /// Emits 1 / (1 + e^-z), as e^(z/2) / (2 cosh(z/2)). This formula is accurate even near the poles.
    pub fn logistic(self) -> Self {
        // If |Re z| exceeds the limit, the result is 1 or 0, as it is at the limit.
        let limit = self.re.lit(800.0);
        let near = self.re.abs().gt(800.0).select(limit.copysign(self.re), self.re);
        let half = Self::new(near, self.im).scale(near.lit(0.5));
        half.exp().div(half.cosh().scale(near.lit(2.0)))
    }

    /// Emits 1 / sqrt(z).
    pub fn rsqrt(self) -> Self {
        self.one().div(self.sqrt())
    }

    /// Emits sinh z = sinh x cos y + i cosh x sin y.
    pub fn sinh(self) -> Self {
        let (sinh, cosh, factor) = hyperbolic(self.re);
        let im = cosh * trig::sin(self.im) * factor;
        Self::new(sinh * trig::cos(self.im) * factor, self.im.eq(0.0).select(self.im, im))
    }

    /// Emits cosh z = cosh x cos y + i sinh x sin y.
    pub fn cosh(self) -> Self {
        let (sinh, cosh, factor) = hyperbolic(self.re);
        let im = sinh * trig::sin(self.im) * factor;
        Self::new(cosh * trig::cos(self.im) * factor, product_or_zero(self.im, self.re, im))
    }

    /// Emits sin z = sinh(iz) / i.
    pub fn sin(self) -> Self {
        self.times_i().sinh().over_i()
    }

    /// Emits cos z = cosh(iz).
    pub fn cos(self) -> Self {
        self.times_i().cosh()
    }

    /// Emits tanh z = (sinh x cosh x + i sin y cos y) / (sinh² x + cos² y). No term of this formula cancels
    /// another. For large x, emits the limit of the formula instead.
    pub fn tanh(self) -> Self {
        let (x, y) = (self.re, self.im);
        let far = x.abs().gt(22.0);
        let near_x = far.select(x.lit(1.0), x);
        let (sinh, cosh) = (exp::sinh(near_x), exp::cosh(near_x));
        let (sin, cos) = (trig::sin(y), trig::cos(y));
        let divisor = sinh.fma(sinh, cos * cos);
        let e = exp::exp(-x.abs());
        let far_im = sin * cos * 4.0 * e * e;
        let far_im = y.is_finite().select(far_im, far_im.lit(0.0));
        let one = x.lit(1.0).copysign(x);
        // At infinity the result is ±1 for every y. Elsewhere y must be finite.
        let known = y.is_finite() | x.abs().eq(f64::INFINITY);
        let nan = x.lit(f64::NAN);
        let (one, far_im) = (known.select(one, nan), known.select(far_im, nan));
        let (re, im) = (sinh * cosh / divisor, sin * cos / divisor);
        // On the real axis the imaginary part is zero, even if the real part is NaN.
        Self::new(far.select(one, re), y.eq(0.0).select(y, far.select(far_im, im)))
    }

    /// Emits tan z = tanh(iz) / i.
    pub fn tan(self) -> Self {
        self.times_i().tanh().over_i()
    }

    /// Emits z^w = e^(w log z), with these special cases: z^0 is 1, and z^1 is z. 0^w is 0 if w is real and
    /// positive, and NaN for any other w except 0.
    pub fn power(self, w: Self) -> Self {
        let r = self.log().mul(w).exp();
        let base = self.re.eq(0.0) & self.im.eq(0.0);
        let real = w.im.eq(0.0);
        let (vanishes, one, itself) = (real & w.re.gt(0.0), real & w.re.eq(0.0), real & w.re.eq(1.0));
        let part = |r: F<'a, 'c>, z: F<'a, 'c>, unit: f64| {
            let of_zero = vanishes.select(r.lit(0.0), r.lit(f64::NAN));
            let r = base.select(of_zero, itself.select(z, r));
            one.select(r.lit(unit), r)
        };
        Self::new(part(r.re, self.re, 1.0), part(r.im, self.im, 0.0))
    }

    /// Emits `atan2` of complex numbers, -i log((x + iy) / sqrt(x² + y²)), where `self` is y. With s =
    /// sqrt(x² + y²), the result is twice the arctangent of y / (s + x). If s + x cancels, the result is ±π
    /// minus twice the arctangent of y / (s - x).
    pub fn atan2(self, x: Self) -> Self {
        // Scales the numbers so that their squares stay in range.
        let scale = Self::new(x.larger_part(), self.larger_part()).downscale();
        let (x, y) = (x.scale(scale), self.scale(scale));
        let s = x.mul(x).add(y.mul(y)).sqrt();
        let (plus, minus) = (s.add(x), s.sub(x));
        let left = plus.abs().cmp(FloatPredicate::Olt, minus.abs());
        let divisor = Self::new(left.select(minus.re, plus.re), left.select(minus.im, plus.im));
        // atan w = atanh(iw) / i
        let w = y.div(divisor);
        let half = w.times_i().atanh().over_i();
        let pi = w.re.lit(std::f64::consts::PI).copysign(w.re);
        let (re, im) = (half.re * 2.0, half.im * 2.0);
        Self::new(left.select(pi - re, re), left.select(-im, im))
    }

    /// Scales a number for the inverse functions. Emits the number, or a quarter of it if its magnitude would
    /// overflow. Also emits the term that must then be added to the logarithm of the magnitude.
    fn in_range(self) -> (Self, F<'a, 'c>) {
        let huge = self.larger_part().gt(2f64.powi(1000));
        let (one, zero) = (self.re.lit(1.0), self.re.lit(0.0));
        let z = self.scale(huge.select(one.lit(0.25), one));
        (z, huge.select(one.lit(4f64.ln()), zero))
    }

    /// Emits √(1 - z) and √(1 + z).
    fn roots(self) -> (Self, Self) {
        let minus = Self::new(self.re.lit(1.0) - self.re, -self.im);
        (minus.sqrt(), Self::new(self.re + 1.0, self.im).sqrt())
    }

    fn has_infinite_part(self) -> P<'a, 'c> {
        self.re.abs().eq(f64::INFINITY) | self.im.abs().eq(f64::INFINITY)
    }

    /// Emits the angle of a number with at least one infinite part. This angle is the real part of the arc
    /// cosine of the number, according to annex G of C99.
    fn infinite_angle(self) -> F<'a, 'c> {
        let one = |x: F<'a, 'c>| x.abs().eq(f64::INFINITY).select(x.lit(1.0).copysign(x), x * 0.0);
        trig::atan2(one(self.im).abs(), one(self.re))
    }

    /// Emits asin z: the angle of x + i Re(√(1 - z) √(1 + z)), and asinh Im(√(1 - z)* √(1 + z)).
    pub fn asin(self) -> Self {
        let (z, more) = self.in_range();
        let (minus, plus) = z.roots();
        let across = minus.re * plus.re - minus.im * plus.im;
        let im = log::asinh(minus.re * plus.im - minus.im * plus.re);
        let (angle, is_infinite) = (self.infinite_angle(), self.has_infinite_part());
        // π/2 minus the angle is exact, because there are only five possible angles.
        let of_infinite = (angle.lit(std::f64::consts::FRAC_PI_2) - angle).abs().copysign(self.re);
        Self::new(
            is_infinite.select(of_infinite, trig::atan2(z.re, across)),
            is_infinite.select(im.lit(f64::INFINITY).copysign(self.im), im + more.copysign(im)),
        )
    }

    /// Emits acos z: twice the angle of Re √(1 + z) + i Re √(1 - z), and asinh Im(√(1 + z)* √(1 - z)).
    pub fn acos(self) -> Self {
        let (z, more) = self.in_range();
        let (minus, plus) = z.roots();
        let im = log::asinh(plus.re * minus.im - plus.im * minus.re);
        let (angle, is_infinite) = (self.infinite_angle(), self.has_infinite_part());
        Self::new(
            is_infinite.select(angle, trig::atan2(minus.re, plus.re) * 2.0),
            is_infinite.select(im.lit(f64::INFINITY).copysign(-self.im), im + more.copysign(im)),
        )
    }

    /// Emits asinh z = asin(iz) / i.
    pub fn asinh(self) -> Self {
        self.times_i().asin().over_i()
    }

    /// Emits acosh z: asinh Re(√(z - 1)* √(z + 1)), and twice the angle of Re √(z + 1) + i Im √(z - 1).
    pub fn acosh(self) -> Self {
        let (z, more) = self.in_range();
        let minus = Self::new(z.re - 1.0, z.im).sqrt();
        let plus = Self::new(z.re + 1.0, z.im).sqrt();
        let re = log::asinh(minus.re * plus.re + minus.im * plus.im);
        let (angle, is_infinite) = (self.infinite_angle(), self.has_infinite_part());
        Self::new(
            is_infinite.select(re.lit(f64::INFINITY), re + more),
            is_infinite.select(angle.copysign(self.im), trig::atan2(minus.im, plus.re) * 2.0),
        )
    }

    /// Emits atanh z by Kahan's method. With x = |Re z|, the parts are log(1 + 4x / ((1 - x)² + y²)) / 4, and
    /// half the arctangent of 2y / ((1 - x)(1 + x) - y²). Beyond 2⁶⁰, they are the real part of 1/z, and
    /// ±π/2.
    pub fn atanh(self) -> Self {
        let (x, y) = (self.re.abs(), self.im);
        let is_infinite = self.has_infinite_part();
        let huge = self.larger_part().gt(2f64.powi(60));
        let less = x.lit(1.0) - x;
        let near = log::log1p(x * 4.0 / (less * less + y * y)) * 0.25;
        // At the poles the square of y may underflow to zero.
        let at_pole = (log::log(y.fma(y, y.lit(4.0))) * 0.5 - log::log(y.abs())) * 0.5;
        let far = self.one().div(Self::new(x, y)).re;
        let re = huge.select(far, x.eq(1.0).select(at_pole, near));
        let im = trig::atan2(y * 2.0, less * (x + 1.0) - y * y) * 0.5;
        let right = y.lit(std::f64::consts::FRAC_PI_2).copysign(y);
        let re = is_infinite.select(re.lit(0.0), re);
        Self::new(re.copysign(self.re), (huge | is_infinite).select(right, im))
    }
}
