//! Attributes and types of VHLO, StableHLO's dialect for files, converted to those of StableHLO.

use super::pool::Decoder;
use super::{elements, quant, structures};
use crate::bytecode::encoding;
use crate::bytecode::fault::Result;
use crate::bytecode::types::{VHLO_FLOATS, VHLO_INTEGERS};
use crate::tree::{Attribute, Attributes, TensorType, Type, TypeKind};
use std::sync::Arc;

/// Reads an attribute.
pub(super) fn attribute(decoder: &mut Decoder<'_, '_>) -> Result<Attribute> {
    let code = decoder.varint()?;
    Ok(match code {
        1 => Attribute::Array(decoder.attributes()?.into()),
        2 => Attribute::Bool(decoder.varint()? != 0),
        6 => {
            let count = decoder.cursor().count()?;
            let mut entries = Vec::with_capacity(count);
            for _ in 0..count {
                entries.push((decoder.name()?, decoder.attribute()?));
            }
            Attribute::Dictionary(Arc::new(entries.into_iter().collect::<Attributes>()))
        }
        8 => {
            let ty = decoder.ty()?;
            elements::float(decoder, ty)?
        }
        9 => {
            let ty = decoder.ty()?;
            elements::integer(decoder, ty)?
        }
        14 => decoder.string_attribute()?,
        15 => {
            let ty = decoder.ty()?;
            let data = decoder.cursor().blob()?;
            elements::elements(decoder, ty, data)?
        }
        17 => Attribute::Type(decoder.ty()?),
        _ => match structures::of_code(decoder, &encoding::VHLO, code)? {
            Some(attribute) => attribute,
            None => return Err(decoder.unknown("vhlo", "attribute", code)),
        },
    })
}

/// Reads a type.
pub(super) fn ty(decoder: &mut Decoder<'_, '_>) -> Result<Type> {
    let code = decoder.varint()?;
    if let Some(&(_, float, _)) = VHLO_FLOATS.iter().find(|f| f.0 == code) {
        return Ok(float.into());
    }
    if let Some(&(_, bits, signedness, _)) = VHLO_INTEGERS.iter().find(|i| i.0 == code) {
        return Ok(TypeKind::Integer(bits, signedness).into());
    }
    Ok(match code {
        1 => TypeKind::Complex(decoder.ty()?).into(),
        8 => TypeKind::Function { inputs: decoder.types()?, results: decoder.types()? }.into(),
        9 => TypeKind::Index.into(),
        20 | 21 => {
            let encoding = if code == 21 { Some(decoder.attribute()?) } else { None };
            let (dims, element) = (decoder.cursor().signed_list()?, decoder.ty()?);
            TypeKind::Tensor(TensorType { dims, element, encoding }).into()
        }
        22 => TypeKind::Token.into(),
        23 => TypeKind::Tuple(decoder.types()?).into(),
        24 => quant::uniform(decoder)?,
        25 => TypeKind::UnrankedTensor(decoder.ty()?).into(),
        26 => TypeKind::Other("shape.witness".into()).into(),
        30 => quant::per_axis(decoder)?,
        33 => TypeKind::None.into(),
        41 => {
            let (dims, element) = (decoder.cursor().signed_list()?, decoder.ty()?);
            TypeKind::MemRef(TensorType { dims, element, encoding: None }).into()
        }
        42 => TypeKind::Future(decoder.types()?).into(),
        code => return Err(decoder.unknown("vhlo", "type", code)),
    })
}
