//! Rules for slices and updates at indices known only at run time, and for dynamic sizes.

use super::context::{Context, OperandDim, one_or_tuple};
use super::contract::Contract;
use super::data_movement::keeps_type;
use super::dim::{Dim, array_of, dim, dims};
use super::violation::{Place, Rule, Violation};
use crate::attr::{DimensionAttrs, DynamicSliceAttrs, GatherAttrs, ScatterAttrs};
use crate::diag::Code;
use crate::opcode::Types;
use crate::rules::code;
use crate::{ArrayShape, Dims, ElementType, Shape};

/// Checks the start indices from operand `first` on: one integer scalar per dimension, or one vector of all.
fn check_start_indices(cx: &Context<'_>, first: usize, rank: usize) -> Result<(), Violation> {
    let found = cx.operands.len().saturating_sub(first);
    if found == 1 && cx.array(first)?.rank() == 1 {
        let vector = cx.array(first)?;
        cx.record_violation(cx.array_of(first, Types::INTEGER));
        if dim(vector, 0).agrees(Dim::fixed(rank as i64)) {
            return Ok(());
        }
        return Err(cx
            .error(code::START_INDICES, format!("needs {rank} start indices, found {vector}"))
            .with(Place::Operand(first), format!("this is {vector}")));
    }
    if found != rank {
        let message = format!("needs {rank} start indices, one a dimension, found {found}");
        return Err(cx
            .error(code::START_INDICES, message)
            .with(Place::Operand(0), format!("this is {}", cx.operand(0)?)));
    }
    for i in first..cx.operands.len() {
        cx.record_violation(cx.array_of(i, Types::INTEGER));
        cx.record_violation(cx.scalar(i));
        if i > first {
            cx.record_violation(cx.same_type(first, i));
        }
    }
    Ok(())
}

/// Checks that a slice of these sizes fits into an array.
fn check_slice_sizes(
    cx: &Context<'_>,
    a: &ArrayShape,
    name: &'static str,
    sizes: &Dims,
) -> Result<(), Violation> {
    cx.check_len(name, sizes.len(), a.rank())?;
    let mut wrong = Vec::new();
    for (i, (&size, d)) in sizes.iter().zip(dims(a)).enumerate() {
        if size < 0 || d.known().is_some_and(|bound| size > bound) {
            let bound = d.known().map_or("any size".to_string(), |size| size.to_string());
            let message = format!("takes {size} elements of dimension {i} in `{name}`, which has {bound}");
            wrong.push(
                cx.error(code::SLICE_SIZES, message).of(name).with(Place::Operand(0), format!("this is {a}")),
            );
        }
    }
    cx.all_of(wrong)
}

/// Checks `dynamic-slice`. The sizes are an attribute, and the start indices are operands.
pub(super) fn dynamic_slice(cx: &Context<'_>, attrs: &DynamicSliceAttrs) -> Rule {
    let a = cx.array(0)?;
    let sizes = &attrs.dynamic_slice_sizes;
    cx.record_violation(check_start_indices(cx, 1, a.rank()));
    check_slice_sizes(cx, a, "dynamic_slice_sizes", sizes)?;
    Ok(Some(ArrayShape::new(a.element_type, sizes.iter().copied()).into()))
}

/// Checks `dynamic-update-slice`. The update must fit into the operand, and the result has the operand's
/// shape.
pub(super) fn dynamic_update_slice(cx: &Context<'_>) -> Rule {
    let (a, update) = (cx.array(0)?, cx.array(1)?);
    cx.record_violation(cx.shared_type(0, 1));
    let fits = a.rank() == update.rank()
        && dims(update).zip(dims(a)).all(|(u, d)| match (u.known(), d.known()) {
            (Some(u), Some(d)) => u <= d,
            _ => true,
        });
    if !fits {
        cx.report(
            cx.error(code::UPDATE_FITS, format!("needs an update that fits into {a}, found {update}"))
                .with(Place::Operand(0), format!("this is {a}"))
                .with(Place::Operand(1), format!("this is {update}")),
        );
    }
    cx.record_violation(check_start_indices(cx, 2, a.rank()));
    Ok(Some(a.clone().into()))
}

/// The index dimensions of a gather or scatter. The two opcodes use different names for the same checks.
struct IndexDims<'a> {
    operand: &'a ArrayShape,
    /// The number of the index operand.
    index_operand: usize,
    indices: &'a ArrayShape,
    index_vector_dim: i64,
    /// The operand dimensions that the slices do not have, with the name of the attribute.
    dropped: (&'static str, &'a Dims),
    /// For each index component, the operand dimension that it offsets.
    offsets: (&'static str, &'a Dims),
    operand_batching: (&'static str, &'a Dims),
    indices_batching: (&'static str, &'a Dims),
}

impl IndexDims<'_> {
    /// Checks the dimension numbers. Returns the operand dimensions that the slices have.
    fn check(&self, cx: &Context<'_>) -> Result<Vec<usize>, Violation> {
        let rank = self.operand.rank();
        let index_rank = self.indices.rank();
        // If the vector dimension is one past the last dimension, each index is a scalar.
        let vector =
            usize::try_from(self.index_vector_dim).ok().filter(|&d| d <= index_rank).ok_or_else(|| {
                cx.error(
                    code::INDEX_VECTOR_DIM,
                    format!(
                        "needs an `index_vector_dim` from 0 to {index_rank}, found {}",
                        self.index_vector_dim
                    ),
                )
                .of("index_vector_dim")
            })?;
        for (name, list) in [self.dropped, self.operand_batching] {
            cx.record_violation(cx.check_sorted(name, list));
        }
        let components = self.indices.dims.get(vector).copied().unwrap_or(1);
        if components != ArrayShape::UNBOUNDED && components != self.offsets.1.len() as i64 {
            let message = format!(
                "has indices of {components} components but {} entries in `{}`",
                self.offsets.1.len(),
                self.offsets.0
            );
            cx.report(
                cx.error(code::INDEX_COMPONENTS, message)
                    .of(self.offsets.0)
                    .with(Place::Operand(self.index_operand), format!("this is {}", self.indices)),
            );
        }
        cx.record_violation(self.check_batching(cx, vector));
        let lists = [self.dropped, self.offsets, self.operand_batching];
        let masks = lists.map(|(name, list)| cx.check_dims(name, list, rank));
        cx.all_of(masks.iter().filter_map(|m| m.as_ref().err().cloned()).collect())?;
        let [dropped, offsets, batching] = masks.map(Result::unwrap_or_default);
        let batched = (self.operand_batching.0, &batching[..]);
        cx.record_violation(cx.check_disjoint(batched, (self.dropped.0, &dropped)));
        cx.record_violation(cx.check_disjoint(batched, (self.offsets.0, &offsets)));
        Ok((0..rank).filter(|&d| !dropped[d] && !batching[d]).collect())
    }

    fn check_batching(&self, cx: &Context<'_>, vector: usize) -> Result<(), Violation> {
        let (name, list) = self.indices_batching;
        let mask = cx.check_dims(name, list, self.indices.rank())?;
        cx.check_len(name, list.len(), self.operand_batching.1.len())?;
        if mask.get(vector) == Some(&true) {
            let message = format!("names dimension {vector} in `{name}`, which is its `index_vector_dim`");
            cx.report(cx.error(code::BATCHED_COMPONENTS, message).of(name));
        }
        let in_rank = |d: i64| usize::try_from(d).is_ok_and(|d| d < self.operand.rank());
        for (&a, &b) in self.operand_batching.1.iter().zip(list).filter(|&(&a, _)| in_rank(a)) {
            cx.record_violation(cx.same_size(
                OperandDim { operand: 0, array: self.operand, dim: a },
                OperandDim { operand: self.index_operand, array: self.indices, dim: b },
                "batching",
            ));
        }
        Ok(())
    }

    /// Returns the dimensions of the index array without the one that contains the components of an index.
    fn batch_dims(&self) -> Vec<Dim> {
        let keep = |&(i, _): &(usize, Dim)| i as i64 != self.index_vector_dim;
        dims(self.indices).enumerate().filter(keep).map(|(_, d)| d).collect()
    }
}

/// Checks `gather` (operation semantics, "Gather").
pub(super) fn gather(cx: &Context<'_>, attrs: &GatherAttrs) -> Rule {
    let (operand, indices) = (cx.array(0)?, cx.array(1)?);
    cx.record_violation(cx.array_of(1, Types::INTEGER));
    let index_dims = IndexDims {
        operand,
        index_operand: 1,
        indices,
        index_vector_dim: attrs.index_vector_dim,
        dropped: ("collapsed_slice_dims", &attrs.collapsed_slice_dims),
        offsets: ("start_index_map", &attrs.start_index_map),
        operand_batching: ("operand_batching_dims", &attrs.operand_batching_dims),
        indices_batching: ("start_indices_batching_dims", &attrs.start_indices_batching_dims),
    };
    let kept = index_dims.check(cx);
    let sizes = check_slice_sizes(cx, operand, "slice_sizes", &attrs.slice_sizes);
    let dropped = attrs.collapsed_slice_dims.iter().chain(&attrs.operand_batching_dims);
    for &d in dropped {
        let size = usize::try_from(d).ok().and_then(|d| attrs.slice_sizes.get(d).copied()).unwrap_or(1);
        if size > 1 {
            let message =
                format!("drops dimension {d}, of which it needs 1 element in `slice_sizes`, found {size}");
            cx.report(cx.error(code::DROPPED_SIZE, message).of("slice_sizes"));
        }
    }
    let kept = kept?;
    sizes?;
    cx.check_len("offset_dims", attrs.offset_dims.len(), kept.len())?;
    let mut batch = index_dims.batch_dims().into_iter();
    let rank = kept.len() + batch.len();
    let is_offset = cx.check_dims("offset_dims", &attrs.offset_dims, rank)?;
    cx.record_violation(cx.check_sorted("offset_dims", &attrs.offset_dims));
    let mut window = kept.into_iter().filter_map(|d| {
        let size = attrs.slice_sizes.get(d).copied()?;
        let from = dim(operand, d as i64);
        // A dynamic dimension stays dynamic if the slice contains all of it.
        Some(Dim { size, dynamic: from.dynamic && from.known() == Some(size) })
    });
    let result = is_offset.into_iter().filter_map(|o| if o { window.next() } else { batch.next() });
    Ok(Some(array_of(operand.element_type, result).into()))
}

/// The contract of the computation that combines elements with updates.
const COMBINER: Contract =
    Contract { attribute: "to_apply", parameters: code::CALLEE_SIGNATURE, result: code::CALLEE_RESULT };

/// Checks `scatter` (operation semantics, "Scatter"). The operands are N arrays, the indices and N updates.
pub(super) fn scatter(cx: &Context<'_>, attrs: &ScatterAttrs) -> Rule {
    let n = cx.operands.len() / 2;
    if cx.operands.len() != 2 * n + 1 {
        return Err(cx.error(
            code::ARITY,
            format!("takes N operands, the indices and N updates, found {} operands", 2 * n),
        ));
    }
    let (operand, indices) = (cx.array(0)?, cx.array(n)?);
    cx.record_violation(cx.array_of(n, Types::INTEGER));
    let index_dims = IndexDims {
        operand,
        index_operand: n,
        indices,
        index_vector_dim: attrs.index_vector_dim,
        dropped: ("inserted_window_dims", &attrs.inserted_window_dims),
        offsets: ("scatter_dims_to_operand_dims", &attrs.scatter_dims_to_operand_dims),
        operand_batching: ("input_batching_dims", &attrs.input_batching_dims),
        indices_batching: ("scatter_indices_batching_dims", &attrs.scatter_indices_batching_dims),
    };
    let kept = cx.record_violation(index_dims.check(cx));
    let mut types = Vec::with_capacity(n);
    for i in 0..n {
        types.push(cx.array(i)?.element_type);
        cx.array(n + 1 + i)?;
        if i > 0 {
            cx.record_violation(cx.same_dims(0, i));
            cx.record_violation(cx.same_dims(n + 1, n + 1 + i));
        }
        cx.record_violation(cx.same_type(i, n + 1 + i));
    }
    if let Some(kept) = kept {
        cx.record_violation(check_updates(cx, attrs, operand, kept, &index_dims.batch_dims()));
    }
    if let Some(called) =
        cx.record_violation(cx.check_scalars(COMBINER, attrs.to_apply, types.iter().chain(&types).copied()))
    {
        cx.check_scalar_results(COMBINER, called, &types);
    }
    Ok(Some(one_or_tuple(cx.operands.iter().take(n).map(|&s| s.clone()).collect())))
}

/// Checks the sizes of the updates of a scatter. Window dimensions must fit into the operand dimensions
/// `kept`. The other dimensions must be those of the indices.
fn check_updates(
    cx: &Context<'_>,
    attrs: &ScatterAttrs,
    operand: &ArrayShape,
    kept: Vec<usize>,
    batch: &[Dim],
) -> Result<(), Violation> {
    let first_update = cx.operands.len() / 2 + 1;
    let updates = cx.array(first_update)?;
    cx.check_len("update_window_dims", attrs.update_window_dims.len(), kept.len())?;
    let wrong = |code: Code, message: String| {
        cx.error(code, message).with(Place::Operand(first_update), format!("this is {updates}"))
    };
    let rank = kept.len() + batch.len();
    if updates.rank() != rank {
        return Err(wrong(code::UPDATE_RANK, format!("needs updates of rank {rank}, found {updates}")));
    }
    let is_window = cx.check_dims("update_window_dims", &attrs.update_window_dims, rank)?;
    cx.record_violation(cx.check_sorted("update_window_dims", &attrs.update_window_dims));
    let (mut windows, mut batch) = (kept.into_iter(), batch.iter());
    for (i, (found, is_window)) in dims(updates).zip(is_window).enumerate() {
        if is_window {
            let bound = windows.next().map_or(Dim::fixed(1), |d| dim(operand, d as i64));
            if let (Some(f), Some(b)) = (found.known(), bound.known())
                && f > b
            {
                let message =
                    format!("has a window of {f} elements in dimension {i} of the updates; at most {b} fit");
                cx.report(
                    wrong(code::UPDATE_WINDOW, message).with(Place::Operand(0), format!("this is {operand}")),
                );
            }
        } else if let Some(expected) = batch.next()
            && !found.agrees(*expected)
        {
            let message = format!(
                "needs the size of the indices, {}, in dimension {i} of the updates, found {}",
                expected.size, found.size
            );
            let indices = Place::Operand(first_update - 1);
            cx.report(
                wrong(code::UPDATE_BATCH, message)
                    .with(indices, format!("this is {}", cx.operand(first_update - 1)?)),
            );
        }
    }
    Ok(())
}

/// Checks `get-dimension-size`. The result is an `s32` scalar.
pub(super) fn get_dimension_size(cx: &Context<'_>, attrs: &DimensionAttrs) -> Rule {
    cx.one_dim("dimensions", &attrs.dimensions, cx.array(0)?.rank())?;
    Ok(Some(Shape::scalar(ElementType::S32)))
}

/// Checks `set-dimension-size`. The dimension becomes dynamic, with its size as the bound.
pub(super) fn set_dimension_size(cx: &Context<'_>, attrs: &DimensionAttrs) -> Rule {
    let a = cx.array(0)?;
    let along = cx.one_dim("dimensions", &attrs.dimensions, a.rank())?;
    cx.record_violation(cx.scalar(1));
    let size = cx.array(1)?;
    if size.element_type != ElementType::S32 {
        cx.report(
            cx.error(code::SIZE_TYPE, format!("takes the size as an s32, found {size}"))
                .with(Place::Operand(1), format!("this is {size}")),
        );
    }
    let set = |dynamic: bool| -> ArrayShape {
        let result = dims(a).enumerate().map(|(i, d)| if i == along { Dim { dynamic, ..d } } else { d });
        ArrayShape { layout: a.layout.clone(), ..array_of(a.element_type, result) }
    };
    // A size equal to the bound makes the dimension static again. The declared shape may be static or
    // dynamic.
    match cx.written_array()? {
        Some(w) if w.same_dims(&set(false)) => Ok(Some(set(false).into())),
        _ => Ok(Some(set(true).into())),
    }
}

/// Checks `dynamic-reshape`. The operands are the data and one integer size for each dimension of the
/// declared shape.
pub(super) fn dynamic_reshape(cx: &Context<'_>) -> Rule {
    let a = cx.array(0)?;
    for i in 1..cx.operands.len() {
        cx.record_violation(cx.array_of(i, Types::INTEGER));
        cx.record_violation(cx.scalar(i));
    }
    let Some(w) = cx.written_array()? else { return Ok(None) };
    if w.rank() + 1 != cx.operands.len() {
        let message = format!(
            "needs a size for each of the {} dimensions of {w}, found {}",
            w.rank(),
            cx.operands.len() - 1
        );
        cx.report(cx.error(code::RESHAPE_SIZES, message));
    }
    cx.record_violation(keeps_type(cx, a, w));
    match (a.checked_element_count(), w.checked_element_count()) {
        (Some(x), Some(y)) if x != y => Err(cx
            .error(
                code::DYNAMIC_RESHAPE_COUNT,
                format!("keeps the largest number of elements; the operand, {a}, has {x}, the written shape, {w}, {y}"),
            ).of_shape()
            .with(Place::Operand(0), format!("this is {a}"))),
        _ => Ok(None),
    }
}
