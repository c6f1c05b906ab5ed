//! `dot_dimension_merger`: batch dimensions that lie side by side in both operands become one.
//!
//! ```text
//! d = f32[2,3,4,5] dot(x, y), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, …
//! →
//! d = f32[6,4,5] dot(reshape(x), reshape(y)), lhs_batch_dims={0}, rhs_batch_dims={0}, …
//! r = f32[2,3,4,5] reshape(d)
//! ```

use crate::PassInfo;
use crate::support::rewrite::{Cx, Pattern, index};
use hlo_ir::attr::DotAttrs;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "dot_dimension_merger",
    summary: "merge neighbouring batch dimensions of dots",
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

/// The first of the dimensions, if each is the one after the other.
fn first_of_neighbours(dims: &Dims) -> Option<i64> {
    let first = *dims.first()?;
    dims.iter().zip(0..).all(|(&d, n)| d == first + n).then_some(first)
}

/// A dimension's number once `count` of them, from `first` on, are one.
fn renumbered(d: i64, first: i64, count: i64) -> i64 {
    if d < first { d } else { d - (count - 1) }
}

/// The operand with these dimensions as one.
fn merged(cx: &mut Cx<'_>, x: InstrId, first: i64, count: usize) -> Option<InstrId> {
    let dims = cx.array(x)?.dims;
    let first = index(first)?;
    let batch = dims.get(first..first.checked_add(count)?)?;
    let one = batch.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    let rest = dims.get(first + count..)?;
    let sizes: Dims = dims.iter().take(first).chain([&one]).chain(rest).copied().collect();
    cx.reshape(x, &sizes)
}

fn merge(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    let &[lhs, rhs] = cx.module[id].operands.as_slice() else { return None };
    let count = a.lhs_batch_dims.len();
    if count < 2 || a.rhs_batch_dims.len() != count {
        return None;
    }
    let (left, right) = (first_of_neighbours(&a.lhs_batch_dims)?, first_of_neighbours(&a.rhs_batch_dims)?);
    let to = cx.array(id)?;
    let operands = [merged(cx, lhs, left, count)?, merged(cx, rhs, right, count)?];
    let batch = to.dims.get(..count)?.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    let sizes: Dims = [batch].iter().chain(to.dims.get(count..)?).copied().collect();
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
    let product = cx.add(ArrayShape::new(to.element_type, sizes), Op::Dot(Box::new(attrs)), &operands);
    cx.reshape(product, &to.dims)
}
