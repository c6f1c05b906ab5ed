//! `getrf`, `potrf`, `trsm`, `gtsv`: factorization by elimination, and solution of triangular and tridiagonal
//! systems.

use super::matrix::{Matrix, Number};
use hlo_custom_call::{Attributes, Error};

/// Computes `p·a = l·u` with partial pivoting, in place (Golub & Van Loan, algorithm 3.4.1; LAPACK's
/// `getf2`). Row `j` was swapped with row `pivots[j]`, counted from 1. The second result is the number, from
/// 1, of the first pivot that is 0, or 0 if there is none.
pub(super) fn getrf<T: Number>(a: &mut Matrix<T>) -> (Vec<T>, usize) {
    let (mut pivots, mut info) = (Vec::new(), 0);
    for j in 0..a.rows.min(a.columns) {
        // Selects the first of equal elements. Comparisons with a NaN are false: nothing is larger than a
        // NaN, and a NaN is larger than nothing.
        let larger = |best: usize, i: usize| if a[(i, j)].size() > a[(best, j)].size() { i } else { best };
        let pivot = (j + 1..a.rows).fold(j, larger);
        pivots.push(T::real((pivot + 1) as f64));
        if a[(pivot, j)] == T::ZERO {
            info = if info == 0 { j + 1 } else { info };
            continue;
        }
        a.swap_rows(j, pivot);
        for i in j + 1..a.rows {
            let factor = a[(i, j)] / a[(j, j)];
            a[(i, j)] = factor;
            for c in j + 1..a.columns {
                let z = a[(j, c)];
                a[(i, c)] -= factor * z;
            }
        }
    }
    (pivots, info)
}

/// Returns the pivots counted from 0 instead of 1, and for each of the `rows` rows of `p·a` the number of the
/// row of `a`.
pub(super) fn permutation<T: Number>(pivots: &[T], rows: usize) -> [Vec<T>; 2] {
    let pivots: Vec<usize> = pivots.iter().map(|p| p.re() as usize - 1).collect();
    let mut order: Vec<usize> = (0..rows).collect();
    pivots.iter().enumerate().for_each(|(j, &pivot)| order.swap(j, pivot));
    [pivots, order].map(|list| list.into_iter().map(|i| T::real(i as f64)).collect())
}

/// Computes `a = l·lᴴ` or `a = uᴴ·u` in place of the lower or upper triangle. The other triangle is unchanged
/// (Golub & Van Loan, section 4.2.5). Returns 0, or the order, from 1, of the first leading minor that is not
/// positive. In that case `a` is unchanged.
pub(super) fn potrf<T: Number>(a: &mut Matrix<T>, lower: bool) -> usize {
    let n = a.rows;
    // With u = lᴴ both are the same computation.
    let mut l = if lower { a.clone() } else { a.adjoint() };
    for j in 0..n {
        for i in j..n {
            let sum = (0..j).fold(l[(i, j)], |sum, k| sum - l[(i, k)] * l[(j, k)].conj());
            if i > j {
                l[(i, j)] = sum.over(l[(j, j)].re());
                continue;
            }
            if sum.re() <= 0.0 || sum.re().is_nan() {
                return j + 1;
            }
            l[(j, j)] = T::real(sum.re().sqrt());
        }
    }
    for j in 0..n {
        for i in j..n {
            if lower { a[(i, j)] = l[(i, j)] } else { a[(j, i)] = l[(i, j)].conj() }
        }
    }
    0
}

/// Solves `op(a)·x = b` or `x·op(a) = b` in place of `b`, by substitution (Golub & Van Loan, section 3.1).
pub(super) fn trsm<T: Number>(
    a: &Matrix<T>,
    b: &mut Matrix<T>,
    attributes: &Attributes,
) -> Result<(), Error> {
    let left = attributes.letter("side", "LR")? == 'L';
    let op = attributes.letter("trans_x", "NTC")?;
    let unit = attributes.letter("diag", "NU")? == 'U';
    // With the unknown on the left, each row of b is a system of op(a)ᵀ.
    let transposed = (op != 'N') == left;
    let lower = (attributes.letter("uplo", "LU")? == 'L') != transposed;
    let at = |i: usize, j: usize| {
        let z = if transposed { a[(j, i)] } else { a[(i, j)] };
        if op == 'C' { z.conj() } else { z }
    };
    let n = a.rows;
    for line in 0..if left { b.columns } else { b.rows } {
        let place = |i: usize| if left { (i, line) } else { (line, i) };
        for step in 0..n {
            let i = if lower { step } else { n - 1 - step };
            let known = if lower { 0..i } else { i + 1..n };
            let sum = known.fold(b[place(i)], |sum, j| sum - at(i, j) * b[place(j)]);
            b[place(i)] = if unit { sum } else { sum / at(i, i) };
        }
    }
    Ok(())
}

/// Solves a tridiagonal system by elimination with partial pivoting, as LAPACK's `gtsv` does. The three
/// diagonals are as long as the system. The first element of the lower diagonal and the last element of the
/// upper one are not used. The diagonals of the triangular factor replace them, with the second upper
/// diagonal in `below`. Returns 0, or the number of the pivot, from 1, that is 0.
pub(super) fn gtsv<T: Number>(
    below: &mut Matrix<T>,
    diagonal: &mut Matrix<T>,
    above: &mut Matrix<T>,
    b: &mut Matrix<T>,
) -> usize {
    let (n, l, d, u) = (b.rows, below.values_mut(), diagonal.values_mut(), above.values_mut());
    for k in 0..n {
        let next = k + 1;
        // From here on, this element is the one two to the right of the diagonal in row k. Row swaps fill it.
        let low = if next < n { std::mem::replace(&mut l[next], T::ZERO) } else { T::ZERO };
        if low == T::ZERO {
            if d[k] == T::ZERO {
                return next;
            }
            continue;
        }
        let factor;
        if d[k].size() >= low.size() {
            factor = low / d[k];
            d[next] -= factor * u[k];
        } else {
            factor = d[k] / low;
            b.swap_rows(k, next);
            (d[k], u[k], d[next]) = (low, d[next], u[k] - factor * d[next]);
            if next + 1 < n {
                (l[next], u[next]) = (u[next], -factor * u[next]);
            }
        }
        eliminate(b, k, factor);
    }
    for c in 0..b.columns {
        for k in (0..n).rev() {
            let mut z = b[(k, c)];
            if k + 1 < n {
                z -= u[k] * b[(k + 1, c)];
            }
            if k + 2 < n {
                z -= l[k + 1] * b[(k + 2, c)];
            }
            b[(k, c)] = z / d[k];
        }
    }
    0
}

/// Subtracts a multiple of row `k` from the next row.
fn eliminate<T: Number>(b: &mut Matrix<T>, k: usize, factor: T) {
    for c in 0..b.columns {
        let z = b[(k, c)];
        b[(k + 1, c)] -= factor * z;
    }
}

/// Solves a tridiagonal system that may be singular, in place of `b`, as LAPACK's `lagtf` and `lagts` do.
/// Rows are swapped so that the pivot is as large as possible relative to the sum of the absolute values in
/// its row. A pivot that is too small for the right-hand side is moved away from 0. The diagonals are as for
/// [`gtsv`]. `epsilon` and `tiny` are those of the system's type.
pub(super) fn perturbed<T: Number>(
    [below, diagonal, above]: [&Matrix<T>; 3],
    b: &mut Matrix<T>,
    (epsilon, tiny): (f64, f64),
) {
    let n = diagonal.rows;
    if n == 0 {
        return;
    }
    let above = |k: usize| if k + 1 < n { above[(k, 0)] } else { T::ZERO };
    let sum = |row: &[T]| row.iter().map(|z| z.abs()).sum::<f64>();
    let largest = |row: &[T]| row.iter().fold(0.0, |most: f64, z| most.max(z.abs()));
    // The rows of the triangular factor, from the diagonal on.
    let mut u = vec![[diagonal[(0, 0)], above(0), T::ZERO]];
    let (mut most, mut scale) = (largest(&u[0]), sum(&u[0]));
    for k in 0..n - 1 {
        let next = [below[(k + 1, 0)], diagonal[(k + 1, 0)], above(k + 1)];
        let row = u[k];
        let pivot = if row[0] == T::ZERO { 0.0 } else { row[0].abs() / scale };
        if next[0] == T::ZERO {
            u.push([next[1], next[2], T::ZERO]);
            scale = sum(&next);
        } else if next[0].abs() / sum(&next) <= pivot {
            let factor = next[0] / row[0];
            u.push([next[1] - factor * row[1], next[2], T::ZERO]);
            scale = sum(&next);
            eliminate(b, k, factor);
        } else {
            let factor = row[0] / next[0];
            u[k] = next;
            u.push([row[1] - factor * next[1], -factor * next[2], T::ZERO]);
            scale = sum(&u[k + 1]);
            b.swap_rows(k, k + 1);
            eliminate(b, k, factor);
        }
        if k + 2 < n {
            most = most.max(largest(&u[k]));
        }
    }
    let step = (epsilon * most.max(u[n - 1][0].abs())).max(tiny);
    for k in (0..n).rev() {
        let mut row: Vec<T> = (0..b.columns).map(|c| b[(k, c)]).collect();
        for (c, z) in row.iter_mut().enumerate() {
            (1..3).filter(|d| k + d < n).for_each(|d| *z -= u[k][d] * b[(k + d, c)]);
        }
        let pivot = move_away(u[k][0], step, &mut row, tiny);
        row.iter().enumerate().for_each(|(c, &z)| b[(k, c)] = z / pivot);
    }
}

/// Returns a pivot that a row can be divided by without overflow. The pivot is moved by `step`, which doubles
/// each time, until it is large enough, or both the pivot and the row are scaled up.
fn move_away<T: Number>(mut pivot: T, step: f64, row: &mut [T], tiny: f64) -> T {
    let most = row.iter().fold(0.0, |most: f64, z| most.max(z.abs()));
    let mut step = step.copysign(pivot.re());
    loop {
        let size = pivot.abs();
        if size < 1.0 && (size == 0.0 || most * tiny > size) {
            pivot += T::real(step);
            step += step;
        } else if size < tiny {
            row.iter_mut().for_each(|z| *z = z.over(tiny));
            return pivot.over(tiny);
        } else {
            return pivot;
        }
    }
}
