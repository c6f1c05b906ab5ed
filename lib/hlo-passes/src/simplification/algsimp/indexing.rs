//! Patterns on gather and scatter of a single window.

use crate::support::combiner::{binary_combiner, returns_parameter};
use crate::support::constants::{integer_bytes, literal, splat};
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::{ComparisonDirection, ScatterAttrs, SliceDim};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Literal, Op, Opcode, Shape};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new("gather-one", "gather of a single window → dynamic-slice", &[Opcode::Gather], gather_one),
    Pattern::new(
        "scatter-one",
        "scatter of a single window → dynamic-update-slice, which keeps x if the window is out of bounds",
        &[Opcode::Scatter],
        scatter_one,
    ),
];

/// The start index of one window, as a scalar for each operand dimension.
struct Starts {
    /// One scalar per dimension.
    scalars: Vec<InstrId>,
    /// The value of each scalar, if it is known.
    known: Vec<Option<i128>>,
}

/// Splits the single index vector in `indices` into scalars. `map` contains the operand dimension of each
/// component. Other dimensions start at 0. Returns `None` if there are several index vectors.
fn single_index(
    cx: &mut Cx<'_>,
    indices: InstrId,
    index_vector_dim: i64,
    map: &[i64],
    rank: usize,
) -> Option<Starts> {
    let shape = cx.array(indices)?;
    let vector = usize::try_from(index_vector_dim).ok()?;
    let components = shape.dims.get(vector).copied().unwrap_or(1);
    // The product of the other dimensions is the number of vectors, each of which may be empty.
    let is_single = shape.dims.iter().enumerate().all(|(d, &size)| d == vector || size == 1);
    if !is_single || components != map.len() as i64 {
        return None;
    }
    let ty = shape.element_type;
    let values = index_values(cx, indices, map.len());
    let flat =
        if values.is_some() || map.is_empty() { indices } else { cx.reshaped(indices, &[components])? };
    let zero = Literal::scalar_from_bytes(ty, &integer_bytes(ty, 0)?)?;
    let mut starts = Starts { scalars: Vec::with_capacity(rank), known: Vec::with_capacity(rank) };
    for d in 0..rank as i64 {
        let Some(component) = map.iter().position(|&m| m == d) else {
            starts.scalars.push(cx.add(Shape::scalar(ty), Op::constant(zero.clone()), &[]));
            starts.known.push(Some(0));
            continue;
        };
        if let Some((bytes, value)) = values.as_ref().and_then(|v| v.get(component)) {
            let literal = Literal::scalar_from_bytes(ty, bytes)?;
            starts.scalars.push(cx.add(Shape::scalar(ty), Op::constant(literal), &[]));
            starts.known.push(Some(*value));
            continue;
        }
        let at = component as i64;
        let range = SliceDim { start: at, limit: at + 1, stride: 1 };
        let one = cx.add(ArrayShape::new(ty, [1]), Op::slice(vec![range]), &[flat]);
        starts.scalars.push(cx.reshaped(one, &[])?);
        starts.known.push(None);
    }
    Some(starts)
}

/// Returns the bytes and values of constant indices.
fn index_values(cx: &Cx<'_>, indices: InstrId, count: usize) -> Option<Vec<(Vec<u8>, i128)>> {
    let ty = cx.element_type(indices)?;
    let bytes: Vec<u8> = match literal(cx.module, indices) {
        Some(l) => l.bytes().to_vec(),
        None => splat(cx.module, indices)?.1.repeat(count),
    };
    bytes
        .chunks_exact(ty.byte_size())
        .map(|b| Some((b.to_vec(), Literal::scalar_from_bytes(ty, b)?.integer_at(0)?)))
        .collect()
}

/// Rewrites a gather of one window, whose start is clamped like that of a dynamic slice.
fn gather_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Gather(a) = cx.module[id].op.clone() else { return None };
    let (x, indices) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let from = cx.array(x)?;
    let to = cx.array(id)?;
    if !a.operand_batching_dims.is_empty() || a.reads_nothing() || to.element_count() == 0 {
        return None;
    }
    let starts = single_index(cx, indices, a.index_vector_dim, &a.start_index_map, from.rank())?;
    let operands: Vec<InstrId> = std::iter::once(x).chain(starts.scalars).collect();
    let shape = ArrayShape::new(from.element_type, a.slice_sizes.iter().copied());
    let op = Op::dynamic_slice(a.slice_sizes);
    let window = cx.add(shape, op, &operands);
    // Batch dimensions and collapsed dimensions have size 1, and the others keep their order.
    cx.reshaped(window, &to.dims)
}

/// Rewrites a scatter of one window. A scatter skips a window that is outside of the operand, while a
/// dynamic-update-slice moves it. If the index is not known, the old elements are therefore written again in
/// that case. If a window is only partly inside, XLA's backends skip either all of it or only the outside
/// part, so such a scatter stays.
fn scatter_one(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Scatter(a) = cx.module[id].op.clone() else { return None };
    let &[x, indices, updates] = cx.module[id].operands.as_slice() else { return None };
    let shape = cx.array(x)?;
    let window = window_sizes(&a, &shape, &cx.array(updates)?)?;
    let starts =
        single_index(cx, indices, a.index_vector_dim, &a.scatter_dims_to_operand_dims, shape.rank())?;
    let limits: Vec<i64> =
        shape.dims.iter().zip(&window).map(|(s, w)| s.checked_sub(*w)).collect::<Option<_>>()?;
    if limits.iter().any(|&l| l < 0) || shape.element_count() == 0 {
        return None;
    }
    let combiner = if returns_parameter(cx.module, a.to_apply, 1) {
        None
    } else {
        Some(combining_op(cx, &a, shape.element_type)?)
    };
    let inside = inside_condition(cx, &starts, &window, &limits)?;
    let mut value = cx.reshaped(updates, &window)?;
    let window_shape = ArrayShape::new(shape.element_type, window.iter().copied());
    if combiner.is_some() || matches!(inside, Inside::Unknown(_)) {
        let operands: Vec<InstrId> = std::iter::once(x).chain(starts.scalars.iter().copied()).collect();
        let op = Op::dynamic_slice(window.clone());
        let old = cx.add(window_shape.clone(), op, &operands);
        if let Some(op) = combiner {
            value = cx.add(window_shape.clone(), op, &[old, value]);
        }
        if let Inside::Unknown(condition) = inside {
            let all = window_shape.with_element_type(ElementType::Pred);
            let condition = cx.add(all, Op::broadcast([]), &[condition]);
            value = cx.add(window_shape, Op::Select, &[condition, value, old]);
        }
    }
    if matches!(inside, Inside::Never) {
        return Some(x);
    }
    let operands: Vec<InstrId> = [x, value].into_iter().chain(starts.scalars).collect();
    Some(cx.add_same_shape(Op::DynamicUpdateSlice, &operands))
}

/// Returns the operation that combines old and new elements, if it is a single elementwise operation.
fn combining_op(cx: &Cx<'_>, a: &ScatterAttrs, ty: ElementType) -> Option<Op> {
    let opcode = binary_combiner(cx.module, a.to_apply)?;
    let root = &cx.module[cx.module[a.to_apply].root()];
    (root.shape.as_array()?.element_type == ty).then(|| opcode.default_op())
}

/// Returns the window's size in each operand dimension, if the updates contain a single window.
fn window_sizes(a: &ScatterAttrs, operand: &ArrayShape, updates: &ArrayShape) -> Option<Dims> {
    let batch_is_one = (0..updates.rank() as i64)
        .filter(|d| !a.update_window_dims.contains(d))
        .all(|d| updates.dims[d as usize] == 1);
    if !a.input_batching_dims.is_empty() || !batch_is_one {
        return None;
    }
    let mut windows = a.update_window_dims.iter();
    let mut sizes = Dims::new();
    for d in 0..operand.rank() as i64 {
        if a.inserted_window_dims.contains(&d) {
            sizes.push(1);
        } else {
            let w = usize::try_from(*windows.next()?).ok()?;
            sizes.push(*updates.dims.get(w)?);
        }
    }
    windows.next().is_none().then_some(sizes)
}

/// Whether a window is inside the operand.
enum Inside {
    Always,
    Never,
    /// A scalar predicate that is true if it is inside.
    Unknown(InstrId),
}

/// Returns whether the window is inside. Returns `None` if it is, or may be, only partly inside.
fn inside_condition(cx: &mut Cx<'_>, starts: &Starts, window: &[i64], limits: &[i64]) -> Option<Inside> {
    let mut condition: Option<InstrId> = None;
    let mut never = false;
    for (n, (&start, known)) in starts.scalars.iter().zip(&starts.known).enumerate() {
        let (size, limit) = (*window.get(n)?, *limits.get(n)?);
        if let Some(value) = known {
            let (first, last) = (*value, *value + i128::from(size) - 1);
            never |= last < 0 || first > i128::from(limit) + i128::from(size) - 1;
            if !never && !(0..=i128::from(limit)).contains(value) {
                return None;
            }
            continue;
        }
        if size != 1 {
            return None;
        }
        let ty = cx.element_type(start)?;
        // A narrow index type may not represent the limit. All of its values are then below it.
        let bounds = [
            (ComparisonDirection::Ge, integer_bytes(ty, 0)),
            (ComparisonDirection::Le, integer_bytes(ty, limit)),
        ];
        for (direction, bytes) in bounds {
            let Some(bytes) = bytes else { continue };
            let bound = cx.add(Shape::scalar(ty), Op::constant(Literal::scalar_from_bytes(ty, &bytes)?), &[]);
            let op = Op::compare(direction);
            let fits = cx.add(Shape::scalar(ElementType::Pred), op, &[start, bound]);
            condition = Some(match condition {
                None => fits,
                Some(c) => cx.add(Shape::scalar(ElementType::Pred), Op::And, &[c, fits]),
            });
        }
    }
    Some(match (never, condition) {
        (true, _) => Inside::Never,
        (false, Some(c)) => Inside::Unknown(c),
        (false, None) => Inside::Always,
    })
}
