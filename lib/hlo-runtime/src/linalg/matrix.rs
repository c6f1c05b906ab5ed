//! Matrices in working memory, and the numbers that they consist of.

use std::ops::{Add, Div, Mul, Neg, Sub};

use faer::traits::{ComplexField, RealField};
use faer::{MatMut, MatRef};
use num_complex::Complex;
use num_traits::Float;

use crate::context::Error;
use crate::element::{ElementCode, Number};
use crate::scratch::Filled;

/// A real or complex number of either precision.
pub trait Scalar:
    Number
    + ComplexField<Real = Self::Part>
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The type of its real and imaginary part.
    type Part: Scalar<Part = Self::Part> + RealField + Float;

    /// The complex type of that precision.
    type Wide: Scalar<Part = Self::Part, Wide = Self::Wide>;

    /// Whether it has an imaginary part.
    const COMPLEX: bool;
    /// The element type.
    const CODE: ElementCode;

    /// The number with these parts; a real one leaves the second aside.
    fn new(re: Self::Part, im: Self::Part) -> Self;

    /// The real part.
    fn re(self) -> Self::Part;

    /// The imaginary part.
    fn im(self) -> Self::Part;

    /// A real number.
    fn real(re: Self::Part) -> Self {
        Self::new(re, <Self::Part as Number>::ZERO)
    }

    /// The conjugate.
    fn conj(self) -> Self {
        Self::new(self.re(), -self.im())
    }

    /// The absolute value.
    fn modulus(self) -> Self::Part {
        Float::hypot(self.re(), self.im())
    }

    /// The sum of the absolute values of both parts: what LAPACK compares pivots by.
    fn size(self) -> Self::Part {
        Float::abs(self.re()) + Float::abs(self.im())
    }

    /// Whether both parts are numbers, and finite.
    fn is_number(self) -> bool {
        Float::is_finite(self.re()) && Float::is_finite(self.im())
    }

    /// A factor of absolute value 1 that makes it a positive real.
    fn unphase(self) -> Self {
        let modulus = self.modulus();
        if modulus > <Self::Part as Number>::ZERO {
            Self::new(self.re() / modulus, -self.im() / modulus)
        } else {
            Self::one_impl()
        }
    }
}

macro_rules! impl_scalar {
    ($part:ty, $code:ident, $wide:ident) => {
        impl Scalar for $part {
            type Part = $part;
            type Wide = Complex<$part>;
            const COMPLEX: bool = false;
            const CODE: ElementCode = ElementCode::$code;
            fn new(re: $part, _: $part) -> Self {
                re
            }
            fn re(self) -> $part {
                self
            }
            fn im(self) -> $part {
                0.0
            }
        }
        impl Scalar for Complex<$part> {
            type Part = $part;
            type Wide = Complex<$part>;
            const COMPLEX: bool = true;
            const CODE: ElementCode = ElementCode::$wide;
            fn new(re: $part, im: $part) -> Self {
                Complex { re, im }
            }
            fn re(self) -> $part {
                self.re
            }
            fn im(self) -> $part {
                self.im
            }
        }
    };
}

impl_scalar!(f32, F32, C64);
impl_scalar!(f64, F64, C128);

/// A matrix in working memory, column by column.
pub struct Matrix<T: Copy> {
    values: Filled<T>,
    rows: usize,
    columns: usize,
}

/// Where a matrix's elements lie: from one row to the next and from one column to the next, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// From one row to the next.
    pub row: usize,
    /// From one column to the next.
    pub column: usize,
}

impl Strides {
    /// Row by row.
    pub fn row_major(columns: usize) -> Self {
        Strides { row: columns, column: 1 }
    }

    /// Those of the transposed matrix.
    pub fn transposed(self) -> Self {
        Strides { row: self.column, column: self.row }
    }
}

impl<T: Scalar> Matrix<T> {
    /// Zeros.
    pub fn zeros(rows: usize, columns: usize) -> Result<Self, Error> {
        let len = rows.checked_mul(columns);
        let len = len.ok_or_else(|| Error("a matrix does not fit the address space".into()))?;
        Ok(Matrix { values: Filled::new(len, T::ZERO)?, rows, columns })
    }

    /// Reads the elements for which `wanted(row, column)` holds; the others are 0.
    ///
    /// # Safety
    /// `from` must be readable at those elements, which are of type `code`.
    pub unsafe fn read(
        rows: usize,
        columns: usize,
        code: ElementCode,
        from: *const u8,
        strides: Strides,
        wanted: impl Fn(usize, usize) -> bool,
    ) -> Result<Self, Error> {
        let mut matrix = Self::zeros(rows, columns)?;
        for j in 0..columns {
            for i in 0..rows {
                if wanted(i, j) {
                    let at = (i * strides.row + j * strides.column) * code.byte_size();
                    // SAFETY: the caller's promise.
                    matrix.values[i + j * rows] = unsafe { T::load(code, from.add(at)) };
                }
            }
        }
        Ok(matrix)
    }

    /// Writes all elements.
    ///
    /// # Safety
    /// `to` must be writable at all of them, as elements of type `code`.
    pub unsafe fn write(&self, code: ElementCode, to: *mut u8, strides: Strides) {
        for i in 0..self.rows {
            for j in 0..self.columns {
                let at = (i * strides.row + j * strides.column) * code.byte_size();
                // SAFETY: the caller's promise.
                unsafe { self.get(i, j).store(code, to.add(at)) };
            }
        }
    }

    /// The element of a row and a column.
    pub fn get(&self, i: usize, j: usize) -> T {
        self.values[i + j * self.rows]
    }

    /// Sets the element of a row and a column.
    pub fn set(&mut self, i: usize, j: usize, value: T) {
        self.values[i + j * self.rows] = value;
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All elements, column by column.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All elements, column by column.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The elements of a column.
    pub fn column(&self, j: usize) -> &[T] {
        &self.values[j * self.rows..][..self.rows]
    }

    /// The elements of a column.
    pub fn column_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.values[j * self.rows..][..self.rows]
    }

    /// A column, and another one to its right.
    pub fn two_columns(&mut self, left: usize, right: usize) -> (&[T], &mut [T]) {
        let (before, after) = self.values.split_at_mut(right * self.rows);
        (&before[left * self.rows..][..self.rows], &mut after[..self.rows])
    }

    /// Conjugates every element.
    pub fn conjugate(&mut self) {
        self.values.iter_mut().for_each(|z| *z = z.conj());
    }

    /// Sets what is right of the diagonal to 0.
    pub fn clear_upper(&mut self) {
        for (j, column) in self.values.chunks_exact_mut(self.rows.max(1)).enumerate() {
            column[..j.min(self.rows)].fill(T::ZERO);
        }
    }

    /// Sets every element.
    pub fn fill(&mut self, value: T) {
        self.values.fill(value);
    }

    /// As faer sees it.
    pub fn as_ref(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice(&self.values, self.rows, self.columns)
    }

    /// As faer sees it, to be written.
    pub fn as_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_column_major_slice_mut(&mut self.values, self.rows, self.columns)
    }
}
