//! Printing of array elements.

use super::{float, types};
use crate::tree::{Elements, FloatType, Signedness, Type, TypeKind};
use std::fmt::Write;

/// Maximum number of elements that are printed in decimal. Larger arrays are printed as hexadecimal digits.
const MAX_DECIMAL_ELEMENTS: usize = 100;

/// Writes `dense<…> : tensor<…>`.
pub fn write(out: &mut String, elements: &Elements) {
    without_type(out, elements);
    out.push_str(" : ");
    types::write(out, &elements.ty);
}

fn without_type(out: &mut String, elements: &Elements) {
    out.push_str("dense<");
    let tensor = elements.ty.as_tensor();
    let count = elements.count().unwrap_or(0);
    if let Some(tensor) = tensor
        && (count > 0 || elements.is_splat)
    {
        let size = elements.bytes.len() / if elements.is_splat { 1 } else { count.max(1) };
        let mut all = elements.bytes.chunks_exact(size.max(1));
        if elements.is_splat {
            element(out, all.next().unwrap_or_default(), &tensor.element);
        } else if count > MAX_DECIMAL_ELEMENTS {
            hex(out, &elements.bytes);
        } else {
            list(out, &mut all, &tensor.dims, &tensor.element);
        }
    }
    out.push('>');
}

fn hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push_str("\"0x");
    out.reserve(2 * bytes.len());
    for &b in bytes {
        out.push(DIGITS[usize::from(b >> 4)] as char);
        out.push(DIGITS[usize::from(b & 15)] as char);
    }
    out.push('"');
}

fn list<'b>(out: &mut String, all: &mut impl Iterator<Item = &'b [u8]>, dims: &[i64], ty: &Type) {
    let Some((&size, rest)) = dims.split_first() else {
        return element(out, all.next().unwrap_or_default(), ty);
    };
    out.push('[');
    for i in 0..size {
        if i > 0 {
            out.push_str(", ");
        }
        list(out, all, rest, ty);
    }
    out.push(']');
}

fn element(out: &mut String, bytes: &[u8], ty: &Type) {
    match &**ty {
        TypeKind::Integer(1, _) => out.push_str(if bytes.iter().any(|&b| b != 0) { "true" } else { "false" }),
        TypeKind::Integer(_, sign) => {
            let _ = match sign {
                Signedness::Unsigned => write!(out, "{}", bits(bytes)),
                _ => write!(out, "{}", signed(bytes)),
            };
        }
        TypeKind::Index => {
            let _ = write!(out, "{}", signed(bytes));
        }
        TypeKind::Float(of) => number(out, bytes, *of),
        TypeKind::Complex(part) => {
            if let TypeKind::Float(of) = **part {
                let (real, imaginary) = bytes.split_at(bytes.len() / 2);
                out.push('(');
                number(out, real, of);
                out.push(',');
                number(out, imaginary, of);
                out.push(')');
            }
        }
        _ => {}
    }
}

fn number(out: &mut String, bytes: &[u8], ty: FloatType) {
    float::write(out, bits(bytes), ty);
}

/// Returns the first eight bytes as a number.
fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |value, &b| value << 8 | u64::from(b))
}

fn signed(bytes: &[u8]) -> i64 {
    let unused = 64 - 8 * bytes.len().clamp(1, 8);
    (bits(bytes) << unused) as i64 >> unused
}
