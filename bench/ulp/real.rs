//! Functions of real numbers: their references, and errors at samples of numbers.

use crate::big::Big;
use crate::engine::{Engine, Function};
use crate::measure::{Reference, Worst, decoded, encoded};
use crate::{Extent, fraction};
use astro_float::BigFloat;
use hlo_ir::{AlignedBytes, ElementType, FloatFormat};
use hlo_testing::Numbers;

/// The bits of references: a function of an `f64`, rounded to twice that many, is near no tie.
const PRECISION: usize = 256;

/// The types of the table's columns.
pub const TYPES: [ElementType; 4] = [ElementType::F16, ElementType::Bf16, ElementType::F32, ElementType::F64];

/// A function of one argument: the opcode's name, in `f64`, and in large precision.
pub struct Real {
    /// The opcode.
    pub name: &'static str,
    near: fn(f64) -> f64,
    big: fn(&mut Big, &BigFloat) -> BigFloat,
}

/// The functions of one argument that are not exact.
pub const FUNCTIONS: [Real; 20] = {
    const fn real(
        name: &'static str,
        near: fn(f64) -> f64,
        big: fn(&mut Big, &BigFloat) -> BigFloat,
    ) -> Real {
        Real { name, near, big }
    }
    [
        real("exponential", libm::exp, Big::exp),
        real("exponential-minus-one", libm::expm1, Big::exp_m1),
        real("log", libm::log, Big::log),
        real("log-plus-one", libm::log1p, Big::log1p),
        real("logistic", logistic, Big::logistic),
        real("tanh", libm::tanh, Big::tanh),
        real("erf", libm::erf, Big::erf),
        real("sine", libm::sin, Big::sin),
        real("cosine", libm::cos, Big::cos),
        real("tan", libm::tan, Big::tan),
        real("asin", libm::asin, Big::asin),
        real("acos", libm::acos, Big::acos),
        real("sinh", libm::sinh, Big::sinh),
        real("cosh", libm::cosh, Big::cosh),
        real("asinh", libm::asinh, Big::asinh),
        real("acosh", acosh, Big::acosh),
        real("atanh", libm::atanh, Big::atanh),
        real("cbrt", libm::cbrt, Big::cbrt),
        real("sqrt", libm::sqrt, Big::sqrt),
        real("rsqrt", |x| 1.0 / x.sqrt(), Big::rsqrt),
    ]
};

fn logistic(x: f64) -> f64 {
    let e = libm::exp(-x.abs());
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// libm's has other values than NaN below 1.
fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

/// The reference in large precision where the value is an ordinary number, else what the C library has: zeros,
/// infinities, NaN.
fn precise(near: f64, ordinary: bool, value: impl FnOnce() -> Reference) -> Reference {
    if !ordinary || near == 0.0 || !near.is_finite() { near.into() } else { value() }
}

/// Arguments of a function of one type, and what is wanted of it.
struct Sample {
    ty: ElementType,
    /// The numbers of each operand, which the type represents.
    operands: Vec<Vec<f64>>,
    wanted: Vec<Reference>,
}

impl Sample {
    /// The greatest error of an engine.
    fn greatest(&self, engine: Engine, name: &str) -> Result<Worst, String> {
        let ty = self.ty;
        let function = Function::new(engine, name, ty, self.operands.len(), self.wanted.len())?;
        let inputs: Vec<AlignedBytes> =
            self.operands.iter().map(|x| AlignedBytes::from_slice(&encoded(ty, x))).collect();
        let format = FloatFormat::of(ty).ok_or("a type without a format")?;
        let got = decoded(ty, &function.run(&inputs)?);
        let mut worst = Worst::default();
        for (n, (&got, wanted)) in got.iter().zip(&self.wanted).enumerate() {
            worst.record(wanted.error(&format, got), || self.operands.iter().map(|x| x[n]).collect());
        }
        Ok(worst)
    }
}

/// The numbers of a type that a function of one argument is tried at: all of them where they are few.
fn arguments(ty: ElementType, extent: Extent) -> Vec<f64> {
    match ty {
        ElementType::F64 => points_f64(if extent == Extent::Sample { 40 } else { 4_000 }),
        ElementType::F32 => points_f32(if extent == Extent::Sample { 20_000 } else { 40_000 }),
        _ => decoded(ty, &(0..=u16::MAX).flat_map(u16::to_le_bytes).collect::<Vec<u8>>()),
    }
}

/// The errors of a function of one argument at a sample of numbers, by type.
pub fn errors(function: &Real, engine: Engine, extent: Extent) -> Result<Vec<Worst>, String> {
    let mut big = Big::new(PRECISION)?;
    let by_type = TYPES.map(|ty| {
        let arguments = arguments(ty, extent);
        let wanted = arguments.iter().map(|&x| {
            let near = (function.near)(x);
            // libm is far nearer than the last place of a narrower type.
            precise(near, ty == ElementType::F64 && x != 0.0 && x.is_finite(), || {
                let argument = big.num(x);
                let value = (function.big)(&mut big, &argument);
                Reference::new(&big, &value)
            })
        });
        Sample { ty, wanted: wanted.collect(), operands: vec![arguments] }.greatest(engine, function.name)
    });
    by_type.into_iter().collect()
}

/// The functions of two arguments.
pub const BINARY: [&str; 2] = ["power", "atan2"];

/// The errors of a function of two arguments at a sample of pairs, by type.
pub fn binary_errors(name: &str, engine: Engine, extent: Extent) -> Result<Vec<Worst>, String> {
    type Near = fn(f64, f64) -> f64;
    type Precise = fn(&mut Big, &BigFloat, &BigFloat) -> BigFloat;
    let (near, exact): (Near, Precise) = match name {
        "power" => (libm::pow, Big::power),
        "atan2" => (libm::atan2, Big::atan2),
        _ => return Err(format!("no function {name}")),
    };
    let (xs, ys) = pairs(if extent == Extent::Sample { 300 } else { 8_000 });
    let mut big = Big::new(PRECISION)?;
    let by_type = TYPES.map(|ty| {
        let operands = [&xs, &ys].map(|v| decoded(ty, &encoded(ty, v)));
        let wanted = operands[0].iter().zip(&operands[1]).map(|(&x, &y)| {
            let ordinary = [x, y].iter().all(|x| *x != 0.0 && x.is_finite()) && ty == ElementType::F64;
            precise(near(x, y), ordinary, || {
                let arguments = (big.num(x), big.num(y));
                let value = exact(&mut big, &arguments.0, &arguments.1);
                Reference::new(&big, &value)
            })
        });
        Sample { ty, wanted: wanted.collect(), operands: operands.to_vec() }.greatest(engine, name)
    });
    by_type.into_iter().collect()
}

/// Pairs of numbers: special ones with each other, then `count` random ones of each of some kinds.
fn pairs(count: usize) -> (Vec<f64>, Vec<f64>) {
    let special = [0.0, 1.0, 0.5, 2.0, 3.0, 1e-40, 1e-310, 1e30, 1e300, 16777217.0, f64::INFINITY, f64::NAN]
        .map(|x| [x, -x])
        .concat();
    let (mut xs, mut ys): (Vec<f64>, Vec<f64>) =
        special.iter().flat_map(|&x| special.iter().map(move |&y| (x, y))).unzip();
    let mut random = Numbers::new(9);
    for _ in 0..count {
        let (u, v, w) = (fraction(&mut random), fraction(&mut random), fraction(&mut random));
        let sign = if w < 0.5 { -1.0 } else { 1.0 };
        xs.extend([u * 4.0, 1.0 + (u - 0.5) * 1e-3, (u * 600.0 - 300.0).exp2(), (u - 0.5) * 20.0, u * sign]);
        ys.extend([
            v * 40.0 - 20.0,
            (v - 0.5) * 1e4,
            v * 4.0 - 2.0,
            (v * 20.0 - 10.0).round(),
            v * 2.0 - 1.0,
        ]);
    }
    (xs, ys)
}

/// Special numbers, then `count` random bit patterns, and of numbers of each of some sizes.
fn points_f32(count: usize) -> Vec<f64> {
    let mut random = Numbers::new(1);
    let special = [
        0.0,
        1.0,
        f32::INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        f32::MAX,
        1e-45,
        0.5,
        2.0,
        88.72283,
        88.72284,
        87.33655,
        103.97,
        104.0,
        89.0,
        1e5,
        8388608.0,
        16777216.0,
        1e10,
        1e30,
        std::f32::consts::FRAC_PI_2,
        std::f32::consts::PI,
        std::f32::consts::FRAC_1_SQRT_2,
        0.92773,
    ];
    let mut out: Vec<f64> = special.iter().flat_map(|&x| [x.into(), (-x).into()]).collect();
    for _ in 0..count {
        out.push(f32::from_bits(random.bits() as u32).into());
        let unit = fraction(&mut random);
        let near = [unit * 2.0 - 1.0, unit * 40.0 - 20.0, unit * 220.0 - 110.0, 1.0 + (unit - 0.5) * 0.01];
        out.extend(near.map(|x| f64::from(x as f32)));
    }
    out
}

/// As [`points_f32`].
fn points_f64(count: usize) -> Vec<f64> {
    let mut random = Numbers::new(2);
    let special = [
        0.0,
        1.0,
        f64::INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        f64::MAX,
        5e-324,
        709.78,
        709.79,
        710.4,
        745.13,
        745.2,
        1e5,
        1e10,
        1e22,
        1e300,
        134217728.0,
    ];
    let mut out: Vec<f64> = special.iter().flat_map(|&x| [x, -x]).collect();
    for _ in 0..count {
        out.push(f64::from_bits(random.bits()));
        let unit = fraction(&mut random);
        out.extend([unit * 2.0 - 1.0, unit * 40.0 - 20.0, unit * 1500.0 - 750.0]);
        out.extend([1.0 + (unit - 0.5) * 0.01, (unit - 0.5) * 2e9]);
    }
    out
}
