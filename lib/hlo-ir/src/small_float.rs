//! The floating-point formats of eight bits and fewer: exact conversion to `f64`, and from `f64` rounded to
//! nearest, ties to even.
//!
//! Source: the OCP 8-bit floating point and microscaling (MX) specifications, and for the `fnuz` and `b11`
//! formats the StableHLO types document.

use crate::ElementType;

/// What a format's largest exponent is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Specials {
    /// Infinities and NaNs, as IEEE 754 has them.
    Ieee,
    /// No infinity; NaN is all ones besides the sign.
    Fn,
    /// No infinity, no negative zero; NaN is the pattern of negative zero.
    Fnuz,
    /// Finite values only.
    Finite,
    /// An unsigned power of two; NaN is all ones.
    PowerOfTwo,
}

/// A floating-point format of at most eight bits, the value in the low bits of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallFloat {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    specials: Specials,
}

impl SmallFloat {
    /// The format of an element type; `None` for types that are not floats of at most eight bits.
    pub fn of(ty: ElementType) -> Option<Self> {
        let (exponent_bits, mantissa_bits, bias, specials) = match ty {
            ElementType::F8E5M2 => (5, 2, 15, Specials::Ieee),
            ElementType::F8E4M3 => (4, 3, 7, Specials::Ieee),
            ElementType::F8E3M4 => (3, 4, 3, Specials::Ieee),
            ElementType::F8E4M3Fn => (4, 3, 7, Specials::Fn),
            ElementType::F8E4M3B11Fnuz => (4, 3, 11, Specials::Fnuz),
            ElementType::F8E5M2Fnuz => (5, 2, 16, Specials::Fnuz),
            ElementType::F8E4M3Fnuz => (4, 3, 8, Specials::Fnuz),
            ElementType::F8E8M0Fnu => (8, 0, 127, Specials::PowerOfTwo),
            ElementType::F4E2M1Fn => (2, 1, 1, Specials::Finite),
            ElementType::F6E3M2Fn => (3, 2, 3, Specials::Finite),
            ElementType::F6E2M3Fn => (2, 3, 1, Specials::Finite),
            _ => return None,
        };
        Some(Self { exponent_bits, mantissa_bits, bias, specials })
    }

    /// The number of stored mantissa bits.
    pub fn mantissa_bits(self) -> u32 {
        self.mantissa_bits
    }

    /// True if infinities (and NaNs with payloads) exist.
    pub fn has_infinity(self) -> bool {
        self.specials == Specials::Ieee
    }

    fn sign_mask(self) -> u8 {
        if self.specials == Specials::PowerOfTwo { 0 } else { 1 << (self.exponent_bits + self.mantissa_bits) }
    }

    /// All bits besides the sign.
    fn magnitude_mask(self) -> u8 {
        ((1u32 << (self.exponent_bits + self.mantissa_bits)) - 1) as u8
    }

    /// The pattern of the largest finite magnitude.
    fn max_magnitude(self) -> u8 {
        let all = self.magnitude_mask();
        match self.specials {
            Specials::Ieee => all - (1 << self.mantissa_bits),
            Specials::Fn | Specials::PowerOfTwo => all - 1,
            Specials::Fnuz | Specials::Finite => all,
        }
    }

    /// The default NaN; `None` if the format has none. Formats with one NaN pattern ignore the sign.
    pub fn nan(self, negative: bool) -> Option<u8> {
        let sign = if negative { self.sign_mask() } else { 0 };
        match self.specials {
            Specials::Ieee => Some(
                sign | (self.max_magnitude() + 1)
                    | if self.mantissa_bits > 0 { 1 << (self.mantissa_bits - 1) } else { 0 },
            ),
            Specials::Fn => Some(sign | self.magnitude_mask()),
            Specials::Fnuz => Some(self.sign_mask()),
            Specials::Finite => None,
            Specials::PowerOfTwo => Some(0xff),
        }
    }

    /// The value of a pattern; bits above the format's are ignored.
    pub fn decode(self, bits: u8) -> f64 {
        let negative = bits & self.sign_mask() != 0;
        let magnitude = bits & self.magnitude_mask();
        let is_nan = match self.specials {
            Specials::Ieee => magnitude > self.max_magnitude() + 1,
            Specials::Fn | Specials::PowerOfTwo => magnitude > self.max_magnitude(),
            Specials::Fnuz => negative && magnitude == 0,
            Specials::Finite => false,
        };
        if is_nan {
            return if negative { -f64::NAN } else { f64::NAN };
        }
        let value = if magnitude > self.max_magnitude() {
            f64::INFINITY
        } else {
            let exponent = i32::from(magnitude >> self.mantissa_bits);
            let mantissa = f64::from(magnitude & ((1u8 << self.mantissa_bits) - 1));
            let unit = -(self.mantissa_bits as i32);
            if self.specials == Specials::PowerOfTwo {
                2f64.powi(exponent - self.bias)
            } else if exponent == 0 {
                mantissa * 2f64.powi(1 - self.bias + unit)
            } else {
                (mantissa + f64::from(1u32 << self.mantissa_bits)) * 2f64.powi(exponent - self.bias + unit)
            }
        };
        if negative { -value } else { value }
    }

    /// The pattern nearest to `value`, ties to even. What is out of range becomes infinity, else NaN, else the
    /// largest finite value, by what the format has; NaN in a format without it becomes negative zero.
    pub fn encode(self, value: f64) -> u8 {
        let negative = value.is_sign_negative();
        let sign = if negative { self.sign_mask() } else { 0 };
        if value.is_nan() {
            return self.nan(negative).unwrap_or(self.sign_mask());
        }
        if self.specials == Specials::PowerOfTwo {
            return self.encode_power_of_two(value);
        }
        let overflow = || match self.specials {
            Specials::Ieee => sign | (self.max_magnitude() + 1),
            Specials::Fn => sign | self.magnitude_mask(),
            Specials::Fnuz => self.sign_mask(),
            Specials::Finite | Specials::PowerOfTwo => sign | self.max_magnitude(),
        };
        if value.is_infinite() {
            return overflow();
        }
        let magnitude = value.abs();
        // The step between neighbours where the value lies, at least the subnormal step.
        let exponent = if magnitude == 0.0 { 0 } else { exponent_of(magnitude) };
        let step = exponent.max(1 - self.bias) - self.mantissa_bits as i32;
        // Exact: a power of two, and far from f64's own limits.
        let units = (magnitude / 2f64.powi(step)).round_ties_even();
        if units == 0.0 {
            return if self.specials == Specials::Fnuz { 0 } else { sign };
        }
        let field = (exponent.max(1 - self.bias) + self.bias - 1).max(0) as u64;
        // `units` carries the implicit one, so that a carry out of the mantissa raises the exponent.
        let pattern = (field << self.mantissa_bits) + units as u64;
        if pattern > u64::from(self.max_magnitude()) { overflow() } else { sign | pattern as u8 }
    }

    fn encode_power_of_two(self, value: f64) -> u8 {
        if value <= 0.0 || value.is_infinite() {
            return 0xff;
        }
        let exponent = exponent_of(value);
        let fraction = value / 2f64.powi(exponent);
        // Ties go to the even exponent field.
        let field = exponent + self.bias;
        let up = fraction > 1.5 || (fraction == 1.5 && field % 2 != 0);
        let field = field + i32::from(up);
        if field > 254 { 0xff } else { field.max(0) as u8 }
    }

    /// True if `value` rounds to a finite value without overflow, and has a sign or a zero only where the
    /// format does.
    pub fn in_range(self, value: f64) -> bool {
        match self.specials {
            Specials::PowerOfTwo => value > 0.0 && !self.decode(self.encode(value)).is_nan(),
            // Finite formats saturate: compare with half a step above the largest.
            Specials::Finite => {
                let max = self.decode(self.max_magnitude());
                let below = self.decode(self.max_magnitude() - 1);
                value.abs() < max + (max - below) / 2.0
            }
            Specials::Ieee | Specials::Fn | Specials::Fnuz => self.decode(self.encode(value)).is_finite(),
        }
    }
}

/// The exponent `e` of a positive finite value: `2^e <= value < 2^(e+1)`.
fn exponent_of(value: f64) -> i32 {
    let field = (value.to_bits() >> 52 & 0x7ff) as i32;
    // f64's subnormals are below every format's smallest step.
    if field == 0 { -1023 } else { field - 1023 }
}
