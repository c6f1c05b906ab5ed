//! The complementary error function, and the inverse of the error function.

use super::Formula;
use hlo_ir::InstrId;
use hlo_ir::attr::ComparisonDirection as Is;
use hlo_ir::build::Build;

/// Approximations of `erfc` from 1 on: rational functions that multiply `exp(-x²)` (Cephes).
mod f64_tables {
    /// Numerator below 8, in `x`.
    pub const P: &[f64] = &[
        2.461969814735305e-10,
        0.5641895648310689,
        7.463210564422699,
        48.63719709856814,
        196.5208329560771,
        526.4451949954773,
        934.5285271719576,
        1027.5518868951572,
        557.5353353693994,
    ];
    /// Denominator below 8.
    pub const Q: &[f64] = &[
        1.0,
        13.228195115474499,
        86.70721408859897,
        354.9377788878199,
        975.7085017432055,
        1823.9091668790973,
        2246.3376081871097,
        1656.6630919416134,
        557.5353408177277,
    ];
    /// Numerator from 8 on.
    pub const R: &[f64] = &[
        0.5641895835477551,
        1.275366707599781,
        5.019050422511805,
        6.160210979930536,
        7.4097426995044895,
        2.9788666537210022,
    ];
    /// Denominator from 8 on.
    pub const S: &[f64] = &[
        1.0,
        2.2605286322011726,
        9.396035249380015,
        12.048953980809666,
        17.08144507475659,
        9.608968090632859,
        3.369076451000815,
    ];
    /// Polynomial of the inverse in `w - 3.125`, for `w = -log(1 - x²)` below 6.25.
    pub const NEAR: &[f64] = &[
        -3.64441206401782e-21,
        -1.6850591381820166e-19,
        1.28584807152564e-18,
        1.1157877678025181e-17,
        -1.333171662854621e-16,
        2.0972767875968562e-17,
        6.637638134358324e-15,
        -4.054566272975207e-14,
        -8.151934197605472e-14,
        2.6335093153082323e-12,
        -1.2975133253453532e-11,
        -5.415412054294628e-11,
        1.0512122733215323e-09,
        -4.112633980346984e-09,
        -2.9070369957882005e-08,
        4.2347877827932404e-07,
        -1.3654692000834679e-06,
        -1.3882523362786469e-05,
        0.00018673420803405714,
        -0.000740702534166267,
        -0.006033670871430149,
        0.24015818242558962,
        1.6536545626831027,
    ];
    /// Polynomial of the inverse in `sqrt(w) - 3.25`, for `w` from 6.25 to 16.
    pub const MIDDLE: &[f64] = &[
        2.2137376921775787e-09,
        9.075656193888539e-08,
        -2.7517406297064545e-07,
        1.8239629214389228e-08,
        1.5027403968909828e-06,
        -4.013867526981546e-06,
        2.9234449089955446e-06,
        1.2475304481671779e-05,
        -4.7318229009055734e-05,
        6.828485145957318e-05,
        2.4031110387097894e-05,
        -0.0003550375203628475,
        0.0009532893797373805,
        -0.0016882755560235047,
        0.002491442096107851,
        -0.003751208507569241,
        0.005370914553590064,
        1.0052589676941592,
        3.0838856104922208,
    ];
    /// Polynomial of the inverse in `sqrt(w) - 5`, for `w` from 16 on.
    pub const FAR: &[f64] = &[
        -2.7109920616438573e-11,
        -2.555641816996525e-10,
        1.5076572693500548e-09,
        -3.789465440126737e-09,
        7.61570120807834e-09,
        -1.496002662714924e-08,
        2.914795345090108e-08,
        -6.771199775845234e-08,
        2.2900482228026655e-07,
        -9.9298272942317e-07,
        4.526062597223154e-06,
        -1.968177810553167e-05,
        7.599527703001776e-05,
        -0.00021503011930044477,
        -0.00013871931833623122,
        1.0103004648645344,
        4.849906401408584,
    ];
}

/// The tables for `f32`.
mod f32_tables {
    /// Polynomial below 2, in `1/x²`. It multiplies `exp(-x²)/x`.
    pub const P: &[f64] = &[
        0.02326819970068386,
        -0.1387039388740657,
        0.3687424674597105,
        -0.5824733027278666,
        0.6210004621745983,
        -0.4944515323274145,
        0.3404879937665872,
        -0.2741127028184656,
        0.5638259427386472,
    ];
    /// The same polynomial from 2 on.
    pub const R: &[f64] = &[
        -10.47766399936249,
        12.97719955372516,
        -7.495518717768503,
        2.921019019210786,
        -1.0152652792027,
        0.4218463358204948,
        -0.2820767439740514,
        0.5641895067754075,
    ];
    /// Polynomial of `erf(x)/x` below 1, in `x²`.
    pub const T: &[f64] = &[
        7.853861353153693e-05,
        -0.0008010193625184903,
        0.005188327685732524,
        -0.02685381193529856,
        0.1128358514861418,
        -0.37612625824233,
        1.12837916572671,
    ];
    /// Polynomial of the inverse in `w - 2.5`, for `w = -log(1 - x²)` below 5.
    pub const NEAR: &[f64] = &[
        2.81022636e-08,
        3.43273939e-07,
        -3.5233877e-06,
        -4.39150654e-06,
        0.00021858087,
        -0.00125372503,
        -0.00417768164,
        0.246640727,
        1.50140941,
    ];
    /// Polynomial of the inverse in `sqrt(w) - 3`, for `w` from 5 on.
    pub const FAR: &[f64] = &[
        -0.000200214257,
        0.000100950558,
        0.00134934322,
        -0.00367342844,
        0.00573950773,
        -0.0076224613,
        0.00943887047,
        1.00167406,
        2.83297682,
    ];
}

/// The `x²` from which on `exp(-x²)` is treated as zero.
const MAX_LOG_F64: f64 = 709.782712893384;
const MAX_LOG_F32: f64 = 88.72283905206835;

impl Formula<'_, '_> {
    pub(super) fn erfc(&mut self, x: InstrId) -> InstrId {
        let one = self.num(1.0);
        let magnitude = self.abs(x);
        let small = self.erf_of_small(x);
        let small = self.sub(one, small);
        let large = self.erfc_of_large(x, magnitude);
        let is_small = self.is(magnitude, Is::Lt, one);
        self.select(is_small, small, large)
    }

    /// Computes `erf` for magnitudes below 1.
    fn erf_of_small(&mut self, x: InstrId) -> InstrId {
        if self.is_f64() {
            return self.importer.add(self.shape.clone(), hlo_ir::Op::Erf, &[x]);
        }
        let square = self.mul(x, x);
        let factor = self.polynomial(square, f32_tables::T);
        self.mul(x, factor)
    }

    /// Computes `erfc` for magnitudes of 1 or more.
    fn erfc_of_large(&mut self, x: InstrId, magnitude: InstrId) -> InstrId {
        let square = self.mul(x, x);
        let exponent = self.neg(square);
        let scale = self.exp(exponent);
        let value = if self.is_f64() {
            let middle = self.quotient(scale, magnitude, f64_tables::P, f64_tables::Q);
            let far = self.quotient(scale, magnitude, f64_tables::R, f64_tables::S);
            let border = self.num(8.0);
            let is_middle = self.is(magnitude, Is::Lt, border);
            self.select(is_middle, middle, far)
        } else {
            let [one, border] = [1.0, 2.0].map(|n| self.num(n));
            let inverse_square = self.div(one, square);
            let inverse = self.div(one, magnitude);
            let scale = self.mul(scale, inverse);
            let middle = self.polynomial(inverse_square, f32_tables::P);
            let far = self.polynomial(inverse_square, f32_tables::R);
            let is_middle = self.is(magnitude, Is::Lt, border);
            let factor = self.select(is_middle, middle, far);
            self.mul(scale, factor)
        };
        let limit = if self.is_f64() { MAX_LOG_F64 } else { MAX_LOG_F32 };
        let [limit, zero, two] = [-limit, 0.0, 2.0].map(|n| self.num(n));
        let vanishes = self.is(exponent, Is::Lt, limit);
        let value = self.select(vanishes, zero, value);
        let is_negative = self.is(x, Is::Lt, zero);
        let reflected = self.sub(two, value);
        self.select(is_negative, reflected, value)
    }

    fn quotient(&mut self, scale: InstrId, x: InstrId, above: &[f64], below: &[f64]) -> InstrId {
        let above = self.polynomial(x, above);
        let above = self.mul(scale, above);
        let below = self.polynomial(x, below);
        self.div(above, below)
    }

    /// Computes the inverse of the error function (Giles, "Approximating the erfinv function").
    pub(super) fn erf_inv(&mut self, x: InstrId) -> InstrId {
        let negative = self.neg(x);
        let minus_square = self.mul(x, negative);
        let log = self.log_plus_one(minus_square);
        let w = self.neg(log);
        let root = self.sqrt(w);
        let factor = if self.is_f64() {
            let near = self.shifted(w, 3.125, f64_tables::NEAR);
            let middle = self.shifted(root, 3.25, f64_tables::MIDDLE);
            let far = self.shifted(root, 5.0, f64_tables::FAR);
            let [below, above] = [6.25, 16.0].map(|n| self.num(n));
            let is_near = self.is(w, Is::Lt, below);
            let is_middle = self.is(w, Is::Lt, above);
            let beyond = self.select(is_middle, middle, far);
            self.select(is_near, near, beyond)
        } else {
            let near = self.shifted(w, 2.5, f32_tables::NEAR);
            let far = self.shifted(root, 3.0, f32_tables::FAR);
            let border = self.num(5.0);
            let is_near = self.is(w, Is::Lt, border);
            self.select(is_near, near, far)
        };
        let value = self.mul(factor, x);
        let [one, infinity] = [1.0, f64::INFINITY].map(|n| self.num(n));
        let magnitude = self.abs(x);
        let at_end = self.is(magnitude, Is::Eq, one);
        let end = self.mul(x, infinity);
        self.select(at_end, end, value)
    }

    fn shifted(&mut self, x: InstrId, by: f64, coefficients: &[f64]) -> InstrId {
        let by = self.num(by);
        let x = self.sub(x, by);
        self.polynomial(x, coefficients)
    }
}
