//! The QR algorithm with single shifts, for complex matrices. Subdiagonal elements are kept real, as in
//! LAPACK's `lahqr`.

use num_complex::Complex;
use num_traits::Float;

use super::{
    EXCEPTIONAL_SHIFT_FACTOR, EXCEPTIONAL_SHIFT_PERIOD, MAX_ITERATIONS_PER_ROW, block_start, columns,
    divided, largest_size, quotient,
};
use crate::householder::reflector;
use crate::numbers::exact;
use hlo_runtime::Number;
use hlo_runtime::linalg::{Matrix, Scalar};

/// Computes the triangular form of a complex Hessenberg matrix with real subdiagonal elements. Returns 0, or
/// the number of eigenvalues that were not found.
pub(super) fn triangularize<T: Scalar>(h: &mut Matrix<T>, q: &mut Matrix<T>) -> i32 {
    let norm = largest_size(h);
    let (mut end, mut turns) = (h.rows(), 0);
    while end > 1 {
        let start = block_start(h, end, norm, turns);
        if start + 1 == end {
            (end, turns) = (start, 0);
            continue;
        }
        turns += 1;
        if turns > MAX_ITERATIONS_PER_ROW * h.rows().max(10) {
            return end as i32;
        }
        let (first, mut x) = first_column(h, (start, end), shift(h, (start, end), turns));
        for k in first..end - 1 {
            if k > first {
                x = [h.get(k, k - 1), h.get(k + 1, k - 1)];
            }
            let (top, rest) = x.split_at_mut(1);
            let (beta, tau) = reflector(top[0], rest);
            if k > first {
                h.set(k, k - 1, T::real(beta));
                h.set(k + 1, k - 1, T::ZERO);
            }
            reflect(h, q, (k, end), x[1], tau);
            if k == first && k > start {
                rephase_rest(h, q, (k, end), T::one_impl() - tau);
            }
        }
        make_real(h, q, end - 1);
    }
    0
}

/// Multiplies row `i` to the right of the diagonal by a number of absolute value 1, and column `i` above the
/// diagonal by its inverse.
fn rephase<T: Scalar>(h: &mut Matrix<T>, q: &mut Matrix<T>, i: usize, factor: T) {
    for j in i + 1..h.columns() {
        let z = h.get(i, j) * factor;
        h.set(i, j, z);
    }
    let inverse = factor.conj();
    h.column_mut(i)[..i].iter_mut().for_each(|z| *z *= inverse);
    q.column_mut(i).iter_mut().for_each(|z| *z *= inverse);
}

/// Makes the subdiagonal element in row `i`, the last row of a block, real and positive if it is not real.
fn make_real<T: Scalar>(h: &mut Matrix<T>, q: &mut Matrix<T>, i: usize) {
    let below = h.get(i, i - 1);
    if below.im() == <T::Part as Number>::ZERO {
        return;
    }
    h.set(i, i - 1, T::real(below.modulus()));
    // A number of the order of 1, whose parts have full precision.
    rephase(h, q, i, divided(below, below.size()).unphase());
}

/// Makes the subdiagonal elements real again after a step that began at row `k` within a block. The step
/// multiplied them by `number`.
fn rephase_rest<T: Scalar>(h: &mut Matrix<T>, q: &mut Matrix<T>, (k, end): (usize, usize), number: T) {
    let factor = number.unphase().conj();
    let below = h.get(k + 1, k) * factor.conj();
    h.set(k + 1, k, below);
    if k + 2 < end {
        let below = h.get(k + 2, k + 1) * factor;
        h.set(k + 2, k + 1, below);
    }
    for i in (k..end).filter(|&i| i != k + 1) {
        rephase(h, q, i, factor);
    }
}

fn root<T: Scalar>(z: T) -> T {
    let root = Complex::new(z.re(), z.im()).sqrt();
    T::new(root.re, root.im)
}

/// Returns the shift for the last rows of a block: the eigenvalue of the last two rows and columns that is
/// closer to the last diagonal element (Wilkinson).
fn shift<T: Scalar>(h: &Matrix<T>, (start, end): (usize, usize), turns: usize) -> T {
    let (zero, i) = (<T::Part as Number>::ZERO, end - 1);
    let beyond =
        |k: usize| T::real(exact::<T::Part>(EXCEPTIONAL_SHIFT_FACTOR) * Float::abs(h.get(k + 1, k).re()));
    match turns % (2 * EXCEPTIONAL_SHIFT_PERIOD) {
        0 => return beyond(i - 1) + h.get(i, i),
        EXCEPTIONAL_SHIFT_PERIOD => return beyond(start) + h.get(start, start),
        _ => {}
    }
    let last = h.get(i, i);
    let u = root(h.get(i - 1, i)) * root(h.get(i, i - 1));
    if u.size() == zero {
        return last;
    }
    let x = (h.get(i - 1, i - 1) - last) * T::real(exact(0.5));
    let size = Float::max(u.size(), x.size());
    // Numbers of the order of 1, whose squares do not underflow.
    let (of_x, of_u) = (divided(x, size), divided(u, size));
    let y = root(of_x * of_x + of_u * of_u);
    let y = T::new(y.re() * size, y.im() * size);
    let away = x.size() > zero && {
        let x = divided(x, x.size());
        x.re() * y.re() + x.im() * y.im() < zero
    };
    last - u * quotient(u, x + if away { -y } else { y })
}

/// Returns the first column of `h - shift`, up to a factor, and the row in which it begins. This is the last
/// row at which the steps may begin because the two subdiagonal elements next to it are sufficiently small
/// together.
fn first_column<T: Scalar>(h: &Matrix<T>, (start, end): (usize, usize), shift: T) -> (usize, [T; 2]) {
    let ulp = <T::Part as Float>::epsilon();
    let mut m = end - 2;
    loop {
        let (corner, next, below) = (h.get(m, m), h.get(m + 1, m + 1), h.get(m + 1, m).re());
        let shifted = corner - shift;
        let size = shifted.size() + Float::abs(below);
        let (shifted, below) = (divided(shifted, size), below / size);
        let is_small = || {
            let before = Float::abs(h.get(m, m - 1).re());
            before * Float::abs(below) <= ulp * (shifted.size() * (corner.size() + next.size()))
        };
        if m == start || is_small() {
            return (m, [shifted, T::real(below)]);
        }
        m -= 1;
    }
}

/// Applies the reflector of `(1, v)` to the rows `k` and `k + 1`, and its inverse to the columns of the same
/// numbers.
fn reflect<T: Scalar>(h: &mut Matrix<T>, q: &mut Matrix<T>, (k, end): (usize, usize), v: T, tau: T) {
    // The product is real because the second element of the reflected vector is real.
    let second = T::real((tau * v).re());
    for j in k..h.columns() {
        let (x, y) = (h.get(k, j), h.get(k + 1, j));
        let sum = tau.conj() * x + second * y;
        h.set(k, j, x - sum);
        h.set(k + 1, j, y - sum * v);
    }
    for (matrix, rows) in [(&mut *h, (k + 3).min(end)), (&mut *q, usize::MAX)] {
        let (rows, [x, y, _]) = (rows.min(matrix.rows()), columns(matrix, k));
        for (x, y) in x[..rows].iter_mut().zip(&mut y[..rows]) {
            let sum = tau * *x + second * *y;
            (*x, *y) = (*x - sum, *y - sum * v.conj());
        }
    }
}
