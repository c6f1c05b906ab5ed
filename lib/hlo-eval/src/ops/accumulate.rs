//! Sums of products, as `dot` and `convolution` compute them.
//!
//! Floats are summed in `f64`, integers in 64 bits (wrapping), and complex numbers as pairs of `f64`. The sum
//! is rounded once, to the type of the result. This is more precise than XLA's backends, which approximate
//! this result. Only the range is that of XLA's backends: a product or sum that is too large for `f32` is
//! infinite if the factors are `f32` or narrower.

use super::convert;
use crate::kernel::Kernel;
use bytemuck::Pod;
use hlo_ir::ElementType;

/// An element type that can be multiplied.
pub(super) trait Factor: Pod {
    /// The element type.
    const TYPE: ElementType;
    /// The type of the sums.
    type Sum: Pod;
    /// The element type of [`Factor::Sum`].
    const SUM_TYPE: ElementType;
    /// The empty sum.
    const ZERO: Self::Sum;
    /// `sums[i] += x * row[i]`.
    fn add_products(sums: &mut [Self::Sum], x: Self, row: &[Self]);
    /// Whether zero times the value is zero.
    fn is_finite(&self) -> bool;
}

/// Returns the number, or infinity if it would round to infinity in `f32`.
pub(super) fn in_range(x: f64) -> f64 {
    /// The greatest number plus half a unit in its last place.
    const LIMIT: f64 = f32::MAX as f64 + (1u128 << 103) as f64;
    if x.abs() < LIMIT { x } else { x * f64::INFINITY }
}

impl Factor for f32 {
    const TYPE: ElementType = ElementType::F32;
    type Sum = f64;
    const SUM_TYPE: ElementType = ElementType::F64;
    const ZERO: f64 = 0.0;
    fn add_products(sums: &mut [f64], x: f32, row: &[f32]) {
        let x = f64::from(x);
        sums.iter_mut().zip(row).for_each(|(s, &y)| *s = in_range(*s + in_range(x * f64::from(y))));
    }
    fn is_finite(&self) -> bool {
        f32::is_finite(*self)
    }
}

impl Factor for f64 {
    const TYPE: ElementType = ElementType::F64;
    type Sum = f64;
    const SUM_TYPE: ElementType = ElementType::F64;
    const ZERO: f64 = 0.0;
    fn add_products(sums: &mut [f64], x: f64, row: &[f64]) {
        sums.iter_mut().zip(row).for_each(|(s, &y)| *s += x * y);
    }
    fn is_finite(&self) -> bool {
        f64::is_finite(*self)
    }
}

impl Factor for i64 {
    const TYPE: ElementType = ElementType::S64;
    type Sum = i64;
    const SUM_TYPE: ElementType = ElementType::S64;
    const ZERO: i64 = 0;
    fn add_products(sums: &mut [i64], x: i64, row: &[i64]) {
        sums.iter_mut().zip(row).for_each(|(s, &y)| *s = s.wrapping_add(x.wrapping_mul(y)));
    }
    fn is_finite(&self) -> bool {
        true
    }
}

impl Factor for [f32; 2] {
    const TYPE: ElementType = ElementType::C64;
    type Sum = [f64; 2];
    const SUM_TYPE: ElementType = ElementType::C128;
    const ZERO: [f64; 2] = [0.0; 2];
    fn add_products(sums: &mut [[f64; 2]], x: [f32; 2], row: &[[f32; 2]]) {
        let product = |a: f32, b: f32| in_range(f64::from(a) * f64::from(b));
        sums.iter_mut().zip(row).for_each(|(s, y)| {
            s[0] = in_range(s[0] + in_range(product(x[0], y[0]) - product(x[1], y[1])));
            s[1] = in_range(s[1] + in_range(product(x[0], y[1]) + product(x[1], y[0])));
        });
    }
    fn is_finite(&self) -> bool {
        self.iter().all(|part| part.is_finite())
    }
}

impl Factor for [f64; 2] {
    const TYPE: ElementType = ElementType::C128;
    type Sum = [f64; 2];
    const SUM_TYPE: ElementType = ElementType::C128;
    const ZERO: [f64; 2] = [0.0; 2];
    fn add_products(sums: &mut [[f64; 2]], x: [f64; 2], row: &[[f64; 2]]) {
        sums.iter_mut().zip(row).for_each(|(s, y)| {
            s[0] += x[0] * y[0] - x[1] * y[1];
            s[1] += x[0] * y[1] + x[1] * y[0];
        });
    }
    fn is_finite(&self) -> bool {
        self.iter().all(|part| part.is_finite())
    }
}

/// Returns the type that operands are converted to before they are multiplied. It is one of the [`Factor`]
/// types.
pub(super) fn factor_type(operands: &[ElementType], result: ElementType) -> ElementType {
    let fits_f32 = operands.iter().map(|t| t.real_type()).all(|t| t.is_float() && t != ElementType::F64);
    let complex = result.is_complex() || operands.iter().any(|t| t.is_complex());
    match (complex, fits_f32) {
        (true, true) => ElementType::C64,
        (true, false) => ElementType::C128,
        (false, _) if !result.is_float() && !operands.iter().any(|t| t.is_float()) => ElementType::S64,
        (false, true) => ElementType::F32,
        (false, false) => ElementType::F64,
    }
}

/// Evaluates `$body`, a `Result`, with `$T` as the [`Factor`] of a type that [`factor_type`] returns. Fails
/// for other types.
macro_rules! with_factor {
    ($ty:expr, $T:ident => $body:expr) => {{
        macro_rules! arm {
            ($native:ty) => {{
                type $T = $native;
                $body
            }};
        }
        match $ty {
            hlo_ir::ElementType::F32 => arm!(f32),
            hlo_ir::ElementType::F64 => arm!(f64),
            hlo_ir::ElementType::C64 => arm!([f32; 2]),
            hlo_ir::ElementType::C128 => arm!([f64; 2]),
            hlo_ir::ElementType::S64 => arm!(i64),
            other => Err(crate::error::EvalError::internal(format!("products of {other}"))),
        }
    }};
}

pub(super) use with_factor;

/// Returns the kernel that converts sums to elements of the result. A predicate is true if the sum is not 0,
/// so the result is an `or` of `and`s. Sums of floats convert to integers through the factors' type: the sum
/// of 0.75 and 0.25, or a sum that rounds to 1, becomes 1.
pub(super) fn rounding<T: Factor>(result: ElementType) -> Kernel {
    if T::SUM_TYPE == result {
        // Views the bytes as sums, not as integers of their size, because a sum on the stack may be less
        // aligned than a literal.
        return crate::kernel::unary(|x: T::Sum| x);
    }
    if result.is_float() || result.is_complex() || T::TYPE == T::SUM_TYPE {
        convert::kernel(T::SUM_TYPE, result)
    } else {
        convert::convert_through(T::SUM_TYPE, T::TYPE, result)
    }
}
