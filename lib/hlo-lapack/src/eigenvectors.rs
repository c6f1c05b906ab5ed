//! Eigenvectors by substitution in a Schur form, for small matrices and for matrices for which faer's
//! eigenvectors are wrong.
//!
//! faer's eigenvectors are checked because faer divides by the difference of eigenvalues even if it is 0, as
//! in matrices that have fewer eigenvectors than rows.

use num_traits::Float;

use super::balance::Balance;
use super::driver::converted;
use super::householder::length;
use super::numbers::{exact, times};
use super::schur::{apply_rotation, largest_size, pairs, quotient, schur};
use hlo_runtime::linalg::{Matrix, Scalar};
use hlo_runtime::{Error, Number};

/// Checks whether the columns of `x`, each of length 1, are eigenvectors of `a`: the right ones, or the left
/// ones (`xᴴ·a = λ·xᴴ`). The check uses a weighted sum of the columns, which takes `n²` operations.
pub(crate) fn are_eigenvectors<T: Scalar>(
    a: &Matrix<T>,
    values: &[T::Wide],
    x: &Matrix<T::Wide>,
    left: bool,
) -> bool {
    let n = a.rows();
    let (near, one) = (exact::<T::Part>(0.1), exact::<T::Part>(1.0));
    if !(0..n).all(|j| Float::abs(length(x.column(j)) - one) < near) {
        return false;
    }
    let wide = |z: T| T::Wide::new(z.re(), z.im());
    // Σ wⱼ·xⱼ, and Σ λⱼ·wⱼ·xⱼ.
    let (mut sum, mut scaled) = (vec![T::Wide::ZERO; n], vec![T::Wide::ZERO; n]);
    for (j, &value) in values.iter().enumerate() {
        let value = if left { value.conj() } else { value };
        // Weights between 1 and 2 without a pattern, so that the errors of two vectors (for example
        // conjugates) do not cancel.
        let weight = exact::<T::Part>(1.0 + (j as f64 * 0.618_033_988_749_895).fract());
        for (i, &z) in x.column(j).iter().enumerate() {
            let z = times(z, weight);
            sum[i] += z;
            scaled[i] += value * z;
        }
    }
    let mut product = vec![T::Wide::ZERO; n];
    for j in 0..n {
        for (i, &z) in a.column(j).iter().enumerate() {
            if left { product[j] += wide(z).conj() * sum[i] } else { product[i] += wide(z) * sum[j] }
        }
    }
    let tolerance = exact::<T::Part>(64.0 * (n * n) as f64) * <T::Part as Float>::epsilon() * largest_size(a);
    product.iter().zip(&scaled).all(|(&p, &s)| (p - s).size() <= tolerance)
}

/// Eigenvalues, and the requested left and right eigenvectors, of any length.
pub(crate) type Eigenvectors<W> = (Vec<W>, [Option<Matrix<W>>; 2]);

/// Computes eigenvalues and eigenvectors by a Schur form (LAPACK's `trevc`). Returns `None` if an eigenvalue
/// is not found.
pub(crate) fn of_schur_form<T: Scalar>(
    mut a: Matrix<T>,
    wanted: [bool; 2],
) -> Result<Option<Eigenvectors<T::Wide>>, Error> {
    let n = a.rows();
    let balance = Balance::permute_and_scale(&mut a);
    let Ok([t, q]) = schur(a, wanted[0] || wanted[1])? else { return Ok(None) };
    let [re, im] = pairs(&t);
    let values: Vec<T::Wide> = if T::COMPLEX {
        re.iter().map(|z| T::Wide::new(z.re(), z.im())).collect()
    } else {
        re.iter().zip(&im).map(|(re, im)| T::Wide::new(re.re(), im.re())).collect()
    };
    if wanted == [false; 2] {
        return Ok(Some((values, [None, None])));
    }
    let (mut t, mut q): (Matrix<T::Wide>, _) = (converted(&t)?, converted(&q)?);
    triangularize(&mut t, &mut q, &values);
    // The maximum size of an element that rounding may have produced instead of 0.
    let epsilon = <T::Part as Float>::epsilon();
    let least = Float::max(epsilon * largest_size(&t), <T::Part as Float>::min_positive_value() / epsilon);
    let mut vectors = [None, None];
    for (side, vectors) in vectors.iter_mut().enumerate().filter(|&(side, _)| wanted[side]) {
        let mut x = Matrix::<T::Wide>::zeros(n, n)?;
        for (k, value) in values.iter().enumerate() {
            let second = !T::COMPLEX && value.im() < <T::Part as Number>::ZERO;
            if second {
                let (first, column) = x.two_columns(k - 1, k);
                column.iter_mut().zip(first).for_each(|(to, z)| *to = z.conj());
                continue;
            }
            let of_t = if side == 0 { left_vector(&t, k, least) } else { right_vector(&t, k, least) };
            for (j, &z) in of_t.iter().enumerate() {
                x.column_mut(k).iter_mut().zip(q.column(j)).for_each(|(to, &q)| *to += q * z);
            }
        }
        balance.undo(&mut x, side == 0);
        *vectors = Some(x);
    }
    Ok(Some((values, vectors)))
}

/// Returns the rotation `[c s; -sᴴ c]` that maps `(x, y)` to `(r, 0)`.
fn rotation<T: Scalar>(x: T, y: T) -> (T::Part, T) {
    let (a, b) = (x.modulus(), y.modulus());
    let zero = <T::Part as Number>::ZERO;
    if b == zero {
        return (<T::Part as num_traits::One>::one(), T::ZERO);
    }
    if a == zero {
        return (zero, T::new(y.re() / b, -y.im() / b));
    }
    let r = Float::hypot(a, b);
    let phase = T::new(x.re() / a, x.im() / a);
    (a / r, phase * T::new(y.re() / r, -y.im() / r))
}

/// Makes the blocks of a real Schur form triangular. For a block `[a b; c d]`, the eigenvector `(λ - d, c)`
/// becomes the first basis vector.
fn triangularize<W: Scalar>(t: &mut Matrix<W>, q: &mut Matrix<W>, values: &[W]) {
    for k in 0..t.rows().saturating_sub(1) {
        let below = t.get(k + 1, k);
        if below != W::ZERO {
            apply_rotation(t, q, (k, k + 2), 0, rotation(values[k] - t.get(k + 1, k + 1), below));
            t.set(k + 1, k, W::ZERO);
            t.set(k, k, values[k]);
            t.set(k + 1, k + 1, values[k + 1]);
        }
    }
}

/// Returns the solution of `(t - λ)·x = 0` for the eigenvalue `λ` in row `k` of a triangular matrix.
fn right_vector<W: Scalar>(t: &Matrix<W>, k: usize, least: W::Part) -> Vec<W> {
    let mut x = vec![W::ZERO; t.rows()];
    x[k] = W::one_impl();
    for i in (0..k).rev() {
        let sum = (i + 1..=k).fold(W::ZERO, |sum, j| sum + t.get(i, j) * x[j]);
        x[i] = quotient(-sum, difference(t, i, k, least));
        shrink(&mut x, i);
    }
    x
}

/// Returns the solution of `xᴴ·(t - λ) = 0`.
fn left_vector<W: Scalar>(t: &Matrix<W>, k: usize, least: W::Part) -> Vec<W> {
    let mut x = vec![W::ZERO; t.rows()];
    x[k] = W::one_impl();
    for i in k + 1..t.rows() {
        let sum = (k..i).fold(W::ZERO, |sum, j| sum + t.get(j, i).conj() * x[j]);
        x[i] = quotient(-sum, difference(t, i, k, least).conj());
        shrink(&mut x, i);
    }
    x
}

/// Returns the difference of the eigenvalues in rows `i` and `k`, or `least` if the difference is smaller.
fn difference<W: Scalar>(t: &Matrix<W>, i: usize, k: usize, least: W::Part) -> W {
    let difference = t.get(i, i) - t.get(k, k);
    if difference.size() < least { W::real(least) } else { difference }
}

/// Scales a vector down if its element `i` is so large that other elements might overflow.
fn shrink<W: Scalar>(x: &mut [W], i: usize) {
    let size = x[i].size();
    if size > exact(1e10) {
        x.iter_mut().for_each(|z| *z = W::new(z.re() / size, z.im() / size));
    }
}
