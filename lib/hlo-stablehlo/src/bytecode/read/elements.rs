//! The elements of arrays, and numbers.

use super::pool::Decoder;
use crate::bytecode::fault::Result;
use crate::bytecode::types::{element_bytes, is_truth_value};
use crate::tree::{Attribute, Elements, FloatType, Number, Type, TypeKind};
use hlo_ir::AlignedBytes;
use std::sync::Arc;

/// An array's elements from their bytes.
pub(super) fn elements(decoder: &Decoder<'_, '_>, ty: Type, data: &[u8]) -> Result<Attribute> {
    let Some(tensor) = ty.as_tensor() else { return Err(decoder.fault("the elements of what is no array")) };
    let Some(count) = tensor.count() else {
        return Err(decoder.fault("the elements of an array whose sizes are not known"));
    };
    let Some(size) = element_bytes(&tensor.element).filter(|&n| n > 0) else {
        return Err(decoder.fault("the elements of an array of another type than numbers"));
    };
    let one = |bytes: &[u8], is_splat| Elements {
        ty: ty.clone(),
        bytes: Arc::new(AlignedBytes::from_slice(bytes)),
        is_splat,
    };
    let packed = count.div_ceil(8);
    let all = if count == 0 {
        one(&[], false)
    } else if is_truth_value(&tensor.element) && data == [0xff] {
        // All ones stands for an array of `true`, whatever its size.
        one(&[1], count > 1)
    } else if is_truth_value(&tensor.element) && data.len() == packed && packed != count {
        let mut bytes = AlignedBytes::zeroed(count);
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = data[at / 8] >> (at % 8) & 1;
        }
        Elements { ty: ty.clone(), bytes: Arc::new(bytes), is_splat: false }
    } else if Some(data.len()) == count.checked_mul(size) {
        one(data, false)
    } else if data.len() == size {
        one(data, true)
    } else {
        let message = format!("{count} elements of {size} bytes each are given {} bytes", data.len());
        return Err(decoder.fault(message));
    };
    Ok(Attribute::Elements(Arc::new(if is_truth_value(&tensor.element) { truth_values(all) } else { all })))
}

/// The same with truth values 0 and 1.
fn truth_values(mut elements: Elements) -> Elements {
    if elements.bytes.iter().any(|&b| b > 1) {
        let bytes: Vec<u8> = elements.bytes.iter().map(|&b| u8::from(b != 0)).collect();
        elements.bytes = Arc::new(AlignedBytes::from_slice(&bytes));
    }
    elements
}

/// The bits of a number, the higher ones 0: a byte if it has up to 8, a number with a sign if it has up to 64, and words
/// of 64 bits after their count otherwise.
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

/// An integer of a type.
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

/// A floating-point number of a type.
pub(super) fn float(decoder: &mut Decoder<'_, '_>, ty: Type) -> Result<Attribute> {
    match &*ty {
        TypeKind::Float(float) if float.bits() <= 64 => {
            let bits = number_bits(decoder, float.bits())? as u64;
            Ok(Attribute::Float(Number { bits, ty }))
        }
        _ => Err(decoder.fault("a floating-point number of a type that has none, or of more than 64 bits")),
    }
}

/// A floating-point number of 64 bits.
pub(super) fn double(decoder: &mut Decoder<'_, '_>) -> Result<u64> {
    Ok(number_bits(decoder, FloatType::F64.bits())? as u64)
}
