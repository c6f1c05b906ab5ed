//! Floating-point formats narrower than `f32`: rounding of `f32` values to them, and conversions between
//! `f32` and bits.
//!
//! The rules for rounding, overflow and NaN are those of ml_dtypes, which XLA uses. Values round to nearest
//! even. Overflow results in infinity if the format has one, else in NaN, else in the greatest finite value.

use super::{F, I};
use crate::builder::{Builder, Cast, FloatPredicate, IntPredicate};
use hlo_ir::{ElementType, FloatFormat, Special};

/// A format narrower than `f32`, whose values are computed as `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format(FloatFormat);

impl std::ops::Deref for Format {
    type Target = FloatFormat;

    fn deref(&self) -> &FloatFormat {
        &self.0
    }
}

impl Format {
    /// Returns the format of a narrow type that is represented as `f32`, including `bf16` and `f16`.
    pub fn of(ty: ElementType) -> Option<Self> {
        FloatFormat::of(ty).filter(|_| ty.bit_width() < 32).map(Self)
    }

    /// Returns the exponent's bias.
    pub fn bias(self) -> i64 {
        self.0.bias.into()
    }

    /// Returns the greatest pattern below the sign that is a finite number.
    pub fn max_finite(self) -> i64 {
        self.0.max_finite() as i64
    }

    /// Returns the exponent of the smallest normal numbers.
    pub fn lowest_exponent(self) -> i64 {
        if self.special == Special::PowerOfTwo { -self.bias() } else { 1 - self.bias() }
    }

    /// Returns the value of a bit pattern. A NaN of an IEEE format keeps its payload.
    pub fn decode_constant(self, bits: u32) -> f32 {
        let value = self.0.decode(bits.into()) as f32;
        if value.is_nan() && self.special == Special::Ieee {
            let mantissa = bits & ((1 << self.mantissa_bits) - 1);
            let sign = bits >> self.magnitude_bits() << 31;
            return f32::from_bits(sign | 0x7f80_0000 | mantissa << (23 - self.mantissa_bits));
        }
        value
    }

    /// Emits the value of a bit pattern, given as an integer of 8, 16 or 32 bits, as `f32`.
    pub fn decode<'a, 'c>(self, bits: I<'a, 'c>) -> F<'a, 'c> {
        let b = bits.b;
        let wide = if bits.ty() == b.int(32) { bits } else { bits.zero_extend(32) };
        if self.special == Special::PowerOfTwo {
            // The byte is the exponent field of an f32, except for two values: 0 is 2^-127, which is
            // subnormal, and 255 is NaN.
            let nan = (wide << 23).lit(0x7fc0_0000);
            let pattern = wide.eq(0).select_int(wide.lit(0x0040_0000), wide << 23);
            return wide.eq(0xff).select_int(nan, pattern).as_float(b.f32());
        }
        let magnitude = wide & ((1 << self.magnitude_bits()) - 1);
        let sign = (wide << i64::from(31 - self.magnitude_bits())) & 0x8000_0000;
        let shifted = magnitude << i64::from(23 - self.mantissa_bits);
        // The pattern is read with f32's bias, including subnormals, and then scaled. Both steps are exact.
        let scale = 2f64.powi((127 - self.bias()) as i32);
        let value = if self.bias() == 127 { shifted } else { (shifted.as_float(b.f32()) * scale).bits() };
        let special = match self.special {
            Special::Ieee => {
                let is = magnitude.cmp(IntPredicate::Sgt, magnitude.lit(self.max_finite()));
                is.select_int(shifted | 0x7f80_0000, value)
            }
            Special::NanOnly => {
                let is = magnitude.cmp(IntPredicate::Sgt, magnitude.lit(self.max_finite()));
                is.select_int(value.lit(0x7fc0_0000), value)
            }
            Special::Fnuz => {
                // This NaN has no sign.
                let is = magnitude.eq(0) & sign.ne(0);
                return is.select_int(value.lit(0x7fc0_0000), value | sign).as_float(b.f32());
            }
            Special::FiniteOnly | Special::PowerOfTwo => value,
        };
        (special | sign).as_float(b.f32())
    }

    /// Emits the bit pattern (in an `i32`) of an `f32` whose value the format contains. This is the inverse
    /// of [`Self::decode`], and preserves the bits of a NaN.
    pub fn pack<'a, 'c>(self, x: F<'a, 'c>) -> I<'a, 'c> {
        let bits = x.bits();
        if self.special == Special::PowerOfTwo {
            return bits.shift_right(23) & 0xff;
        }
        let drop = i64::from(23 - self.mantissa_bits);
        let all = (1i64 << self.magnitude_bits()) - 1;
        let sign = bits.shift_right(31) << i64::from(self.magnitude_bits());
        let magnitude = bits & 0x7fff_ffff;
        // This is exact: values that are subnormal in the format become subnormal in f32 with this format's
        // bias.
        let scale = 2f64.powi((self.bias() - 127) as i32);
        let scaled = if self.bias() == 127 { magnitude } else { (x.abs() * scale).bits() };
        let value = scaled.shift_right(drop);
        match self.special {
            Special::Ieee => {
                let special = magnitude.cmp(IntPredicate::Uge, magnitude.lit(0x7f80_0000));
                special.select_int(magnitude.shift_right(drop) & all, value) | sign
            }
            Special::NanOnly => x.is_nan().select_int(value.lit(all), value) | sign,
            Special::Fnuz => {
                let signed = value.eq(0).select_int(value, value | sign);
                x.is_nan().select_int(value.lit(all + 1), signed)
            }
            Special::FiniteOnly | Special::PowerOfTwo => value | sign,
        }
    }

    /// Emits the bit pattern (in an `i32`) of an `f32` rounded to nearest even. Every NaN becomes the
    /// standard NaN.
    pub fn encode<'a, 'c>(self, x: F<'a, 'c>) -> I<'a, 'c> {
        if self.special == Special::PowerOfTwo {
            return self.encode_exponent(x);
        }
        let bits = x.bits();
        let magnitude = bits & 0x7fff_ffff;
        let drop = i64::from(23 - self.mantissa_bits);
        let odd = magnitude.shift_right(drop) & 1;
        let normal = (magnitude + ((1 << (drop - 1)) - 1) + odd).shift_right(drop)
            - ((127 - self.bias()) << self.mantissa_bits);
        // Adding a power of two whose last place equals the subnormals' step rounds to a multiple of that
        // step.
        let step = 1 - self.bias() - i64::from(self.mantissa_bits);
        let rounder = x.lit(2f64.powi((step + 23) as i32));
        let rounded = if self.bias() == 127 {
            normal
        } else {
            let subnormal = (x.abs() + rounder).bits() - rounder.bits();
            x.abs().lt(2f64.powi((1 - self.bias()) as i32)).select_int(subnormal, normal)
        };
        let over = rounded.cmp(IntPredicate::Sgt, rounded.lit(self.max_finite()));
        let all = (1i64 << self.magnitude_bits()) - 1;
        let infinity = all - ((1 << self.mantissa_bits) - 1);
        let sign_at = i64::from(self.magnitude_bits());
        let sign = bits.shift_right(31) << sign_at;
        let nan = x.is_nan();
        match self.special {
            Special::Ieee => {
                let quiet = infinity | 1 << (self.mantissa_bits - 1);
                let r = over.select_int(rounded.lit(infinity), rounded);
                nan.select_int(r.lit(quiet), r) | sign
            }
            Special::NanOnly => (over | nan).select_int(rounded.lit(all), rounded) | sign,
            Special::Fnuz => {
                let signed = rounded.eq(0).select_int(rounded, rounded | sign);
                (over | nan).select_int(rounded.lit(1 << sign_at), signed)
            }
            Special::FiniteOnly => {
                let r = over.select_int(rounded.lit(all), rounded) | sign;
                nan.select_int(r.lit(1 << sign_at), r)
            }
            Special::PowerOfTwo => rounded,
        }
    }

    /// Like [`Self::encode`], for a format that is only an exponent. Ties between two powers round to the
    /// greater one.
    fn encode_exponent<'a, 'c>(self, x: F<'a, 'c>) -> I<'a, 'c> {
        let bits = x.bits();
        let normal = (bits + 0x40_0000).shift_right(23);
        // Below 2^-126, the fields of an f32 do not represent powers of two. ml_dtypes rounds all values
        // above 2^-127 up.
        let small = bits.cmp(IntPredicate::Ult, bits.lit(0x0080_0000));
        let upper = bits.cmp(IntPredicate::Ugt, bits.lit(0x0040_0000));
        let r = small.select_int(upper.to_int(32), normal);
        // Zero, negative numbers, NaN, infinity and values that round beyond 2^127 become NaN.
        let bad = x.cmp(FloatPredicate::Ule, x.lit(0.0)) | r.cmp(IntPredicate::Sgt, r.lit(0xfe));
        bad.select_int(r.lit(0xff), r)
    }
}

/// Emits the value of the bits of an `f16` (an `i16`) as `f32`. The CPU's conversion would make signalling
/// NaNs quiet.
pub fn half_to_f32<'a, 'c>(bits: I<'a, 'c>) -> F<'a, 'c> {
    let b: &'a Builder<'c> = bits.b;
    let value = F::new(b, b.cast(Cast::Extf, b.cast(Cast::Bitcast, bits.v, b.f16()), b.f32()));
    let wide = bits.zero_extend(32);
    let nan = ((wide & 0x8000) << 16) | ((wide & 0x3ff) << 13) | 0x7f80_0000;
    let is_nan = (wide & 0x7fff).cmp(IntPredicate::Ugt, wide.lit(0x7c00));
    is_nan.select_int(nan, value.bits()).as_float(b.f32())
}

/// Emits the bits (in an `i16`) of an `f32` that is a value of `f16`. This is the inverse of [`half_to_f32`].
pub fn f32_to_half<'a, 'c>(x: F<'a, 'c>) -> I<'a, 'c> {
    let b: &'a Builder<'c> = x.b;
    let value = I::new(b, b.cast(Cast::Bitcast, b.cast(Cast::Truncf, x.v, b.f16()), b.int(16)));
    let bits = x.bits();
    let nan = (bits.shift_right(16) & 0x8000) | (bits.shift_right(13) & 0x3ff) | 0x7c00;
    x.is_nan().select_int(nan.truncate(16), value)
}

/// Emits `v` (an `f32`) rounded to the nearest value of `ty`. Returns `v` itself for types that are not
/// narrower.
pub fn round_f32<'a, 'c>(ty: ElementType, v: F<'a, 'c>) -> F<'a, 'c> {
    let b: &'a Builder<'c> = v.b;
    match ty {
        ElementType::F32 | ElementType::F64 => v,
        ElementType::F16 => F::new(b, b.cast(Cast::Extf, b.cast(Cast::Truncf, v.v, b.f16()), b.f32())),
        ElementType::Bf16 => {
            // Integer operations are used because the CPU's own instructions flush subnormal numbers.
            let bits = v.bits();
            let rounded = bits + 0x7fff + (bits.shift_right(16) & 1);
            let kept = v.is_nan().select_int(bits | 0x0040_0000, rounded);
            (kept & 0xffff_0000).as_float(b.f32())
        }
        _ => match Format::of(ty) {
            Some(format) => format.decode(format.encode(v)),
            None => v,
        },
    }
}

/// Emits an `f64` as an `f32`, rounded to odd. Rounding the result to any narrower format is then equal to
/// rounding the `f64` directly.
pub fn f64_to_odd_f32<'a, 'c>(x: F<'a, 'c>) -> F<'a, 'c> {
    let y = x.to_f32();
    let back = y.to_f64();
    let inexact = back.cmp(FloatPredicate::One, x);
    let too_far = back.abs().cmp(FloatPredicate::Ogt, x.abs());
    ((y.bits() - too_far.to_int(32)) | inexact.to_int(32)).as_float(x.b.f32())
}
