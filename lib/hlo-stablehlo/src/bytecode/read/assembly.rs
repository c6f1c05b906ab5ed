//! Attributes and types that MLIR stores as text because their dialect has no encoding for them.

use super::pool::Decoder;
use crate::bytecode::fault::Result;
use crate::text;
use crate::tree::{Attribute, FloatType, Type, TypeKind};

/// Reads an attribute.
pub(super) fn attribute(decoder: &mut Decoder<'_, '_>) -> Result<Attribute> {
    let text = decoder.text()?;
    Ok(parse(&text).unwrap_or_else(|| Attribute::Other(text.strip_prefix('#').unwrap_or(&text).into())))
}

/// Reads a type.
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

/// Parses an attribute, as an attribute of a module.
fn parse(text: &str) -> Option<Attribute> {
    let mut tree = text::parse(&format!("module attributes {{a = {text}}} {{}}")).ok()?;
    // The text is invalid if it closes the list of attributes itself.
    let is_one = tree.module.attributes.len() == 1 && tree.operations().is_empty();
    tree.module.attributes.remove("a").filter(|_| is_one)
}
