//! Slices and updates at indices that are computed at run time.

use crate::import::attributes::Fields;
use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::{Operation, ValueId};
use hlo_ir::attr::{DimensionAttrs, GatherAttrs, ScatterAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ComputationId, Dims, Op};

impl<'t> Importer<'t> {
    pub(super) fn dynamic_slice(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        self.set_result_op(op, Op::dynamic_slice(op.dims("slice_sizes")?), &operands)
    }

    pub(super) fn gather(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let sizes = op.dims("slice_sizes")?;
        let hlo = gather_op(op, sizes)?;
        self.set_result_op(op, hlo, operands.get(..2).unwrap_or(&operands))
    }

    pub(super) fn scatter(&mut self, op: &'t Operation) -> Result<()> {
        let to_apply = self.applied(op, 0)?;
        let operands = self.operands(op)?;
        let numbers = op.structure("scatter_dimension_numbers", "stablehlo.scatter")?;
        let hlo = scatter_op(op, numbers, to_apply)?;
        let shape = self.declared_results(op)?;
        let id = self.add(shape, hlo, &operands);
        self.set_result_or_elements(op, id)
    }

    pub(super) fn get_dimension_size(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let dimensions = Dims::from_slice(&[op.int("dimension")?]);
        self.set_result_op(op, Op::GetDimensionSize(DimensionAttrs { dimensions }), &[operand])
    }

    /// Translates `set_dimension_size`. A constant size that equals the size or the bound of the dimension
    /// makes it static.
    pub(super) fn set_dimension_size(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let dimensions = Dims::from_slice(&[op.int("dimension")?]);
        self.set_result_op(op, Op::SetDimensionSize(DimensionAttrs { dimensions }), &operands)
    }

    /// Returns the numbers of a constant of integers, or `None` if the value is not a constant.
    pub(super) fn constant_ints(&self, value: ValueId) -> Option<Vec<i64>> {
        let crate::import::importer::ImportedValue::Constant(constant) = self.representation(value) else {
            return None;
        };
        constant.attribute("value")?.ints()
    }
}

/// Returns a `gather` of slices of the given sizes.
pub fn gather_op(op: &Operation, slice_sizes: Dims) -> Result<Op> {
    let numbers = op.structure("dimension_numbers", "stablehlo.gather")?;
    Ok(Op::Gather(Box::new(GatherAttrs {
        offset_dims: numbers.dims("offset_dims")?,
        collapsed_slice_dims: numbers.dims("collapsed_slice_dims")?,
        start_index_map: numbers.dims("start_index_map")?,
        operand_batching_dims: numbers.dims("operand_batching_dims")?,
        start_indices_batching_dims: numbers.dims("start_indices_batching_dims")?,
        index_vector_dim: numbers.int("index_vector_dim")?,
        slice_sizes,
        indices_are_sorted: op.flag("indices_are_sorted")?,
    })))
}

fn scatter_op(op: &Operation, numbers: Fields<'_>, to_apply: ComputationId) -> Result<Op> {
    Ok(Op::Scatter(Box::new(ScatterAttrs {
        update_window_dims: numbers.dims("update_window_dims")?,
        inserted_window_dims: numbers.dims("inserted_window_dims")?,
        scatter_dims_to_operand_dims: numbers.dims("scatter_dims_to_operand_dims")?,
        input_batching_dims: numbers.dims("input_batching_dims")?,
        scatter_indices_batching_dims: numbers.dims("scatter_indices_batching_dims")?,
        index_vector_dim: numbers.int("index_vector_dim")?,
        indices_are_sorted: op.flag("indices_are_sorted")?,
        unique_indices: op.flag("unique_indices")?,
        to_apply,
    })))
}
