//! Attributes and types that are not encoded but written: MLIR does so where a dialect has no encoding of its own.

use super::pool::Decoder;
use crate::bytecode::fault::Result;
use crate::tree::{Attribute, FloatType, Type, TypeKind};

/// An attribute.
pub(super) fn attribute(decoder: &mut Decoder<'_, '_>) -> Result<Attribute> {
    let text = decoder.text()?;
    let Some(inner) = text.strip_prefix('#') else { return Ok(Attribute::Other(text)) };
    // `#chlo<precision DEFAULT>`, `#sdy<reduction_op max>`.
    let word = inner.strip_suffix('>').and_then(|rest| rest.split_once('<'));
    if let Some((dialect, (kind, word))) = word.and_then(|(d, rest)| Some((d, rest.split_once(' ')?))) {
        let is_name =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if [dialect, kind, word].into_iter().all(is_name) {
            return Ok(Attribute::Enum(format!("{dialect}.{kind}").into(), word.into()));
        }
    }
    Ok(Attribute::Other(inner.into()))
}

/// A type.
pub(super) fn ty(decoder: &mut Decoder<'_, '_>) -> Result<Type> {
    let text = decoder.text()?;
    if let Some(float) = FloatType::from_name(&text) {
        return Ok(float.into());
    }
    match text.strip_prefix('!') {
        Some(inner) => Ok(TypeKind::Other(inner.into()).into()),
        None => Err(decoder.fault(format!("the type `{text}` has no meaning here"))),
    }
}
