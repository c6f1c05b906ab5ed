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
        "dot that sums over one element → multiply of broadcasts, of floats without products of -0",
        &[Opcode::Dot],
        dot_multiply,
    ),
    Pattern::new(
        "dot-degenerate",
        "dot with batch dimensions of size 1, or free ones beside others → dot without them, reshaped",
        &[Opcode::Dot],
        dot_degenerate,
    ),
    Pattern::new(
        "transpose-dot",
        "transpose(dot(x, y)) that exchanges the operands' dimensions → dot(y, x)",
        &[Opcode::Transpose],
        transpose_dot,
    ),
];

/// (operands, attributes) of a dot of two operands.
fn dot_parts(cx: &Cx<'_>, id: InstrId) -> Option<(InstrId, InstrId, Box<DotAttrs>)> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    match cx.module[id].operands.as_slice() {
        &[lhs, rhs] => Some((lhs, rhs, a)),
        _ => None,
    }
}

/// The number of elements that are summed, known from the left operand.
fn summed(cx: &Cx<'_>, lhs: InstrId, a: &DotAttrs) -> Option<i64> {
    let dims = cx.array(lhs)?.dims;
    a.lhs_contracting_dims.iter().try_fold(1i64, |n, &d| n.checked_mul(*dims.get(index(d)?)?))
}

/// The empty sum.
fn dot_nothing(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (lhs, _, a) = dot_parts(cx, id)?;
    let to = cx.array(id)?;
    (summed(cx, lhs, &a)? == 0).then(|| cx.splat_integer(&to, 0)).flatten()
}

/// One operand of a dot that sums over one element, without that and of the result's type, and where its dimensions go
/// in the result; `free` is where its free ones begin there.
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

/// Where either factor is 0, in the sizes of the result.
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

/// True if the product of an element of each side, in the type of the result, is the sum of that one product.
pub(super) fn is_exact_product(cx: &Cx<'_>, sides: &[InstrId], ty: ElementType) -> Option<bool> {
    // Complex products, and those of narrow floats, round elsewhere.
    let known = ty.is_integer()
        || matches!(ty, ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64);
    let types: Vec<ElementType> = sides.iter().map(|&s| cx.element_type(s)).collect::<Option<_>>()?;
    Some(known && types.iter().all(|&from| from == ty || keeps_every_value(from, ty)))
}

/// A product for each element of the result.
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

/// The product of two factors, each with where its dimensions go in the result, as a sum of nothing else. A sum of floats
/// begins at +0, which makes a product of -0 +0; but one that is rounded to 0 keeps its sign, since a sum is rounded once,
/// at its end. That of `f64` is rounded after the product.
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
        return Some(cx.instead(Op::Multiply, &spread));
    }
    let product = cx.add(plain.clone(), Op::Multiply, &spread);
    let zero = cx.splat_integer(plain, 0)?;
    if ty == ElementType::F64 {
        return Some(cx.instead(Op::Add, &[product, zero]));
    }
    let positive = cx.add(plain.clone(), Op::Add, &[product, zero]);
    let zeros = zero_factors(cx, factors, plain)?;
    Some(cx.instead(Op::Select, &[zeros, positive, product]))
}

/// The same products, summed in the same order.
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
    Some(cx.instead(Op::Dot(Box::new(attrs)), &[rhs, lhs]))
}

/// One operand of a dot without its dimensions of size 1 that need not be there.
struct Side {
    sizes: Dims,
    batch: Dims,
    contracting: Dims,
    free: Dims,
}

/// Drops batch dimensions of size 1, and with `drop_free` free ones of size 1 while another free dimension is left.
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

/// Products of matrices are recognised more easily without dimensions of size 1.
fn dot_degenerate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    drop_degenerate(cx, id, true)
}

/// The part of it on batch dimensions, for the pass that does no more.
pub(crate) static BATCH_OF_ONE: &[Pattern] = &[Pattern::new(
    "batch-of-one",
    "dot with batch dimensions of size 1 → dot without them, reshaped",
    &[Opcode::Dot],
    batch_of_one,
)];

fn batch_of_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    drop_degenerate(cx, id, false)
}

/// Drops batch dimensions of size 1, and such free dimensions if `free` says so.
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
