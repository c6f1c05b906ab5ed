//! Dense linear algebra on batches of matrices: factorizations and triangular systems.
//!
//! Each matrix is read into column-major working memory in the precision of the computation. One thread
//! computes each matrix, and threads share the batch. So the bits depend on shapes only.

mod by_faer;
mod cholesky;
mod matrix;
pub mod small;
mod triangular;

pub use by_faer::by_faer;
pub use cholesky::{factor, hlo_rt_cholesky};
use hlo_runtime_core::{ElementCode, Error};
pub use matrix::{Matrix, Scalar, Strides};
pub use triangular::{Triangle, hlo_rt_triangular_solve};

use num_complex::Complex;

/// Converts a size in a descriptor.
fn size(value: i64) -> Result<usize, Error> {
    usize::try_from(value).map_err(|_| Error(format!("a size is {value}")))
}

/// A computation that is generic in its scalar type.
trait Generic {
    /// Runs the computation on elements of type `code`, in numbers of type `T`.
    fn run<T: Scalar>(&self, code: ElementCode) -> Result<(), Error>;
}

/// Runs a computation in the scalar type for an element type. Narrow floats are computed in f32.
fn dispatch(code: i64, what: &impl Generic) -> Result<(), Error> {
    let code = ElementCode::from_code(code)?;
    match code {
        ElementCode::F16 | ElementCode::Bf16 | ElementCode::F32 => what.run::<f32>(code),
        ElementCode::F64 => what.run::<f64>(code),
        ElementCode::C64 => what.run::<Complex<f32>>(code),
        ElementCode::C128 => what.run::<Complex<f64>>(code),
        ElementCode::Pred
        | ElementCode::S8
        | ElementCode::S16
        | ElementCode::S32
        | ElementCode::S64
        | ElementCode::U8
        | ElementCode::U16
        | ElementCode::U32
        | ElementCode::U64 => Err(Error(format!("not for elements of type {code:?}"))),
    }
}
