//! Functions of complex numbers: their references, and errors at a sample of numbers.
//!
//! The sample has pairs of special parts: the edges of the cuts (zero parts of either sign), points next to the
//! branch points and the unit circle, tiny, subnormal and huge parts. Infinities, NaNs, poles and
//! overflow are left to other tests.

use crate::big::Big;
use crate::engine::{Engine, Function};
use crate::measure::{Reference, Worst, complex_error, decoded, encoded};
use crate::{Extent, fraction};
use astro_float::BigFloat;
use hlo_ir::{AlignedBytes, ElementType, FloatFormat};
use hlo_testing::Numbers;

/// The types of the table's columns.
pub const TYPES: [ElementType; 2] = [ElementType::C64, ElementType::C128];

/// Exponents of what stands for a zero part. Where it matters which one, at a pole, nothing is measured.
const TINY: [i32; 2] = [-100_000, -90_000];

/// A complex number of large precision. A part that is zero is so small a number of the zero's sign that only its side
/// of a cut matters.
#[derive(Clone)]
struct Z {
    re: BigFloat,
    im: BigFloat,
}

impl Z {
    fn new(re: BigFloat, im: BigFloat) -> Self {
        Self { re, im }
    }

    fn of(big: &Big, re: f64, im: f64) -> Self {
        Self::with_zeros(big, re, im, TINY[0])
    }

    fn with_zeros(big: &Big, re: f64, im: f64, exponent: i32) -> Self {
        let part = |x: f64| {
            if x != 0.0 {
                return big.num(x);
            }
            let mut tiny = big.num(1f64.copysign(x));
            tiny.set_exponent(exponent);
            tiny
        };
        Self::new(part(re), part(im))
    }

    fn neg(&self) -> Self {
        Self::new(self.re.neg(), self.im.neg())
    }

    fn conj(&self) -> Self {
        Self::new(self.re.clone(), self.im.neg())
    }

    fn times_i(&self) -> Self {
        Self::new(self.im.neg(), self.re.clone())
    }

    fn over_i(&self) -> Self {
        Self::new(self.im.clone(), self.re.neg())
    }

    fn plus(&self, b: &Big, x: f64) -> Self {
        Self::new(b.plus(&self.re, x), self.im.clone())
    }

    fn mul(&self, b: &Big, o: &Self) -> Self {
        Self::new(
            b.sub(&b.mul(&self.re, &o.re), &b.mul(&self.im, &o.im)),
            b.add(&b.mul(&self.re, &o.im), &b.mul(&self.im, &o.re)),
        )
    }

    fn square(&self, b: &Big) -> BigFloat {
        b.add(&b.mul(&self.re, &self.re), &b.mul(&self.im, &self.im))
    }

    fn over(&self, b: &Big, divisor: &BigFloat) -> Self {
        Self::new(b.div(&self.re, divisor), b.div(&self.im, divisor))
    }

    fn div(&self, b: &Big, o: &Self) -> Self {
        self.mul(b, &o.conj()).over(b, &o.square(b))
    }

    fn abs(&self, b: &mut Big) -> BigFloat {
        let square = self.square(b);
        b.sqrt(&square)
    }

    fn exp(&self, b: &mut Big) -> Self {
        let size = b.exp(&self.re);
        let (cos, sin) = (b.cos(&self.im), b.sin(&self.im));
        Self::new(b.mul(&size, &cos), b.mul(&size, &sin))
    }

    fn log(&self, b: &mut Big) -> Self {
        let square = self.square(b);
        let log = b.log(&square);
        Self::new(b.times(&log, 0.5), b.atan2(&self.im, &self.re))
    }

    fn sqrt(&self, b: &mut Big) -> Self {
        let sum = {
            let size = self.abs(b);
            b.add(&size, &self.re.abs())
        };
        let large = b.sqrt(&b.times(&sum, 0.5));
        let small = b.div(&b.times(&self.im.abs(), 0.5), &large);
        let (re, im) = if self.re.is_negative() { (small, large) } else { (large, small) };
        Self::new(re, if self.im.is_negative() { im.neg() } else { im })
    }

    fn rsqrt(&self, b: &mut Big) -> Self {
        let root = self.sqrt(b);
        Z::of(b, 1.0, 0.0).div(b, &root)
    }

    fn logistic(&self, b: &mut Big) -> Self {
        let e = self.neg().exp(b).plus(b, 1.0);
        Z::of(b, 1.0, 0.0).div(b, &e)
    }

    fn log1p(&self, b: &mut Big) -> Self {
        self.plus(b, 1.0).log(b)
    }

    /// (e^x - 1) cos y - 2 sin²(y/2), and the other part as that of e^z: next to 0 nothing cancels.
    fn exp_m1(&self, b: &mut Big) -> Self {
        let (less, cos) = (b.exp_m1(&self.re), b.cos(&self.im));
        let half = b.times(&self.im, 0.5);
        let half = b.sin(&half);
        let square = b.times(&b.mul(&half, &half), 2.0);
        Self::new(b.sub(&b.mul(&less, &cos), &square), self.exp(b).im)
    }

    fn sinh(&self, b: &mut Big) -> Self {
        let (sinh, cosh) = (b.sinh(&self.re), b.cosh(&self.re));
        let (sin, cos) = (b.sin(&self.im), b.cos(&self.im));
        Self::new(b.mul(&sinh, &cos), b.mul(&cosh, &sin))
    }

    fn cosh(&self, b: &mut Big) -> Self {
        let (sinh, cosh) = (b.sinh(&self.re), b.cosh(&self.re));
        let (sin, cos) = (b.sin(&self.im), b.cos(&self.im));
        Self::new(b.mul(&cosh, &cos), b.mul(&sinh, &sin))
    }

    /// (sinh x cosh x + i sin y cos y) / (sinh² x + cos² y).
    fn tanh(&self, b: &mut Big) -> Self {
        let far = b.num(400.0);
        let x = if self.re.abs() > far {
            if self.re.is_negative() { far.neg() } else { far }
        } else {
            self.re.clone()
        };
        let (sinh, cosh) = (b.sinh(&x), b.cosh(&x));
        let (sin, cos) = (b.sin(&self.im), b.cos(&self.im));
        let divisor = b.add(&b.mul(&sinh, &sinh), &b.mul(&cos, &cos));
        Self::new(b.mul(&sinh, &cosh), b.mul(&sin, &cos)).over(b, &divisor)
    }

    /// √(1 - z) and √(1 + z).
    fn roots(&self, b: &mut Big) -> (Self, Self) {
        (self.neg().plus(b, 1.0).sqrt(b), self.plus(b, 1.0).sqrt(b))
    }

    fn asin(&self, b: &mut Big) -> Self {
        let (minus, plus) = self.roots(b);
        let (product, other) = (minus.mul(b, &plus), minus.conj().mul(b, &plus));
        Self::new(b.atan2(&self.re, &product.re), b.asinh(&other.im))
    }

    fn acos(&self, b: &mut Big) -> Self {
        let (minus, plus) = self.roots(b);
        let angle = b.atan2(&minus.re, &plus.re);
        let product = plus.conj().mul(b, &minus);
        Self::new(b.times(&angle, 2.0), b.asinh(&product.im))
    }

    fn acosh(&self, b: &mut Big) -> Self {
        let (minus, plus) = (self.plus(b, -1.0).sqrt(b), self.plus(b, 1.0).sqrt(b));
        let angle = b.atan2(&minus.im, &plus.re);
        let product = minus.conj().mul(b, &plus);
        Self::new(b.asinh(&product.re), b.times(&angle, 2.0))
    }

    fn atanh(&self, b: &mut Big) -> Self {
        let (plus, minus) = (self.log1p(b), self.neg().log1p(b));
        Self::new(b.times(&b.sub(&plus.re, &minus.re), 0.5), b.times(&b.sub(&plus.im, &minus.im), 0.5))
    }

    /// `f(iz) / i`.
    fn rotated(&self, b: &mut Big, f: fn(&Self, &mut Big) -> Self) -> Self {
        f(&self.times_i(), b).over_i()
    }
}

/// A function of one or two numbers, the second being zero if there is none.
pub struct Complex {
    /// The opcode.
    pub name: &'static str,
    operands: usize,
    big: fn(&mut Big, &Z, &Z) -> Z,
}

/// The functions, those of two arguments last.
pub const FUNCTIONS: [Complex; 26] = {
    const fn of(name: &'static str, big: fn(&mut Big, &Z, &Z) -> Z) -> Complex {
        Complex { name, operands: 1, big }
    }
    const fn of_two(name: &'static str, big: fn(&mut Big, &Z, &Z) -> Z) -> Complex {
        Complex { name, operands: 2, big }
    }
    [
        of("abs", |b, z, _| Z::new(z.abs(b), b.num(0.0))),
        of("sign", |b, z, _| {
            let size = z.abs(b);
            z.over(b, &size)
        }),
        of("exponential", |b, z, _| z.exp(b)),
        of("exponential-minus-one", |b, z, _| z.exp_m1(b)),
        of("log", |b, z, _| z.log(b)),
        of("log-plus-one", |b, z, _| z.log1p(b)),
        of("logistic", |b, z, _| z.logistic(b)),
        of("sqrt", |b, z, _| z.sqrt(b)),
        of("rsqrt", |b, z, _| z.rsqrt(b)),
        of("sine", |b, z, _| z.rotated(b, Z::sinh)),
        of("cosine", |b, z, _| z.times_i().cosh(b)),
        of("tan", |b, z, _| z.rotated(b, Z::tanh)),
        of("asin", |b, z, _| z.asin(b)),
        of("acos", |b, z, _| z.acos(b)),
        of("sinh", |b, z, _| z.sinh(b)),
        of("cosh", |b, z, _| z.cosh(b)),
        of("tanh", |b, z, _| z.tanh(b)),
        of("asinh", |b, z, _| z.rotated(b, Z::asin)),
        of("acosh", |b, z, _| z.acosh(b)),
        of("atanh", |b, z, _| z.atanh(b)),
        of_two("add", |b, z, w| Z::new(b.add(&z.re, &w.re), b.add(&z.im, &w.im))),
        of_two("subtract", |b, z, w| Z::new(b.sub(&z.re, &w.re), b.sub(&z.im, &w.im))),
        of_two("multiply", |b, z, w| z.mul(b, w)),
        of_two("divide", |b, z, w| z.div(b, w)),
        of_two("power", |b, z, w| {
            let log = z.log(b);
            w.mul(b, &log).exp(b)
        }),
        of_two("atan2", |b, y, x| {
            let sum = Z::new(b.sub(&x.re, &y.im), b.add(&x.im, &y.re));
            let (xx, yy) = (x.mul(b, x), y.mul(b, y));
            let length = Z::new(b.add(&xx.re, &yy.re), b.add(&xx.im, &yy.im)).sqrt(b);
            sum.div(b, &length).log(b).over_i()
        }),
    ]
};

/// The errors of a function at a sample of numbers, by type.
pub fn errors(function: &Complex, engine: Engine, extent: Extent) -> Result<Vec<Worst>, String> {
    let of_type = |ty: ElementType| {
        let operands: Vec<Vec<f64>> = arguments(ty, function.operands, extent);
        let numbers = operands[0].len() / 2;
        let part = |operand: usize, i: usize| operands.get(operand).map_or(0.0, |o| o[i]);
        let inputs: Vec<AlignedBytes> =
            operands.iter().map(|x| AlignedBytes::from_slice(&encoded(ty, x))).collect();
        let run = Function::new(engine, function.name, ty, function.operands, numbers)?;
        let got = decoded(ty, &run.run(&inputs)?);
        // `abs` has one part.
        let parts = got.len() / numbers;
        let format = FloatFormat::of(ty.real_type()).ok_or("a type without a format")?;
        let mut worst = Worst::default();
        for (n, got) in got.chunks_exact(parts).enumerate() {
            let at = [part(0, 2 * n), part(0, 2 * n + 1), part(1, 2 * n), part(1, 2 * n + 1)];
            if !is_measured(function, at) {
                continue;
            }
            let Some(want) = wanted(function, &format, at)? else { continue };
            let got = [got[0], got.get(1).copied().unwrap_or(0.0)];
            let error = complex_error(&format, got, want);
            worst.record(error, || at[..2 * function.operands].to_vec());
        }
        Ok(worst)
    };
    TYPES.into_iter().map(of_type).collect()
}

/// The value for the parts of one or two numbers; none at a pole and where it is no number of the format.
fn wanted(function: &Complex, format: &FloatFormat, at: [f64; 4]) -> Result<Option<[Reference; 2]>, String> {
    // The squares of the parts, and one, may lie twice as far apart as the parts.
    let exponents = at.iter().filter(|x| **x != 0.0).map(|x| libm::ilogb(*x)).chain([0]);
    let (low, high) = exponents.fold((0, 0), |(low, high), e| (e.min(low), e.max(high)));
    let mut big = Big::new((320 + 2 * (high - low) as usize).next_multiple_of(64))?;
    let mut value = |exponent: i32| {
        let z = Z::with_zeros(&big, at[0], at[1], exponent);
        let w = Z::with_zeros(&big, at[2], at[3], exponent);
        let value = (function.big)(&mut big, &z, &w);
        [Reference::new(&big, &value.re), Reference::new(&big, &value.im)]
    };
    let parts = value(TINY[0]);
    let largest = format.decode(format.max_bits());
    if parts.iter().any(|p| p.near.is_nan() || p.near.abs() > largest) {
        return Ok(None);
    }
    if at[..2 * function.operands].contains(&0.0) {
        let other = value(TINY[1]);
        if parts.iter().zip(&other).any(|(p, o)| p.near != o.near) {
            return Ok(None);
        }
    }
    Ok(Some(parts))
}

/// True for arguments that are measured: not zero itself, and no power with a large exponent, whose phase is lost in the
/// logarithm's last place.
fn is_measured(function: &Complex, at: [f64; 4]) -> bool {
    let large_exponent = function.name == "power" && at[2].abs().max(at[3].abs()) > 100.0;
    (at[0] != 0.0 || at[1] != 0.0) && !large_exponent
}

/// Parts of the numbers of each operand, all of the type.
fn arguments(ty: ElementType, operands: usize, extent: Extent) -> Vec<Vec<f64>> {
    let (tiny, huge, near) = match ty {
        ElementType::C64 => ([1e-45, 1e-38, 3e-20], [1e15, 1e20, 3e38], 1e-6),
        _ => ([5e-324, 1e-300, 3e-160], [1e15, 1e160, 1.7e308], 1e-15),
    };
    let ordinary =
        [0.0, 0.3, 0.5, 1.0, 1.0 + near, 1.0 - near, std::f64::consts::FRAC_PI_2, 2.0, 10.0, 100.0];
    let special: Vec<f64> = [&ordinary[..], &tiny, &huge].concat().iter().flat_map(|&x| [x, -x]).collect();
    let all: Vec<[f64; 2]> = special.iter().flat_map(|&x| special.iter().map(move |&y| [x, y])).collect();
    let every = if extent == Extent::Sample { 35 } else { 5 };
    let count = if extent == Extent::Sample { 16 } else { 200 };
    (0..operands)
        .map(|operand| {
            // Pairs of numbers: each special one with one that is far from it in the list.
            let shift = operand * 123;
            let chosen = (0..all.len()).step_by(every);
            let mut numbers: Vec<[f64; 2]> =
                chosen.map(|i| all[(i * (1 + 8 * operand) + shift) % all.len()]).collect();
            let mut random = Numbers::new(11 + operand as u64);
            for _ in 0..count {
                numbers.extend(random_numbers(&mut random, near));
            }
            decoded(ty, &encoded(ty, &numbers.concat()))
        })
        .collect()
}

/// One number of each kind: of ordinary size, near the unit circle, near a branch point, of any size.
fn random_numbers(random: &mut Numbers, near: f64) -> [[f64; 2]; 5] {
    let mut part = |size: f64| (fraction(random) - 0.5) * 2.0 * size;
    let angle = part(std::f64::consts::PI);
    let close = part(30.0).exp() * near;
    let (radius, turned) = (1.0 + part(close), part(std::f64::consts::PI));
    let corner = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]][(angle.abs() * 100.0) as usize % 4];
    let (x, y) = (part(80.0).exp2(), part(80.0).exp2());
    [
        [part(1.5), part(1.5)],
        [part(40.0), part(40.0)],
        [radius * turned.cos(), radius * turned.sin()],
        [corner[0] + part(close), corner[1] + part(close)],
        [x.copysign(part(1.0)), y.copysign(part(1.0))],
    ]
}
