//! Matrices in working memory, and their scalar types.

use hlo_runtime_core::{ElementCode, Error, Filled, Number};
use std::ops::{Add, Div, Mul, Neg, Sub};

use faer::traits::{ComplexField, RealField};
use faer::{MatMut, MatRef};
use num_complex::Complex;
use num_traits::Float;

/// A real or complex number in single or double precision.
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
    /// The type of the real and imaginary parts.
    type Part: Scalar<Part = Self::Part> + RealField + Float;

    /// The complex type of the same precision.
    type Wide: Scalar<Part = Self::Part, Wide = Self::Wide>;

    /// Whether the type is complex.
    const COMPLEX: bool;
    /// The element type.
    const CODE: ElementCode;

    /// Returns the number with these parts. A real type ignores the second part.
    fn new(re: Self::Part, im: Self::Part) -> Self;

    /// Returns the real part.
    fn re(self) -> Self::Part;

    /// Returns the imaginary part.
    fn im(self) -> Self::Part;

    /// Returns `re` as a number of this type.
    fn real(re: Self::Part) -> Self {
        Self::new(re, <Self::Part as Number>::ZERO)
    }

    /// Returns the conjugate.
    fn conj(self) -> Self {
        Self::new(self.re(), -self.im())
    }

    /// Returns the absolute value.
    fn modulus(self) -> Self::Part {
        Float::hypot(self.re(), self.im())
    }

    /// Returns the sum of the absolute values of both parts, which LAPACK uses to compare pivots.
    fn size(self) -> Self::Part {
        Float::abs(self.re()) + Float::abs(self.im())
    }

    /// Returns whether both parts are finite numbers.
    fn is_number(self) -> bool {
        Float::is_finite(self.re()) && Float::is_finite(self.im())
    }

    /// Returns a factor of absolute value 1 whose product with the number is real and positive, or 1 if the
    /// number is zero.
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

/// A column-major matrix in working memory.
pub struct Matrix<T: Copy> {
    values: Filled<T>,
    rows: usize,
    columns: usize,
}

/// The distances between adjacent rows and between adjacent columns of a matrix, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    /// Distance from one row to the next, in elements.
    pub row: usize,
    /// Distance from one column to the next, in elements.
    pub column: usize,
}

impl Strides {
    /// Returns the strides of a row-major matrix.
    pub fn row_major(columns: usize) -> Self {
        Strides { row: columns, column: 1 }
    }

    /// Returns the strides of the transposed matrix.
    pub fn transposed(self) -> Self {
        Strides { row: self.column, column: self.row }
    }
}

/// The number of rows and columns of a block that is copied at once. As many cache lines stay in the cache.
const BLOCK_SIDE: usize = 16;

/// Calls `copy(row, column, length)` for pieces of columns that cover a matrix. The pieces are whole columns
/// if columns are contiguous. Otherwise their order uses each cache line completely before it is evicted.
fn for_blocks(rows: usize, columns: usize, strides: Strides, mut copy: impl FnMut(usize, usize, usize)) {
    if strides.row <= strides.column {
        (0..columns).for_each(|j| copy(0, j, rows));
        return;
    }
    for j in (0..columns).step_by(BLOCK_SIDE) {
        for i in (0..rows).step_by(BLOCK_SIDE) {
            (j..columns.min(j + BLOCK_SIDE)).for_each(|j| copy(i, j, BLOCK_SIDE.min(rows - i)));
        }
    }
}

/// Copies `len` elements with the given steps, in elements.
///
/// # Safety
/// The elements must be readable and writable (with any alignment) and must not overlap.
unsafe fn copy<T: Copy>(from: *const T, from_step: usize, to: *mut T, to_step: usize, len: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if from_step == 1 && to_step == 1 {
            std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), len * size_of::<T>());
            return;
        }
        for i in 0..len {
            to.add(i * to_step).write_unaligned(from.add(i * from_step).read_unaligned());
        }
    }
}

impl<T: Scalar> Matrix<T> {
    /// Returns a matrix of zeros.
    ///
    /// # Errors
    /// Returns an error if the matrix does not fit the address space, or if there is not enough memory.
    pub fn zeros(rows: usize, columns: usize) -> Result<Self, Error> {
        let len = rows.checked_mul(columns);
        let len = len.ok_or_else(|| Error("a matrix does not fit the address space".into()))?;
        Ok(Matrix { values: Filled::new(len, T::ZERO)?, rows, columns })
    }

    /// Reads the elements for which `wanted(row, column)` is true. The other elements are 0.
    ///
    /// # Errors
    /// As [`Matrix::zeros`].
    ///
    /// # Safety
    /// `from` must be readable at those elements, which must have type `code`.
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
                    // SAFETY: guaranteed by the caller.
                    matrix.values[i + j * rows] = unsafe { T::load(code, from.add(at)) };
                }
            }
        }
        Ok(matrix)
    }

    /// Reads all elements.
    ///
    /// # Errors
    /// As [`Matrix::zeros`].
    ///
    /// # Safety
    /// `from` must be readable at all elements, which must have type `T`.
    pub unsafe fn read_all(
        rows: usize,
        columns: usize,
        from: *const u8,
        strides: Strides,
    ) -> Result<Self, Error> {
        let mut matrix = Self::zeros(rows, columns)?;
        let (to, from) = (matrix.values.as_mut_ptr(), from.cast::<T>());
        for_blocks(rows, columns, strides, |i, j, len| {
            // SAFETY: guaranteed by the caller; the matrix has all these rows and columns.
            unsafe {
                let from = from.add(i * strides.row + j * strides.column);
                copy(from, strides.row, to.add(i + j * rows), 1, len);
            }
        });
        Ok(matrix)
    }

    /// Writes all elements.
    ///
    /// # Safety
    /// `to` must be writable at all elements, which have type `code`.
    pub unsafe fn write(&self, code: ElementCode, to: *mut u8, strides: Strides) {
        if code as i64 == T::CODE as i64 {
            let from = self.values.as_ptr();
            for_blocks(self.rows, self.columns, strides, |i, j, len| {
                // SAFETY: guaranteed by the caller; the matrix has all these rows and columns.
                unsafe {
                    let to = to.cast::<T>().add(i * strides.row + j * strides.column);
                    copy(from.add(i + j * self.rows), 1, to, strides.row, len);
                }
            });
            return;
        }
        for i in 0..self.rows {
            for j in 0..self.columns {
                let at = (i * strides.row + j * strides.column) * code.byte_size();
                // SAFETY: guaranteed by the caller.
                unsafe { self.get(i, j).store(code, to.add(at)) };
            }
        }
    }

    /// Returns the element at row `i` and column `j`.
    pub fn get(&self, i: usize, j: usize) -> T {
        self.values[i + j * self.rows]
    }

    /// Sets the element at row `i` and column `j`.
    pub fn set(&mut self, i: usize, j: usize, value: T) {
        self.values[i + j * self.rows] = value;
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns all elements in column-major order.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns all elements in column-major order, for writing.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Returns the elements of a column.
    pub fn column(&self, j: usize) -> &[T] {
        &self.values[j * self.rows..][..self.rows]
    }

    /// Returns the elements of a column, for writing.
    pub fn column_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.values[j * self.rows..][..self.rows]
    }

    /// Returns column `left`, and column `right`, which must be further to the right, for writing.
    pub fn two_columns(&mut self, left: usize, right: usize) -> (&[T], &mut [T]) {
        let (before, after) = self.values.split_at_mut(right * self.rows);
        (&before[left * self.rows..][..self.rows], &mut after[..self.rows])
    }

    /// Conjugates every element.
    pub fn conjugate(&mut self) {
        self.values.iter_mut().for_each(|z| *z = z.conj());
    }

    /// Sets the elements above the diagonal to 0.
    pub fn clear_upper(&mut self) {
        for (j, column) in self.values.chunks_exact_mut(self.rows.max(1)).enumerate() {
            column[..j.min(self.rows)].fill(T::ZERO);
        }
    }

    /// Sets every element to `value`.
    pub fn fill(&mut self, value: T) {
        self.values.fill(value);
    }

    /// Returns a faer view of the matrix.
    pub fn as_ref(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice(&self.values, self.rows, self.columns)
    }

    /// Returns a mutable faer view of the matrix.
    pub fn as_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_column_major_slice_mut(&mut self.values, self.rows, self.columns)
    }
}
