//! `ReduceWindowToReduceAndBroadcast`: if every window contains all elements, reduces once and broadcasts the
//! result.
//!
//! ```text
//! r = f32[4,7] reduce-window(x, 0), window={size=1x13 pad=0_0x6_6}, to_apply=add      x = f32[4,7]
//! →
//! s = f32[4] reduce(x, 0), dimensions={1}, to_apply=add
//! r = f32[4,7] broadcast(s), dimensions={0}
//! ```
//!
//! In every dimension, the window must contain either one element, or all elements at every position. Padding
//! must not affect the result.

use crate::pass_info::PassInfo;
use crate::support::combiner::{binary_combiner, is_padding};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::WindowDim;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "ReduceWindowToReduceAndBroadcast",
    summary: "replace a reduce-window whose windows all cover the whole array by a reduce and a broadcast",
    example: "\
HloModule reduce_window_to_reduce

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[4,7] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[4,7] reduce-window(x, zero), window={size=1x13 pad=0_0x6_6}, to_apply=add
}
",
    patterns: &[WHOLE_WINDOW],
    ..PassInfo::PLAIN
};

/// The pattern, which `algsimp` uses too.
pub(crate) static WHOLE_WINDOW: &[Pattern] = &[Pattern::new(
    "whole-window",
    "reduce-window(x, init) whose windows contain all elements → broadcast(reduce(x, init))",
    &[Opcode::ReduceWindow],
    rewrite,
)];

/// Returns whether the window contains only the element at the same index.
fn is_single(w: &WindowDim) -> bool {
    w.size == 1 && w.stride == 1 && w.pad_low == 0 && w.pad_high == 0 && w.lhs_dilate == 1
}

/// Returns whether each of `count` windows contains all `size` elements.
fn covers(w: &WindowDim, size: i64, count: i64) -> Option<bool> {
    let last_start = count.checked_sub(1)?.checked_mul(w.stride)?.checked_sub(w.pad_low)?;
    let first_end = w.size.checked_sub(1)?.checked_sub(w.pad_low)?;
    let plain = w.lhs_dilate == 1 && w.rhs_dilate == 1 && !w.reversed && count > 0 && w.pad_low >= 0;
    Some(plain && last_start <= 0 && first_end >= size.checked_sub(1)?)
}

fn rewrite(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::ReduceWindow(a) = cx.module[id].op.clone() else { return None };
    let &[x, init] = cx.module[id].operands.as_slice() else { return None };
    let (from, to) = (cx.array(x)?, cx.array(id)?);
    let op = binary_combiner(cx.module, a.to_apply)?;
    if a.window.dims.len() != from.rank() || !is_padding(cx.module, op, init)? {
        return None;
    }
    let (mut reduced, mut kept) = (Dims::new(), Dims::new());
    for (d, w) in a.window.dims.iter().enumerate() {
        if is_single(w) {
            kept.push(d as i64);
        } else if covers(w, from.dims[d], *to.dims.get(d)?)? {
            reduced.push(d as i64);
        } else {
            return None;
        }
    }
    if reduced.is_empty() {
        return None;
    }
    let shape = ArrayShape::new(from.element_type, kept.iter().map(|&d| from.dims[d as usize]));
    let reduce = Op::reduce(reduced, a.to_apply);
    let once = cx.add(shape, reduce, &[x, init]);
    Some(cx.add_same_shape(Op::broadcast(kept), &[once]))
}
