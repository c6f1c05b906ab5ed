//! Printing of types.

use super::attribute;
use super::float;
use crate::tree::{DYNAMIC, FloatType, Quantization, Signedness, TensorType, Type, TypeKind};
use std::fmt::Write;

/// Writes a type.
pub fn write(out: &mut String, ty: &Type) {
    match &**ty {
        TypeKind::Integer(bits, sign) => {
            let sign = match sign {
                Signedness::Signless => "i",
                Signedness::Signed => "si",
                Signedness::Unsigned => "ui",
            };
            let _ = write!(out, "{sign}{bits}");
        }
        TypeKind::Index => out.push_str("index"),
        TypeKind::None => out.push_str("none"),
        TypeKind::Float(float) => out.push_str(float.name()),
        TypeKind::Complex(part) => {
            out.push_str("complex<");
            write(out, part);
            out.push('>');
        }
        TypeKind::Quantized(quantization) => quantized(out, quantization),
        TypeKind::Tensor(tensor) => shaped(out, "tensor<", tensor),
        TypeKind::MemRef(tensor) => shaped(out, "memref<", tensor),
        TypeKind::UnrankedTensor(element) => {
            out.push_str("tensor<*x");
            write(out, element);
            out.push('>');
        }
        TypeKind::Tuple(parts) => {
            out.push_str("tuple<");
            list(out, parts);
            out.push('>');
        }
        TypeKind::Function { inputs, results } => function(out, inputs, results),
        TypeKind::Token => out.push_str("!stablehlo.token"),
        TypeKind::Future(parts) => {
            out.push_str("!stablehlo.future<");
            list(out, parts);
            out.push('>');
        }
        TypeKind::Other(text) => {
            out.push('!');
            out.push_str(text);
        }
    }
}

/// Writes types separated by commas.
pub fn list<'t>(out: &mut String, types: impl IntoIterator<Item = &'t Type>) {
    for (i, ty) in types.into_iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write(out, ty);
    }
}

/// Writes `(A, B) -> C`.
pub fn function<'t>(
    out: &mut String,
    inputs: impl IntoIterator<Item = &'t Type>,
    results: impl IntoIterator<Item = &'t Type>,
) {
    out.push('(');
    list(out, inputs);
    out.push_str(") -> ");
    let results: Vec<&Type> = results.into_iter().collect();
    match results[..] {
        [one] if !matches!(**one, TypeKind::Function { .. }) => write(out, one),
        _ => {
            out.push('(');
            list(out, results);
            out.push(')');
        }
    }
}

fn shaped(out: &mut String, start: &str, tensor: &TensorType) {
    out.push_str(start);
    for &size in &tensor.dims {
        write_size(out, size);
        out.push('x');
    }
    write(out, &tensor.element);
    if let Some(encoding) = &tensor.encoding {
        out.push_str(", ");
        attribute::write(out, encoding);
    }
    out.push('>');
}

/// Writes a size, or `?`.
pub fn write_size(out: &mut String, size: i64) {
    if size == DYNAMIC {
        out.push('?');
    } else {
        let _ = write!(out, "{size}");
    }
}

fn quantized(out: &mut String, q: &Quantization) {
    out.push_str("!quant.uniform<");
    let (bits, unsigned) = match *q.storage {
        TypeKind::Integer(bits, sign) => (bits, sign == Signedness::Unsigned),
        _ => (8, false),
    };
    let _ = write!(out, "{}{bits}", if unsigned { 'u' } else { 'i' });
    let half = 1i64 << bits.clamp(1, 62).saturating_sub(1);
    let whole_range = if unsigned { (0, 2 * half - 1) } else { (-half, half - 1) };
    if (q.storage_min, q.storage_max) != whole_range {
        let _ = write!(out, "<{}:{}>", q.storage_min, q.storage_max);
    }
    out.push(':');
    write(out, &q.expressed);
    if let Some(axis) = q.axis {
        let _ = write!(out, ":{axis}");
    }
    out.push_str(", ");
    let is_list = q.axis.is_some();
    if is_list {
        out.push('{');
    }
    for (i, (scale, zero_point)) in q.scales.iter().zip(&q.zero_points).enumerate() {
        if i > 0 {
            // MLIR prints no blank here.
            out.push(',');
        }
        float::write(out, scale.to_bits(), FloatType::F64);
        if *zero_point != 0 {
            let _ = write!(out, ":{zero_point}");
        }
    }
    if is_list {
        out.push('}');
    }
    out.push('>');
}
