//! `geqrf`, `geqp3`, `orgqr`, `gehrd`: reflectors as in LAPACK, `h = 1 - tau·v·vᴴ` with `v₀ = 1`. The result
//! `beta` is real, and its sign is opposite to the sign of the real part of the element that it replaces.

use num_traits::Float;

use hlo_runtime::Error;
use hlo_runtime::Number;
use hlo_runtime::linalg::{Matrix, Scalar};

use super::reflectors::{Reflectors, panels};

/// Returns the length of a vector, computed without overflow.
pub(crate) fn length<T: Scalar>(x: &[T]) -> T::Part {
    let zero = <T::Part as Number>::ZERO;
    let largest = x.iter().map(|z| z.size()).fold(zero, |a, b| if b > a || Float::is_nan(b) { b } else { a });
    if largest <= zero || !Float::is_finite(largest) {
        return largest;
    }
    let sum = x.iter().fold(zero, |sum, z| {
        let (re, im) = (z.re() / largest, z.im() / largest);
        sum + re * re + im * im
    });
    largest * Float::sqrt(sum)
}

/// Computes the reflector with `hᴴ·(alpha, x) = (beta, 0)`. Overwrites `x` with the rest of `v`, and returns
/// beta and tau.
pub(crate) fn reflector<T: Scalar>(alpha: T, x: &mut [T]) -> (T::Part, T) {
    let zero = <T::Part as Number>::ZERO;
    let rest = length(x);
    if rest == zero && alpha.im() == zero {
        return (alpha.re(), T::ZERO);
    }
    let whole = Float::hypot(alpha.modulus(), rest);
    // If the numbers are so small that a quotient by them may overflow, they are scaled up temporarily.
    let tiny = <T::Part as Float>::min_positive_value() / <T::Part as Float>::epsilon();
    let scale = if whole < tiny { Float::recip(tiny) } else { <T::Part as num_traits::One>::one() };
    let up = |z: T| T::new(z.re() * scale, z.im() * scale);
    let alpha = up(alpha);
    x.iter_mut().for_each(|z| *z = up(*z));
    let whole = if whole < tiny { Float::hypot(alpha.modulus(), length(x)) } else { whole };
    let beta = if Float::is_sign_negative(alpha.re()) { whole } else { -whole };
    let tau = T::new((beta - alpha.re()) / beta, -alpha.im() / beta);
    // Divides by the absolute value and by the phase, because the square of a small complex number would
    // underflow.
    let divisor = alpha - T::real(beta);
    let (modulus, phase) = (divisor.modulus(), divisor.unphase());
    x.iter_mut().for_each(|z| {
        let turned = *z * phase;
        *z = T::new(turned.re() / modulus, turned.im() / modulus);
    });
    (beta / scale, tau)
}

/// Computes `x - factor·v·(vᴴ·x)` for the vector that consists of `first` and `x`, and for `(1, v)`.
fn reflect<T: Scalar>(v: &[T], factor: T, first: &mut T, x: &mut [T]) {
    let sum = (*first + conjugate_product(v, x)) * factor;
    *first -= sum;
    for (&v, z) in v.iter().zip(x) {
        *z -= v * sum;
    }
}

/// Returns `vᴴ·x`, computed in partial sums that fit SIMD vectors.
fn conjugate_product<T: Scalar>(v: &[T], x: &[T]) -> T {
    const LANES: usize = 16;
    let mut sums = [T::ZERO; LANES];
    let (v_groups, v_rest) = v.as_chunks::<LANES>();
    let (x_groups, x_rest) = x.as_chunks::<LANES>();
    for (v, x) in v_groups.iter().zip(x_groups) {
        for ((sum, &v), &x) in sums.iter_mut().zip(v).zip(x) {
            *sum += v.conj() * x;
        }
    }
    for ((sum, &v), &x) in sums.iter_mut().zip(v_rest).zip(x_rest) {
        *sum += v.conj() * x;
    }
    sums.into_iter().fold(T::ZERO, |total, sum| total + sum)
}

/// Applies a reflector from the left to `columns`. The reflector is stored below row `row` of column
/// `column`. `factor` is tau, or its conjugate for the inverse.
fn apply_left<T: Scalar>(
    a: &mut Matrix<T>,
    (row, column): (usize, usize),
    end: usize,
    factor: T,
    columns: std::ops::Range<usize>,
) {
    if factor == T::ZERO {
        return;
    }
    for c in columns {
        let (v, x) = a.two_columns(column, c);
        let (first, rest) = x[row..end].split_at_mut(1);
        reflect(&v[row + 1..end], factor, &mut first[0], rest);
    }
}

/// Computes `a = q·r` in place: `r` in the upper triangle, the reflectors of `q` below it. Returns their tau.
pub(crate) fn geqrf<T: Scalar>(a: &mut Matrix<T>) -> Result<Vec<T>, Error> {
    let (m, n) = (a.rows(), a.columns());
    let mut taus = vec![T::ZERO; m.min(n)];
    for panel in panels(taus.len()) {
        for j in panel.clone() {
            let (beta, tau) = make(a, j, j, m);
            a.set(j, j, T::real(beta));
            apply_left(a, (j, j), m, tau.conj(), j + 1..panel.end);
            taus[j] = tau;
        }
        if panel.end < n {
            let block = Reflectors::of(a, &taus, panel.clone())?;
            block.apply(a, panel.end..n, true)?;
        }
    }
    Ok(taus)
}

/// Computes the reflector of the rows `row` to `end` of a column, and stores it in all of these rows except
/// the first.
fn make<T: Scalar>(a: &mut Matrix<T>, row: usize, column: usize, end: usize) -> (T::Part, T) {
    let alpha = a.get(row, column);
    reflector(alpha, &mut a.column_mut(column)[row + 1..end])
}

/// Returns the first columns of `q`, given its reflectors.
pub(crate) fn orgqr<T: Scalar>(a: &Matrix<T>, tau: &[T]) -> Result<Matrix<T>, Error> {
    let (m, n) = (a.rows(), a.columns());
    let mut q = Matrix::zeros(m, n)?;
    (0..n).for_each(|i| q.set(i, i, T::one_impl()));
    for panel in panels(tau.len()).rev() {
        // The columns before the panel are still those of the identity in these rows.
        let columns = panel.start..n;
        Reflectors::of(a, tau, panel)?.apply(&mut q, columns, false)?;
    }
    Ok(q)
}

/// Returns `q·c`, `qᴴ·c`, `c·q` or `c·qᴴ` for the `q` of the reflectors stored below the diagonal of `a`.
/// `left` selects multiplication from the left, and `inverse` selects the inverse of `q`.
pub(crate) fn ormqr<T: Scalar>(
    a: &Matrix<T>,
    tau: &[T],
    c: Matrix<T>,
    (left, inverse): (bool, bool),
) -> Result<Matrix<T>, Error> {
    // c·q is the adjoint of qᴴ·cᴴ.
    let mut x = if left { c } else { adjoint(&c)? };
    let inverse = inverse == left;
    let columns = 0..x.columns();
    let apply = |panel| Reflectors::of(a, tau, panel)?.apply(&mut x, columns.clone(), inverse);
    if inverse {
        panels(tau.len()).try_for_each(apply)?
    } else {
        panels(tau.len()).rev().try_for_each(apply)?
    }
    if left { Ok(x) } else { adjoint(&x) }
}

fn adjoint<T: Scalar>(a: &Matrix<T>) -> Result<Matrix<T>, Error> {
    let mut result = Matrix::zeros(a.columns(), a.rows())?;
    for j in 0..a.columns() {
        for (i, z) in a.column(j).iter().enumerate() {
            result.set(j, i, z.conj());
        }
    }
    Ok(result)
}

/// Computes `a·p = q·r` in place. The next column is always the one of the greatest remaining length. Columns
/// whose number in `columns` is not 0 come first. Afterwards, `columns` contains the original number of each
/// column, from 1.
pub(crate) fn geqp3<T: Scalar>(a: &mut Matrix<T>, columns: &mut [i32]) -> Vec<T> {
    let (m, n) = (a.rows(), a.columns());
    let mut fixed = 0;
    for j in 0..n {
        if columns[j] == 0 {
            columns[j] = j as i32 + 1;
            continue;
        }
        columns[j] = j as i32 + 1;
        if j != fixed {
            swap_columns(a, fixed, j);
            columns.swap(fixed, j);
        }
        fixed += 1;
    }
    let lengths =
        |a: &Matrix<T>, row: usize| (0..n).map(|c| length(&a.column(c)[row.min(m)..])).collect::<Vec<_>>();
    // The lengths of the remaining parts of the columns: updated, and as last computed.
    let (mut now, mut then) = (Vec::new(), Vec::new());
    let mut taus = Vec::with_capacity(m.min(n));
    for j in 0..m.min(n) {
        if j >= fixed {
            if j == fixed {
                now = lengths(a, j);
                then = now.clone();
            }
            let pivot = (j + 1..n).fold(j, |best, c| if now[c] > now[best] { c } else { best });
            if pivot != j {
                swap_columns(a, j, pivot);
                columns.swap(j, pivot);
                now[pivot] = now[j];
                then[pivot] = then[j];
            }
        }
        let (beta, tau) = make(a, j, j, m);
        a.set(j, j, T::real(beta));
        apply_left(a, (j, j), m, tau.conj(), j + 1..n);
        taus.push(tau);
        if j >= fixed {
            for c in j + 1..n {
                shorten(a, j, c, &mut now[c], &mut then[c]);
            }
        }
    }
    taus
}

/// Subtracts row `j` from the length of column `c`. Recomputes the length if the subtraction would lose too
/// many digits.
fn shorten<T: Scalar>(a: &Matrix<T>, j: usize, c: usize, now: &mut T::Part, then: &mut T::Part) {
    let (zero, one) = (<T::Part as Number>::ZERO, <T::Part as num_traits::One>::one());
    if *now == zero {
        return;
    }
    let ratio = a.get(j, c).modulus() / *now;
    let left = Float::max(one - ratio * ratio, zero);
    let since = *now / *then;
    if left * since * since <= Float::sqrt(<T::Part as Float>::epsilon()) {
        *now = length(&a.column(c)[j + 1..]);
        *then = *now;
    } else {
        *now *= Float::sqrt(left);
    }
}

fn swap_columns<T: Scalar>(a: &mut Matrix<T>, i: usize, j: usize) {
    let (i, j) = (i.min(j), i.max(j));
    let rows = a.rows();
    let (before, after) = a.values_mut().split_at_mut(j * rows);
    before[i * rows..][..rows].swap_with_slice(&mut after[..rows]);
}

/// Computes `a = q·h·qᴴ` in place, with `h` zero below the first subdiagonal, for the rows and columns from
/// `low` to `high`. The reflectors of `q` are stored below the first subdiagonal. Returns their tau.
pub(crate) fn gehrd<T: Scalar>(a: &mut Matrix<T>, low: usize, high: usize) -> Vec<T> {
    let n = a.rows();
    let mut taus = vec![T::ZERO; n.saturating_sub(1)];
    for (i, stored) in taus.iter_mut().enumerate().take(high.saturating_sub(1)).skip(low) {
        let (beta, tau) = make(a, i + 1, i, high);
        *stored = tau;
        // Applies h from the right to the rows above `high`: a - (a·v)·tau·vᴴ.
        let v: Vec<T> =
            std::iter::once(T::one_impl()).chain(a.column(i)[i + 2..high].iter().copied()).collect();
        let mut product = vec![T::ZERO; high];
        for (k, &v) in v.iter().enumerate() {
            for (sum, &z) in product.iter_mut().zip(a.column(i + 1 + k)) {
                *sum += z * v;
            }
        }
        for (k, &v) in v.iter().enumerate() {
            let factor = tau * v.conj();
            for (z, &sum) in a.column_mut(i + 1 + k).iter_mut().zip(&product) {
                *z -= sum * factor;
            }
        }
        apply_left(a, (i + 1, i), high, tau.conj(), i + 1..n);
        a.set(i + 1, i, T::real(beta));
    }
    taus
}
