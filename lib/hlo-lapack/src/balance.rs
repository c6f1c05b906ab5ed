//! Balancing (LAPACK's `gebal`). Rows and columns are permuted so that isolated eigenvalues are on the
//! diagonal, and scaled so that their norms are close. The eigenvalues do not change, but the order in which
//! they are found does.

use num_traits::Float;

use super::householder::length;
use super::numbers::{exact, times};
use hlo_runtime::linalg::{Matrix, Scalar};

/// The permutation and scaling applied to a matrix.
pub(crate) struct Balance<P> {
    /// The range of rows and columns that are not triangular yet.
    low: usize,
    high: usize,
    /// The pairs of rows that were swapped, in order.
    swaps: Vec<(usize, usize)>,
    /// The powers of two by which the columns were multiplied and the rows divided.
    factors: Vec<P>,
}

impl<P: Scalar<Part = P> + Float> Balance<P> {
    /// Permutes the rows and columns of a square matrix.
    pub(crate) fn permute<T: Scalar<Part = P>>(a: &mut Matrix<T>) -> Self {
        let n = a.rows();
        let mut balance = Self { low: 0, high: n, swaps: Vec::new(), factors: vec![exact(1.0); n] };
        while balance.isolate_rows(a) {}
        while balance.isolate_columns(a) {}
        balance
    }

    /// Permutes and scales the rows and columns of a square matrix of finite numbers.
    pub(crate) fn permute_and_scale<T: Scalar<Part = P>>(a: &mut Matrix<T>) -> Self {
        let mut balance = Self::permute(a);
        while balance.scale(a) {}
        balance
    }

    /// Moves rows without off-diagonal elements to the end. Returns whether there was such a row.
    fn isolate_rows<T: Scalar<Part = P>>(&mut self, a: &mut Matrix<T>) -> bool {
        let before = self.high;
        for i in (0..before).rev() {
            if self.high > 1 && (0..self.high).all(|j| i == j || a.get(i, j) == T::ZERO) {
                self.high -= 1;
                self.swap(a, i, self.high);
            }
        }
        self.high < before
    }

    /// Moves columns without off-diagonal elements to the start. Returns whether there was such a column.
    fn isolate_columns<T: Scalar<Part = P>>(&mut self, a: &mut Matrix<T>) -> bool {
        let before = self.low;
        for j in before..self.high {
            if self.low + 1 < self.high && (self.low..self.high).all(|i| i == j || a.get(i, j) == T::ZERO) {
                self.swap(a, j, self.low);
                self.low += 1;
            }
        }
        self.low > before
    }

    fn swap<T: Scalar<Part = P>>(&mut self, a: &mut Matrix<T>, i: usize, k: usize) {
        if i == k {
            return;
        }
        self.swaps.push((i, k));
        for j in 0..a.columns() {
            a.column_mut(j).swap(i, k);
        }
        for row in 0..a.rows() {
            let (x, y) = (a.get(row, i), a.get(row, k));
            a.set(row, i, y);
            a.set(row, k, x);
        }
    }

    /// Scales, one after the other, the rows and columns whose norms differ much. Returns whether any were
    /// scaled.
    fn scale<T: Scalar<Part = P>>(&mut self, a: &mut Matrix<T>) -> bool {
        let mut scaled = false;
        for i in self.low..self.high {
            let active = self.low..self.high;
            let column = length(&a.column(i)[active.clone()]);
            let row: Vec<T> = active.map(|j| a.get(i, j)).collect();
            let row = length(&row);
            if column == P::ZERO || row == P::ZERO {
                continue;
            }
            let factor = factor(column, row);
            let (one, total) = (exact::<P>(1.0), factor * self.factors[i]);
            // Powers of two within these bounds lose no digits.
            let bound = <P as Float>::min_positive_value() / <P as Float>::epsilon();
            if factor == one || total <= bound || total >= one / bound {
                continue;
            }
            self.factors[i] = total;
            scaled = true;
            for j in self.low..a.columns() {
                let z = times(a.get(i, j), one / factor);
                a.set(i, j, z);
            }
            a.column_mut(i)[..self.high].iter_mut().for_each(|z| *z = times(*z, factor));
        }
        scaled
    }

    /// Converts vectors of the balanced matrix, one per column, to those of the original matrix. `left`
    /// selects left eigenvectors.
    pub(crate) fn undo<T: Scalar<Part = P>>(&self, vectors: &mut Matrix<T>, left: bool) {
        for j in 0..vectors.columns() {
            let column = vectors.column_mut(j);
            for (z, &factor) in column.iter_mut().zip(&self.factors) {
                *z = times(*z, if left { exact::<P>(1.0) / factor } else { factor });
            }
            for &(i, k) in self.swaps.iter().rev() {
                column.swap(i, k);
            }
        }
    }
}

/// Returns the power of two that makes the norms of a column (multiplied by it) and a row (divided by it)
/// close to each other. Returns 1 if it reduces their sum by less than a twentieth.
fn factor<P: Scalar<Part = P> + Float>(column: P, row: P) -> P {
    let (two, mut factor) = (exact::<P>(2.0), exact::<P>(1.0));
    let (mut c, mut r) = (column, row);
    while c < r / two {
        (factor, c, r) = (factor * two, c * two, r / two);
    }
    while c / two >= r {
        (factor, c, r) = (factor / two, c / two, r * two);
    }
    if c + r < exact::<P>(0.95) * (column + row) { factor } else { exact(1.0) }
}
