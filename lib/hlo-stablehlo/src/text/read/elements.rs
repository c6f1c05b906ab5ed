//! Reading of array elements: `dense<…> : tensor<…>`.

use super::Reader;
use super::attribute::float_bits;
use crate::text::lex::{self, Cursor, Result, error_since};
use crate::tree::{Attribute, Elements, FloatType, TensorType, TypeKind};
use hlo_ir::{AlignedBytes, ElementType};
use std::sync::Arc;

/// The kind of an element in the text.
#[derive(Clone, Copy)]
enum Kind {
    /// An integer with the given number of bits, and whether it can be negative.
    Integer(u32, bool),
    Bool,
    Float(FloatType),
    Complex(FloatType),
}

/// The kind of an element and its size in bytes.
#[derive(Clone, Copy)]
struct Format {
    kind: Kind,
    size: usize,
}

impl<'a> Reader<'a> {
    /// Reads `dense<…> : tensor<…>` or `dense_resource<name> : tensor<…>`.
    pub fn elements(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let is_resource = lex::word(c) == "dense_resource";
        c.expect("<")?;
        let payload = c.offset();
        // Numbers and hexadecimal strings do not contain `>`. Other strings are errors anyway.
        let len = c.rest().find('>').unwrap_or(c.rest().len());
        c.advance(len);
        c.expect(">")?;
        c.expect(":")?;
        let ty_at = c.offset_of_next();
        let ty = self.ty(c)?;
        let Some((tensor, format)) = ty.as_tensor().and_then(|t| Some((t, format_of(t)?))) else {
            let message = "the elements are of no type that is supported here: expected a tensor of numbers";
            return Err(error_since(c, ty_at, message));
        };
        let Some(count) = tensor.count() else {
            return Err(error_since(c, ty_at, "an array whose elements are written has a static shape"));
        };
        let end = c.offset();
        c.rewind(payload);
        let (bytes, is_splat) = if is_resource {
            self.resource(c, count, format)?
        } else {
            let read = Payload { dims: &tensor.dims, count, format }.read(c)?;
            if c.offset_of_next() != payload + len {
                return Err(c.expected("`>`"));
            }
            read
        };
        c.rewind(end);
        let (bytes, is_splat) = shortened(bytes, is_splat, format.size);
        Ok(Attribute::Elements(Arc::new(Elements { ty: ty.clone(), bytes: Arc::new(bytes), is_splat })))
    }

    /// Reads a blob at the end of the file. Its first four bytes are the alignment.
    fn resource(&mut self, c: &mut Cursor<'a>, count: usize, format: Format) -> Result<(AlignedBytes, bool)> {
        let start = c.offset_of_next();
        let name =
            if c.byte() == b'"' { lex::text(c)? } else { lex::suffix(c, "a resource's name")?.to_owned() };
        let Some(blob) = self.resources.get(&*name) else {
            return Err(error_since(c, start, format!("the file has no resource `{name}`")));
        };
        let Ok(bytes) = hex_bytes(&mut Cursor::with_context(blob, 0, lex::Text)) else {
            return Err(error_since(
                c,
                start,
                format!("the resource `{name}` is no string of hexadecimal digits"),
            ));
        };
        let data = bytes.get(4..).unwrap_or_default();
        whole(c, start, data, count, format)
    }
}

/// Returns the format of an array's elements, or `None` if they are not numbers.
fn format_of(tensor: &TensorType) -> Option<Format> {
    let part = |ty: &TypeKind| match ty {
        TypeKind::Float(float) => float.element_type().map(|_| *float),
        _ => None,
    };
    let kind = match &*tensor.element {
        TypeKind::Index => return Some(Format { kind: Kind::Integer(64, true), size: 8 }),
        TypeKind::Complex(of) => Kind::Complex(part(of)?),
        TypeKind::Float(_) => Kind::Float(part(&tensor.element)?),
        TypeKind::Integer(..) => match tensor.element.element_type()? {
            ElementType::Pred => Kind::Bool,
            ty => Kind::Integer(ty.bit_width(), ty.is_signed_integer()),
        },
        _ => return None,
    };
    Some(Format { kind, size: tensor.element.element_type()?.byte_size() })
}

/// The text between the angle brackets.
struct Payload<'t> {
    dims: &'t [i64],
    count: usize,
    format: Format,
}

impl Payload<'_> {
    fn read(&self, c: &mut Cursor<'_>) -> Result<(AlignedBytes, bool)> {
        let start = c.offset_of_next();
        match c.byte() {
            b'"' => {
                let bytes = hex_bytes(c)?;
                return whole(c, start, &bytes, self.count, self.format);
            }
            b'>' if self.count == 0 => return Ok((AlignedBytes::zeroed(0), false)),
            b'[' => {}
            _ => {
                let mut out = AlignedBytes::zeroed(self.format.size);
                self.format.read(c, &mut out)?;
                return Ok((out, true));
            }
        }
        // Each element takes at least one byte of text, so the text bounds the memory to allocate.
        let size = self.count.checked_mul(self.format.size).filter(|_| self.count <= c.rest().len());
        let Some(mut out) = size.and_then(AlignedBytes::try_zeroed) else {
            return Err(error_since(c, start, format!("expected {} elements", self.count)));
        };
        let mut at = 0;
        self.list(c, 0, &mut at, &mut out)?;
        Ok((out, false))
    }

    /// Reads the list along dimension `axis`.
    fn list(&self, c: &mut Cursor<'_>, axis: usize, at: &mut usize, out: &mut [u8]) -> Result<()> {
        let start = c.offset_of_next();
        let Some(&size) = self.dims.get(axis) else {
            return Err(c.expected("an element: the lists nest deeper than the type has dimensions"));
        };
        c.expect("[")?;
        let mut n = 0;
        let is_last = axis + 1 == self.dims.len();
        while c.peek() != b']' {
            if n > 0 {
                c.expect(",")?;
            }
            n += 1;
            if n > size {
                return Err(c.expected(&format!("`]` after {size} items: the type says so")));
            }
            if is_last {
                let Some(element) = out.get_mut(*at..*at + self.format.size) else {
                    return Err(c.expected("no more elements"));
                };
                self.format.read(c, element)?;
                *at += self.format.size;
            } else if c.peek() == b'[' {
                self.list(c, axis + 1, at, out)?;
            } else {
                return Err(c.expected(&format!("a list, for the type has {} dimensions", self.dims.len())));
            }
        }
        if n != size && !(n == 0 && self.count == 0) {
            return Err(error_since(
                c,
                start,
                format!("{size} items are expected in this list, for the type says so; it has {n}"),
            ));
        }
        c.expect("]")
    }
}

/// Returns the elements from their bytes in memory. One element may stand for all.
fn whole(
    c: &Cursor<'_>,
    start: usize,
    bytes: &[u8],
    count: usize,
    format: Format,
) -> Result<(AlignedBytes, bool)> {
    if let Some(bits) = packed_bits(bytes, count).filter(|_| matches!(format.kind, Kind::Bool)) {
        return Ok((AlignedBytes::from_slice(&bits), false));
    }
    let is_splat = bytes.len() == format.size && count > 0;
    if !is_splat && Some(bytes.len()) != count.checked_mul(format.size) {
        let message =
            format!("{} bytes are none of {count} elements of {} bytes each", bytes.len(), format.size);
        return Err(error_since(c, start, message));
    }
    let mut out = AlignedBytes::from_slice(bytes);
    for byte in out.iter_mut() {
        *byte = match format.kind {
            Kind::Bool => u8::from(*byte != 0),
            Kind::Integer(bits @ ..8, true) => (((*byte << (8 - bits)) as i8) >> (8 - bits)) as u8,
            Kind::Integer(bits @ ..8, false) => *byte & ((1 << bits) - 1),
            Kind::Float(float) if float.bits() < 8 => *byte & ((1 << float.bits()) - 1),
            _ => break,
        };
    }
    Ok((out, is_splat))
}

/// Returns the Booleans in packed bytes, the first one in the lowest bit. Older MLIR wrote eight Booleans per
/// byte. Returns `None` if the bytes have another form. A single byte of equal bits stands for all elements.
fn packed_bits(bytes: &[u8], count: usize) -> Option<Vec<u8>> {
    let is_splat = matches!(bytes, [0 | 1 | 0xff]);
    if count < 2 || is_splat || bytes.len() != count.div_ceil(8) {
        return None;
    }
    Some((0..count).map(|at| bytes[at / 8] >> (at % 8) & 1).collect())
}

/// Converts equal elements to a splat.
fn shortened(bytes: AlignedBytes, is_splat: bool, size: usize) -> (AlignedBytes, bool) {
    let first = bytes.get(..size).unwrap_or_default();
    if is_splat || first.is_empty() || bytes.chunks_exact(size).any(|element| element != first) {
        return (bytes, is_splat);
    }
    (AlignedBytes::from_slice(first), true)
}

/// Reads the bytes of `"0x…"`.
fn hex_bytes(c: &mut Cursor<'_>) -> Result<Vec<u8>> {
    let start = c.offset_of_next();
    c.expect("\"")?;
    let text = c.rest();
    let len = text.find('"').unwrap_or(text.len());
    c.advance(len);
    c.expect("\"")?;
    let digits = text[..len].strip_prefix("0x").unwrap_or("_").as_bytes();
    let value = |b: u8| (b as char).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((value(*high)? * 16 + value(*low)?) as u8),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
    bytes.ok_or_else(|| error_since(c, start, "expected a string of pairs of hexadecimal digits, `\"0x…\"`"))
}

impl Format {
    /// Reads one element into the bytes `out`.
    #[inline]
    fn read(self, c: &mut Cursor<'_>, out: &mut [u8]) -> Result<()> {
        match self.kind {
            Kind::Integer(bits, signed) => {
                let value = integer(c, bits, signed)?;
                out.copy_from_slice(&value.to_le_bytes()[..out.len()]);
            }
            Kind::Bool if lex::at_number(c) => out[0] = u8::from(integer(c, 8, false)? != 0),
            Kind::Bool => out[0] = lex::boolean(c)?.into(),
            Kind::Float(ty) => {
                let bits = float(c, ty)?;
                out.copy_from_slice(&bits.to_le_bytes()[..out.len()]);
            }
            Kind::Complex(ty) => {
                let (real, imaginary) = out.split_at_mut(out.len() / 2);
                let part = Self { kind: Kind::Float(ty), size: real.len() };
                c.expect("(")?;
                part.read(c, real)?;
                c.expect(",")?;
                part.read(c, imaginary)?;
                c.expect(")")?;
            }
        }
        Ok(())
    }
}

/// Reads an integer of the given number of bits. Like MLIR, it accepts the bits of a signed integer as well:
/// `200` is -56 in 8 bits.
fn integer(c: &mut Cursor<'_>, bits: u32, signed: bool) -> Result<i64> {
    let start = c.offset_of_next();
    if !signed || lex::at_number(c) {
        let value: i128 = lex::integer(c)?;
        let low = if signed { -(1i128 << (bits - 1)) } else { 0 };
        if value >= low && value < 1i128 << bits {
            let shift = 64 - bits;
            let wide = value as i64;
            return Ok(if signed { (wide << shift) >> shift } else { wide });
        }
        return Err(error_since(c, start, format!("{value} does not fit {bits} bits")));
    }
    match lex::peek_word(c) {
        // MLIR accepts these as numbers, too.
        "true" | "false" => lex::boolean(c).map(i64::from),
        _ => Err(c.expected("an integer")),
    }
}

/// Reads a floating-point number and returns its bits.
#[inline]
fn float(c: &mut Cursor<'_>, ty: FloatType) -> Result<u64> {
    let start = c.offset_of_next();
    let digits = lex::number(c, "a number such as `1.5`")?;
    float_bits(digits, ty).map_err(|message| error_since(c, start, message))
}
