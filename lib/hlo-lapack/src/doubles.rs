//! Single precision by way of double precision: faer's eigenvalues and singular values of `f32` are off by twenty units in the last
//! place where LAPACK's are by five, and for one matrix of 300 rows in five by hundreds. In doubles they take half as long again.

use num_complex::Complex;
use num_traits::NumCast;

use super::driver::Data;
use hlo_runtime::Error;
use hlo_runtime::linalg::{Matrix, Scalar};

/// Numbers that others of double precision are rounded to.
pub(crate) trait Rounded: Scalar {
    /// The same kind of numbers, real or complex, in double precision.
    type Double: Scalar;
}

impl Rounded for f32 {
    type Double = f64;
}

impl Rounded for f64 {
    type Double = Self;
}

impl Rounded for Complex<f32> {
    type Double = Complex<f64>;
}

impl Rounded for Complex<f64> {
    type Double = Self;
}

/// What is computed of a matrix in doubles, rounded once.
///
/// # Errors
/// Those of the computation, or there is too little memory.
pub(crate) fn in_doubles<T: Rounded>(
    a: &Matrix<T>,
    compute: impl FnOnce(Matrix<T::Double>) -> Result<Vec<Data<T::Double>>, Error>,
) -> Result<Vec<Data<T>>, Error> {
    compute(converted(a)?)?.into_iter().map(rounded).collect()
}

fn rounded<T: Rounded>(data: Data<T::Double>) -> Result<Data<T>, Error> {
    Ok(match data {
        Data::Elements(matrix) => Data::Elements(converted(&matrix)?),
        Data::Parts(matrix) => Data::Parts(converted(&matrix)?),
        Data::Wide(matrix) => Data::Wide(converted(&matrix)?),
        Data::Integers(numbers) => Data::Integers(numbers),
        Data::Zeros => Data::Zeros,
    })
}

/// A matrix in another precision.
fn converted<T: Scalar, U: Scalar>(matrix: &Matrix<T>) -> Result<Matrix<U>, Error> {
    let mut to = Matrix::zeros(matrix.rows(), matrix.columns())?;
    let part = |part: T::Part| <U::Part as NumCast>::from(part).unwrap_or_else(num_traits::Float::nan);
    for (to, &z) in to.values_mut().iter_mut().zip(matrix.values()) {
        *to = U::new(part(z.re()), part(z.im()));
    }
    Ok(to)
}
