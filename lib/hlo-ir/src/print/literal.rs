//! Literals in text.

use super::float::{write_f32, write_f64, write_g, write_nan};
use crate::{ArrayShape, ElementType, FloatFormat, Literal, Shape, Special};
use half::{bf16, f16};
use std::fmt::{self, Write};

/// The literal's shape, then its value. Arrays of more than `max_elements` elements show the first ones of
/// each dimension, then `...`.
pub fn print_literal(literal: &Literal, max_elements: Option<usize>) -> String {
    let mut out = literal.shape().to_string();
    out.push(' ');
    // Writing to a string does not fail.
    let _ = write_value(&mut out, literal, max_elements);
    out
}

/// Writes the value without its shape: `1`, `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`, `( 1, {2} )`.
pub fn write_value(out: &mut dyn Write, literal: &Literal, max_elements: Option<usize>) -> fmt::Result {
    match literal.shape() {
        Shape::Array(array) => {
            let shown = match max_elements {
                Some(max) if array.element_count() > max => shown_per_dimension(array, max),
                _ => i64::MAX,
            };
            write_level(out, literal, array, 0, &mut 0, shown)
        }
        Shape::Tuple(_) => {
            out.write_str("( ")?;
            for (i, element) in literal.tuple_elements().iter().enumerate() {
                if i > 0 {
                    out.write_str(", ")?;
                }
                write_value(out, element, max_elements)?;
            }
            out.write_str(" )")
        }
        Shape::Token => out.write_str("token"),
        Shape::Opaque | Shape::Buffer(_) => out.write_str("opaque"),
    }
}

/// How many entries of each dimension to show so that about `max` elements are shown.
fn shown_per_dimension(array: &ArrayShape, max: usize) -> i64 {
    let rank = array.rank().max(1) as u32;
    let mut shown = 1usize;
    while shown < max && (shown + 1).checked_pow(rank).is_some_and(|n| n <= max) {
        shown += 1;
    }
    shown as i64
}

/// Writes dimension `level` and those inside it; `at` is the row-major position of the next element.
fn write_level(
    out: &mut dyn Write,
    literal: &Literal,
    array: &ArrayShape,
    level: usize,
    at: &mut usize,
    shown: i64,
) -> fmt::Result {
    let Some(&size) = array.dims.get(level) else {
        write_element(out, literal, array.element_type, *at, array.rank())?;
        *at += 1;
        return Ok(());
    };
    // XLA sets blanks inside the braces from rank 2 on, but for an empty innermost row of rank 2.
    let (open, close) = match array.rank() {
        1 => ("{", "}"),
        2 if level == 1 && size == 0 => ("{", "}"),
        _ => ("{ ", " }"),
    };
    let inner: i64 = array.dims[level + 1..].iter().product();
    out.write_str(open)?;
    for i in 0..size {
        if i > 0 {
            out.write_str(", ")?;
        }
        if i >= shown {
            out.write_str("...")?;
            *at += ((size - i) * inner) as usize;
            break;
        }
        write_level(out, literal, array, level + 1, at, shown)?;
    }
    out.write_str(close)
}

/// Writes one element of an array of the given rank.
fn write_element(
    out: &mut dyn Write,
    literal: &Literal,
    ty: ElementType,
    at: usize,
    rank: usize,
) -> fmt::Result {
    match ty {
        ElementType::Pred => {
            let value = literal.integer_at(at) == Some(1);
            out.write_str(match (rank, value) {
                (0, true) => "true",
                (0, false) => "false",
                (_, true) => "1",
                (_, false) => "0",
            })
        }
        ElementType::F32 => write_f32(out, element(literal, at)),
        ElementType::F64 => write_f64(out, element(literal, at)),
        ElementType::F16 => {
            let value = f16::from_bits(element(literal, at));
            if value.is_nan() {
                write_nan(out, value.to_bits().into(), 10, 16)
            } else {
                write_g(out, value.to_f64(), 5)
            }
        }
        ElementType::Bf16 => {
            let value = bf16::from_bits(element(literal, at));
            if value.is_nan() {
                write_nan(out, value.to_bits().into(), 7, 16)
            } else {
                write_g(out, value.to_f64(), 4)
            }
        }
        ElementType::C64 => {
            let (re, im): (f32, f32) = (element(literal, 2 * at), element(literal, 2 * at + 1));
            out.write_str("(")?;
            write_f32(out, re)?;
            out.write_str(", ")?;
            write_f32(out, im)?;
            out.write_str(")")
        }
        ElementType::C128 => {
            let (re, im): (f64, f64) = (element(literal, 2 * at), element(literal, 2 * at + 1));
            out.write_str("(")?;
            write_f64(out, re)?;
            out.write_str(", ")?;
            write_f64(out, im)?;
            out.write_str(")")
        }
        _ => match FloatFormat::of(ty) {
            Some(format) => write_small(out, format, element(literal, at)),
            None => write!(out, "{}", literal.integer_at(at).unwrap_or_default()),
        },
    }
}

fn element<T: bytemuck::Pod + Default>(literal: &Literal, at: usize) -> T {
    literal.elements::<T>().get(at).copied().unwrap_or_default()
}

fn write_small(out: &mut dyn Write, format: FloatFormat, bits: u8) -> fmt::Result {
    let value = format.decode(bits.into());
    if value.is_nan() {
        return if format.has_infinity() {
            write_nan(out, bits.into(), format.mantissa_bits, 8)
        } else {
            // The only NaN of a `fnuz` type is what would be the negative zero.
            let negative = value.is_sign_negative() || format.special == Special::Fnuz;
            out.write_str(if negative { "-nan" } else { "nan" })
        };
    }
    // C++'s max_digits10: 1 + digits * log10(2), rounded up, the implicit digit included.
    let digits = match format.mantissa_bits + 1 {
        0..=3 => 2,
        4..=6 => 3,
        _ => 4,
    };
    write_g(out, value, digits)
}
