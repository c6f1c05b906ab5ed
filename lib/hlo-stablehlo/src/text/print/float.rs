//! Printing of floating-point numbers as in MLIR: with six digits if they are exact, otherwise with as many
//! as needed, and as bits if the number is not finite.

use crate::text::read::float_bits;
use crate::tree::FloatType;
use hlo_ir::FloatFormat;
use std::fmt::Write;

/// Writes the number with the given bits.
pub fn write(out: &mut String, bits: u64, ty: FloatType) {
    let Some(format) = ty.element_type().and_then(FloatFormat::of) else {
        let _ = write!(out, "0x{bits:X}");
        return;
    };
    let value = format.decode(bits);
    if value.is_finite() {
        let short = short(value);
        if float_bits(&short, ty) == Ok(bits) {
            out.push_str(&short);
            return;
        }
        let long = long(value, format.mantissa_bits + 1);
        if long.contains('.') {
            out.push_str(&long);
            return;
        }
    }
    let _ = write!(out, "0x{bits:X}");
}

/// Decimal digits, the most significant first, and the power of ten of the last one.
struct Decimal {
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// Returns at most `precision` digits of a number, rounded as in LLVM: numbers with more than twice as
    /// many digits are first cut, and then halves are rounded away from zero.
    fn of(value: f64, precision: usize) -> Self {
        // Rust prints all digits exactly.
        let exact = format!("{:.800e}", value.abs());
        let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
        let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        while digits.len() > 1 && digits.last() == Some(&b'0') {
            digits.pop();
        }
        let exponent = exponent.parse::<i32>().unwrap_or(0) + 1 - digits.len() as i32;
        let mut out = Self { digits, exponent };
        out.cut(value, precision);
        out.drop_zeros();
        out.round(precision);
        out
    }

    /// Drops insignificant digits with LLVM's estimate of 196/59 bits per digit.
    fn cut(&mut self, value: f64, precision: usize) {
        // The digits as an integer are a whole number, or an odd number times a power of 5.
        let log2 = value.abs().log2() + f64::from(-self.exponent.min(0)) * std::f64::consts::LOG2_10;
        let bits = log2.floor() as usize + 1;
        let required = (precision * 196).div_ceil(59);
        let removable = bits.saturating_sub(required) * 59 / 196;
        // The digits do not contain the zeros at the end of a whole number.
        let removed = removable.saturating_sub(self.exponent.max(0) as usize);
        let kept = self.digits.len().saturating_sub(removed).max(1);
        self.exponent += (self.digits.len() - kept) as i32;
        self.digits.truncate(kept);
    }

    fn round(&mut self, precision: usize) {
        if self.digits.len() <= precision {
            return;
        }
        let up = self.digits[precision] >= b'5';
        self.exponent += (self.digits.len() - precision) as i32;
        self.digits.truncate(precision);
        if up {
            while self.digits.last() == Some(&b'9') {
                self.digits.pop();
                self.exponent += 1;
            }
            match self.digits.last_mut() {
                Some(digit) => *digit += 1,
                None => self.digits.push(b'1'),
            }
        }
        self.drop_zeros();
    }

    fn drop_zeros(&mut self) {
        while self.digits.len() > 1 && self.digits.last() == Some(&b'0') {
            self.digits.pop();
            self.exponent += 1;
        }
    }

    /// Returns the power of ten of the first digit.
    fn magnitude(&self) -> i32 {
        self.exponent + self.digits.len() as i32 - 1
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.digits).unwrap_or_default()
    }
}

/// Returns the short form, such as `1.500000e+00`.
fn short(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value == 0.0 {
        return format!("{sign}0.000000e+00");
    }
    let decimal = Decimal::of(value, 6);
    let (first, rest) = decimal.text().split_at(1);
    let exponent = decimal.magnitude();
    let mark = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}.{rest:0<6}e{mark}{:02}", exponent.abs())
}

/// Returns the long form, such as `3.14159274` or `1.17549435E-38`: as many digits as a number of `bits` bits
/// requires.
fn long(value: f64, bits: u32) -> String {
    const MAX_PADDING: i32 = 3;
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let precision = 2 + (bits * 59 / 196) as usize;
    let decimal = Decimal::of(value, precision);
    let (digits, exponent) = (decimal.text(), decimal.exponent);
    let magnitude = decimal.magnitude();
    let is_scientific = if exponent >= 0 {
        exponent > MAX_PADDING || digits.len() + exponent as usize > precision
    } else {
        magnitude < 0 && -magnitude > MAX_PADDING
    };
    if is_scientific {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        let mark = if magnitude < 0 { '-' } else { '+' };
        return format!("{sign}{first}.{rest}E{mark}{}", magnitude.abs());
    }
    if exponent >= 0 {
        return format!("{sign}{digits}{}", "0".repeat(exponent as usize));
    }
    if magnitude >= 0 {
        let (whole, fraction) = digits.split_at(magnitude as usize + 1);
        return format!("{sign}{whole}.{fraction}");
    }
    format!("{sign}0.{}{digits}", "0".repeat((-magnitude - 1) as usize))
}
