//! The elements of arrays, and single numbers.

use super::pool::Decoder;
use crate::bytecode::fault::Result;
use crate::bytecode::types::{element_bytes, is_truth_value};
use crate::tree::{Attribute, Elements, FloatType, Number, Type, TypeKind};
use hlo_ir::AlignedBytes;
use std::sync::Arc;

/// Reads the elements of an array from their bytes.
pub(super) fn elements(decoder: &Decoder<'_, '_>, ty: Type, data: &[u8]) -> Result<Attribute> {
    let Some(tensor) = ty.as_tensor() else { return Err(decoder.fault("the elements of what is no array")) };
    let Some(count) = tensor.count() else {
        return Err(decoder.fault("the elements of an array whose sizes are not known"));
    };
    let Some(size) = element_bytes(&tensor.element).filter(|&n| n > 0) else {
        return Err(decoder.fault("the elements of an array of another type than numbers"));
    };
    let bytes = if count == 0 {
        AlignedBytes::default()
    } else if is_truth_value(&tensor.element) {
        truth_values(data, count).ok_or_else(|| decoder.fault(too_many(count, size, data)))?
    } else if Some(data.len()) == count.checked_mul(size) || data.len() == size {
        AlignedBytes::from_slice(data)
    } else {
        return Err(decoder.fault(too_many(count, size, data)));
    };
    let is_splat = bytes.len() == size;
    Ok(Attribute::Elements(Arc::new(Elements { ty, bytes: Arc::new(bytes), is_splat })))
}

fn too_many(count: usize, size: usize, data: &[u8]) -> String {
    format!("{count} elements of {size} bytes each are given {} bytes", data.len())
}

/// Converts Booleans to one per byte, or to a single one if all are equal. Returns `None` if `data` has the
/// wrong size.
fn truth_values(data: &[u8], count: usize) -> Option<AlignedBytes> {
    let is_packed = data.len() == count.div_ceil(8) && data.len() != count;
    // The byte 0xff represents an array of `true` of any size.
    let unpacked: Vec<u8> = if data == [0xff] || !is_packed {
        data.iter().map(|&byte| u8::from(byte != 0)).collect()
    } else {
        (0..count).map(|at| data[at / 8] >> (at % 8) & 1).collect()
    };
    match unpacked.first() {
        Some(first) if unpacked.iter().all(|value| value == first) => {
            Some(AlignedBytes::from_slice(&[*first]))
        }
        Some(_) if unpacked.len() == count => Some(AlignedBytes::from_slice(&unpacked)),
        _ => None,
    }
}

/// Reads the bits of a number; the upper bits are 0. A number of up to 8 bits is a byte, one of up to 64 bits
/// is a signed number, and a larger one is a list of 64-bit words after their count.
fn number_bits(decoder: &mut Decoder<'_, '_>, bits: u32) -> Result<u128> {
    let cursor = decoder.cursor();
    let value = match bits {
        0..=8 => u128::from(cursor.byte()?),
        9..=64 => u128::from(cursor.signed()? as u64),
        _ => {
            let words = cursor.count()?;
            if words > 2 {
                return Err(cursor.fault(format!("a number of {words} words; up to 2 are read")));
            }
            let mut value = 0;
            for word in 0..words {
                value |= u128::from(cursor.signed()? as u64) << (64 * word);
            }
            value
        }
    };
    Ok(if bits < 128 { value & ((1 << bits) - 1) } else { value })
}

/// Reads an integer of the given type.
pub(super) fn integer(decoder: &mut Decoder<'_, '_>, ty: Type) -> Result<Attribute> {
    let width = match &*ty {
        TypeKind::Integer(width @ 1..=128, _) => *width,
        TypeKind::Index => 64,
        _ => return Err(decoder.fault("an integer of a type that has none, or of more than 128 bits")),
    };
    let value = number_bits(decoder, width)?;
    Ok(match &*ty {
        TypeKind::Integer(1, crate::tree::Signedness::Signless) => Attribute::Bool(value != 0),
        TypeKind::Integer(_, crate::tree::Signedness::Unsigned) => Attribute::Integer(value as i128, ty),
        _ => {
            let unused = 128 - width;
            Attribute::Integer((value << unused) as i128 >> unused, ty)
        }
    })
}

/// Reads a floating-point number of the given type.
pub(super) fn float(decoder: &mut Decoder<'_, '_>, ty: Type) -> Result<Attribute> {
    match &*ty {
        TypeKind::Float(float) if float.bits() <= 64 => {
            let bits = number_bits(decoder, float.bits())? as u64;
            Ok(Attribute::Float(Number { bits, ty }))
        }
        _ => Err(decoder.fault("a floating-point number of a type that has none, or of more than 64 bits")),
    }
}

/// Reads a 64-bit floating-point number and returns its bits.
pub(super) fn double(decoder: &mut Decoder<'_, '_>) -> Result<u64> {
    Ok(number_bits(decoder, FloatType::F64.bits())? as u64)
}
