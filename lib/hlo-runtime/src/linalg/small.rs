//! Factorization and triangular solves of small matrices, column by column in the caller's memory, without
//! blocks, packing or allocation.

use hlo_runtime_core::Number;
use num_traits::Float;

use super::Scalar;

/// The maximum number of rows and columns of a small matrix.
pub const MAX_SMALL_SIZE: usize = 16;

/// Factors an `n` by `n` matrix in place: `a = l·lᴴ` in the lower triangle or `a = uᴴ·u` in the upper
/// triangle. The other triangle is unchanged. Returns the index of the first pivot that is not positive, if
/// there is one.
pub fn cholesky<T: Scalar>(a: &mut [T], n: usize, lower: bool) -> Option<usize> {
    for j in 0..n {
        if !lower {
            // Solves a system with the computed part of the factor for the column above the diagonal.
            for i in 0..j {
                let (left, right) = a.split_at_mut(j * n);
                let (above, column) = (&left[i * n..][..n], &mut right[..n]);
                let mut z = column[i];
                for (&u, &v) in above[..i].iter().zip(&column[..i]) {
                    z -= u.conj() * v;
                }
                column[i] = divided(z, above[i].re());
            }
        }
        let column = &a[j * n..][..n];
        let mut pivot = column[j].re();
        if !lower {
            column[..j].iter().for_each(|z| pivot -= square(*z));
        }
        if pivot <= <T::Part as Number>::ZERO || Float::is_nan(pivot) {
            return Some(j);
        }
        let root = Float::sqrt(pivot);
        let column = &mut a[j * n..][..n];
        column[j] = T::real(root);
        if lower {
            column[j + 1..].iter_mut().for_each(|z| *z = divided(*z, root));
            for c in j + 1..n {
                let (left, right) = a.split_at_mut(c * n);
                let (l, z) = (&left[j * n..][..n], &mut right[..n]);
                let factor = l[c].conj();
                for (z, &l) in z[c..].iter_mut().zip(&l[c..]) {
                    *z -= l * factor;
                }
            }
        }
    }
    None
}

fn divided<T: Scalar>(z: T, by: T::Part) -> T {
    T::new(z.re() / by, z.im() / by)
}

fn square<T: Scalar>(z: T) -> T::Part {
    z.re() * z.re() + z.im() * z.im()
}

/// A triangular matrix inside a larger one, given by its elements and strides.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    /// The elements, starting with the first one of the matrix.
    pub values: &'a [T],
    /// Number of rows and of columns.
    pub size: usize,
    /// Distance from one row to the next, in elements.
    pub row: usize,
    /// Distance from one column to the next, in elements.
    pub column: usize,
    /// Whether the view is of the conjugate matrix.
    pub conjugated: bool,
    /// Whether the matrix is lower triangular; otherwise it is upper triangular.
    pub lower: bool,
    /// Whether the diagonal is all ones and never read.
    pub unit: bool,
}

/// The right-hand sides of a system, which its solutions replace.
#[derive(Debug)]
pub struct RightSides<'a, T> {
    /// The elements, starting with the first one of the first right-hand side.
    pub values: &'a mut [T],
    /// Number of right-hand sides.
    pub count: usize,
    /// Distance from one row to the next, in elements.
    pub row: usize,
    /// Distance from one right-hand side to the next, in elements.
    pub column: usize,
}

impl<T: Scalar> View<'_, T> {
    fn get(&self, i: usize, j: usize) -> T {
        let z = self.values[i * self.row + j * self.column];
        if self.conjugated { z.conj() } else { z }
    }
}

/// Solves `a·x = b` in place of `b`.
pub fn solve<T: Scalar>(a: View<'_, T>, b: RightSides<'_, T>) {
    let View { size: n, lower, unit, .. } = a;
    let row = b.row;
    for c in 0..b.count {
        let x = &mut b.values[c * b.column..];
        for step in 0..n {
            let i = if lower { step } else { n - 1 - step };
            let mut z = x[i * row];
            let known = if lower { 0..i } else { i + 1..n };
            for j in known {
                z -= a.get(i, j) * x[j * row];
            }
            x[i * row] = if unit { z } else { z / a.get(i, i) };
        }
    }
}
