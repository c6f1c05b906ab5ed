//! Blocks of reflectors: `h₀·h₁·… = 1 - v·t·vᴴ`, where `v` has one column per reflector and `t` is a small
//! upper triangle. They are applied by matrix products.
//!
//! Source: Schreiber and Van Loan, "A storage-efficient WY representation for products of Householder
//! transformations", 1989.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, Par};

use hlo_runtime::Error;
use hlo_runtime::linalg::{Matrix, Scalar, by_faer};

/// Number of reflectors in a panel.
const PANEL_REFLECTORS: usize = 32;

/// Returns the panels of `count` reflectors.
pub(crate) fn panels(count: usize) -> impl DoubleEndedIterator<Item = Range<usize>> {
    (0..count.div_ceil(PANEL_REFLECTORS))
        .map(move |i| i * PANEL_REFLECTORS..count.min((i + 1) * PANEL_REFLECTORS))
}

/// The reflectors of one panel.
pub(crate) struct Reflectors<T: Scalar> {
    /// The first row that they change.
    first: usize,
    v: Matrix<T>,
    t: Matrix<T>,
}

impl<T: Scalar> Reflectors<T> {
    /// Creates the reflectors stored below the diagonal of the columns `panel` of `a`.
    pub(crate) fn of(a: &Matrix<T>, tau: &[T], panel: Range<usize>) -> Result<Self, Error> {
        let (first, count) = (panel.start, panel.len());
        let mut v = Matrix::zeros(a.rows() - first, count)?;
        for (j, column) in panel.clone().enumerate() {
            v.set(j, j, T::one_impl());
            v.column_mut(j)[j + 1..].copy_from_slice(&a.column(column)[column + 1..]);
        }
        let mut products = Matrix::zeros(count, count)?;
        let one = T::one_impl();
        by_faer(|| {
            matmul(products.as_mut(), Accum::Replace, v.as_ref().adjoint(), v.as_ref(), one, Par::Seq);
        });
        // Column j of t is -tau·t·(vᴴ·v) of the columns before it, and tau on the diagonal.
        let mut t = Matrix::zeros(count, count)?;
        for (j, &tau) in tau[panel].iter().enumerate() {
            for i in 0..j {
                let sum = (i..j).fold(T::ZERO, |sum, k| sum + t.get(i, k) * products.get(k, j));
                t.set(i, j, -tau * sum);
            }
            t.set(j, j, tau);
        }
        Ok(Reflectors { first, v, t })
    }

    /// Applies the reflectors, or their inverse, from the left to a range of columns of a matrix.
    pub(crate) fn apply(
        &self,
        to: &mut Matrix<T>,
        columns: Range<usize>,
        inverse: bool,
    ) -> Result<(), Error> {
        let (count, one) = (self.v.columns(), T::one_impl());
        let mut products = Matrix::zeros(count, columns.len())?;
        let mut factors = Matrix::zeros(count, columns.len())?;
        let (v, t) = (self.v.as_ref(), self.t.as_ref());
        let mut block = to.as_mut().submatrix_mut(self.first, columns.start, self.v.rows(), columns.len());
        by_faer(|| {
            matmul(products.as_mut(), Accum::Replace, v.adjoint(), block.rb(), one, Par::Seq);
            if inverse {
                matmul(factors.as_mut(), Accum::Replace, t.adjoint(), products.as_ref(), one, Par::Seq)
            } else {
                matmul(factors.as_mut(), Accum::Replace, t, products.as_ref(), one, Par::Seq)
            }
            matmul(block.rb_mut(), Accum::Add, v, factors.as_ref(), -one, Par::Seq);
        });
        Ok(())
    }
}
