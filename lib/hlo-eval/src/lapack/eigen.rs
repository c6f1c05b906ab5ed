//! `syevd`, `heevd` and `geev`: eigenvalues and eigenvectors.

use super::matrix::{C, Matrix, Number, exponent, length, make_positive, scaled};
use super::reflectors::hermitian;
use super::schur::{Triangularize, eigenvalues, rotate, schur};
use crate::ops::complex;

/// Maximum number of rounds over all pairs of columns in Jacobi's algorithms. Each round squares the
/// remaining error, so ten rounds are already many.
pub(super) const SWEEPS: usize = 60;

/// Returns the rotation of two rows and columns that diagonalises `[p g; ḡ q]`: the `(c, s)` of the unitary
/// `[c s; -s̄ c]` (Golub & Van Loan, section 8.5.2). `p` and `q` are real, and `g` must not be 0.
pub(super) fn jacobi<T: Number>((p, q): (f64, f64), g: T) -> (f64, T) {
    let tau = (q - p) / (2.0 * g.abs());
    let t = 1f64.copysign(tau) / (tau.abs() + libm::hypot(1.0, tau));
    let c = 1.0 / libm::hypot(1.0, t);
    (c, g.over(g.abs()).times(t * c))
}

/// Computes the eigenvalues of a Hermitian matrix in ascending order from its lower or upper triangle. If
/// requested, the eigenvectors replace the matrix. The algorithm is Jacobi's rotations, row by row (Golub &
/// Van Loan, algorithm 8.5.3). A matrix that is not finite results in NaN and an `info` of 1.
pub(super) fn syevd<T: Number>(a: Matrix<T>, lower: bool, vectors: bool) -> Vec<Matrix<C>> {
    let n = a.rows;
    let mut d = hermitian(&a, lower);
    // Scales the numbers to around 1, so that their sums do not overflow.
    let scale = exponent(d.values());
    d.values_mut().iter_mut().for_each(|z| *z = scaled(*z, -scale));
    let mut v = Matrix::identity(n, n);
    if !d.is_finite() || !diagonalize(&mut d, &mut v) {
        return vec![Matrix::nan(n, n), Matrix::nan(n, 1), Matrix::integer(1)];
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| d[(i, i)].re().total_cmp(&d[(j, j)].re()));
    let mut v = v.select(&order);
    (0..n).for_each(|j| _ = make_positive(v.column_mut(j)));
    let values = order.iter().map(|&i| C::real(libm::scalbn(d[(i, i)].re(), scale))).collect();
    vec![if vectors { v.wide() } else { a.wide() }, Matrix::vector(values), Matrix::integer(0)]
}

/// Diagonalises a Hermitian matrix. Multiplies `v` by the rotations. Returns false if the iteration does not
/// converge.
fn diagonalize<T: Number>(a: &mut Matrix<T>, v: &mut Matrix<T>) -> bool {
    let n = a.rows;
    let negligible = f64::EPSILON * a.largest() / n.max(1) as f64;
    for _ in 0..SWEEPS {
        let mut done = true;
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            if a[(p, q)].size() <= negligible {
                continue;
            }
            done = false;
            let rotation = jacobi((a[(p, p)].re(), a[(q, q)].re()), a[(p, q)]);
            a.rotate_rows((p, q), rotation);
            a.rotate_columns((p, q), rotation);
            (a[(p, q)], a[(q, p)]) = (T::ZERO, T::ZERO);
            v.rotate_columns((p, q), rotation);
        }
        if done {
            return true;
        }
    }
    false
}

/// Computes the eigenvalues of any matrix and, if requested, its left (`uᴴ·a = λ·uᴴ`) and right eigenvectors
/// of length 1. Eigenvectors that are not requested are 0. Pairs of complex eigenvalues of a real matrix are
/// adjacent, the one above the real axis first. A matrix that is not finite results in NaN and an `info` of
/// 1.
pub(super) fn geev<T: Triangularize>(a: Matrix<T>, wanted: [bool; 2], epsilon: f64) -> Vec<Matrix<C>> {
    let n = a.rows;
    let (values, vectors, info) = match schur(a, epsilon) {
        Ok([t, q]) => {
            let values = eigenvalues(&t);
            let [t, q] = triangular([t.wide(), q.wide()], &values);
            let vectors = [(true, wanted[0]), (false, wanted[1])].map(|(left, wanted)| {
                if wanted { vectors::<T>([&t, &q], &values, left) } else { Matrix::zeros(n, n) }
            });
            (values, vectors, 0)
        }
        Err(_) => {
            let nan = [Matrix::nan(n, n), Matrix::nan(n, n)];
            (vec![C::new(f64::NAN, f64::NAN); n], nan, 1)
        }
    };
    let mut results = super::parts::<T>(values);
    results.extend(vectors);
    results.push(Matrix::integer(info));
    results
}

/// Converts a real Schur form to the complex one. Each block is rotated so that its eigenvector, `(λ - d, c)`
/// of `[a b; c d]`, becomes the first basis vector.
fn triangular([mut t, mut q]: [Matrix<C>; 2], values: &[C]) -> [Matrix<C>; 2] {
    for k in 0..t.rows.saturating_sub(1) {
        let below = t[(k + 1, k)];
        if below != C::ZERO {
            let direction = (values[k] - t[(k + 1, k + 1)], below);
            rotate([&mut t, &mut q], k, direction);
            (t[(k, k)], t[(k + 1, k + 1)], t[(k + 1, k)]) = (values[k], values[k + 1], C::ZERO);
        }
    }
    [t, q]
}

/// Returns the left or right eigenvectors of `q·t·qᴴ`. If `T` is real, the matrix is real.
fn vectors<T: Number>([t, q]: [&Matrix<C>; 2], values: &[C], left: bool) -> Matrix<C> {
    let n = t.rows;
    let mut x: Matrix<C> = Matrix::zeros(n, n);
    for k in 0..n {
        let of_t = if left { left_vector(t, k) } else { right_vector(t, k) };
        let mut v = q.product(&Matrix::vector(of_t));
        make_unit(v.values_mut());
        if !T::COMPLEX && values[k].im == 0.0 {
            // The real part of an eigenvector is also an eigenvector.
            v.values_mut().iter_mut().for_each(|z| z.im = 0.0);
            make_unit(v.values_mut());
        }
        let pair = !T::COMPLEX && values[k].im < 0.0;
        (0..n).for_each(|i| x[(i, k)] = if pair { x[(i, k - 1)].conj() } else { v[(i, 0)] });
    }
    x
}

/// Scales a vector to length 1 with its largest element positive.
fn make_unit(x: &mut [C]) {
    let length = length(x);
    if length > 0.0 {
        x.iter_mut().for_each(|z| *z = z.over(length));
    }
    make_positive(x);
}

/// Solves `(t - λ)·x = 0` for the eigenvalue `λ` in row `k` of a triangular matrix, by substitution from
/// `x = 1` in that row (LAPACK's `trevc`).
fn right_vector(t: &Matrix<C>, k: usize) -> Vec<C> {
    let mut x = vec![C::ZERO; t.rows];
    x[k] = C::ONE;
    for i in (0..k).rev() {
        let sum = (i + 1..=k).fold(C::ZERO, |sum, j| sum + t[(i, j)] * x[j]);
        x[i] = -complex::div(sum, difference(t, i, k));
        shrink(&mut x, i);
    }
    x
}

/// Solves `xᴴ·(t - λ) = 0`.
fn left_vector(t: &Matrix<C>, k: usize) -> Vec<C> {
    let mut x = vec![C::ZERO; t.rows];
    x[k] = C::ONE;
    for i in k + 1..t.rows {
        let sum = (k..i).fold(C::ZERO, |sum, j| sum + t[(j, i)].conj() * x[j]);
        x[i] = -complex::div(sum, difference(t, i, k).conj());
        shrink(&mut x, i);
    }
    x
}

/// Returns the difference of two eigenvalues. If it is too small, returns the least value that the matrix
/// distinguishes from 0.
fn difference(t: &Matrix<C>, i: usize, k: usize) -> C {
    let difference = t[(i, i)] - t[(k, k)];
    let least = (f64::EPSILON * t.largest()).max(f64::MIN_POSITIVE / f64::EPSILON);
    if difference.size() < least { C::real(least) } else { difference }
}

/// Scales a vector down if its element `i` is so large that other elements might overflow.
fn shrink(x: &mut [C], i: usize) {
    let size = x[i].size();
    if size > 1e100 {
        x.iter_mut().for_each(|z| *z = z.over(size));
    }
}
