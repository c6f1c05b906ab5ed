//! Reductions, windows and sorting.

use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::Operation;
use hlo_ir::attr::{MapAttrs, ReduceWindowAttrs, SelectAndScatterAttrs, SortAttrs, Window, WindowDim};
use hlo_ir::build::Build;
use hlo_ir::{Dims, Op, Shape};

impl<'t> Importer<'t> {
    /// Translates `map`, which applies a computation to scalars.
    pub(super) fn map(&mut self, op: &'t Operation) -> Result<()> {
        let to_apply = self.applied(op, 0)?;
        let operands = self.operands(op)?;
        self.set_result_op(op, Op::Map(MapAttrs { dimensions: op.dims("dimensions")?, to_apply }), &operands)
    }

    pub(super) fn reduce(&mut self, op: &'t Operation) -> Result<()> {
        let to_apply = self.applied(op, 0)?;
        let operands = self.operands(op)?;
        self.set_results_op(op, Op::reduce(op.dims("dimensions")?, to_apply), &operands)
    }

    pub(super) fn reduce_window(&mut self, op: &'t Operation) -> Result<()> {
        let to_apply = self.applied(op, 0)?;
        let operands = self.operands(op)?;
        let sizes = op.dims("window_dimensions")?;
        let mut window = window(op, &sizes)?;
        let base = op.dims_or("base_dilations", sizes.len(), 1)?;
        let dilations = op.dims_or("window_dilations", sizes.len(), 1)?;
        for ((dim, base), dilation) in window.dims.iter_mut().zip(base).zip(dilations) {
            (dim.lhs_dilate, dim.rhs_dilate) = (base, dilation);
        }
        self.set_results_op(op, Op::ReduceWindow(Box::new(ReduceWindowAttrs { window, to_apply })), &operands)
    }

    /// Translates `select_and_scatter`. Without window dimensions, each window has one element.
    pub(super) fn select_and_scatter(&mut self, op: &'t Operation) -> Result<()> {
        let (select, scatter) = (self.applied(op, 0)?, self.applied(op, 1)?);
        let operands = self.operands(op)?;
        let rank = operands.first().and_then(|&o| self.array_of(o)).map_or(0, |a| a.rank());
        let window = window(op, &op.dims_or("window_dimensions", rank, 1)?)?;
        let attrs = SelectAndScatterAttrs { window, select, scatter };
        self.set_result_op(op, Op::SelectAndScatter(Box::new(attrs)), &operands)
    }

    /// Translates `sort`. A negative dimension counts from the last one, which is -1.
    pub(super) fn sort(&mut self, op: &'t Operation) -> Result<()> {
        let to_apply = self.applied(op, 0)?;
        let operands = self.operands(op)?;
        let rank = operands.first().and_then(|&o| self.array_of(o)).map_or(0, |a| a.rank()) as i64;
        let dimension = match op.int_or("dimension", -1)? {
            d if d < 0 => d.saturating_add(rank),
            d => d,
        };
        let dimensions = Dims::from_slice(&[dimension]);
        let attrs = SortAttrs { dimensions, is_stable: op.flag("is_stable")?, to_apply };
        self.set_results_op(op, Op::Sort(attrs), &operands)
    }

    /// Adds the instruction for all results of an operation. Several results are a tuple. Sizes that the
    /// types leave open are inferred from the operands.
    pub(super) fn set_results_op(
        &mut self,
        op: &Operation,
        hlo: Op,
        operands: &[hlo_ir::InstrId],
    ) -> Result<()> {
        let mut shape = self.declared_results(op)?;
        let unbounded =
            |s: &Shape| s.as_array().is_some_and(|a| a.dims.contains(&hlo_ir::ArrayShape::UNBOUNDED));
        if unbounded(&shape) || shape.as_tuple().unwrap_or_default().iter().any(unbounded) {
            shape = self.inferred(op, &hlo, operands)?;
        }
        let id = self.add(shape, hlo, operands);
        self.set_result_or_elements(op, id)
    }
}

/// Returns a window of the given sizes, with the strides and padding in the attributes.
fn window(op: &Operation, sizes: &[i64]) -> Result<Window> {
    let strides = op.dims_or("window_strides", sizes.len(), 1)?;
    let padding = op.pairs_or("padding", sizes.len())?;
    let dims = sizes.iter().zip(strides).zip(padding);
    let dim = |((&size, stride), (pad_low, pad_high))| WindowDim {
        size,
        stride,
        pad_low,
        pad_high,
        ..WindowDim::default()
    };
    Ok(Window { dims: dims.map(dim).collect() })
}
