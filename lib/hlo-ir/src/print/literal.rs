//! Printing of literals.

use super::float::{push_f32, push_f64, push_g, push_integer, push_nan};
use crate::{ArrayShape, ElementType, FloatFormat, Literal, Shape, Special};
use std::fmt;
use std::io::Write as _;

/// Maximum size in bytes of the text that is collected before it is passed to the writer.
const CHUNK: usize = 1 << 16;

/// Maximum number of braces in the text of an array without elements. Larger ones are printed as `{...}`,
/// which loses no information.
const MAX_EMPTY_BRACES: i64 = 1000;

/// Returns the literal's shape, then its value. Arrays with more than `max_elements` elements show the first
/// ones of each dimension, then `...`.
pub fn print_literal(literal: &Literal, max_elements: Option<usize>) -> String {
    let mut out = literal.shape().to_string();
    out.push(' ');
    // Writing to a string does not fail.
    let _ = write_value(&mut out, literal, max_elements);
    out
}

/// Writes the value without its shape: `1`, `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`, `( 1, {2} )`.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_value(out: &mut dyn fmt::Write, literal: &Literal, max_elements: Option<usize>) -> fmt::Result {
    match literal.shape() {
        Shape::Array(array) if array.element_count() == 0 && !has_few_braces(array) => out.write_str("{...}"),
        Shape::Array(array) => {
            let shown = match max_elements {
                Some(max) if array.element_count() > max => shown_per_dimension(array, max),
                _ => i64::MAX,
            };
            let elements = Elements::new(literal, array);
            ArrayWriter { out, text: Vec::new(), array, elements, shown, at: 0 }.run()
        }
        Shape::Tuple(_) => {
            out.write_str("( ")?;
            for (i, element) in literal.tuple_elements().iter().enumerate() {
                if i > 0 {
                    out.write_str(", ")?;
                }
                write_value(out, element, max_elements)?;
            }
            out.write_str(" )")
        }
        Shape::Token => out.write_str("token"),
        Shape::Opaque | Shape::Buffer(_) => out.write_str("opaque"),
    }
}

/// Returns whether the text of an array without elements has at most `MAX_EMPTY_BRACES` braces.
fn has_few_braces(array: &ArrayShape) -> bool {
    // The sum over all dimensions.
    let mut rows = 1i64;
    let mut braces = 0i64;
    for &size in &array.dims {
        braces = braces.saturating_add(rows);
        rows = rows.saturating_mul(size.max(0));
    }
    braces <= MAX_EMPTY_BRACES
}

/// Returns the number of entries per dimension to show, so that about `max` elements are shown.
fn shown_per_dimension(array: &ArrayShape, max: usize) -> i64 {
    let rank = array.rank().max(1) as u32;
    let mut shown = 1usize;
    while shown < max && (shown + 1).checked_pow(rank).is_some_and(|n| n <= max) {
        shown += 1;
    }
    shown as i64
}

struct ArrayWriter<'a> {
    out: &'a mut dyn fmt::Write,
    /// The text that has not been written to `out` yet.
    text: Vec<u8>,
    array: &'a ArrayShape,
    elements: Elements<'a>,
    /// The number of entries to show per dimension.
    shown: i64,
    /// The row-major index of the next element.
    at: usize,
}

impl ArrayWriter<'_> {
    fn run(mut self) -> fmt::Result {
        let rank = self.array.rank();
        if rank == 0 {
            self.elements.push(&mut self.text, 0);
            return self.flush();
        }
        // The number of entries written in each open brace. A stack instead of recursion, because the rank is
        // unlimited.
        let mut counts: Vec<i64> = vec![0];
        self.open(0, 0);
        while let Some(&count) = counts.last() {
            let level = counts.len() - 1;
            if level + 1 == rank {
                self.row()?;
            } else if count < self.array.dims[level] {
                if count > 0 {
                    self.text.extend_from_slice(b", ");
                }
                if count < self.shown {
                    self.open(level + 1, count);
                    counts[level] += 1;
                    counts.push(0);
                    continue;
                }
                self.text.extend_from_slice(b"...");
                let inner: i64 = self.array.dims[level + 1..].iter().product();
                self.at += ((self.array.dims[level] - count) * inner) as usize;
            }
            counts.pop();
            self.close(level);
        }
        self.flush()
    }

    /// Writes the collected text to `out`.
    fn flush(&mut self) -> fmt::Result {
        self.out.write_str(std::str::from_utf8(&self.text).map_err(|_| fmt::Error)?)?;
        self.text.clear();
        Ok(())
    }

    /// Writes the brace before entry `index` of the dimension above `level`. XLA numbers these entries for
    /// ranks of 4 and more.
    fn open(&mut self, level: usize, index: i64) {
        let rank = self.array.rank();
        self.text.push(b'{');
        if rank >= 4 && level > 0 && level + 1 < rank {
            // Writing to memory does not fail.
            let _ = write!(self.text, " /*i{}={index}*/", level - 1);
        }
        if self.has_blanks(level) {
            self.text.push(b' ');
        }
    }

    fn close(&mut self, level: usize) {
        // In XLA's format, an empty brace with a number has one blank, but `{  }` has two.
        let numbered_and_empty = self.text.ends_with(b"*/ ");
        if self.has_blanks(level) && !numbered_and_empty {
            self.text.push(b' ');
        }
        self.text.push(b'}');
    }

    /// Returns whether there are blanks inside the braces. XLA omits them for vectors and for rows of fewer
    /// than two elements.
    fn has_blanks(&self, level: usize) -> bool {
        let rank = self.array.rank();
        level + 1 < rank || (rank > 1 && self.array.dims[level] > 1)
    }

    /// Writes the elements of the innermost dimension.
    fn row(&mut self) -> fmt::Result {
        let size = self.array.dims.last().copied().unwrap_or(0);
        for i in 0..size.min(self.shown) {
            if i > 0 {
                self.text.extend_from_slice(b", ");
            }
            self.elements.push(&mut self.text, self.at + i as usize);
            if self.text.len() > CHUNK {
                self.flush()?;
            }
        }
        if size > self.shown {
            self.text.extend_from_slice(b", ...");
        }
        self.at += size as usize;
        Ok(())
    }
}

/// The elements of an array and their text format.
struct Elements<'a> {
    bytes: &'a [u8],
    size: usize,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A scalar predicate, printed as `true` or `false`.
    PredScalar,
    Unsigned,
    Signed,
    F32,
    F64,
    C64,
    C128,
    /// A narrow float, with the number of digits that distinguishes all its values.
    Narrow(FloatFormat, usize),
}

impl<'a> Elements<'a> {
    fn new(literal: &'a Literal, array: &ArrayShape) -> Self {
        let ty = array.element_type;
        let kind = match (ty, FloatFormat::of(ty)) {
            (ElementType::Pred, _) if array.rank() == 0 => Kind::PredScalar,
            (ElementType::F32, _) => Kind::F32,
            (ElementType::F64, _) => Kind::F64,
            (ElementType::C64, _) => Kind::C64,
            (ElementType::C128, _) => Kind::C128,
            (_, Some(format)) => Kind::Narrow(format, max_digits10(format)),
            _ if ty.is_signed_integer() => Kind::Signed,
            _ => Kind::Unsigned,
        };
        Self { bytes: literal.bytes(), size: ty.byte_size(), kind }
    }

    /// Returns the bits of the part of `size` bytes at `index`, zero-extended; 0 if it is out of range.
    #[inline]
    fn bits(&self, index: usize, size: usize) -> u64 {
        let mut wide = [0; 8];
        if let Some(bytes) = self.bytes.get(index * size..(index + 1) * size) {
            wide[..size].copy_from_slice(bytes);
        }
        u64::from_le_bytes(wide)
    }

    /// Appends the element at the row-major index `at`.
    #[inline]
    fn push(&self, out: &mut Vec<u8>, at: usize) {
        match self.kind {
            Kind::PredScalar => {
                out.extend_from_slice(if self.bits(at, 1) == 1 { &b"true"[..] } else { b"false" })
            }
            Kind::Unsigned => push_integer(out, self.bits(at, self.size)),
            Kind::Signed => {
                let unused = 64 - 8 * self.size as u32;
                let value = (self.bits(at, self.size) << unused) as i64 >> unused;
                if value < 0 {
                    out.push(b'-');
                }
                push_integer(out, value.unsigned_abs());
            }
            Kind::F32 => push_f32(out, f32::from_bits(self.bits(at, 4) as u32)),
            Kind::F64 => push_f64(out, f64::from_bits(self.bits(at, 8))),
            Kind::C64 => {
                let part = |i| f32::from_bits(self.bits(2 * at + i, 4) as u32);
                push_pair(out, |out| push_f32(out, part(0)), |out| push_f32(out, part(1)));
            }
            Kind::C128 => {
                let part = |i| f64::from_bits(self.bits(2 * at + i, 8));
                push_pair(out, |out| push_f64(out, part(0)), |out| push_f64(out, part(1)));
            }
            Kind::Narrow(format, digits) => push_narrow(out, format, digits, self.bits(at, self.size)),
        }
    }
}

fn push_pair(out: &mut Vec<u8>, re: impl FnOnce(&mut Vec<u8>), im: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'(');
    re(out);
    out.extend_from_slice(b", ");
    im(out);
    out.push(b')');
}

/// Returns C++'s `max_digits10`: 1 + digits · log10(2), rounded up. The digits include the implicit one.
fn max_digits10(format: FloatFormat) -> usize {
    match format.mantissa_bits + 1 {
        0..=3 => 2,
        4..=6 => 3,
        7..=9 => 4,
        _ => 5,
    }
}

fn push_narrow(out: &mut Vec<u8>, format: FloatFormat, digits: usize, bits: u64) {
    let value = format.decode(bits);
    if !value.is_nan() {
        return push_g(out, value, digits);
    }
    if format.special == Special::Ieee {
        return push_nan(out, bits, format.mantissa_bits, 1 + format.exponent_bits + format.mantissa_bits);
    }
    // The only NaN of a `fnuz` type has the bits of the negative zero.
    let negative = value.is_sign_negative() || format.special == Special::Fnuz;
    out.extend_from_slice(if negative { &b"-nan"[..] } else { b"nan" });
}
