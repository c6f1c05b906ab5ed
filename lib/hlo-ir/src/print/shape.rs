//! Printing of shapes, and small helpers for all printing.

use crate::{ArrayShape, Shape};
use std::fmt::{self, Write};

/// Writes a non-negative integer.
///
/// A module's text consists mostly of names and small numbers, so `fmt` would dominate the time.
pub fn push_integer(out: &mut String, mut n: u64) {
    if n < 10 {
        return out.push(char::from(b'0' + n as u8));
    }
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    // Digits are ASCII.
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

/// Writes the comma before entry `i` of a list, with the index that XLA prints before every fifth entry.
pub fn push_separator(out: &mut String, i: usize, annotate: bool) {
    if i > 0 {
        out.push_str(", ");
        if annotate && i.is_multiple_of(5) {
            out.push_str("/*index=");
            push_integer(out, i as u64);
            out.push_str("*/");
        }
    }
}

/// Returns the text of a shape with its layout. The default is the row-major layout.
pub fn print_shape(shape: &Shape) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_shape(&mut out, shape, true);
    out
}

/// Writes a shape, with its layout if `layout` is true. XLA prints a layout for every array; the default is
/// row-major.
pub fn write_shape(out: &mut String, shape: &Shape, layout: bool) -> fmt::Result {
    match shape {
        Shape::Array(a) => write_array(out, a, layout),
        Shape::Tuple(elements) => {
            out.push('(');
            for (i, e) in elements.iter().enumerate() {
                push_separator(out, i, true);
                write_shape(out, e, layout)?;
            }
            out.push(')');
            Ok(())
        }
        Shape::Token => out.write_str("token[]"),
        Shape::Opaque => out.write_str("opaque[]"),
        Shape::Buffer(inner) => {
            out.push_str("b(");
            write_shape(out, inner, layout)?;
            out.push(')');
            Ok(())
        }
    }
}

fn write_array(out: &mut String, shape: &ArrayShape, layout: bool) -> fmt::Result {
    out.push_str(shape.element_type.name());
    out.push('[');
    for (i, &d) in shape.dims.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        match (shape.is_dynamic_dim(i), u64::try_from(d)) {
            (true, Err(_)) => out.push('?'),
            // An unbounded size must be dynamic. The shape is invalid, but is printed anyway.
            (false, Err(_)) if d == ArrayShape::UNBOUNDED => out.push('?'),
            (true, Ok(d)) => {
                out.push_str("<=");
                push_integer(out, d);
            }
            (false, Ok(d)) => push_integer(out, d),
            (false, Err(_)) => write!(out, "{d}")?,
        }
    }
    out.push(']');
    match &shape.layout {
        _ if !layout => Ok(()),
        Some(l) => write!(out, "{l}"),
        None if shape.rank() == 0 => Ok(()),
        None => {
            out.push('{');
            for d in (0..shape.rank()).rev() {
                push_integer(out, d as u64);
                out.push(if d == 0 { '}' } else { ',' });
            }
            Ok(())
        }
    }
}
