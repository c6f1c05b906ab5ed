//! Element type conversion: `convert` and `stochastic-convert`.

use super::complex;
use super::support::{Result, array};
use crate::error::EvalError;
use crate::kernel::{Kernel, KernelError, binary, computes_in_f32, in_lanes, lane_type, unary, with_integer};
use hlo_ir::{ArrayShape, ElementType, FloatFormat, Literal, Shape};

/// Converts the elements of an array to another type, as a module with a single `convert` does. The result is
/// row-major and has the same sizes.
///
/// # Errors
/// Fails if the value is not an array, or if there is no memory for the result.
///
/// # Example
/// ```
/// use hlo_ir::{ElementType, Literal};
///
/// let wide = Literal::r1(&[2.75f64, -1.0, 1e9, f64::NAN]);
/// let narrow = hlo_eval::convert(&wide, ElementType::U8)?;
/// assert_eq!(narrow.elements::<u8>(), [2, 0, 255, 0]);
/// # Ok::<(), hlo_eval::EvalError>(())
/// ```
pub fn convert(value: &Literal, to: ElementType) -> Result<Literal> {
    let from = array(value)?;
    let shape = Shape::Array(ArrayShape::new(to, from.dims.iter().copied()));
    let no_memory = || EvalError::memory(format!("there is no memory for a value of shape {shape}"));
    let mut converted = Literal::try_zeros(&shape).ok_or_else(no_memory)?;
    kernel(from.element_type, to)(&[value.bytes()], converted.bytes_mut())?;
    Ok(converted)
}

/// `convert` (semantics, "ConvertElementType"): the nearest value, ties to even. Float to integer truncates,
/// saturates, and returns 0 for NaN. Integers wrap. Conversion to `pred` tests for not 0. Complex to real
/// drops the imaginary part.
pub(super) fn kernel(from: ElementType, to: ElementType) -> Kernel {
    use ElementType as T;
    match (from, to) {
        (T::C64, T::C128) => unary(|z: [f32; 2]| z.map(f64::from)),
        (T::C128, T::C64) => unary(|z: [f64; 2]| z.map(|x| x as f32)),
        (T::C64, T::C64) => unary(|z: [f32; 2]| z),
        (T::C128, T::C128) => unary(|z: [f64; 2]| z),
        (T::C64 | T::C128, _) => {
            let part = from.real_type();
            match complex::part(from, 0) {
                Some(first) => compose(from, first, part, kernel(part, to), to),
                None => no_conversion(from, to),
            }
        }
        (_, T::C64) => compose(from, kernel(from, T::F32), T::F32, unary(|re: f32| [re, 0.0]), to),
        (_, T::C128) => compose(from, kernel(from, T::F64), T::F64, unary(|re: f64| [re, 0.0]), to),
        _ => real_kernel(from, to),
    }
}

/// Returns a kernel for an undefined conversion, which fails when it runs.
fn no_conversion(from: ElementType, to: ElementType) -> Kernel {
    Box::new(move |_, _| Err(KernelError::NoConversion { from, to }))
}

/// Returns the kernel that converts elements to one type, and then to another.
pub(super) fn convert_through(from: ElementType, middle: ElementType, to: ElementType) -> Kernel {
    compose(from, kernel(from, middle), middle, kernel(middle, to), to)
}

/// Converts between real types.
fn real_kernel(from: ElementType, to: ElementType) -> Kernel {
    if computes_in_f32(to) && !computes_in_f32(from) && from != ElementType::F32 {
        return to_narrow_float(from, to);
    }
    // Predicates are 0 or 1.
    let source = if from.is_pred() { ElementType::U8 } else { from };
    /// Selects the lane type of the source.
    macro_rules! source {
        ($S:ident => $body:expr) => {
            match lane_type(source) {
                ElementType::F32 => {
                    type $S = f32;
                    $body
                }
                ElementType::F64 => {
                    type $S = f64;
                    $body
                }
                integer => with_integer!(integer, $S => $body).unwrap_or_else(|| no_conversion(from, to)),
            }
        };
    }
    #[allow(clippy::unnecessary_cast, reason = "one body for all sources")]
    let inner = match lane_type(to) {
        ElementType::F32 => source!(S => unary(|x: S| x as f32)),
        ElementType::F64 => source!(S => unary(|x: S| x as f64)),
        ElementType::Pred => source!(S => unary(|x: S| u8::from(x != (0 as S)))),
        integer if integer != to && from.is_float() => saturate(lane_type(from), to),
        integer => with_integer!(integer, D => source!(S => unary(|x: S| x as D)))
            .unwrap_or_else(|| no_conversion(from, to)),
    };
    in_lanes(&[source], to, inner)
}

/// Converts floats to an integer type of less than 32 bits, in that integer's lane.
fn saturate(from: ElementType, to: ElementType) -> Kernel {
    let (low, high) = integer_range(to);
    let saturated = move |x: f64| x.clamp(low, high) as i32; // NaN casts to 0
    match from {
        ElementType::F32 => unary(move |x: f32| saturated(x.into())),
        _ => unary(saturated),
    }
}

/// Converts numbers to a float type narrower than `f32`, with a single rounding directly to the narrow
/// format. The lane represents its values exactly.
fn to_narrow_float(from: ElementType, to: ElementType) -> Kernel {
    let Some(format) = FloatFormat::of(to) else { return no_conversion(from, to) };
    let source = if from.is_pred() { ElementType::U8 } else { from };
    let inner = match source {
        ElementType::F64 => Some(unary(move |x: f64| format.decode(format.encode(x)) as f32)),
        _ => {
            with_integer!(source, S => unary(move |x: S| format.decode(format.encode_integer(x.into())) as f32))
        }
    };
    in_lanes(&[source], to, inner.unwrap_or_else(|| no_conversion(from, to)))
}

/// Returns the kernel that applies `first`, whose results have type `middle`, and then `second`.
fn compose(from: ElementType, first: Kernel, middle: ElementType, second: Kernel, to: ElementType) -> Kernel {
    const LANES: usize = 64;
    Box::new(move |operands, out| {
        let &[operand] = operands else {
            return Err(KernelError::Operands { expected: 1, found: operands.len() });
        };
        let (found, expected) = (operand.len() / from.byte_size(), out.len() / to.byte_size());
        if found != expected {
            return Err(KernelError::Count { expected, found });
        }
        let mut buffer = [0u128; LANES];
        let buffer: &mut [u8] = bytemuck::cast_slice_mut(&mut buffer);
        let chunks = operand.chunks(LANES * from.byte_size()).zip(out.chunks_mut(LANES * to.byte_size()));
        for (operand, out) in chunks {
            let middle = &mut buffer[..operand.len() / from.byte_size() * middle.byte_size()];
            first(&[operand], middle)?;
            second(&[middle], out)?;
        }
        Ok(())
    })
}

/// `stochastic-convert`: returns one of the two numbers of the result's type next to the operand. It is the
/// one away from zero if the random bits, as a fraction of one, are below the lost fraction of the last
/// place, and the one towards zero otherwise. Values that are out of range, infinite or NaN are converted as
/// by `convert`.
pub(super) fn stochastic(operands: &[ElementType], result: ElementType) -> Option<Kernel> {
    let &[value, random] = operands else { return None };
    let fits = value.is_float() && random.is_unsigned_integer() && value.bit_width() == random.bit_width();
    if !fits || result.is_complex() || result.is_pred() {
        return None;
    }
    let format = FloatFormat::of(result);
    let scale = libm::ldexp(1.0, random.bit_width() as i32);
    let round = move |x: f64, random: u64| -> f64 {
        if x == 0.0 || !x.is_finite() {
            return x;
        }
        // The last place of an integer is 0.
        let last_place = format.map_or(0, |f| f.last_place(x));
        let magnitude = libm::ldexp(x.abs(), -last_place);
        let whole = magnitude.trunc();
        // Below 2⁶⁴, because the fraction is below one.
        let up = random < ((magnitude - whole) * scale) as u64;
        libm::ldexp(whole + f64::from(up), last_place).copysign(x)
    };
    /// Returns the kernel from the lanes of the operands to the lane of the result, by way of the rounded
    /// `f64`.
    macro_rules! rounded {
        ($last:expr) => {
            match value {
                ElementType::F64 => binary(move |x: f64, u: u64| $last(round(x, u))),
                _ => binary(move |x: f32, u: u32| $last(round(x.into(), u.into()))),
            }
        };
    }
    let inner = match format {
        Some(FloatFormat::F64) => Some(rounded!(|x: f64| x)),
        Some(format) => Some(rounded!(|x: f64| format.decode(format.encode(x)) as f32)),
        None => {
            let (low, high) = integer_range(result);
            with_integer!(result, R => rounded!(|x: f64| x.clamp(low, high) as R))
        }
    };
    inner.map(|k| in_lanes(operands, result, k))
}

/// Returns the least and the greatest number of an integer type, as precisely as `f64` represents them.
/// Values outside of this range saturate.
fn integer_range(ty: ElementType) -> (f64, f64) {
    let signed = ty.is_signed_integer();
    let high = libm::ldexp(1.0, (ty.bit_width() - u32::from(signed)) as i32);
    (if signed { -high } else { 0.0 }, high - 1.0)
}
