//! `convert`, `bitcast-convert`, `reduce-precision` and `stochastic-convert`.
//!
//! Floats are converted to integers by truncation with saturation, and NaN becomes 0. Integers are converted
//! to floats with one rounding. Conversion to `pred` compares with zero. Conversion of a complex number to a
//! real type drops the imaginary part.

use super::Unsupported;
use crate::builder::Builder;
use crate::builder::{Cast, FloatPredicate, IntPredicate, V};
use crate::elem::{self, Elem};
use crate::math::narrow::{self, Format};
use crate::math::{F, I, P};
use hlo_ir::attr::ReducePrecisionAttrs;
use hlo_ir::{ElementType, Opcode};

/// Emits `convert` from any element type to any other.
pub fn convert<'c>(b: &Builder<'c>, to: ElementType, x: Elem<'c>, from: ElementType) -> Elem<'c> {
    if from == to {
        return x;
    }
    if to.is_complex() {
        let part = to.real_type();
        return match x {
            Elem::One(v) => {
                let re = convert_real(b, part, v, from);
                Elem::Complex(re, F::new(b, re).lit(0.0).v)
            }
            Elem::Complex(re, im) => {
                let from = from.real_type();
                Elem::Complex(convert_real(b, part, re, from), convert_real(b, part, im, from))
            }
        };
    }
    match x {
        Elem::One(v) => Elem::One(convert_real(b, to, v, from)),
        Elem::Complex(re, im) if to.is_pred() => {
            let (re, im) = (F::new(b, re), F::new(b, im));
            let zero = re.lit(0.0);
            Elem::One((re.cmp(FloatPredicate::Une, zero) | im.cmp(FloatPredicate::Une, zero)).v)
        }
        Elem::Complex(re, _) => Elem::One(convert_real(b, to, re, from.real_type())),
    }
}

fn convert_real<'c>(b: &Builder<'c>, to: ElementType, v: V<'c>, from: ElementType) -> V<'c> {
    if from == to {
        return v;
    }
    if from.is_float() {
        let x = F::new(b, v);
        return if to.is_float() {
            float_to_float(to, x).v
        } else if to.is_pred() {
            x.cmp(FloatPredicate::Une, x.lit(0.0)).v
        } else {
            float_to_int(to, x).v
        };
    }
    let x = I::new(b, v);
    if to.is_pred() {
        x.ne(0).v
    } else if to.is_float() {
        let signed = from.is_signed_integer();
        (if signed { signed_to_float(to, x) } else { unsigned_to_float(to, x, from.bit_width()) }).v
    } else {
        resize(x, from.bit_width(), to.bit_width(), from.is_signed_integer()).v
    }
}

fn resize<'a, 'c>(x: I<'a, 'c>, from: u32, to: u32, signed: bool) -> I<'a, 'c> {
    match from.cmp(&to) {
        std::cmp::Ordering::Equal => x,
        std::cmp::Ordering::Greater => x.truncate(to),
        std::cmp::Ordering::Less if signed => x.sign_extend(to),
        std::cmp::Ordering::Less => x.zero_extend(to),
    }
}

/// Emits a float of any type, in its SSA form, converted to another type.
fn float_to_float<'a, 'c>(to: ElementType, x: F<'a, 'c>) -> F<'a, 'c> {
    match to {
        ElementType::F64 => x.to_f64(),
        ElementType::F32 => x.to_f32(),
        _ if x.is_f64() => narrow::round_f32(to, narrow::f64_to_odd_f32(x)),
        _ => narrow::round_f32(to, x),
    }
}

/// Emits a truncation towards zero that saturates. NaN becomes 0.
fn float_to_int<'a, 'c>(to: ElementType, x: F<'a, 'c>) -> I<'a, 'c> {
    let b = x.b;
    let bits = to.bit_width();
    let signed = to.is_signed_integer();
    let (low, high) = if signed {
        (-(2f64.powi(bits as i32 - 1)), 2f64.powi(bits as i32 - 1))
    } else {
        (0.0, 2f64.powi(bits as i32))
    };
    // Narrow integers are converted through a width that the CPU supports. It represents their whole range
    // exactly.
    let width = match bits {
        64 => 64,
        32 if !signed => 64,
        _ => 32,
    };
    let whole = x.trunc();
    // Values out of range are replaced by 0, so that the conversion itself is always defined.
    let inside = whole.cmp(FloatPredicate::Oge, x.lit(low)) & whole.cmp(FloatPredicate::Olt, x.lit(high));
    let safe = inside.select(whole, x.lit(0.0));
    let op = if signed || width > bits { Cast::Fptosi } else { Cast::Fptoui };
    let converted = I::new(b, b.cast(op, safe.v, b.int(width)));
    let converted = if width > bits { converted.truncate(bits) } else { converted };
    let (min, max) = match (signed, bits) {
        (true, n) => (-1i64 << (n - 1), !(-1i64 << (n - 1))),
        (false, 64) => (0, -1),
        (false, n) => (0, (1i64 << n) - 1),
    };
    let too_high = whole.cmp(FloatPredicate::Oge, x.lit(high));
    let too_low = whole.cmp(FloatPredicate::Olt, x.lit(low));
    let r = too_high.select_int(converted.lit(max), converted);
    if signed { too_low.select_int(r.lit(min), r) } else { r }
}

/// Emits an element with the value of `index` (a non-negative `i64`), as `iota` defines it. Integers wrap,
/// floats are rounded, complex numbers have a zero imaginary part, and `pred` is true except for 0.
pub fn from_index<'c>(b: &Builder<'c>, ty: ElementType, index: V<'c>) -> Elem<'c> {
    let i = I::new(b, index);
    match ty {
        ElementType::Pred => Elem::One(i.ne(0).v),
        ElementType::C64 | ElementType::C128 => {
            let re = i.to_float(elem::value_type(b, ty));
            Elem::Complex(re.v, re.lit(0.0).v)
        }
        _ if ty.is_float() => Elem::One(signed_to_float(ty, i).v),
        _ if ty.bit_width() < 64 => Elem::One(i.truncate(ty.bit_width()).v),
        _ => Elem::One(index),
    }
}

/// Emits a signed integer of any width as a float type, rounded once.
fn signed_to_float<'a, 'c>(to: ElementType, x: I<'a, 'c>) -> F<'a, 'c> {
    let b = x.b;
    match to {
        ElementType::F64 => x.to_float(b.f64()),
        ElementType::F32 => x.to_float(b.f32()),
        _ => narrow::round_f32(to, narrow::f64_to_odd_f32(keep_sticky(x).to_float(b.f64()))),
    }
}

/// Emits an unsigned integer of `bits` bits, or a `pred`, as a float type, rounded once.
fn unsigned_to_float<'a, 'c>(to: ElementType, x: I<'a, 'c>, bits: u32) -> F<'a, 'c> {
    let b = x.b;
    if bits < 64 {
        // The next larger signed type contains all values.
        return signed_to_float(to, x.zero_extend(if bits < 32 { 32 } else { 64 }));
    }
    let unsigned = |x: I<'a, 'c>, ty| F::new(b, b.cast(Cast::Uitofp, x.v, ty));
    match to {
        ElementType::F64 => unsigned(x, b.f64()),
        ElementType::F32 => unsigned(x, b.f32()),
        _ => {
            let large = x.cmp(IntPredicate::Ugt, x.lit(1 << 53));
            let x = large.select_int(sticky(x), x);
            narrow::round_f32(to, narrow::f64_to_odd_f32(unsigned(x, b.f64())))
        }
    }
}

/// Emits a 64-bit integer with its low 12 bits combined into one bit, so that `f64` represents it exactly.
fn sticky<'a, 'c>(x: I<'a, 'c>) -> I<'a, 'c> {
    (x & !0xfff) | (((x & 0xfff) + 0xfff) & 0x1000)
}

/// Emits `x` in a form that is exact in `f64` and rounds to a narrow format in the same way.
fn keep_sticky<'a, 'c>(x: I<'a, 'c>) -> I<'a, 'c> {
    if x.ty() != x.b.int(64) {
        return x;
    }
    let limit = 1i64 << 53;
    let large = x.cmp(IntPredicate::Sgt, x.lit(limit)) | x.cmp(IntPredicate::Slt, x.lit(-limit));
    large.select_int(sticky(x), x)
}

/// Emits `bitcast-convert` of an element between types of the same width.
///
/// # Errors
/// The widths differ, or only one of the types is complex.
pub fn bitcast_convert<'c>(
    b: &Builder<'c>,
    to: ElementType,
    x: Elem<'c>,
    from: ElementType,
) -> Result<Elem<'c>, Unsupported> {
    let unsupported = || Unsupported { op: Opcode::BitcastConvert.name(), types: vec![from, to] };
    same_bits(b, to, x, from).ok_or_else(unsupported)
}

fn same_bits<'c>(b: &Builder<'c>, to: ElementType, x: Elem<'c>, from: ElementType) -> Option<Elem<'c>> {
    if from == to {
        return Some(x);
    }
    if from.bit_width() != to.bit_width() || from.is_complex() != to.is_complex() {
        return complex_bits(b, to, x, from);
    }
    let Elem::One(v) = x else { return None };
    Some(Elem::One(elem::from_bits(b, to, elem::to_bits(b, from, v))))
}

/// Emits `bitcast-convert` between `c64` and the real types of 64 bits.
fn complex_bits<'c>(b: &Builder<'c>, to: ElementType, x: Elem<'c>, from: ElementType) -> Option<Elem<'c>> {
    if from.bit_width() != to.bit_width() {
        return None;
    }
    Some(match x {
        Elem::Complex(re, im) => {
            let re = F::new(b, re).bits().zero_extend(64);
            let im = F::new(b, im).bits().zero_extend(64) << 32;
            Elem::One(elem::from_bits(b, to, re | im))
        }
        Elem::One(v) => {
            let bits = elem::to_bits(b, from, v);
            let part = |x: I<'_, 'c>| b.cast(Cast::Bitcast, x.truncate(32).v, b.f32());
            Elem::Complex(part(bits), part(bits.shift_right(32)))
        }
    })
}

/// Emits `reduce-precision` of a value of type `ty`. It operates on the bits of that type, so that subnormal
/// numbers keep all of their bits.
pub fn reduce_precision<'c>(b: &Builder<'c>, ty: ElementType, v: V<'c>, to: &ReducePrecisionAttrs) -> V<'c> {
    let x = F::new(b, v);
    let format = Format::of(ty);
    let (exponent_bits, mantissa_bits, bias, max_finite) = match format {
        Some(f) => (i64::from(f.exponent_bits), i64::from(f.mantissa_bits), f.bias(), f.max_finite()),
        None if x.is_f64() => (11, 52, 1023, (0x7ff << 52) - 1),
        None => (8, 23, 127, (0xff << 23) - 1),
    };
    let bits = elem::to_bits(b, ty, v);
    let bits = if format.is_some() { bits.zero_extend(32) } else { bits };
    let magnitude = bits & ((1u64 << (exponent_bits + mantissa_bits)) - 1) as i64;
    let sign = bits - magnitude;
    let mut rounded = magnitude;
    let drop = mantissa_bits - to.mantissa_bits.clamp(0, mantissa_bits);
    if drop > 0 {
        let odd = magnitude.shift_right(drop) & 1;
        rounded = (magnitude + ((1i64 << (drop - 1)) - 1) + odd) & !((1i64 << drop) - 1);
    }
    let mut over = rounded.cmp(IntPredicate::Ugt, rounded.lit(max_finite));
    // A format that is only an exponent has no zero.
    let mut under = if mantissa_bits > 0 { rounded.eq(0) } else { x.is_nan() };
    let kept_exponent = to.exponent_bits.max(1);
    if kept_exponent < exponent_bits {
        // Exponents above the narrow range become infinity. Those below it become zero, because subnormals
        // are not kept.
        let kept_bias = (1i64 << (kept_exponent - 1)) - 1;
        over = over | rounded.cmp(IntPredicate::Uge, rounded.lit((bias + kept_bias + 1) << mantissa_bits));
        under = under | rounded.cmp(IntPredicate::Ult, rounded.lit((bias - kept_bias + 1) << mantissa_bits));
    }
    let bits = sign + rounded;
    let bits = if format.is_some() { bits.truncate_to(ty.bit_width(), 32) } else { bits };
    let kept = F::new(b, elem::from_bits(b, ty, bits));
    // The results of infinity and zero in the format.
    let infinity = narrow::round_f32(ty, x.lit(f64::INFINITY).copysign(x));
    let zero = narrow::round_f32(ty, x.lit(0.0).copysign(x));
    let moved = over.select(infinity, under.select(zero, kept));
    (x.is_finite() & !x.eq(0.0)).select(moved, x).v
}

/// Emits `stochastic-convert`. The result is the number of type `to` next to the operand, either towards zero
/// or away from it. The probability of rounding away from zero is the lost fraction of the last place: it
/// happens if the random bits, as a fraction of one, are below that fraction.
pub fn stochastic_convert<'c>(
    b: &Builder<'c>,
    to: ElementType,
    x: Elem<'c>,
    from: ElementType,
    random: V<'c>,
    random_type: ElementType,
) -> Option<Elem<'c>> {
    let Elem::One(v) = x else { return None };
    if !from.is_float() || !random_type.is_unsigned_integer() || random_type.bit_width() != from.bit_width() {
        return None;
    }
    if to == ElementType::F64 {
        return Some(Elem::One(convert_real(b, to, v, from)));
    }
    // Computed in f64, which represents every number of the other types, and every step between two of them.
    let x = F::new(b, v).to_f64();
    let (scale, step) = last_place(to, x);
    let scaled = x.abs() * scale;
    let whole = scaled.trunc();
    // The threshold is exact, and below 2 to the power of the number of random bits.
    let threshold = (scaled - whole) * 2f64.powi(random_type.bit_width() as i32);
    let threshold = x.is_finite().select(threshold, x.lit(0.0));
    let threshold = I::new(b, b.cast(Cast::Fptoui, threshold.v, b.int(64)));
    let random = resize(I::new(b, random), random_type.bit_width(), 64, false);
    let up = random.cmp(IntPredicate::Ult, threshold);
    let rounded = (up.select(whole + 1.0, whole) * step).copysign(x);
    let rounded = x.is_finite().select(rounded, x);
    Some(Elem::One(if to.is_float() { float_to_float(to, rounded).v } else { float_to_int(to, rounded).v }))
}

/// Emits two powers of two for numbers of type `to` of the magnitude of `x` (an `f64`): the reciprocal of the
/// last place, and the last place.
fn last_place<'a, 'c>(to: ElementType, x: F<'a, 'c>) -> (F<'a, 'c>, F<'a, 'c>) {
    let (lowest, mantissa) = match Format::of(to) {
        Some(f) => (f.lowest_exponent(), i64::from(f.mantissa_bits)),
        None if to.is_float() => (-126, 23),
        None => return (x.lit(1.0), x.lit(1.0)),
    };
    let field = x.bits().shift_right(52) & 0x7ff;
    let below = field.cmp(IntPredicate::Slt, field.lit(1023 + lowest));
    let field = below.select_int(field.lit(1023 + lowest), field);
    // These are in the range of normal numbers, because infinite ones are not used.
    let step = (field - mantissa) << 52;
    let scale = (field.lit(2046 + mantissa) - field) << 52;
    (scale.as_float(x.ty()), step.as_float(x.ty()))
}

impl<'a, 'c> I<'a, 'c> {
    /// Emits the low `bits` bits of an integer of `width` bits.
    fn truncate_to(self, bits: u32, width: u32) -> Self {
        if bits < width { self.truncate(bits) } else { self }
    }
}

/// Returns a boolean as an element.
pub fn pred<'c>(p: P<'_, 'c>) -> Elem<'c> {
    Elem::One(p.v)
}
