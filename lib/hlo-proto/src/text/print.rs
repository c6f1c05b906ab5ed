//! Printer of the text form: converts the binary form to it.

use crate::descriptor::{Field, Kind, MessageType, WireType};
use crate::wire::{Damage, MAX_DEPTH, Reader, Value, push_field};
use hlo_ir::diag::Diag;
use std::fmt::Write;

/// Returns the text form of a message of the given type, with one field per line.
///
/// # Errors
/// The bytes are not a message of the type.
pub fn print(bytes: &[u8], ty: &MessageType) -> Result<String, Diag> {
    let mut out = String::new();
    message(&mut out, &mut Reader::new(bytes, 0), Some(ty), 0).map_err(|Damage { offset, message }| {
        Diag::error(format!("{}: byte {offset}: {message}", ty.name))
    })?;
    Ok(out)
}

fn damage(reader: &Reader<'_>, message: String) -> Damage {
    Damage { offset: reader.offset(), message }
}

fn message(
    out: &mut String,
    reader: &mut Reader<'_>,
    ty: Option<&MessageType>,
    depth: usize,
) -> Result<(), Damage> {
    if depth > MAX_DEPTH {
        return Err(damage(reader, format!("messages nest more than {MAX_DEPTH} deep")));
    }
    while let Some((number, value)) = reader.field()? {
        let field = ty.and_then(|ty| ty.field(number));
        match (field, value) {
            (Some(field), Value::Delimited(bytes)) if field.kind.is_packable() => {
                packed(out, field, bytes, reader.offset() - bytes.len(), depth)?;
            }
            (Some(Field { name, kind: Kind::Message(inner), .. }), Value::Delimited(bytes)) => {
                let base = reader.offset() - bytes.len();
                nested(out, name, Some(inner()), bytes, base, depth)?;
            }
            (Some(Field { name, kind: Kind::Opaque, .. }), Value::Delimited(bytes)) => {
                if is_canonical(bytes, depth + 1) {
                    nested(out, name, None, bytes, reader.offset() - bytes.len(), depth)?
                } else {
                    line(out, name, depth, &quoted(bytes, false))
                }
            }
            (Some(field), value) if value.wire_type() == field.kind.wire_type() => {
                line(out, field.name, depth, &scalar(field.kind, value));
            }
            (Some(field), value) => {
                let found = value.wire_type();
                return Err(damage(reader, format!("field `{}` is stored as {found:?}", field.name)));
            }
            (None, value) => unknown(out, number, value, reader, depth)?,
        }
    }
    Ok(())
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

fn line(out: &mut String, name: &str, depth: usize, value: &str) {
    indent(out, depth);
    out.push_str(name);
    out.push_str(": ");
    out.push_str(value);
    out.push('\n');
}

fn nested(
    out: &mut String,
    name: &str,
    ty: Option<&MessageType>,
    bytes: &[u8],
    base: usize,
    depth: usize,
) -> Result<(), Damage> {
    indent(out, depth);
    out.push_str(name);
    out.push_str(" {\n");
    message(out, &mut Reader::new(bytes, base), ty, depth + 1)?;
    indent(out, depth);
    out.push_str("}\n");
    Ok(())
}

/// Prints numbers that are stored contiguously.
fn packed(out: &mut String, field: &Field, bytes: &[u8], base: usize, depth: usize) -> Result<(), Damage> {
    let sized = |size: usize| {
        if bytes.len().is_multiple_of(size) {
            Ok(bytes.chunks_exact(size))
        } else {
            Err(Damage { offset: base, message: format!("field `{}` has a part of a number", field.name) })
        }
    };
    match field.kind.wire_type() {
        WireType::Fixed32 => {
            for chunk in sized(4)? {
                let bits = chunk.first_chunk().map_or(0, |&b| u32::from_le_bytes(b));
                line(out, field.name, depth, &scalar(field.kind, Value::Fixed32(bits)));
            }
        }
        WireType::Fixed64 => {
            for chunk in sized(8)? {
                let bits = chunk.first_chunk().map_or(0, |&b| u64::from_le_bytes(b));
                line(out, field.name, depth, &scalar(field.kind, Value::Fixed64(bits)));
            }
        }
        _ => {
            let mut reader = Reader::new(bytes, base);
            while reader.offset() < base + bytes.len() {
                let n = reader.varint()?;
                line(out, field.name, depth, &scalar(field.kind, Value::Varint(n)));
            }
        }
    }
    Ok(())
}

/// Returns the text of a value that is not a message.
fn scalar(kind: Kind, value: Value<'_>) -> String {
    match (kind, value) {
        (Kind::Bool, Value::Varint(n)) => (n != 0).to_string(),
        (Kind::Int32, Value::Varint(n)) => (n as i32).to_string(),
        (Kind::Int64, Value::Varint(n)) => (n as i64).to_string(),
        (Kind::Uint32, Value::Varint(n)) => (n as u32).to_string(),
        (Kind::Enum(values), Value::Varint(n)) => {
            let number = n as i32;
            let name = values.iter().find(|&&(_, v)| v == number).map(|&(name, _)| name);
            name.map_or_else(|| number.to_string(), str::to_owned)
        }
        (_, Value::Varint(n)) => n.to_string(),
        (_, Value::Fixed32(bits)) => {
            float(f32::from_bits(bits).is_nan(), &format!("{:?}", f32::from_bits(bits)))
        }
        (_, Value::Fixed64(bits)) => {
            float(f64::from_bits(bits).is_nan(), &format!("{:?}", f64::from_bits(bits)))
        }
        (kind, Value::Delimited(bytes)) => quoted(bytes, matches!(kind, Kind::String)),
    }
}

/// Returns a floating-point number with as few digits as identify it.
fn float(is_nan: bool, text: &str) -> String {
    // Rust prints `NaN`.
    if is_nan { "nan".into() } else { text.strip_suffix(".0").unwrap_or(text).to_owned() }
}

/// Returns a string in quotes. Bytes that are not ASCII are escaped, except in text that is UTF-8.
fn quoted(bytes: &[u8], is_text: bool) -> String {
    let keep = is_text && std::str::from_utf8(bytes).is_ok();
    let mut out = Vec::with_capacity(bytes.len() + 2);
    out.push(b'"');
    for &b in bytes {
        match b {
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            b'"' | b'\'' | b'\\' => out.extend([b'\\', b]),
            b' '..=b'~' => out.push(b),
            0x80.. if keep => out.push(b),
            _ => out.extend([b'\\', b'0' + (b >> 6), b'0' + (b >> 3 & 7), b'0' + (b & 7)]),
        }
    }
    out.push(b'"');
    String::from_utf8(out).unwrap_or_default()
}

/// Prints a field without a name: its number, and its value as it is stored.
fn unknown(
    out: &mut String,
    number: u32,
    value: Value<'_>,
    reader: &Reader<'_>,
    depth: usize,
) -> Result<(), Damage> {
    let name = number.to_string();
    let mut text = String::new();
    match value {
        // Writing to a string does not fail.
        Value::Varint(n) => drop(write!(text, "{n}")),
        Value::Fixed32(n) => drop(write!(text, "{n:#010x}")),
        Value::Fixed64(n) => drop(write!(text, "{n:#018x}")),
        Value::Delimited(bytes) if !bytes.is_empty() && is_canonical(bytes, depth + 1) => {
            return nested(out, &name, None, bytes, reader.offset() - bytes.len(), depth);
        }
        Value::Delimited(bytes) => text = quoted(bytes, false),
    }
    line(out, &name, depth, &text);
    Ok(())
}

/// Checks whether bytes are the fields of a message in canonical encoding. If so, the text by field numbers
/// converts back to the same bytes.
fn is_canonical(bytes: &[u8], depth: usize) -> bool {
    let mut again = Vec::with_capacity(bytes.len());
    let mut reader = Reader::new(bytes, 0);
    while let Ok(Some((number, value))) = reader.field() {
        push_field(&mut again, number, value);
    }
    depth <= MAX_DEPTH && again == bytes
}
