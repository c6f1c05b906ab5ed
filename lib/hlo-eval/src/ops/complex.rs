//! Element-wise functions of complex numbers, implemented to avoid cancellation and overflow.
//!
//! All functions except the product are computed in `f64`, and `c64` results are rounded once. The product
//! overflows where its parts do. Formulas: W. Kahan, "Branch Cuts for Complex Elementary Functions"; division
//! as in C99 annex G.

use super::integer::comparison_function;
use crate::kernel::{Kernel, binary, ternary, unary};
use hlo_ir::ElementType;
use hlo_ir::attr::ComparisonDirection;
use num_complex::Complex64;

/// A complex number of `f64` parts.
pub(super) type C = Complex64;

fn widen(z: [f32; 2]) -> C {
    C::new(z[0].into(), z[1].into())
}

fn narrow(z: C) -> [f32; 2] {
    [z.re as f32, z.im as f32]
}

fn from_pair(z: [f64; 2]) -> C {
    C::new(z[0], z[1])
}

/// Returns the kernel of a function on `c64` or `c128`, or `None` for other types.
pub(super) fn complex_unary(t: ElementType, f: fn(C) -> C) -> Option<Kernel> {
    match t {
        ElementType::C64 => Some(unary(move |z: [f32; 2]| narrow(f(widen(z))))),
        ElementType::C128 => Some(unary(move |z: [f64; 2]| {
            let r = f(from_pair(z));
            [r.re, r.im]
        })),
        _ => None,
    }
}

/// Returns the kernel of a function of two complex numbers, or `None` for other types.
pub(super) fn complex_binary(t: ElementType, f: fn(C, C) -> C) -> Option<Kernel> {
    match t {
        ElementType::C64 => Some(binary(move |a: [f32; 2], b: [f32; 2]| narrow(f(widen(a), widen(b))))),
        ElementType::C128 => Some(binary(move |a: [f64; 2], b: [f64; 2]| {
            let r = f(from_pair(a), from_pair(b));
            [r.re, r.im]
        })),
        _ => None,
    }
}

/// Returns the kernel of a real-valued function.
pub(super) fn to_real(t: ElementType, f: fn(C) -> f64) -> Option<Kernel> {
    match t {
        ElementType::C64 => Some(unary(move |z: [f32; 2]| f(widen(z)) as f32)),
        ElementType::C128 => Some(unary(move |z: [f64; 2]| f(from_pair(z)))),
        _ => None,
    }
}

/// `real` (part 0) and `imag` (part 1).
pub(super) fn part(t: ElementType, part: usize) -> Option<Kernel> {
    match t {
        ElementType::C64 => Some(unary(move |z: [f32; 2]| z[part & 1])),
        ElementType::C128 => Some(unary(move |z: [f64; 2]| z[part & 1])),
        _ => None,
    }
}

/// `complex`: combines a real and an imaginary part of type `t` to a complex number.
pub(super) fn from_parts(t: ElementType) -> Option<Kernel> {
    match t {
        ElementType::F32 => Some(binary(|re: f32, im: f32| [re, im])),
        ElementType::F64 => Some(binary(|re: f64, im: f64| [re, im])),
        _ => None,
    }
}

/// Returns the kernel of a comparison. Complex numbers have equality but no order.
pub(super) fn compare(t: ElementType, direction: ComparisonDirection) -> Option<Kernel> {
    if !matches!(direction, ComparisonDirection::Eq | ComparisonDirection::Ne) {
        return None;
    }
    let test = comparison_function(direction);
    let relation = |equal| if equal { std::cmp::Ordering::Equal } else { std::cmp::Ordering::Less };
    match t {
        ElementType::C64 => Some(binary(move |a: [f32; 2], b: [f32; 2]| u8::from(test(relation(a == b))))),
        ElementType::C128 => Some(binary(move |a: [f64; 2], b: [f64; 2]| u8::from(test(relation(a == b))))),
        _ => None,
    }
}

/// Returns the kernel of the product, computed in the type of the parts. It may overflow where a wider type
/// would not. It does not recover infinities from NaNs.
pub(super) fn multiply(t: ElementType) -> Option<Kernel> {
    macro_rules! product {
        ($part:ty) => {
            Some(binary(|a: [$part; 2], b: [$part; 2]| {
                [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
            }))
        };
    }
    match t {
        ElementType::C64 => product!(f32),
        ElementType::C128 => product!(f64),
        _ => None,
    }
}

pub(crate) fn abs(z: C) -> f64 {
    libm::hypot(z.re, z.im)
}

/// Returns the exponent of the larger part, or 0 for zeros, infinities and NaN.
fn exponent(z: C) -> i32 {
    let largest = z.re.abs().max(z.im.abs());
    if largest.is_finite() && largest > 0.0 { libm::ilogb(largest) } else { 0 }
}

/// z 2ⁿ.
fn scaled(z: C, n: i32) -> C {
    C::new(libm::scalbn(z.re, n), libm::scalbn(z.im, n))
}

/// z / |z|, and 0 for 0.
pub(super) fn sign(z: C) -> C {
    let near = scaled(z, -exponent(z));
    let r = abs(near);
    if r == 0.0 { z } else { C::new(near.re / r, near.im / r) }
}

/// a / b as in C99 annex G: both are scaled by powers of two. Infinities and zeros result in their limits.
pub(crate) fn div(a: C, b: C) -> C {
    let (up, down) = (exponent(a), exponent(b));
    let (a, C { re: c, im: d }) = (scaled(a, -up), scaled(b, -down));
    let norm = c * c + d * d;
    let C { mut re, mut im } =
        scaled(C::new((a.re * c + a.im * d) / norm, (a.im * c - a.re * d) / norm), up - down);
    if re.is_nan() && im.is_nan() {
        let one = |x: f64| if x.is_infinite() { 1f64.copysign(x) } else { 0f64.copysign(x) };
        if norm == 0.0 && (!a.re.is_nan() || !a.im.is_nan()) {
            let infinity = f64::INFINITY.copysign(c);
            (re, im) = (infinity * a.re, infinity * a.im);
        } else if (a.re.is_infinite() || a.im.is_infinite()) && c.is_finite() && d.is_finite() {
            let (x, y) = (one(a.re), one(a.im));
            (re, im) = (f64::INFINITY * (x * c + y * d), f64::INFINITY * (y * c - x * d));
        } else if (c.is_infinite() || d.is_infinite()) && a.re.is_finite() && a.im.is_finite() {
            let (x, y) = (one(c), one(d));
            (re, im) = (0.0 * (a.re * x + a.im * y), 0.0 * (a.im * x - a.re * y));
        }
    }
    C::new(re, im)
}

/// eˣ·(cos y + i sin y), without overflow in eˣ where the product is finite.
pub(super) fn exp(z: C) -> C {
    if z.im == 0.0 {
        return C::new(libm::exp(z.re), z.im);
    }
    let (sin, cos) = libm::sincos(z.im);
    if z.re == f64::NEG_INFINITY && !z.im.is_finite() {
        return C::new(0.0, 0.0);
    }
    if z.re > 709.0 {
        let half = libm::exp(z.re / 2.0);
        return C::new(half * cos * half, half * sin * half);
    }
    let r = libm::exp(z.re);
    C::new(r * cos, r * sin)
}

/// The real part is expm1(x)·cos y − 2 sin²(y/2), which does not cancel near 0.
pub(super) fn expm1(z: C) -> C {
    if z.im == 0.0 {
        return C::new(libm::expm1(z.re), z.im);
    }
    let half = libm::sin(z.im / 2.0);
    let whole = exp(z);
    if whole.re.abs() > 4.0 || !whole.re.is_finite() {
        return C::new(whole.re - 1.0, whole.im);
    }
    // Where e^z vanishes, the direction of its limit is unknown. XLA returns NaN.
    let im = if z.im.is_finite() { whole.im } else { f64::NAN };
    C::new(libm::expm1(z.re) * libm::cos(z.im) - 2.0 * half * half, im)
}

/// x² as a high and a low part.
fn square_exact(x: f64) -> (f64, f64) {
    let high = x * x;
    (high, libm::fma(x, x, -high))
}

/// a + b as a high and a low part.
fn add_exact(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// ln |1 + z|. Near the unit circle of 1 + z, it is log1p of 2x + x² + y², which is computed with its
/// rounding error.
fn log_abs_plus_one(x: f64, y: f64) -> f64 {
    let modulus = libm::hypot(1.0 + x, y);
    if !(0.5..=2.0).contains(&modulus) {
        return log_abs(C::new(1.0 + x, y));
    }
    let ((x2, x2_low), (y2, y2_low)) = (square_exact(x), square_exact(y));
    let (s, s_low) = add_exact(2.0 * x, y2);
    let (total, total_low) = add_exact(s, x2);
    0.5 * libm::log1p(total + (total_low + s_low + x2_low + y2_low))
}

/// ln |z| without overflow, and accurate to rounding near the unit circle.
fn log_abs(z: C) -> f64 {
    let (large, small) = {
        let (a, b) = (z.re.abs(), z.im.abs());
        if a >= b { (a, b) } else { (b, a) }
    };
    if large > 0.5 && large < 2.0 {
        let ((l2, l2_low), (s2, s2_low)) = (square_exact(large), square_exact(small));
        let (sum, sum_low) = add_exact(l2 - 1.0, s2);
        return 0.5 * libm::log1p(sum + (sum_low + l2_low + s2_low));
    }
    let ratio = small / large;
    libm::log(large) + 0.5 * libm::log1p(ratio * ratio)
}

pub(super) fn log(z: C) -> C {
    let re = if z.re == 0.0 && z.im == 0.0 {
        f64::NEG_INFINITY
    } else if has_infinite_part(z) {
        f64::INFINITY
    } else if z.re.is_nan() || z.im.is_nan() {
        f64::NAN
    } else {
        log_abs(z)
    };
    C::new(re, libm::atan2(z.im, z.re))
}

pub(super) fn log1p(z: C) -> C {
    if !z.re.is_finite() || !z.im.is_finite() {
        return log(C::new(1.0 + z.re, z.im));
    }
    if z.re == -1.0 && z.im == 0.0 {
        return C::new(f64::NEG_INFINITY, z.im);
    }
    C::new(log_abs_plus_one(z.re, z.im), libm::atan2(z.im, 1.0 + z.re))
}

/// 1 / (1 + e⁻ᶻ), computed as e^(z/2) / (2 cosh(z/2)), which does not cancel near the poles.
pub(super) fn logistic(z: C) -> C {
    // Beyond 800 the result is the limit.
    let half = C::new(if z.re.abs() > 800.0 { 400f64.copysign(z.re) } else { z.re / 2.0 }, z.im / 2.0);
    let c = cosh(half);
    div(exp(half), C::new(2.0 * c.re, 2.0 * c.im))
}

/// The principal square root: one part is t = √((|z| + |x|) / 2), the other is y / 2t.
pub(crate) fn sqrt(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if x == 0.0 && y == 0.0 {
        return C::new(0.0, y);
    }
    if y.is_infinite() {
        return C::new(f64::INFINITY, y);
    }
    if x.is_infinite() {
        let other = if y.is_nan() { y } else { 0f64.copysign(y) };
        return if x > 0.0 { C::new(x, other) } else { C::new(other.abs(), f64::INFINITY.copysign(y)) };
    }
    // Scaled by 4ᵏ to avoid overflow and underflow.
    let large = x.abs().max(y.abs());
    // With a NaN part, the largest may be 0 or NaN, which have no exponent.
    let fits = large == 0.0 || large.is_nan() || (1e-280..=1e280).contains(&large);
    let k = if fits { 0 } else { libm::ilogb(large) / 2 };
    let (xs, ys) = (libm::scalbn(x, -2 * k), libm::scalbn(y, -2 * k));
    let t = ((libm::hypot(xs, ys) + xs.abs()) * 0.5).sqrt();
    // The other part may be subnormal. It is rounded once.
    let t = libm::scalbn(t, k);
    if x >= 0.0 { C::new(t, y / (2.0 * t)) } else { C::new(y.abs() / (2.0 * t), t.copysign(y)) }
}

pub(super) fn rsqrt(z: C) -> C {
    if z.re == 0.0 && z.im == 0.0 {
        return C::new(f64::INFINITY, f64::NAN);
    }
    div(C::new(1.0, 0.0), sqrt(z))
}

/// The principal cube root.
pub(super) fn cbrt(z: C) -> C {
    if z.im == 0.0 && z.re >= 0.0 {
        return C::new(libm::cbrt(z.re), z.im);
    }
    let (r, angle) = (libm::cbrt(abs(z)), libm::atan2(z.im, z.re) / 3.0);
    let (sin, cos) = libm::sincos(angle);
    C::new(r * cos, r * sin)
}

/// Returns the number with the greater real part, or the second one if they can't be compared. This is XLA's
/// order of complex numbers.
pub(super) fn maximum(a: C, b: C) -> C {
    if a.re >= b.re { a } else { b }
}

/// Returns the number with the smaller real part, or the second one if they can't be compared.
pub(super) fn minimum(a: C, b: C) -> C {
    if a.re <= b.re { a } else { b }
}

/// `clamp` in the order of `maximum` and `minimum`.
pub(super) fn clamp(t: ElementType) -> Option<Kernel> {
    let clamped = |low: C, x: C, high: C| minimum(maximum(low, x), high);
    match t {
        ElementType::C64 => Some(ternary(move |low: [f32; 2], x: [f32; 2], high: [f32; 2]| {
            narrow(clamped(widen(low), widen(x), widen(high)))
        })),
        ElementType::C128 => Some(ternary(move |low: [f64; 2], x: [f64; 2], high: [f64; 2]| {
            let r = clamped(from_pair(low), from_pair(x), from_pair(high));
            [r.re, r.im]
        })),
        _ => None,
    }
}

/// e^(b ln a). a⁰ is 1. Zero to a positive real power is 0, and to any other power NaN.
pub(super) fn pow(a: C, b: C) -> C {
    if b.re == 0.0 && b.im == 0.0 {
        return C::new(1.0, 0.0);
    }
    if a.re == 0.0 && a.im == 0.0 {
        return if b.re > 0.0 && b.im == 0.0 { C::new(0.0, 0.0) } else { C::new(f64::NAN, f64::NAN) };
    }
    if b.re == 1.0 && b.im == 0.0 {
        return a;
    }
    exp(b * log(a))
}

/// Returns sinh x and cosh x, both divided by a factor, and the factor. They may overflow where their product
/// with a sine does not.
fn hyperbolic(x: f64) -> (f64, f64, f64) {
    if x.abs() <= 700.0 || x.is_nan() {
        return (libm::sinh(x), libm::cosh(x), 1.0);
    }
    let half = libm::exp(x.abs() - 700.0) / 2.0;
    (half.copysign(x), half, libm::exp(700.0))
}

/// Returns `a * b * factor`, which is zero if `a` is zero, even if `b` is infinite.
fn product(a: f64, b: f64, factor: f64) -> f64 {
    if a == 0.0 { a * 1f64.copysign(b) } else { a * b * factor }
}

pub(super) fn sin(z: C) -> C {
    let (sin, cos) = libm::sincos(z.re);
    let (sinh, cosh, factor) = hyperbolic(z.im);
    C::new(product(sin, cosh, factor), if z.im == 0.0 { z.im * cos } else { cos * sinh * factor })
}

pub(super) fn cos(z: C) -> C {
    let (sin, cos) = libm::sincos(z.re);
    let (sinh, cosh, factor) = hyperbolic(z.im);
    C::new(cos * cosh * factor, -product(sin, sinh, factor))
}

/// −i tanh(iz).
pub(super) fn tan(z: C) -> C {
    let t = tanh(C::new(-z.im, z.re));
    C::new(t.im, -t.re)
}

/// −i sin(iz).
pub(super) fn sinh(z: C) -> C {
    let s = sin(C::new(-z.im, z.re));
    C::new(s.im, -s.re)
}

pub(super) fn cosh(z: C) -> C {
    cos(C::new(-z.im, z.re))
}

/// Kahan's formula: with t = tan y, s = sinh x, β = 1 + t², ρ = √(1 + s²), the result is (βρs + it) / (1 +
/// βs²).
pub(super) fn tanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if x.is_nan() && y == 0.0 {
        // The result is real on the real axis.
        return z;
    }
    if x.abs() > 20.0 && (y.is_finite() || x.is_infinite()) {
        let (sin, cos) = if y.is_finite() { libm::sincos(y) } else { (0.0, 1.0) };
        return C::new(1f64.copysign(x), 4.0 * sin * cos * libm::exp(-2.0 * x.abs()));
    }
    if !y.is_finite() && x != 0.0 {
        return C::new(f64::NAN, f64::NAN);
    }
    let t = libm::tan(y);
    let s = libm::sinh(x);
    let beta = 1.0 + t * t;
    let rho = (1.0 + s * s).sqrt();
    if t.is_infinite() {
        return C::new(rho / s, 1.0 / t);
    }
    let denominator = 1.0 + beta * s * s;
    C::new(beta * rho * s / denominator, t / denominator)
}

/// Scaling for the inverse functions: returns the number and 0. If the size of the number overflows, returns
/// a quarter of the number and ln 4, the difference in the logarithm of its size.
fn in_range(z: C) -> (C, f64) {
    if exponent(z) > 1000 { (z * 0.25, 4f64.ln()) } else { (z, 0.0) }
}

/// The arc cosine of a number with an infinite part, as in C99 annex G: the angle of its direction.
fn acos_infinite(z: C) -> C {
    let one = |x: f64| if x.is_infinite() { 1f64.copysign(x) } else { x * 0.0 };
    C::new(libm::atan2(one(z.im).abs(), one(z.re)), -f64::INFINITY.copysign(z.im))
}

fn has_infinite_part(z: C) -> bool {
    z.re.is_infinite() || z.im.is_infinite()
}

pub(super) fn asin(z: C) -> C {
    if has_infinite_part(z) {
        let C { re, im } = acos_infinite(z);
        // π/2 minus the angle, which is exact for each of the five angles.
        return C::new((std::f64::consts::FRAC_PI_2 - re).abs().copysign(z.re), -im);
    }
    let (z, more) = in_range(z);
    let (minus, plus) = (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)));
    let im = libm::asinh((minus.conj() * plus).im);
    C::new(libm::atan2(z.re, (minus * plus).re), im + more.copysign(im))
}

pub(super) fn acos(z: C) -> C {
    if has_infinite_part(z) {
        return acos_infinite(z);
    }
    let (z, more) = in_range(z);
    let (minus, plus) = (sqrt(C::new(1.0 - z.re, -z.im)), sqrt(C::new(1.0 + z.re, z.im)));
    let im = libm::asinh((plus.conj() * minus).im);
    C::new(2.0 * libm::atan2(minus.re, plus.re), im + more.copysign(im))
}

/// i asin(−iz).
pub(super) fn asinh(z: C) -> C {
    let a = asin(C::new(z.im, -z.re));
    C::new(-a.im, a.re)
}

pub(super) fn acosh(z: C) -> C {
    if has_infinite_part(z) {
        return C::new(f64::INFINITY, acos_infinite(z).re.copysign(z.im));
    }
    let (z, more) = in_range(z);
    let (minus, plus) = (sqrt(C::new(z.re - 1.0, z.im)), sqrt(C::new(z.re + 1.0, z.im)));
    C::new(libm::asinh((minus.conj() * plus).re) + more, 2.0 * libm::atan2(minus.im, plus.re))
}

/// Kahan's formulas for x = |Re z|: ¼ ln(1 + 4x / ((1 − x)² + y²)) and ½ arctan(2y / ((1 − x)(1 + x) − y²)).
/// Beyond 2⁶⁰ the parts are that of 1/z and ±π/2.
pub(super) fn atanh(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im);
    let right = std::f64::consts::FRAC_PI_2.copysign(y);
    if has_infinite_part(z) {
        return C::new(0f64.copysign(z.re), right);
    }
    if exponent(z) > 60 {
        return C::new(div(C::new(1.0, 0.0), C::new(x, y)).re.copysign(z.re), right);
    }
    let re = if x == 1.0 {
        // The square of y may underflow.
        0.5 * (0.5 * libm::log(libm::fma(y, y, 4.0)) - libm::log(y.abs()))
    } else {
        0.25 * libm::log1p(4.0 * x / ((1.0 - x) * (1.0 - x) + y * y))
    };
    C::new(re.copysign(z.re), 0.5 * libm::atan2(2.0 * y, (1.0 - x) * (1.0 + x) - y * y))
}

/// −i ln((x + iy) / √(x² + y²)). With s the root, this is twice the arctangent of y / (s + x). Where that sum
/// cancels, it is ±π minus twice the arctangent of y / (s − x). Both numbers are scaled so that the squares
/// stay in range.
pub(super) fn atan2(y: C, x: C) -> C {
    let largest = |z: C| z.re.abs().max(z.im.abs());
    let n = -exponent(C::new(largest(x), largest(y)));
    let (x, y) = (scaled(x, n), scaled(y, n));
    let s = sqrt(x * x + y * y);
    let twice_atan = |w: C| {
        let t = atanh(C::new(-w.im, w.re)) * 2.0;
        C::new(t.im, -t.re)
    };
    if abs(s + x) >= abs(s - x) {
        return twice_atan(div(y, s + x));
    }
    let w = div(y, s - x);
    C::new(std::f64::consts::PI.copysign(w.re), 0.0) - twice_atan(w)
}
