//! `convert-mover`: data is moved in the narrower type.
//!
//! ```text
//! t = f32[3,2] transpose(x)                c = bf16[2,3] convert(x)
//! ROOT c = bf16[3,2] convert(t)       →    ROOT t = bf16[3,2] transpose(c)
//! ```
//!
//! Conversions to fewer bits go before the operations that move, those to more bits go after them. Each element is
//! converted as before. A conversion goes only where there are as many elements to convert, or fewer.

use crate::PassInfo;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ElementType, InstrId, Op, Opcode};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "convert-mover",
    summary: "move narrowing conversions up and widening ones down, past data movement",
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
        "move(convert(x)) from fewer bits → convert(move(x)) for concatenate, reshape, reverse, slice, transpose",
        &[Opcode::Concatenate, Opcode::Reshape, Opcode::Reverse, Opcode::Slice, Opcode::Transpose],
        widen_after,
    ),
];

/// The bits of an element.
fn bits(ty: ElementType) -> u32 {
    if ty.is_pred() { 1 } else { ty.bit_width() }
}

/// True for a conversion to more bits: data is moved before it.
pub(super) fn widens(cx: &Cx<'_>, id: InstrId) -> bool {
    let from = cx.operand(id, 0).and_then(|x| cx.element_type(x));
    cx.opcode(id) == Opcode::Convert
        && from.zip(cx.element_type(id)).is_some_and(|(from, to)| bits(from) < bits(to))
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
    Some(cx.instead(op, &narrow))
}

fn widen_after(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let shape = cx.array(id)?;
    let mut from: Option<ElementType> = None;
    let mut narrow = Vec::new();
    for &o in &cx.module[id].operands {
        let x = cx.operand(o, 0)?;
        let ty = cx.array(x)?.element_type;
        if !widens(cx, o) || from.is_some_and(|f| f != ty) || !cx.used_only_by(o, id) {
            return None;
        }
        from = Some(ty);
        narrow.push(x);
    }
    let op = cx.module[id].op.clone();
    let moved = cx.add(shape.with_element_type(from?), op, &narrow);
    Some(cx.instead(Op::Convert, &[moved]))
}
