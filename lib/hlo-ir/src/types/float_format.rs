//! Floating-point formats, described by their parameters: decoding to `f64`, and rounding from `f64` and
//! integers.
//!
//! The narrow formats follow the OCP specifications and XLA's `f8…fnuz` variants. Results agree with
//! `ml_dtypes`, which XLA uses.

use crate::ElementType;

/// The meaning of the largest exponent and of the negative zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// IEEE 754: an exponent of all ones is infinity (fraction 0) or NaN.
    Ieee,
    /// `…fn`: no infinity. NaN is all ones. Values that are too large become NaN.
    NanOnly,
    /// `…fnuz`: no infinity and no negative zero, whose pattern is NaN. Values that are too large become NaN.
    Fnuz,
    /// Neither infinity nor NaN. Values that are too large become the largest value, and NaN the negative
    /// zero.
    FiniteOnly,
    /// `f8e8m0fnu`: a power of two, without sign, fraction or zero. NaN is all ones.
    PowerOfTwo,
}

/// A binary floating-point format of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// The width of the exponent field in bits.
    pub exponent_bits: u32,
    /// The width of the fraction field in bits.
    pub mantissa_bits: u32,
    /// The number added to the exponent to get the field.
    pub bias: i32,
    /// The special values.
    pub special: Special,
}

impl FloatFormat {
    /// IEEE 754 single precision.
    pub const F32: Self = Self { exponent_bits: 8, mantissa_bits: 23, bias: 127, special: Special::Ieee };

    /// IEEE 754 double precision.
    pub const F64: Self = Self { exponent_bits: 11, mantissa_bits: 52, bias: 1023, special: Special::Ieee };

    /// Returns the format of a real floating-point element type; `None` for other types.
    pub const fn of(ty: ElementType) -> Option<Self> {
        use ElementType as T;
        use Special::*;
        let (exponent_bits, mantissa_bits, bias, special) = match ty {
            T::F64 => return Some(Self::F64),
            T::F32 => return Some(Self::F32),
            T::F16 => (5, 10, 15, Ieee),
            T::Bf16 => (8, 7, 127, Ieee),
            T::F8E5M2 => (5, 2, 15, Ieee),
            T::F8E4M3 => (4, 3, 7, Ieee),
            T::F8E3M4 => (3, 4, 3, Ieee),
            T::F8E4M3Fn => (4, 3, 7, NanOnly),
            T::F8E4M3B11Fnuz => (4, 3, 11, Fnuz),
            T::F8E5M2Fnuz => (5, 2, 16, Fnuz),
            T::F8E4M3Fnuz => (4, 3, 8, Fnuz),
            T::F8E8M0Fnu => (8, 0, 127, PowerOfTwo),
            T::F4E2M1Fn => (2, 1, 1, FiniteOnly),
            T::F6E3M2Fn => (3, 2, 3, FiniteOnly),
            T::F6E2M3Fn => (2, 3, 1, FiniteOnly),
            _ => return None,
        };
        Some(Self { exponent_bits, mantissa_bits, bias, special })
    }

    /// Returns the number of bits below the sign.
    pub fn magnitude_bits(&self) -> u32 {
        self.exponent_bits + self.mantissa_bits
    }

    /// Returns the magnitude with all bits set.
    fn all_ones(&self) -> u64 {
        (1 << self.magnitude_bits()) - 1
    }

    /// Returns the largest pattern below the sign that is a finite number.
    pub fn max_finite(&self) -> u64 {
        match self.special {
            Special::Ieee => self.infinity() - 1,
            Special::NanOnly | Special::PowerOfTwo => self.all_ones() - 1,
            Special::Fnuz | Special::FiniteOnly => self.all_ones(),
        }
    }

    /// Returns the bit pattern of IEEE infinity.
    fn infinity(&self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }

    fn sign_bit(&self, negative: bool) -> u64 {
        u64::from(negative && self.special != Special::PowerOfTwo) << self.magnitude_bits()
    }

    /// Returns the exact value of the format's bits, which are the low bits of `bits`. The sign of NaN is
    /// kept if the format has one.
    pub fn decode(&self, bits: u64) -> f64 {
        let magnitude = bits & self.all_ones();
        let negative = self.special != Special::PowerOfTwo && bits >> self.magnitude_bits() & 1 == 1;
        let sign = if negative { -1.0 } else { 1.0 };
        let is_nan = match self.special {
            Special::Ieee => magnitude > self.infinity(),
            Special::NanOnly | Special::PowerOfTwo => magnitude == self.all_ones(),
            Special::Fnuz => magnitude == 0 && negative,
            Special::FiniteOnly => false,
        };
        if is_nan {
            return f64::NAN.copysign(if self.special == Special::Fnuz { 1.0 } else { sign });
        }
        if self.special == Special::Ieee && magnitude == self.infinity() {
            return f64::INFINITY * sign;
        }
        let field = (magnitude >> self.mantissa_bits) as i32;
        let fraction = magnitude & ((1 << self.mantissa_bits) - 1);
        let subnormal = field == 0 && self.special != Special::PowerOfTwo;
        let (mantissa, exponent) = if subnormal {
            (fraction, 1 - self.bias)
        } else {
            (fraction | 1 << self.mantissa_bits, field - self.bias)
        };
        // Exact: `mantissa` has at most 53 bits, and the scaling does not round for formats up to f64.
        sign * scaled(mantissa as f64, exponent - self.mantissa_bits as i32)
    }

    /// Returns an integer that sorts bit patterns in total order: -NaN, -inf, …, -0, +0, …, inf, NaN, and
    /// NaNs by their fractions. The NaN of the `…fnuz` types, whose pattern is that of a negative zero, sorts
    /// before all other values, as in XLA.
    pub fn total_order(&self, bits: u64) -> i64 {
        let magnitude = (bits & self.all_ones()) as i64;
        let negative = self.special != Special::PowerOfTwo && bits >> self.magnitude_bits() & 1 == 1;
        match (negative, self.special) {
            (true, Special::Fnuz) if magnitude == 0 => i64::MIN,
            (true, _) => !magnitude,
            (false, _) => magnitude,
        }
    }

    /// Returns whether this format can represent each value of `other`, so that conversion to it and back
    /// changes nothing. Infinities, a NaN and the sign of zero count as values.
    pub fn has_values_of(&self, other: &Self) -> bool {
        use Special::*;
        let special = match other.special {
            Ieee => self.special == Ieee,
            NanOnly => matches!(self.special, Ieee | NanOnly),
            Fnuz => matches!(self.special, Ieee | NanOnly | Fnuz),
            FiniteOnly => matches!(self.special, Ieee | NanOnly | FiniteOnly),
            PowerOfTwo => matches!(self.special, Ieee | NanOnly | PowerOfTwo),
        };
        let largest = |f: &Self| f.decode(f.max_finite());
        let smallest = |f: &Self| f.lowest_exponent() - f.mantissa_bits as i32;
        special
            && self.mantissa_bits >= other.mantissa_bits
            && smallest(self) <= smallest(other)
            && largest(self) >= largest(other)
    }

    /// Rounds to the nearest value of the format, ties to even.
    pub fn encode(&self, value: f64) -> u64 {
        let negative = value.is_sign_negative();
        if value.is_nan() {
            return self.nan(negative);
        }
        if value.is_infinite() {
            return self.overflow(negative);
        }
        let bits = value.to_bits();
        let field = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) =
            if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        self.round(negative, mantissa, exponent)
    }

    /// Returns the exponent of the unit in the last place of the format's numbers near `value`, which is
    /// finite and not 0.
    pub fn last_place(&self, value: f64) -> i32 {
        let bits = value.abs().to_bits();
        let exponent = match (bits >> 52) as i32 {
            0 => -1011 - bits.leading_zeros() as i32,
            field => field - 1023,
        };
        exponent.max(self.lowest_exponent()) - self.mantissa_bits as i32
    }

    /// Returns the exponent of the smallest normal numbers.
    fn lowest_exponent(&self) -> i32 {
        if self.special == Special::PowerOfTwo { -self.bias } else { 1 - self.bias }
    }

    /// Rounds a number from a text to the nearest value of the format. There are two differences from a
    /// conversion. The smallest powers of two stay distinct, so that every value reads back. In formats
    /// without NaN, -NaN becomes positive zero, as in XLA.
    pub fn encode_text(&self, value: f64) -> u64 {
        match self.special {
            Special::FiniteOnly if value.is_nan() => self.sign_bit(value.is_sign_positive()),
            Special::PowerOfTwo if value > 0.0 && value < scaled(1.0, 1 - self.bias) => {
                u64::from(value >= scaled(1.5, -self.bias))
            }
            _ => self.encode(value),
        }
    }

    /// Rounds an integer of at most 64 bits and a sign to the nearest value of the format, ties to even.
    pub fn encode_integer(&self, value: i128) -> u64 {
        self.round(value < 0, value.unsigned_abs() as u64, 0)
    }

    /// Returns the bits of the largest finite value.
    pub fn max_bits(&self) -> u64 {
        self.max_finite()
    }

    /// Returns the bits of the lowest finite value.
    pub fn min_bits(&self) -> u64 {
        match self.special {
            Special::PowerOfTwo => 0,
            _ => self.sign_bit(true) | self.max_finite(),
        }
    }

    /// Returns the NaN that conversions produce. Formats without NaN use the negative zero, as XLA does.
    pub fn nan(&self, negative: bool) -> u64 {
        match self.special {
            Special::Ieee => {
                // The quiet bit only, for all widths.
                self.sign_bit(negative) | self.infinity() | 1 << (self.mantissa_bits - 1)
            }
            Special::NanOnly | Special::PowerOfTwo => self.sign_bit(negative) | self.all_ones(),
            Special::Fnuz => self.sign_bit(true),
            Special::FiniteOnly => self.sign_bit(true),
        }
    }

    /// Returns the result for a value that is too large.
    fn overflow(&self, negative: bool) -> u64 {
        match self.special {
            Special::Ieee => self.sign_bit(negative) | self.infinity(),
            Special::NanOnly | Special::Fnuz | Special::PowerOfTwo => self.nan(negative),
            Special::FiniteOnly => self.sign_bit(negative) | self.max_finite(),
        }
    }

    /// Rounds ±`mantissa`·2^`exponent` to the nearest value of the format.
    fn round(&self, negative: bool, mantissa: u64, exponent: i32) -> u64 {
        if self.special == Special::PowerOfTwo && (negative || mantissa == 0) {
            return self.all_ones(); // no sign and no zero: NaN
        }
        if mantissa == 0 {
            return self.sign_bit(negative && self.special != Special::Fnuz);
        }
        let lowest = self.lowest_exponent();
        let leading = exponent + 63 - mantissa.leading_zeros() as i32;
        if self.special == Special::PowerOfTwo && leading <= lowest {
            // As in ml_dtypes: near 2⁻¹²⁷, greater values round up, and lesser values round to 2⁻¹²⁷.
            return u64::from(leading == lowest && !mantissa.is_power_of_two());
        }
        let scale = leading.max(lowest);
        // The result in units of the last place at `scale`.
        let units = shift_round(mantissa, exponent - (scale - self.mantissa_bits as i32));
        // A carry out of the fraction correctly increments the exponent field.
        let mut magnitude = ((scale - lowest) as u64) << self.mantissa_bits;
        magnitude += units;
        if self.special == Special::PowerOfTwo {
            magnitude = magnitude.saturating_sub(1); // field 0 is a normal value here
        }
        if magnitude > self.max_finite() {
            return self.overflow(negative);
        }
        if magnitude == 0 && self.special == Special::Fnuz { 0 } else { self.sign_bit(negative) | magnitude }
    }
}

/// Returns `x`·2^`exponent`. Exact if the result is a value of `f64`.
fn scaled(x: f64, exponent: i32) -> f64 {
    // In two steps, because one factor could be out of range even if the result is not.
    let half = exponent / 2;
    x * power_of_two(half) * power_of_two(exponent - half)
}

/// Returns 2^`exponent`, which must be a normal number.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Returns `mantissa`·2^`shift`, rounded to nearest even. The caller ensures that the result fits.
fn shift_round(mantissa: u64, shift: i32) -> u64 {
    if shift >= 0 {
        return mantissa.checked_shl(shift as u32).unwrap_or(0);
    }
    let right = shift.unsigned_abs();
    if right > 64 {
        return 0; // below half a unit
    }
    let wide = u128::from(mantissa) << 64 >> right;
    let (whole, rest) = ((wide >> 64) as u64, wide as u64);
    let half = 1 << 63;
    whole + u64::from(rest > half || (rest == half && whole & 1 == 1))
}
