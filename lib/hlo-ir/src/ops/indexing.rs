//! Rules of slices and updates at indices that are known at run time only, and of dynamic sizes.

use super::context::{Context, Types, one_or_tuple};
use super::dim::{Dim, array_of, dim, dims};
use super::violation::{Place, Rule, Violation};
use crate::attr::{DimensionAttrs, DynamicSliceAttrs, GatherAttrs, ScatterAttrs};
use crate::rules::code;
use crate::{ArrayShape, Dims, ElementType, Shape};

/// Checks the start indices from operand `first` on: one integer scalar a dimension, or one vector of them.
fn check_start_indices(cx: &Context<'_>, first: usize, rank: usize) -> Result<(), Violation> {
    let found = cx.operands.len().saturating_sub(first);
    if found == 1 && cx.array(first)?.rank() == 1 {
        let vector = cx.array_of(first, Types::INTEGER)?;
        if !dim(vector, 0).agrees(Dim::fixed(rank as i64)) {
            return Err(cx
                .error(code::OPERAND_SHAPES, format!("needs {rank} start indices, found {vector}"))
                .with(Place::Operand(first), format!("this is {vector}")));
        }
        return Ok(());
    }
    if found != rank {
        return Err(
            cx.error(code::ARITY, format!("needs {rank} start indices, one a dimension, found {found}"))
        );
    }
    for i in first..cx.operands.len() {
        cx.array_of(i, Types::INTEGER)?;
        cx.scalar(i)?;
        cx.same_type(first, i)?;
    }
    Ok(())
}

/// `dynamic-slice`: the sizes are written, the start indices are operands.
pub(super) fn dynamic_slice(cx: &Context<'_>, attrs: &DynamicSliceAttrs) -> Rule {
    let a = cx.array(0)?;
    let sizes = &attrs.dynamic_slice_sizes;
    cx.check_len("dynamic_slice_sizes", sizes.len(), a.rank())?;
    for (i, (&size, d)) in sizes.iter().zip(dims(a)).enumerate() {
        if size < 0 || d.known().is_some_and(|bound| size > bound) {
            return Err(cx
                .error(
                    code::ATTRIBUTE,
                    format!("takes {size} elements of dimension {i}, which has {}", d.size),
                )
                .with(Place::Operand(0), format!("this is {a}")));
        }
    }
    check_start_indices(cx, 1, a.rank())?;
    Ok(Some(ArrayShape::new(a.element_type, sizes.iter().copied()).into()))
}

/// `dynamic-update-slice`: the update fits into the operand, whose shape the result has.
pub(super) fn dynamic_update_slice(cx: &Context<'_>) -> Rule {
    let (a, update) = (cx.array(0)?, cx.array(1)?);
    cx.same_type(0, 1)?;
    let fits = a.rank() == update.rank()
        && dims(update).zip(dims(a)).all(|(u, d)| match (u.known(), d.known()) {
            (Some(u), Some(d)) => u <= d,
            _ => true,
        });
    if !fits {
        return Err(cx
            .error(code::OPERAND_SHAPES, format!("needs an update that fits into {a}, found {update}"))
            .with(Place::Operand(1), format!("this is {update}")));
    }
    check_start_indices(cx, 2, a.rank())?;
    Ok(Some(a.clone().into()))
}

/// What gather and scatter call differently and check alike: which operand dimensions an index offsets.
struct IndexDims<'a> {
    operand: &'a ArrayShape,
    /// The number of the index operand.
    index_operand: usize,
    indices: &'a ArrayShape,
    index_vector_dim: i64,
    /// The operand dimensions that the slices lack, with the attribute's name.
    dropped: (&'static str, &'a Dims),
    /// For each index component the operand dimension that it offsets.
    offsets: (&'static str, &'a Dims),
    operand_batching: (&'static str, &'a Dims),
    indices_batching: (&'static str, &'a Dims),
}

impl IndexDims<'_> {
    /// Checks the dimension numbers, and gives the operand dimensions that the slices have.
    fn check(&self, cx: &Context<'_>) -> Result<Vec<usize>, Violation> {
        let rank = self.operand.rank();
        let index_rank = self.indices.rank();
        // A vector dimension one past the last means that each index is a scalar.
        let vector =
            usize::try_from(self.index_vector_dim).ok().filter(|&d| d <= index_rank).ok_or_else(|| {
                cx.error(
                    code::ATTRIBUTE,
                    format!("needs index_vector_dim from 0 to {index_rank}, found {}", self.index_vector_dim),
                )
            })?;
        let mask = |(name, list): (&'static str, &Dims)| Ok((name, cx.check_dims(name, list, rank)?));
        let (dropped, offsets) = (mask(self.dropped)?, mask(self.offsets)?);
        let batching = mask(self.operand_batching)?;
        for (name, list) in [self.dropped, self.operand_batching] {
            cx.check_sorted(name, list)?;
        }
        let components = self.indices.dims.get(vector).copied().unwrap_or(1);
        if components != ArrayShape::UNBOUNDED && components != self.offsets.1.len() as i64 {
            return Err(cx
                .error(
                    code::ATTRIBUTE,
                    format!(
                        "has indices of {components} components but {} entries in `{}`",
                        self.offsets.1.len(),
                        self.offsets.0
                    ),
                )
                .with(Place::Operand(self.index_operand), format!("this is {}", self.indices)));
        }
        cx.check_disjoint((batching.0, &batching.1), (dropped.0, &dropped.1))?;
        cx.check_disjoint((batching.0, &batching.1), (offsets.0, &offsets.1))?;
        self.check_batching(cx, vector)?;
        Ok((0..rank).filter(|&d| !dropped.1[d] && !batching.1[d]).collect())
    }

    fn check_batching(&self, cx: &Context<'_>, vector: usize) -> Result<(), Violation> {
        let (name, list) = self.indices_batching;
        let mask = cx.check_dims(name, list, self.indices.rank())?;
        cx.check_len(name, list.len(), self.operand_batching.1.len())?;
        if mask.get(vector) == Some(&true) {
            return Err(cx.error(code::ATTRIBUTE, format!("names index_vector_dim, {vector}, in `{name}`")));
        }
        for (&a, &b) in self.operand_batching.1.iter().zip(list) {
            cx.same_size((0, self.operand, a), (self.index_operand, self.indices, b), "batching")?;
        }
        Ok(())
    }

    /// The index array's dimensions but for the one of the components.
    fn batch_dims(&self) -> Vec<Dim> {
        let keep = |&(i, _): &(usize, Dim)| i as i64 != self.index_vector_dim;
        dims(self.indices).enumerate().filter(keep).map(|(_, d)| d).collect()
    }
}

/// `gather` (operation semantics, "Gather").
pub(super) fn gather(cx: &Context<'_>, attrs: &GatherAttrs) -> Rule {
    let operand = cx.array(0)?;
    let indices = cx.array_of(1, Types::INTEGER)?;
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
    let kept = index_dims.check(cx)?;
    cx.check_len("slice_sizes", attrs.slice_sizes.len(), operand.rank())?;
    for (i, (&size, d)) in attrs.slice_sizes.iter().zip(dims(operand)).enumerate() {
        if size < 0 || d.known().is_some_and(|bound| size > bound) {
            return Err(cx
                .error(
                    code::ATTRIBUTE,
                    format!("takes {size} elements of dimension {i}, which has {}", d.size),
                )
                .with(Place::Operand(0), format!("this is {operand}")));
        }
    }
    let dropped = attrs.collapsed_slice_dims.iter().chain(&attrs.operand_batching_dims);
    for &d in dropped {
        let size = usize::try_from(d).ok().and_then(|d| attrs.slice_sizes.get(d).copied()).unwrap_or(1);
        if size > 1 {
            return Err(cx.error(
                code::ATTRIBUTE,
                format!("drops dimension {d}, whose slice size must be 1, found {size}"),
            ));
        }
    }
    cx.check_len("offset_dims", attrs.offset_dims.len(), kept.len())?;
    let mut batch = index_dims.batch_dims().into_iter();
    let rank = kept.len() + batch.len();
    let is_offset = cx.check_dims("offset_dims", &attrs.offset_dims, rank)?;
    cx.check_sorted("offset_dims", &attrs.offset_dims)?;
    let mut window = kept.into_iter().filter_map(|d| attrs.slice_sizes.get(d).copied()).map(Dim::fixed);
    let result = is_offset.into_iter().filter_map(|o| if o { window.next() } else { batch.next() });
    Ok(Some(array_of(operand.element_type, result).into()))
}

/// `scatter` (operation semantics, "Scatter"): N operands, the indices, N updates.
pub(super) fn scatter(cx: &Context<'_>, attrs: &ScatterAttrs) -> Rule {
    let n = cx.operands.len() / 2;
    if cx.operands.len() != 2 * n + 1 {
        return Err(cx.error(
            code::ARITY,
            format!("takes N operands, the indices and N updates, found {} operands", 2 * n),
        ));
    }
    let operand = cx.array(0)?;
    let indices = cx.array_of(n, Types::INTEGER)?;
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
    let kept = index_dims.check(cx)?;
    let mut types = Vec::with_capacity(n);
    for i in 0..n {
        cx.same_dims(0, i)?;
        cx.same_dims(n + 1, n + 1 + i)?;
        cx.same_type(i, n + 1 + i)?;
        types.push(cx.array(i)?.element_type);
    }
    check_updates(cx, attrs, operand, kept, &index_dims.batch_dims())?;
    cx.check_scalar_function("to_apply", attrs.to_apply, types.iter().chain(&types).copied(), &types)?;
    Ok(Some(one_or_tuple(cx.operands.iter().take(n).map(|&s| s.clone()).collect())))
}

/// Checks the sizes of the updates of a scatter: window dimensions fit into the operand dimensions `kept`, the
/// others are those of the indices.
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
    let wrong = |message: String| {
        Err(cx
            .error(code::OPERAND_SHAPES, message)
            .with(Place::Operand(first_update), format!("this is {updates}")))
    };
    let rank = kept.len() + batch.len();
    if updates.rank() != rank {
        return wrong(format!("needs updates of rank {rank}, found {updates}"));
    }
    let is_window = cx.check_dims("update_window_dims", &attrs.update_window_dims, rank)?;
    cx.check_sorted("update_window_dims", &attrs.update_window_dims)?;
    let (mut windows, mut batch) = (kept.into_iter(), batch.iter());
    for (i, (found, is_window)) in dims(updates).zip(is_window).enumerate() {
        if is_window {
            let bound = windows.next().map_or(Dim::fixed(1), |d| dim(operand, d as i64));
            if let (Some(f), Some(b)) = (found.known(), bound.known())
                && f > b
            {
                return wrong(format!(
                    "has a window of {f} elements in dimension {i} of the updates; at most {b} fit"
                ));
            }
        } else if let Some(expected) = batch.next()
            && !found.agrees(*expected)
        {
            return wrong(format!(
                "needs the size of the indices, {}, in dimension {i} of the updates, found {}",
                expected.size, found.size
            ));
        }
    }
    Ok(())
}

/// `get-dimension-size`: an `s32`.
pub(super) fn get_dimension_size(cx: &Context<'_>, attrs: &DimensionAttrs) -> Rule {
    cx.one_dim("dimensions", &attrs.dimensions, cx.array(0)?.rank())?;
    Ok(Some(Shape::scalar(ElementType::S32)))
}

/// `set-dimension-size`: the dimension becomes dynamic, its size the bound.
pub(super) fn set_dimension_size(cx: &Context<'_>, attrs: &DimensionAttrs) -> Rule {
    let a = cx.array(0)?;
    let along = cx.one_dim("dimensions", &attrs.dimensions, a.rank())?;
    if cx.scalar(1)?.element_type != ElementType::S32 {
        return Err(cx
            .error(code::ELEMENT_TYPE, format!("takes the size as an s32, found {}", cx.array(1)?))
            .with(Place::Operand(1), format!("this is {}", cx.array(1)?)));
    }
    let set = |dynamic: bool| -> ArrayShape {
        let result = dims(a).enumerate().map(|(i, d)| if i == along { Dim { dynamic, ..d } } else { d });
        ArrayShape { layout: a.layout.clone(), ..array_of(a.element_type, result) }
    };
    // Setting the size to the bound itself makes the dimension static again: both ways of writing it hold.
    match cx.written_array()? {
        Some(w) if w.same_dims(&set(false)) => Ok(Some(set(false).into())),
        _ => Ok(Some(set(true).into())),
    }
}

/// `dynamic-reshape`: the data, then one `s32` size for each dimension of the written shape.
pub(super) fn dynamic_reshape(cx: &Context<'_>) -> Rule {
    let a = cx.array(0)?;
    for i in 1..cx.operands.len() {
        cx.array_of(i, Types::INTEGER)?;
        cx.scalar(i)?;
    }
    let Some(w) = cx.written_array()? else { return Ok(None) };
    if w.rank() + 1 != cx.operands.len() {
        return Err(cx.error(
            code::ARITY,
            format!(
                "needs a size for each of the {} dimensions of {w}, found {}",
                w.rank(),
                cx.operands.len() - 1
            ),
        ));
    }
    let counts = (a.checked_element_count(), w.checked_element_count());
    let same_count = !matches!(counts, (Some(x), Some(y)) if x != y);
    if a.element_type != w.element_type || !same_count {
        return Err(cx
            .written_error(format!("keeps the element type and the largest number of elements of {a}, but its shape is written {w}"))
            .with(Place::Operand(0), format!("this is {a}")));
    }
    Ok(None)
}
