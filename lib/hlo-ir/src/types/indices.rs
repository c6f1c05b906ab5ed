//! The indices of an array's elements.

use crate::{ArrayShape, Dims};

/// An iterator over the indices of an array's elements in row-major order. See [`ArrayShape::indices`].
#[derive(Clone, Debug)]
pub struct Indices<'a> {
    dims: &'a [i64],
    next: Dims,
    left: usize,
}

impl ArrayShape {
    /// Returns the indices of the elements in row-major order, whatever the layout.
    ///
    /// # Example
    /// ```
    /// use hlo_ir::{ArrayShape, ElementType, Layout};
    ///
    /// let columns = ArrayShape::new(ElementType::F32, [2, 2]).with_layout(Layout::new([0, 1]));
    /// let indices: Vec<_> = columns.indices().map(|index| index.to_vec()).collect();
    /// assert_eq!(indices, [[0, 0], [0, 1], [1, 0], [1, 1]]);
    /// ```
    pub fn indices(&self) -> Indices<'_> {
        // An array whose number of elements is unknown yields no indices.
        let left = self.checked_element_count().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        Indices::new(&self.dims, crate::unravel(0, &self.dims), left)
    }
}

impl<'a> Indices<'a> {
    /// Creates an iterator over `left` indices, starting at `next`.
    pub(crate) fn new(dims: &'a [i64], next: Dims, left: usize) -> Self {
        Self { dims, next, left }
    }

    /// Calls `visit` with the next index without copying it. Returns whether there was one.
    pub(crate) fn advance(&mut self, visit: impl FnOnce(&[i64])) -> bool {
        if self.left == 0 {
            return false;
        }
        visit(&self.next);
        self.left -= 1;
        for (index, size) in self.next.iter_mut().zip(self.dims).rev() {
            *index += 1;
            if *index < *size {
                break;
            }
            *index = 0;
        }
        true
    }
}

impl Iterator for Indices<'_> {
    type Item = Dims;

    fn next(&mut self) -> Option<Dims> {
        let mut index = None;
        self.advance(|next| index = Some(next.into()));
        index
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Indices<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ElementType, unravel};

    fn shape(dims: &[i64]) -> ArrayShape {
        ArrayShape::new(ElementType::F32, dims.iter().copied())
    }

    #[test]
    fn indices_are_those_of_the_positions() {
        for dims in [&[][..], &[1], &[5], &[2, 3], &[3, 1, 2, 2, 2]] {
            let shape = shape(dims);
            let positions = (0..shape.element_count()).map(|position| unravel(position, dims));
            assert!(shape.indices().eq(positions), "{dims:?}");
            assert_eq!(shape.indices().len(), shape.element_count());
        }
    }

    #[test]
    fn arrays_without_elements_have_no_indices() {
        for dims in [&[0][..], &[2, 0, 3], &[i64::MAX, 0, i64::MAX], &[-1], &[i64::MAX, i64::MAX]] {
            assert_eq!(shape(dims).indices().count(), 0, "{dims:?}");
        }
    }
}
