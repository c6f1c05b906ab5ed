//! `ragged-dot-rewriter`: replaces ragged products by products of whole matrices.
//!
//! ```text
//! x = f32[6,4] parameter(0)                        d = f32[6,3,5] dot(x, k), …
//! k = f32[3,4,5] parameter(1)                      m = pred[6,3,5] (row i is in group g)
//! s = s32[3] parameter(2)                       →  c = f32[6,3,5] select(m, d, 0)
//! r = f32[6,5] ragged-dot(x, k, s), …              r = f32[6,5] reduce(c, 0), dimensions={1}
//! ```
//!
//! If the ragged dimension is contracted, each group gets a product of operands that are 0 outside the group.
//! If it is a batch dimension, the groups only mark padding, and the product covers all elements. Elements
//! outside a group are masked after the product, or in both operands, so that no infinity of another group
//! affects the result.

use crate::pass_info::{PassInfo, Preservation};
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, DotAttrs, RaggedDotAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "ragged-dot-rewriter",
    summary: "replace ragged products by products of whole matrices and masks",
    keeps: Preservation::Values,
    example: "\
HloModule ragged_dot_rewriter

ENTRY e {
  x = f32[6,3] parameter(0)
  w = f32[2,3,4] parameter(1)
  sizes = s32[2] parameter(2)
  ROOT r = f32[6,4] ragged-dot(x, w, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
}
",
    build: |_, _| {
        expansion_pass("ragged-dot", |op| matches!(op, Op::RaggedDot(_)), expand)
    },
    ..PassInfo::PLAIN
};

/// Returns the products that replace a ragged product.
pub(crate) fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::RaggedDot(attrs) = e.module[id].op.clone() else { return None };
    let ragged = *attrs.lhs_ragged_dims.first()?;
    if attrs.lhs_batch_dims.contains(&ragged) {
        let operands = [e.operand(0)?, e.operand(1)?];
        let shape = e.shape();
        return Some(e.add(shape, Op::Dot(Box::new(dot_attrs(&attrs, 0))), &operands));
    }
    match attrs.lhs_contracting_dims.iter().position(|&d| d == ragged) {
        Some(number) => contracted(e, &attrs, number),
        None => free(e, &attrs, ragged),
    }
}

/// Returns the attributes of the product. All dimension numbers are increased by `by`, and the new leading
/// dimensions are batch dimensions.
fn dot_attrs(attrs: &RaggedDotAttrs, by: i64) -> DotAttrs {
    let later = |list: &Dims| list.iter().map(|d| d + by).collect::<Dims>();
    DotAttrs {
        lhs_batch_dims: (0..by).chain(later(&attrs.lhs_batch_dims)).collect(),
        rhs_batch_dims: (0..by).chain(later(&attrs.rhs_batch_dims)).collect(),
        lhs_contracting_dims: later(&attrs.lhs_contracting_dims),
        rhs_contracting_dims: later(&attrs.rhs_contracting_dims),
        operand_precision: attrs.operand_precision.clone(),
        ..DotAttrs::default()
    }
}

/// Expands a product whose ragged dimension is a free dimension of the left operand. The left operand is
/// multiplied by every group's matrix, and each row keeps the product of its own group.
fn free(e: &mut Emitter<'_>, attrs: &RaggedDotAttrs, ragged: i64) -> Option<InstrId> {
    let [lhs, rhs, sizes] = [e.operand(0)?, e.operand(1)?, e.operand(2)?];
    let (l, r) = (e.array(lhs)?, e.array(rhs)?);
    let shape = e.shape();
    let group = *attrs.rhs_group_dims.first()?;
    let others = |rank: usize, batch: &Dims, contracting: &Dims| -> Vec<i64> {
        (0..rank as i64).filter(|d| !batch.contains(d) && !contracting.contains(d)).collect()
    };
    let left = others(l.rank(), &attrs.lhs_batch_dims, &attrs.lhs_contracting_dims);
    let right = others(r.rank(), &attrs.rhs_batch_dims, &attrs.rhs_contracting_dims);
    let batch = attrs.lhs_batch_dims.len();
    let row = batch + left.iter().position(|&d| d == ragged)?;
    let groups = batch + left.len() + right.iter().position(|&d| d == group)?;
    let of_left = attrs.lhs_batch_dims.iter().chain(&left).map(|&d| (&l, d as usize));
    let places: Vec<(&ArrayShape, usize)> = of_left.chain(right.iter().map(|&d| (&r, d as usize))).collect();
    let whole = ArrayShape::new(shape.as_array()?.element_type, places.iter().map(|(a, d)| a.dims[*d]));
    let whole = whole.with_dynamic(places.iter().map(|(a, d)| a.is_dynamic_dim(*d)));
    let product = e.add(whole, Op::Dot(Box::new(dot_attrs(attrs, 0))), &[lhs, rhs]);
    // In the product, batch dimensions and free dimensions of the left operand come first, in the same order
    // as in the group sizes.
    let before: Vec<i64> = (0..row as i64).collect();
    let kept = masked(e, product, sizes, &before, row, groups)?;
    let sum = e.sum(kept, &[groups as i64])?;
    e.finish(sum, &shape)
}

/// Expands a product whose ragged dimension is contracted, with one product per group.
fn contracted(e: &mut Emitter<'_>, attrs: &RaggedDotAttrs, number: usize) -> Option<InstrId> {
    let sizes = e.operand(2)?;
    let groups = *e.array(sizes)?.dims.last()?;
    let lists = [
        (&attrs.lhs_batch_dims, &attrs.lhs_contracting_dims),
        (&attrs.rhs_batch_dims, &attrs.rhs_contracting_dims),
    ];
    let mut operands = Vec::new();
    for (side, (batch, contracting)) in lists.into_iter().enumerate() {
        let operand = e.operand(side)?;
        let a = e.array(operand)?;
        // A copy for each group, along a new first dimension.
        let dims: Dims = std::iter::once(groups).chain(a.dims.iter().copied()).collect();
        let dimensions: Vec<i64> = (1..=a.rank() as i64).collect();
        let copies = e.broadcast(operand, &ArrayShape::new(a.element_type, dims), &dimensions);
        let before: Vec<i64> = batch.iter().chain(&contracting[..number]).map(|d| d + 1).collect();
        let row = usize::try_from(contracting[number] + 1).ok()?;
        operands.push(masked(e, copies, sizes, &before, row, 0)?);
    }
    let shape = e.shape();
    Some(e.add(shape, Op::Dot(Box::new(dot_attrs(attrs, 1))), &operands))
}

/// Returns `value` where the index in dimension `row` belongs to the group with the index in dimension
/// `group`, and 0 elsewhere. If the group sizes have batch dimensions, these correspond to the first
/// dimensions in `before`.
fn masked(
    e: &mut Emitter<'_>,
    value: InstrId,
    sizes: InstrId,
    before: &[i64],
    row: usize,
    group: usize,
) -> Option<InstrId> {
    let shape = e.array(value)?.with_dynamic([]);
    let [starts, ends] = bounds(e, sizes)?;
    let numbers = ArrayShape::new(ElementType::S64, shape.dims.iter().copied());
    let depends = e.array(sizes)?.rank().checked_sub(1)?;
    let dimensions: Vec<i64> = before.get(..depends)?.iter().copied().chain([group as i64]).collect();
    // The dimensions of a broadcast must be ascending.
    let position = e.add(numbers.clone(), Op::iota(row as i64), &[]);
    let spread = |e: &mut Emitter<'_>, bound: InstrId| -> Option<InstrId> {
        let mut order: Vec<usize> = (0..dimensions.len()).collect();
        order.sort_by_key(|&i| dimensions[i]);
        let a = e.array(bound)?;
        let moved = ArrayShape::new(ElementType::S64, order.iter().map(|&i| a.dims[i]));
        let moved = moved.with_dynamic(order.iter().map(|&i| a.is_dynamic_dim(i)));
        let op = Op::transpose(order.iter().map(|&i| i as i64));
        let moved = e.add(moved, op, &[bound]);
        let ascending: Vec<i64> = order.iter().map(|&i| dimensions[i]).collect();
        Some(e.broadcast(moved, &numbers, &ascending))
    };
    let (starts, ends) = (spread(e, starts)?, spread(e, ends)?);
    let compare = |direction| Op::compare(direction);
    let from = e.elementwise(ElementType::Pred, compare(ComparisonDirection::Le), &[starts, position]);
    let to = e.elementwise(ElementType::Pred, compare(ComparisonDirection::Lt), &[position, ends]);
    let inside = e.same(Op::And, &[from, to]);
    let zeros = e.zeros(&shape)?;
    Some(e.elementwise(shape.element_type, Op::Select, &[inside, value, zeros]))
}

/// Returns the start and end of each group: the sums of the sizes before it, without and with its own.
/// Negative sizes count as 0.
fn bounds(e: &mut Emitter<'_>, sizes: InstrId) -> Option<[InstrId; 2]> {
    let wide = e.convert(sizes, ElementType::S64)?;
    let a = e.array(wide)?;
    let least = e.zeros(&a)?;
    let wide = e.same(Op::Maximum, &[wide, least]);
    let (last, groups) = (a.rank() as i64 - 1, *a.dims.last()?);
    // [.., group, group that may precede it].
    let dims: Dims = a.dims.iter().copied().chain([groups]).collect();
    let pairs = ArrayShape::new(ElementType::S64, dims);
    let dimensions: Vec<i64> = (0..last).chain([last + 1]).collect();
    let each = e.broadcast(wide, &pairs, &dimensions);
    let iota = |e: &mut Emitter<'_>, d| e.add(pairs.clone(), Op::iota(d), &[]);
    let (own, other) = (iota(e, last), iota(e, last + 1));
    let op = CompareAttrs { direction: ComparisonDirection::Le, ..CompareAttrs::default() };
    let before = e.elementwise(ElementType::Pred, Op::Compare(op), &[other, own]);
    let zeros = e.zeros(&pairs)?;
    let counted = e.elementwise(ElementType::S64, Op::Select, &[before, each, zeros]);
    let ends = e.sum(counted, &[last + 1])?;
    let starts = e.same(Op::Subtract, &[ends, wide]);
    Some([starts, ends])
}
