//! Printing of floats as in XLA: C's `%g` with the fewest digits that read back as the same value.
//!
//! If the exact product of the value and a power of ten fits in 128 bits, the digits are computed with
//! 128-bit integers. This holds for most constants. Otherwise the standard library computes the digits.

use std::io::Write;

/// Maximum number of digits.
const MAX_DIGITS: usize = 17;

/// The decimal form of a positive number: the requested number of `digits`, scaled so that the first digit
/// has the value of 10^`exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u64,
    exponent: i32,
}

/// The powers 10^0 to 10^19.
const POWERS_OF_TEN: [u64; 20] = {
    let mut table = [1u64; 20];
    let mut i = 1;
    while i < 20 {
        table[i] = table[i - 1] * 10;
        i += 1;
    }
    table
};

/// The powers 5^0 to 5^55, all that fit in 128 bits.
const POWERS_OF_FIVE: [u128; 56] = {
    let mut table = [1u128; 56];
    let mut i = 1;
    while i < 56 {
        table[i] = table[i - 1] * 5;
        i += 1;
    }
    table
};

/// Splits a positive finite number into an odd `mantissa` times 2^`exponent`.
fn split(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    // A short mantissa leaves room for more digits.
    let zeros = mantissa.trailing_zeros();
    (mantissa >> zeros, exponent + zeros as i32)
}

impl Decimal {
    /// Returns `count` digits of a positive finite `value`. Rounds to nearest, ties to even, like C.
    fn of(value: f64, count: usize) -> Self {
        Self::exact(value, count).unwrap_or_else(|| Self::from_std(value, count))
    }

    /// Computes the digits with exact integers, if they are small enough.
    pub fn exact(value: f64, count: usize) -> Option<Self> {
        let (mantissa, exponent) = split(value);
        // Multiplying the position of the leading bit by log10(2) yields the decimal exponent, or one less.
        let leading = exponent + 63 - mantissa.leading_zeros() as i32;
        let mut decimal = (leading * 1233) >> 12;
        let (low, high) = (POWERS_OF_TEN[count - 1], POWERS_OF_TEN[count]);
        let mut digits = scaled(mantissa, exponent, count as i32 - 1 - decimal)?;
        if digits >= high {
            // Either the estimate was one too low, or rounding produced one more digit.
            decimal += 1;
            digits = scaled(mantissa, exponent, count as i32 - 1 - decimal)?;
        }
        (low..high).contains(&digits).then_some(Self { digits, exponent: decimal })
    }

    /// Computes the digits with the standard library.
    #[cold]
    pub fn from_std(value: f64, count: usize) -> Self {
        let text = format!("{value:.*e}", count - 1);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).fold(0, |n, b| n * 10 + u64::from(b - b'0'));
        Self { digits, exponent: exponent.parse().unwrap_or(0) }
    }

    /// Returns whether the number reads back as `value`, which has type `f32` or `f64`.
    fn reads_as(self, value: f64, count: usize, single: bool) -> bool {
        // A single operation on exact operands rounds once: 10^10 is exact in `f32`, and 10^22 in `f64`.
        let power = self.exponent - (count as i32 - 1);
        if single && power.abs() <= 10 {
            let (digits, scale) = (self.digits as f32, 10f32.powi(power.abs()));
            return f64::from(if power < 0 { digits / scale } else { digits * scale }) == value;
        }
        if !single && power.abs() <= 19 {
            let (digits, scale) = (self.digits as f64, POWERS_OF_TEN[power.unsigned_abs() as usize] as f64);
            return (if power < 0 { digits / scale } else { digits * scale }) == value;
        }
        let text = format!("{}e{power}", self.digits);
        if single {
            text.parse::<f32>().is_ok_and(|back| f64::from(back) == value)
        } else {
            text.parse::<f64>().is_ok_and(|back| back == value)
        }
    }

    /// Appends the number as `%.{count}g` prints it.
    fn push(self, out: &mut Vec<u8>, count: usize) {
        // Trailing zeros are not printed.
        let (mut digits, mut len) = (self.digits, count);
        while digits.is_multiple_of(10) && len > 1 {
            digits /= 10;
            len -= 1;
        }
        let mut buffer = [b'0'; MAX_DIGITS];
        let mut rest = digits;
        for place in buffer[..len].iter_mut().rev() {
            *place = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let text = &buffer[..len];
        let exponent = self.exponent;
        if exponent < -4 || exponent >= count as i32 {
            out.push(text[0]);
            if len > 1 {
                out.push(b'.');
                out.extend_from_slice(&text[1..]);
            }
            let sign = if exponent < 0 { b'-' } else { b'+' };
            let power = exponent.unsigned_abs();
            out.extend_from_slice(&[b'e', sign]);
            if power < 10 {
                out.push(b'0');
            }
            push_integer(out, power.into());
        } else if exponent < 0 {
            out.extend_from_slice(&b"0.0000"[..1 + exponent.unsigned_abs() as usize]);
            out.extend_from_slice(text);
        } else if len <= exponent as usize + 1 {
            out.extend_from_slice(text);
            out.extend_from_slice(&[b'0'; MAX_DIGITS][..exponent as usize + 1 - len]);
        } else {
            out.extend_from_slice(&text[..exponent as usize + 1]);
            out.push(b'.');
            out.extend_from_slice(&text[exponent as usize + 1..]);
        }
    }
}

/// Returns `mantissa`·2^`exponent`·10^`power`, rounded to the nearest integer, ties to even. Returns `None`
/// if an intermediate value does not fit in 128 bits.
fn scaled(mantissa: u64, exponent: i32, power: i32) -> Option<u64> {
    let five = *POWERS_OF_FIVE.get(power.unsigned_abs() as usize)?;
    let shift = exponent + power;
    if power < 0 {
        let (over, under) = match shift {
            0.. => (shift_left(mantissa.into(), shift)?, five),
            _ => (mantissa.into(), shift_left(five, -shift)?),
        };
        let (whole, rest) = (over / under, over % under);
        let up = rest > under - rest || (rest == under - rest && whole & 1 == 1);
        return u64::try_from(whole + u128::from(up)).ok();
    }
    let product = u128::from(mantissa).checked_mul(five)?;
    if shift >= 0 {
        return u64::try_from(shift_left(product, shift)?).ok();
    }
    if shift <= -128 {
        return None;
    }
    let whole = product >> -shift;
    let rest = product - (whole << -shift);
    let half = 1u128 << (-shift - 1);
    let up = rest > half || (rest == half && whole & 1 == 1);
    u64::try_from(whole + u128::from(up)).ok()
}

/// Returns `value`·2^`shift` for a `shift` that is not negative, or `None` if the result does not fit.
fn shift_left(value: u128, shift: i32) -> Option<u128> {
    (value.leading_zeros() >= shift.unsigned_abs() && shift < 128).then(|| value << shift)
}

/// Appends the sign, and the whole text of zeros and infinities. Returns the magnitude of any other number.
fn push_special(out: &mut Vec<u8>, value: f64) -> Option<f64> {
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let magnitude = value.abs();
    if magnitude == 0.0 {
        out.push(b'0');
    } else if magnitude.is_infinite() {
        out.extend_from_slice(b"inf");
    } else {
        return Some(magnitude);
    }
    None
}

/// Appends a `value` that is not NaN as C's `printf("%.{digits}g")` does.
pub(super) fn push_g(out: &mut Vec<u8>, value: f64, digits: usize) {
    let digits = digits.clamp(1, MAX_DIGITS);
    if let Some(magnitude) = push_special(out, value) {
        Decimal::of(magnitude, digits).push(out, digits);
    }
}

/// Appends an `f32` with 6 significant digits if they read back as the same value, otherwise with 9.
pub(super) fn push_f32(out: &mut Vec<u8>, value: f32) {
    if value.is_nan() {
        push_nan(out, u64::from(value.to_bits()), 23, 32);
    } else {
        push_shortest(out, value.into(), [6, 9], true);
    }
}

/// Appends an `f64` with 15 significant digits if they read back as the same value, otherwise with 17.
pub(super) fn push_f64(out: &mut Vec<u8>, value: f64) {
    if value.is_nan() {
        push_nan(out, value.to_bits(), 52, 64);
    } else {
        push_shortest(out, value, [15, 17], false);
    }
}

fn push_shortest(out: &mut Vec<u8>, value: f64, [few, many]: [usize; 2], single: bool) {
    let Some(magnitude) = push_special(out, value) else { return };
    // Fast path for small integers, the most common constants.
    if magnitude < 1e6 && magnitude.trunc() == magnitude {
        return push_integer(out, magnitude as u64);
    }
    let short = Decimal::of(magnitude, few);
    if short.reads_as(magnitude, few, single) {
        short.push(out, few);
    } else {
        Decimal::of(magnitude, many).push(out, many);
    }
}

/// Appends an integer.
pub(super) fn push_integer(out: &mut Vec<u8>, mut value: u64) {
    let mut buffer = [0u8; 20];
    let mut start = buffer.len();
    loop {
        start -= 1;
        buffer[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&buffer[start..]);
}

/// Appends a NaN, given by its bits, the number of mantissa bits and the width of its type. The payload is
/// printed unless it is that of the default quiet NaN.
pub(super) fn push_nan(out: &mut Vec<u8>, bits: u64, mantissa: u32, width: u32) {
    if bits >> (width - 1) & 1 != 0 {
        out.push(b'-');
    }
    out.extend_from_slice(b"nan");
    let payload = bits & ((1 << mantissa) - 1);
    if payload != 1 << (mantissa - 1) {
        // Writing to memory does not fail.
        let _ = write!(out, "(0x{payload:x})");
    }
}

fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    push(&mut out);
    // The text is ASCII.
    String::from_utf8(out).unwrap_or_default()
}

/// Returns the shortest decimal text that reads back as the same `f32`, as XLA prints it.
pub fn format_f32(value: f32) -> String {
    text(|out| push_f32(out, value))
}

/// Returns the shortest decimal text that reads back as the same `f64`, as XLA prints it.
pub fn format_f64(value: f64) -> String {
    text(|out| push_f64(out, value))
}

/// Returns a `value` that is not NaN as C's `printf("%.{digits}g")` prints it, with at most 17 digits.
pub fn format_g(value: f64, digits: usize) -> String {
    text(|out| push_g(out, value, digits))
}
