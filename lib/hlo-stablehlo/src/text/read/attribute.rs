//! Reading of attributes.

use super::Reader;
use super::types::body_end;
use crate::text::format::structure::{self, Field, Structure};
use crate::text::lex::{self, Cursor, Result, error_since};
use crate::tree::{Attribute, Attributes, FloatType, Name, Number, Type, TypeKind};
use hlo_ir::FloatFormat;
use std::sync::Arc;

impl<'a> Reader<'a> {
    /// Reads the value of an attribute.
    pub fn attribute(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        self.nested(c, |r, c| r.attribute_here(c))
    }

    fn attribute_here(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        match c.peek() {
            b'"' => Ok(Attribute::String(lex::string(c)?.into())),
            b'@' => {
                let symbol = self.symbol(c)?;
                if c.peek() == b':' && c.rest().starts_with("::") {
                    return Err(c.expected("the end of the symbol: symbols within symbols are not supported"));
                }
                Ok(symbol)
            }
            b'[' => Ok(Attribute::Array(c.list("[", "]", |c| self.attribute(c))?.into())),
            b'{' => Ok(Attribute::Dictionary(Arc::new(self.dictionary(c)?))),
            b'#' => self.dialect_attribute(c),
            b'!' | b'(' => Ok(Attribute::Type(self.ty(c)?)),
            b'-' | b'0'..=b'9' => self.typed_number(c),
            _ => self.attribute_of_word(c),
        }
    }

    fn attribute_of_word(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let start = c.offset_of_next();
        let word = lex::peek_word(c);
        Ok(match word {
            "true" | "false" => Attribute::Bool(lex::boolean(c)?),
            "unit" => {
                c.advance(word.len());
                Attribute::Unit
            }
            "loc" => Attribute::Location(self.location(c)?),
            "array" => self.dense_array(c)?,
            "dense" | "dense_resource" => self.elements(c)?,
            "affine_map" | "affine_set" | "strided" | "sparse" | "opaque" | "distinct" => {
                c.advance(word.len());
                return Err(error_since(c, start, format!("attributes `{word}` are not supported")));
            }
            "" => return Err(c.expected("an attribute")),
            _ => Attribute::Type(self.ty(c)?),
        })
    }

    /// Reads `@name`.
    pub fn symbol(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let name = lex::symbol(c)?;
        Ok(Attribute::Symbol(self.name(&name)))
    }

    /// Reads `{a = 1, b, "c d" = 2}`.
    pub fn dictionary(&mut self, c: &mut Cursor<'a>) -> Result<Attributes> {
        let mut out = Attributes::default();
        c.list("{", "}", |c| {
            let start = c.offset_of_next();
            let name = match c.byte() {
                b'"' => {
                    let text = lex::text(c)?;
                    self.name(&text)
                }
                _ => {
                    let word = lex::some_word(c, "an attribute's name")?;
                    self.name(word)
                }
            };
            if out.get(&name).is_some() {
                return Err(error_since(c, start, format!("the attribute `{name}` is given twice")));
            }
            let value = if c.eat("=") { self.attribute(c)? } else { Attribute::Unit };
            out.set(name, value);
            Ok(())
        })?;
        Ok(out)
    }

    /// Reads `3 : i64`, `0.5 : f32`, or `0x7FC00000 : f32`. Without a type, the number is an `i64` or `f64`.
    fn typed_number(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let start = c.offset_of_next();
        let digits = lex::number(c, "a number")?;
        let is_float = digits.contains('.');
        let ty = match (c.eat(":"), is_float) {
            (true, _) => self.ty(c)?,
            (false, true) => FloatType::F64.into(),
            (false, false) => Type::integer(64),
        };
        match number_of(digits, &ty) {
            Ok(value) => Ok(value),
            Err(message) => Err(error_since(c, start, message)),
        }
    }

    /// Reads `array<i64: 0, 1>`.
    fn dense_array(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        lex::word(c);
        c.expect("<")?;
        let ty = self.ty(c)?;
        if c.eat(">") {
            return Ok(Attribute::DenseArray(ty, Vec::new().into()));
        }
        c.expect(":")?;
        let values = c.items(">", |c| self.array_element(c, &ty))?;
        Ok(Attribute::DenseArray(ty, values.into()))
    }

    fn array_element(&mut self, c: &mut Cursor<'a>, ty: &Type) -> Result<i64> {
        let start = c.offset_of_next();
        if matches!(**ty, TypeKind::Integer(1, _)) && !lex::at_number(c) {
            return lex::boolean(c).map(i64::from);
        }
        let digits = lex::number(c, "a number")?;
        match number_of(digits, ty) {
            Ok(Attribute::Integer(value, _)) => {
                i64::try_from(value).map_err(|_| error_since(c, start, format!("{digits} is out of range")))
            }
            Ok(Attribute::Float(number)) => Ok(number.bits as i64),
            Ok(_) => Err(error_since(c, start, format!("{digits} is no element of an array"))),
            Err(message) => Err(error_since(c, start, message)),
        }
    }

    /// Reads `[0, 1]`, the numbers of `array<i64: 0, 1>`.
    pub fn integers(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        Ok(Attribute::i64s(c.list("[", "]", super::types::size)?))
    }

    /// Reads an alias or an attribute of a dialect, which start with `#`.
    fn dialect_attribute(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let start = c.offset_of_next();
        c.expect("#")?;
        let name = lex::suffix(c, "the name of an attribute")?;
        if name.contains('.') {
            return self.attribute_of_kind(c, start, &kind_of(name));
        }
        if c.byte() != b'<' {
            return self.attribute_alias(c, start);
        }
        // `#stablehlo<precision DEFAULT>`
        let open = c.offset();
        c.expect("<")?;
        let kind = kind_of(&format!("{name}.{}", lex::word(c)));
        if !is_supported_kind(&kind) {
            c.rewind(open);
            return Ok(other(c, start));
        }
        let value = if structure::is_enumeration(&kind) && c.peek() != b'<' {
            Attribute::Enum(self.name(&kind), self.word(c)?)
        } else {
            self.attribute_of_kind(c, start, &kind)?
        };
        c.expect(">")?;
        Ok(value)
    }

    /// Reads the value of an attribute of the given kind, without its name.
    pub fn attribute_of_kind(&mut self, c: &mut Cursor<'a>, start: usize, kind: &str) -> Result<Attribute> {
        if structure::is_enumeration(kind) {
            c.expect("<")?;
            let word = self.word(c)?;
            c.expect(">")?;
            return Ok(Attribute::Enum(self.name(kind), word));
        }
        if let Some(structure) = structure::find(kind) {
            c.expect("<")?;
            return self.structure(c, structure);
        }
        match kind {
            "stablehlo.bounds" => self.bounds(c),
            "stablehlo.type_extensions" => {
                c.expect("<")?;
                if !lex::eat_word(c, "bounds") {
                    return Err(c.expected("`bounds = […]`"));
                }
                c.expect("=")?;
                let bounds = self.integers(c)?;
                c.expect(">")?;
                Ok(Attribute::of_fields("stablehlo.bounds", [("bounds", bounds)]))
            }
            "stablehlo.conv" => {
                c.expect("<")?;
                if lex::eat_word(c, "raw") {
                    return self.structure(c, &structure::CONVOLUTION);
                }
                let value = self.convolution_dimensions(c)?;
                c.expect(">")?;
                Ok(value)
            }
            _ if super::sdy::is_supported_kind(kind) => self.sdy_attribute(c, kind),
            _ => Ok(other(c, start)),
        }
    }

    /// Reads a word as a name.
    pub fn word(&mut self, c: &mut Cursor<'a>) -> Result<Name> {
        let word = lex::some_word(c, "a word")?;
        Ok(self.name(word))
    }

    /// Reads the fields of a structure in any order, and `>`.
    fn structure(&mut self, c: &mut Cursor<'a>, structure: &Structure) -> Result<Attribute> {
        let mut out = Attributes::default();
        while !c.eat(">") {
            let start = c.offset_of_next();
            let word = lex::some_word(c, "the name of a field")?;
            let Some(&(name, field)) = structure.fields.iter().find(|f| f.0 == word) else {
                return Err(error_since(c, start, format!("`{}` has no field `{word}`", structure.kind)));
            };
            if out.get(name).is_some() {
                return Err(error_since(c, start, format!("the field `{name}` is given twice")));
            }
            c.expect("=")?;
            let value = self.field(c, field)?;
            out.set(self.name(name), value);
            if !c.eat(",") && c.peek() != b'>' {
                return Err(c.expected("`,` or `>`"));
            }
        }
        Ok(Attribute::Struct(self.name(structure.kind), Arc::new(out)))
    }

    fn field(&mut self, c: &mut Cursor<'a>, field: Field) -> Result<Attribute> {
        Ok(match field {
            Field::Integer => Attribute::i64(lex::integer(c)?),
            Field::Integers => self.integers(c)?,
            Field::Bool => Attribute::Bool(lex::boolean(c)?),
            Field::Type => Attribute::Type(self.ty(c)?),
            Field::String => Attribute::String(lex::string(c)?.into()),
            Field::Float => self.float(c)?,
            Field::Any => self.attribute(c)?,
            Field::SubAxis => self.sub_axis(c, "stablehlo.sub_axis_info")?,
            Field::Structures(kind) => {
                let items = c.list("[", "]", |c| {
                    let start = c.offset_of_next();
                    if c.byte() == b'#' { self.attribute(c) } else { self.attribute_of_kind(c, start, kind) }
                })?;
                Attribute::Array(items.into())
            }
        })
    }

    /// Reads `(1)2`.
    pub fn sub_axis(&mut self, c: &mut Cursor<'a>, kind: &str) -> Result<Attribute> {
        c.expect("(")?;
        let pre_size = Attribute::i64(lex::integer(c)?);
        c.expect(")")?;
        let size = Attribute::i64(lex::integer(c)?);
        Ok(Attribute::of_fields(kind, [("pre_size", pre_size), ("size", size)]))
    }

    /// Reads a number of type `f64`, without its type.
    pub fn float(&mut self, c: &mut Cursor<'a>) -> Result<Attribute> {
        let start = c.offset_of_next();
        let digits = lex::number(c, "a number")?;
        number_of(digits, &FloatType::F64.into()).map_err(|message| error_since(c, start, message))
    }
}

/// Returns the StableHLO name of a kind of MHLO. Other kinds do not change.
fn kind_of(name: &str) -> String {
    match name.strip_prefix("mhlo.") {
        Some(rest) if is_supported_kind(&format!("stablehlo.{rest}")) => format!("stablehlo.{rest}"),
        _ => name.to_owned(),
    }
}

fn is_supported_kind(kind: &str) -> bool {
    structure::is_enumeration(kind)
        || structure::find(kind).is_some()
        || matches!(kind, "stablehlo.bounds" | "stablehlo.type_extensions" | "stablehlo.conv")
        || super::sdy::is_supported_kind(kind)
}

/// Reads an unknown attribute, from `start` to the end of the angle brackets that come next.
fn other<'a>(c: &mut Cursor<'a>, start: usize) -> Attribute {
    let end = c.offset() + body_end(c);
    c.rewind(start + 1);
    let text = &c.rest()[..end - start - 1];
    c.advance(text.len());
    Attribute::Other(text.into())
}

/// Returns the number of a type that `digits` represent, or an error message.
fn number_of(digits: &str, ty: &Type) -> std::result::Result<Attribute, String> {
    let is_float = digits.contains('.');
    match &**ty {
        TypeKind::Float(float) => {
            let bits = float_bits(digits, *float)?;
            Ok(Attribute::Float(Number { bits, ty: ty.clone() }))
        }
        _ if is_float => Err(format!("{digits} is no integer")),
        TypeKind::Integer(..) | TypeKind::Index => {
            let value = lex::integer_value(digits).ok_or_else(|| format!("{digits} is out of range"))?;
            Ok(Attribute::Integer(value, ty.clone()))
        }
        _ => Err("numbers are of integer and floating-point types".into()),
    }
}

/// Returns the bits of a floating-point number, from a decimal number or from the bits in hexadecimal.
pub fn float_bits(digits: &str, ty: FloatType) -> std::result::Result<u64, String> {
    let format = ty.element_type().and_then(FloatFormat::of);
    let Some(format) = format else { return Err(format!("numbers of type {} are not supported", ty.name())) };
    if digits.contains('.') {
        let value: f64 = digits.parse().map_err(|_| format!("{digits} is no number"))?;
        // MLIR rounds twice: first to `f64`, and then to the type.
        return Ok(if format == FloatFormat::F32 {
            (value as f32).to_bits().into()
        } else {
            format.encode(value)
        });
    }
    if !digits.contains("0x") || digits.starts_with('-') {
        return Err(format!(
            "{digits} is an integer: a number of type {} has a point, `{digits}.0`",
            ty.name()
        ));
    }
    let bits = lex::integer_value(digits).and_then(|v| u64::try_from(v).ok());
    let bits = bits.filter(|bits| ty.bits() >= 64 || bits >> ty.bits() == 0);
    bits.ok_or_else(|| format!("{digits} has more than the {} bits of {}", ty.bits(), ty.name()))
}
