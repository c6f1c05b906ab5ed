//! Indexing at run time, and sizes known at run time (operation semantics, "DynamicSlice", "Gather",
//! "Scatter", "GetDimensionSize", …).

use crate::computation::Computation;
use crate::operand::Operand;
use crate::{Builder, Value};
use hlo_ir::attr::{DimensionAttrs, GatherAttrs, ScatterAttrs};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, Dims, Op};
use std::panic::Location;

/// The meaning of the dimensions of a [`Builder::scatter`] (operation semantics, "Scatter").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScatterDimensions {
    /// The dimensions of the updates that are window dimensions.
    pub update_window_dims: Dims,
    /// The dimensions of the operand in which windows have size 1 and which the updates do not have.
    pub inserted_window_dims: Dims,
    /// The dimension of the operand that each component of an index applies to.
    pub scatter_dims_to_operand_dims: Dims,
    /// The batch dimensions of the operand, which correspond to batch dimensions of the indices.
    pub input_batching_dims: Dims,
    /// The batch dimensions of the indices, in the same order.
    pub scatter_indices_batching_dims: Dims,
    /// The dimension of the indices that contains the components of an index. If it equals the rank, each
    /// element is an index.
    pub index_vector_dim: i64,
    /// Whether the indices are in increasing order.
    pub indices_are_sorted: bool,
    /// Whether no two windows overlap.
    pub unique_indices: bool,
}

impl ScatterDimensions {
    fn attributes(&self, to_apply: hlo_ir::ComputationId) -> ScatterAttrs {
        let Self {
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
            input_batching_dims,
            scatter_indices_batching_dims,
            index_vector_dim,
            indices_are_sorted,
            unique_indices,
        } = self.clone();
        ScatterAttrs {
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
            input_batching_dims,
            scatter_indices_batching_dims,
            index_vector_dim,
            indices_are_sorted,
            unique_indices,
            to_apply,
        }
    }
}

impl<'b> Value<'b> {
    /// Returns the slice of the given sizes that begins at the indices. `starts` contains one scalar for each
    /// dimension, or one vector. Indices are clamped so that the slice is within the array.
    #[track_caller]
    pub fn dynamic_slice(self, starts: &[Value<'b>], sizes: &[i64]) -> Value<'b> {
        let Some(starts) = self.scalars("dynamic-slice", starts) else { return self.builder.nothing() };
        let operands: Vec<Value<'b>> = [self].into_iter().chain(starts).collect();
        self.builder.add(Op::dynamic_slice(sizes.iter().copied()), &operands)
    }

    /// Returns the array with `update` written over it at the indices. `starts` contains one scalar for each
    /// dimension, or one vector. Indices are clamped so that the update is within the array.
    #[track_caller]
    pub fn dynamic_update_slice(self, update: Value<'b>, starts: &[Value<'b>]) -> Value<'b> {
        let Some(starts) = self.scalars("dynamic-update-slice", starts) else {
            return self.builder.nothing();
        };
        let operands: Vec<Value<'b>> = [self, update].into_iter().chain(starts).collect();
        self.builder.add(Op::DynamicUpdateSlice, &operands)
    }

    /// Returns the indices as scalars: the elements of the vector if there is one, otherwise the values
    /// themselves.
    #[track_caller]
    fn scalars(self, what: &str, starts: &[Value<'b>]) -> Option<Vec<Value<'b>>> {
        let &[vector] = starts else { return Some(starts.to_vec()) };
        if !self.builder.owns(&[vector]) {
            return None;
        }
        let shape = vector.shape_if_made()?;
        let Some(&[length]) = shape.as_array().map(|a| a.dims.as_slice()) else { return Some(vec![vector]) };
        let a = self.array(what)?;
        if usize::try_from(length) != Ok(a.rank()) {
            let message = format!(
                "`{what}` needs an index for each of the {} dimensions of {a}, found {shape}",
                a.rank()
            );
            self.builder.fail(Location::caller(), Diag::error(message));
            return None;
        }
        let mut scalars = Vec::with_capacity(a.rank());
        for n in 0..length {
            scalars.push(vector.slice(&[n], &[n + 1], &[1]).reshape(&[]));
        }
        Some(scalars)
    }

    /// Collects slices of the array at the indices into one array. The attributes define the meaning of the
    /// dimensions.
    #[track_caller]
    pub fn gather(self, indices: Value<'b>, attributes: &GatherAttrs) -> Value<'b> {
        self.builder.add(Op::Gather(Box::new(attributes.clone())), &[self, indices])
    }

    /// Returns the array with updates combined into it at the indices.
    #[track_caller]
    pub fn scatter(
        self,
        indices: Value<'b>,
        updates: Value<'b>,
        computation: &Computation,
        dimensions: &ScatterDimensions,
    ) -> Value<'b> {
        self.builder.scatter(&[self], indices, &[updates], computation, dimensions)
    }

    /// Returns the size of a dimension at run time, as `s32`.
    #[track_caller]
    pub fn get_dimension_size(self, dimension: i64) -> Value<'b> {
        let attributes = DimensionAttrs { dimensions: [dimension].into_iter().collect() };
        self.builder.add(Op::GetDimensionSize(attributes), &[self])
    }

    /// Sets the size of a dynamic dimension at run time. `size` is an `s32` scalar and at most the size in
    /// the shape.
    #[track_caller]
    pub fn set_dimension_size(self, size: impl Into<Operand<'b>>, dimension: i64) -> Value<'b> {
        let size = size.into().plain(self.builder, Some(hlo_ir::ElementType::S32));
        let attributes = DimensionAttrs { dimensions: [dimension].into_iter().collect() };
        self.builder.add(Op::SetDimensionSize(attributes), &[self, size])
    }

    /// Returns the elements, in row-major order, as an array whose sizes are known at run time. `sizes`
    /// contains one scalar for each dimension. Sizes are at most `bounds`, and equal to `bounds` where a
    /// dimension is not dynamic.
    #[track_caller]
    pub fn dynamic_reshape(self, sizes: &[Value<'b>], bounds: &[i64], is_dynamic: &[bool]) -> Value<'b> {
        let Some(a) = self.array("dynamic-reshape") else { return self.builder.nothing() };
        let shape = ArrayShape::new(a.element_type, bounds.iter().copied());
        let shape = shape.with_dynamic(is_dynamic.iter().copied());
        let operands: Vec<Value<'b>> = [self].into_iter().chain(sizes.iter().copied()).collect();
        self.builder.add_shaped(Op::DynamicReshape, &operands, shape)
    }
}

impl Builder {
    /// Combines updates into several arrays of the same sizes at the same indices. The computation receives
    /// one element of each array, then one of each update. It returns the new elements.
    #[track_caller]
    pub fn scatter<'b>(
        &'b self,
        operands: &[Value<'b>],
        indices: Value<'b>,
        updates: &[Value<'b>],
        computation: &Computation,
        dimensions: &ScatterDimensions,
    ) -> Value<'b> {
        let Some(to_apply) = self.import(Location::caller(), computation) else { return self.nothing() };
        let all = [operands, &[indices], updates].concat();
        self.add(Op::Scatter(Box::new(dimensions.attributes(to_apply))), &all)
    }
}
