//! Printing of attributes.

use super::{elements, float, location, types};
use crate::text::format::structure::{self, Field, Structure};
use crate::tree::{Attribute, Attributes, FloatType, Number, Signedness, Type, TypeKind};
use std::fmt::Write;

/// Writes an attribute in its standalone form, with its type.
pub fn write(out: &mut String, attribute: &Attribute) {
    value(out, attribute, true);
}

/// Writes an attribute. Lists omit the types `i64` and `f64`.
fn value(out: &mut String, attribute: &Attribute, is_typed: bool) {
    match attribute {
        Attribute::Unit => out.push_str("unit"),
        Attribute::Bool(value) => {
            let _ = write!(out, "{value}");
        }
        Attribute::Integer(number, ty) => integer(out, *number, ty, is_typed),
        Attribute::Float(Number { bits, ty }) => {
            if let TypeKind::Float(of) = **ty {
                float::write(out, *bits, of);
                if is_typed || of != FloatType::F64 {
                    out.push_str(" : ");
                    types::write(out, ty);
                }
            }
        }
        Attribute::String(bytes) => string(out, bytes),
        Attribute::Symbol(name) => symbol(out, name),
        Attribute::Type(ty) => types::write(out, ty),
        Attribute::Array(items) => list(out, "[", items.iter(), "]", |out, item| value(out, item, false)),
        Attribute::DenseArray(ty, values) => dense_array(out, ty, values),
        Attribute::Dictionary(attributes) => dictionary(out, attributes),
        Attribute::Elements(of) => elements::write(out, of),
        Attribute::Enum(kind, word) => enumeration(out, kind, word),
        Attribute::Struct(kind, fields) => struct_with_kind(out, kind, fields),
        Attribute::Location(of) => location::write(out, of),
        Attribute::Other(text) => {
            out.push('#');
            out.push_str(text);
        }
    }
}

fn integer(out: &mut String, number: i128, ty: &Type, is_typed: bool) {
    if matches!(**ty, TypeKind::Integer(1, Signedness::Signless)) {
        let _ = write!(out, "{}", number != 0);
        return;
    }
    let _ = write!(out, "{number}");
    if is_typed || !matches!(**ty, TypeKind::Integer(64, Signedness::Signless)) {
        out.push_str(" : ");
        types::write(out, ty);
    }
}

/// Writes items separated by commas.
pub fn list<T>(
    out: &mut String,
    open: &str,
    items: impl Iterator<Item = T>,
    close: &str,
    mut item: impl FnMut(&mut String, T),
) {
    out.push_str(open);
    for (i, value) in items.enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        item(out, value);
    }
    out.push_str(close);
}

/// Writes `[0, 1]`.
pub fn integers(out: &mut String, attribute: &Attribute) {
    let values = attribute.ints().unwrap_or_default();
    list(out, "[", values.into_iter(), "]", types::write_size);
}

fn dense_array(out: &mut String, ty: &Type, values: &[i64]) {
    out.push_str("array<");
    types::write(out, ty);
    if !values.is_empty() {
        out.push_str(": ");
    }
    list(out, "", values.iter(), ">", |out, &value| match **ty {
        TypeKind::Integer(1, _) => {
            let _ = write!(out, "{}", value != 0);
        }
        TypeKind::Float(of) => {
            let mask = if of.bits() < 64 { (1 << of.bits()) - 1 } else { u64::MAX };
            float::write(out, value as u64 & mask, of);
        }
        _ => {
            let _ = write!(out, "{value}");
        }
    });
}

/// Writes `{a = 1, b}`, sorted by name.
pub fn dictionary(out: &mut String, attributes: &Attributes) {
    entries(out, attributes.iter().map(|(name, value)| (&**name, value)).collect());
}

/// Writes attributes in braces, sorted by name.
pub fn entries(out: &mut String, mut entries: Vec<(&str, &Attribute)>) {
    entries.sort_unstable_by_key(|entry| entry.0);
    list(out, "{", entries.into_iter(), "}", |out, (name, attribute)| {
        if is_word(name) {
            out.push_str(name);
        } else {
            string(out, name.as_bytes());
        }
        if *attribute != Attribute::Unit {
            out.push_str(" = ");
            write(out, attribute);
        }
    });
}

/// Checks whether a name needs no quotes.
fn is_word(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'))
}

/// Writes `"…"`.
pub fn string(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for &b in bytes {
        match b {
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' if b != b'"' => out.push(b as char),
            _ => {
                let _ = write!(out, "\\{b:02X}");
            }
        }
    }
    out.push('"');
}

/// Writes `@name`.
pub fn symbol(out: &mut String, name: &str) {
    out.push('@');
    if is_word(name) {
        out.push_str(name);
    } else {
        string(out, name.as_bytes());
    }
}

fn enumeration(out: &mut String, kind: &str, word: &str) {
    let (dialect, name) = kind.split_once('.').unwrap_or(("", kind));
    let _ = if structure::WORDS_IN_ANGLES.contains(&kind) {
        write!(out, "#{kind}<{word}>")
    } else {
        write!(out, "#{dialect}<{name} {word}>")
    };
}

fn struct_with_kind(out: &mut String, kind: &str, fields: &Attributes) {
    let mut body = String::new();
    self::body(&mut body, kind, fields);
    if body.starts_with('<') {
        let _ = write!(out, "#{kind}{body}");
    } else {
        // A body without angle brackets is put into angle brackets together with its kind.
        let (dialect, name) = kind.split_once('.').unwrap_or(("", kind));
        let blank = if body.starts_with('[') || body.starts_with('{') { "" } else { " " };
        let _ = write!(out, "#{dialect}<{name}{blank}{body}>");
    }
}

/// Writes a structure without its kind.
pub fn body(out: &mut String, kind: &str, fields: &Attributes) {
    if let Some(structure) = structure::find(kind) {
        return self::structure(out, structure, fields);
    }
    match kind {
        "stablehlo.conv" => {
            out.push('<');
            super::dimensions::convolution(out, fields);
            out.push('>');
        }
        "stablehlo.bounds" => {
            let bounds = fields.get("bounds").and_then(Attribute::ints).unwrap_or_default();
            list(out, "<", bounds.into_iter(), ">", types::write_size);
        }
        "stablehlo.sub_axis_info" => sub_axis(out, fields),
        _ => super::sdy::body(out, kind, fields),
    }
}

fn structure(out: &mut String, structure: &Structure, fields: &Attributes) {
    let is_left_out = |value: &Attribute| match value {
        Attribute::Integer(0, _) => true,
        Attribute::Float(number) => number.bits << 1 == 0,
        _ => value.ints().is_some_and(|list| list.is_empty()),
    };
    let known = structure.fields.iter().filter_map(|&(name, field)| Some((name, field, fields.get(name)?)));
    let said = known.filter(|(.., value)| !structure.omits_zeros || !is_left_out(value));
    list(out, "<", said, ">", |out, (name, field, value)| {
        out.push_str(name);
        out.push_str(if structure.kind == "stablehlo.mesh" { "=" } else { " = " });
        self::field(out, field, value);
    });
}

fn field(out: &mut String, field: Field, value: &Attribute) {
    match (field, value) {
        (Field::Integer, _) => {
            let _ = write!(out, "{}", value.as_int().unwrap_or_default());
        }
        (Field::Integers, _) => integers(out, value),
        (Field::Float, Attribute::Float(number)) => float::write(out, number.bits, FloatType::F64),
        (Field::SubAxis, Attribute::Struct(_, fields)) => sub_axis(out, fields),
        (Field::Structures(kind), Attribute::Array(items)) => {
            list(out, "[", items.iter(), "]", |out, item| match item {
                Attribute::Struct(of, fields) if *of == kind => body(out, kind, fields),
                _ => write(out, item),
            });
        }
        _ => self::value(out, value, true),
    }
}

/// Writes `(1)2`.
pub fn sub_axis(out: &mut String, fields: &Attributes) {
    let number = |name| fields.get(name).and_then(Attribute::as_int).unwrap_or_default();
    let _ = write!(out, "({}){}", number("pre_size"), number("size"));
}
