//! Encoder of attributes, as those of VHLO or of MLIR's own dialect.

use super::numbers::{array_bytes, data, float_token, integer_token, is_list_of_vhlo, tensor_of};
use super::tables::{AttributeId, Tables, Token, TypeId, dialect_of};
use crate::bytecode::encoding::{self, Encoding, Field};
use crate::bytecode::fault::{Fault, Result};
use crate::bytecode::types::attribute_since;
use crate::dialect::Version;
use crate::tree::{Attribute, Attributes, FileRange, MAX_DEPTH, Name, Type, TypeKind};
use std::collections::HashMap;
use std::sync::Arc;

/// The dialects whose attributes and types are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// VHLO.
    Vhlo,
    /// MLIR's own dialect, with the attributes and types of StableHLO and Shardy.
    Builtin,
}

/// Converts attributes and types to entries of tables.
pub(super) struct Encoder {
    pub(super) tables: Tables,
    pub(super) version: Version,
    /// The encoded types, by address. The map holds a reference to each type, so that its address is not
    /// reused.
    pub(super) known_types: HashMap<(*const TypeKind, Form), (Type, TypeId)>,
    pub(super) known_files: HashMap<*const FileRange, (Arc<FileRange>, AttributeId)>,
    depth: usize,
}

impl Encoder {
    pub(super) fn new(version: Version) -> Self {
        Self {
            tables: Tables::default(),
            version,
            known_types: HashMap::new(),
            known_files: HashMap::new(),
            depth: 0,
        }
    }

    /// Calls `encode` one nesting level deeper.
    pub(super) fn nested<T>(&mut self, encode: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == 2 * MAX_DEPTH {
            return Err(Fault::new("attributes or types nest too deeply"));
        }
        self.depth += 1;
        let result = encode(self);
        self.depth -= 1;
        result
    }

    /// Encodes an attribute.
    pub(super) fn attribute(&mut self, attribute: &Attribute, form: Form) -> Result<AttributeId> {
        self.nested(|encoder| match form {
            Form::Vhlo => encoder.vhlo_attribute(attribute),
            Form::Builtin => encoder.builtin_attribute(attribute),
        })
    }

    /// Writes attributes after their count.
    fn attributes(&mut self, attributes: &[Attribute], form: Form, out: &mut Vec<Token>) -> Result<()> {
        out.push(Token::Number(attributes.len() as u64));
        for attribute in attributes {
            out.push(Token::Attribute(self.attribute(attribute, form)?));
        }
        Ok(())
    }

    fn vhlo_attribute(&mut self, attribute: &Attribute) -> Result<AttributeId> {
        let mut out = Vec::new();
        match attribute {
            Attribute::Array(all) => {
                out.push(Token::Number(1));
                self.attributes(all, Form::Vhlo, &mut out)?;
            }
            Attribute::Bool(value) => out.extend([Token::Number(2), Token::Number((*value).into())]),
            Attribute::Dictionary(entries) => {
                out.push(Token::Number(6));
                self.dictionary(entries, Form::Vhlo, &mut out)?;
            }
            Attribute::Float(number) => {
                out.extend([Token::Number(8), Token::Type(self.ty(&number.ty, Form::Vhlo)?)]);
                out.push(float_token(number)?);
            }
            Attribute::Integer(value, ty) => {
                out.extend([Token::Number(9), Token::Type(self.ty(ty, Form::Vhlo)?)]);
                out.push(integer_token(*value, ty)?);
            }
            // VHLO has no symbols.
            Attribute::String(text) => {
                out.extend([Token::Number(14), Token::String(self.tables.string(text))])
            }
            Attribute::Symbol(name) => {
                out.extend([Token::Number(14), Token::String(self.tables.string(name.as_bytes()))]);
            }
            Attribute::Elements(elements) => {
                out.extend([Token::Number(15), Token::Type(self.ty(&elements.ty, Form::Vhlo)?)]);
                out.push(Token::Blob(data(elements)?));
            }
            Attribute::DenseArray(ty, values) if is_list_of_vhlo(ty) => {
                return self.vhlo_attribute(&Attribute::Elements(Arc::new(tensor_of(ty, values))));
            }
            Attribute::Type(ty) => out.extend([Token::Number(17), Token::Type(self.ty(ty, Form::Vhlo)?)]),
            Attribute::Enum(kind, word) => return self.word("vhlo", &encoding::VHLO, kind, word, Form::Vhlo),
            Attribute::Struct(kind, fields) => return self.structure(kind, fields, Form::Vhlo),
            Attribute::Unit | Attribute::DenseArray(..) | Attribute::Location(_) | Attribute::Other(_) => {
                return self.builtin_attribute(attribute);
            }
        }
        Ok(self.tables.attribute("vhlo", out))
    }

    fn builtin_attribute(&mut self, attribute: &Attribute) -> Result<AttributeId> {
        let mut out = Vec::new();
        match attribute {
            Attribute::Array(all) => {
                out.push(Token::Number(0));
                self.attributes(all, Form::Builtin, &mut out)?;
            }
            Attribute::Dictionary(entries) => {
                out.push(Token::Number(1));
                self.dictionary(entries, Form::Builtin, &mut out)?;
            }
            Attribute::String(text) => return Ok(self.string(text)),
            Attribute::Symbol(name) => {
                out.extend([Token::Number(4), Token::Attribute(self.string(name.as_bytes()))]);
            }
            Attribute::Type(ty) => out.extend([Token::Number(6), Token::Type(self.ty(ty, Form::Builtin)?)]),
            Attribute::Unit => out.push(Token::Number(7)),
            Attribute::Bool(value) => {
                let ty = self.ty(&Type::integer(1), Form::Builtin)?;
                out.extend([Token::Number(8), Token::Type(ty), Token::Byte((*value).into())]);
            }
            Attribute::Integer(value, ty) => {
                out.extend([Token::Number(8), Token::Type(self.ty(ty, Form::Builtin)?)]);
                out.push(integer_token(*value, ty)?);
            }
            Attribute::Float(number) => {
                out.extend([Token::Number(9), Token::Type(self.ty(&number.ty, Form::Builtin)?)]);
                out.push(float_token(number)?);
            }
            Attribute::DenseArray(ty, values) => {
                out.extend([Token::Number(17), Token::Type(self.ty(ty, Form::Builtin)?)]);
                out.extend([Token::Number(values.len() as u64), Token::Blob(array_bytes(ty, values)?)]);
            }
            Attribute::Elements(elements) => {
                out.extend([Token::Number(18), Token::Type(self.ty(&elements.ty, Form::Builtin)?)]);
                out.push(Token::Blob(data(elements)?));
            }
            Attribute::Enum(kind, word) => {
                let (dialect, encoding) = match kind.dialect() {
                    "stablehlo" => ("stablehlo", &encoding::STABLEHLO),
                    _ => ("chlo", &encoding::CHLO),
                };
                return self.word(dialect, encoding, kind, word, Form::Builtin);
            }
            Attribute::Struct(kind, fields) => return self.structure(kind, fields, Form::Builtin),
            Attribute::Location(location) => return self.location(location),
            Attribute::Other(text) => {
                // MLIR's own attributes have no `#` before them.
                let is_builtin = text.starts_with('@') || text.starts_with("affine_");
                return Ok(if is_builtin {
                    self.tables.attribute_text("builtin", text)
                } else {
                    self.tables.attribute_text(dialect_of(text), &format!("#{text}"))
                });
            }
        }
        Ok(self.tables.attribute("builtin", out))
    }

    /// Writes names and attributes after their count, sorted by name.
    fn dictionary(&mut self, entries: &Attributes, form: Form, out: &mut Vec<Token>) -> Result<()> {
        let mut sorted: Vec<(&Name, &Attribute)> = entries.iter().collect();
        sorted.sort_by_key(|&(name, _)| name);
        out.push(Token::Number(sorted.len() as u64));
        for (name, value) in sorted {
            let name = match form {
                Form::Vhlo => {
                    let tokens = vec![Token::Number(14), Token::String(self.tables.string(name.as_bytes()))];
                    self.tables.attribute("vhlo", tokens)
                }
                Form::Builtin => self.string(name.as_bytes()),
            };
            out.extend([Token::Attribute(name), Token::Attribute(self.attribute(value, form)?)]);
        }
        Ok(())
    }

    /// Encodes a string attribute of MLIR's own dialect.
    pub(super) fn string(&mut self, text: &[u8]) -> AttributeId {
        let tokens = vec![Token::Number(2), Token::String(self.tables.string(text))];
        self.tables.attribute("builtin", tokens)
    }

    fn word(
        &mut self,
        dialect: &str,
        encoding: &Encoding,
        kind: &Name,
        word: &Name,
        form: Form,
    ) -> Result<AttributeId> {
        if form == Form::Vhlo {
            self.need(attribute_since(kind), &format!("the attribute `{kind}`"))?;
        }
        match encoding.enumeration_of(kind) {
            Some(words) => {
                let number = words.number(word);
                let number = number.ok_or_else(|| Fault::new(format!("`{kind}` has no word `{word}`")))?;
                Ok(self.tables.attribute(dialect, vec![Token::Number(words.code), Token::Number(number)]))
            }
            None if form == Form::Vhlo && kind.dialect() == "stablehlo" => {
                Err(Fault::new(format!("the attribute `{kind}`, which VHLO has not")))
            }
            // Dialects without an encoding store their words as text.
            None => {
                let text =
                    format!("#{}<{} {word}>", kind.dialect(), kind.split_once('.').map_or("", |(_, k)| k));
                Ok(self.tables.attribute_text(kind.dialect(), &text))
            }
        }
    }

    fn structure(&mut self, kind: &Name, fields: &Attributes, form: Form) -> Result<AttributeId> {
        let (dialect, encoding, form) = match (kind.dialect(), form) {
            ("sdy", _) => ("sdy", &encoding::SDY, Form::Builtin),
            ("stablehlo", Form::Vhlo) => ("vhlo", &encoding::VHLO, Form::Vhlo),
            ("stablehlo", Form::Builtin) => ("stablehlo", &encoding::STABLEHLO, Form::Builtin),
            _ => return Err(Fault::new(format!("the attribute `{kind}` has no encoding"))),
        };
        if form == Form::Vhlo {
            self.need(attribute_since(kind), &format!("the attribute `{kind}`"))?;
        }
        let structure =
            encoding.structure_of(kind, |name| fields.get(name).is_some_and(|v| !is_empty_list(v)));
        let structure =
            structure.ok_or_else(|| Fault::new(format!("the attribute `{kind}` has no encoding")))?;
        let mut out = vec![Token::Number(structure.code)];
        for &(name, field) in structure.fields {
            self.field(fields.get(name), field, form, &mut out)
                .map_err(|fault| fault.note(format!("in the field `{name}` of `{kind}`")))?;
        }
        Ok(self.tables.attribute(dialect, out))
    }

    fn field(
        &mut self,
        value: Option<&Attribute>,
        field: Field,
        form: Form,
        out: &mut Vec<Token>,
    ) -> Result<()> {
        let wrong = || Fault::new("the field lacks, or is of another type");
        let attribute = |encoder: &mut Self| -> Result<Token> {
            Ok(Token::Attribute(encoder.attribute(value.ok_or_else(wrong)?, form)?))
        };
        match field {
            // In text, an absent number is 0 and an absent list is empty.
            Field::Int => {
                out.push(Token::Signed(value.map_or(Some(0), Attribute::as_int).ok_or_else(wrong)?))
            }
            Field::Ints | Field::OptionalInts => {
                let all = value.map_or(Some(Vec::new()), Attribute::ints).ok_or_else(wrong)?;
                out.push(Token::Number(all.len() as u64));
                out.extend(all.into_iter().map(Token::Signed));
            }
            Field::OptionalUnsigned => out.push(Token::Number(match value {
                None => 0,
                Some(value) => {
                    let number = value.as_int().and_then(|n| u64::try_from(n).ok()).ok_or_else(wrong)?;
                    number << 1 | 1
                }
            })),
            Field::Bool => {
                let flag = value.map_or(Some(false), Attribute::as_bool).ok_or_else(wrong)?;
                out.push(Token::Byte(flag.into()));
            }
            Field::Double => match value {
                None => out.push(Token::Signed(0)),
                Some(Attribute::Float(number)) => out.push(float_token(number)?),
                Some(_) => return Err(wrong()),
            },
            Field::String => match value {
                Some(Attribute::String(text)) => out.push(Token::String(self.tables.string(text))),
                _ => return Err(wrong()),
            },
            Field::Type => match value {
                Some(Attribute::Type(ty)) => out.push(Token::Type(self.ty(ty, form)?)),
                _ => return Err(wrong()),
            },
            Field::Attribute | Field::Symbol => out.push(attribute(self)?),
            Field::Attributes => {
                let all = value.map_or(Some(&[][..]), Attribute::as_array).ok_or_else(wrong)?;
                self.attributes(all, form, out)?;
            }
            Field::OptionalAttribute => {
                let id = value.map(|value| self.attribute(value, form)).transpose()?;
                out.push(Token::Optional(id));
            }
            Field::AttributeAfterByte => {
                out.push(Token::Byte(value.is_some().into()));
                if value.is_some() {
                    out.push(attribute(self)?);
                }
            }
            Field::AttributeAfterNumber => {
                out.push(Token::Number(value.is_some().into()));
                if value.is_some() {
                    out.push(attribute(self)?);
                }
            }
            Field::Word(kind, words) => {
                let word =
                    value.map_or(words.first().copied(), |value| value.word(kind)).ok_or_else(wrong)?;
                let number = words.iter().position(|w| *w == word).ok_or_else(wrong)?;
                out.push(Token::Signed(number as i64));
            }
        }
        Ok(())
    }
}

/// Checks whether the value is an empty array.
fn is_empty_list(value: &Attribute) -> bool {
    value.as_array().is_some_and(<[_]>::is_empty)
}
