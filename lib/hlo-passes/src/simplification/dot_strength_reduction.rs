//! `dot-strength-reduction`: rewrites dots of vectors, or of a batch of vectors, as sums of elementwise
//! products.
//!
//! ```text
//! d = f32[8] dot(x, y), batch dimensions {0}, contracting {1}    →    p = f32[8,64] multiply(x, y)
//!                                                                    d = f32[8] reduce(p, 0), dimensions={1}, …
//! ```
//!
//! Kernels for matrix products gain from elements that are used several times, which such dots do not have.
//! Sums can be fused with the instructions that compute the vectors, and read memory in order. Floating-point
//! numbers narrower than `f32` are multiplied and added in `f32` and rounded once, as in dots. (XLA's
//! algebraic simplifier has this rewrite as an option of this name.)

use crate::pass_info::{PassInfo, Preservation};
use crate::support::rewrite::{Cx, Pattern, index};
use hlo_ir::attr::DotAttrs;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op, Opcode};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "dot-strength-reduction",
    summary: "replace products of vectors by sums of elementwise products",
    keeps: Preservation::Values,
    patterns: &[PATTERNS],
    example: "\
HloModule dot_strength_reduction

ENTRY e {
  x = f32[8,64] parameter(0)
  y = f32[8,64] parameter(1)
  ROOT d = f32[8] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
",
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "dot-reduce",
    "dot without free dimensions, except of size 1 → reduce(multiply(x, y))",
    &[Opcode::Dot],
    dot_reduce,
)];

/// Rewrites a dot of vectors.
fn dot_reduce(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    let &[lhs, rhs] = cx.module[id].operands.as_slice() else { return None };
    let (left, right, to) = (cx.array(lhs)?, cx.array(rhs)?, cx.array(id)?);
    if a.algorithm != Default::default() || ![&left, &right, &to].iter().all(|s| s.is_static()) {
        return None;
    }
    let ty = summed_in([left.element_type, right.element_type], to.element_type)?;
    let pairs = pairs(&a)?;
    let is_free = |shape: &ArrayShape, side: fn(&(usize, usize)) -> usize, d: usize| {
        !pairs.iter().any(|p| side(p) == d) && shape.dims[d] != 1
    };
    let count: i64 = a.lhs_contracting_dims.iter().map(|&d| left.dims[index(d).unwrap_or(0)]).product();
    let frees = (0..left.rank()).any(|d| is_free(&left, |p| p.0, d))
        || (0..right.rank()).any(|d| is_free(&right, |p| p.1, d));
    if frees || count < 2 || pairs.is_empty() {
        return None;
    }
    // Order the pairs by the dimensions of the left operand.
    let mut ordered = pairs.clone();
    ordered.sort_unstable();
    let sizes: Dims = ordered.iter().map(|&(l, _)| left.dims[l]).collect();
    let x = factor(cx, lhs, &ordered.iter().map(|p| p.0).collect::<Vec<_>>(), ty)?;
    let y = factor(cx, rhs, &ordered.iter().map(|p| p.1).collect::<Vec<_>>(), ty)?;
    let product = cx.add(ArrayShape::new(ty, sizes), Op::Multiply, &[x, y]);
    let batch = a.lhs_batch_dims.len();
    let place = |pair: &(usize, usize)| ordered.iter().position(|p| p == pair);
    let reduced: Vec<i64> =
        pairs[batch..].iter().map(|p| place(p).map(|n| n as i64)).collect::<Option<_>>()?;
    let zero = cx.zero(ty)?;
    let to_apply = cx.combiner(&Op::Add, ty);
    // The remaining dimensions are the batch, in the order of the left operand. The result needs them in the
    // order of the attributes.
    let mut left_over: Vec<usize> = (0..batch).collect();
    left_over.sort_unstable_by_key(|&n| pairs[n].0);
    let kept: Dims = left_over.iter().map(|&n| left.dims[pairs[n].0]).collect();
    let mut sorted = reduced;
    sorted.sort_unstable();
    let mut sum = cx.add(ArrayShape::new(ty, kept), Op::reduce(sorted, to_apply), &[product, zero]);
    if !left_over.is_sorted() {
        let order: Vec<i64> = (0..batch)
            .map(|n| left_over.iter().position(|&m| m == n).map(|m| m as i64))
            .collect::<Option<_>>()?;
        let dims: Dims = (0..batch).map(|n| left.dims[pairs[n].0]).collect();
        sum = cx.add(ArrayShape::new(ty, dims), Op::transpose(order), &[sum]);
    }
    let sum = cx.reshaped(sum, &to.dims)?;
    let plain = ArrayShape::new(ty, to.dims.iter().copied());
    Some(match (ty == to.element_type, cx.array(sum)? == to) {
        (true, true) => sum,
        (true, false) if plain.same_dims(&to) => cx.add_same_shape(Op::Copy, &[sum]),
        _ => cx.add_same_shape(Op::Convert, &[sum]),
    })
}

/// Returns the pairs of matching dimensions: batch dimensions first, then contracting dimensions.
fn pairs(a: &DotAttrs) -> Option<Vec<(usize, usize)>> {
    let left = a.lhs_batch_dims.iter().chain(&a.lhs_contracting_dims);
    let right = a.rhs_batch_dims.iter().chain(&a.rhs_contracting_dims);
    left.zip(right).map(|(&l, &r)| Some((index(l)?, index(r)?))).collect()
}

/// Returns the type in which products are computed and added, if it represents all values of the operands.
fn summed_in(factors: [ElementType; 2], to: ElementType) -> Option<ElementType> {
    let ty = match to {
        ElementType::F16 | ElementType::Bf16 => ElementType::F32,
        other => other,
    };
    let is_known = matches!(ty, ElementType::F32 | ElementType::F64)
        || ty.is_complex()
        || ty.is_integer() && ty.bit_width() >= 8;
    let fits = |from: ElementType| {
        from == ty
            || from.bit_width() < ty.bit_width()
                && (from.is_float() && ty.is_float() || from.is_integer() && ty.is_integer())
    };
    (is_known && !to.is_pred() && factors.into_iter().all(fits)).then_some(ty)
}

/// Transposes an operand, converts it, and removes dimensions of size 1 that are not in `order`.
fn factor(cx: &mut Cx<'_>, id: InstrId, order: &[usize], ty: ElementType) -> Option<InstrId> {
    let shape = cx.array(id)?;
    let mut present: Vec<usize> = order.to_vec();
    present.sort_unstable();
    let sizes: Dims = present.iter().map(|&d| shape.dims[d]).collect();
    let mut made = cx.reshaped(id, &sizes)?;
    if shape.element_type != ty {
        made = cx.add(ArrayShape::new(ty, sizes), Op::Convert, &[made]);
    }
    if order.is_sorted() {
        return Some(made);
    }
    let map: Vec<i64> =
        order.iter().map(|d| present.iter().position(|p| p == d).map(|n| n as i64)).collect::<Option<_>>()?;
    let dims: Dims = order.iter().map(|&d| shape.dims[d]).collect();
    Some(cx.add(ArrayShape::new(ty, dims), Op::transpose(map), &[made]))
}
