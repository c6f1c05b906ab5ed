//! Numbers and matrices.

use crate::ops::complex;
use hlo_ir::ElementType;
use num_complex::Complex64;
use num_traits::{NumAssignOps, NumOps};
use std::ops::{Index, IndexMut, Neg, Range};

/// A complex number of `f64` parts.
pub(super) type C = Complex64;

/// The number type of a computation: `f64` for real matrices, pairs of `f64` for complex ones. A real number
/// is not represented as a complex one with an imaginary part of 0, because an infinity times 0 is NaN.
pub(super) trait Number: Copy + PartialEq + NumOps + NumAssignOps + Neg<Output = Self> {
    const ZERO: Self;
    const ONE: Self;
    /// Whether numbers have an imaginary part.
    const COMPLEX: bool;

    /// Creates the number with these parts. A real number ignores the second part.
    fn new(re: f64, im: f64) -> Self;

    /// Returns the real part.
    fn re(self) -> f64;

    /// Returns the imaginary part.
    fn im(self) -> f64;

    /// Converts from a real number.
    fn real(re: f64) -> Self {
        Self::new(re, 0.0)
    }

    /// Converts to a complex number.
    fn wide(self) -> C {
        C::new(self.re(), self.im())
    }

    /// Returns the conjugate.
    fn conj(self) -> Self {
        Self::new(self.re(), -self.im())
    }

    /// Returns the absolute value.
    fn abs(self) -> f64 {
        complex::abs(self.wide())
    }

    /// Returns |re| + |im|, by which LAPACK compares pivots (`cabs1`).
    fn size(self) -> f64 {
        self.re().abs() + self.im().abs()
    }

    /// Multiplies by a real number.
    fn times(self, factor: f64) -> Self {
        Self::new(self.re() * factor, self.im() * factor)
    }

    /// Divides by a real number.
    fn over(self, divisor: f64) -> Self {
        Self::new(self.re() / divisor, self.im() / divisor)
    }

    /// Checks whether both parts are finite.
    fn is_finite(self) -> bool {
        self.re().is_finite() && self.im().is_finite()
    }
}

impl Number for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const COMPLEX: bool = false;
    fn new(re: f64, _: f64) -> f64 {
        re
    }
    fn re(self) -> f64 {
        self
    }
    fn im(self) -> f64 {
        0.0
    }
}

impl Number for C {
    const ZERO: C = C::new(0.0, 0.0);
    const ONE: C = C::new(1.0, 0.0);
    const COMPLEX: bool = true;
    fn new(re: f64, im: f64) -> C {
        C::new(re, im)
    }
    fn re(self) -> f64 {
        self.re
    }
    fn im(self) -> f64 {
        self.im
    }
}

/// Returns the exponent of the largest part of these numbers, or 0 if there is none. If the numbers are
/// divided by that power of two, their squares neither overflow nor underflow.
pub(super) fn exponent<T: Number>(values: &[T]) -> i32 {
    let largest = values.iter().fold(0.0, |most: f64, z| most.max(z.re().abs()).max(z.im().abs()));
    if largest > 0.0 && largest.is_finite() { libm::ilogb(largest) } else { 0 }
}

/// `z·2ⁿ`.
pub(super) fn scaled<T: Number>(z: T, n: i32) -> T {
    T::new(libm::scalbn(z.re(), n), libm::scalbn(z.im(), n))
}

/// `xᴴ·y`.
pub(super) fn dot<T: Number>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).fold(T::ZERO, |sum, (&x, &y)| sum + x.conj() * y)
}

/// Returns the Euclidean length.
pub(super) fn length<T: Number>(x: &[T]) -> f64 {
    let n = exponent(x);
    let squares = x.iter().map(|&z| scaled(z, -n)).map(|z| z.re() * z.re() + z.im() * z.im());
    libm::scalbn(squares.sum::<f64>().sqrt(), n)
}

/// Returns the positions of a matrix's elements in column-major order.
pub(super) fn places(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows * columns).map(move |at| (at % rows, at / rows))
}

/// A matrix in column-major order.
#[derive(Clone, Debug)]
pub(super) struct Matrix<T> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    values: Vec<T>,
}

impl<T: Number> Matrix<T> {
    pub(super) fn new(rows: usize, columns: usize, mut at: impl FnMut(usize, usize) -> T) -> Self {
        Matrix { rows, columns, values: places(rows, columns).map(|(i, j)| at(i, j)).collect() }
    }

    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        Self::new(rows, columns, |_, _| T::ZERO)
    }

    /// Creates a matrix with ones on the diagonal.
    pub(super) fn identity(rows: usize, columns: usize) -> Self {
        Self::new(rows, columns, |i, j| if i == j { T::ONE } else { T::ZERO })
    }

    /// Creates the matrix for results that could not be computed.
    pub(super) fn nan(rows: usize, columns: usize) -> Self {
        Self::new(rows, columns, |_, _| T::new(f64::NAN, f64::NAN))
    }

    /// Creates a matrix with one column.
    pub(super) fn vector(values: Vec<T>) -> Self {
        Matrix { rows: values.len(), columns: 1, values }
    }

    /// Creates a matrix with one element.
    pub(super) fn integer(value: usize) -> Self {
        Self::vector(vec![T::real(value as f64)])
    }

    /// Returns all elements in column-major order.
    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    pub(super) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    pub(super) fn column(&self, j: usize) -> &[T] {
        &self.values[j * self.rows..][..self.rows]
    }

    pub(super) fn column_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.values[j * self.rows..][..self.rows]
    }

    /// Returns the elements in some rows of a column.
    pub(super) fn part(&self, rows: Range<usize>, j: usize) -> Vec<T> {
        self.column(j)[rows].to_vec()
    }

    pub(super) fn swap_columns(&mut self, i: usize, j: usize) {
        (0..self.rows).for_each(|r| self.values.swap(r + i * self.rows, r + j * self.rows));
    }

    pub(super) fn swap_rows(&mut self, i: usize, j: usize) {
        (0..self.columns).for_each(|c| self.values.swap(i + c * self.rows, j + c * self.rows));
    }

    /// Returns the conjugate transpose.
    pub(super) fn adjoint(&self) -> Self {
        Self::new(self.columns, self.rows, |i, j| self[(j, i)].conj())
    }

    /// Returns the columns with these numbers.
    pub(super) fn select(&self, columns: &[usize]) -> Self {
        Self::new(self.rows, columns.len(), |i, j| self[(i, columns[j])])
    }

    /// Returns the product of two matrices.
    pub(super) fn product(&self, other: &Self) -> Self {
        let sum = |i, j| (0..self.columns).fold(T::ZERO, |sum, k| sum + self[(i, k)] * other[(k, j)]);
        Self::new(self.rows, other.columns, sum)
    }

    /// Converts to complex numbers.
    pub(super) fn wide(&self) -> Matrix<C> {
        Matrix::new(self.rows, self.columns, |i, j| self[(i, j)].wide())
    }

    pub(super) fn is_finite(&self) -> bool {
        self.values.iter().all(|z| z.is_finite())
    }

    /// Returns the largest |re| + |im|.
    pub(super) fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |most, z| most.max(z.size()))
    }

    /// Multiplies the rows `p` and `q` by the conjugate transpose of `[c s; -s̄ c]`.
    pub(super) fn rotate_rows(&mut self, (p, q): (usize, usize), (c, s): (f64, T)) {
        for j in 0..self.columns {
            let (x, y) = (self[(p, j)], self[(q, j)]);
            self[(p, j)] = x.times(c) - s * y;
            self[(q, j)] = y.times(c) + s.conj() * x;
        }
    }

    /// Multiplies the columns `p` and `q` by a unitary matrix `[c s; -s̄ c]`.
    pub(super) fn rotate_columns(&mut self, (p, q): (usize, usize), (c, s): (f64, T)) {
        for i in 0..self.rows {
            let (x, y) = (self[(i, p)], self[(i, q)]);
            self[(i, p)] = x.times(c) - s.conj() * y;
            self[(i, q)] = y.times(c) + s * x;
        }
    }
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;

    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.values[i + j * self.rows]
    }
}

impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.values[i + j * self.rows]
    }
}

/// Multiplies a vector by a factor of absolute value 1 that makes its largest element positive. Returns the
/// factor. If several elements are within a thousandth of the largest, the first one counts, so that rounding
/// does not decide between equal elements.
pub(super) fn make_positive<T: Number>(x: &mut [T]) -> T {
    let most = x.iter().fold(0.0, |most: f64, z| most.max(z.abs()));
    let largest = x.iter().find(|z| z.abs() >= 0.999 * most);
    let Some(&z) = largest.filter(|_| most > 0.0) else { return T::ONE };
    let factor = z.conj().over(z.abs());
    x.iter_mut().for_each(|z| *z *= factor);
    factor
}

/// Returns the precision of a type: the distance from 1 to the next number, and the smallest normal number.
pub(super) fn precision(element: ElementType) -> (f64, f64) {
    match element {
        ElementType::F32 | ElementType::C64 => (f32::EPSILON.into(), f32::MIN_POSITIVE.into()),
        _ => (f64::EPSILON, f64::MIN_POSITIVE),
    }
}
