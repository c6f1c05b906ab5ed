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
    /// Distance from one row to the next, in elements.
    pub row: usize,
    /// Distance from one column to the next, in elements.
    pub column: usize,
    /// Whether the view is of the conjugate matrix.
    pub conjugated: bool,
}

impl<T: Scalar> View<'_, T> {
    fn get(&self, i: usize, j: usize) -> T {
        let z = self.values[i * self.row + j * self.column];
        if self.conjugated { z.conj() } else { z }
    }
}

/// Solves `a·x = b` in place of `b` for the lower or upper triangle of `a`. The strides of `b` are `row` and
/// `column`.
pub fn solve<T: Scalar>(
    a: View<'_, T>,
    (n, width): (usize, usize),
    (lower, unit): (bool, bool),
    b: &mut [T],
    (row, column): (usize, usize),
) {
    for c in 0..width {
        let x = &mut b[c * column..];
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

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    type C = Complex<f64>;

    #[test]
    fn factors_give_the_matrix() {
        let l = [C::new(2.0, 0.0), C::new(1.0, -1.0), C::new(0.0, 3.0), C::new(3.0, 0.0), C::new(-1.0, 2.0)];
        let full = |i: usize, j: usize| match (i, j) {
            (0..3, 0) => l[i],
            (1, 1) => l[3],
            (2, 1) => l[4],
            (2, 2) => C::new(1.0, 0.0),
            _ => C::ZERO,
        };
        let a: Vec<C> = (0..9)
            .map(|at| (0..3).map(|k| full(at % 3, k) * full(at / 3, k).conj()).fold(C::ZERO, |a, b| a + b))
            .collect();
        for lower in [true, false] {
            let mut factor = a.clone();
            assert_eq!(cholesky(&mut factor, 3, lower), None);
            for j in 0..3 {
                for i in j..3 {
                    let got = if lower { factor[i + 3 * j] } else { factor[j + 3 * i].conj() };
                    assert!((got - full(i, j)).norm() < 1e-12, "{lower} {i} {j} {got}");
                }
            }
            factor.clone_from(&a);
            factor[4] = C::ZERO;
            assert_eq!(cholesky(&mut factor, 3, lower), Some(1));
        }
    }

    #[test]
    fn systems_are_solved_in_any_layout() {
        let a = [2.0, 1.0, 4.0, 0.0, 5.0, 3.0, 0.0, 0.0, 8.0];
        for (lower, unit, transposed) in (0..8).map(|bits| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)) {
            // The lower triangle, or the upper triangle of the transpose.
            let (row, column) = if lower != transposed { (1, 3) } else { (3, 1) };
            let view = View { values: &a, row, column, conjugated: false };
            let element = |i: usize, j: usize| if i == j && unit { 1.0 } else { view.get(i, j) };
            let inside = |i: usize, j: usize| if lower != transposed { i >= j } else { i <= j };
            let x = [1.0, -2.0, 3.0, 0.5, 4.0, -1.0];
            let mut b = [0.0; 6];
            for c in 0..2 {
                for i in 0..3 {
                    b[i + 3 * c] =
                        (0..3).filter(|&j| inside(i, j)).map(|j| element(i, j) * x[j + 3 * c]).sum();
                }
            }
            solve(view, (3, 2), (lower != transposed, unit), &mut b, (1, 3));
            assert!(b.iter().zip(x).all(|(b, x)| (b - x).abs() < 1e-12), "{b:?}");
        }
    }
}
