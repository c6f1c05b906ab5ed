//! `bfloat16-propagation`: moves data as `bf16` if it is moved as `f32` and converted to `bf16` afterwards.
//!
//! ```text
//! convert(transpose(x) : f32) : bf16  →  transpose(convert(x) : bf16) : bf16
//! convert(convert(x) : f32) : bf16    →  x : bf16
//! ```
//!
//! The conversion moves up through all data movement until it meets another conversion. No result changes,
//! because the same elements are rounded. The pass does not rewrite a slice of a large array, unless the
//! array was `bf16` before, because more elements would be converted than needed.

use hlo_ir::{ElementType, InstrId, Op, Opcode};
use hlo_passes::PassInfo;
use hlo_passes::support::rewrite::{Cx, Pattern};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "bfloat16-propagation",
    summary: "round f32 values to bf16 before data movement instead of after it",
    example: "\
HloModule bfloat16_propagation

ENTRY e {
  x = bf16[2,3] parameter(0)
  w = f32[2,3] convert(x)
  t = f32[3,2] transpose(w), dimensions={1,0}
  ROOT r = bf16[3,2] convert(t)
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "rounded-move",
        "convert(move(x)) to bf16 → move(convert(x)), if move(x) has no other users",
        &[Opcode::Convert],
        rounded_move,
    ),
    Pattern::new(
        "round-trip",
        "convert(convert(x)) from bf16 to f32 to bf16 → x",
        &[Opcode::Convert],
        round_trip,
    ),
];

const NARROW: ElementType = ElementType::Bf16;
const WIDE: ElementType = ElementType::F32;

/// Returns the operand of a conversion from type `from` to type `to`.
fn converted(cx: &Cx<'_>, id: InstrId, from: ElementType, to: ElementType) -> Option<InstrId> {
    let x = cx.operand(id, 0).filter(|_| matches!(cx.module[id].op, Op::Convert))?;
    (cx.element_type(id)? == to && cx.element_type(x)? == from).then_some(x)
}

fn round_trip(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let wide = converted(cx, id, WIDE, NARROW)?;
    converted(cx, wide, NARROW, WIDE)
}

fn rounded_move(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let moved = converted(cx, id, WIDE, NARROW)?;
    let operands = cx.module[moved].operands.to_vec();
    let moves = cx.module[moved].opcode().traits().moves;
    let mut numbers = 0..operands.len();
    let is_computed = |n: usize| cx.element_type(operands[n]) == Some(WIDE) && !moves.contains(n);
    let only_moves = numbers.clone().any(|n| moves.contains(n)) && !numbers.any(is_computed);
    if !only_moves || !cx.used_only_by(moved, id) {
        return None;
    }
    let result = cx.array(moved)?;
    // The number of elements to convert, without those that were narrow before.
    let mut count = 0usize;
    for &o in &operands {
        let shape = cx.array(o)?;
        if shape.element_type == WIDE && converted(cx, o, NARROW, WIDE).is_none() {
            count = count.saturating_add(shape.element_count());
        }
    }
    // One element more than the result has adds no noticeable cost.
    if count > result.element_count().saturating_add(1) {
        return None;
    }
    let mut narrow = Vec::new();
    for o in operands {
        let shape = cx.array(o)?;
        narrow.push(if shape.element_type == WIDE {
            cx.add(shape.with_element_type(NARROW), Op::Convert, &[o])
        } else {
            o
        });
    }
    let op = cx.module[moved].op.clone();
    Some(cx.add_same_shape(op, &narrow))
}
