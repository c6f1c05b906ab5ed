//! The modified Bessel function of the first kind and order 1, exponentially scaled: `exp(-|x|) I1(x)`.

use super::Formula;
use hlo_ir::InstrId;
use hlo_ir::attr::ComparisonDirection as Is;

/// Chebyshev coefficients (Cephes) of `exp(-x) I1(x) / x` on [0, 8] for `f64`. The last ones of them are the
/// coefficients for `f32`.
const COEFFICIENTS_BELOW_8: &[f64] = &[
    2.7779141127610464e-18,
    -2.111421214358166e-17,
    1.5536319577362005e-16,
    -1.1055969477353862e-15,
    7.600684294735408e-15,
    -5.042185504727912e-14,
    3.223793365945575e-13,
    -1.9839743977649436e-12,
    1.1736186298890901e-11,
    -6.663489723502027e-11,
    3.625590281552117e-10,
    -1.8872497517228294e-09,
    9.381537386495773e-09,
    -4.445059128796328e-08,
    2.0032947535521353e-07,
    -8.568720264695455e-07,
    3.4702513081376785e-06,
    -1.3273163656039436e-05,
    4.781565107550054e-05,
    -0.00016176081582589674,
    0.0005122859561685758,
    -0.0015135724506312532,
    0.004156422944312888,
    -0.010564084894626197,
    0.024726449030626516,
    -0.05294598120809499,
    0.1026436586898471,
    -0.17641651835783406,
    0.25258718644363365,
];

/// Chebyshev coefficients of `exp(-x) sqrt(x) I1(x)` from 8 on, in `32/x`.
const COEFFICIENTS_FROM_8: &[f64] = &[
    7.517296310842105e-18,
    4.414348323071708e-18,
    -4.6503053684893586e-17,
    -3.209525921993424e-17,
    2.96262899764595e-16,
    3.3082023109209285e-16,
    -1.8803547755107825e-15,
    -3.8144030724370075e-15,
    1.0420276984128802e-14,
    4.272440016711951e-14,
    -2.1015418427726643e-14,
    -4.0835511110921974e-13,
    -7.198551776245908e-13,
    2.0356285441470896e-12,
    1.4125807436613782e-11,
    3.2526035830154884e-11,
    -1.8974958123505413e-11,
    -5.589743462196584e-10,
    -3.835380385964237e-09,
    -2.6314688468895196e-08,
    -2.512236237870209e-07,
    -3.882564808877691e-06,
    -0.00011058893876262371,
    -0.009761097491361469,
    0.7785762350182801,
];

/// The number of coefficients for `f32`.
const F32_COUNT_BELOW_8: usize = 17;
const F32_COUNT_FROM_8: usize = 7;

impl Formula<'_, '_> {
    pub(super) fn bessel_i1e(&mut self, x: InstrId) -> InstrId {
        let (small, large) = if self.is_f64() {
            (COEFFICIENTS_BELOW_8, COEFFICIENTS_FROM_8)
        } else {
            (
                &COEFFICIENTS_BELOW_8[COEFFICIENTS_BELOW_8.len() - F32_COUNT_BELOW_8..],
                &COEFFICIENTS_FROM_8[COEFFICIENTS_FROM_8.len() - F32_COUNT_FROM_8..],
            )
        };
        let magnitude = self.abs(x);
        let [half, two, eight, thirty_two] = [0.5, 2.0, 8.0, 32.0].map(|n| self.num(n));
        let argument = self.mul(half, magnitude);
        let argument = self.sub(argument, two);
        let near = self.chebyshev(argument, small);
        let near = self.mul(magnitude, near);
        let argument = self.div(thirty_two, magnitude);
        let argument = self.sub(argument, two);
        let far = self.chebyshev(argument, large);
        let root = self.sqrt(magnitude);
        let far = self.div(far, root);
        let is_near = self.is(magnitude, Is::Le, eight);
        let value = self.select(is_near, near, far);
        let sign = self.sign(x);
        self.mul(sign, value)
    }

    /// Sums Chebyshev polynomials by Clenshaw's scheme. `x` is twice the argument; the coefficient of the
    /// highest degree comes first.
    fn chebyshev(&mut self, x: InstrId, coefficients: &[f64]) -> InstrId {
        let zero = self.num(0.0);
        let (mut last, mut before, mut earlier) = (zero, zero, zero);
        for &c in coefficients {
            (earlier, before) = (before, last);
            let product = self.mul(x, before);
            let rest = self.sub(product, earlier);
            let c = self.num(c);
            last = self.add(rest, c);
        }
        let half = self.num(0.5);
        let difference = self.sub(last, earlier);
        self.mul(difference, half)
    }
}
