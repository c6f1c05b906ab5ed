//! `dot_dimension_merger`: merges batch dimensions that are adjacent in both operands.
//!
//! ```text
//! d = f32[2,3,4,5] dot(x, y), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, …
//! →
//! d = f32[6,4,5] dot(reshape(x), reshape(y)), lhs_batch_dims={0}, rhs_batch_dims={0}, …
//! r = f32[2,3,4,5] reshape(d)
//! ```
//!
//! The dimensions must be adjacent in memory too, so that the reshapes move no elements. The other dimensions
//! keep their order in memory.

use hlo_ir::attr::DotAttrs;
use hlo_ir::{ArrayShape, Dims, InstrId, Layout, Op, Opcode};
use hlo_passes::PassInfo;
use hlo_passes::support::rewrite::{Cx, Pattern, index};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "dot_dimension_merger",
    summary: "merge adjacent batch dimensions of dots",
    example: "\
HloModule dot_dimension_merger

ENTRY e {
  x = f32[2,3,4,8] parameter(0)
  y = f32[2,3,8,5] parameter(1)
  ROOT d = f32[2,3,4,5] dot(x, y), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={2}
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "merge-batch",
    "dot with batch dimensions b, b + 1, … of both operands → dot with one batch dimension, reshaped",
    &[Opcode::Dot],
    merge,
)];

/// Returns the first dimension, if the dimensions are consecutive.
fn first_of_neighbors(dims: &Dims) -> Option<i64> {
    let first = *dims.first()?;
    dims.iter().zip(0..).all(|(&d, n)| d == first + n).then_some(first)
}

/// Returns the new number of a dimension after `count` dimensions from `first` on are merged.
fn renumbered(d: i64, first: i64, count: i64) -> i64 {
    if d < first { d } else { d - (count - 1) }
}

/// Returns the shape with these dimensions merged. Returns `None` if they are not adjacent in memory.
fn merged(shape: &ArrayShape, first: i64, count: usize) -> Option<ArrayShape> {
    let first = index(first)?;
    let end = first.checked_add(count)?;
    let one = shape.dims.get(first..end)?.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    let rest = shape.dims.get(end..)?;
    let sizes = shape.dims.iter().take(first).chain([&one]).chain(rest).copied();
    let new = ArrayShape::new(shape.element_type, sizes);
    if shape.layout.is_none() {
        return Some(new);
    }
    let order = shape.minor_to_major();
    let places = order.iter().enumerate().filter(|(_, d)| (first..end).contains(*d)).map(|(place, _)| place);
    let (least, most) = (places.clone().min()?, places.max()?);
    if most - least + 1 != count || shape.layout_items().is_some() {
        return None;
    }
    let renumbered = order.iter().filter(|d| !(first + 1..end).contains(*d));
    let renumbered = renumbered.map(|&d| if d < end { d } else { d - (count - 1) } as u32);
    Some(new.with_layout(Layout::new(renumbered)))
}

fn merge(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    let &[lhs, rhs] = cx.module[id].operands.as_slice() else { return None };
    let count = a.lhs_batch_dims.len();
    if count < 2 || a.rhs_batch_dims.len() != count {
        return None;
    }
    let (left, right) = (first_of_neighbors(&a.lhs_batch_dims)?, first_of_neighbors(&a.rhs_batch_dims)?);
    let shapes = [(lhs, left), (rhs, right)].map(|(x, first)| merged(&cx.array(x)?, first, count));
    let [Some(of_lhs), Some(of_rhs)] = shapes else { return None };
    // The result is new, so it can have any layout.
    let to = cx.array(id)?;
    let result = merged(&to, 0, count).or_else(|| merged(&ArrayShape { layout: None, ..to }, 0, count))?;
    let operands = [cx.add(of_lhs, Op::reshape(), &[lhs]), cx.add(of_rhs, Op::reshape(), &[rhs])];
    let contracting = |dims: &Dims, first: i64| -> Dims {
        dims.iter().map(|&d| renumbered(d, first, count as i64)).collect()
    };
    let attrs = DotAttrs {
        lhs_batch_dims: [left].into_iter().collect(),
        lhs_contracting_dims: contracting(&a.lhs_contracting_dims, left),
        rhs_batch_dims: [right].into_iter().collect(),
        rhs_contracting_dims: contracting(&a.rhs_contracting_dims, right),
        ..*a
    };
    let product = cx.add(result, Op::Dot(Box::new(attrs)), &operands);
    Some(cx.add_same_shape(Op::reshape(), &[product]))
}
