//! Copies along affine index maps, by strides.
//!
//! An index map returns the index in an array for each index of an index space. In every operation that moves
//! elements, except `gather`, each step along a dimension changes the array index by the same amount. The
//! position need not be computed for each element then: a [`Walk`] contains the position of index 0 and the
//! steps.

use crate::error::EvalError;
use crate::index::{advance, count, row_major_strides};
use crate::kernel::{elements, elements_mut, with_storage};
use bytemuck::Pod;
use hlo_ir::Dims;

/// A walk through memory: the position of index 0, and the distance between neighbors along each dimension,
/// in elements. Distances may be zero or negative.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The position of index 0.
    pub offset: i64,
    /// The distance between neighbors along each dimension.
    pub strides: Dims,
}

impl Walk {
    /// Returns the walk over a dense row-major array.
    pub fn dense(dims: &[i64]) -> Self {
        Self { offset: 0, strides: row_major_strides(dims) }
    }

    /// Checks whether the walk stays in `0..len` for all indices below `dims`.
    fn stays_inside(&self, dims: &[i64], len: usize) -> bool {
        let (mut low, mut high) = (i128::from(self.offset), i128::from(self.offset));
        for (&d, &s) in dims.iter().zip(&self.strides) {
            let reach = i128::from(d - 1) * i128::from(s);
            low += reach.min(0);
            high += reach.max(0);
        }
        low >= 0 && high < len as i128
    }

    /// Returns the walk of an affine index map into an array of sizes `of`, for the indices below `dims`.
    ///
    /// # Errors
    /// Fails if the map is not affine, so that the walk of the first steps does not reach the last index.
    pub(crate) fn along(
        dims: &[i64],
        of: &[i64],
        map: impl Fn(&[i64], &mut [i64]),
    ) -> Result<Self, EvalError> {
        let strides = row_major_strides(of);
        let place = |index: &[i64]| -> i64 {
            let mut mapped: Dims = smallvec::smallvec![0; of.len()];
            map(index, &mut mapped);
            let terms = mapped.iter().zip(&strides).map(|(&i, &s)| i.saturating_mul(s));
            terms.fold(0, i64::saturating_add)
        };
        let mut index: Dims = smallvec::smallvec![0; dims.len()];
        let offset = place(&index);
        let mut steps: Dims = smallvec::smallvec![0; dims.len()];
        for d in (0..dims.len()).filter(|&d| dims[d] > 1) {
            index[d] = 1;
            steps[d] = place(&index).saturating_sub(offset);
            index[d] = 0;
        }
        let last: Dims = dims.iter().map(|d| d - 1).collect();
        let reach = last.iter().zip(&steps).map(|(&i, &s)| i128::from(i) * i128::from(s)).sum::<i128>();
        if i128::from(offset) + reach != i128::from(place(&last)) {
            return Err(EvalError::internal("the index map of a moved array is not affine"));
        }
        Ok(Self { offset, strides: steps })
    }

    fn at(&self, index: &[i64]) -> i64 {
        self.offset + index.iter().zip(&self.strides).map(|(&i, &s)| i * s).sum::<i64>()
    }
}

/// Copies element `from[source(i)]` to `to[target(i)]` for every multi-index `i` below `dims`.
///
/// # Errors
/// Fails if a walk leaves its slice. No verified module causes this.
pub fn copy_walk<T: Pod>(
    dims: &[i64],
    from: &[T],
    source: &Walk,
    to: &mut [T],
    target: &Walk,
) -> Result<(), EvalError> {
    if count(dims) == 0 {
        return Ok(());
    }
    let rank = dims.len();
    let ranks_agree = source.strides.len() == rank && target.strides.len() == rank;
    if !ranks_agree || !source.stays_inside(dims, from.len()) || !target.stays_inside(dims, to.len()) {
        return Err(EvalError::internal("an element outside of the array would be touched"));
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

/// Like [`copy_walk`], on elements of `size` bytes.
pub(crate) fn copy_bytes(
    size: usize,
    dims: &[i64],
    (from, source): (&[u8], &Walk),
    (to, target): (&mut [u8], &Walk),
) -> Result<(), EvalError> {
    with_storage!(size, T => copy_walk::<T>(dims, elements(from)?, source, elements_mut(to)?, target))
        .unwrap_or_else(|| Err(EvalError::internal(format!("elements of {size} bytes"))))
}
