//! Attributes of any dialect that are enumerations or structures.

use super::pool::Decoder;
use super::sharding_rule;
use crate::bytecode::encoding::{Encoding, Enumeration, Field, Structure};
use crate::bytecode::fault::Result;
use crate::tree::{Attribute, FloatType, Number};
use std::sync::Arc;

/// Reads an enumeration or a structure.
pub(super) fn attribute(
    decoder: &mut Decoder<'_, '_>,
    encoding: &Encoding,
    dialect: &str,
) -> Result<Attribute> {
    let code = decoder.varint()?;
    match of_code(decoder, encoding, code)? {
        Some(attribute) => Ok(attribute),
        None => Err(decoder.unknown(dialect, "attribute", code)),
    }
}

/// Reads an enumeration or a structure after its code. Returns `None` if the code is unknown.
pub(super) fn of_code(
    decoder: &mut Decoder<'_, '_>,
    encoding: &Encoding,
    code: u64,
) -> Result<Option<Attribute>> {
    if let Some(enumeration) = encoding.enumeration(code) {
        return word(decoder, enumeration).map(Some);
    }
    match encoding.structure(code) {
        Some(structure) => fields(decoder, structure).map(Some),
        None => Ok(None),
    }
}

fn word(decoder: &mut Decoder<'_, '_>, enumeration: &Enumeration) -> Result<Attribute> {
    let number = decoder.varint()?;
    match enumeration.word(number) {
        Some(word) => Ok(Attribute::Enum(enumeration.kind.into(), word.into())),
        None => Err(decoder.fault(format!("`{}` has no word {number}", enumeration.kind))),
    }
}

fn fields(decoder: &mut Decoder<'_, '_>, structure: &Structure) -> Result<Attribute> {
    let mut all = Vec::with_capacity(structure.fields.len());
    for &(name, kind) in structure.fields {
        if let Some(value) = field(decoder, kind)? {
            all.push((name.into(), value));
        }
    }
    let fields = all.into_iter().collect();
    if structure.kind == sharding_rule::KIND {
        return sharding_rule::text(&fields).ok_or_else(|| decoder.fault("a sharding rule of other parts"));
    }
    Ok(Attribute::Struct(structure.kind.into(), Arc::new(fields)))
}

/// Reads the value of a field. Returns `None` if it is absent.
fn field(decoder: &mut Decoder<'_, '_>, kind: Field) -> Result<Option<Attribute>> {
    Ok(Some(match kind {
        Field::Int => Attribute::i64(decoder.cursor().signed()?),
        Field::Ints => Attribute::i64s(decoder.cursor().signed_list()?),
        Field::OptionalInts => match decoder.cursor().signed_list()? {
            list if list.is_empty() => return Ok(None),
            list => Attribute::i64s(list),
        },
        Field::OptionalUnsigned => match decoder.cursor().flagged()? {
            (value, true) => Attribute::i64(value as i64),
            (_, false) => return Ok(None),
        },
        Field::Bool => Attribute::Bool(decoder.cursor().byte()? != 0),
        Field::Double => {
            let bits = decoder.cursor().signed()? as u64;
            Attribute::Float(Number { bits, ty: FloatType::F64.into() })
        }
        Field::String => decoder.string_attribute()?,
        Field::Type => Attribute::Type(decoder.ty()?),
        Field::Attribute => decoder.attribute()?,
        Field::Symbol => match decoder.attribute()? {
            Attribute::String(bytes) => Attribute::Symbol((&*String::from_utf8_lossy(&bytes)).into()),
            other => other,
        },
        Field::Attributes => Attribute::Array(decoder.attributes()?.into()),
        Field::OptionalAttribute => return decoder.optional_attribute(),
        Field::AttributeAfterByte => match decoder.cursor().byte()? {
            0 => return Ok(None),
            _ => decoder.attribute()?,
        },
        Field::AttributeAfterNumber => match decoder.varint()? {
            0 => return Ok(None),
            _ => decoder.attribute()?,
        },
        Field::Word(kind, words) => {
            let number = decoder.cursor().signed()?;
            let word = usize::try_from(number).ok().and_then(|n| words.get(n));
            let word = word.ok_or_else(|| decoder.fault(format!("`{kind}` has no word {number}")))?;
            Attribute::Enum(kind.into(), (*word).into())
        }
    }))
}
