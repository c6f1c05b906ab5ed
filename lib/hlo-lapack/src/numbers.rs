//! Functions on numbers and matrices that several routines use.

use num_traits::{Float, NumCast, One};

use hlo_runtime::linalg::{Matrix, Scalar};
use hlo_runtime::{Error, Number};

/// Converts a number that is exact in every precision.
pub(crate) fn exact<P: Float>(value: f64) -> P {
    <P as NumCast>::from(value).unwrap_or_else(P::nan)
}

/// Returns a matrix of NaN, which is used if there is no result.
pub(crate) fn not_a_number<T: Scalar>(rows: usize, columns: usize) -> Result<Matrix<T>, Error> {
    let mut matrix = Matrix::zeros(rows, columns)?;
    let nan = <T::Part as Float>::nan();
    matrix.fill(T::new(nan, nan));
    Ok(matrix)
}

/// Divides a matrix by a power of two if its largest element is far from 1, so that the largest element
/// becomes close to 1. Otherwise squares might underflow or overflow, and faer's bounds for negligible
/// elements do not depend on the matrix. Returns the divisor.
pub(crate) fn scale<T: Scalar>(a: &mut Matrix<T>) -> T::Part {
    let (zero, one) = (<T::Part as Number>::ZERO, <T::Part as One>::one());
    let most = a.values().iter().fold(zero, |most, z| Float::max(most, z.size()));
    let far = <T::Part as NumCast>::from(1024.0).unwrap_or(one);
    if most == zero || !Float::is_finite(most) || (most >= one / far && most <= far) {
        return one;
    }
    let divisor = Float::exp2(Float::floor(Float::log2(most)));
    a.values_mut().iter_mut().for_each(|z| *z = T::new(z.re() / divisor, z.im() / divisor));
    divisor
}

/// Returns the product with a real number.
pub(crate) fn times<T: Scalar>(z: T, factor: T::Part) -> T {
    T::new(z.re() * factor, z.im() * factor)
}

/// Returns the element of the largest absolute value. If several elements are within a thousandth of the
/// largest, returns the first of them, so that rounding does not decide between equal elements.
pub(crate) fn largest<T: Scalar>(values: &[T]) -> Option<T> {
    let zero = <T::Part as Number>::ZERO;
    let most = values.iter().map(|z| z.modulus()).fold(zero, Float::max);
    let near = <T::Part as NumCast>::from(0.999).map_or(most, |nearly| most * nearly);
    values.iter().copied().find(|z| z.modulus() >= near)
}
