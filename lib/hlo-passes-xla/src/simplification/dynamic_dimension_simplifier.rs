//! `dynamic-dimension-simplifier`: removes concatenations of sizes whose elements are extracted again.
//!
//! ```text
//! l = s32[2] concatenate(n, m), dimensions={0}
//! a = s32[1] slice(l), slice={[1:2]}       →    b = s32[] reshape(m)
//! b = s32[] reshape(a)
//! ```
//!
//! Such sizes are operands of `dynamic-reshape` and `set-dimension-size`. The pass only handles `s32` scalars
//! and lists; `algsimp` does the same for all arrays.

use hlo_ir::{ElementType, InstrId, Op, Opcode};
use hlo_passes::PassInfo;
use hlo_passes::parts::{concatenate_concatenate, slice_concatenate};
use hlo_passes::support::rewrite::{Cx, Pattern};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "dynamic-dimension-simplifier",
    summary: "simplify concatenations, slices and reshapes of lists of sizes (s32)",
    example: "\
HloModule dynamic_dimension_simplifier

ENTRY e {
  n = s32[1] parameter(0)
  m = s32[1] parameter(1)
  l = s32[2] concatenate(n, m), dimensions={0}
  a = s32[1] slice(l), slice={[1:2]}
  ROOT b = s32[] reshape(a)
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "sizes-concatenate",
        "concatenate(concatenate(a, b), c) → concatenate(a, b, c)",
        &[Opcode::Concatenate],
        |cx, id| are_sizes(cx, id).then(|| concatenate_concatenate(cx, id)).flatten(),
    ),
    Pattern::new(
        "sizes-slice",
        "slice(concatenate(…, a, …)) inside a → slice(a), or a if the slice contains all of it",
        &[Opcode::Slice],
        slice,
    ),
    Pattern::new("sizes-reshape", "reshape(reshape(a)) → reshape(a)", &[Opcode::Reshape], |cx, id| {
        let inner = cx.operand(id, 0).filter(|&inner| cx.opcode(inner) == Opcode::Reshape)?;
        let x = cx.operand(inner, 0).filter(|_| are_sizes(cx, id))?;
        Some(cx.add_same_shape(Op::reshape(), &[x]))
    }),
    Pattern::new("sizes-same", "reshape(a) to the dimensions of a → a", &[Opcode::Reshape], |cx, id| {
        let x = cx.operand(id, 0).filter(|_| are_sizes(cx, id))?;
        (cx.array(x)?.dims == cx.array(id)?.dims).then_some(x)
    }),
];

/// Returns whether the value is a scalar or a list of type `s32`.
fn are_sizes(cx: &Cx<'_>, id: InstrId) -> bool {
    cx.array(id).is_some_and(|a| a.element_type == ElementType::S32 && a.rank() <= 1)
}

fn slice(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    if !are_sizes(cx, id) {
        return None;
    }
    let part = slice_concatenate(cx, id)?;
    let whole = cx.operand(part, 0)?;
    Some(if cx.array(whole)?.dims == cx.array(id)?.dims { whole } else { part })
}
