//! Random values in every form of literals: special floats with payloads, extreme integers, complex numbers,
//! nested tuples.

use super::types::{Array, Type};
use crate::Numbers;
use hlo_ir::ElementType;

/// Returns the text of a random value of a type.
pub fn literal(ty: &Type, numbers: &mut Numbers) -> String {
    match ty {
        Type::Array(a) => nested(a, 0, numbers),
        Type::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|p| literal(p, numbers)).collect();
            format!("({})", parts.join(", "))
        }
        Type::Token | Type::Opaque => String::new(),
    }
}

fn nested(a: &Array, d: usize, numbers: &mut Numbers) -> String {
    if d == a.rank() {
        return element(a.element, numbers);
    }
    let parts: Vec<String> = (0..a.dims[d]).map(|_| nested(a, d + 1, numbers)).collect();
    format!("{{{}}}", parts.join(", "))
}

fn element(t: ElementType, numbers: &mut Numbers) -> String {
    if t.is_complex() {
        let part = t.real_type();
        return format!("({}, {})", element(part, numbers), element(part, numbers));
    }
    if t.is_pred() {
        return numbers.pick(&["true", "false"]).into();
    }
    if t.is_integer() {
        return integer(t, numbers);
    }
    let special = match t {
        // These types have neither infinities nor NaNs.
        ElementType::F4E2M1Fn | ElementType::F6E3M2Fn | ElementType::F6E2M3Fn => {
            &["0", "-0", "-1.5", "3"][..]
        }
        // This type only has powers of two.
        ElementType::F8E8M0Fnu => &["0.5", "4", "nan"],
        ElementType::F8E4M3Fn => &["0", "-0", "nan", "-nan", "448", "0.015625"],
        ElementType::F8E4M3B11Fnuz | ElementType::F8E5M2Fnuz | ElementType::F8E4M3Fnuz => {
            &["0", "nan", "-0.5", "8"]
        }
        ElementType::F8E5M2 | ElementType::F8E4M3 | ElementType::F8E3M4 => {
            &["-0", "inf", "-inf", "nan", "-nan", "0.5"]
        }
        _ => &["-0", "inf", "-inf", "nan", "-nan", "payload", "payload", "1e-5", "-6.5e+4", "0.1", "3.14159"],
    };
    match numbers.below(4) {
        0 => match numbers.pick(special) {
            "payload" => payload(t, numbers),
            other => other.into(),
        },
        _ => numbers.pick(&["1", "2", "0.5", "4"]).into(),
    }
}

fn integer(t: ElementType, numbers: &mut Numbers) -> String {
    let bits = t.bit_width();
    let (low, high) = if t.is_signed_integer() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    match numbers.below(6) {
        0 => low.to_string(),
        1 => high.to_string(),
        _ => (low.max(-1) + (numbers.bits() as i128 & 0x7f).min(high - low.max(-1))).to_string(),
    }
}

/// Returns a NaN with random payload bits.
fn payload(t: ElementType, numbers: &mut Numbers) -> String {
    let mantissa = match t {
        ElementType::F16 => 10,
        ElementType::Bf16 => 7,
        ElementType::F32 => 23,
        _ => 52,
    };
    let payload = (numbers.bits() & ((1u64 << mantissa) - 1)).max(1);
    format!("{}nan(0x{payload:x})", numbers.pick(&["", "-"]))
}
