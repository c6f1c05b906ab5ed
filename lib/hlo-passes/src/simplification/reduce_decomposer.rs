//! `reduce-decomposer`: a reduction leaves the dimensions that it keeps in the order in memory that they have; another
//! order is a copy's business.
//!
//! ```text
//! r = f32[2,3]{0,1} reduce(x, v), dimensions={2}, …     x = f32[2,3,4]{2,1,0}
//! →
//! s = f32[2,3]{1,0} reduce(x, v), dimensions={2}, …
//! r = f32[2,3]{0,1} copy(s)
//! ```
//!
//! Of several arrays reduced together the first one's layout counts, as in XLA. Layouts with tiles or element sizes stay.

use crate::PassInfo;
use crate::support::expander::{Emitter, expansion_pass};
use crate::support::rewrite::same_layout;
use hlo_ir::{ArrayShape, InstrId, Layout, Op, Shape};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "reduce-decomposer",
    summary: "split reductions that change the layout into a reduction and a copy",
    example: "\
HloModule reduce_decomposer

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[2,3,4]{2,1,0} parameter(0)
  v = f32[] parameter(1)
  r = f32[2,3]{0,1} reduce(x, v), dimensions={2}, to_apply=add
  ROOT n = f32[2,3]{0,1} negate(r)
}
",
    build: |_, _| expansion_pass("reduce-and-copy", |op| matches!(op, Op::Reduce(_)), expand),
    ..PassInfo::PLAIN
};

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Reduce(a) = e.module[id].op.clone() else { return None };
    let from = e.array(e.operand(0)?)?;
    // The dimensions that are kept, from the fastest on, with their new numbers.
    let kept: Vec<usize> = (0..from.rank()).filter(|d| !a.dimensions.contains(&(*d as i64))).collect();
    let order = from.minor_to_major().into_iter();
    let order = order.filter_map(|d| kept.iter().position(|&k| k == d)).map(|d| d as u32);
    let layout = Layout::new(order);
    let plain = |s: &Shape| {
        let items = |a: &ArrayShape| a.layout_items().is_some();
        s.leaves().iter().all(|s| s.as_array().is_some_and(|a| !items(a)))
    };
    let expected = |s: &Shape| -> Option<Shape> {
        let a = s.as_array()?;
        let bare = ArrayShape { layout: None, ..a.clone() };
        Some(bare.with_layout(layout.clone()).into())
    };
    let operands = e.module[id].operands.to_vec();
    let all_plain = operands.iter().all(|&o| plain(&e.module[o].shape));
    let shape = e.shape();
    if !plain(&shape) || !all_plain {
        return None;
    }
    let Some(parts) = shape.as_tuple().map(<[_]>::to_vec) else {
        let to = expected(&shape)?;
        if same_layout(&to, &shape) {
            return None;
        }
        let reduced = e.add(to, Op::Reduce(a), &operands);
        return e.finish(reduced, &shape);
    };
    let to: Vec<Shape> = parts.iter().map(expected).collect::<Option<_>>()?;
    if to.iter().zip(&parts).all(|(a, b)| same_layout(a, b)) {
        return None;
    }
    let reduced = e.add(Shape::Tuple(to), Op::Reduce(a), &operands);
    let elements = e.elements(reduced)?;
    e.results(&elements)
}
