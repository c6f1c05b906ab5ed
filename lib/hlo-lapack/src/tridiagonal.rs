//! `sytrd`, `hetrd` and `gtsv`: reduction to tridiagonal matrices, and tridiagonal systems.

use num_traits::Float;

use super::householder::reflector;
use hlo_runtime::Error;
use hlo_runtime::Number;
use hlo_runtime::linalg::{Matrix, Scalar};

/// The diagonal, the off-diagonal, and the tau of the reflectors.
type Tridiagonal<T> = (Vec<<T as Scalar>::Part>, Vec<<T as Scalar>::Part>, Vec<T>);

/// Computes `a = q·t·qᴴ` with a real tridiagonal `t`, from the lower or upper triangle of a Hermitian matrix.
/// This triangle is overwritten with `t` and the reflectors of `q`. The other triangle is not changed.
pub(crate) fn sytrd<T: Scalar>(a: &mut Matrix<T>, lower: bool) -> Result<Tridiagonal<T>, Error> {
    let n = a.rows();
    // The whole matrix, so that products need no special case for the triangle.
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
        // The remaining matrix is at the end for the lower triangle, and at the start for the upper one.
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

/// Computes `hᴴ·a·h` for the reflector `h` on a range of rows and columns, as a rank-two update.
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

/// Solves a tridiagonal system by elimination with pivoting.
///
/// All diagonals are as long as the system. The first element of `below` and the last one of `above` are
/// ignored. The diagonals are overwritten with those of the triangular factor, the second superdiagonal in
/// `below`. Returns 0, or the number (from 1) of the pivot that is 0.
pub(crate) fn gtsv<T: Scalar>(
    below: &mut [T],
    diagonal: &mut [T],
    above: &mut [T],
    b: &mut Matrix<T>,
) -> i32 {
    let n = diagonal.len();
    for i in 0..n.saturating_sub(1) {
        let l = below[i + 1];
        // The element on the second superdiagonal, which is filled when rows are swapped.
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

/// Solves a tridiagonal system that may be singular, as LAPACK's `lagtf` and `lagts` do.
///
/// The pivot row is the one whose element is largest relative to its row. A pivot that is too small for the
/// right-hand side is perturbed away from 0. All diagonals are as long as the system. The first element of
/// `below` and the last one of `above` are ignored.
pub(crate) fn solve_perturbed<T: Scalar>(
    below: &[T],
    diagonal: &[T],
    above: &[T],
    b: &mut Matrix<T>,
) -> Result<(), Error> {
    let n = diagonal.len();
    let (zero, width) = (<T::Part as Number>::ZERO, b.columns());
    if n == 0 || width == 0 {
        return Ok(());
    }
    // The diagonal of the triangular factor and its two superdiagonals.
    let mut u = vec![[T::ZERO; 3]; n];
    u[0] = [diagonal[0], if n > 1 { above[0] } else { T::ZERO }, T::ZERO];
    let mut most = Float::max(u[0][0].modulus(), u[0][1].modulus());
    let mut scale = u[0][0].modulus() + u[0][1].modulus();
    for k in 0..n - 1 {
        let (l, d) = (below[k + 1], diagonal[k + 1]);
        let next = if k + 2 < n { above[k + 1] } else { T::ZERO };
        let row = l.modulus() + d.modulus() + next.modulus();
        let pivot = if u[k][0] == T::ZERO { zero } else { u[k][0].modulus() / scale };
        if l == T::ZERO {
            (u[k + 1], scale) = ([d, next, T::ZERO], row);
        } else if l.modulus() / row <= pivot {
            let factor = l / u[k][0];
            (u[k + 1], scale) = ([d - factor * u[k][1], next, T::ZERO], row);
            for c in 0..width {
                b.set(k + 1, c, b.get(k + 1, c) - factor * b.get(k, c));
            }
        } else {
            let factor = u[k][0] / l;
            u[k + 1] = [u[k][1] - factor * d, -factor * next, T::ZERO];
            u[k] = [l, d, next];
            for c in 0..width {
                let (upper, lower) = (b.get(k, c), b.get(k + 1, c));
                b.set(k, c, lower);
                b.set(k + 1, c, upper - factor * lower);
            }
            scale = u[k + 1][0].modulus() + u[k + 1][1].modulus();
        }
        if k + 2 < n {
            most = u[k].iter().fold(most, |most, z| Float::max(most, z.modulus()));
        }
    }
    let most = Float::max(most, u[n - 1][0].modulus());
    let step = <T::Part as Float>::epsilon() * most;
    let mut row = vec![T::ZERO; width];
    for k in (0..n).rev() {
        for (c, z) in row.iter_mut().enumerate() {
            *z = b.get(k, c);
            (1..3).filter(|&d| k + d < n).for_each(|d| *z -= u[k][d] * b.get(k + d, c));
        }
        let pivot = move_away(u[k][0], step, &mut row);
        row.iter().enumerate().for_each(|(c, &z)| b.set(k, c, z / pivot));
    }
    Ok(())
}

/// Returns a pivot that a row can be divided by without overflow. It is moved by `step`, which doubles until
/// the pivot is large enough, or the pivot and the row are both scaled up.
fn move_away<T: Scalar>(mut pivot: T, step: T::Part, row: &mut [T]) -> T {
    let (zero, one) = (<T::Part as Number>::ZERO, <T::Part as num_traits::One>::one());
    let tiny = <T::Part as Float>::min_positive_value();
    let huge = one / tiny;
    let most = row.iter().fold(zero, |most, z| Float::max(most, z.modulus()));
    let mut step = Float::max(Float::abs(step), tiny);
    if Float::is_sign_negative(pivot.re()) {
        step = -step;
    }
    loop {
        let size = pivot.modulus();
        let too_small = size < tiny && (size == zero || most * tiny > size);
        if size < one && (too_small || (size >= tiny && most > size * huge)) {
            pivot += T::real(step);
            step = step + step;
        } else if size < tiny {
            let up = T::real(huge);
            row.iter_mut().for_each(|z| *z *= up);
            return pivot * up;
        } else {
            return pivot;
        }
    }
}
