//! Index arithmetic: index spaces, and the row-major positions of indices.

use crate::error::EvalError;
use hlo_ir::Dims;

/// Returns row-major strides in elements. A negative size counts as 0; no allocated array has one.
pub(crate) fn row_major_strides(dims: &[i64]) -> Dims {
    let mut strides: Dims = smallvec::smallvec![0; dims.len()];
    let mut stride = 1i64;
    for d in (0..dims.len()).rev() {
        strides[d] = stride;
        stride = stride.saturating_mul(dims[d].max(0));
    }
    strides
}

/// Returns the number of indices. A negative size counts as 0; no allocated array has one.
pub(crate) fn count(dims: &[i64]) -> usize {
    dims.iter().fold(1usize, |n, &d| n.saturating_mul(usize::try_from(d).unwrap_or(0)))
}

/// Converts a size to a number of elements. Fails if it is negative.
pub(crate) fn extent(size: i64) -> Result<usize, EvalError> {
    usize::try_from(size).map_err(|_| EvalError::internal(format!("a dimension of size {size}")))
}

/// Advances a row-major multi-index. Returns false after the last index, and sets it to zeros.
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

/// Returns the indices below `dims` in row-major order. Without dimensions there is one index. With a
/// dimension of size 0 there is none.
pub fn indices(dims: &[i64]) -> Indices {
    let first: Dims = smallvec::smallvec![0; dims.len()];
    Indices { dims: dims.into(), next: (count(dims) > 0).then_some(first) }
}

/// The iterator of [`indices`].
pub struct Indices {
    dims: Dims,
    next: Option<Dims>,
}

impl Iterator for Indices {
    type Item = Dims;

    fn next(&mut self) -> Option<Dims> {
        let following = self.next.as_mut()?;
        let index = Dims::from_slice(following);
        if !advance(following, &self.dims) {
            self.next = None;
        }
        Some(index)
    }
}

/// Returns the row-major position of an index.
///
/// # Errors
/// Fails if the index is not below `dims`.
#[inline]
pub fn position(index: &[i64], dims: &[i64]) -> Result<usize, EvalError> {
    let mut position = 0;
    let mut inside = index.len() == dims.len();
    for (&i, &size) in index.iter().zip(dims) {
        inside &= (0..size).contains(&i);
        // If the index is in bounds, the position is below the number of elements, which fits. Otherwise the
        // value is not used.
        position = i64::wrapping_add(i64::wrapping_mul(position, size), i);
    }
    if inside {
        Ok(position as usize)
    } else {
        Err(EvalError::internal(format!("index {index:?} of an array of sizes {dims:?}")))
    }
}

/// Returns the values at the given positions of a list, such as the sizes of some dimensions of an array.
pub(crate) fn pick(values: &[i64], places: &[usize]) -> Dims {
    places.iter().map(|&place| values[place]).collect()
}
