//! `iota`: converts each number once and writes it to all its positions.

use crate::error::EvalError;
use crate::index::count;
use crate::kernel::{Kernel, elements, elements_mut, with_storage};
use crate::ops::support::Result;
use hlo_ir::ArrayShape;

/// Number of numbers that are converted at once.
const CHUNK: usize = 256;

/// Writes 0, 1, … along a dimension. `convert` is the kernel that converts `s64` to the element type.
pub(in crate::ops) fn fill(shape: &ArrayShape, along: usize, convert: &Kernel, out: &mut [u8]) -> Result<()> {
    if shape.element_count() == 0 {
        return Ok(());
    }
    let bytes = shape.element_type.byte_size();
    let (size, inner) = (count(&shape.dims[along..=along]), count(&shape.dims[along + 1..]));
    let (mut counters, mut values) = ([0i64; CHUNK], [0u128; CHUNK]);
    for first in (0..size).step_by(CHUNK) {
        let n = CHUNK.min(size - first);
        counters.iter_mut().zip(first as i64..).for_each(|(c, i)| *c = i);
        let values = &mut bytemuck::cast_slice_mut::<u128, u8>(&mut values)[..n * bytes];
        convert(&[bytemuck::cast_slice(&counters[..n])], values)?;
        for line in out.chunks_exact_mut(size * inner * bytes) {
            let line = &mut line[first * inner * bytes..][..n * inner * bytes];
            with_storage!(bytes, T => {
                let targets = elements_mut::<T>(line)?.chunks_exact_mut(inner);
                targets.zip(elements::<T>(values)?).for_each(|(to, &value)| to.fill(value));
            })
            .ok_or_else(|| EvalError::internal(format!("elements of {bytes} bytes")))?;
        }
    }
    Ok(())
}
