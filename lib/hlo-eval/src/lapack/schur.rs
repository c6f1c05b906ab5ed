//! `gees`: Schur forms, by the QR algorithm with shifts on the Hessenberg form (Golub & Van Loan, sections
//! 7.4 and 7.5).

use super::matrix::{C, Matrix, Number, exponent, scaled};
use super::reflectors::{Reflector, gehrd, ormqr};
use crate::ops::complex;

/// Maximum number of iterations for one eigenvalue, per row.
const MAX_ITERATIONS_PER_ROW: usize = 30;
/// Number of iterations after which elements of the size of the whole matrix's rounding errors count as 0.
/// Blocks of multiple eigenvalues can consist only of rounding errors.
const RELAXED_TOLERANCE_ITERATION: usize = 20;

/// Computes `a = q·t·qᴴ` and returns `t` and `q`. `t` is triangular, except that for a real matrix it has a
/// two-by-two block on its diagonal for each pair of complex eigenvalues. The diagonal elements of a block
/// are equal, and the other two have opposite signs. The error is the number of eigenvalues that were not
/// found, or 1 for a matrix that is not finite.
///
/// `epsilon` is that of the matrix's type. It decides which elements are negligible, and thereby the number
/// of iterations and the order in which the eigenvalues are found. With the `epsilon` of a wider type, the
/// order would differ from that of a computation in the type itself.
pub(super) fn schur<T: Triangularize>(mut a: Matrix<T>, epsilon: f64) -> Result<[Matrix<T>; 2], usize> {
    let n = a.rows;
    if !a.is_finite() {
        return Err(1);
    }
    // Scales the numbers to around 1, so that their products neither overflow nor underflow.
    let scale = exponent(a.values());
    a.values_mut().iter_mut().for_each(|z| *z = scaled(*z, -scale));
    let tau = gehrd(&mut a, 0, n);
    // The reflectors begin one row below the diagonal.
    let below = Matrix::new(n.saturating_sub(1), tau.rows, |i, j| a[(i + 1, j)]);
    let inner = ormqr(&below, &tau, Matrix::identity(below.rows, below.rows), (true, false));
    let mut q = Matrix::identity(n, n);
    for j in 1..n {
        q.column_mut(j)[1..].copy_from_slice(inner.column(j - 1));
    }
    let mut t = Matrix::new(n, n, |i, j| if i > j + 1 { T::ZERO } else { a[(i, j)] });
    T::triangularize(&mut t, &mut q, epsilon)?;
    t.values_mut().iter_mut().for_each(|z| *z = scaled(*z, scale));
    Ok([t, q])
}

/// Number types whose Hessenberg matrices can be reduced to a Schur form.
pub(super) trait Triangularize: Number {
    /// Reduces a Hessenberg matrix to triangular form by rotations or reflectors, and multiplies `q` by them.
    fn triangularize(h: &mut Matrix<Self>, q: &mut Matrix<Self>, epsilon: f64) -> Result<(), usize>;
}

/// Returns the start of the last block, within the first `end` rows, that has no negligible element below its
/// diagonal. The threshold depends on the number of iterations so far. The negligible element before the
/// block is set to 0.
fn block_start<T: Number>(h: &mut Matrix<T>, end: usize, (norm, epsilon): (f64, f64), turns: usize) -> usize {
    for i in (1..end).rev() {
        let beside = h[(i - 1, i - 1)].size() + h[(i, i)].size();
        let scale = match beside {
            _ if turns > RELAXED_TOLERANCE_ITERATION => norm * h.rows.max(10) as f64,
            0.0 => norm,
            beside => beside,
        };
        // Squares of smaller numbers would underflow. The largest element is around 1.
        let least = f64::MIN_POSITIVE.sqrt();
        if h[(i, i - 1)].size() <= least.max(epsilon * scale) {
            h[(i, i - 1)] = T::ZERO;
            return i;
        }
    }
    0
}

/// Multiplies the rows `k` and `k + 1` by a rotation that maps a vector `(x, y)` to `(r, 0)`. Multiplies the
/// same columns of `h` and `q` by its inverse.
pub(super) fn rotate<T: Number>([h, q]: [&mut Matrix<T>; 2], k: usize, (x, y): (T, T)) {
    let (a, b) = (x.abs(), y.abs());
    let r = libm::hypot(a, b);
    if b == 0.0 || r == 0.0 {
        return;
    }
    let phase = if a == 0.0 { T::ONE } else { x.over(a) };
    let rotation = (a / r, -(y.conj().over(r) * phase));
    h.rotate_rows((k, k + 1), rotation);
    h.rotate_columns((k, k + 1), rotation);
    q.rotate_columns((k, k + 1), rotation);
}

impl Triangularize for C {
    /// Uses single shifts.
    fn triangularize(h: &mut Matrix<C>, q: &mut Matrix<C>, epsilon: f64) -> Result<(), usize> {
        let (n, negligible) = (h.rows, (h.largest(), epsilon));
        let (mut end, mut turns) = (n, 0);
        while end > 1 {
            let start = block_start(h, end, negligible, turns);
            if start + 1 == end {
                (end, turns) = (start, 0);
                continue;
            }
            turns += 1;
            if turns > MAX_ITERATIONS_PER_ROW * n.max(10) {
                return Err(end);
            }
            let shift = match turns % 10 {
                // An exceptional shift, which breaks a cycle.
                0 => h[(end - 1, end - 1)] + h[(end - 1, end - 2)].size(),
                _ => close_eigenvalue(h, end - 2),
            };
            let first = (h[(start, start)] - shift, h[(start + 1, start)]);
            rotate([h, q], start, first);
            for k in start..end - 2 {
                let bulge = (h[(k + 1, k)], h[(k + 2, k)]);
                rotate([h, q], k + 1, bulge);
                h[(k + 2, k)] = C::ZERO;
            }
        }
        Ok(())
    }
}

/// Returns the eigenvalue of the block at `k` that is closer to its last element (Wilkinson's shift):
/// `d - b·c / (p ± √(p² + b·c))` with `p = (a - d) / 2` and the larger divisor.
fn close_eigenvalue(h: &Matrix<C>, k: usize) -> C {
    let (d, product) = (h[(k + 1, k + 1)], h[(k, k + 1)] * h[(k + 1, k)]);
    let p = (h[(k, k)] - d) / 2.0;
    let root = complex::sqrt(p * p + product);
    let divisor = if (p + root).size() >= (p - root).size() { p + root } else { p - root };
    if divisor == C::ZERO { d } else { d - product / divisor }
}

impl Triangularize for f64 {
    /// Uses double shifts, so that all numbers stay real (Francis's algorithm).
    fn triangularize(h: &mut Matrix<f64>, q: &mut Matrix<f64>, epsilon: f64) -> Result<(), usize> {
        let (n, negligible) = (h.rows, (h.largest(), epsilon));
        let (mut end, mut turns) = (n, 0);
        while end > 0 {
            let start = block_start(h, end, negligible, turns);
            if start + 2 >= end {
                if start + 2 == end {
                    standardize(h, q, start, epsilon);
                }
                (end, turns) = (start, 0);
                continue;
            }
            turns += 1;
            if turns > MAX_ITERATIONS_PER_ROW * n.max(10) {
                return Err(end);
            }
            let shifts = shifts(h, end, turns);
            for k in start..end - 1 {
                let rows = (end - k).min(3);
                let x = if k == start { first_column(h, start, shifts) } else { h.part(k..k + rows, k - 1) };
                let (reflector, _) = Reflector::new(k, x, 0);
                reflector.apply_left(h, 0..n);
                reflector.apply_right(h, 0..n);
                reflector.apply_right(q, 0..n);
                if k > start {
                    (1..rows).for_each(|i| h[(k + i, k - 1)] = 0.0);
                }
            }
        }
        Ok(())
    }
}

/// Returns the sum and the product of the two shifts for a block that ends before row `end`. The shifts are
/// the eigenvalues of its last two rows and columns. If these are real, the closer one is used twice.
/// Exceptional shifts break a cycle (LAPACK's `lahqr`).
fn shifts(h: &Matrix<f64>, end: usize, turns: usize) -> (f64, f64) {
    let (i, j) = (end - 2, end - 1);
    let (a, b, c, d) = if turns.is_multiple_of(10) {
        let s = h[(j, i)].abs() + h[(i, i - 1)].abs();
        let a = 0.75 * s + h[(j, j)];
        (a, -0.4375 * s, s, a)
    } else {
        (h[(i, i)], h[(i, j)], h[(j, i)], h[(j, j)])
    };
    let middle = (a + d) / 2.0;
    let square = (a - middle) * (d - middle) - b * c;
    if square > 0.0 {
        return (a + d, a * d - b * c);
    }
    let root = (-square).sqrt();
    let (low, high) = (middle - root, middle + root);
    let shift = if (low - d).abs() < (high - d).abs() { low } else { high };
    (2.0 * shift, shift * shift)
}

/// Returns the first column of `(h - s₁)·(h - s₂)` for a block, from the sum and the product of the shifts.
fn first_column(h: &Matrix<f64>, k: usize, (sum, product): (f64, f64)) -> Vec<f64> {
    let at = |i: usize, j: usize| h[(k + i, k + j)];
    vec![
        at(0, 0) * at(0, 0) + at(0, 1) * at(1, 0) - sum * at(0, 0) + product,
        at(1, 0) * (at(0, 0) + at(1, 1) - sum),
        at(1, 0) * at(2, 1),
    ]
}

/// Rotates two rows and columns so that the block at `k` is triangular, or has equal diagonal elements and
/// off-diagonal elements of opposite signs (LAPACK's `lanv2`).
fn standardize(h: &mut Matrix<f64>, q: &mut Matrix<f64>, k: usize, epsilon: f64) {
    let [a, b, c, d] = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| h[(k + i, k + j)]);
    let opposite = |b: f64, c: f64| (b < 0.0) != (c < 0.0);
    if c == 0.0 || (a == d && b != 0.0 && opposite(b, c)) {
        return;
    }
    let p = (a - d) / 2.0;
    let scale = p.abs().max(b.abs()).max(c.abs());
    let square = (p / scale) * (p / scale) + (b / scale) * (c / scale);
    if b == 0.0 || square >= 4.0 * epsilon {
        // Two real eigenvalues: an eigenvector becomes the first basis vector.
        let z = if b == 0.0 { 0.0 } else { p + (scale * square.sqrt()).copysign(p) };
        rotate([h, q], k, (z, c));
        h[(k + 1, k)] = 0.0;
        return;
    }
    // Complex eigenvalues, or real ones that are close: first make the diagonal elements equal.
    let sigma = b + c;
    let r = libm::hypot(sigma, a - d);
    let cos = ((1.0 + sigma.abs() / r) / 2.0).sqrt();
    let sin = -(p / (r * cos)).copysign(p * sigma);
    rotate([h, q], k, (cos, sin));
    let middle = (h[(k, k)] + h[(k + 1, k + 1)]) / 2.0;
    (h[(k, k)], h[(k + 1, k + 1)]) = (middle, middle);
    let (b, c) = (h[(k, k + 1)], h[(k + 1, k)]);
    if c != 0.0 && (b == 0.0 || !opposite(b, c)) {
        rotate([h, q], k, (b.abs().sqrt(), c.abs().sqrt()));
        h[(k + 1, k)] = 0.0;
    }
}

/// Returns the eigenvalues of a Schur form.
pub(super) fn eigenvalues<T: Number>(t: &Matrix<T>) -> Vec<C> {
    let mut values: Vec<C> = (0..t.rows).map(|i| t[(i, i)].wide()).collect();
    for i in 1..t.rows {
        let [above, below] = [t[(i - 1, i)], t[(i, i - 1)]].map(T::abs);
        if below != 0.0 {
            let im = above.sqrt() * below.sqrt();
            (values[i - 1].im, values[i].im) = (im, -im);
        }
    }
    values
}

/// Returns the Schur form, its vectors if requested, the eigenvalues (for a real matrix the real and
/// imaginary parts separately), the number of eigenvalues selected by sorting (always 0), and `info`.
pub(super) fn gees<T: Triangularize>(a: Matrix<T>, vectors: bool, epsilon: f64) -> Vec<Matrix<C>> {
    let n = a.rows;
    let (found, info) = match schur(a, epsilon) {
        Ok(found) => (found, 0),
        Err(info) => ([Matrix::nan(n, n), Matrix::nan(n, n)], info),
    };
    let [t, q] = found.map(|m| m.wide());
    let mut results = vec![t, if vectors { q } else { Matrix::zeros(0, 0) }];
    let values = eigenvalues(&results[0]);
    results.extend(super::parts::<T>(values));
    results.extend([Matrix::integer(0), Matrix::integer(info)]);
    results
}
