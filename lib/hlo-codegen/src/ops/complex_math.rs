//! Functions of complex numbers, from those of their parts.

use super::complex::C;
use crate::math::F;
use crate::math::{exp, log, trig};

impl<'a, 'c> C<'a, 'c> {
    /// The number multiplied by i.
    fn times_i(self) -> Self {
        Self::new(-self.im, self.re)
    }

    /// The number divided by i.
    fn over_i(self) -> Self {
        Self::new(self.im, -self.re)
    }

    fn one(self) -> Self {
        Self::new(self.re.lit(1.0), self.re.lit(0.0))
    }

    /// e^z. A real argument has a real result, infinite or not.
    pub fn exp(self) -> Self {
        let (sin, cos) = (trig::sin(self.im), trig::cos(self.im));
        // In two factors, because e^x may overflow where e^x sin y does not.
        let half = exp::exp(self.re * 0.5);
        let real = self.im.eq(0.0);
        let re = real.select(exp::exp(self.re), half * cos * half);
        let im = real.select(self.im, half * sin * half);
        let vanishes = self.re.eq(f64::NEG_INFINITY);
        let zero = re.lit(0.0);
        Self::new(vanishes.select(zero, re), vanishes.select(zero, im))
    }

    /// e^z - 1, without cancellation near 0.
    pub fn exp_m1(self) -> Self {
        let half_sin = trig::sin(self.im * 0.5);
        let m = exp::exp_m1(self.re);
        let large = self.exp();
        // e^x cos y - 1 = (e^x - 1) cos y - 2 sin²(y/2)
        let re = m * trig::cos(self.im) - half_sin * half_sin * 2.0;
        let far = self.re.gt(1.0);
        Self::new(far.select(large.re - 1.0, re), large.im)
    }

    /// The natural logarithm: the real part is accurate near |z| = 1 too.
    pub fn log(self) -> Self {
        let (x, y) = (self.re.abs(), self.im.abs());
        let larger = x.cmp(crate::builder::FloatPredicate::Ult, y).select(y, x);
        let smaller = x.cmp(crate::builder::FloatPredicate::Ult, y).select(x, y);
        let near = larger.gt(0.5) & larger.lt(3.0);
        let ratio = smaller / larger;
        let ratio = larger.eq(0.0).select(ratio.lit(0.0), ratio);
        let outside = smaller.fma(smaller, (larger - 1.0) * (larger + 1.0));
        let half = log::log1p(near.select(outside, ratio * ratio)) * 0.5;
        let re = near.select(half, log::log(larger) + half);
        let infinite = x.eq(f64::INFINITY) | y.eq(f64::INFINITY);
        Self::new(infinite.select(re.lit(f64::INFINITY), re), trig::atan2(self.im, self.re))
    }

    /// log(1 + z), without cancellation near 0.
    pub fn log1p(self) -> Self {
        let far = Self::new(self.re + 1.0, self.im).log();
        let near = self.re.abs().lt(0.5) & self.im.abs().lt(0.5);
        let r = log::log1p(self.im.fma(self.im, self.re * (self.re + 2.0))) * 0.5;
        Self::new(near.select(r, far.re), far.im)
    }

    /// 1 / (1 + e^-z).
    pub fn logistic(self) -> Self {
        let e = Self::new(-self.re, -self.im).exp();
        self.one().div(self.one().add(e))
    }

    /// 1 / sqrt(z).
    pub fn rsqrt(self) -> Self {
        self.one().div(self.sqrt())
    }

    /// sinh z = sinh x cos y + i cosh x sin y.
    pub fn sinh(self) -> Self {
        let im = exp::cosh(self.re) * trig::sin(self.im);
        let im = self.im.eq(0.0).select(self.im, im);
        Self::new(exp::sinh(self.re) * trig::cos(self.im), im)
    }

    /// cosh z = cosh x cos y + i sinh x sin y.
    pub fn cosh(self) -> Self {
        Self::new(exp::cosh(self.re) * trig::cos(self.im), exp::sinh(self.re) * trig::sin(self.im))
    }

    /// sin z = sinh(iz) / i.
    pub fn sin(self) -> Self {
        self.times_i().sinh().over_i()
    }

    /// cos z = cosh(iz).
    pub fn cos(self) -> Self {
        self.times_i().cosh()
    }

    /// tanh z, by W. Kahan's formula, which neither overflows nor cancels.
    pub fn tanh(self) -> Self {
        let (x, y) = (self.re, self.im);
        let limit = x.pick(11.0, 22.0);
        let far = x.abs().gt(limit);
        let t = trig::tan(y);
        let s = exp::sinh(far.select(x.lit(1.0), x));
        let beta = t * t + 1.0;
        let rho = (s * s + 1.0).sqrt();
        let denominator = beta * s * s + 1.0;
        let pole = t.abs().eq(f64::INFINITY);
        let near_re = pole.select(rho / s, beta * rho * s / denominator);
        let near_im = pole.select(t.lit(1.0) / t, t / denominator);
        let e = exp::exp(-x.abs());
        let far_im = trig::sin(y) * trig::cos(y) * 4.0 * e * e;
        let far_im = y.is_finite().select(far_im, far_im.lit(0.0).copysign(y));
        let one = x.lit(1.0).copysign(x);
        Self::new(far.select(one, near_re), far.select(far_im, near_im))
    }

    /// tan z = tanh(iz) / i.
    pub fn tan(self) -> Self {
        self.times_i().tanh().over_i()
    }

    /// z^w = e^(w log z); 1 for w = 0, z for w = 1. 0 to a positive real power is 0, to any other NaN.
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

    /// `atan2` of complex numbers: -i log((x + iy) / sqrt(x² + y²)), `self` being y.
    pub fn atan2(self, x: Self) -> Self {
        let length = x.mul(x).add(self.mul(self)).sqrt();
        x.add(self.times_i()).div(length).log().over_i()
    }

    /// asinh z = log(z + sqrt(z² + 1)), for the half plane right of the imaginary axis, else by symmetry; near 0
    /// as log1p(z + z² / (1 + sqrt(z² + 1))), without cancellation.
    pub fn asinh(self) -> Self {
        let left = self.re.sign_bit();
        let flip = |z: Self| Self::new(left.select(-z.re, z.re), left.select(-z.im, z.im));
        let z = flip(self);
        // sqrt(z + i) sqrt(z - i): no overflow, and right on both sides of the cuts.
        let (up, down) = (Self::new(z.re, z.im + 1.0).sqrt(), Self::new(z.re, z.im - 1.0).sqrt());
        let root = up.mul(down);
        let far = z.add(root).log();
        let near = z.add(z.mul(z).div(self.one().add(root))).log1p();
        let close = z.re.lt(0.25) & z.im.abs().lt(0.25);
        flip(Self::new(close.select(near.re, far.re), close.select(near.im, far.im)))
    }

    /// acosh z = log(z + sqrt(z + 1) sqrt(z - 1)).
    pub fn acosh(self) -> Self {
        let (right, left) =
            (Self::new(self.re + 1.0, self.im).sqrt(), Self::new(self.re - 1.0, self.im).sqrt());
        self.add(right.mul(left)).log()
    }

    /// atanh z = (log1p z - log1p(-z)) / 2.
    pub fn atanh(self) -> Self {
        let minus = Self::new(-self.re, -self.im);
        let d = self.log1p().sub(minus.log1p());
        Self::new(d.re * 0.5, d.im * 0.5)
    }

    /// asin z = asinh(iz) / i.
    pub fn asin(self) -> Self {
        self.times_i().asinh().over_i()
    }

    /// acos z = π/2 - asin z.
    pub fn acos(self) -> Self {
        let a = self.asin();
        Self::new(-(a.re - std::f64::consts::FRAC_PI_2), -a.im)
    }
}
