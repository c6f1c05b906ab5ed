//! `dynamic-index-splitter`: replaces an array of indices of a dynamic slice or update by scalar operands.
//!
//! ```text
//! s = f32[2,2] dynamic-slice(x, i)    →    i0 = s32[] reshape(slice(i)), slice={[0:1]}
//!                                          i1 = s32[] reshape(slice(i)), slice={[1:2]}
//!                                          s = f32[2,2] dynamic-slice(x, i0, i1)
//! ```

use hlo_ir::attr::SliceDim;
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Opcode};
use hlo_passes::PassInfo;
use hlo_passes::support::rewrite::{Cx, Pattern};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "dynamic-index-splitter",
    summary: "split the index arrays of dynamic slices and updates into scalars",
    example: "\
HloModule dynamic_index_splitter

ENTRY e {
  x = f32[4,5] parameter(0)
  i = s32[2] parameter(1)
  ROOT s = f32[2,2] dynamic-slice(x, i), dynamic_slice_sizes={2,2}
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "split-index",
    "dynamic-slice(x, i) → dynamic-slice(x, i[0], i[1], …); also dynamic-update-slice",
    &[Opcode::DynamicSlice, Opcode::DynamicUpdateSlice],
    split,
)];

fn split(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let arrays = if cx.opcode(id) == Opcode::DynamicSlice { 1 } else { 2 };
    let mut operands = cx.module[id].operands.to_vec();
    if operands.len() != arrays + 1 {
        return None;
    }
    let indices = operands.pop()?;
    let count = match cx.array(indices)?.dims.as_slice() {
        &[count] => count,
        _ => return None,
    };
    for at in 0..count {
        let one = cx.slice(indices, vec![SliceDim { start: at, limit: at + 1, stride: 1 }])?;
        operands.push(cx.reshaped(one, &[])?);
    }
    let op = cx.module[id].op.clone();
    Some(cx.add_same_shape(op, &operands))
}
