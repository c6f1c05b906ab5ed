//! Encoding of numbers and of array elements.

use super::tables::Token;
use crate::bytecode::fault::{Fault, Result};
use crate::bytecode::types::{element_bytes, is_truth_value};
use crate::tree::{Elements, Number, Type, TypeKind};
use hlo_ir::AlignedBytes;
use std::sync::Arc;

/// Returns the bits of a number in MLIR's encoding: up to 8 bits as a byte, up to 64 bits as a signed number.
fn bits_token(value: u64, bits: u32) -> Token {
    if bits <= 8 { Token::Byte(value as u8) } else { Token::Signed(value as i64) }
}

pub(super) fn float_token(number: &Number) -> Result<Token> {
    match &*number.ty {
        TypeKind::Float(float) if float.bits() <= 64 => Ok(bits_token(number.bits, float.bits())),
        _ => Err(Fault::new("a floating-point number of a type that has none, or of more than 64 bits")),
    }
}

pub(super) fn integer_token(value: i128, ty: &Type) -> Result<Token> {
    let bits = match &**ty {
        TypeKind::Integer(bits @ 1..=64, _) => *bits,
        TypeKind::Index => 64,
        _ => return Err(Fault::new("an integer of a type that has none, or of more than 64 bits")),
    };
    let mask = u64::MAX >> (64 - bits);
    Ok(bits_token(value as u64 & mask, bits))
}

/// Checks whether VHLO stores lists of this type as tensors instead of arrays.
pub(super) fn is_list_of_vhlo(ty: &Type) -> bool {
    *ty == Type::integer(64) || *ty == Type::integer(1)
}

/// Returns a list of numbers as a one-dimensional tensor.
pub(super) fn tensor_of(ty: &Type, values: &[i64]) -> Elements {
    let size = element_bytes(ty).unwrap_or(8);
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(size)).collect();
    Elements {
        ty: Type::tensor([values.len() as i64], ty.clone()),
        bytes: Arc::new(AlignedBytes::from_slice(&bytes)),
        is_splat: false,
    }
}

pub(super) fn array_bytes(ty: &Type, values: &[i64]) -> Result<Arc<AlignedBytes>> {
    match element_bytes(ty) {
        Some(1..=8) => Ok(tensor_of(ty, values).bytes),
        _ => Err(Fault::new("an array of what has no bytes, or more than 8")),
    }
}

/// Returns the bytes of an array. Booleans are packed.
pub(super) fn data(elements: &Elements) -> Result<Arc<AlignedBytes>> {
    let tensor = elements.ty.as_tensor().ok_or_else(|| Fault::new("the elements of what is no array"))?;
    let size = element_bytes(&tensor.element);
    let count = if elements.is_splat { Some(1) } else { tensor.count() };
    if size.zip(count).and_then(|(size, count)| size.checked_mul(count)) != Some(elements.bytes.len()) {
        return Err(Fault::new("an array has more or fewer elements than its type says"));
    }
    if !is_truth_value(&tensor.element) {
        return Ok(Arc::clone(&elements.bytes));
    }
    if elements.is_splat {
        let all = if elements.bytes[0] != 0 { 0xff } else { 0 };
        return Ok(Arc::new(AlignedBytes::from_slice(&[all])));
    }
    let mut packed = AlignedBytes::zeroed(elements.bytes.len().div_ceil(8));
    for (at, &byte) in elements.bytes.iter().enumerate() {
        packed[at / 8] |= u8::from(byte != 0) << (at % 8);
    }
    Ok(Arc::new(packed))
}
