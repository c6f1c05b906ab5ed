//! Prints attributes in MLIR's syntax. In HLO, configurations of custom calls and composites have this form.

use crate::tree::{Attribute, Attributes, Elements, FloatType, Signedness, TensorType, Type, TypeKind};
use hlo_ir::{ElementType, Literal};
use std::fmt::Write;

/// Maximum nesting depth of printed attributes.
const MAX_DEPTH: usize = 64;

/// Maximum number of elements of a printed array.
const MAX_ELEMENTS: usize = 1 << 20;

/// Appends to a string, which does not fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

/// Returns the text of a dictionary, such as `{index = 3 : ui64, name = "a"}`.
///
/// # Errors
/// A message if an attribute has no text form here.
pub fn dictionary_text(attributes: &Attributes) -> Result<String, String> {
    let mut out = String::new();
    write_dictionary(&mut out, attributes, 0)?;
    Ok(out)
}

fn write_dictionary(out: &mut String, attributes: &Attributes, depth: usize) -> Result<(), String> {
    let mut entries: Vec<_> = attributes.iter().collect();
    // MLIR sorts dictionaries by key.
    entries.sort_by(|a, b| a.0.cmp(b.0));
    out.push('{');
    for (n, (key, value)) in entries.into_iter().enumerate() {
        out.push_str(if n > 0 { ", " } else { "" });
        write_key(out, key);
        if *value != Attribute::Unit {
            out.push_str(" = ");
            write_attribute(out, value, depth + 1)?;
        }
    }
    out.push('}');
    Ok(())
}

fn write_key(out: &mut String, key: &str) {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let bare = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && key.chars().all(plain);
    if bare { out.push_str(key) } else { write_string(out, key.as_bytes()) }
}

fn write_string(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\22"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => push(out, format_args!("\\{byte:02X}")),
        }
    }
    out.push('"');
}

fn write_list<T>(
    out: &mut String,
    items: impl IntoIterator<Item = T>,
    mut one: impl FnMut(&mut String, T) -> Result<(), String>,
) -> Result<(), String> {
    for (n, item) in items.into_iter().enumerate() {
        out.push_str(if n > 0 { ", " } else { "" });
        one(out, item)?;
    }
    Ok(())
}

fn write_attribute(out: &mut String, attribute: &Attribute, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err("attributes nest too deeply".into());
    }
    match attribute {
        Attribute::Unit => out.push_str("unit"),
        Attribute::Bool(value) => push(out, format_args!("{value}")),
        Attribute::Integer(value, ty) => match &**ty {
            TypeKind::Integer(1, Signedness::Signless) => {
                out.push_str(if *value != 0 { "true" } else { "false" })
            }
            _ => push(out, format_args!("{value} : {}", type_text(ty)?)),
        },
        Attribute::Float(number) => {
            push(out, format_args!("{} : {}", float_text(number.bits, &number.ty)?, type_text(&number.ty)?));
        }
        Attribute::String(bytes) => write_string(out, bytes),
        Attribute::Symbol(name) => {
            out.push('@');
            write_key(out, name);
        }
        Attribute::Type(ty) => out.push_str(&type_text(ty)?),
        Attribute::Array(items) => {
            out.push('[');
            write_list(out, items.iter(), |out, item| write_attribute(out, item, depth + 1))?;
            out.push(']');
        }
        Attribute::DenseArray(ty, values) => {
            push(out, format_args!("array<{}", type_text(ty)?));
            out.push_str(if values.is_empty() { "" } else { ": " });
            write_list(out, values.iter(), |out, value| {
                out.push_str(&dense_number(*value, ty)?);
                Ok(())
            })?;
            out.push('>');
        }
        Attribute::Dictionary(inner) => write_dictionary(out, inner, depth + 1)?,
        Attribute::Elements(elements) => write_elements(out, elements)?,
        Attribute::Enum(kind, word) => {
            let (dialect, name) = kind.as_str().split_once('.').unwrap_or(("", kind.as_str()));
            push(out, format_args!("#{dialect}<{name} {word}>"));
        }
        Attribute::Other(text) => push(out, format_args!("#{text}")),
        Attribute::Struct(kind, _) => return Err(format!("a `{kind}` stands in a configuration")),
        Attribute::Location(_) => return Err("a location stands in a configuration".into()),
    }
    Ok(())
}

/// Returns the text of a number in a dense array. Floating-point numbers are stored as their bits.
fn dense_number(value: i64, ty: &Type) -> Result<String, String> {
    match &**ty {
        TypeKind::Integer(1, Signedness::Signless) => Ok((value != 0).to_string()),
        TypeKind::Float(_) => float_text(value as u64, ty),
        TypeKind::Integer(64, Signedness::Unsigned) => Ok((value as u64).to_string()),
        _ => Ok(value.to_string()),
    }
}

/// Returns the text of a floating-point number, in decimal or as its bits if it has no decimal form.
fn float_text(bits: u64, ty: &Type) -> Result<String, String> {
    let TypeKind::Float(float) = &**ty else { return Err("a number is of no floating-point type".into()) };
    let value = match float {
        FloatType::F64 => f64::from_bits(bits),
        FloatType::F32 => f64::from(f32::from_bits(bits as u32)),
        FloatType::F16 | FloatType::BF16 => narrow_value(bits as u16, *float == FloatType::BF16),
        other => return Ok(format!("0x{bits:0width$X}", width = other.bits().div_ceil(4) as usize)),
    };
    if value.is_finite() {
        Ok(scientific(value, *float))
    } else {
        Ok(format!("0x{bits:0width$X}", width = float.bits().div_ceil(4) as usize))
    }
}

/// Returns the value of a 16-bit number with 5 or 8 exponent bits.
fn narrow_value(bits: u16, is_bfloat: bool) -> f64 {
    if is_bfloat {
        return f64::from(f32::from_bits(u32::from(bits) << 16));
    }
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1024.0 + fraction) * 2f64.powi(e - 25),
    };
    if bits >> 15 != 0 { -magnitude } else { magnitude }
}

/// Prints a number with six digits after the point if they are exact, and otherwise with as many as identify
/// it.
fn scientific(value: f64, float: FloatType) -> String {
    let short = with_exponent(&format!("{value:.6e}"));
    let back: f64 = short.parse().unwrap_or(f64::NAN);
    let same = match float {
        FloatType::F64 => back == value,
        _ => back as f32 == value as f32,
    };
    match (same, float) {
        (true, _) => short,
        (false, FloatType::F64) => with_exponent(&format!("{value:e}")),
        (false, _) => with_exponent(&format!("{:e}", value as f32)),
    }
}

/// Converts Rust's `1.5e3` to C's `1.5e+03`.
fn with_exponent(text: &str) -> String {
    let Some((digits, exponent)) = text.split_once('e') else { return text.to_owned() };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(rest) => ('-', rest),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Returns the text of a type.
fn type_text(ty: &Type) -> Result<String, String> {
    Ok(match &**ty {
        TypeKind::Integer(bits, sign) => {
            let sign = match sign {
                Signedness::Signless => "i",
                Signedness::Signed => "si",
                Signedness::Unsigned => "ui",
            };
            format!("{sign}{bits}")
        }
        TypeKind::Index => "index".into(),
        TypeKind::Float(float) => float.name().into(),
        TypeKind::Complex(part) => format!("complex<{}>", type_text(part)?),
        TypeKind::Tensor(TensorType { dims, element, encoding: None }) => {
            let dims: String =
                dims.iter().map(|d| if *d < 0 { "?x".into() } else { format!("{d}x") }).collect();
            format!("tensor<{dims}{}>", type_text(element)?)
        }
        TypeKind::None => "none".into(),
        TypeKind::Other(text) => format!("!{text}"),
        _ => return Err("a type stands in a configuration that has no text".into()),
    })
}

/// Writes `dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>`.
fn write_elements(out: &mut String, elements: &Elements) -> Result<(), String> {
    let literal = super::types::literal_of(elements)?;
    let tensor = elements.ty.as_tensor().ok_or("the elements are of no array")?;
    let array = literal.shape().as_array().ok_or("the elements are of no array")?;
    out.push_str("dense<");
    match (elements.is_splat, elements.count()) {
        (_, Some(0)) => {}
        (true, _) => out.push_str(&element_text(&literal, array.element_type, 0, &tensor.element)?),
        (false, Some(count)) if count <= MAX_ELEMENTS && array.rank() <= MAX_DEPTH => {
            let mut at = 0;
            write_nested(out, &array.dims, &mut |out| {
                out.push_str(&element_text(&literal, array.element_type, at, &tensor.element)?);
                at += 1;
                Ok(())
            })?;
        }
        _ => return Err("an array in a configuration is too large".into()),
    }
    push(out, format_args!("> : {}", type_text(&elements.ty)?));
    Ok(())
}

fn write_nested(
    out: &mut String,
    dims: &[i64],
    element: &mut dyn FnMut(&mut String) -> Result<(), String>,
) -> Result<(), String> {
    let Some((&size, inner)) = dims.split_first() else { return element(out) };
    out.push('[');
    write_list(out, 0..size, |out, _| write_nested(out, inner, element))?;
    out.push(']');
    Ok(())
}

fn element_text(literal: &Literal, ty: ElementType, at: usize, of: &Type) -> Result<String, String> {
    if ty.is_pred() {
        return Ok((literal.integer_at(at) == Some(1)).to_string());
    }
    if let Some(value) = literal.integer_at(at) {
        return Ok(value.to_string());
    }
    let size = ty.byte_size();
    let bytes = literal.bytes().get(at * size..(at + 1) * size).ok_or("an element is missing")?;
    let bits = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide.iter_mut().zip(bytes).for_each(|(w, b)| *w = *b);
        u64::from_le_bytes(wide)
    };
    match &**of {
        TypeKind::Complex(part) => {
            let (re, im) = bytes.split_at(size / 2);
            Ok(format!("({},{})", float_text(bits(re), part)?, float_text(bits(im), part)?))
        }
        _ => float_text(bits(bytes), of),
    }
}
