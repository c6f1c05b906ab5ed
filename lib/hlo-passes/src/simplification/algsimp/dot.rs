//! Patterns on dot.

use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::DotAttrs;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[Pattern::new(
    "dot-degenerate",
    "dot with batch dimensions of size 1, or free ones beside others → dot without them, reshaped",
    &[Opcode::Dot],
    dot_degenerate,
)];

/// One operand of a dot without its dimensions of size 1 that need not be there.
struct Side {
    sizes: Dims,
    batch: Dims,
    contracting: Dims,
    free: Dims,
}

/// Drops batch dimensions of size 1, and free dimensions of size 1 while another free dimension is left.
fn without_degenerate(
    shape: &ArrayShape,
    batch: &[i64],
    contracting: &[i64],
    drop_batch: &[bool],
) -> Option<Side> {
    let rank = shape.rank() as i64;
    let is_free = |d: &i64| !batch.contains(d) && !contracting.contains(d);
    let mut free: Vec<i64> = (0..rank).filter(is_free).collect();
    let real: Vec<i64> = free.iter().copied().filter(|&d| shape.dims[d as usize] != 1).collect();
    if free.len() > 1 {
        free = if real.is_empty() { free[..1].to_vec() } else { real };
    }
    let batch: Vec<i64> = batch.iter().zip(drop_batch).filter(|(_, drop)| !**drop).map(|(d, _)| *d).collect();
    let kept: Vec<i64> =
        (0..rank).filter(|d| free.contains(d) || batch.contains(d) || contracting.contains(d)).collect();
    let place = |d: &i64| kept.iter().position(|k| k == d).map(|p| p as i64);
    Some(Side {
        sizes: kept.iter().map(|&d| shape.dims[d as usize]).collect(),
        batch: batch.iter().map(place).collect::<Option<_>>()?,
        contracting: contracting.iter().map(place).collect::<Option<_>>()?,
        free: free.iter().map(|&d| shape.dims[d as usize]).collect(),
    })
}

/// Products of matrices are recognised more easily without dimensions of size 1.
fn dot_degenerate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    let &[lhs, rhs] = cx.module[id].operands.as_slice() else { return None };
    let (l, r, to) = (cx.array(lhs)?, cx.array(rhs)?, cx.array(id)?);
    let drop_batch: Vec<bool> = a
        .lhs_batch_dims
        .iter()
        .map(|&d| usize::try_from(d).ok().and_then(|d| l.dims.get(d)) == Some(&1))
        .collect();
    let left = without_degenerate(&l, &a.lhs_batch_dims, &a.lhs_contracting_dims, &drop_batch)?;
    let right = without_degenerate(&r, &a.rhs_batch_dims, &a.rhs_contracting_dims, &drop_batch)?;
    if left.sizes.len() == l.rank() && right.sizes.len() == r.rank() {
        return None;
    }
    let batch = left.batch.iter().map(|&d| left.sizes[d as usize]);
    let sizes: Dims = batch.chain(left.free.iter().copied()).chain(right.free.iter().copied()).collect();
    let operands = [cx.reshape(lhs, &left.sizes)?, cx.reshape(rhs, &right.sizes)?];
    let attrs = DotAttrs {
        lhs_batch_dims: left.batch,
        lhs_contracting_dims: left.contracting,
        rhs_batch_dims: right.batch,
        rhs_contracting_dims: right.contracting,
        ..*a
    };
    let product = cx.add(ArrayShape::new(to.element_type, sizes), Op::Dot(Box::new(attrs)), &operands);
    cx.reshape(product, &to.dims)
}
