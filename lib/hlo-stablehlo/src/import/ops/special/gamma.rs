//! The logarithm of the gamma function and its derivatives. They use Lanczos' approximation with `g` = 7, and
//! reflection below 1/2.

use super::Formula;
use hlo_ir::InstrId;
use hlo_ir::attr::ComparisonDirection as Is;
use std::f64::consts::{LN_2, PI};

/// The constant `g` of Lanczos' approximation.
const G: f64 = 7.0;

/// The constant term of Lanczos' sum.
const BASE: f64 = 0.9999999999998099;

/// The coefficients of `1/(z + k)`, for `k` from 1 on.
const COEFFICIENTS: [f64; 8] = [
    676.5203681218851,
    -1259.1392167224028,
    771.3234287776531,
    -176.6150291621406,
    12.507343278686905,
    -0.13857109526572012,
    9.984369578019572e-06,
    1.5056327351493116e-07,
];

/// The values that `lgamma` and `digamma` share.
struct Lanczos {
    is_reflected: InstrId,
    /// `-x` if the argument is reflected, otherwise `x - 1`.
    z: InstrId,
    /// `z + g + 1/2`.
    t: InstrId,
    /// The logarithm of `t`.
    log_t: InstrId,
}

impl Formula<'_, '_> {
    fn lanczos(&mut self, x: InstrId) -> Lanczos {
        let [half, one, shift, log_shift] = [0.5, 1.0, G + 0.5, (G + 0.5).ln()].map(|n| self.num(n));
        let is_reflected = self.is(x, Is::Lt, half);
        let negative = self.neg(x);
        let less = self.sub(x, one);
        let z = self.select(is_reflected, negative, less);
        let t = self.add(shift, z);
        let relative = self.div(z, shift);
        let log = self.log_plus_one(relative);
        let log_t = self.add(log_shift, log);
        Lanczos { is_reflected, z, t, log_t }
    }

    pub(super) fn lgamma(&mut self, x: InstrId) -> InstrId {
        let [half, one, pi, log_pi] = [0.5, 1.0, PI, PI.ln()].map(|n| self.num(n));
        let Lanczos { is_reflected, z, t, log_t } = self.lanczos(x);
        let mut sum = self.num(BASE);
        for (k, c) in (1..).zip(COEFFICIENTS) {
            let [c, k] = [c, f64::from(k)].map(|n| self.num(n));
            let below = self.add(z, k);
            let term = self.div(c, below);
            sum = self.add(sum, term);
        }
        // (z + 1/2 - t / log t) log t does not overflow for large t.
        let ratio = self.div(t, log_t);
        let factor = self.add(z, half);
        let factor = self.sub(factor, ratio);
        let product = self.mul(factor, log_t);
        let log_sum = self.log(sum);
        let constant = self.num((LN_2 + PI.ln()) / 2.0);
        let value = self.add(constant, product);
        let value = self.add(value, log_sum);
        // log π - lgamma(1-x) - log |sin πx|. The sine is computed from the fraction of x, reduced to at most
        // 1/2, which keeps all its bits.
        let magnitude = self.abs(x);
        let whole = self.floor(magnitude);
        let fraction = self.sub(magnitude, whole);
        let is_upper = self.is(half, Is::Lt, fraction);
        let other = self.sub(one, fraction);
        let fraction = self.select(is_upper, other, fraction);
        let angle = self.mul(pi, fraction);
        let sine = self.sin(angle);
        let log_sine = self.log(sine);
        let reflected = self.sub(log_pi, log_sine);
        let reflected = self.sub(reflected, value);
        // At a pole the logarithm of the sine determines the result.
        let is_finite = self.is_finite(log_sine);
        let pole = self.neg(log_sine);
        let reflected = self.select(is_finite, reflected, pole);
        let value = self.select(is_reflected, reflected, value);
        let infinity = self.num(f64::INFINITY);
        let is_infinite = self.is(magnitude, Is::Eq, infinity);
        self.select(is_infinite, infinity, value)
    }

    pub(super) fn digamma(&mut self, x: InstrId) -> InstrId {
        let [zero, half, pi, g] = [0.0, 0.5, PI, G].map(|n| self.num(n));
        let Lanczos { is_reflected, z, t, log_t } = self.lanczos(x);
        let mut sum = self.num(BASE);
        let mut derivative = zero;
        for (k, c) in (1..).zip(COEFFICIENTS) {
            let [c, k] = [c, f64::from(k)].map(|n| self.num(n));
            let below = self.add(z, k);
            let square = self.mul(below, below);
            let term = self.div(c, square);
            derivative = self.sub(derivative, term);
            let term = self.div(c, below);
            sum = self.add(sum, term);
        }
        let ratio = self.div(derivative, sum);
        let value = self.add(log_t, ratio);
        let rest = self.div(g, t);
        let value = self.sub(value, rest);
        // π cot πx has period 1. It is most accurate near 0.
        let rounded = self.add(x, half);
        let rounded = self.floor(rounded);
        let rounded = self.abs(rounded);
        let reduced = self.add(x, rounded);
        let angle = self.mul(pi, reduced);
        let (cosine, sine) = (self.cos(angle), self.sin(angle));
        let above = self.mul(pi, cosine);
        let cotangent = self.div(above, sine);
        let reflected = self.sub(value, cotangent);
        let value = self.select(is_reflected, reflected, value);
        let not_positive = self.is(x, Is::Le, zero);
        let is_whole = self.is_whole(x);
        let is_pole = self.both(not_positive, is_whole);
        let nan = self.num(f64::NAN);
        self.select(is_pole, nan, value)
    }

    /// Computes the `n`-th derivative of `digamma`: (-1)ⁿ⁺¹ n! ζ(n+1, x).
    pub(super) fn polygamma(&mut self, n: InstrId, x: InstrId) -> InstrId {
        let [zero, one, two, nan] = [0.0, 1.0, 2.0, f64::NAN].map(|n| self.num(n));
        let odd = self.rem(n, two);
        let sign = self.mul(two, odd);
        let sign = self.sub(sign, one);
        let next = self.add(n, one);
        let log_factorial = self.lgamma(next);
        let factorial = self.exp(log_factorial);
        let zeta = self.zeta(next, x);
        let value = self.mul(sign, factorial);
        let value = self.mul(value, zeta);
        let is_zeroth = self.is(n, Is::Eq, zero);
        let digamma = self.digamma(x);
        let value = self.select(is_zeroth, digamma, value);
        let floor = self.floor(n);
        let has_fraction = self.is(n, Is::Ne, floor);
        let is_negative = self.is(n, Is::Lt, zero);
        let is_none = self.either(has_fraction, is_negative);
        self.select(is_none, nan, value)
    }
}
