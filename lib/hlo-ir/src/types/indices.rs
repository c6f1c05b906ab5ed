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
