//! Arrays in numpy's `.npy` format.
//!
//! A file consists of a magic number, a version, the length of the header, the header, and the elements. The
//! header is a Python dictionary with the element type `descr`, `fortran_order` and `shape`. The grammar of
//! the header is small and fixed. A loop parses it, so a hostile header cannot cause deep recursion.
//!
//! This module does not use the crate `npyz` (0.8). That crate reserves the size that a file of twelve bytes
//! requests, up to 4 GiB, before it reads. It returns elements as Rust types, which do not include the raw
//! bits below. It would only be useful for the dictionary, for which it depends on a parser of Python
//! literals and on large integers.
//!
//! Types that numpy does not have (`bf16`, `f8e4m3fn`, `s4`, …) are stored as raw bits. The stored type is an
//! unsigned integer or numpy's `V` type of the same size. (ml_dtypes writes `V`.) Sub-byte types use one byte
//! for each element, with the value in the low bits. Files in Fortran order and big-endian files are read
//! with the values that numpy sees, whatever the requested layout.

use crate::mapped::FileBytes;
use hlo_ir::laid_out::for_each_element;
use hlo_ir::{AlignedBytes, ArrayShape, Dims, ElementType, Layout, Literal, Shape};
use std::borrow::Cow;
use std::fmt;
use std::io::{Read, Write};
use std::ops::Range;

/// Maximum length of a header in bytes. The limit of numpy is 10,000 bytes.
const MAX_HEADER: usize = 1 << 16;

/// A numpy element type: `descr` without the byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dtype {
    /// numpy's kind: `b`, `i`, `u`, `f`, `c` or `V`.
    pub kind: char,
    /// The size of an element in bytes.
    pub size: usize,
}

impl Dtype {
    /// Returns the type that stores elements of an HLO type.
    pub fn of(ty: ElementType) -> Self {
        Self { kind: native_kind(ty).unwrap_or('u'), size: ty.byte_size() }
    }

    /// Whether an array of this type can store elements of the HLO type.
    fn can_store(self, ty: ElementType) -> bool {
        let kind_fits = match native_kind(ty) {
            Some(kind) => kind == self.kind,
            None => match self.kind {
                'u' | 'V' => true,
                'i' => ty.is_integer(),
                // ml_dtypes uses this kind for float8_e5m2.
                'f' => ty == ElementType::F8E5M2,
                _ => false,
            },
        };
        kind_fits && self.size == ty.byte_size()
    }
}

impl fmt::Display for Dtype {
    /// Prints numpy's name, such as `float32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            'b' => return f.write_str("bool"),
            'i' => "int",
            'u' => "uint",
            'f' => "float",
            'c' => "complex",
            _ => return write!(f, "{}{}", self.kind, self.size),
        };
        write!(f, "{name}{}", self.size.saturating_mul(8))
    }
}

/// Returns numpy's kind for the HLO types that numpy has.
fn native_kind(ty: ElementType) -> Option<char> {
    use ElementType::*;
    match ty {
        Pred => Some('b'),
        S8 | S16 | S32 | S64 => Some('i'),
        U8 | U16 | U32 | U64 => Some('u'),
        F16 | F32 | F64 => Some('f'),
        C64 | C128 => Some('c'),
        S1 | S2 | S4 | U1 | U2 | U4 | Bf16 | F8E5M2 | F8E4M3 | F8E4M3Fn | F8E4M3B11Fnuz | F8E3M4
        | F8E5M2Fnuz | F8E4M3Fnuz | F8E8M0Fnu | F4E2M1Fn | F6E3M2Fn | F6E2M3Fn => None,
    }
}

/// Returns the HLO type of numpy's elements with a kind and a size, and whether the same type also stores HLO
/// types that numpy does not have.
fn element_type(dtype: Dtype) -> Option<(ElementType, bool)> {
    let all = ElementType::ALL.iter().copied();
    let native = all.clone().find(|&ty| Dtype::of(ty) == dtype && native_kind(ty).is_some());
    let ty = native.or_else(|| all.clone().find(|&ty| dtype.can_store(ty)))?;
    let is_raw = all.clone().any(|other| native_kind(other).is_none() && dtype.can_store(other));
    Some((ty, is_raw))
}

/// The contents of a `.npy` header.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The element type.
    pub dtype: Dtype,
    /// Whether the elements are big-endian.
    pub big_endian: bool,
    /// Whether the first dimension varies fastest.
    pub fortran_order: bool,
    /// The dimension sizes.
    pub dims: Vec<u64>,
}

impl Header {
    /// Reads a header, up to the first element.
    ///
    /// # Errors
    /// Returns an error if the file does not begin like a `.npy` file of a known version, or if its header is
    /// truncated, too long or invalid. Also returns an error if it contains structured arrays or Python
    /// objects.
    pub fn read(from: &mut impl Read) -> Result<Self, String> {
        let mut start = [0u8; 8];
        from.read_exact(&mut start).map_err(|_| "not a .npy file: too short".to_string())?;
        if start[..6] != *b"\x93NUMPY" {
            return Err("not a .npy file".to_string());
        }
        let cut = |_| "the .npy header is cut off".to_string();
        let length = match start[6] {
            1 => {
                let mut bytes = [0u8; 2];
                from.read_exact(&mut bytes).map_err(cut)?;
                usize::from(u16::from_le_bytes(bytes))
            }
            2 | 3 => {
                let mut bytes = [0u8; 4];
                from.read_exact(&mut bytes).map_err(cut)?;
                u32::from_le_bytes(bytes) as usize
            }
            version => return Err(format!("unknown .npy version {version}")),
        };
        if length > MAX_HEADER {
            return Err(format!("the .npy header is {length} bytes long"));
        }
        let mut text = vec![0; length];
        from.read_exact(&mut text).map_err(cut)?;
        let text = std::str::from_utf8(&text).map_err(|_| "the .npy header is not text".to_string())?;
        parse_header(text).ok_or_else(|| format!("can't read the .npy header: {}", text.trim()))?
    }

    /// Returns the shape of the array, and whether its elements may be of another type of the same size.
    /// Returns `None` if HLO does not support such elements or sizes.
    pub fn shape(&self) -> Option<(ArrayShape, bool)> {
        let (ty, is_raw) = element_type(self.dtype)?;
        Some((ArrayShape::new(ty, self.sizes()?), is_raw))
    }

    fn matches(&self, shape: &ArrayShape) -> bool {
        self.dtype.can_store(shape.element_type)
            && self.sizes().is_some_and(|sizes| shape.accepts_sizes(&sizes))
    }

    fn sizes(&self) -> Option<Dims> {
        self.dims.iter().map(|&d| i64::try_from(d).ok()).collect()
    }
}

impl fmt::Display for Header {
    /// Prints the type and the sizes, such as `float32[2,3]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.dims.iter().map(u64::to_string).collect();
        write!(f, "{}[{}]", self.dtype, dims.join(","))
    }
}

/// Parses a header. Returns `None` if the text is invalid, and an error if the header is valid but not
/// supported.
fn parse_header(text: &str) -> Option<Result<Header, String>> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let (mut descr, mut order, mut dims) = (None, None, None);
    while !rest.is_empty() {
        let (key, after) = quoted(rest)?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let after = match key {
            "descr" if after.starts_with('[') => {
                return Some(Err("structured arrays are not supported".to_string()));
            }
            "descr" => {
                let (value, after) = quoted(after)?;
                descr = Some(value);
                after
            }
            "fortran_order" => {
                let (value, after) = match after.strip_prefix("True") {
                    Some(after) => (true, after),
                    None => (false, after.strip_prefix("False")?),
                };
                order = Some(value);
                after
            }
            "shape" => {
                let (inside, after) = after.strip_prefix('(')?.split_once(')')?;
                let mut sizes = Vec::new();
                for size in inside.split(',').map(str::trim).filter(|s| !s.is_empty()) {
                    sizes.push(size.trim_end_matches('L').parse().ok()?);
                }
                dims = Some(sizes);
                after
            }
            _ => return None,
        };
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if after.is_empty() => after,
            None => return None,
        };
    }
    let descr = descr?;
    let (big_endian, type_text) = match descr.chars().next()? {
        '<' | '|' | '=' => (false, &descr[1..]),
        '>' => (true, &descr[1..]),
        _ => (false, descr),
    };
    let kind = type_text.chars().next()?;
    if kind == 'O' {
        return Some(Err("arrays of Python objects are not supported".to_string()));
    }
    let size = type_text[kind.len_utf8()..].parse().ok()?;
    let dtype = Dtype { kind: if kind == '?' { 'b' } else { kind }, size };
    Some(Ok(Header { dtype, big_endian, fortran_order: order?, dims: dims? }))
}

/// Splits off a quoted string without escapes. Returns the string and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// Reads an array, which must have the given shape. The layout does not matter. A bounded dynamic dimension
/// accepts any size up to its bound; the result has a static shape with the sizes of the file. The header is
/// checked before anything is allocated.
///
/// # Errors
/// Returns the errors of [`Header::read`]. Also returns an error if the array has another type or other
/// sizes, if the file is truncated, or if there is not enough memory for the array.
pub fn read(from: &mut impl Read, shape: &ArrayShape) -> Result<Literal, String> {
    let header = Header::read(from)?;
    let shape = header.shape_for(shape)?;
    let mut bytes = AlignedBytes::try_zeroed(shape.byte_size()).ok_or_else(|| no_memory(&shape))?;
    from.read_exact(&mut bytes).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => too_short(&shape),
        _ => e.to_string(),
    })?;
    header.literal(bytes, shape)
}

/// Like [`read()`], but reads from a part of a file in memory.
///
/// # Errors
/// Returns the errors of [`read()`].
pub fn read_mapped(file: &FileBytes, part: Range<usize>, shape: &ArrayShape) -> Result<Literal, String> {
    let end = part.end;
    let mut rest = file.get(part).ok_or("the file ends before its array begins")?;
    let header = Header::read(&mut rest)?;
    let shape = header.shape_for(shape)?;
    if rest.len() < shape.byte_size() {
        return Err(too_short(&shape));
    }
    let start = end - rest.len();
    let bytes = file.elements(start..start + shape.byte_size()).ok_or_else(|| no_memory(&shape))?;
    header.literal(bytes, shape)
}

fn no_memory(shape: &ArrayShape) -> String {
    format!("there is no memory for {shape}")
}

fn too_short(shape: &ArrayShape) -> String {
    format!("the file ends before the {shape} is complete")
}

impl Header {
    /// Returns the static shape of the file's array, if it is compatible with `shape`.
    fn shape_for(&self, shape: &ArrayShape) -> Result<ArrayShape, String> {
        let ty = shape.element_type;
        match self.sizes().filter(|_| self.matches(shape)) {
            Some(sizes) => Ok(shape.with_sizes(&sizes)),
            None if !self.dtype.can_store(ty) && native_kind(ty).is_none() => Err(format!(
                "{shape} is expected, the file has {self} ({ty} is read from its raw bits as {})",
                Dtype::of(ty)
            )),
            None => Err(format!("{shape} is expected, the file has {self}")),
        }
    }

    /// Returns the literal with the elements of a file.
    fn literal(&self, mut bytes: AlignedBytes, shape: ArrayShape) -> Result<Literal, String> {
        let ty = shape.element_type;
        if self.big_endian {
            // The two parts of a complex number are separate numbers.
            for number in bytes.chunks_exact_mut(ty.real_type().byte_size()) {
                number.reverse();
            }
        }
        if self.fortran_order && shape.rank() > 1 {
            let mut row_major = AlignedBytes::try_zeroed(bytes.len()).ok_or_else(|| no_memory(&shape))?;
            let first_fastest = Layout::new(0..shape.rank() as u32);
            let column_major = ArrayShape { layout: Some(first_fastest), ..shape.clone() };
            for_each_element(&column_major, |to, from, size| {
                row_major[to..to + size].copy_from_slice(&bytes[from..from + size]);
            });
            bytes = row_major;
        }
        normalize(&mut bytes, ty);
        Ok(Literal::from_bytes(Shape::Array(ArrayShape { layout: None, ..shape }), bytes))
    }
}

/// Normalizes elements as in literals: `pred` is 0 or 1, sub-byte types are sign- or zero-extended. If all
/// elements are already normalized, as in almost all files, nothing is written, so that mapped bytes need no
/// copy.
pub(crate) fn normalize(bytes: &mut AlignedBytes, ty: ElementType) {
    let unused = 8u32.saturating_sub(ty.bit_width());
    let normal = |b: u8| {
        if ty.is_pred() {
            u8::from(b != 0)
        } else if ty.is_signed_integer() {
            ((b << unused) as i8 >> unused) as u8
        } else {
            b << unused >> unused
        }
    };
    if unused > 0 && bytes.iter().any(|&b| b != normal(b)) {
        bytes.iter_mut().for_each(|b| *b = normal(*b));
    }
}

/// Writes an array literal. A token is written as an empty array of bytes.
///
/// # Errors
/// Returns the errors of `to`, or an error if the array has too many dimensions for the header.
pub fn write(to: &mut impl Write, literal: &Literal) -> std::io::Result<()> {
    let token = ArrayShape::new(ElementType::U8, [0]);
    let shape = literal.shape().as_array().unwrap_or(&token);
    let dtype = Dtype::of(shape.element_type);
    let order = if dtype.size == 1 { '|' } else { '<' };
    let dims: String = shape.dims.iter().map(|d| format!("{d}, ")).collect();
    let dims = if shape.rank() == 1 { dims.trim_end() } else { dims.trim_end_matches(", ") };
    let mut header = format!(
        "{{'descr': '{order}{}{}', 'fortran_order': False, 'shape': ({dims}), }}",
        dtype.kind, dtype.size
    );
    // The elements begin at a multiple of 64 bytes, so that the file can be mapped into memory.
    let unpadded = 10 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    to.write_all(b"\x93NUMPY\x01\x00")?;
    // The parser limits the rank of a shape, far below the capacity of 16 bits.
    let length = u16::try_from(header.len())
        .map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidInput, "too many dimensions for .npy"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(header.as_bytes())?;
    to.write_all(&raw(literal.bytes(), shape.element_type))
}

/// Returns elements as stored in files: for sub-byte types, only the bits of the value.
pub(crate) fn raw(elements: &[u8], ty: ElementType) -> Cow<'_, [u8]> {
    if ty.bit_width() >= 8 || ty.is_pred() {
        return elements.into();
    }
    let mask = (1u8 << ty.bit_width()) - 1;
    elements.iter().map(|b| b & mask).collect::<Vec<u8>>().into()
}

#[cfg(test)]
mod tests;
