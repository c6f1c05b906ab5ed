//! Expansion of `scatter` with windows whose sizes are known only at run time. Each element of a window
//! becomes a separate update with its own index.
//!
//! ```text
//! scatter(x, i : s32[n,1], u : f32[n,<=4])  →  scatter(x, (i + 0, i + 1, i + 2, i + 3) : s64[n,4,1], u : f32[n,<=4])
//! ```
//!
//! A window that is not completely inside the array is skipped: the indices of its elements are -1.

use crate::support::expander::Emitter;
use crate::support::loops::INDEX_TYPE;
use hlo_ir::attr::{ComparisonDirection, ScatterAttrs, SliceDim};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};

/// A window dimension that becomes an index dimension.
struct ConvertedDimension {
    /// The number of the dimension in the updates.
    update: usize,
    array: usize,
}

/// Returns the dimensions of the array that windows extend over, in the order of the window dimensions.
pub(super) fn window_dims(attrs: &ScatterAttrs, rank: usize) -> Vec<usize> {
    let is_window = |&d: &usize| {
        let d = d as i64;
        !attrs.inserted_window_dims.contains(&d) && !attrs.input_batching_dims.contains(&d)
    };
    (0..rank).filter(is_window).collect()
}

/// Expands a scatter to one without windows of dynamic size.
pub(super) fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Scatter(attrs) = e.module[id].op.clone() else { return None };
    let operands = e.module[id].operands.to_vec();
    let n = operands.len() / 2;
    let (array, first) = (e.array(*operands.first()?)?, e.array(*operands.get(n + 1)?)?);
    let kept = window_dims(&attrs, array.rank());
    let pairs = attrs.update_window_dims.iter().zip(kept);
    let is_dynamic = |value: InstrId, d: usize| e.array(value).is_some_and(|a| a.is_dynamic_dim(d));
    let turned: Vec<ConvertedDimension> = pairs
        .map(|(&update, array)| ConvertedDimension { update: update as usize, array })
        .filter(|t| {
            let moves = attrs.scatter_dims_to_operand_dims.contains(&(t.array as i64));
            operands[n + 1..].iter().any(|&u| is_dynamic(u, t.update))
                || !moves && operands[..n].iter().any(|&o| is_dynamic(o, t.array))
        })
        .collect();
    let is_turned = |d: i64| turned.iter().any(|t| t.update as i64 == d);

    let windows = attrs.update_window_dims.iter().copied().filter(|&d| !is_turned(d));
    let batch = (0..first.rank() as i64).filter(|d| !attrs.update_window_dims.contains(d));
    let mut order: Vec<i64> = batch.chain(turned.iter().map(|t| t.update as i64)).collect();
    let ahead = order.len() as i64;
    order.extend(windows);

    let mut new = ScatterAttrs { indices_are_sorted: false, unique_indices: false, ..(*attrs).clone() };
    let indices = indices(e, &attrs, &operands, &turned, &mut new)?;
    new.update_window_dims = (ahead..order.len() as i64).collect();
    new.inserted_window_dims.extend(turned.iter().map(|t| t.array as i64));
    new.inserted_window_dims.sort_unstable();
    let mut all = operands[..n].to_vec();
    all.push(indices);
    for &update in &operands[n + 1..] {
        let from = e.array(update)?;
        let moved = ArrayShape::new(from.element_type, order.iter().map(|&d| from.dims[d as usize]));
        let moved = moved.with_dynamic(order.iter().map(|&d| from.is_dynamic_dim(d as usize)));
        all.push(e.add(moved, Op::transpose(order.iter().copied()), &[update]));
    }
    let shape = e.shape();
    Some(e.add(shape, Op::Scatter(Box::new(new)), &all))
}

/// Returns the indices of the elements, with the components in the last dimension. Updates the attributes
/// `new` to match.
fn indices(
    e: &mut Emitter<'_>,
    attrs: &ScatterAttrs,
    operands: &[InstrId],
    turned: &[ConvertedDimension],
    new: &mut ScatterAttrs,
) -> Option<InstrId> {
    let n = operands.len() / 2;
    let given = e.convert(operands[n], INDEX_TYPE)?;
    let of = e.array(given)?;
    let vector = attrs.index_vector_dim;
    let batch: Vec<usize> = (0..of.rank()).filter(|&d| d as i64 != vector).collect();
    let update = e.array(operands[n + 1])?;
    let sizes = batch.iter().map(|&d| of.dims[d]).chain(turned.iter().map(|t| update.dims[t.update]));
    let whole = ArrayShape::new(INDEX_TYPE, sizes);
    let ahead: Vec<i64> = (0..batch.len() as i64).collect();

    let mut dims: Vec<i64> = attrs.scatter_dims_to_operand_dims.to_vec();
    dims.extend(
        turned.iter().map(|t| t.array as i64).filter(|d| !attrs.scatter_dims_to_operand_dims.contains(d)),
    );
    let mut parts = Vec::with_capacity(dims.len());
    for (component, &d) in dims.iter().enumerate() {
        let is_given = component < attrs.scatter_dims_to_operand_dims.len();
        let start = if is_given {
            let start = part(e, given, &of, &batch, vector, component)?;
            e.broadcast(start, &whole, &ahead)
        } else {
            let zero = e.zero(INDEX_TYPE)?;
            e.broadcast(zero, &whole, &[])
        };
        let index = match turned.iter().position(|t| t.array as i64 == d) {
            Some(k) => moved(e, operands, &turned[k], start, batch.len() + k)?,
            None => start,
        };
        let shape = e.array(index)?;
        let one = ArrayShape::new(INDEX_TYPE, shape.dims.iter().copied().chain([1]));
        let flags: Vec<bool> = (0..shape.rank()).map(|d| shape.is_dynamic_dim(d)).chain([false]).collect();
        parts.push(e.add(one.with_dynamic(flags), Op::reshape(), &[index]));
    }
    let shape = parts.iter().map(|&p| e.array(p)).collect::<Option<Vec<_>>>()?;
    let last = shape.first()?.rank() - 1;
    let flags: Vec<bool> = (0..=last).map(|d| shape.iter().any(|s| s.is_dynamic_dim(d))).collect();
    let joined = ArrayShape::new(INDEX_TYPE, whole.dims.iter().copied().chain([dims.len() as i64]));
    let op = Op::concatenate(last as i64);
    new.index_vector_dim = last as i64;
    new.scatter_dims_to_operand_dims = dims.iter().copied().collect();
    new.scatter_indices_batching_dims =
        attrs.scatter_indices_batching_dims.iter().map(|&d| if d > vector { d - 1 } else { d }).collect();
    Some(e.add(joined.with_dynamic(flags), op, &parts))
}

/// Returns one component of the indices, without the dimension of components.
fn part(
    e: &mut Emitter<'_>,
    given: InstrId,
    of: &ArrayShape,
    batch: &[usize],
    vector: i64,
    component: usize,
) -> Option<InstrId> {
    let Some(vector) = usize::try_from(vector).ok().filter(|&d| d < of.rank()) else { return Some(given) };
    let range = |d: usize| {
        if d == vector {
            SliceDim { start: component as i64, limit: component as i64 + 1, stride: 1 }
        } else {
            SliceDim { start: 0, limit: of.dims[d], stride: 1 }
        }
    };
    let sizes = (0..of.rank()).map(|d| if d == vector { 1 } else { of.dims[d] });
    let one = ArrayShape::new(INDEX_TYPE, sizes)
        .with_dynamic((0..of.rank()).map(|d| d != vector && of.is_dynamic_dim(d)));
    let one = e.add(one, Op::slice((0..of.rank()).map(range).collect()), &[given]);
    let shape = ArrayShape::new(INDEX_TYPE, batch.iter().map(|&d| of.dims[d]));
    let shape = shape.with_dynamic(batch.iter().map(|&d| of.is_dynamic_dim(d)));
    Some(e.add(shape, Op::reshape(), &[one]))
}

/// Returns the indices of a window's elements along a dimension of the array, for a window that starts at
/// `start`. They are -1 if the window is not inside the array.
fn moved(
    e: &mut Emitter<'_>,
    operands: &[InstrId],
    turned: &ConvertedDimension,
    start: InstrId,
    along: usize,
) -> Option<InstrId> {
    let n = operands.len() / 2;
    let shape = e.array(start)?.with_dynamic([]);
    let size_of = |e: &mut Emitter<'_>, value: InstrId, d: usize| -> Option<InstrId> {
        let size = e.count(value, &[d as i64], ElementType::F64)?;
        let size = e.convert(size, INDEX_TYPE)?;
        Some(e.broadcast(size, &shape, &[]))
    };
    let compare = |direction| Op::compare(direction);
    let offset = e.add(shape.clone(), Op::iota(along as i64), &[]);
    let index = e.same(Op::Add, &[start, offset]);
    // Either the whole window is written or nothing.
    let (window, array) =
        (size_of(e, operands[n + 1], turned.update)?, size_of(e, operands[0], turned.array)?);
    let zero = e.zero(INDEX_TYPE)?;
    let zero = e.broadcast(zero, &shape, &[]);
    let last = e.same(Op::Subtract, &[array, window]);
    let from = e.elementwise(ElementType::Pred, compare(ComparisonDirection::Le), &[zero, start]);
    let to = e.elementwise(ElementType::Pred, compare(ComparisonDirection::Le), &[start, last]);
    let inside = e.same(Op::And, &[from, to]);
    let none = e.scalar(INDEX_TYPE, &(-1i64).to_le_bytes())?;
    let none = e.broadcast(none, &shape, &[]);
    Some(e.elementwise(INDEX_TYPE, Op::Select, &[inside, index, none]))
}
