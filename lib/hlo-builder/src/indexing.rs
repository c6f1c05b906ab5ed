//! Parts of arrays at places known at run time, and sizes known at run time (operation semantics, "DynamicSlice", "Gather",
//! "Scatter", "GetDimensionSize", …).

use crate::computation::Computation;
use crate::operand::Operand;
use crate::{Builder, Value};
use hlo_ir::attr::{DimensionAttrs, GatherAttrs, ScatterAttrs};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, Dims, Op};
use std::panic::Location;

/// What the dimensions of a [`Builder::scatter`] mean (operation semantics, "Scatter").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScatterDimensions {
    /// The dimensions of the updates that lie along windows of the operand.
    pub update_window_dims: Dims,
    /// The dimensions of the operand that windows have one element of and updates lack.
    pub inserted_window_dims: Dims,
    /// For each part of an index the dimension of the operand that it is an index in.
    pub scatter_dims_to_operand_dims: Dims,
    /// The dimensions of the operand that go along with dimensions of the indices.
    pub input_batching_dims: Dims,
    /// These dimensions of the indices.
    pub scatter_indices_batching_dims: Dims,
    /// The dimension of the indices that holds the parts of an index; their rank if each element is one.
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
    /// The part of these sizes that begins at indices, one scalar for each dimension or one vector of them; moved so that it
    /// is inside.
    #[track_caller]
    pub fn dynamic_slice(self, starts: &[Value<'b>], sizes: &[i64]) -> Value<'b> {
        let Some(starts) = self.scalars("dynamic-slice", starts) else { return self.builder.nothing() };
        let operands: Vec<Value<'b>> = [self].into_iter().chain(starts).collect();
        self.builder.add(Op::dynamic_slice(sizes.iter().copied()), &operands)
    }

    /// The array with `update` written over it at indices, one scalar for each dimension or one vector of them; moved so that
    /// it is inside.
    #[track_caller]
    pub fn dynamic_update_slice(self, update: Value<'b>, starts: &[Value<'b>]) -> Value<'b> {
        let Some(starts) = self.scalars("dynamic-update-slice", starts) else {
            return self.builder.nothing();
        };
        let operands: Vec<Value<'b>> = [self, update].into_iter().chain(starts).collect();
        self.builder.add(Op::DynamicUpdateSlice, &operands)
    }

    /// Indices of this array as scalars: the elements of the vector that they are, or they themselves.
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

    /// Slices of the array at indices, put together in one array. The attributes say what dimensions mean.
    #[track_caller]
    pub fn gather(self, indices: Value<'b>, attributes: &GatherAttrs) -> Value<'b> {
        self.builder.add(Op::Gather(Box::new(attributes.clone())), &[self, indices])
    }

    /// The array with updates combined into it at indices.
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

    /// The size of a dimension when the program runs, of type `s32`.
    #[track_caller]
    pub fn get_dimension_size(self, dimension: i64) -> Value<'b> {
        let attributes = DimensionAttrs { dimensions: [dimension].into_iter().collect() };
        self.builder.add(Op::GetDimensionSize(attributes), &[self])
    }

    /// The array whose size of a dimension is a number of type `s32`, at most the one that the shape has.
    #[track_caller]
    pub fn set_dimension_size(self, size: impl Into<Operand<'b>>, dimension: i64) -> Value<'b> {
        let size = size.into().plain(self.builder, Some(hlo_ir::ElementType::S32));
        let attributes = DimensionAttrs { dimensions: [dimension].into_iter().collect() };
        self.builder.add(Op::SetDimensionSize(attributes), &[self, size])
    }

    /// The elements in row-major order in an array of sizes known at run time, one scalar for each dimension: at most
    /// `bounds`, and those exactly where a dimension is not dynamic.
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
    /// Several arrays of the same sizes, with updates combined into each at the same indices: the computation takes an element
    /// of each array, then one of each update, and gives the new elements.
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
