//! Patterns on conversions and copies.

use crate::support::constants::{splat_value, wide_integer_bytes};
use crate::support::rewrite::{Cx, Pattern, same_layout};
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "convert-same",
        "convert(x) to the type of x → x",
        &[Opcode::Convert, Opcode::BitcastConvert],
        convert_same,
    ),
    Pattern::new(
        "convert-convert",
        "convert(convert(x)) → convert(x) or x, if the inner conversion is exact",
        &[Opcode::Convert],
        convert_convert,
    ),
    Pattern::new(
        "bitcast-convert-twice",
        "bitcast-convert(bitcast-convert(x)) → bitcast-convert(x)",
        &[Opcode::BitcastConvert],
        bitcast_convert_twice,
    ),
    Pattern::new(
        "bitcast-convert-concatenate",
        "bitcast-convert(concatenate(bitcast-convert(x), bitcast-convert(y))) to the type of x and y → concatenate(x, y)",
        &[Opcode::BitcastConvert],
        bitcast_convert_concatenate,
    ),
    Pattern::new(
        "convert-narrow",
        "convert(add(convert(x), convert(y))) to the type of x → add(x, y) (integers); also other operations with equal results",
        &[Opcode::Convert],
        convert_narrow,
    ),
    Pattern::new("copy", "copy(x) → x, if the layout is the same", &[Opcode::Copy], copy),
    Pattern::new("copy-copy", "copy(copy(x)) → copy(x)", &[Opcode::Copy], copy_copy),
    Pattern::new(
        "real-imag-convert",
        "real(convert(x)) → convert(x), imag(convert(x)) → 0 for real x",
        &[Opcode::Real, Opcode::Imag],
        real_imag_convert,
    ),
    Pattern::new(
        "convert-to-pred",
        "convert(x) to pred → compare(x, 0), NE",
        &[Opcode::Convert],
        convert_to_pred,
    ),
    Pattern::new(
        "reduce-precision",
        "reduce-precision(x) to the precision of x → x; two equal reduce-precisions → one",
        &[Opcode::ReducePrecision],
        reduce_precision,
    ),
];

fn convert_same(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0)?;
    cx.module[x].shape.compatible(&cx.module[id].shape).then_some(x)
}

/// Combines two conversions, if the first one preserves every value.
fn convert_convert(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let inner = cx.operand(id, 0)?;
    if cx.opcode(inner) != Opcode::Convert {
        return None;
    }
    let x = cx.operand(inner, 0)?;
    let (from, via, to) = (cx.element_type(x)?, cx.element_type(inner)?, cx.element_type(id)?);
    if !keeps_every_value(from, via) {
        return None;
    }
    if to == from {
        return Some(x);
    }
    // A conversion from integer to floating point to integer saturates, but a direct conversion wraps.
    let wraps_instead = via.is_float() && to.is_integer() && !keeps_every_value(from, to);
    (!wraps_instead).then(|| cx.add_same_shape(Op::Convert, &[x]))
}

/// Moves a concatenation past bitcast-converts that preserve the element width.
fn bitcast_convert_concatenate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let all = cx.operand(id, 0)?;
    let Op::Concatenate(a) = cx.module[all].op.clone() else { return None };
    let ty = cx.array(id)?.element_type;
    if !cx.used_only_by(all, id) {
        return None;
    }
    let mut parts = Vec::with_capacity(cx.module[all].operands.len());
    for &o in &cx.module[all].operands {
        let x = cx.operand(o, 0)?;
        // A bitcast-convert to another width changes the number of elements.
        let same = cx.opcode(o) == Opcode::BitcastConvert && cx.array(x)?.dims == cx.array(o)?.dims;
        parts.push((same && cx.array(x)?.element_type == ty).then_some(x)?);
    }
    Some(cx.add_same_shape(Op::Concatenate(a), &parts))
}

/// Returns whether converting a value from `from` to `to` and back restores it. NaN stays NaN.
pub fn keeps_every_value(from: ElementType, to: ElementType) -> bool {
    use ElementType::*;
    let integer_bits = |t: ElementType| if t.is_pred() { 1 } else { t.bit_width() };
    // The number of exponent bits, and of mantissa bits including the implicit one.
    let float_form = |t: ElementType| match t {
        F16 => Some((5, 11)),
        Bf16 => Some((8, 8)),
        F32 => Some((8, 24)),
        F64 => Some((11, 53)),
        F8E5M2 => Some((5, 3)),
        _ => None,
    };
    let whole = |t: ElementType| t.is_integer() || t.is_pred();
    match (float_form(from), float_form(to)) {
        (Some((e1, m1)), Some((e2, m2))) => e1 <= e2 && m1 <= m2,
        // The exponent of f16 only suffices for integers up to 2^15, but its 11 mantissa bits are the
        // stricter limit.
        (None, Some((_, mantissa))) if whole(from) => integer_bits(from) <= mantissa,
        (None, None) if whole(from) && to.is_integer() => {
            let (a, b) = (integer_bits(from), integer_bits(to));
            match (from.is_signed_integer(), to.is_signed_integer()) {
                (true, false) => false,
                (false, true) => a < b,
                (true, true) | (false, false) => a <= b,
            }
        }
        _ => false,
    }
}

fn bitcast_convert_twice(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let inner = cx.operand(id, 0)?;
    if cx.opcode(inner) != Opcode::BitcastConvert {
        return None;
    }
    let x = cx.operand(inner, 0)?;
    let widths = [x, inner, id].map(|i| cx.element_type(i).map(ElementType::bit_width));
    // Other widths change the sizes too, and types narrower than a byte have unused bits.
    let same = widths.iter().all(|w| *w == widths[0]) && widths[0].is_some_and(|w| w >= 8);
    same.then(|| cx.add_same_shape(Op::BitcastConvert, &[x]))
}

/// Rewrites a copy that does not change the layout.
fn copy(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0)?;
    same_layout(&cx.module[x].shape, &cx.module[id].shape).then_some(x)
}

/// Combines two copies, because only the layout of the second matters. Copies between memory spaces stay.
fn copy_copy(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let inner = cx.operand(id, 0).filter(|&c| cx.opcode(c) == Opcode::Copy)?;
    let x = cx.operand(inner, 0)?;
    let (middle, from, to) = (cx.array(inner)?, cx.array(x)?, cx.array(id)?);
    let place = |a: &ArrayShape| a.layout_items().cloned();
    let same = place(&middle) == place(&from) && place(&middle) == place(&to);
    same.then(|| cx.add_same_shape(Op::Copy, &[x]))
}

/// Moves a narrowing conversion before an operation. In sums, products and bitwise operations, low bits
/// depend only on low bits. Quotients and extrema have the same values in the narrow type.
fn convert_narrow(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let to = cx.array(id).filter(|a| a.element_type.is_integer() && a.element_type.bit_width() >= 8)?;
    let wide = cx.operand(id, 0).filter(|&w| cx.used_only_by(w, id))?;
    let (narrow, ty) = (to.element_type, cx.element_type(wide)?);
    let by_values = match cx.opcode(wide) {
        Opcode::Add | Opcode::Subtract | Opcode::Multiply | Opcode::And | Opcode::Or | Opcode::Xor => false,
        Opcode::Divide | Opcode::Remainder | Opcode::Maximum | Opcode::Minimum => true,
        _ => return None,
    };
    let loses = by_values && !keeps_every_value(narrow, ty);
    if !ty.is_integer() || ty.bit_width() <= narrow.bit_width() || loses {
        return None;
    }
    let mut operands = Vec::with_capacity(2);
    let mut constants = 0;
    let inputs = cx.module[wide].operands.clone();
    for &o in &inputs {
        if let Some(value) = splat_value(cx.module, o) {
            constants += 1;
            let bytes = match wide_integer_bytes(narrow, value) {
                None if by_values => return None,
                Some(bytes) => bytes,
                None => value.to_le_bytes().get(..narrow.byte_size())?.into(),
            };
            operands.push(cx.splat(&to, &bytes)?);
            continue;
        }
        let x = cx.operand(o, 0).filter(|_| cx.opcode(o) == Opcode::Convert)?;
        (cx.array(x)?.element_type == narrow).then(|| operands.push(x))?;
    }
    let op = cx.module[wide].op.clone();
    (constants < 2).then(|| cx.add_same_shape(op, &operands))
}

/// Rewrites the parts of a complex number that was converted from a real one.
fn real_imag_convert(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let convert = cx.operand(id, 0).filter(|&c| cx.opcode(c) == Opcode::Convert)?;
    let x = cx.operand(convert, 0)?;
    let part = cx.array(id)?;
    if !cx.element_type(convert)?.is_complex() || cx.element_type(x)?.is_complex() {
        return None;
    }
    if cx.opcode(id) == Opcode::Imag {
        return cx.splat_integer(&part, 0);
    }
    let same = cx.element_type(x)? == part.element_type;
    Some(if same { x } else { cx.add_same_shape(Op::Convert, &[x]) })
}

/// Rewrites a conversion to `pred` as a comparison with 0, for which there are other patterns.
fn convert_to_pred(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let x = cx.operand(id, 0).filter(|_| cx.element_type(id).is_some_and(ElementType::is_pred))?;
    let shape = cx.array(x)?;
    if shape.element_type.is_pred() {
        return None;
    }
    let zero = cx.splat_integer(&shape, 0)?;
    let direction = ComparisonDirection::Ne;
    Some(cx.add_same_shape(Op::compare(direction), &[x, zero]))
}

/// Rewrites a `reduce-precision` that has no effect.
fn reduce_precision(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::ReducePrecision(a) = &cx.module[id].op else { return None };
    let x = cx.operand(id, 0)?;
    if matches!(&cx.module[x].op, Op::ReducePrecision(b) if a == b) {
        return Some(x);
    }
    let (exponent, mantissa) = match cx.element_type(id)? {
        ElementType::F16 => (5, 10),
        ElementType::Bf16 => (8, 7),
        ElementType::F32 => (8, 23),
        ElementType::F64 => (11, 52),
        _ => return None,
    };
    (a.exponent_bits >= exponent && a.mantissa_bits >= mantissa).then_some(x)
}
