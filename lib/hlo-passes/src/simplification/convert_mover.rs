//! `convert-mover`: moves data in the narrower type.
//!
//! ```text
//! t = f32[3,2] transpose(x)                c = bf16[2,3] convert(x)
//! ROOT c = bf16[3,2] convert(t)       →    ROOT t = bf16[3,2] transpose(c)
//! ```
//!
//! Narrowing conversions move before operations that move data, and widening conversions after them. Each
//! element is converted as before. A conversion only moves if it then converts no more elements. It moves
//! past a `pad` if the intermediate array does not grow.
//!
//! Other operands of the operation, such as the value of a `pad`, may be constants that the narrower type
//! represents exactly.

use crate::pass_info::PassInfo;
use crate::support::constants::literal;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ArrayShape, ElementType, InstrId, Module, Op, Opcode};
use std::slice::from_ref;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "convert-mover",
    summary: "move narrowing conversions before data movement, and widening ones after it",
    example: "\
HloModule convert_mover

ENTRY e {
  x = f32[2,3] parameter(0)
  t = f32[3,2] transpose(x), dimensions={1,0}
  ROOT c = bf16[3,2] convert(t)
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "narrow-before",
        "convert(move(x)) to fewer bits → move(convert(x)) for broadcast, concatenate, pad, reshape, reverse, transpose",
        &[Opcode::Convert],
        narrow_before,
    ),
    Pattern::new(
        "widen-after",
        "move(convert(x)) from fewer bits → convert(move(x)) for concatenate, pad, reshape, reverse, slice, transpose",
        &[
            Opcode::Concatenate,
            Opcode::Pad,
            Opcode::Reshape,
            Opcode::Reverse,
            Opcode::Slice,
            Opcode::Transpose,
        ],
        widen_after,
    ),
];

/// Returns the number of bits per element.
pub(super) fn bits(ty: ElementType) -> u32 {
    if ty.is_pred() { 1 } else { ty.bit_width() }
}

/// Returns whether the instruction is a widening conversion.
pub(super) fn widens(module: &Module, id: InstrId) -> bool {
    let element_type = |i: InstrId| module[i].shape.as_array().map(|a| a.element_type);
    let from = module[id].operands.first().and_then(|&x| element_type(x));
    module[id].opcode() == Opcode::Convert
        && from.zip(element_type(id)).is_some_and(|(from, to)| bits(from) < bits(to))
}

fn narrow_before(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let moved = cx.operand(id, 0)?;
    let to = cx.array(id)?.element_type;
    let moves = matches!(
        cx.module[moved].op,
        Op::Broadcast(_)
            | Op::Concatenate(_)
            | Op::Pad(_)
            | Op::Reshape(_)
            | Op::Reverse(_)
            | Op::Transpose(_)
    );
    if !moves || bits(to) >= bits(cx.element_type(moved)?) || !cx.used_only_by(moved, id) {
        return None;
    }
    let operands = cx.module[moved].operands.to_vec();
    let shapes: Vec<_> = operands.iter().map(|&o| cx.array(o)).collect::<Option<_>>()?;
    let narrow: Vec<InstrId> = operands
        .iter()
        .zip(shapes)
        .map(|(&o, shape)| cx.add(shape.with_element_type(to), Op::Convert, &[o]))
        .collect();
    let op = cx.module[moved].op.clone();
    Some(cx.add_same_shape(op, &narrow))
}

fn widen_after(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let shape = cx.array(id)?;
    let mut from: Option<ElementType> = None;
    // The converted operands, and constants that may be narrowed.
    let mut operands = Vec::new();
    for &o in &cx.module[id].operands {
        if matches!(cx.module[o].op, Op::Constant(_)) {
            operands.push((o, true));
            continue;
        }
        let x = cx.operand(o, 0)?;
        let ty = cx.array(x)?.element_type;
        if !widens(cx.module, o) || from.is_some_and(|f| f != ty) || !cx.used_only_by(o, id) {
            return None;
        }
        from = Some(ty);
        operands.push((x, false));
    }
    let from = from?;
    if cx.opcode(id) == Opcode::Pad && !is_not_larger(cx, &shape, &operands, from)? {
        return None;
    }
    let mut narrow = Vec::with_capacity(operands.len());
    for (x, is_constant) in operands {
        narrow.push(if is_constant { narrowed(cx, x, from)? } else { x });
    }
    let op = cx.module[id].op.clone();
    let moved = cx.add(shape.with_element_type(from), op, &narrow);
    Some(cx.add_same_shape(Op::Convert, &[moved]))
}

/// Returns whether the padded array in the narrower type is at most as large as the unpadded array in the
/// wider type.
fn is_not_larger(
    cx: &Cx<'_>,
    padded: &ArrayShape,
    operands: &[(InstrId, bool)],
    narrow: ElementType,
) -> Option<bool> {
    let elements = cx.array(operands.first()?.0)?.checked_element_count()?;
    let bytes = |ty: ElementType, n: i64| n.checked_mul(ty.byte_size() as i64);
    Some(bytes(narrow, padded.checked_element_count()?)? <= bytes(padded.element_type, elements)?)
}

/// Returns a constant in a narrower type, if converting it back restores the same bits.
fn narrowed(cx: &mut Cx<'_>, id: InstrId, to: ElementType) -> Option<InstrId> {
    /// Maximum size in bytes of a constant that is examined.
    const MAX_BYTES: usize = 4096;
    let value = literal(cx.module, id).filter(|l| l.bytes().len() <= MAX_BYTES)?.clone();
    let shape = cx.array(id)?;
    let to = shape.with_element_type(to);
    let there = cx.add(to.clone(), Op::Convert, &[id]);
    let back = cx.add(shape, Op::Convert, &[there]);
    let options = hlo_eval::Options::default();
    let narrow = hlo_eval::evaluate_instruction(cx.module, there, from_ref(&value), &options).ok()?;
    let wide = hlo_eval::evaluate_instruction(cx.module, back, from_ref(&narrow), &options).ok()?;
    (wide.bytes() == value.bytes()).then(|| cx.add(to, Op::constant(narrow), &[]))
}
