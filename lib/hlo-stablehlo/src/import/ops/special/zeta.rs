//! The Hurwitz zeta function, by the Euler–Maclaurin formula.

use super::Formula;
use hlo_ir::InstrId;
use hlo_ir::attr::ComparisonDirection as Is;

/// The number of terms that are added directly, in addition to the first.
const DIRECT_TERMS: usize = 9;

/// `(2k)! / B₂ₖ`, the largest `k` first.
const COEFFICIENTS: [f64; 12] = [
    -7.166165256175667e+18,
    1.8152105401943546e+17,
    -4597978722407473.0,
    116467828143500.67,
    -2950130727918.164,
    7.47242496e10,
    -1892437580.3183792,
    47900160.0,
    -1209600.0,
    30240.0,
    -720.0,
    12.0,
];

impl Formula<'_, '_> {
    /// Computes the sum of `(q + k)^-x` over all `k` from 0 on.
    pub(super) fn zeta(&mut self, x: InstrId, q: InstrId) -> InstrId {
        let [zero, half, one] = [0.0, 0.5, 1.0].map(|n| self.num(n));
        let exponent = self.neg(x);
        let mut at = q;
        let mut sum = self.pow(q, exponent);
        for _ in 0..DIRECT_TERMS {
            at = self.add(at, one);
            let term = self.pow(at, exponent);
            sum = self.add(sum, term);
        }
        at = self.add(at, one);
        let term = self.pow(at, exponent);
        let above = self.mul(term, at);
        let below = self.sub(x, one);
        let integral = self.div(above, below);
        let tail = self.bernoulli_terms(x, at);
        let ratio = self.div(x, at);
        let tail = self.mul(ratio, tail);
        let tail = self.add(half, tail);
        let tail = self.mul(term, tail);
        let whole = self.add(sum, integral);
        let whole = self.add(whole, tail);
        // If the next term does not change the sum, the remaining part may overflow and is omitted.
        let smallest = if self.is_f64() { f64::from_bits(1) } else { f64::from(f32::from_bits(1)) };
        let smallest = self.num(smallest);
        let [term, magnitude] = [term, sum].map(|v| self.abs(v));
        let bound = self.mul(magnitude, smallest);
        let is_summed = self.is(term, Is::Lt, bound);
        let value = self.select(is_summed, sum, whole);
        self.zeta_at_edges(x, q, value, (zero, one))
    }

    /// Computes the terms with Bernoulli numbers by Horner's scheme.
    fn bernoulli_terms(&mut self, x: InstrId, at: InstrId) -> InstrId {
        let one = self.num(1.0);
        let square = self.mul(at, at);
        let inverse = self.div(one, square);
        let mut sum = self.num(0.0);
        let (last, others) = (COEFFICIENTS[COEFFICIENTS.len() - 1], &COEFFICIENTS[..COEFFICIENTS.len() - 1]);
        for (k, c) in others.iter().enumerate() {
            let first = (2 * (COEFFICIENTS.len() - 1 - k)) as f64;
            let [a, b, c] = [first, first - 1.0, 1.0 / c].map(|n| self.num(n));
            let (a, b) = (self.add(x, a), self.add(x, b));
            let factor = self.mul(a, b);
            let inner = self.add(sum, c);
            let inner = self.mul(inverse, inner);
            sum = self.mul(factor, inner);
        }
        let last = self.num(1.0 / last);
        self.add(last, sum)
    }

    /// Returns the value where the formula does not hold: at poles, and outside of the domain.
    fn zeta_at_edges(
        &mut self,
        x: InstrId,
        q: InstrId,
        value: InstrId,
        (zero, one): (InstrId, InstrId),
    ) -> InstrId {
        let [two, nan, infinity] = [2.0, f64::NAN, f64::INFINITY].map(|n| self.num(n));
        let is_less = self.is(x, Is::Lt, one);
        let value = self.select(is_less, nan, value);
        let q_not_positive = self.is(q, Is::Le, zero);
        let floor = self.floor(x);
        let has_fraction = self.is(x, Is::Ne, floor);
        let outside = self.both(q_not_positive, has_fraction);
        let value = self.select(outside, nan, value);
        let q_is_whole = self.is_whole(q);
        let at_pole = self.both(q_not_positive, q_is_whole);
        let x_is_whole = self.is_whole(x);
        let rest = self.rem(x, two);
        let is_even = self.is(rest, Is::Eq, zero);
        let is_even = self.both(x_is_whole, is_even);
        let pole = self.select(is_even, infinity, nan);
        let value = self.select(at_pole, pole, value);
        let is_harmonic = self.is(x, Is::Eq, one);
        self.select(is_harmonic, infinity, value)
    }
}
