//! `ragged-dot-rewriter`: ragged products by products of whole matrices.
//!
//! ```text
//! x = f32[6,4] parameter(0)                        d = f32[6,3,5] dot(x, k), …
//! k = f32[3,4,5] parameter(1)                      m = pred[6,3,5] (row i is in group g)
//! s = s32[3] parameter(2)                       →  c = f32[6,3,5] select(m, d, 0)
//! r = f32[6,5] ragged-dot(x, k, s), …              r = f32[6,5] reduce(c, 0), dimensions={1}
//! ```
//!
//! Where the ragged dimension is contracted, each group gets a product of operands that are 0 outside of it; where
//! it is a batch dimension, groups only say what is padding, and the product is that of all. What a group has no
//! part in is masked after it was multiplied, or on both sides, so that no infinity of another group gets in.

use crate::support::expander::{Emitter, expansion_pass};
use crate::{Keeps, PassInfo};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, DotAttrs, RaggedDotAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "ragged-dot-rewriter",
    summary: "ragged products by products of whole matrices and masks",
    keeps: Keeps::Values,
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

/// The products that stand in place of a ragged one.
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

/// The dimension numbers of the product, each increased by `by`, with dimensions before them as batch dimensions.
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

/// The ragged dimension is a free one of the left operand: the product with every group's matrix, of which each
/// row keeps its own group's.
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
    // Batch dimensions and the left operand's free ones come first in the product, in the order of the group sizes.
    let before: Vec<i64> = (0..row as i64).collect();
    let kept = masked(e, product, sizes, &before, row, groups)?;
    let sum = e.sum(kept, &[groups as i64])?;
    e.finish(sum, &shape)
}

/// The ragged dimension is contracted: a product for each group.
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
        // A copy for each group, in front.
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

/// `value` where the index of dimension `row` is in the group that dimension `group` counts, else 0. Group sizes
/// depend on the dimensions `before`, if they have so many.
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
    // A broadcast's dimensions ascend.
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

/// Where each group starts and ends: sums of the sizes before it, and with it. A negative size is none.
fn bounds(e: &mut Emitter<'_>, sizes: InstrId) -> Option<[InstrId; 2]> {
    let wide = e.convert(sizes, ElementType::S64)?;
    let a = e.array(wide)?;
    let least = e.zeros(&a)?;
    let wide = e.same(Op::Maximum, &[wide, least]);
    let (last, groups) = (a.rank() as i64 - 1, *a.dims.last()?);
    // [.., group, group that may be before it].
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
