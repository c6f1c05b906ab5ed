//! `scatter-slice-simplifier`: replaces a slice of a scatter by a scatter into a slice.
//!
//! ```text
//! s = f32[9] scatter(x, i, u), …           x8 = f32[8] slice(x), slice={[0:8]}
//! ROOT r = f32[8] slice(s), slice={[0:8]}  →   ROOT r = f32[8] scatter(x8, i, u), …
//! ```
//!
//! The scatter skips windows outside of the array. In dimensions that the slice cuts, windows must have size
//! 1, so that each window is either inside or outside. Programs often scatter values that they want to
//! discard to the last elements of an array.

use hlo_ir::{InstrId, Op, Opcode};
use hlo_passes::PassInfo;
use hlo_passes::support::rewrite::{Cx, Pattern};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "scatter-slice-simplifier",
    summary: "scatter only to the part of an array that is used",
    example: "\
HloModule scatter_slice_simplifier

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[9] parameter(0)
  i = s32[20,1] parameter(1)
  u = f32[20] parameter(2)
  s = f32[9] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  ROOT r = f32[8] slice(s), slice={[0:8]}
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "scatter-to-slice",
    "slice(scatter(x, i, u)) that starts at 0 → scatter(slice(x), i, u)",
    &[Opcode::Slice],
    simplify,
)];

fn simplify(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Slice(s) = cx.module[id].op.clone() else { return None };
    let scatter = cx.operand(id, 0).filter(|&x| cx.used_only_by(x, id))?;
    let Op::Scatter(a) = cx.module[scatter].op.clone() else { return None };
    let &[x, indices, updates] = cx.module[scatter].operands.as_slice() else { return None };
    let (from, to) = (cx.array(x)?.dims, cx.array(id)?);
    if to.dims.contains(&0) || from == to.dims || !s.slice.iter().all(|r| r.start == 0 && r.stride == 1) {
        return None;
    }
    for (d, (before, after)) in from.iter().zip(&to.dims).enumerate() {
        let single = a.inserted_window_dims.contains(&(d as i64));
        if before != after && !single {
            return None;
        }
    }
    let part = cx.slice(x, s.slice)?;
    Some(cx.add_same_shape(Op::Scatter(a), &[part, indices, updates]))
}
