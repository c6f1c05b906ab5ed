//! Literals: nested braces of elements, tuples in parentheses, and `{...}` for a value that is not written.

use crate::cursor::Cursor;
use hlo_ir::diag::Diag;
use hlo_ir::{AlignedBytes, ArrayShape, ElementType, FloatFormat, Literal, Shape};

/// The most bytes that one `{...}` may stand for: its unspecified value is kept as zeros.
const MAX_ELIDED_BYTES: usize = 1 << 30;

/// A literal, and whether `{...}` stood for its value or a part of it.
pub struct ReadLiteral {
    /// The value; zeros where it was not written.
    pub literal: Literal,
    /// True if some of it was not written.
    pub elided: bool,
}

/// Reads the value of a literal of `shape`.
pub fn read(c: &mut Cursor<'_>, shape: &Shape) -> Result<ReadLiteral, Diag> {
    match shape {
        Shape::Array(a) => read_array(c, shape, a),
        Shape::Tuple(_) if c.rest().trim_start().starts_with("{...}") => read_elided(c, shape),
        Shape::Tuple(shapes) => {
            c.expect(b'(')?;
            let mut elided = false;
            let mut elements = Vec::new();
            for (i, s) in shapes.iter().enumerate() {
                if i > 0 {
                    c.expect(b',')?;
                }
                let element = read(c, s)?;
                elided |= element.elided;
                elements.push(element.literal);
            }
            c.expect(b')')?;
            Ok(ReadLiteral { literal: Literal::tuple(elements), elided })
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            Err(c.expected(&format!("no value: `{shape}` has none that can be written")))
        }
    }
}

fn read_elided(c: &mut Cursor<'_>, shape: &Shape) -> Result<ReadLiteral, Diag> {
    let start = c.offset();
    c.expect(b'{')?;
    c.eat_str("...");
    c.expect(b'}')?;
    let span = c.since(start);
    let literal = if shape.byte_size() <= MAX_ELIDED_BYTES { Literal::try_zeros(shape) } else { None };
    match literal {
        Some(literal) => Ok(ReadLiteral { literal, elided: true }),
        None => Err(Diag::error(format!("`{shape}` is too large for a value that is not written"))
            .at(span, "print the module with its large constants")),
    }
}

fn read_array(c: &mut Cursor<'_>, shape: &Shape, array: &ArrayShape) -> Result<ReadLiteral, Diag> {
    if !array.is_static() {
        return Err(c.expected(&format!("no literal: the sizes of `{array}` are not known")));
    }
    if array.rank() > 0 && c.peek() == b'{' {
        let rest = c.rest()[1..].trim_start();
        if rest.strip_prefix("...").is_some_and(|r| r.trim_start().starts_with('}')) {
            return read_elided(c, shape);
        }
    }
    // Grows with the text, not with what the shape says.
    let mut bytes = Vec::new();
    read_level(c, array, 0, &mut bytes)?;
    let literal = Literal::from_bytes(shape.clone(), AlignedBytes::from_slice(&bytes));
    Ok(ReadLiteral { literal, elided: false })
}

/// Reads dimension `level` and those inside it.
fn read_level(c: &mut Cursor<'_>, array: &ArrayShape, level: usize, out: &mut Vec<u8>) -> Result<(), Diag> {
    let Some(&size) = array.dims.get(level) else {
        return read_element(c, array.element_type, out);
    };
    if c.peek() != b'{' {
        return Err(c.expected(&format!("`{{`, as `{array}` has rank {}", array.rank())));
    }
    let start = c.offset();
    c.expect(b'{')?;
    let innermost = level + 1 == array.rank();
    let mut count = 0i64;
    while c.peek() != b'}' {
        if count > 0 && !c.eat(b',') {
            return Err(c.expected("`,` or `}`"));
        }
        if count == size {
            return Err(wrong_count(c, array, level, start, "more than that"));
        }
        if innermost {
            read_element(c, array.element_type, out)?;
        } else {
            read_level(c, array, level + 1, out)?;
        }
        count += 1;
    }
    c.expect(b'}')?;
    if count != size {
        return Err(wrong_count(c, array, level, start, &count.to_string()));
    }
    Ok(())
}

fn wrong_count(c: &mut Cursor<'_>, array: &ArrayShape, level: usize, start: usize, found: &str) -> Diag {
    let size = array.dims.get(level).copied().unwrap_or(0);
    Diag::error(format!("dimension {level} of `{array}` has size {size}, but the text has {found}"))
        .at(c.since(start), format!("expected {size} elements"))
}

fn is_number_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.' | b'_')
}

fn read_element(c: &mut Cursor<'_>, ty: ElementType, out: &mut Vec<u8>) -> Result<(), Diag> {
    if ty.is_complex() {
        // A real number stands for itself with a zero imaginary part.
        if c.peek() != b'(' {
            read_float(c, ty.real_type(), out)?;
            out.extend(std::iter::repeat_n(0, ty.real_type().byte_size()));
            return Ok(());
        }
        c.expect(b'(')?;
        read_float(c, ty.real_type(), out)?;
        c.expect(b',')?;
        read_float(c, ty.real_type(), out)?;
        return c.expect(b')');
    }
    if ty.is_float() { read_float(c, ty, out) } else { read_integer(c, ty, out) }
}

fn read_integer(c: &mut Cursor<'_>, ty: ElementType, out: &mut Vec<u8>) -> Result<(), Diag> {
    c.skip_space();
    let start = c.offset();
    let word = c.take_while(is_number_byte);
    let value: i128 = match (word, ty) {
        ("true", ElementType::Pred) => 1,
        ("false", ElementType::Pred) => 0,
        _ => match word.parse() {
            Ok(v) => v,
            Err(_) => {
                c.rewind(start);
                return Err(c.expected(&format!("an element of type {ty}")));
            }
        },
    };
    let bits = ty.bit_width();
    let (low, high) = match ty {
        // XLA reads a negative number as the bits of a u64.
        ElementType::U64 => (i128::from(i64::MIN), i128::from(u64::MAX)),
        _ if ty.is_signed_integer() => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    };
    if value < low || value > high {
        return Err(Diag::error(format!("{word} is out of range for {ty}")).at(
            c.since(start),
            format!("{ty} holds {} to {high}", if ty.is_signed_integer() { low } else { 0 }),
        ));
    }
    out.extend_from_slice(&value.to_le_bytes()[..ty.byte_size()]);
    Ok(())
}

/// A float of type `ty`, read as `f64` and rounded to `ty`, as XLA does.
fn read_float(c: &mut Cursor<'_>, ty: ElementType, out: &mut Vec<u8>) -> Result<(), Diag> {
    c.skip_space();
    let start = c.offset();
    let word = c.take_while(is_number_byte);
    let (negative, magnitude) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    let value = match magnitude.as_bytes().first() {
        Some(b'0'..=b'9' | b'.') => magnitude.parse::<f64>().ok(),
        _ if magnitude == "inf" => Some(f64::INFINITY),
        _ if magnitude == "nan" => return read_nan(c, ty, negative, start, out),
        _ => None,
    };
    let Some(value) = value else {
        c.rewind(start);
        return Err(c.expected(&format!("an element of type {ty}")));
    };
    let value = if negative { -value } else { value };
    let (fits, bytes) = encode(ty, value);
    let infinity = magnitude == "inf" && has_infinity(ty);
    if !(fits || infinity) {
        return Err(Diag::error(format!("{} is out of range for {ty}", shorten(word))).at(c.since(start), ""));
    }
    out.extend_from_slice(&bytes[..ty.byte_size()]);
    Ok(())
}

fn shorten(word: &str) -> &str {
    word.get(..40).unwrap_or(word)
}

/// The bytes of `value` rounded to `ty`, and whether the result is finite and not lost.
fn encode(ty: ElementType, value: f64) -> (bool, [u8; 8]) {
    let mut bytes = [0; 8];
    let fits = match ty {
        ElementType::F64 => {
            bytes = value.to_le_bytes();
            value.is_finite()
        }
        ElementType::F32 => {
            bytes[..4].copy_from_slice(&(value as f32).to_le_bytes());
            (value as f32).is_finite()
        }
        _ => match FloatFormat::of(ty) {
            Some(format) => {
                bytes = format.encode(value).to_le_bytes();
                // What has no infinity saturates; what has no sign or zero loses them.
                value.is_finite() && format.in_range(value)
            }
            None => false,
        },
    };
    (fits, bytes)
}

fn has_infinity(ty: ElementType) -> bool {
    FloatFormat::of(ty).is_none_or(|f| f.has_infinity())
}

/// The number of mantissa bits and the total of a type whose NaNs carry a payload.
fn payload_bits(ty: ElementType) -> Option<(u32, u32)> {
    FloatFormat::of(ty).filter(FloatFormat::has_infinity).map(|f| (f.mantissa_bits, ty.bit_width()))
}

/// Reads what may follow `nan`: a payload such as `(0x7f)`.
fn read_nan(
    c: &mut Cursor<'_>,
    ty: ElementType,
    negative: bool,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), Diag> {
    let payload = if c.byte() == b'(' {
        c.expect(b'(')?;
        let digits = c.take_while(|b| b.is_ascii_alphanumeric());
        let value = digits.strip_prefix("0x").and_then(|d| u64::from_str_radix(d, 16).ok());
        c.expect(b')')?;
        match value {
            Some(v) => Some(v),
            None => {
                return Err(Diag::error("a NaN's payload is a hexadecimal number such as `nan(0x7f)`")
                    .at(c.since(start), ""));
            }
        }
    } else {
        None
    };
    let bits = match (payload_bits(ty), payload) {
        (Some((mantissa, width)), payload) => {
            let payload = payload.unwrap_or(1 << (mantissa - 1));
            if payload == 0 || payload >> mantissa != 0 {
                return Err(Diag::error(format!("the NaN's payload is out of range for {ty}"))
                    .at(c.since(start), format!("it must be from 1 to 0x{:x}", (1u64 << mantissa) - 1)));
            }
            let exponent = ((1u64 << (width - 1 - mantissa)) - 1) << mantissa;
            u64::from(negative) << (width - 1) | exponent | payload
        }
        (None, Some(_)) => {
            return Err(Diag::error(format!("a NaN of type {ty} has no payload")).at(c.since(start), ""));
        }
        (None, None) => match FloatFormat::of(ty).filter(FloatFormat::has_nan) {
            Some(format) => format.nan(negative),
            None => return Err(Diag::error(format!("{ty} has no NaN")).at(c.since(start), "")),
        },
    };
    out.extend_from_slice(&bits.to_le_bytes()[..ty.byte_size()]);
    Ok(())
}
