//! Attributes, locations and types of MLIR's own dialect, `builtin`.
//!
//! The numbers are those of `BuiltinDialectBytecode.td`.

use super::elements;
use super::pool::Decoder;
use crate::bytecode::fault::Result;
use crate::bytecode::types::element_bytes;
use crate::tree::{
    Attribute, Attributes, FileRange, FloatType, Location, Name, Signedness, TensorType, Type, TypeKind,
};
use std::sync::Arc;

/// Reads an attribute or a location.
pub(super) fn attribute(decoder: &mut Decoder<'_, '_>) -> Result<Attribute> {
    Ok(match decoder.varint()? {
        0 => Attribute::Array(decoder.attributes()?.into()),
        1 => dictionary(decoder)?,
        2 => decoder.string_attribute()?,
        3 => {
            let string = decoder.string_attribute()?;
            decoder.ty()?;
            string
        }
        4 => Attribute::Symbol(decoder.name()?),
        5 => nested_symbol(decoder)?,
        6 => Attribute::Type(decoder.ty()?),
        7 => Attribute::Unit,
        8 => {
            let ty = decoder.ty()?;
            elements::integer(decoder, ty)?
        }
        9 => {
            let ty = decoder.ty()?;
            elements::float(decoder, ty)?
        }
        code @ (10..=15 | 22) => Attribute::Location(location(decoder, code)?),
        16 => {
            let ty = decoder.ty()?;
            let data = decoder.resource()?;
            elements::elements(decoder, ty, data)?
        }
        17 => dense_array(decoder)?,
        18 => {
            let ty = decoder.ty()?;
            let data = decoder.cursor().blob()?;
            elements::elements(decoder, ty, data)?
        }
        19 => return Err(decoder.fault("an array of strings, which StableHLO has not")),
        20 => return Err(decoder.fault("a sparse array, which StableHLO has not")),
        // Distinct attributes only differ in their identity, which has no meaning here.
        21 => decoder.attribute()?,
        code => return Err(decoder.unknown("builtin", "attribute", code)),
    })
}

fn dictionary(decoder: &mut Decoder<'_, '_>) -> Result<Attribute> {
    let count = decoder.cursor().count()?;
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        entries.push((decoder.name()?, decoder.attribute()?));
    }
    Ok(Attribute::Dictionary(Arc::new(entries.into_iter().collect::<Attributes>())))
}

/// Reads a nested symbol reference, `@module::@function`.
fn nested_symbol(decoder: &mut Decoder<'_, '_>) -> Result<Attribute> {
    let mut text = format!("@{}", decoder.name()?);
    for part in decoder.attributes()? {
        match part {
            Attribute::Symbol(name) => text.extend(["::@", name.as_str()]),
            _ => return Err(decoder.fault("a part of a symbol is none")),
        }
    }
    Ok(Attribute::Other(text.into()))
}

fn dense_array(decoder: &mut Decoder<'_, '_>) -> Result<Attribute> {
    let ty = decoder.ty()?;
    let count = decoder.varint()?;
    let data = decoder.cursor().blob()?;
    let size = element_bytes(&ty).filter(|size| (1..=8).contains(size));
    let Some(size) = size.filter(|&size| Some(data.len() as u64) == count.checked_mul(size as u64)) else {
        return Err(decoder.fault("an array whose bytes are not those of its numbers"));
    };
    let is_signed = match &*ty {
        TypeKind::Integer(1, _) => false,
        TypeKind::Integer(_, signedness) => *signedness != Signedness::Unsigned,
        _ => false,
    };
    let one = |bytes: &[u8]| {
        let fill = if is_signed && bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 };
        let mut wide = [fill; 8];
        wide[..size].copy_from_slice(bytes);
        i64::from_le_bytes(wide)
    };
    Ok(Attribute::DenseArray(ty, data.chunks_exact(size).map(one).collect()))
}

fn location(decoder: &mut Decoder<'_, '_>, code: u64) -> Result<Location> {
    Ok(match code {
        10 => Location::CallSite {
            callee: Arc::new(decoder.location()?),
            caller: Arc::new(decoder.location()?),
        },
        11 => {
            let file = decoder.name()?;
            let (line, column) = (decoder.varint()?, decoder.varint()?);
            file_range(file, &[line, column])
        }
        12 | 13 => {
            let count = decoder.cursor().count()?;
            let parts = (0..count).map(|_| decoder.location()).collect::<Result<Vec<_>>>()?;
            let metadata = if code == 13 { Some(Arc::new(decoder.attribute()?)) } else { None };
            Location::Fused(parts.into(), metadata)
        }
        14 => Location::Named(decoder.name()?, Arc::new(decoder.location()?)),
        15 => Location::Unknown,
        _ => {
            let file = decoder.name()?;
            let count = decoder.cursor().count()?;
            let numbers = (0..count).map(|_| decoder.varint()).collect::<Result<Vec<_>>>()?;
            file_range(file, &numbers)
        }
    })
}

/// Returns a range of a file. Only the numbers that differ from the start are encoded.
fn file_range(file: Name, numbers: &[u64]) -> Location {
    // MLIR also stores these numbers in 32 bits.
    let number = |at: usize| numbers.get(at).map_or(0, |&n| n as u32);
    let (line, column) = (number(0), number(1));
    let (end_line, end_column) = match numbers.len() {
        0..=2 => (line, column),
        3 => (line, number(2)),
        _ => (number(2), number(3)),
    };
    Location::File(Arc::new(FileRange { file, line, column, end_line, end_column }))
}

/// Reads a type.
pub(super) fn ty(decoder: &mut Decoder<'_, '_>) -> Result<Type> {
    let code = decoder.varint()?;
    Ok(match code {
        0 => {
            let value = decoder.varint()?;
            let signedness = match value & 3 {
                0 => Signedness::Signless,
                1 => Signedness::Signed,
                2 => Signedness::Unsigned,
                _ => {
                    return Err(
                        decoder.fault("an integer type that is neither signed nor unsigned nor neither")
                    );
                }
            };
            let bits = u32::try_from(value >> 2).ok().filter(|bits| (1..1 << 24).contains(bits));
            TypeKind::Integer(bits.ok_or_else(|| decoder.fault("an integer type of no size"))?, signedness)
                .into()
        }
        1 => TypeKind::Index.into(),
        2 => TypeKind::Function { inputs: decoder.types()?, results: decoder.types()? }.into(),
        3 => FloatType::BF16.into(),
        4 => FloatType::F16.into(),
        5 => FloatType::F32.into(),
        6 => FloatType::F64.into(),
        7 => FloatType::F80.into(),
        8 => FloatType::F128.into(),
        9 => TypeKind::Complex(decoder.ty()?).into(),
        10 | 11 => {
            let space = if code == 11 { Some(decoder.attribute()?) } else { None };
            let (dims, element) = (decoder.cursor().signed_list()?, decoder.ty()?);
            // The layout is an affine map. The code assumes the identity, which carries no information.
            decoder.varint()?;
            TypeKind::MemRef(TensorType { dims, element, encoding: space }).into()
        }
        12 => TypeKind::None.into(),
        13 | 14 => {
            let encoding = if code == 14 { Some(decoder.attribute()?) } else { None };
            let (dims, element) = (decoder.cursor().signed_list()?, decoder.ty()?);
            TypeKind::Tensor(TensorType { dims, element, encoding }).into()
        }
        15 => TypeKind::Tuple(decoder.types()?).into(),
        18 => TypeKind::UnrankedTensor(decoder.ty()?).into(),
        16 | 17 => return Err(decoder.fault("a buffer of no rank, which StableHLO has not")),
        19 | 20 => return Err(decoder.fault("a vector, which StableHLO has not")),
        21 => FloatType::TF32.into(),
        22 => FloatType::F8E5M2.into(),
        23 => FloatType::F8E4M3.into(),
        24 => FloatType::F8E4M3FN.into(),
        25 => FloatType::F8E5M2FNUZ.into(),
        26 => FloatType::F8E4M3FNUZ.into(),
        27 => FloatType::F8E4M3B11FNUZ.into(),
        28 => FloatType::F8E3M4.into(),
        29 => FloatType::F4E2M1FN.into(),
        30 => FloatType::F6E2M3FN.into(),
        31 => FloatType::F6E3M2FN.into(),
        32 => FloatType::F8E8M0FNU.into(),
        code => return Err(decoder.unknown("builtin", "type", code)),
    })
}
