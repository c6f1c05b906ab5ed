//! `gees`: Schur forms by the QR algorithm on the Hessenberg form.
//!
//! The shifts and the criterion for negligible elements are those of LAPACK's `lahqr`, which LAPACK uses for
//! every matrix of up to 75 rows. The eigenvalues therefore have the same order.

mod double_shift;
mod single_shift;

use num_traits::Float;

use super::balance::Balance;
use super::driver::{Data, converted, vector};
use super::householder::{gehrd, orgqr};
use super::numbers::{exact, not_a_number, scale, times};
use hlo_runtime::Error;
use hlo_runtime::Number;
use hlo_runtime::linalg::{Matrix, Scalar};

/// Computes `a = q·t·qᴴ` with a triangular `t`.
///
/// For a real matrix, `t` also has blocks of two by two on its diagonal, one for each pair of complex
/// eigenvalues, with equal diagonal elements. Without `vectors`, `q` is not computed. A matrix with elements
/// that are not finite results in NaN and an `info` of 1. An `info` of 1 or more is the number of eigenvalues
/// that were not found.
pub(crate) fn gees<T: Scalar>(mut a: Matrix<T>, vectors: bool) -> Result<Vec<Data<T>>, Error> {
    let n = a.rows();
    let divisor = scale(&mut a);
    let finite = a.values().iter().all(|z| z.is_number());
    let balance = Balance::permute(&mut a);
    let found = if finite { schur(a, vectors)? } else { Err(1) };
    let info = found.as_ref().err().copied().unwrap_or(0);
    let of_vectors = if vectors { n } else { 0 };
    let [mut a, q] = match found {
        Ok([t, mut q]) => {
            balance.undo(&mut q, false);
            [t, q]
        }
        Err(_) => [not_a_number(n, n)?, not_a_number(of_vectors, of_vectors)?],
    };
    a.values_mut().iter_mut().for_each(|z| *z = times(*z, divisor));
    let values = if T::COMPLEX { vec![eigenvalues(&a)] } else { pairs(&a).to_vec() };
    let mut results = vec![Data::Elements(a), if vectors { Data::Elements(q) } else { Data::Zeros }];
    for values in values {
        results.push(Data::Elements(vector(&values)?));
    }
    results.extend([Data::Integers(vec![0]), Data::Integers(vec![info])]);
    Ok(results)
}

/// The forms `t` and `q`, or the number of eigenvalues that were not found. `q` has no rows if it was not
/// requested.
pub(crate) type Forms<T> = Result<[Matrix<T>; 2], i32>;

/// Computes the Schur form of a finite matrix whose elements are of the order of 1.
pub(crate) fn schur<T: Scalar>(mut a: Matrix<T>, vectors: bool) -> Result<Forms<T>, Error> {
    let n = a.rows();
    let tau = gehrd(&mut a, 0, n);
    let mut q = if vectors { reflectors(&a, &tau)? } else { Matrix::zeros(0, 0)? };
    for j in 0..n {
        a.column_mut(j)[(j + 2).min(n)..].fill(T::ZERO);
    }
    let info = if T::COMPLEX {
        single_shift::triangularize(&mut a, &mut q)
    } else {
        let (mut h, mut z): (Matrix<T::Part>, _) = (converted(&a)?, converted(&q)?);
        let info = double_shift::triangularize(&mut h, &mut z);
        [a, q] = [converted(&h)?, converted(&z)?];
        info
    };
    Ok(if info == 0 { Ok([a, q]) } else { Err(info) })
}

/// Returns the diagonal.
fn eigenvalues<T: Scalar>(t: &Matrix<T>) -> Vec<T> {
    (0..t.rows()).map(|i| t.get(i, i)).collect()
}

/// Returns the real and imaginary parts of the eigenvalues of a real Schur form.
pub(crate) fn pairs<T: Scalar>(t: &Matrix<T>) -> [Vec<T>; 2] {
    let n = t.rows();
    let mut im = vec![T::ZERO; n];
    for i in 1..n {
        let below = t.get(i, i - 1).re();
        if below != <T::Part as Number>::ZERO {
            let size = Float::sqrt(Float::abs(t.get(i - 1, i).re())) * Float::sqrt(Float::abs(below));
            (im[i - 1], im[i]) = (T::real(size), T::real(-size));
        }
    }
    [eigenvalues(t), im]
}

/// Returns the `q` of the reflectors below the first subdiagonal.
fn reflectors<T: Scalar>(a: &Matrix<T>, tau: &[T]) -> Result<Matrix<T>, Error> {
    let n = a.rows();
    let mut q = Matrix::zeros(n, n)?;
    if n == 0 {
        return Ok(q);
    }
    let mut below = Matrix::zeros(n - 1, n - 1)?;
    for j in 0..n - 1 {
        below.column_mut(j).copy_from_slice(&a.column(j)[1..]);
    }
    let below = orgqr(&below, tau)?;
    q.set(0, 0, T::one_impl());
    for j in 0..n - 1 {
        q.column_mut(j + 1)[1..].copy_from_slice(below.column(j));
    }
    Ok(q)
}

/// Maximum number of iterations for one eigenvalue, per row of the matrix.
const MAX_ITERATIONS_PER_ROW: usize = 30;
/// Number of iterations for one eigenvalue after which exceptional shifts break a cycle. At odd multiples,
/// the shifts come from the start of the block, and at even multiples from its end.
const EXCEPTIONAL_SHIFT_PERIOD: usize = 10;
/// The exceptional shifts: the diagonal element plus this fraction of the subdiagonal elements.
const EXCEPTIONAL_SHIFT_FACTOR: f64 = 0.75;
/// Number of iterations after which elements up to the rounding error of the whole matrix are considered 0.
/// Blocks of multiple eigenvalues can consist of rounding noise only.
const RELAXED_TOLERANCE_ITERATION: usize = 20;

/// Returns the start of the last block in the first `end` rows of a Hessenberg matrix that has no negligible
/// subdiagonal element. Sets the negligible element before the block to 0. `turns` is the number of
/// iterations so far.
fn block_start<T: Scalar>(h: &mut Matrix<T>, end: usize, norm: T::Part, turns: usize) -> usize {
    let rounding = <T::Part as Float>::epsilon() * norm * exact::<T::Part>(h.rows().max(10) as f64);
    for k in (1..end).rev() {
        let is_noise = turns > RELAXED_TOLERANCE_ITERATION && h.get(k, k - 1).size() <= rounding;
        if is_noise || is_negligible(h, k) {
            h.set(k, k - 1, T::ZERO);
            return k;
        }
    }
    0
}

/// Checks whether the subdiagonal element in row `k` is negligible, by the criterion of Ahues and Tisseur
/// (LAPACK Working Note 122): setting it to 0 changes the eigenvalues by no more than rounding does.
fn is_negligible<T: Scalar>(h: &Matrix<T>, k: usize) -> bool {
    let (zero, ulp) = (<T::Part as Number>::ZERO, <T::Part as Float>::epsilon());
    let n = h.rows();
    let small = <T::Part as Float>::min_positive_value() * (exact::<T::Part>(n as f64) / ulp);
    let (below, beside) = (h.get(k, k - 1).size(), h.get(k - 1, k).size());
    if below <= small {
        return true;
    }
    let (upper, lower) = (h.get(k - 1, k - 1), h.get(k, k));
    let mut sum = upper.size() + lower.size();
    if sum == zero {
        let before = if k > 1 { h.get(k - 1, k - 2).size() } else { zero };
        sum = before + if k + 1 < n { h.get(k + 1, k).size() } else { zero };
    }
    if below > ulp * sum {
        return false;
    }
    let (lower, apart) = (lower.size(), (upper - lower).size());
    let (most, least) = (Float::max(below, beside), Float::min(below, beside));
    let (far, near) = (Float::max(lower, apart), Float::min(lower, apart));
    let sum = far + most;
    least * (most / sum) <= Float::max(small, ulp * (near * (far / sum)))
}

pub(crate) fn largest_size<T: Scalar>(h: &Matrix<T>) -> T::Part {
    h.values().iter().fold(<T::Part as Number>::ZERO, |most, z| Float::max(most, z.size()))
}

/// Returns the number divided by a real number.
fn divided<T: Scalar>(z: T, by: T::Part) -> T {
    T::new(z.re() / by, z.im() / by)
}

/// Returns a quotient of numbers that may be so small that their squares are 0. The divisor must not be 0.
pub(crate) fn quotient<T: Scalar>(z: T, by: T) -> T {
    let size = by.size();
    divided(z, size) / divided(by, size)
}

/// Returns three columns from `k` on. Columns beyond the last one, and all columns of a matrix without
/// elements, are empty.
fn columns<T: Scalar>(matrix: &mut Matrix<T>, k: usize) -> [&mut [T]; 3] {
    let height = matrix.rows();
    let rest = matrix.values_mut().get_mut(k * height..).unwrap_or_default();
    let (x, rest) = rest.split_at_mut(height.min(rest.len()));
    let (y, rest) = rest.split_at_mut(height.min(rest.len()));
    let third = height.min(rest.len());
    [x, y, &mut rest[..third]]
}

/// Applies a rotation to the rows `k` and `k + 1` from column `from` on, and its inverse to the columns `k`
/// and `k + 1`. The columns are only changed in the rows that the block up to `end` needs.
pub(crate) fn apply_rotation<T: Scalar>(
    h: &mut Matrix<T>,
    q: &mut Matrix<T>,
    (k, end): (usize, usize),
    from: usize,
    (c, s): (T::Part, T),
) {
    let c = T::real(c);
    for j in from..h.columns() {
        let (x, y) = (h.get(k, j), h.get(k + 1, j));
        h.set(k, j, c * x + s * y);
        h.set(k + 1, j, c * y - s.conj() * x);
    }
    for (matrix, rows) in [(&mut *h, (k + 3).min(end)), (&mut *q, usize::MAX)] {
        let (rows, [x, y, _]) = (rows.min(matrix.rows()), columns(matrix, k));
        for (x, y) in x[..rows].iter_mut().zip(&mut y[..rows]) {
            (*x, *y) = (c * *x + s.conj() * *y, c * *y - s * *x);
        }
    }
}
