//! `broadcast_canonicalizer`: makes the dimension map of every broadcast ascending.
//!
//! ```text
//! x = f32[4,2] parameter(0)                         x = f32[4,2] parameter(0)
//! b = f32[2,3,4] broadcast(x), dimensions={2,0}  →  t = f32[2,4] transpose(x), dimensions={1,0}
//!                                                   b = f32[2,3,4] broadcast(t), dimensions={0,2}
//! ```
//!
//! The transpose is applied to the operand, which is smaller than the result.

use crate::pass_info::PassInfo;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ArrayShape, InstrId, Op, Opcode};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "broadcast_canonicalizer",
    summary: "sort the dimensions of every broadcast by transposing its operand",
    example: "\
HloModule broadcast_canonicalizer

ENTRY e {
  x = f32[4,2] parameter(0)
  ROOT b = f32[2,3,4] broadcast(x), dimensions={2,0}
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "sorted-broadcast",
    "broadcast(x) with unsorted dimensions → broadcast(transpose(x))",
    &[Opcode::Broadcast],
    sorted_broadcast,
)];

fn sorted_broadcast(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Broadcast(a) = cx.module[id].op.clone() else { return None };
    if a.dimensions.is_sorted() {
        return None;
    }
    let x = cx.operand(id, 0)?;
    let from = cx.array(x)?;
    let mut order: Vec<usize> = (0..a.dimensions.len()).collect();
    order.sort_by_key(|&d| a.dimensions[d]);
    let sizes = order.iter().map(|&d| from.dims.get(d).copied()).collect::<Option<Vec<i64>>>()?;
    let transposed = Op::transpose(order.iter().map(|&d| d as i64));
    let x = cx.add(ArrayShape::new(from.element_type, sizes), transposed, &[x]);
    Some(cx.add_same_shape(Op::broadcast(order.iter().map(|&d| a.dimensions[d])), &[x]))
}
