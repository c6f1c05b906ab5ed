//! `elementary-function-expander`: replaces elementary functions that some backends do not support by
//! operations that all support.
//!
//! ```text
//! asin(x)  →  2 atan2(x, 1 + sqrt((1 - x) (1 + x)))
//! ```
//!
//! XLA's CPU and GPU backends do not compile `acos`, `acosh`, `asin`, `asinh`, `atanh`, `cosh` and `sinh`.
//! VHLO has no form for these functions, `erf` and `mulhi`. Types narrower than `f32` are computed in `f32`.
//! Functions of complex numbers follow W. Kahan, "Branch Cuts for Complex Elementary Functions".

use crate::pass_info::{PassInfo, Preservation};
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::ComparisonDirection as Is;
use hlo_ir::{ElementType, InstrId, Op};
use std::f64::consts::LN_2;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "elementary-function-expander",
    summary: "replace inverse and hyperbolic functions, erf and mulhi by operations that every backend has",
    keeps: Preservation::Values,
    example: "\
HloModule elementary_function_expander

ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] asin(x)
}
",
    build: |_, _| expansion_pass("elementary-function", is_expanded, expand),
    ..PassInfo::PLAIN
};

fn is_expanded(op: &Op) -> bool {
    use Op::{Acos, Acosh, Asin, Asinh, Atanh, Cosh, Erf, Mulhi, Sinh};
    matches!(op, Acos | Acosh | Asin | Asinh | Atanh | Cosh | Erf | Mulhi | Sinh)
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let op = e.module[id].op.clone();
    let operand = e.operand(0)?;
    let ty = e.array(operand)?.element_type;
    let result = if op == Op::Mulhi {
        let other = e.operand(1)?;
        high_half(e, ty, operand, other)?
    } else {
        let wide = match ty {
            ElementType::F64 | ElementType::C64 | ElementType::C128 => ty,
            _ => ElementType::F32,
        };
        let x = e.convert(operand, wide)?;
        let mut f = Formula { e, ty: wide.real_type() };
        if wide.is_complex() { f.of_complex(&op, x)? } else { f.of_real(&op, x)? }
    };
    let shape = e.shape();
    e.finish(result, &shape)
}

/// Returns the high half of a product of integers. It is taken from a product in a wider type. For 64 bits,
/// it is assembled from products of halves.
fn high_half(e: &mut Emitter<'_>, ty: ElementType, x: InstrId, y: InstrId) -> Option<InstrId> {
    let is_signed = ty.is_signed_integer();
    let bits = ty.bit_width();
    let shift = if is_signed { Op::ShiftRightArithmetic } else { Op::ShiftRightLogical };
    if bits < 64 {
        let wide = if is_signed { ElementType::S64 } else { ElementType::U64 };
        let [x, y] = [e.convert(x, wide)?, e.convert(y, wide)?];
        let product = e.same(Op::Multiply, &[x, y]);
        let count = e.splat(product, wide, f64::from(bits))?;
        let high = e.same(shift, &[product, count]);
        return e.convert(high, ty);
    }
    // No sum overflows, because the low halves are unsigned and the high halves have the sign of the type.
    let [half, low] = [e.splat(x, ty, 32.0)?, e.splat(x, ty, f64::from(u32::MAX))?];
    let halves =
        |e: &mut Emitter<'_>, x: InstrId| [e.same(shift.clone(), &[x, half]), e.same(Op::And, &[x, low])];
    let ([x1, x0], [y1, y0]) = (halves(e, x), halves(e, y));
    let product = |e: &mut Emitter<'_>, a: InstrId, b: InstrId| e.same(Op::Multiply, &[a, b]);
    let lowest = product(e, x0, y0);
    let carry = e.same(Op::ShiftRightLogical, &[lowest, half]);
    let middle = product(e, x1, y0);
    let middle = e.same(Op::Add, &[middle, carry]);
    let [middle_high, middle_low] = halves(e, middle);
    let other = product(e, x0, y1);
    let other = e.same(Op::Add, &[other, middle_low]);
    let other_high = e.same(shift.clone(), &[other, half]);
    let highest = product(e, x1, y1);
    let sum = e.same(Op::Add, &[highest, middle_high]);
    Some(e.same(Op::Add, &[sum, other_high]))
}

/// Builds the operations of a formula on arrays of equal sizes, whose elements have type `f32` or `f64`.
struct Formula<'e, 'm> {
    e: &'e mut Emitter<'m>,
    ty: ElementType,
}

/// Coefficients of P for `f32`: erf x = x + x P(x²).
const NEAR_F32: &[f64] =
    &[1.28379166e-1, -3.76125336e-1, 1.12819925e-1, -2.67681349e-2, 4.99119423e-3, -5.96761703e-4];
/// Coefficients of 1 - Q(t) for `f32`.
const FAR_F32: &[f64] = &[
    -1.28717512e-1,
    -6.34846687e-1,
    -1.06777877e-1,
    2.42546219e-2,
    -3.88396438e-3,
    3.83197126e-4,
    -1.72853470e-5,
];
/// Coefficients of P for `f64`.
const NEAR_F64: &[f64] = &[
    0.1283791670955126,
    -0.3761263890318371,
    0.1128379167095267,
    -0.02686617064459835,
    0.0052239776194636794,
    -0.0008548326627356456,
    0.00012055316321366083,
    -1.4925187963085126e-05,
    1.6453519390878434e-06,
    -1.6259570315941834e-07,
    1.3961889034904402e-08,
    -8.289992902945528e-10,
];
/// Coefficients of the negated exponent for `f64`, in |x| - 1.
const FAR_F64: &[f64] = &[
    1.8496055099332482,
    2.6389675142347913,
    0.8431072563584852,
    0.04156109804652019,
    -0.010033825434219181,
    0.001977903020965915,
    -0.0002373247131422874,
    -2.6270315248716384e-05,
    2.714081633825439e-05,
    -9.576417855118736e-06,
    2.0166941242821682e-06,
    -9.970650694581909e-08,
    -1.3042796425994312e-07,
    7.108145281288001e-08,
    -2.3253111556143594e-08,
    5.593252132101475e-09,
    -1.0206187843334961e-09,
    1.3859837984673813e-10,
    -1.3243851892803068e-11,
    7.941126913477285e-13,
    -2.243394172439156e-14,
];

/// The real and imaginary parts of complex numbers.
type Parts = (InstrId, InstrId);

impl Formula<'_, '_> {
    fn num(&mut self, like: InstrId, value: f64) -> Option<InstrId> {
        self.e.splat(like, self.ty, value)
    }

    fn unary(&mut self, op: Op, x: InstrId) -> InstrId {
        self.e.same(op, &[x])
    }

    fn add(&mut self, x: InstrId, y: InstrId) -> InstrId {
        self.e.same(Op::Add, &[x, y])
    }

    fn sub(&mut self, x: InstrId, y: InstrId) -> InstrId {
        self.e.same(Op::Subtract, &[x, y])
    }

    fn mul(&mut self, x: InstrId, y: InstrId) -> InstrId {
        self.e.same(Op::Multiply, &[x, y])
    }

    fn div(&mut self, x: InstrId, y: InstrId) -> InstrId {
        self.e.same(Op::Divide, &[x, y])
    }

    fn atan2(&mut self, x: InstrId, y: InstrId) -> InstrId {
        self.e.same(Op::Atan2, &[x, y])
    }

    /// Returns `first` where a comparison of `x` with a number holds, and `second` elsewhere.
    fn choose(&mut self, x: InstrId, is: Is, n: f64, first: InstrId, second: InstrId) -> Option<InstrId> {
        let n = self.num(x, n)?;
        let holds = self.e.relation(x, is, n);
        self.e.choose(holds, first, second)
    }

    fn of_real(&mut self, op: &Op, x: InstrId) -> Option<InstrId> {
        match op {
            Op::Acos => {
                let root = self.root_of_one_minus_square(x)?;
                Some(self.atan2(root, x))
            }
            Op::Asin => {
                let (root, one) = (self.root_of_one_minus_square(x)?, self.num(x, 1.0)?);
                let above = self.add(one, root);
                let half = self.atan2(x, above);
                Some(self.add(half, half))
            }
            Op::Acosh => self.acosh(x),
            Op::Asinh => self.asinh(x),
            Op::Atanh => self.atanh(x),
            Op::Cosh => self.hyperbolic(x).map(|(_, cosh)| cosh),
            Op::Sinh => self.hyperbolic(x).map(|(sinh, _)| sinh),
            Op::Erf => self.erf(x),
            _ => None,
        }
    }

    /// Returns sqrt((1 - x) (1 + x)).
    fn root_of_one_minus_square(&mut self, x: InstrId) -> Option<InstrId> {
        let one = self.num(x, 1.0)?;
        let (below, above) = (self.sub(one, x), self.add(one, x));
        let product = self.mul(below, above);
        Some(self.unary(Op::Sqrt, product))
    }

    /// Returns log x + log 2 where x² + 1 rounds to x², and `near` elsewhere.
    fn or_log_of_twice(&mut self, x: InstrId, near: InstrId) -> Option<InstrId> {
        let (log, ln_2) = (self.unary(Op::Log, x), self.num(x, LN_2)?);
        let far = self.add(log, ln_2);
        let limit = if self.ty == ElementType::F64 { 28 } else { 14 };
        self.choose(x, Is::Ge, 2f64.powi(limit), far, near)
    }

    /// Returns log1p(a + a² / (1 + sqrt(1 + a²))) for a = |x|, with the sign of x.
    fn asinh(&mut self, x: InstrId) -> Option<InstrId> {
        let (size, one) = (self.unary(Op::Abs, x), self.num(x, 1.0)?);
        let square = self.mul(size, size);
        let sum = self.add(square, one);
        let root = self.unary(Op::Sqrt, sum);
        let below = self.add(root, one);
        let more = self.div(square, below);
        let argument = self.add(size, more);
        let near = self.unary(Op::LogPlusOne, argument);
        let value = self.or_log_of_twice(size, near)?;
        let sign = self.unary(Op::Sign, x);
        Some(self.mul(sign, value))
    }

    /// Returns log1p(t + sqrt(t (t + 2))) for t = x - 1.
    fn acosh(&mut self, x: InstrId) -> Option<InstrId> {
        let (one, two) = (self.num(x, 1.0)?, self.num(x, 2.0)?);
        let t = self.sub(x, one);
        let above = self.add(t, two);
        let product = self.mul(t, above);
        let root = self.unary(Op::Sqrt, product);
        let argument = self.add(t, root);
        let near = self.unary(Op::LogPlusOne, argument);
        let value = self.or_log_of_twice(x, near)?;
        let nan = self.num(x, f64::NAN)?;
        self.choose(x, Is::Lt, 1.0, nan, value)
    }

    /// Returns log1p(2a / (1 - a)) / 2 for a = |x|, with the sign of x.
    fn atanh(&mut self, x: InstrId) -> Option<InstrId> {
        let (size, one, half) = (self.unary(Op::Abs, x), self.num(x, 1.0)?, self.num(x, 0.5)?);
        let (twice, below) = (self.add(size, size), self.sub(one, size));
        let argument = self.div(twice, below);
        let log = self.unary(Op::LogPlusOne, argument);
        let sign = self.unary(Op::Sign, x);
        let factor = self.mul(sign, half);
        Some(self.mul(factor, log))
    }

    /// Returns sinh x and cosh x. It squares the exponential of |x| / 2, which does not overflow before the
    /// results do.
    fn hyperbolic(&mut self, x: InstrId) -> Option<(InstrId, InstrId)> {
        let (size, half, one) = (self.unary(Op::Abs, x), self.num(x, 0.5)?, self.num(x, 1.0)?);
        let half_size = self.mul(size, half);
        let root = self.unary(Op::Exponential, half_size);
        let half_root = self.mul(root, half);
        let up = self.mul(half_root, root);
        let down = self.div(half, root);
        let down = self.div(down, root);
        let cosh = self.add(up, down);
        // Near 0, avoid cancellation: (m + m / (m + 1)) / 2 for m = exp(|x|) - 1.
        let m = self.unary(Op::ExponentialMinusOne, size);
        let power = self.add(m, one);
        let ratio = self.div(m, power);
        let twice = self.add(m, ratio);
        let near = self.mul(twice, half);
        let far = self.sub(up, down);
        let value = self.choose(size, Is::Lt, 1.0, near, far)?;
        let sign = self.unary(Op::Sign, x);
        Some((self.mul(sign, value), cosh))
    }

    /// Returns x + x P(x²) for small |x|. Otherwise returns 1 - exp(-t Q(t)) for t = |x|, with the sign of x.
    /// The coefficients for `f32` are N. Juffa's.
    fn erf(&mut self, x: InstrId) -> Option<InstrId> {
        let is_f64 = self.ty == ElementType::F64;
        let (near, far) = if is_f64 { (NEAR_F64, FAR_F64) } else { (NEAR_F32, FAR_F32) };
        let (border, limit) = if is_f64 { (0.925, 5.95) } else { (0.927_734_375, 4.0) };
        let square = self.mul(x, x);
        let factor = self.polynomial(square, near)?;
        let more = self.mul(factor, x);
        let small = self.add(more, x);
        let (size, limit, one) = (self.unary(Op::Abs, x), self.num(x, limit)?, self.num(x, 1.0)?);
        let size = self.e.same(Op::Minimum, &[size, limit]);
        let exponent = if is_f64 {
            let t = self.sub(size, one);
            let sum = self.polynomial(t, far)?;
            self.unary(Op::Negate, sum)
        } else {
            let sum = self.polynomial(size, far)?;
            let product = self.mul(sum, size);
            self.sub(product, size)
        };
        let power = self.unary(Op::Exponential, exponent);
        let large = self.sub(one, power);
        let sign = self.unary(Op::Sign, x);
        let large = self.mul(sign, large);
        self.choose(size, Is::Gt, border, large, small)
    }

    /// Evaluates a polynomial by Horner's scheme. The coefficients start with that of the lowest power.
    fn polynomial(&mut self, x: InstrId, coefficients: &[f64]) -> Option<InstrId> {
        let (&last, others) = coefficients.split_last()?;
        let mut value = self.num(x, last)?;
        for &c in others.iter().rev() {
            let (product, c) = (self.mul(value, x), self.num(x, c)?);
            value = self.add(product, c);
        }
        Some(value)
    }

    fn of_complex(&mut self, op: &Op, z: InstrId) -> Option<InstrId> {
        let part = self.ty;
        let x = self.e.elementwise(part, Op::Real, &[z]);
        let y = self.e.elementwise(part, Op::Imag, &[z]);
        let (re, im) = match op {
            Op::Acos => self.complex_acos(x, y)?,
            Op::Acosh => {
                // Either i acos z or -i acos z, whichever has a nonnegative real part.
                let (re, im) = self.complex_acos(x, y)?;
                let (negative, minus_one) = (self.unary(Op::Negate, re), self.num(y, -1.0)?);
                // The angle is also negative for a negative zero.
                let angle = self.atan2(y, minus_one);
                (self.unary(Op::Abs, im), self.choose(angle, Is::Lt, 0.0, negative, re)?)
            }
            Op::Asin => self.complex_asin(x, y)?,
            Op::Asinh => {
                // asin(iz) / i
                let minus_y = self.unary(Op::Negate, y);
                let (re, im) = self.complex_asin(minus_y, x)?;
                (im, self.unary(Op::Negate, re))
            }
            Op::Atanh => self.complex_atanh(x, y)?,
            Op::Cosh | Op::Sinh => {
                let (sinh, cosh) = self.hyperbolic(x)?;
                let (sin, cos) = (self.unary(Op::Sine, y), self.unary(Op::Cosine, y));
                let (first, second) = if *op == Op::Cosh { (cosh, sinh) } else { (sinh, cosh) };
                (self.mul(first, cos), self.product_or_zero(second, sin)?)
            }
            _ => return None,
        };
        let ty = self.e.array(z)?.element_type;
        Some(self.e.elementwise(ty, Op::Complex, &[re, im]))
    }

    /// Returns the parts of sqrt(1 - z) and sqrt(1 + z).
    fn roots(&mut self, x: InstrId, y: InstrId) -> Option<(Parts, Parts)> {
        let (one, minus_y) = (self.num(x, 1.0)?, self.unary(Op::Negate, y));
        let (below, above) = (self.sub(one, x), self.add(one, x));
        Some((self.root(below, minus_y), self.root(above, y)))
    }

    fn root(&mut self, x: InstrId, y: InstrId) -> Parts {
        let ty = if self.ty == ElementType::F64 { ElementType::C128 } else { ElementType::C64 };
        let z = self.e.elementwise(ty, Op::Complex, &[x, y]);
        let root = self.unary(Op::Sqrt, z);
        (self.e.elementwise(self.ty, Op::Real, &[root]), self.e.elementwise(self.ty, Op::Imag, &[root]))
    }

    /// Returns the imaginary part of the product of the conjugate of `p` and `q`.
    fn cross(&mut self, p: Parts, q: Parts) -> InstrId {
        let (a, b) = (self.mul(p.0, q.1), self.mul(p.1, q.0));
        self.sub(a, b)
    }

    fn complex_asin(&mut self, x: InstrId, y: InstrId) -> Option<Parts> {
        let (p, q) = self.roots(x, y)?;
        let (a, b) = (self.mul(p.0, q.0), self.mul(p.1, q.1));
        let real = self.sub(a, b);
        let cross = self.cross(p, q);
        Some((self.atan2(x, real), self.asinh(cross)?))
    }

    fn complex_acos(&mut self, x: InstrId, y: InstrId) -> Option<Parts> {
        let (p, q) = self.roots(x, y)?;
        let half = self.atan2(p.0, q.0);
        let cross = self.cross(q, p);
        Some((self.add(half, half), self.asinh(cross)?))
    }

    /// Returns, for a = |x|, log1p(4a / ((1 - a)² + y²)) / 4 with the sign of x, and atan2(2y, (1 - a) (1 +
    /// a) - y²) / 2.
    fn complex_atanh(&mut self, x: InstrId, y: InstrId) -> Option<Parts> {
        let (size, one) = (self.unary(Op::Abs, x), self.num(x, 1.0)?);
        let [half, four] = [self.num(x, 0.5)?, self.num(x, 4.0)?];
        let (below, above) = (self.sub(one, size), self.add(one, size));
        let (below_square, y_square) = (self.mul(below, below), self.mul(y, y));
        let distance = self.add(below_square, y_square);
        let dividend = self.mul(four, size);
        let argument = self.div(dividend, distance);
        let log = self.unary(Op::LogPlusOne, argument);
        let sign = self.unary(Op::Sign, x);
        let quarter = self.div(sign, four);
        let product = self.mul(below, above);
        let (twice, rest) = (self.add(y, y), self.sub(product, y_square));
        let angle = self.atan2(twice, rest);
        Some((self.mul(quarter, log), self.mul(half, angle)))
    }

    /// Returns the product of two numbers, the first of which may be infinite. The product is 0 if the second
    /// is 0.
    fn product_or_zero(&mut self, x: InstrId, y: InstrId) -> Option<InstrId> {
        let (product, sign) = (self.mul(x, y), self.unary(Op::Sign, x));
        let zero = self.mul(sign, y);
        self.choose(y, Is::Eq, 0.0, zero, product)
    }
}
