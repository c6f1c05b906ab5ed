//! Named tensors in files of the format safetensors.
//!
//! A file consists of the length of the header, the header, and the elements. The header is JSON with the
//! element type, sizes and byte range of each tensor. The elements are row-major and little-endian, one
//! tensor after the other without gaps.
//!
//! This module does not use the crate `safetensors` (0.8). That crate silently drops all but the last of
//! several tensors with the same name. Offsets near 2^64 overflow its sums, which panics if overflow is
//! checked. Its errors do not name the tensor and the problem. Since `serde_json` parses the header, little
//! code is needed here.
//!
//! Types that the format does not have or that it packs (`f8e4m3`, `s4`, `f4e2m1fn`, …) are written as raw
//! bits of type `U8`. As in `.npy` files, each element takes one byte, with the value in the low bits.
//! Tensors of type `F4` can be read. They have two elements in a byte, the first in the low bits, as in
//! PyTorch.

mod dtype;
mod header;

pub use dtype::Dtype;
pub use header::Tensor;

use crate::mapped::FileBytes;
use crate::npy::{self, normalize};
use hlo_ir::{AlignedBytes, ArrayShape, Dims, ElementType, Layout, LayoutItems, Literal, Packing};
use std::io::{self, Write};

/// The tensors of a file.
#[derive(Clone, Debug)]
pub struct Safetensors {
    file: FileBytes,
    tensors: Vec<Tensor>,
}

impl Safetensors {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// Returns an error in these cases:
    /// - The file is truncated or longer than its tensors.
    /// - The header is not a JSON object of tensors, or names a tensor twice.
    /// - The type of a tensor is unknown, or its sizes do not match its number of bytes.
    /// - The bytes of a tensor are outside the file or belong to another tensor.
    pub fn new(file: FileBytes) -> Result<Self, String> {
        let tensors = header::read(&file)?;
        Ok(Self { file, tensors })
    }

    /// Whether a file that starts with these bytes has a header at the position where such files have it.
    pub fn is_start(bytes: &[u8]) -> bool {
        bytes.get(8) == Some(&b'{')
    }

    /// Returns the tensors, in the order of their elements in the file.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// Reads a tensor of this file, which must have the given shape. The layout does not matter. A bounded
    /// dynamic dimension accepts any size up to its bound; the result has a static shape with the sizes of
    /// the file.
    ///
    /// # Errors
    /// Returns an error if the tensor has another type or other sizes, or if there is not enough memory.
    /// Elements of 6 bits are an error, because the format does not define their packing.
    pub fn read(&self, tensor: &Tensor, shape: &ArrayShape) -> Result<Literal, String> {
        let ty = shape.element_type;
        if tensor.dtype.bits() == 6 && tensor.dtype.can_store(ty) {
            return Err(format!("how {} is packed is not defined: {ty} is read from U8", tensor.dtype));
        }
        let sizes: Option<Dims> = tensor.dims.iter().map(|&size| i64::try_from(size).ok()).collect();
        let sizes = sizes.filter(|sizes| tensor.dtype.can_store(ty) && shape.accepts_sizes(sizes));
        let Some(sizes) = sizes else {
            let mut message = format!("{shape} is expected, the file has {tensor}");
            if dtype::is_raw(ty) && !tensor.dtype.can_store(ty) {
                message.push_str(&format!(" ({ty} is read from its raw bits as U8)"));
            }
            return Err(message);
        };
        let shape = ArrayShape { layout: None, ..shape.with_sizes(&sizes) };
        let no_memory = || format!("there is no memory for {shape}");
        let mut bytes = self.file.elements(tensor.range.clone()).ok_or_else(no_memory)?;
        if tensor.dtype.bits() < 8
            && let Some(packing) = packing(ty)
        {
            let mut elements = AlignedBytes::try_zeroed(shape.byte_size()).ok_or_else(no_memory)?;
            packing.unpack(&bytes, &mut elements);
            bytes = elements;
        }
        normalize(&mut bytes, ty);
        Literal::try_from_bytes(shape.into(), bytes).ok_or_else(|| format!("{tensor} has other bytes"))
    }
}

/// Returns the packing of elements narrower than a byte in a file.
fn packing(ty: ElementType) -> Option<Packing> {
    let items = LayoutItems { element_size_bits: ty.bit_width().into(), ..LayoutItems::default() };
    Packing::of(&ArrayShape::new(ty, [1]).with_layout(Layout::row_major(1).with_items(items)))
}

/// Writes literals as tensors `PREFIX_0`, `PREFIX_1`, …. A token is written as an empty array of bytes.
///
/// # Errors
/// Returns the errors of `to`, or an error for a literal of type `c128`, which the format does not support.
pub fn write(to: &mut impl Write, prefix: &str, literals: &[&Literal]) -> io::Result<()> {
    let token = ArrayShape::new(ElementType::U8, [0]);
    let mut tensors = Vec::with_capacity(literals.len());
    for (number, literal) in literals.iter().enumerate() {
        let shape = literal.shape().as_array().unwrap_or(&token);
        let dtype = Dtype::of(shape.element_type).ok_or_else(|| {
            let message = format!("safetensors has no type for {}", shape.element_type);
            io::Error::new(io::ErrorKind::InvalidInput, message)
        })?;
        tensors.push((number, dtype, shape, *literal));
    }
    // The format does not allow gaps. If the widest elements come first, all elements are aligned.
    tensors.sort_by_key(|(_, dtype, ..)| std::cmp::Reverse(dtype.element_type.byte_size()));
    let mut header = String::from("{");
    let mut end = 0;
    for (number, dtype, shape, literal) in &tensors {
        let dims: Vec<String> = shape.dims.iter().map(i64::to_string).collect();
        let name = serde_json::Value::from(format!("{prefix}_{number}"));
        let (from, comma) = (end, if header.len() > 1 { "," } else { "" });
        end += literal.bytes().len();
        header.push_str(&format!(
            "{comma}{name}:{{\"dtype\":\"{dtype}\",\"shape\":[{}],\"data_offsets\":[{from},{end}]}}",
            dims.join(",")
        ));
    }
    header.push('}');
    // The elements begin at a multiple of 64 bytes, so that the file can be mapped into memory.
    let unpadded = 8 + header.len();
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    to.write_all(&(header.len() as u64).to_le_bytes())?;
    to.write_all(header.as_bytes())?;
    for (_, _, shape, literal) in tensors {
        to.write_all(&npy::raw(literal.bytes(), shape.element_type))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
