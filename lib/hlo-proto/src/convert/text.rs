//! Attributes that messages contain as HLO text.

use super::Result;
use crate::messages::TextAttribute;
use hlo_ir::attr::{AttrContext, AttrError, AttrReader, AttrValue, ComputationNames, Resolver};
use hlo_ir::cursor::Cursor;
use hlo_ir::{ComputationId, Literal, Shape};
use std::fmt;

/// Reads an attribute that is stored as HLO text. Returns the default value if it is absent.
pub fn read_text<A: AttrValue>(attributes: &[TextAttribute], name: &str) -> Result<A> {
    let Some(attribute) = attributes.iter().find(|t| t.name == name) else { return Ok(A::default()) };
    read_text_with(attribute, A::read)
}

/// Reads the value of an attribute that is written as in HLO text with a function.
pub(super) fn read_text_with<T>(
    attribute: &TextAttribute,
    read: impl FnOnce(&mut AttrReader<'_>) -> std::result::Result<T, AttrError>,
) -> Result<T> {
    let TextAttribute { name, value } = attribute;
    let context = AttrContext { resolver: &NoReferences, inline: &[] };
    let mut reader: AttrReader<'_> = Cursor::with_context(value, 0, context);
    let value = read(&mut reader).and_then(|value| reader.expect_end().map(|()| value));
    value.map_err(|e| {
        let found = if e.found.is_empty() { String::new() } else { format!(", found {}", e.found) };
        format!("attribute `{name}`: expected {}{found}", e.expected)
    })
}

/// A resolver for attribute texts that do not refer to computations, shapes or literals.
struct NoReferences;

impl NoReferences {
    fn none<T>(what: &str) -> std::result::Result<T, AttrError> {
        Err(AttrError::with_message(Default::default(), format!("there is no {what} in this attribute")))
    }
}

impl Resolver for NoReferences {
    fn computation(&self, _: &str) -> Option<ComputationId> {
        None
    }

    fn shape(&self, _: &str, _: usize) -> std::result::Result<(Shape, usize), AttrError> {
        Self::none("shape")
    }

    fn literal(&self, _: &str, _: usize) -> std::result::Result<(Literal, usize), AttrError> {
        Self::none("literal")
    }

    fn check_module(&self, _: &str) -> std::result::Result<(), String> {
        Err("there is no module in this attribute".into())
    }
}

/// Returns an attribute as HLO text, or `None` if it has its default value.
pub fn write_text<A: AttrValue>(name: &str, value: &A) -> Option<TextAttribute> {
    if *value == A::default() {
        return None;
    }
    Some(write_text_with(name, |out, names| value.write(out, names)))
}

/// Returns the text that a function writes as the value of an attribute.
pub(super) fn write_text_with(
    name: &str,
    write: impl FnOnce(&mut dyn fmt::Write, &dyn ComputationNames) -> fmt::Result,
) -> TextAttribute {
    let mut value = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut value, &NoNames);
    TextAttribute { name: name.to_owned(), value }
}

/// A writer of computation names for attributes that contain none.
struct NoNames;

impl ComputationNames for NoNames {
    fn write_computation(&self, _: &mut dyn fmt::Write, _: ComputationId) -> fmt::Result {
        Ok(())
    }
}
