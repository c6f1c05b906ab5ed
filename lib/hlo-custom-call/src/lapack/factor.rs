//! `getrf`, `potrf`, `trsm`: factors by elimination, and triangular systems.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_unit_lower_triangular_in_place;
use faer::{Accum, Par};

use crate::Attributes;
use hlo_runtime::Error;
use hlo_runtime::linalg::{Matrix, Scalar, Strides, Triangle, factor};

/// Columns that are eliminated one by one before the rest of the matrix is updated with all of them.
const PANEL: usize = 32;

/// `a = p·l·u` with partial pivoting, in place. Row `i` was swapped with row `pivots[i]`, from 1. The result is 0
/// or the number, from 1, of the first pivot that is 0.
pub(super) fn getrf<T: Scalar>(a: &mut Matrix<T>, pivots: &mut [i32]) -> i32 {
    let (m, n) = (a.rows(), a.columns());
    let mut info = 0;
    for first in (0..pivots.len()).step_by(PANEL) {
        let end = pivots.len().min(first + PANEL);
        for j in first..end {
            let pivot = pivot_row(a.column(j), j);
            pivots[j] = pivot as i32 + 1;
            if a.get(pivot, j) == T::ZERO {
                info = if info == 0 { j as i32 + 1 } else { info };
                continue;
            }
            if pivot != j {
                (0..n).for_each(|c| a.column_mut(c).swap(j, pivot));
            }
            let inverse = a.get(j, j);
            a.column_mut(j)[j + 1..].iter_mut().for_each(|z| *z /= inverse);
            for c in j + 1..end {
                let (left, right) = a.two_columns(j, c);
                let factor = right[j];
                for (z, &l) in right[j + 1..].iter_mut().zip(&left[j + 1..]) {
                    *z -= l * factor;
                }
            }
        }
        if end < n {
            let (panel, rest) = a.as_mut().split_at_col_mut(end);
            let panel = panel.as_ref().get(first.., first..end);
            let (_, rest) = rest.split_at_row_mut(first);
            let (mut top, below) = rest.split_at_row_mut(end - first);
            solve_unit_lower_triangular_in_place(panel.get(..end - first, ..), top.as_mut(), Par::Seq);
            if m > end {
                let left = panel.get(end - first.., ..);
                matmul(below, Accum::Add, left, top.as_ref(), -T::one_impl(), Par::Seq);
            }
        }
    }
    info
}

/// The row of the largest element from row `first` on, the first of equals. Nothing is larger than a NaN that
/// comes first, and a NaN is larger than nothing.
fn pivot_row<T: Scalar>(column: &[T], first: usize) -> usize {
    let mut best = first;
    for i in first + 1..column.len() {
        if column[i].size() > column[best].size() {
            best = i;
        }
    }
    best
}

/// `a = l·lᴴ` or `a = uᴴ·u` in place of the lower or upper triangle; the other one stays. The result is 0 or the
/// order, from 1, of the first leading minor that is not positive; then `a` stays as it is.
pub(super) fn potrf<T: Scalar>(a: &mut Matrix<T>, lower: bool) -> Result<i32, Error> {
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
            match lower {
                true => a.set(i, j, l.get(i, j)),
                false => a.set(j, i, l.get(i, j).conj()),
            }
        }
    }
    Ok(0)
}

/// The solution of `op(a)·x = b` or `x·op(a) = b`.
pub(super) fn trsm<T: Scalar>(
    a: &Matrix<T>,
    b: Matrix<T>,
    attributes: &Attributes,
) -> Result<Matrix<T>, Error> {
    let left = attributes.letter("side", "LR")? == 'L';
    let op = attributes.letter("trans_x", "NTC")?;
    let form = Triangle {
        // The unknown stands on the right.
        transposed: (op != 'N') == left,
        conjugated: op == 'C',
        lower: attributes.letter("uplo", "LU")? == 'L',
        unit: attributes.letter("diag", "NU")? == 'U',
    };
    let n = a.rows();
    let strides = Strides { row: 1, column: n };
    // SAFETY: the matrix's own elements, column by column.
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
