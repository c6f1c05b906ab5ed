//! `getrf`, `potrf`, `trsm`: factorizations by elimination, and triangular systems.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::{Accum, MatMut, Par};

use hlo_custom_call::Attributes;
use hlo_runtime::Error;
use hlo_runtime::linalg::{Matrix, Scalar, Strides, Triangle, by_faer, factor};

/// Number of columns that are eliminated one by one before the rest of the matrix is updated with all of
/// them.
const PANEL_COLUMNS: usize = 32;

/// Computes `a = p·l·u` with partial pivoting, in place of the column-major `m` by `n` elements. Row `i` was
/// swapped with row `pivots[i]`, counted from 1. Returns 0, or the number (from 1) of the first pivot that is
/// 0.
pub(crate) fn getrf<T: Scalar>(a: &mut [T], (m, n): (usize, usize), pivots: &mut [i32]) -> i32 {
    let mut info = 0;
    for first in (0..pivots.len()).step_by(PANEL_COLUMNS) {
        let end = pivots.len().min(first + PANEL_COLUMNS);
        for j in first..end {
            let (left, right) = a.split_at_mut((j + 1) * m);
            let column = &mut left[j * m..];
            let pivot = pivot_row(column, j);
            pivots[j] = pivot as i32 + 1;
            if column[pivot] == T::ZERO {
                info = if info == 0 { j as i32 + 1 } else { info };
                continue;
            }
            column.swap(j, pivot);
            let divisor = column[j];
            column[j + 1..].iter_mut().for_each(|z| *z /= divisor);
            for right in right[..(end - 1 - j) * m].chunks_exact_mut(m) {
                right.swap(j, pivot);
                let factor = right[j];
                for (z, &l) in right[j + 1..].iter_mut().zip(&column[j + 1..]) {
                    *z -= l * factor;
                }
            }
        }
        // The rows of the other columns are swapped after the panel.
        let (before, rest) = a.split_at_mut(first * m);
        let others = before.chunks_exact_mut(m).chain(rest[(end - first) * m..].chunks_exact_mut(m));
        for column in others {
            (first..end).for_each(|j| column.swap(j, pivots[j] as usize - 1));
        }
        swap_in_panel(&mut rest[..(end - first) * m], m, first, &pivots[first..end]);
        if end < n {
            let a = MatMut::from_column_major_slice_mut(&mut *a, m, n);
            let (panel, rest) = a.split_at_col_mut(end);
            let panel = panel.as_ref().get(first.., first..end);
            let (_, rest) = rest.split_at_row_mut(first);
            let (mut top, below) = rest.split_at_row_mut(end - first);
            let square = panel.get(..end - first, ..);
            by_faer(|| solve_unit_lower_triangular_in_place(square, top.as_mut(), Par::Seq));
            if m > end {
                let left = panel.get(end - first.., ..);
                by_faer(|| matmul(below, Accum::Add, left, top.as_ref(), -T::one_impl(), Par::Seq));
            }
        }
    }
    info
}

/// Changes pivots to count from 0 instead of 1. Returns the original number of each row after the swaps.
pub(crate) fn permutation(pivots: &mut [i32], rows: usize) -> Vec<i32> {
    let mut order: Vec<i32> = (0..rows as i32).collect();
    for (j, pivot) in pivots.iter_mut().enumerate() {
        *pivot -= 1;
        order.swap(j, *pivot as usize);
    }
    order
}

/// Swaps the rows of the panel's columns that were already processed when a pivot was found.
fn swap_in_panel<T>(panel: &mut [T], m: usize, first: usize, pivots: &[i32]) {
    for (done, column) in panel.chunks_exact_mut(m).enumerate() {
        for (j, &pivot) in pivots.iter().enumerate().skip(done + 1) {
            column.swap(first + j, pivot as usize - 1);
        }
    }
}

/// Returns the row of the largest element from row `first` on, or the first of several equal ones. No element
/// is larger than a NaN that comes first, and a NaN is not larger than any element.
fn pivot_row<T: Scalar>(column: &[T], first: usize) -> usize {
    let mut best = first;
    for i in first + 1..column.len() {
        if column[i].size() > column[best].size() {
            best = i;
        }
    }
    best
}

/// Computes `a = l·lᴴ` or `a = uᴴ·u` in place of the lower or upper triangle. The other triangle is not
/// changed. Returns 0, or the order (from 1) of the first leading minor that is not positive. In that case
/// `a` is not changed.
pub(crate) fn potrf<T: Scalar>(a: &mut Matrix<T>, lower: bool) -> Result<i32, Error> {
    let n = a.rows();
    let mut l = Matrix::zeros(n, n)?;
    for j in 0..n {
        for i in j..n {
            l.set(i, j, if lower { a.get(i, j) } else { a.get(j, i).conj() });
        }
    }
    if let Some(failed) = factor(l.as_mut())? {
        return Ok(failed as i32 + 1);
    }
    for j in 0..n {
        for i in j..n {
            if lower { a.set(i, j, l.get(i, j)) } else { a.set(j, i, l.get(i, j).conj()) }
        }
    }
    Ok(0)
}

/// Returns the solution of `op(a)·x = b` or `x·op(a) = b`.
pub(crate) fn trsm<T: Scalar>(
    a: &Matrix<T>,
    b: Matrix<T>,
    attributes: &Attributes,
) -> Result<Matrix<T>, Error> {
    let left = attributes.letter("side", "LR")? == 'L';
    let op = attributes.letter("trans_x", "NTC")?;
    let form = Triangle {
        // The unknown is on the right.
        transposed: (op != 'N') == left,
        conjugated: op == 'C',
        lower: attributes.letter("uplo", "LU")? == 'L',
        unit: attributes.letter("diag", "NU")? == 'U',
    };
    let n = a.rows();
    let strides = Strides { row: 1, column: n };
    // SAFETY: these are the matrix's own elements, column by column.
    let triangle = unsafe { form.read::<T>(n, T::CODE, a.values().as_ptr().cast(), strides)? };
    let mut x = if left { b } else { transposed(&b)? };
    if n > 0 && x.columns() > 0 {
        form.solve(triangle.as_ref(), x.as_mut());
    }
    if left { Ok(x) } else { transposed(&x) }
}

fn transposed<T: Scalar>(a: &Matrix<T>) -> Result<Matrix<T>, Error> {
    let mut result = Matrix::zeros(a.columns(), a.rows())?;
    for j in 0..a.columns() {
        for i in 0..a.rows() {
            result.set(j, i, a.get(i, j));
        }
    }
    Ok(result)
}
