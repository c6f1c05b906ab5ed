//! Attributes and types that are not encoded but written: MLIR does so where a dialect has no encoding of its own.

use super::pool::Decoder;
use crate::bytecode::fault::Result;
use crate::text;
use crate::tree::{Attribute, FloatType, Type, TypeKind};

/// An attribute.
pub(super) fn attribute(decoder: &mut Decoder<'_, '_>) -> Result<Attribute> {
    let text = decoder.text()?;
    Ok(parse(&text).unwrap_or_else(|| Attribute::Other(text.strip_prefix('#').unwrap_or(&text).into())))
}

/// A type.
pub(super) fn ty(decoder: &mut Decoder<'_, '_>) -> Result<Type> {
    let text = decoder.text()?;
    if let Some(float) = FloatType::from_name(&text) {
        return Ok(float.into());
    }
    match (parse(&text), text.strip_prefix('!')) {
        (Some(Attribute::Type(ty)), _) => Ok(ty),
        (_, Some(inner)) => Ok(TypeKind::Other(inner.into()).into()),
        (_, None) => Err(decoder.fault(format!("the type `{text}` has no meaning here"))),
    }
}

/// What a text says as an attribute of a module.
fn parse(text: &str) -> Option<Attribute> {
    let mut tree = text::parse(&format!("module attributes {{a = {text}}} {{}}")).ok()?;
    // A text that ends the list of attributes is none.
    let is_one = tree.module.attributes.len() == 1 && tree.operations().is_empty();
    tree.module.attributes.remove("a").filter(|_| is_one)
}
