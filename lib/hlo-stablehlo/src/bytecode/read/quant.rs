//! Quantized types: MLIR's dialect `quant`, and VHLO's copies of its types.

use super::elements;
use super::pool::Decoder;
use crate::bytecode::fault::Result;
use crate::tree::{Quantization, Type, TypeKind};

/// Reads a type of the dialect `quant`.
pub(super) fn ty(decoder: &mut Decoder<'_, '_>) -> Result<Type> {
    match decoder.varint()? {
        4 => uniform(decoder),
        5 => per_axis(decoder),
        code => Err(decoder.fault(format!("type {code} of the dialect `quant`, which StableHLO has not"))),
    }
}

/// Reads a type with one scale. The flags state whether the storage type is signed, which the type states as
/// well.
pub(super) fn uniform(decoder: &mut Decoder<'_, '_>) -> Result<Type> {
    let flags = decoder.varint()?;
    let (storage, expressed) = (storage(decoder, flags)?, decoder.ty()?);
    let scale = f64::from_bits(elements::double(decoder)?);
    let cursor = decoder.cursor();
    let zero_point = cursor.signed()?;
    let (storage_min, storage_max) = (cursor.signed()?, cursor.signed()?);
    let quantization = Quantization {
        storage,
        expressed,
        storage_min,
        storage_max,
        axis: None,
        scales: vec![scale],
        zero_points: vec![zero_point],
    };
    Ok(TypeKind::Quantized(quantization).into())
}

/// Reads a type with a scale for each slice along a dimension.
pub(super) fn per_axis(decoder: &mut Decoder<'_, '_>) -> Result<Type> {
    let flags = decoder.varint()?;
    let (storage, expressed) = (storage(decoder, flags)?, decoder.ty()?);
    let axis = decoder.varint()?;
    let Ok(axis) = i32::try_from(axis) else { return Err(decoder.fault("a dimension out of range")) };
    let (storage_min, storage_max) = (decoder.cursor().signed()?, decoder.cursor().signed()?);
    let count = decoder.cursor().count()?;
    let scales =
        (0..count).map(|_| elements::double(decoder).map(f64::from_bits)).collect::<Result<Vec<_>>>()?;
    let zero_points = decoder.cursor().signed_list()?;
    if scales.len() != zero_points.len() {
        return Err(decoder.fault("a quantized type has another number of scales than of zero points"));
    }
    let axis = Some(axis);
    let quantization =
        Quantization { storage, expressed, storage_min, storage_max, axis, scales, zero_points };
    Ok(TypeKind::Quantized(quantization).into())
}

/// Reads the storage type. The lowest flag is set if it is signed. The encoded type itself is always
/// signless.
fn storage(decoder: &mut Decoder<'_, '_>, flags: u64) -> Result<Type> {
    let ty = decoder.ty()?;
    Ok(match &*ty {
        TypeKind::Integer(bits, _) if flags & 1 == 0 => Type::unsigned(*bits),
        _ => ty,
    })
}
