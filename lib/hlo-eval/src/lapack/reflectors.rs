//! Householder reflectors: `geqrf`, `geqp3`, `orgqr`, `ormqr`, `gehrd`, `sytrd` (Golub & Van Loan, sections
//! 5.1, 5.2, 5.4, 7.4 and 8.3).
//!
//! The conventions are LAPACK's (`larfg`): a reflector is `h = 1 - tau·v·vᴴ`, where one element of `v` is 1.
//! The element that is kept becomes a real number, `beta`, whose sign is opposite to that of the element's
//! real part.

use super::matrix::{Matrix, Number, dot, exponent, length, scaled};
use std::ops::Range;

/// A reflector that acts on the rows from `first` on, as many as `v` has elements.
pub(super) struct Reflector<T> {
    first: usize,
    v: Vec<T>,
    tau: T,
}

impl<T: Number> Reflector<T> {
    /// Returns the reflector with `hᴴ·x = beta·e`, and `beta`. Element `kept` of `e` is 1, and the others are
    /// 0.
    pub(super) fn new(first: usize, mut x: Vec<T>, kept: usize) -> (Self, f64) {
        let n = exponent(&x);
        x.iter_mut().for_each(|z| *z = scaled(*z, -n));
        let alpha = std::mem::replace(&mut x[kept], T::ZERO);
        let rest = length(&x);
        if rest == 0.0 && alpha.im() == 0.0 {
            x[kept] = T::ONE;
            return (Reflector { first, v: x, tau: T::ZERO }, libm::scalbn(alpha.re(), n));
        }
        let beta = -libm::hypot(alpha.abs(), rest).copysign(alpha.re());
        let tau = T::new((beta - alpha.re()) / beta, -alpha.im() / beta);
        let divisor = alpha - T::real(beta);
        x.iter_mut().for_each(|z| *z /= divisor);
        x[kept] = T::ONE;
        (Reflector { first, v: x, tau }, libm::scalbn(beta, n))
    }

    /// Returns the reflector that is stored below the diagonal of a column.
    fn stored(a: &Matrix<T>, tau: &Matrix<T>, j: usize) -> Self {
        let mut v = a.part(j..a.rows, j);
        v[0] = T::ONE;
        Reflector { first: j, v, tau: tau[(j, 0)] }
    }

    /// Returns the inverse.
    fn inverse(mut self) -> Self {
        self.tau = self.tau.conj();
        self
    }

    /// Computes `h·a` in place for some columns: `a - v·tau·(vᴴ·a)`.
    pub(super) fn apply_left(&self, a: &mut Matrix<T>, columns: Range<usize>) {
        // Unchanged elements stay exactly the same, including infinities.
        if self.tau == T::ZERO {
            return;
        }
        for j in columns {
            let part = &mut a.column_mut(j)[self.first..][..self.v.len()];
            let sum = self.tau * dot(&self.v, part);
            part.iter_mut().zip(&self.v).for_each(|(z, &v)| *z -= v * sum);
        }
    }

    /// Computes `a·h` in place for some rows: `a - (a·v)·tau·vᴴ`.
    pub(super) fn apply_right(&self, a: &mut Matrix<T>, rows: Range<usize>) {
        if self.tau == T::ZERO {
            return;
        }
        let v = || self.v.iter().enumerate();
        for i in rows {
            let sum = v().fold(T::ZERO, |sum, (k, &v)| sum + a[(i, self.first + k)] * v) * self.tau;
            v().for_each(|(k, &v)| a[(i, self.first + k)] -= sum * v.conj());
        }
    }
}

/// Creates the reflector that maps some rows of a column to a multiple of the first unit vector. Stores it in
/// that column and returns it.
fn reduce<T: Number>(a: &mut Matrix<T>, rows: Range<usize>, column: usize) -> Reflector<T> {
    let (h, beta) = Reflector::new(rows.start, a.part(rows.clone(), column), 0);
    a.column_mut(column)[rows.clone()].copy_from_slice(&h.v);
    a[(rows.start, column)] = T::real(beta);
    h
}

/// Computes `a = q·r` in place: `r` in the upper triangle, the reflectors of `q = h₀·h₁·…` below. Returns
/// their tau.
pub(super) fn geqrf<T: Number>(a: &mut Matrix<T>) -> Matrix<T> {
    let (m, n) = (a.rows, a.columns);
    let step = |j| {
        let h = reduce(a, j..m, j).inverse();
        h.apply_left(a, j + 1..n);
        h.tau.conj()
    };
    Matrix::vector((0..m.min(n)).map(step).collect())
}

/// Computes `a·p = q·r` in place. The next column is always the one with the greatest remaining length, the
/// first of equal ones. Columns whose number in `columns` is not 0 come first. `columns` then contains the
/// original number of each column, from 1. Returns tau.
pub(super) fn geqp3<T: Number>(a: &mut Matrix<T>, columns: &mut Matrix<T>) -> Matrix<T> {
    let (m, n) = (a.rows, a.columns);
    let mut fixed = 0;
    for j in 0..n {
        let is_fixed = columns[(j, 0)] != T::ZERO;
        columns[(j, 0)] = T::real((j + 1) as f64);
        if is_fixed {
            a.swap_columns(fixed, j);
            columns.swap_rows(fixed, j);
            fixed += 1;
        }
    }
    let step = |j| {
        if j >= fixed {
            let lengths: Vec<f64> = (j..n).map(|c| length(&a.column(c)[j..])).collect();
            let longest = (1..n - j).fold(0, |best, c| if lengths[c] > lengths[best] { c } else { best });
            a.swap_columns(j, j + longest);
            columns.swap_rows(j, j + longest);
        }
        let h = reduce(a, j..m, j).inverse();
        h.apply_left(a, j + 1..n);
        h.tau.conj()
    };
    Matrix::vector((0..m.min(n)).map(step).collect())
}

/// Returns the first columns of `q = h₀·h₁·…`, as many as `a` has.
pub(super) fn orgqr<T: Number>(a: &Matrix<T>, tau: &Matrix<T>) -> Matrix<T> {
    ormqr(a, tau, Matrix::identity(a.rows, a.columns), (true, false))
}

/// Computes `q·c`, `qᴴ·c`, `c·q` or `c·qᴴ` for the `q = h₀·h₁·…` of the reflectors below the diagonal of `a`.
/// The flags are whether `q` is on the left and whether its inverse is used.
pub(super) fn ormqr<T: Number>(
    a: &Matrix<T>,
    tau: &Matrix<T>,
    mut c: Matrix<T>,
    (left, inverse): (bool, bool),
) -> Matrix<T> {
    let (count, rows, columns) = (tau.rows, c.rows, c.columns);
    for step in 0..count {
        // The reflector next to c is applied first.
        let h = Reflector::stored(a, tau, if left == inverse { step } else { count - 1 - step });
        let h = if inverse { h.inverse() } else { h };
        if left { h.apply_left(&mut c, 0..columns) } else { h.apply_right(&mut c, 0..rows) }
    }
    c
}

/// Computes `a = q·h·qᴴ` in place for the rows and columns from `low` to `high`. `h` is zero below the first
/// subdiagonal, where the reflectors of `q` are stored. Returns their tau.
pub(super) fn gehrd<T: Number>(a: &mut Matrix<T>, low: usize, high: usize) -> Matrix<T> {
    let n = a.columns;
    let mut tau = Matrix::zeros(n.saturating_sub(1), 1);
    for j in low..high.saturating_sub(1) {
        let h = reduce(a, j + 1..high, j);
        tau[(j, 0)] = h.tau;
        h.apply_right(a, 0..high);
        h.inverse().apply_left(a, j + 1..n);
    }
    tau
}

/// Computes `a = q·t·qᴴ` with a real tridiagonal `t`, from the lower or upper triangle of a Hermitian matrix.
/// That triangle then contains `t` and the reflectors of `q`. The other triangle is unchanged. Returns the
/// diagonal of `t`, the one next to it, and tau.
pub(super) fn sytrd<T: Number>(a: &mut Matrix<T>, lower: bool) -> [Matrix<T>; 3] {
    let n = a.rows;
    let mut t = hermitian(a, lower);
    let mut beside = Matrix::zeros(n.saturating_sub(1), 1);
    let mut taus = beside.clone();
    for step in 0..n.saturating_sub(1) {
        // The lower triangle is reduced from the first column on, the upper one from the last column back.
        let i = if lower { step } else { n - 2 - step };
        let (rows, column, kept) = if lower { (i + 1..n, i, 0) } else { (0..i + 1, i + 1, i) };
        let (h, beta) = Reflector::new(rows.start, t.part(rows.clone(), column), kept);
        a.column_mut(column)[rows.clone()].copy_from_slice(&h.v);
        a[(rows.start + kept, column)] = T::real(beta);
        (beside[(i, 0)], taus[(i, 0)]) = (T::real(beta), h.tau);
        h.apply_right(&mut t, rows.clone());
        h.inverse().apply_left(&mut t, rows);
    }
    let diagonal = Matrix::new(n, 1, |i, _| T::real(t[(i, i)].re()));
    (0..n).for_each(|i| a[(i, i)] = diagonal[(i, 0)]);
    [diagonal, beside, taus]
}

/// Returns the Hermitian matrix that a triangle represents.
pub(super) fn hermitian<T: Number>(a: &Matrix<T>, lower: bool) -> Matrix<T> {
    Matrix::new(a.rows, a.rows, |i, j| {
        if i == j {
            T::real(a[(i, i)].re())
        } else if (i >= j) == lower {
            a[(i, j)]
        } else {
            a[(j, i)].conj()
        }
    })
}
