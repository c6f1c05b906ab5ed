//! Single precision by way of double precision. Of 300 rows in `f32`, what faer's eigenvectors and singular vectors make of the matrix is off
//! by some 20 units in the last place of its norm, and for one matrix in five by hundreds; LAPACK's by 8. In doubles they take up to half
//! as long again.

use num_complex::Complex;

use super::driver::{Data, converted};
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
