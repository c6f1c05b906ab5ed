//! `sytrd`, `hetrd` and `gtsv`: to tridiagonal matrices, and systems of them.

use super::householder::reflector;
use hlo_runtime::Error;
use hlo_runtime::Number;
use hlo_runtime::linalg::{Matrix, Scalar};

/// The diagonal, the one beside it, and the tau of the reflectors.
type Tridiagonal<T> = (Vec<<T as Scalar>::Part>, Vec<<T as Scalar>::Part>, Vec<T>);

/// `a = q·t·qᴴ` with a real tridiagonal `t`, from the lower or upper triangle of a Hermitian matrix, which then
/// holds `t` and the reflectors of `q`; the other triangle stays.
pub(super) fn sytrd<T: Scalar>(a: &mut Matrix<T>, lower: bool) -> Result<Tridiagonal<T>, Error> {
    let n = a.rows();
    // The whole matrix, so that products with it are plain ones.
    let mut full = Matrix::zeros(n, n)?;
    for j in 0..n {
        full.set(j, j, T::real(a.get(j, j).re()));
        for i in j + 1..n {
            let z = if lower { a.get(i, j) } else { a.get(j, i).conj() };
            full.set(i, j, z);
            full.set(j, i, z.conj());
        }
    }
    let off = n.saturating_sub(1);
    let (mut beside, mut taus) = (vec![<T::Part as Number>::ZERO; off], vec![T::ZERO; off]);
    for step in 0..off {
        // What is left of the matrix is at its end for the lower triangle, at its start for the upper one.
        let (i, column) = if lower { (step, step) } else { (off - 1 - step, off - step) };
        let rest = if lower { i + 1..n } else { 0..i + 1 };
        let first = if lower { i + 1 } else { i };
        let mut v: Vec<T> = rest.clone().filter(|&r| r != first).map(|r| full.get(r, column)).collect();
        let (beta, tau) = reflector(full.get(first, column), &mut v);
        v.insert(if lower { 0 } else { v.len() }, T::one_impl());
        (beside[i], taus[i]) = (beta, tau);
        update(&mut full, rest.clone(), &v, tau);
        for (r, &z) in rest.zip(&v) {
            let z = if r == first { T::real(beta) } else { z };
            a.set(r, column, z);
        }
    }
    let diagonal: Vec<T::Part> = (0..n).map(|i| full.get(i, i).re()).collect();
    for (i, &d) in diagonal.iter().enumerate() {
        a.set(i, i, T::real(d));
    }
    Ok((diagonal, beside, taus))
}

/// `hᴴ·a·h` for the reflector `h` on the rows and columns of a range, as an update of rank two.
fn update<T: Scalar>(a: &mut Matrix<T>, range: std::ops::Range<usize>, v: &[T], tau: T) {
    if tau == T::ZERO {
        return;
    }
    let start = range.start;
    let mut x = vec![T::ZERO; v.len()];
    for (j, &factor) in v.iter().enumerate() {
        let factor = factor * tau;
        for (x, &z) in x.iter_mut().zip(&a.column(start + j)[range.clone()]) {
            *x += z * factor;
        }
    }
    let dot = x.iter().zip(v).fold(T::ZERO, |sum, (x, v)| sum + x.conj() * *v);
    let half = T::one_impl() / (T::one_impl() + T::one_impl());
    let alpha = -half * tau * dot;
    let w: Vec<T> = x.iter().zip(v).map(|(&x, &v)| x + alpha * v).collect();
    for j in 0..v.len() {
        let (left, right) = (w[j].conj(), v[j].conj());
        let column = &mut a.column_mut(start + j)[range.clone()];
        for (z, (&v, &w)) in column.iter_mut().zip(v.iter().zip(&w)) {
            *z = *z - v * left - w * right;
        }
    }
}

/// Solves a tridiagonal system by elimination with pivoting. The diagonals are as long as the system: the first
/// element of `below` and the last one of `above` do not count. They are replaced by those of the triangular
/// factor, the second one above the diagonal in `below`. The result is 0 or the number of the pivot, from 1, that
/// is 0.
pub(super) fn gtsv<T: Scalar>(
    below: &mut [T],
    diagonal: &mut [T],
    above: &mut [T],
    b: &mut Matrix<T>,
) -> i32 {
    let n = diagonal.len();
    for i in 0..n.saturating_sub(1) {
        let l = below[i + 1];
        // The element two to the right of the diagonal, which swapped rows bring.
        below[i + 1] = T::ZERO;
        if l == T::ZERO {
            if diagonal[i] == T::ZERO {
                return i as i32 + 1;
            }
            continue;
        }
        if diagonal[i].size() >= l.size() {
            let factor = l / diagonal[i];
            diagonal[i + 1] -= factor * above[i];
            for c in 0..b.columns() {
                let z = b.get(i + 1, c) - factor * b.get(i, c);
                b.set(i + 1, c, z);
            }
        } else {
            let factor = diagonal[i] / l;
            diagonal[i] = l;
            let next = diagonal[i + 1];
            diagonal[i + 1] = above[i] - factor * next;
            above[i] = next;
            if i + 2 < n {
                below[i + 1] = above[i + 1];
                above[i + 1] = -factor * above[i + 1];
            }
            for c in 0..b.columns() {
                let (z, next) = (b.get(i, c), b.get(i + 1, c));
                b.set(i, c, next);
                b.set(i + 1, c, z - factor * next);
            }
        }
    }
    if n > 0 && diagonal[n - 1] == T::ZERO {
        return n as i32;
    }
    for c in 0..b.columns() {
        for i in (0..n).rev() {
            let mut z = b.get(i, c);
            if i + 1 < n {
                z -= above[i] * b.get(i + 1, c);
            }
            if i + 2 < n {
                z -= below[i + 1] * b.get(i + 2, c);
            }
            b.set(i, c, z / diagonal[i]);
        }
    }
    0
}
