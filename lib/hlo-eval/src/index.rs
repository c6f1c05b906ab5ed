//! Index arithmetic: strides, counters over index spaces, and the one copy that all data movement uses.

use bytemuck::Pod;
use hlo_ir::Dims;

/// Row-major strides in elements.
pub(crate) fn row_major_strides(dims: &[i64]) -> Dims {
    let mut strides: Dims = smallvec::smallvec![0; dims.len()];
    let mut stride = 1i64;
    for d in (0..dims.len()).rev() {
        strides[d] = stride;
        stride = stride.saturating_mul(dims[d].max(0));
    }
    strides
}

/// The number of indices; 0 if a size is negative.
pub(crate) fn count(dims: &[i64]) -> usize {
    dims.iter().fold(1usize, |n, &d| n.saturating_mul(usize::try_from(d).unwrap_or(0)))
}

/// Advances a row-major multi-index; false after the last one, which leaves all zeros.
pub(crate) fn advance(index: &mut [i64], dims: &[i64]) -> bool {
    for (i, &d) in index.iter_mut().zip(dims).rev() {
        *i += 1;
        if *i < d {
            return true;
        }
        *i = 0;
    }
    false
}

/// A walk through memory: where index 0 lies, and how far neighbours in each dimension are apart (in elements;
/// zero and negative steps are fine).
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub(crate) offset: i64,
    pub(crate) strides: Dims,
}

impl Walk {
    /// The walk over a dense row-major array.
    pub(crate) fn dense(dims: &[i64]) -> Self {
        Self { offset: 0, strides: row_major_strides(dims) }
    }

    /// True if every index below `dims` lies inside `0..len`.
    fn stays_inside(&self, dims: &[i64], len: usize) -> bool {
        let (mut low, mut high) = (i128::from(self.offset), i128::from(self.offset));
        for (&d, &s) in dims.iter().zip(&self.strides) {
            let reach = i128::from(d - 1) * i128::from(s);
            low += reach.min(0);
            high += reach.max(0);
        }
        low >= 0 && high < len as i128
    }

    fn at(&self, index: &[i64]) -> i64 {
        self.offset + index.iter().zip(&self.strides).map(|(&i, &s)| i * s).sum::<i64>()
    }
}

/// Copies element `from[source(i)]` to `to[target(i)]` for every multi-index `i` below `dims`.
///
/// An error if a walk leaves its slice, which only a module that the verifier refuses can cause.
pub(crate) fn copy_walk<T: Pod>(
    dims: &[i64],
    from: &[T],
    source: &Walk,
    to: &mut [T],
    target: &Walk,
) -> Result<(), String> {
    if count(dims) == 0 {
        return Ok(());
    }
    let rank = dims.len();
    let ranks_agree = source.strides.len() == rank && target.strides.len() == rank;
    if !ranks_agree || !source.stays_inside(dims, from.len()) || !target.stays_inside(dims, to.len()) {
        return Err("an element outside of the array would be touched".into());
    }
    let Some((&inner, outer)) = dims.split_last() else {
        to[target.offset as usize] = from[source.offset as usize];
        return Ok(());
    };
    let (step_from, step_to) = (source.strides[rank - 1], target.strides[rank - 1]);
    let mut index: Dims = smallvec::smallvec![0; outer.len()];
    loop {
        let (start_from, start_to) = (source.at(&index), target.at(&index));
        let n = inner as usize;
        match (step_from, step_to) {
            (1, 1) => {
                let (f, t) = (start_from as usize, start_to as usize);
                to[t..t + n].copy_from_slice(&from[f..f + n]);
            }
            (0, 1) => to[start_to as usize..start_to as usize + n].fill(from[start_from as usize]),
            _ => {
                let (mut f, mut t) = (start_from, start_to);
                for _ in 0..n {
                    to[t as usize] = from[f as usize];
                    f += step_from;
                    t += step_to;
                }
            }
        }
        if !advance(&mut index, outer) {
            return Ok(());
        }
    }
}

/// [`copy_walk`] on elements of `size` bytes.
pub(crate) fn copy_bytes(
    size: usize,
    dims: &[i64],
    from: &[u8],
    source: &Walk,
    to: &mut [u8],
    target: &Walk,
) -> Result<(), String> {
    use crate::kernel::{elements, elements_mut, with_storage};
    with_storage!(size, T => copy_walk::<T>(dims, elements(from), source, elements_mut(to), target))
        .unwrap_or_else(|| Err(format!("elements of {size} bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_that_leaves_its_slice_is_an_error() {
        let source = Walk { offset: 1, strides: smallvec::smallvec![1] };
        assert!(copy_walk(&[3], &[1u8, 2, 3], &source, &mut [0; 3], &Walk::dense(&[3])).is_err());
    }

    #[test]
    fn a_negative_stride_reverses() {
        let mut out = [0u8; 3];
        let source = Walk { offset: 2, strides: smallvec::smallvec![-1] };
        copy_walk(&[3], &[1, 2, 3], &source, &mut out, &Walk::dense(&[3])).unwrap();
        assert_eq!(out, [3, 2, 1]);
    }
}
