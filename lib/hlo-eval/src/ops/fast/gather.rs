//! `gather`, slice by slice.

use super::walk::{Walk, copy_bytes};
use crate::index::{indices, pick, row_major_strides};
use crate::ops::indexing::GatherDims;
use crate::ops::support::{Result, array};
use hlo_ir::{Dims, Literal};

/// Copies the slice at its start index for each batch index below the given sizes.
pub(in crate::ops) fn gather(
    dims: &GatherDims,
    slice_sizes: &[i64],
    operand: &Literal,
    (batch_sizes, start): (&[i64], impl Fn(&[i64]) -> Result<Dims>),
    result: &mut Literal,
) -> Result<()> {
    let (from, to) = (array(operand)?, array(result)?);
    let (size, rank) = (to.element_type.byte_size(), from.rank());
    let (from_strides, to_strides) = (row_major_strides(&from.dims), row_major_strides(&to.dims));
    let window = pick(slice_sizes, &dims.remapped_offset_dims);
    let mut source = Walk { offset: 0, strides: pick(&from_strides, &dims.remapped_offset_dims) };
    let mut target = Walk { offset: 0, strides: pick(&to_strides, &dims.offset_dims) };
    for g in indices(batch_sizes) {
        let start = start(&g)?;
        source.offset = (0..rank).map(|d| start[d] * from_strides[d]).sum();
        target.offset = g.iter().zip(&dims.batch_dims).map(|(&i, &d)| i * to_strides[d]).sum();
        copy_bytes(size, &window, (operand.bytes(), &source), (result.bytes_mut(), &target))?;
    }
    Ok(())
}
