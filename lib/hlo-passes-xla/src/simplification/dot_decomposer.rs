//! `dot_decomposer`: rewrites every dot as a matrix product, or as a batch of matrix products.
//!
//! ```text
//! x = f32[2,b,3,m], y = f32[b,n,3,2]
//! d = f32[b,m,n] dot(x, y), lhs_batch_dims={1}, lhs_contracting_dims={0,2}, rhs_batch_dims={0}, rhs_contracting_dims={3,2}
//! →
//! l = f32[b,m,6] reshape(transpose(x))
//! r = f32[b,6,n] reshape(transpose(y))
//! d = f32[b,m,n] dot(l, r), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
//! ```
//!
//! In the canonical form, the batch dimensions come first, in their original order. On the left, one free
//! dimension and the contracting dimension follow. On the right, the contracting dimension and one free
//! dimension follow. A side without free dimensions has none. Products are summed in the original order.

use hlo_ir::attr::DotAttrs;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};
use hlo_passes::PassInfo;
use hlo_passes::support::rewrite::{Cx, Pattern, index};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "dot_decomposer",
    summary: "replace dots by batched matrix products, with transposes and reshapes",
    example: "\
HloModule dot_decomposer

ENTRY e {
  x = f32[8,4] parameter(0)
  y = f32[5,8,3] parameter(1)
  ROOT d = f32[4,5,3] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={1}
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "canonical-dot",
    "dot → reshape(dot(reshape(transpose(x)), reshape(transpose(y)))) with one contracting and one free dimension per side",
    &[Opcode::Dot],
    canonicalize,
)];

/// The dimensions of an operand, by their role in the dot.
struct Side {
    batch: Dims,
    free: Dims,
    contracting: Dims,
}

impl Side {
    fn new(rank: usize, batch: &Dims, contracting: &Dims) -> Self {
        let free = (0..rank as i64).filter(|d| !batch.contains(d) && !contracting.contains(d)).collect();
        Self { batch: batch.clone(), free, contracting: contracting.clone() }
    }

    /// Returns the dimensions in canonical order.
    fn order(&self, left: bool) -> Dims {
        let (second, third) =
            if left { (&self.free, &self.contracting) } else { (&self.contracting, &self.free) };
        self.batch.iter().chain(second).chain(third).copied().collect()
    }

    /// Returns whether the operand is already canonical. A dot that sums over no dimension gets a contracting
    /// dimension.
    fn is_canonical(&self, left: bool) -> bool {
        let in_order = self.order(left).iter().copied().eq(0..self.order(left).len() as i64);
        in_order && self.contracting.len() == 1 && self.free.len() <= 1
    }

    /// Emits the operand in canonical form.
    fn operand(&self, cx: &mut Cx<'_>, x: InstrId, left: bool) -> Option<InstrId> {
        let from = cx.array(x)?;
        let order = self.order(left);
        let sizes = |dims: &Dims| -> Option<Dims> {
            dims.iter().map(|&d| from.dims.get(index(d)?).copied()).collect()
        };
        let x = if order.is_sorted() {
            x
        } else {
            let shape = ArrayShape::new(from.element_type, sizes(&order)?);
            cx.add(shape, Op::transpose(order.iter().copied()), &[x])
        };
        let product = |dims: &Dims| sizes(dims)?.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
        let mut canonical = sizes(&self.batch)?;
        let free = if self.free.is_empty() { None } else { Some(product(&self.free)?) };
        let contracting = Some(product(&self.contracting)?);
        canonical.extend(if left { [free, contracting] } else { [contracting, free] }.into_iter().flatten());
        cx.reshaped(x, &canonical)
    }
}

fn canonicalize(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    let &[lhs, rhs] = cx.module[id].operands.as_slice() else { return None };
    let left = Side::new(cx.array(lhs)?.rank(), &a.lhs_batch_dims, &a.lhs_contracting_dims);
    let right = Side::new(cx.array(rhs)?.rank(), &a.rhs_batch_dims, &a.rhs_contracting_dims);
    let to = cx.array(id)?;
    if left.is_canonical(true) && right.is_canonical(false) {
        return None;
    }
    let l = left.operand(cx, lhs, true)?;
    let r = right.operand(cx, rhs, false)?;
    let batch = left.batch.len();
    let (left_shape, right_shape) = (cx.array(l)?, cx.array(r)?);
    let mut sizes: Dims = left_shape.dims.iter().take(batch).copied().collect();
    sizes.extend(left_shape.dims.get(batch).copied().filter(|_| !left.free.is_empty()));
    sizes.extend(right_shape.dims.get(batch + 1).copied());
    let batch_dims: Dims = (0..batch as i64).collect();
    let attrs = DotAttrs {
        lhs_batch_dims: batch_dims.clone(),
        lhs_contracting_dims: [left_shape.rank() as i64 - 1].into_iter().collect(),
        rhs_batch_dims: batch_dims,
        rhs_contracting_dims: [batch as i64].into_iter().collect(),
        ..*a
    };
    let product = cx.add(ArrayShape::new(to.element_type, sizes), Op::Dot(Box::new(attrs)), &[l, r]);
    cx.reshaped(product, &to.dims)
}
