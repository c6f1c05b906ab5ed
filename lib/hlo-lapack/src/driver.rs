//! The parts that all routines share: the loop over the batch, and the transfer of matrices to and from
//! working memory.

use num_traits::{Float, NumCast};

use hlo_custom_call::Call;
use hlo_custom_call::lapack::{Array, Kind, Plan};
use hlo_runtime::linalg::{Matrix, Scalar, Strides};
use hlo_runtime::{Error, Shared};

/// One matrix, vector or number of the batch.
pub(crate) enum Data<T: Scalar> {
    Elements(Matrix<T>),
    Parts(Matrix<T::Part>),
    Wide(Matrix<T::Wide>),
    Integers(Vec<i32>),
    /// A result that was not requested: zeros of any size.
    Zeros,
}

/// Returns the elements of an operand.
pub(crate) fn elements<T: Scalar>(data: Data<T>) -> Result<Matrix<T>, Error> {
    match data {
        Data::Elements(matrix) => Ok(matrix),
        Data::Parts(_) | Data::Wide(_) | Data::Integers(_) | Data::Zeros => {
            Err(Error("an operand is of another kind".into()))
        }
    }
}

/// Returns a matrix of one column.
pub(crate) fn vector<T: Scalar>(values: &[T]) -> Result<Matrix<T>, Error> {
    let mut column = Matrix::zeros(values.len(), 1)?;
    column.values_mut().copy_from_slice(values);
    Ok(column)
}

/// Converts the elements of a matrix to another type: to another precision, from real to complex, or to their
/// real parts.
pub(crate) fn converted<T: Scalar, U: Scalar>(matrix: &Matrix<T>) -> Result<Matrix<U>, Error> {
    let mut to = Matrix::zeros(matrix.rows(), matrix.columns())?;
    let part = |part: T::Part| <U::Part as NumCast>::from(part).unwrap_or_else(Float::nan);
    for (to, &z) in to.values_mut().iter_mut().zip(matrix.values()) {
        *to = U::new(part(z.re()), part(z.im()));
    }
    Ok(to)
}

fn strides(array: &Array) -> Strides {
    Strides { row: array.row_stride, column: array.column_stride }
}

/// Reads matrix number `b` of an operand.
///
/// # Safety
/// `from` must be readable as the array.
unsafe fn read<T: Scalar>(array: &Array, b: usize, from: *const u8) -> Result<Data<T>, Error> {
    // SAFETY: guaranteed by the caller: all elements are within the array.
    unsafe {
        let from = from.add(array.start(b));
        let (rows, columns, strides) = (array.rows, array.columns, strides(array));
        Ok(match array.kind {
            Kind::Element => Data::Elements(Matrix::read_all(rows, columns, from, strides)?),
            Kind::Part => Data::Parts(Matrix::read_all(rows, columns, from, strides)?),
            Kind::Wide => Data::Wide(Matrix::read_all(rows, columns, from, strides)?),
            Kind::Integer => {
                let at = |i: usize| from.add(i * strides.row * 4).cast::<i32>().read_unaligned();
                Data::Integers((0..rows).map(at).collect())
            }
        })
    }
}

/// Writes matrix number `b` of a result.
///
/// # Safety
/// `to` must be writable as the array.
unsafe fn write<T: Scalar>(array: &Array, b: usize, data: &Data<T>, to: *mut u8) -> Result<(), Error> {
    let wrong = || Error("internal error: a result of another size or kind".into());
    let fits = |rows: usize, columns: usize| rows == array.rows && columns == array.columns;
    // SAFETY: guaranteed by the caller: all elements are within the array.
    unsafe {
        let to = to.add(array.start(b));
        match (array.kind, data) {
            (Kind::Element, Data::Elements(m)) if fits(m.rows(), m.columns()) => {
                m.write(T::CODE, to, strides(array));
            }
            (Kind::Part, Data::Parts(m)) if fits(m.rows(), m.columns()) => {
                m.write(T::Part::CODE, to, strides(array));
            }
            (Kind::Wide, Data::Wide(m)) if fits(m.rows(), m.columns()) => {
                m.write(T::Wide::CODE, to, strides(array));
            }
            (Kind::Integer, Data::Integers(values)) if fits(values.len(), 1) => {
                for (i, &value) in values.iter().enumerate() {
                    to.add(i * array.row_stride * 4).cast::<i32>().write_unaligned(value);
                }
            }
            (_, Data::Zeros) => {
                for (i, j) in (0..array.columns).flat_map(|j| (0..array.rows).map(move |i| (i, j))) {
                    let at = (i * array.row_stride + j * array.column_stride) * array.element_bytes;
                    to.add(at).write_bytes(0, array.element_bytes);
                }
            }
            _ => return Err(wrong()),
        }
    }
    Ok(())
}

/// Computes every matrix of the batch.
pub(crate) fn run<T: Scalar>(
    plan: &Plan,
    call: &mut Call<'_>,
    compute: impl Fn(Vec<Data<T>>) -> Result<Vec<Data<T>>, Error> + Sync,
) -> Result<(), Error> {
    let mut results = Vec::with_capacity(plan.results.len());
    for i in 0..plan.results.len() {
        // SAFETY: the matrices of the batch are disjoint parts of a result.
        results.push(unsafe { Shared::new(call.result_bytes(i)?.as_mut_ptr()) });
    }
    let call = &*call;
    call.for_each(plan.batch, |b| {
        let mut operands = Vec::with_capacity(plan.operands.len());
        for (i, operand) in plan.operands.iter().enumerate() {
            // SAFETY: the registry has checked that the bytes are those of the operand's type.
            operands.push(unsafe { read::<T>(operand, b, call.operand_bytes(i)?.as_ptr())? });
        }
        let computed = compute(operands)?;
        if computed.len() != plan.results.len() {
            return Err(Error("internal error: another number of results".into()));
        }
        for ((result, data), to) in plan.results.iter().zip(&computed).zip(&results) {
            // SAFETY: as above.
            unsafe { write(result, b, data, to.get())? };
        }
        Ok(())
    })
}
