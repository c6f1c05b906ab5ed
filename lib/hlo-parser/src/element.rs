//! Array elements in text: conversion of numbers to the bits of the element type.
//!
//! Numbers are read like in XLA. An integer has 64 bits. One beyond `s64` is read as the bits of a `u64`, so
//! `u64[] -1` and `s64[] 18446744073709551615` are the same number. A float is read as `f64`, then rounded to
//! its type. There is one intentional difference: `-0` is a negative zero, because the printer writes it that
//! way.

use hlo_ir::blank::blanks_and_comments;
use hlo_ir::print::format_g;
use hlo_ir::{ElementType, FloatFormat, Special};

/// A reader of elements of one type.
#[derive(Clone, Copy)]
pub struct ElementReader {
    ty: ElementType,
    kind: Kind,
    /// The size of an element in bytes.
    pub size: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Pred,
    /// Integers within these limits.
    Integer(i64, i64),
    /// Any 64-bit integer.
    U64,
    Float(Precision),
    Complex(Precision),
}

#[derive(Clone, Copy)]
enum Precision {
    F64,
    F32,
    /// `f16` and `bf16`, which XLA rounds via `f32`.
    Half(FloatFormat),
    Small(FloatFormat),
}

/// The error of an element that cannot be read.
pub enum Fault {
    /// The text that was expected at the next token.
    Expected(String),
    /// The text from `start` to `end` is not a value of the type.
    Wrong {
        /// The error message.
        message: String,
        /// The start offset in the text.
        start: usize,
        /// The end offset in the text.
        end: usize,
        /// The label at that span.
        label: String,
    },
}

/// A number or a word in the text.
enum Token {
    /// The bits of an integer, and whether it is a zero with a minus sign.
    Integer(i64, bool),
    /// Anything else: a number with a decimal point or an exponent, `inf`, `nan`, `true`.
    Word,
}

impl ElementReader {
    /// Creates a reader of elements of type `ty`.
    pub fn new(ty: ElementType) -> Self {
        let bits = ty.bit_width();
        let kind = match ty {
            ElementType::U64 => Kind::U64,
            _ if ty.is_signed_integer() => Kind::Integer(i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)),
            _ if ty.is_unsigned_integer() => Kind::Integer(0, (u64::MAX >> (64 - bits)) as i64),
            _ if ty.is_complex() => Kind::Complex(Precision::of(ty.real_type())),
            _ if ty.is_float() => Kind::Float(Precision::of(ty)),
            _ => Kind::Pred,
        };
        Self { ty, kind, size: ty.byte_size() }
    }

    /// Reads the element at `at` and advances past it. The result starts with the bytes of its value.
    #[inline]
    pub fn read(&self, text: &[u8], at: &mut usize) -> Result<[u8; 16], Fault> {
        let mut out = [0; 16];
        let bits = match self.kind {
            Kind::Integer(low, high) => {
                let start = *at;
                let value = self.integer(text, at)?;
                if value < low || value > high {
                    return Err(out_of_range(text, start, *at, self.ty, &format!("{low} to {high}")));
                }
                value as u64
            }
            Kind::U64 => self.integer(text, at)? as u64,
            Kind::Pred => match word_at(text, *at) {
                word @ (b"true" | b"false") => {
                    *at += word.len();
                    (word == b"true").into()
                }
                _ => (self.integer(text, at)? != 0).into(),
            },
            Kind::Float(p) => self.float(p, text, at)?,
            Kind::Complex(p) => {
                let (re, im) = self.complex(p, text, at)?;
                let half = self.size / 2;
                out[..half].copy_from_slice(&re.to_le_bytes()[..half]);
                out[half..self.size].copy_from_slice(&im.to_le_bytes()[..half]);
                return Ok(out);
            }
        };
        out[..8].copy_from_slice(&bits.to_le_bytes());
        Ok(out)
    }

    fn expected(&self, text: &[u8], at: usize) -> Fault {
        match word_at(text, at) {
            word @ (b"true" | b"false") => Fault::Wrong {
                message: format!(
                    "`{}` is a value of pred, not of {}",
                    String::from_utf8_lossy(word),
                    self.ty
                ),
                start: at,
                end: at + word.len(),
                label: String::new(),
            },
            _ => Fault::Expected(format!("an element of type {}", self.ty)),
        }
    }

    #[inline]
    fn integer(&self, text: &[u8], at: &mut usize) -> Result<i64, Fault> {
        match token(text, at) {
            Ok(Token::Integer(value, _)) => Ok(value),
            Ok(Token::Word) => Err(self.expected(text, *at)),
            Err(end) => Err(too_long(text, *at, end, self.ty)),
        }
    }

    /// Reads `(re, im)`. A single real number has an imaginary part of zero.
    fn complex(&self, p: Precision, text: &[u8], at: &mut usize) -> Result<(u64, u64), Fault> {
        if text.get(*at) != Some(&b'(') {
            return Ok((self.float(p, text, at)?, 0));
        }
        let expect = |token: u8, at: &mut usize| {
            *at += blanks_and_comments(&text[*at..]);
            if text.get(*at) == Some(&token) {
                *at += 1;
                *at += blanks_and_comments(&text[*at..]);
                return Ok(());
            }
            Err(expected_in_complex(token))
        };
        expect(b'(', at)?;
        let re = self.float(p, text, at)?;
        expect(b',', at)?;
        let im = self.float(p, text, at)?;
        *at += blanks_and_comments(&text[*at..]);
        if text.get(*at) != Some(&b')') {
            return Err(expected_in_complex(b')'));
        }
        *at += 1;
        Ok((re, im))
    }

    /// Reads a float and returns its bits.
    #[inline]
    fn float(&self, p: Precision, text: &[u8], at: &mut usize) -> Result<u64, Fault> {
        let start = *at;
        let value = match decimal(text, at) {
            Some(value) => value,
            None => match token(text, at) {
                Ok(Token::Integer(0, true)) => -0.0,
                Ok(Token::Integer(value, _)) => p.integer(value),
                Ok(Token::Word) => match self.word(p, text, at)? {
                    Value::Bits(bits) => return Ok(bits),
                    Value::Number(value) => value,
                },
                Err(end) => return Err(too_long(text, *at, end, self.ty)),
            },
        };
        let bits = p.round(value);
        if value.is_finite() && !p.keeps_finite(bits, value) {
            let ty = self.ty.real_type();
            return Err(out_of_range(text, start, *at, ty, &p.limits()));
        }
        Ok(bits)
    }

    /// Reads a number that [`decimal`] cannot read, or `inf` or `nan`.
    #[cold]
    fn word(&self, p: Precision, text: &[u8], at: &mut usize) -> Result<Value, Fault> {
        let word = word_at(text, *at);
        let (negative, magnitude) = match word.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, word),
        };
        let value = match magnitude {
            b"inf" => f64::INFINITY,
            b"nan" => {
                let bits = self.nan(p, negative, text, at)?;
                return Ok(Value::Bits(bits));
            }
            [b'0'..=b'9' | b'.', ..] => {
                let digits = std::str::from_utf8(magnitude).unwrap_or_default();
                match digits.parse::<f64>() {
                    Ok(value) if value.is_finite() => value,
                    Ok(_) => {
                        let end = *at + word.len();
                        return Err(out_of_range(text, *at, end, self.ty.real_type(), &p.limits()));
                    }
                    Err(_) => return Err(self.expected(text, *at)),
                }
            }
            _ => return Err(self.expected(text, *at)),
        };
        *at += word.len();
        Ok(Value::Number(if negative { -value } else { value }))
    }

    /// Reads `nan`, `-nan` or `nan(0x7f)`.
    fn nan(&self, p: Precision, negative: bool, text: &[u8], at: &mut usize) -> Result<u64, Fault> {
        let start = *at;
        *at += 3 + usize::from(negative);
        let format = p.format();
        if text.get(*at) != Some(&b'(') {
            return Ok(format.encode_text(if negative { -f64::NAN } else { f64::NAN }));
        }
        let digits = &text[*at + 1..];
        let digits = &digits[..digits.iter().take_while(|b| b.is_ascii_alphanumeric()).count()];
        let closed = text.get(*at + 1 + digits.len()) == Some(&b')');
        *at += 1 + digits.len() + usize::from(closed);
        let wrong = |message: String, label: String| Fault::Wrong { message, start, end: *at, label };
        let payload = std::str::from_utf8(digits).ok().and_then(|d| d.strip_prefix("0x")).map(|d| {
            // A payload longer than 64 bits is out of range, like this one.
            u64::from_str_radix(d, 16).unwrap_or(if d.is_empty() { 0 } else { u64::MAX })
        });
        let hexadecimal = digits.iter().skip(2).all(u8::is_ascii_hexdigit);
        let Some(payload) = payload.filter(|_| closed && hexadecimal && digits.len() > 2) else {
            let message = "a NaN's payload is a hexadecimal number such as `nan(0x7f)`";
            return Err(wrong(message.into(), String::new()));
        };
        let ty = self.ty.real_type();
        if format.special != Special::Ieee {
            return Err(wrong(format!("a NaN of type {ty} has no payload"), String::new()));
        }
        let max = (1u64 << format.mantissa_bits) - 1;
        if payload == 0 || payload > max {
            let message = format!("the NaN's payload is out of range for {ty}");
            return Err(wrong(message, format!("it must be from 0x1 to 0x{max:x}")));
        }
        Ok(format.nan(negative) & !max | payload)
    }
}

/// The result of the slow path for floats.
enum Value {
    Bits(u64),
    Number(f64),
}

impl Precision {
    fn of(ty: ElementType) -> Self {
        match (ty, FloatFormat::of(ty)) {
            (ElementType::F16 | ElementType::Bf16, Some(format)) => Precision::Half(format),
            (ElementType::F32, _) => Precision::F32,
            (_, Some(format)) if ty.bit_width() < 16 => Precision::Small(format),
            _ => Precision::F64,
        }
    }

    fn format(self) -> FloatFormat {
        match self {
            Precision::Half(format) | Precision::Small(format) => format,
            Precision::F32 => FloatFormat::F32,
            Precision::F64 => FloatFormat::F64,
        }
    }

    fn is_f64(self) -> bool {
        matches!(self, Precision::F64)
    }

    /// Returns the bits of the nearest value of the type.
    #[inline]
    fn round(self, value: f64) -> u64 {
        match self {
            Precision::F64 => value.to_bits(),
            Precision::F32 => (value as f32).to_bits().into(),
            Precision::Half(format) => format.encode((value as f32).into()),
            Precision::Small(format) => format.encode_text(value),
        }
    }

    /// Returns whether a finite `value` stays finite when it is rounded to `bits`. A type without infinity
    /// and NaN accepts any value.
    #[inline]
    fn keeps_finite(self, bits: u64, value: f64) -> bool {
        match self {
            Precision::F64 => true,
            Precision::F32 => (value as f32).is_finite(),
            Precision::Half(format) | Precision::Small(format) => format.decode(bits).is_finite(),
        }
    }

    /// Converts an integer like XLA: directly to `f64`, and to narrower types via `f32`.
    fn integer(self, value: i64) -> f64 {
        if self.is_f64() { value as f64 } else { f64::from(value as f32) }
    }

    /// Returns the range of the type, such as `-448 to 448`.
    fn limits(self) -> String {
        let format = self.format();
        let (low, high) = (format.decode(format.min_bits()), format.decode(format.max_bits()));
        format!("{} to {}", format_g(low, 6), format_g(high, 6))
    }
}

#[cold]
fn expected_in_complex(token: u8) -> Fault {
    Fault::Expected(format!("`{}`, as in the complex number `(1, -2.5)`", token as char))
}

#[cold]
fn out_of_range(text: &[u8], start: usize, end: usize, ty: ElementType, limits: &str) -> Fault {
    let message = format!("{} is out of range for {ty}", quoted(text, start, end));
    Fault::Wrong { message, start, end, label: format!("{ty} holds {limits}") }
}

/// Creates the error for an integer that does not fit in 64 bits, which XLA cannot read either.
#[cold]
fn too_long(text: &[u8], start: usize, end: usize, ty: ElementType) -> Fault {
    let message = format!("{} does not fit 64 bits", quoted(text, start, end));
    let label =
        if ty.is_float() || ty.is_complex() { "a float this large has a point or an exponent" } else { "" };
    Fault::Wrong { message, start, end, label: label.into() }
}

/// Returns the text from `start` to `end`, shortened.
fn quoted(text: &[u8], start: usize, end: usize) -> String {
    let word = text.get(start..end).unwrap_or_default();
    let shown = String::from_utf8_lossy(&word[..word.len().min(40)]);
    if word.len() > 40 { format!("{shown}…") } else { shown.into_owned() }
}

/// Returns whether a byte directly after a number makes it invalid.
#[inline]
fn continues_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'+')
}

/// Returns the letters, digits and signs that start at `at`.
fn word_at(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    let part =
        |i: usize, b: u8| continues_word(b) || (b == b'-' && (i == 0 || matches!(rest[i - 1], b'e' | b'E')));
    let len = rest.iter().enumerate().take_while(|&(i, &b)| part(i, b)).count();
    &rest[..len]
}

/// Reads an integer and advances past it. Does not advance if the next token is something else. For an
/// integer that does not fit in 64 bits, the error is the offset of its end.
#[inline]
fn token(text: &[u8], at: &mut usize) -> Result<Token, usize> {
    let mut i = *at;
    let negative = text.get(i) == Some(&b'-');
    i += usize::from(negative);
    let first = i;
    let mut magnitude = 0u64;
    let mut overflow = false;
    while let Some(digit) = text.get(i).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        overflow |= match magnitude.checked_mul(10).and_then(|m| m.checked_add(digit.into())) {
            Some(m) => {
                magnitude = m;
                false
            }
            None => true,
        };
        i += 1;
    }
    if i == first || text.get(i).is_some_and(|&b| continues_word(b)) {
        return Ok(Token::Word);
    }
    overflow |= negative && magnitude > 1 << 63;
    if overflow {
        return Err(i);
    }
    *at = i;
    let value = if negative { (magnitude as i64).wrapping_neg() } else { magnitude as i64 };
    Ok(Token::Integer(value, negative && magnitude == 0))
}

/// The powers of ten that an `f64` represents exactly.
const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Reads a number that is one exact product or quotient (Clinger's fast path) and advances past it. For any
/// other number, returns `None` without advancing.
#[inline]
fn decimal(text: &[u8], at: &mut usize) -> Option<f64> {
    let mut i = *at;
    let negative = text.get(i) == Some(&b'-');
    i += usize::from(negative);
    let mut mantissa = 0u64;
    let first = i;
    while let Some(digit) = text.get(i).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(digit.into());
        i += 1;
    }
    let mut digits = i - first;
    let mut scale = 0i64;
    if text.get(i) == Some(&b'.') && digits > 0 {
        i += 1;
        let point = i;
        while let Some(digit) = text.get(i).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(digit.into());
            i += 1;
        }
        digits += i - point;
        scale = -((i - point) as i64);
    }
    if matches!(text.get(i), Some(b'e' | b'E')) {
        i += 1;
        let minus = text.get(i) == Some(&b'-');
        i += usize::from(minus || text.get(i) == Some(&b'+'));
        let start = i;
        let mut exponent = 0i64;
        while let Some(digit) = text.get(i).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
            exponent = exponent * 10 + i64::from(digit);
            i += 1;
            if i - start > 4 {
                return None;
            }
        }
        if i == start {
            return None;
        }
        scale += if minus { -exponent } else { exponent };
    }
    // 19 digits always fit in a `u64`.
    if digits == 0 || digits > 19 || mantissa > 1 << 53 {
        return None;
    }
    if text.get(i).is_some_and(|&b| continues_word(b)) {
        return None;
    }
    let power = *POWERS_OF_TEN.get(usize::try_from(scale.unsigned_abs()).ok()?)?;
    let value = if scale < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
    *at = i;
    Some(if negative { -value } else { value })
}
