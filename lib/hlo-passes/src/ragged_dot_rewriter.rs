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

use crate::PassInfo;
use crate::support::clone::ComputationNamer;
use crate::support::rewrite::{Cx, Pattern, apply_patterns, broadcast_op};
use hlo_ir::attr::{
    CompareAttrs, ComparisonDirection, DotAttrs, IotaAttrs, ParameterAttrs, RaggedDotAttrs, ReduceAttrs,
};
use hlo_ir::{ArrayShape, ComputationId, Dims, ElementType, InstrId, Op, Opcode, Shape};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "ragged-dot-rewriter",
    summary: "ragged products by products of whole matrices and masks",
    options: &[],
    build: |_| Box::new(|module: &mut hlo_ir::Module| Ok(apply_patterns(module, &[&REWRITE]))),
};

static REWRITE: Pattern = Pattern::new(
    "rewrite-ragged-dot",
    "ragged-dot(x, k, sizes) → reduce(select(in group, dot(x, k), 0))",
    &[Opcode::RaggedDot],
    rewrite,
);

fn rewrite(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::RaggedDot(attrs) = cx.module[id].op.clone() else { return None };
    let ragged = *attrs.lhs_ragged_dims.first()?;
    if attrs.lhs_batch_dims.contains(&ragged) {
        let operands = [cx.operand(id, 0)?, cx.operand(id, 1)?];
        return Some(cx.instead(Op::Dot(Box::new(dot_attrs(&attrs, 0))), &operands));
    }
    match attrs.lhs_contracting_dims.iter().position(|&d| d == ragged) {
        Some(number) => contracted(cx, id, &attrs, number),
        None => free(cx, id, &attrs, ragged),
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
fn free(cx: &mut Cx<'_>, id: InstrId, attrs: &RaggedDotAttrs, ragged: i64) -> Option<InstrId> {
    let [lhs, rhs, sizes] = [cx.operand(id, 0)?, cx.operand(id, 1)?, cx.operand(id, 2)?];
    let (l, r, result) = (cx.array(lhs)?, cx.array(rhs)?, cx.array(id)?);
    let group = *attrs.rhs_group_dims.first()?;
    let others = |rank: usize, batch: &Dims, contracting: &Dims| -> Vec<i64> {
        (0..rank as i64).filter(|d| !batch.contains(d) && !contracting.contains(d)).collect()
    };
    let left = others(l.rank(), &attrs.lhs_batch_dims, &attrs.lhs_contracting_dims);
    let right = others(r.rank(), &attrs.rhs_batch_dims, &attrs.rhs_contracting_dims);
    let batch = attrs.lhs_batch_dims.len();
    let row = batch + left.iter().position(|&d| d == ragged)?;
    let groups = batch + left.len() + right.iter().position(|&d| d == group)?;
    let dims: Dims = attrs
        .lhs_batch_dims
        .iter()
        .chain(&left)
        .map(|&d| l.dims[d as usize])
        .chain(right.iter().map(|&d| r.dims[d as usize]))
        .collect();
    let shape = ArrayShape::new(result.element_type, dims);
    let product = cx.add(shape.clone(), Op::Dot(Box::new(dot_attrs(attrs, 0))), &[lhs, rhs]);
    // Batch dimensions and the left operand's free ones come first in the product, in the order of the group sizes.
    let before: Vec<i64> = (0..row as i64).collect();
    let kept = masked(cx, product, sizes, &before, row, groups)?;
    let to_apply = sum_of(cx, result.element_type);
    let zero = zero(cx, &ArrayShape::new(result.element_type, []))?;
    let dimensions = Dims::from_iter([groups as i64]);
    Some(cx.instead(Op::Reduce(ReduceAttrs { dimensions, to_apply }), &[kept, zero]))
}

/// The ragged dimension is contracted: a product for each group.
fn contracted(cx: &mut Cx<'_>, id: InstrId, attrs: &RaggedDotAttrs, number: usize) -> Option<InstrId> {
    let sizes = cx.operand(id, 2)?;
    let groups = *cx.array(sizes)?.dims.last()?;
    let lists = [
        (&attrs.lhs_batch_dims, &attrs.lhs_contracting_dims),
        (&attrs.rhs_batch_dims, &attrs.rhs_contracting_dims),
    ];
    let mut operands = Vec::new();
    for (side, (batch, contracting)) in lists.into_iter().enumerate() {
        let operand = cx.operand(id, side)?;
        let a = cx.array(operand)?;
        // A copy for each group, in front.
        let dims: Dims = std::iter::once(groups).chain(a.dims.iter().copied()).collect();
        let shape = ArrayShape::new(a.element_type, dims);
        let copies = cx.add(shape, broadcast_op(1..=a.rank() as i64), &[operand]);
        let before: Vec<i64> = batch.iter().chain(&contracting[..number]).map(|d| d + 1).collect();
        let row = usize::try_from(contracting[number] + 1).ok()?;
        operands.push(masked(cx, copies, sizes, &before, row, 0)?);
    }
    Some(cx.instead(Op::Dot(Box::new(dot_attrs(attrs, 1))), &operands))
}

/// `value` where the index of dimension `row` is in the group that dimension `group` counts, else 0. Group sizes
/// depend on the dimensions `before`, if they have so many.
fn masked(
    cx: &mut Cx<'_>,
    value: InstrId,
    sizes: InstrId,
    before: &[i64],
    row: usize,
    group: usize,
) -> Option<InstrId> {
    let shape = cx.array(value)?;
    let [starts, ends] = bounds(cx, sizes)?;
    let numbers = ArrayShape::new(ElementType::S64, shape.dims.iter().copied());
    let depends = cx.array(sizes)?.rank().checked_sub(1)?;
    let dimensions: Vec<i64> = before.get(..depends)?.iter().copied().chain([group as i64]).collect();
    // A broadcast's dimensions ascend.
    let position = cx.add(numbers.clone(), Op::Iota(IotaAttrs { iota_dimension: row as i64 }), &[]);
    let spread = |cx: &mut Cx<'_>, bound: InstrId| -> Option<InstrId> {
        let mut order: Vec<usize> = (0..dimensions.len()).collect();
        order.sort_by_key(|&i| dimensions[i]);
        let a = cx.array(bound)?;
        let moved = ArrayShape::new(ElementType::S64, order.iter().map(|&i| a.dims[i]));
        let op = crate::support::rewrite::transpose_op(order.iter().map(|&i| i as i64));
        let moved = cx.add(moved, op, &[bound]);
        let ascending: Vec<i64> = order.iter().map(|&i| dimensions[i]).collect();
        Some(cx.add(numbers.clone(), broadcast_op(ascending), &[moved]))
    };
    let (starts, ends) = (spread(cx, starts)?, spread(cx, ends)?);
    let mask = ArrayShape::new(ElementType::Pred, shape.dims.iter().copied());
    let compare = |direction| Op::Compare(CompareAttrs { direction, ..CompareAttrs::default() });
    let from = cx.add(mask.clone(), compare(ComparisonDirection::Le), &[starts, position]);
    let to = cx.add(mask.clone(), compare(ComparisonDirection::Lt), &[position, ends]);
    let inside = cx.add(mask, Op::And, &[from, to]);
    let zeros = zero(cx, &shape)?;
    Some(cx.add(shape, Op::Select, &[inside, value, zeros]))
}

/// Where each group starts and ends: sums of the sizes before it, and with it.
fn bounds(cx: &mut Cx<'_>, sizes: InstrId) -> Option<[InstrId; 2]> {
    let a = cx.array(sizes)?.with_element_type(ElementType::S64);
    let a = ArrayShape::new(a.element_type, a.dims.iter().copied());
    let wide = cx.add(a.clone(), Op::Convert, &[sizes]);
    let (last, groups) = (a.rank() as i64 - 1, *a.dims.last()?);
    // [.., group, group that may be before it].
    let dims: Dims = a.dims.iter().copied().chain([groups]).collect();
    let pairs = ArrayShape::new(ElementType::S64, dims.iter().copied());
    let mask = ArrayShape::new(ElementType::Pred, dims);
    let each = cx.add(pairs.clone(), broadcast_op((0..last).chain([last + 1])), &[wide]);
    let iota = |cx: &mut Cx<'_>, d| cx.add(pairs.clone(), Op::Iota(IotaAttrs { iota_dimension: d }), &[]);
    let (own, other) = (iota(cx, last), iota(cx, last + 1));
    let op = CompareAttrs { direction: ComparisonDirection::Le, ..CompareAttrs::default() };
    let before = cx.add(mask, Op::Compare(op), &[other, own]);
    let zeros = zero(cx, &pairs)?;
    let counted = cx.add(pairs, Op::Select, &[before, each, zeros]);
    let to_apply = sum_of(cx, ElementType::S64);
    let none = zero(cx, &ArrayShape::new(ElementType::S64, []))?;
    let op = Op::Reduce(ReduceAttrs { dimensions: Dims::from_iter([last + 1]), to_apply });
    let ends = cx.add(a.clone(), op, &[counted, none]);
    let starts = cx.add(a, Op::Subtract, &[ends, wide]);
    Some([starts, ends])
}

/// Zeros.
fn zero(cx: &mut Cx<'_>, shape: &ArrayShape) -> Option<InstrId> {
    cx.splat(shape, &vec![0; shape.element_type.byte_size()])
}

/// A computation that adds two numbers, or says whether one of two truth values is true.
fn sum_of(cx: &mut Cx<'_>, ty: ElementType) -> ComputationId {
    let name = ComputationNamer::new(cx.module).fresh("add");
    let computation = cx.module.add_computation(&name);
    let shape = Shape::scalar(ty);
    let parameter = |number| Op::Parameter(ParameterAttrs { number });
    let names = ["x", "y", "sum"].map(|name| cx.module.unique_name(name));
    let x = cx.module.add(computation, &names[0], shape.clone(), parameter(0), []);
    let y = cx.module.add(computation, &names[1], shape.clone(), parameter(1), []);
    let op = if ty.is_pred() { Op::Or } else { Op::Add };
    let sum = cx.module.add(computation, &names[2], shape, op, [x, y]);
    cx.module.set_root(computation, sum);
    computation
}
