//! Patterns on dot.

use super::convert::keeps_every_value;
use crate::support::rewrite::{Cx, Pattern, index};
use hlo_ir::attr::{ComparisonDirection, DotAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new("dot-nothing", "dot that sums over no elements → 0", &[Opcode::Dot], dot_nothing),
    Pattern::new(
        "dot-multiply",
        "dot that sums over one element → multiply of broadcasts; for floats, products of -0 become +0",
        &[Opcode::Dot],
        dot_multiply,
    ),
    Pattern::new(
        "dot-degenerate",
        "dot with batch dimensions of size 1, or free ones besides other free ones → dot without them, reshaped",
        &[Opcode::Dot],
        dot_degenerate,
    ),
    Pattern::new(
        "transpose-dot",
        "transpose(dot(x, y)) that swaps the dimensions of the operands → dot(y, x)",
        &[Opcode::Transpose],
        transpose_dot,
    ),
];

/// Returns the operands and attributes of a dot with two operands.
fn dot_parts(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, InstrId, Box<DotAttrs>)> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    match cx.module[id].operands.as_slice() {
        &[lhs, rhs] => Some((lhs, rhs, a)),
        _ => None,
    }
}

/// Returns the number of summed elements, from the sizes of the left operand.
fn summed(cx: &Cx<'_>, lhs: InstrId, a: &DotAttrs) -> Option<i64> {
    let dims = cx.array(lhs)?.dims;
    a.lhs_contracting_dims.iter().try_fold(1i64, |n, &d| n.checked_mul(*dims.get(index(d)?)?))
}

/// Rewrites a dot whose sums are empty.
fn dot_nothing(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (lhs, _, a) = dot_parts(cx, id)?;
    let to = cx.array(id)?;
    (summed(cx, lhs, &a)? == 0).then(|| cx.splat_integer(&to, 0)).flatten()
}

/// Emits an operand of a dot that sums over a single element, without that dimension and in the result's
/// type. Also returns the result dimension of each of its dimensions. `free` is the first result dimension of
/// its free dimensions.
fn factor(
    cx: &mut Cx<'_>,
    side: InstrId,
    (batch, contracting): (&[i64], &[i64]),
    free: usize,
    to: &ArrayShape,
) -> Option<(InstrId, Dims)> {
    let from = cx.array(side)?;
    let (mut sizes, mut map, mut next) = (Dims::new(), Dims::new(), free as i64);
    for (d, &size) in (0..).zip(&from.dims) {
        if contracting.contains(&d) {
            continue;
        }
        sizes.push(size);
        map.push(match batch.iter().position(|&b| b == d) {
            Some(place) => place as i64,
            None => {
                next += 1;
                next - 1
            }
        });
    }
    let mut side = cx.reshaped(side, &sizes)?;
    if from.element_type != to.element_type {
        side = cx.add(ArrayShape::new(to.element_type, sizes), Op::Convert, &[side]);
    }
    Some((side, map))
}

/// Emits a predicate of the sizes of the result that is true where either factor is 0.
fn zero_factors(cx: &mut Cx<'_>, factors: &[(InstrId, Dims)], to: &ArrayShape) -> Option<InstrId> {
    let mut either: Option<InstrId> = None;
    let all = to.with_element_type(ElementType::Pred);
    for (side, map) in factors {
        let shape = cx.array(*side)?;
        let zero = cx.splat_integer(&shape, 0)?;
        let equal = Op::compare(ComparisonDirection::Eq);
        let is_zero = cx.add(shape.with_element_type(ElementType::Pred), equal, &[*side, zero]);
        let is_zero = cx.broadcast(is_zero, &to.dims, map)?;
        either = Some(match either {
            None => is_zero,
            Some(other) => cx.add(all.clone(), Op::Or, &[other, is_zero]),
        });
    }
    either
}

/// Returns whether the product of one element of each side, in the type of the result, equals the sum of that
/// one product.
pub(super) fn is_exact_product(cx: &Cx<'_>, sides: &[InstrId], ty: ElementType) -> Option<bool> {
    // Complex products and products of narrow floating-point types round elsewhere.
    let known = ty.is_integer()
        || matches!(ty, ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64);
    let types: Vec<ElementType> = sides.iter().map(|&s| cx.element_type(s)).collect::<Option<_>>()?;
    Some(known && types.iter().all(|&from| from == ty || keeps_every_value(from, ty)))
}

/// Rewrites a dot in which each element of the result is a single product.
fn dot_multiply(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (lhs, rhs, a) = dot_parts(cx, id)?;
    let to = cx.array(id)?;
    let one = summed(cx, lhs, &a)? == 1 && a.algorithm == Default::default();
    if !one || !is_exact_product(cx, &[lhs, rhs], to.element_type)? {
        return None;
    }
    let batch = a.lhs_batch_dims.len();
    let left_free = cx.array(lhs)?.rank().checked_sub(batch + a.lhs_contracting_dims.len())?;
    let plain = ArrayShape::new(to.element_type, to.dims.iter().copied());
    let factors = [
        factor(cx, lhs, (&a.lhs_batch_dims, &a.lhs_contracting_dims), batch, &plain)?,
        factor(cx, rhs, (&a.rhs_batch_dims, &a.rhs_contracting_dims), batch + left_free, &plain)?,
    ];
    sum_of_product(cx, &factors, &plain)
}

/// Emits the product of two factors with their dimension maps, with the rounding and sign of a sum of this
/// single product. A floating-point sum begins with +0, so a product of -0 becomes +0. A product that is
/// rounded to 0 keeps its sign, because a sum is rounded once, at the end. Sums of `f64` are rounded after
/// the product.
pub(super) fn sum_of_product(
    cx: &mut Cx<'_>,
    factors: &[(InstrId, Dims); 2],
    plain: &ArrayShape,
) -> Option<InstrId> {
    let ty = plain.element_type;
    let mut spread = Vec::with_capacity(factors.len());
    for (side, map) in factors {
        spread.push(cx.broadcast(*side, &plain.dims, map)?);
    }
    if !ty.is_float() {
        return Some(cx.add_same_shape(Op::Multiply, &spread));
    }
    let product = cx.add(plain.clone(), Op::Multiply, &spread);
    let zero = cx.splat_integer(plain, 0)?;
    if ty == ElementType::F64 {
        return Some(cx.add_same_shape(Op::Add, &[product, zero]));
    }
    let positive = cx.add(plain.clone(), Op::Add, &[product, zero]);
    let zeros = zero_factors(cx, factors, plain)?;
    Some(cx.add_same_shape(Op::Select, &[zeros, positive, product]))
}

/// Moves a transpose into a dot with exchanged operands, which sums the same products in the same order.
fn transpose_dot(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Transpose(t) = cx.module[id].op.clone() else { return None };
    let dot = cx.operand(id, 0)?;
    let (lhs, rhs, a) = dot_parts(cx, dot)?;
    cx.array(id)?;
    let batch = a.lhs_batch_dims.len();
    let rank = cx.array(dot)?.rank();
    let left = cx.array(lhs)?.rank().checked_sub(batch + a.lhs_contracting_dims.len())?;
    let exchanged = (0..batch).chain(batch + left..rank).chain(batch..batch + left).map(|d| d as i64);
    if !exchanged.eq(t.dimensions.iter().copied())
        || !cx.used_only_by(dot, id)
        || a.algorithm != Default::default()
    {
        return None;
    }
    let a = *a;
    let mut operand_precision = a.operand_precision;
    operand_precision.0.reverse();
    let attrs = DotAttrs {
        lhs_batch_dims: a.rhs_batch_dims,
        lhs_contracting_dims: a.rhs_contracting_dims,
        rhs_batch_dims: a.lhs_batch_dims,
        rhs_contracting_dims: a.lhs_contracting_dims,
        operand_precision,
        algorithm: a.algorithm,
    };
    Some(cx.add_same_shape(Op::Dot(Box::new(attrs)), &[rhs, lhs]))
}

/// An operand of a dot without the dimensions of size 1 that are removed.
struct Side {
    sizes: Dims,
    batch: Dims,
    contracting: Dims,
    free: Dims,
}

/// Removes batch dimensions of size 1. If `drop_free` is true, also removes free dimensions of size 1 while
/// another free dimension remains.
fn without_degenerate(
    shape: &ArrayShape,
    batch: &[i64],
    contracting: &[i64],
    drop_batch: &[bool],
    drop_free: bool,
) -> Option<Side> {
    let rank = shape.rank() as i64;
    let is_free = |d: &i64| !batch.contains(d) && !contracting.contains(d);
    let mut free: Vec<i64> = (0..rank).filter(is_free).collect();
    let real: Vec<i64> = free.iter().copied().filter(|&d| shape.dims[d as usize] != 1).collect();
    if drop_free && free.len() > 1 {
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

/// Removes dimensions of size 1, so that matrix products are easier to recognize.
fn dot_degenerate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    drop_degenerate(cx, id, true)
}

/// The pattern for batch dimensions only, for the pass that uses nothing else.
pub(crate) static BATCH_OF_ONE: &[Pattern] = &[Pattern::new(
    "batch-of-one",
    "dot with batch dimensions of size 1 → dot without them, reshaped",
    &[Opcode::Dot],
    batch_of_one,
)];

fn batch_of_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    drop_degenerate(cx, id, false)
}

/// Removes batch dimensions of size 1. If `free` is true, also removes free dimensions of size 1.
fn drop_degenerate(cx: &mut Cx<'_>, id: InstrId, free: bool) -> Option<InstrId> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    let &[lhs, rhs] = cx.module[id].operands.as_slice() else { return None };
    let (l, r, to) = (cx.array(lhs)?, cx.array(rhs)?, cx.array(id)?);
    let drop_batch: Vec<bool> = a
        .lhs_batch_dims
        .iter()
        .map(|&d| usize::try_from(d).ok().and_then(|d| l.dims.get(d)) == Some(&1))
        .collect();
    let left = without_degenerate(&l, &a.lhs_batch_dims, &a.lhs_contracting_dims, &drop_batch, free)?;
    let right = without_degenerate(&r, &a.rhs_batch_dims, &a.rhs_contracting_dims, &drop_batch, free)?;
    if left.sizes.len() == l.rank() && right.sizes.len() == r.rank() {
        return None;
    }
    let batch = left.batch.iter().map(|&d| left.sizes[d as usize]);
    let sizes: Dims = batch.chain(left.free.iter().copied()).chain(right.free.iter().copied()).collect();
    let operands = [cx.reshaped(lhs, &left.sizes)?, cx.reshaped(rhs, &right.sizes)?];
    let attrs = DotAttrs {
        lhs_batch_dims: left.batch,
        lhs_contracting_dims: left.contracting,
        rhs_batch_dims: right.batch,
        rhs_contracting_dims: right.contracting,
        ..*a
    };
    let product = cx.add(ArrayShape::new(to.element_type, sizes), Op::Dot(Box::new(attrs)), &operands);
    cx.reshaped(product, &to.dims)
}
