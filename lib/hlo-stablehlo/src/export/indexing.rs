//! Slices and updates at indices that are computed at run time, and dynamic sizes.

use super::attributes::{i64s, only};
use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::types::array_type;
use super::value::Value;
use crate::tree::{Attribute, ValueId};
use hlo_ir::attr::{DynamicSliceAttrs, GatherAttrs, ScatterAttrs};
use hlo_ir::{ArrayShape, InstrId};

impl Exporter<'_> {
    pub(super) fn dynamic_slice(&mut self, id: InstrId, attrs: &DynamicSliceAttrs) -> Outcome<Value> {
        let DynamicSliceAttrs { dynamic_slice_sizes } = attrs;
        let mut operands = vec![self.leaf(id, 0)?];
        operands.extend(self.start_indices(id, 1)?);
        let new =
            Draft::new("stablehlo.dynamic_slice", operands).with("slice_sizes", i64s(dynamic_slice_sizes));
        self.add_for(id, new)
    }

    pub(super) fn dynamic_update_slice(&mut self, id: InstrId) -> Outcome<Value> {
        let mut operands = vec![self.leaf(id, 0)?, self.leaf(id, 1)?];
        operands.extend(self.start_indices(id, 2)?);
        self.add_for(id, Draft::new("stablehlo.dynamic_update_slice", operands))
    }

    /// Returns the start indices from operand `first` on. If they are one vector, it is split into scalars.
    fn start_indices(&mut self, id: InstrId, first: usize) -> Outcome<Vec<ValueId>> {
        let count = self.instruction(id).operands.len();
        if count != first + 1 || self.operand_array(id, first)?.rank() == 0 {
            return (first..count).map(|i| self.leaf(id, i)).collect();
        }
        let vector = self.operand_array(id, first)?;
        let operand = self.leaf(id, first)?;
        let mut out = Vec::new();
        for index in 0..vector.dims.first().copied().unwrap_or(0) {
            let one = ArrayShape::new(vector.element_type, [1]);
            let ty = self.or_unsupported(id, array_type(&one))?;
            let element = self.sliced(operand, &[[index, index + 1, 1]], ty);
            out.push(self.reshaped(id, element, &one, &ArrayShape::new(vector.element_type, []))?);
        }
        Ok(out)
    }

    pub(super) fn gather(&mut self, id: InstrId, attrs: &GatherAttrs) -> Outcome<Value> {
        let GatherAttrs {
            offset_dims,
            collapsed_slice_dims,
            start_index_map,
            operand_batching_dims,
            start_indices_batching_dims,
            index_vector_dim,
            slice_sizes,
            indices_are_sorted,
        } = attrs;
        let numbers = Attribute::of_fields(
            "stablehlo.gather",
            [
                ("offset_dims", i64s(offset_dims)),
                ("collapsed_slice_dims", i64s(collapsed_slice_dims)),
                ("operand_batching_dims", i64s(operand_batching_dims)),
                ("start_indices_batching_dims", i64s(start_indices_batching_dims)),
                ("start_index_map", i64s(start_index_map)),
                ("index_vector_dim", Attribute::i64(*index_vector_dim)),
            ],
        );
        let new = Draft::new("stablehlo.gather", self.leaves(id)?)
            .with("dimension_numbers", numbers)
            .with("slice_sizes", i64s(slice_sizes))
            .with("indices_are_sorted", Attribute::Bool(*indices_are_sorted));
        self.add_for(id, new)
    }

    pub(super) fn scatter(&mut self, id: InstrId, attrs: &ScatterAttrs) -> Outcome<Value> {
        let ScatterAttrs {
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
            input_batching_dims,
            scatter_indices_batching_dims,
            index_vector_dim,
            indices_are_sorted,
            unique_indices,
            to_apply,
        } = attrs;
        let numbers = Attribute::of_fields(
            "stablehlo.scatter",
            [
                ("update_window_dims", i64s(update_window_dims)),
                ("inserted_window_dims", i64s(inserted_window_dims)),
                ("input_batching_dims", i64s(input_batching_dims)),
                ("scatter_indices_batching_dims", i64s(scatter_indices_batching_dims)),
                ("scatter_dims_to_operand_dims", i64s(scatter_dims_to_operand_dims)),
                ("index_vector_dim", Attribute::i64(*index_vector_dim)),
            ],
        );
        let new = Draft::new("stablehlo.scatter", self.leaves(id)?)
            .with("scatter_dimension_numbers", numbers)
            .with("indices_are_sorted", Attribute::Bool(*indices_are_sorted))
            .with("unique_indices", Attribute::Bool(*unique_indices))
            .region(self.region(id, *to_apply, None)?);
        self.add_for(id, new)
    }

    /// Exports `get-dimension-size` and `set-dimension-size`.
    pub(super) fn dimension_size(&mut self, id: InstrId, name: &str, dimensions: &[i64]) -> Outcome<Value> {
        let new = Draft::new(name, self.leaves(id)?).with("dimension", only(dimensions));
        self.add_for(id, new)
    }

    /// Exports `dynamic-reshape`. The sizes, one operand each, are concatenated into one operand.
    pub(super) fn dynamic_reshape(&mut self, id: InstrId) -> Outcome<Value> {
        let operand = self.leaf(id, 0)?;
        let mut sizes = Vec::new();
        for index in 1..self.instruction(id).operands.len() {
            let scalar = self.operand_array(id, index)?;
            let size = self.leaf(id, index)?;
            sizes.push(self.reshaped(id, size, scalar, &ArrayShape::new(scalar.element_type, [1]))?);
        }
        let shape = match sizes[..] {
            [] => self.numbers(&[]),
            [one] => one,
            _ => {
                let of = self.operand_array(id, 1)?.element_type;
                let all = ArrayShape::new(of, [sizes.len() as i64]);
                let ty = self.or_unsupported(id, array_type(&all))?;
                self.add_one(
                    Draft::new("stablehlo.concatenate", sizes).with("dimension", Attribute::i64(0)),
                    ty,
                )
            }
        };
        self.add_for(id, Draft::new("stablehlo.dynamic_reshape", [operand, shape]))
    }
}
