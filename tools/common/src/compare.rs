//! Compares results with expected values: finds the elements that differ by more than the tolerance, and
//! counts errors by magnitude, as XLA does.

use hlo_ir::{ElementType, FloatFormat, Literal, Shape, unravel};
use std::fmt;

/// The allowed error of a floating-point element: `|got - want| <= atol + rtol * |want|`. A NaN equals a NaN,
/// and an infinity equals the same infinity. Integers and `pred` must be equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The relative part.
    pub rtol: f64,
    /// The absolute part.
    pub atol: f64,
}

impl Tolerance {
    /// Returns the default tolerance of a type: the difference to expect between two correct computations of
    /// a small module.
    pub fn default_for(ty: ElementType) -> Self {
        let (rtol, atol) = match (ty.real_type().bit_width(), ty.is_float() || ty.is_complex()) {
            (_, false) => (0.0, 0.0),
            (64, true) => (1e-10, 1e-12),
            (32, true) => (1e-4, 1e-5),
            (16, true) => (2e-2, 1e-2),
            (_, true) => (0.25, 0.1),
        };
        Self { rtol, atol }
    }

    /// Returns the tolerance with the absolute part multiplied by the `magnitude` of an array, if that is
    /// above 1.
    pub fn scaled(self, magnitude: f64) -> Self {
        Self { atol: self.atol * magnitude.max(1.0), ..self }
    }
}

/// Returns the largest finite magnitude in an array of floats or complex numbers, or 0 for other arrays.
pub fn magnitude(array: &Literal) -> f64 {
    let Some(ty) = array.shape().as_array().map(|a| a.element_type) else { return 0.0 };
    if !(ty.is_float() || ty.is_complex()) {
        return 0.0;
    }
    let magnitudes = array.bytes().chunks_exact(ty.byte_size()).map(|bytes| {
        let (re, im) = value(ty, bytes);
        re.hypot(im)
    });
    magnitudes.filter(|m| m.is_finite()).fold(0.0, f64::max)
}

/// The lower bounds of the error counts, as in XLA.
pub const BUCKETS: [f64; 5] = [0.0001, 0.001, 0.01, 0.1, 1.0];

/// The element with the largest error relative to its tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// The index of the element.
    pub index: Vec<i64>,
    /// The value as printed.
    pub got: String,
    /// The expected value as printed.
    pub want: String,
    /// `|got - want|`.
    pub absolute: f64,
    /// `|got - want| / |want|`.
    pub relative: f64,
}

/// The result of comparing two arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The shape of both arrays.
    pub shape: Shape,
    /// The tolerance that was applied.
    pub tolerance: Tolerance,
    /// The number of elements.
    pub elements: usize,
    /// The number of elements that differ by more than the tolerance.
    pub mismatches: usize,
    /// The number of elements whose absolute error is at least each of [`BUCKETS`].
    pub absolute: [usize; 5],
    /// The same counts for the relative error.
    pub relative: [usize; 5],
    /// The largest error divided by the tolerance of its element: above 1 for a mismatch.
    pub units: f64,
    /// The largest absolute error.
    pub largest_absolute: f64,
    /// The largest relative error.
    pub largest_relative: f64,
    /// The element with the largest error relative to its tolerance, if there is a mismatch.
    pub worst: Option<Worst>,
}

impl Comparison {
    /// Returns the fraction of mismatches.
    pub fn mismatch_fraction(&self) -> f64 {
        self.mismatches as f64 / self.elements.max(1) as f64
    }
}

/// Compares two arrays. Ignores layouts.
///
/// # Errors
/// Returns an error if the shapes differ.
pub fn compare(got: &Literal, want: &Literal, tolerance: Tolerance) -> Result<Comparison, String> {
    if !got.shape().compatible(want.shape()) {
        return Err(format!("the result has shape {}, {} is expected", got.shape(), want.shape()));
    }
    // Integers must be equal, whatever the tolerance.
    let real =
        |s: &Shape| s.as_array().is_some_and(|a| a.element_type.is_float() || a.element_type.is_complex());
    let tolerance = if real(want.shape()) { tolerance } else { Tolerance { rtol: 0.0, atol: 0.0 } };
    let mut result = Comparison {
        shape: want.shape().clone(),
        tolerance,
        elements: 0,
        mismatches: 0,
        absolute: [0; 5],
        relative: [0; 5],
        units: 0.0,
        largest_absolute: 0.0,
        largest_relative: 0.0,
        worst: None,
    };
    // A token has no elements.
    let Some(shape) = want.shape().as_array() else { return Ok(result) };
    let ty = shape.element_type;
    let size = ty.byte_size();
    let mut worst: Option<(f64, usize)> = None;
    for (i, (g, w)) in got.bytes().chunks_exact(size).zip(want.bytes().chunks_exact(size)).enumerate() {
        result.elements += 1;
        if g == w {
            continue;
        }
        let error = difference(ty, g, w);
        // A NaN error (a NaN compared with a number) counts as infinite.
        let count = |counts: &mut [usize; 5], error: f64| {
            for (n, bound) in counts.iter_mut().zip(BUCKETS) {
                *n += usize::from(error >= bound || error.is_nan());
            }
        };
        count(&mut result.absolute, error.absolute);
        count(&mut result.relative, error.relative);
        let units = error.absolute / (tolerance.atol + tolerance.rtol * error.magnitude);
        let within = error.absolute <= tolerance.atol + tolerance.rtol * error.magnitude;
        if error.absolute == 0.0 {
            continue;
        }
        // A NaN compared with a number, or different infinities, have an infinite error.
        let or_infinite = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        let units = or_infinite(units);
        result.units = result.units.max(units);
        result.largest_absolute = result.largest_absolute.max(or_infinite(error.absolute));
        result.largest_relative = result.largest_relative.max(or_infinite(error.relative));
        if within && error.absolute.is_finite() {
            continue;
        }
        result.mismatches += 1;
        if worst.is_none_or(|(most, _)| units > most) {
            worst = Some((units, i));
        }
    }
    result.worst = worst.map(|(_, i)| {
        let (g, w) = (&got.bytes()[i * size..][..size], &want.bytes()[i * size..][..size]);
        let error = difference(ty, g, w);
        Worst {
            index: unravel(i, &shape.dims).into_vec(),
            got: show(ty, g),
            want: show(ty, w),
            absolute: error.absolute,
            relative: error.relative,
        }
    });
    Ok(result)
}

/// Returns the elements of an array as doubles. Complex numbers are reduced to their real parts.
pub fn elements(array: &Literal) -> impl Iterator<Item = f64> + '_ {
    let ty = array.shape().as_array().map(|a| a.element_type);
    let chunks = ty.map(|ty| array.bytes().chunks_exact(ty.byte_size()));
    chunks.into_iter().flatten().zip(ty.into_iter().cycle()).map(|(bytes, ty)| {
        if ty.is_float() || ty.is_complex() { value(ty, bytes).0 } else { integer(ty, bytes) as f64 }
    })
}

/// The difference of two elements.
struct Difference {
    absolute: f64,
    relative: f64,
    /// `|want|`.
    magnitude: f64,
}

fn difference(ty: ElementType, got: &[u8], want: &[u8]) -> Difference {
    if !(ty.is_float() || ty.is_complex()) {
        let (g, w) = (integer(ty, got), integer(ty, want));
        let absolute = g.abs_diff(w) as f64;
        return Difference { absolute, relative: absolute / w.unsigned_abs() as f64, magnitude: 0.0 };
    }
    let (g, w) = (value(ty, got), value(ty, want));
    let is_nan = |(re, im): (f64, f64)| re.is_nan() || im.is_nan();
    let magnitude = w.0.hypot(w.1);
    let absolute = if g == w || (is_nan(g) && is_nan(w)) { 0.0 } else { (g.0 - w.0).hypot(g.1 - w.1) };
    let relative = if absolute == 0.0 { 0.0 } else { absolute / magnitude };
    Difference { absolute, relative, magnitude }
}

/// Decodes an integer element. Sub-byte elements are already extended to a byte.
fn integer(ty: ElementType, bytes: &[u8]) -> i128 {
    let mut wide = [0u8; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let unused = 128 - 8 * bytes.len() as u32;
    let raw = i128::from_le_bytes(wide);
    if ty.is_signed_integer() { (raw << unused) >> unused } else { raw }
}

/// Returns a real or complex element as its real and imaginary parts.
pub fn value(ty: ElementType, bytes: &[u8]) -> (f64, f64) {
    if ty.is_complex() {
        let (re, im) = bytes.split_at(bytes.len() / 2);
        return (value(ty.real_type(), re).0, value(ty.real_type(), im).0);
    }
    (real(ty, bytes), 0.0)
}

fn real(ty: ElementType, bytes: &[u8]) -> f64 {
    let raw = integer(ElementType::U64, bytes) as u64;
    match ty {
        ElementType::F64 => f64::from_bits(raw),
        ElementType::F32 => f32::from_bits(raw as u32).into(),
        _ => FloatFormat::of(ty).map_or(f64::NAN, |format| format.decode(raw)),
    }
}

fn show(ty: ElementType, bytes: &[u8]) -> String {
    if ty.is_pred() {
        return (bytes != [0]).to_string();
    }
    if ty.is_complex() {
        let (re, im) = bytes.split_at(bytes.len() / 2);
        return format!("({}, {})", show(ty.real_type(), re), show(ty.real_type(), im));
    }
    match ty {
        // The shortest text that parses to the same 32 bits.
        ElementType::F32 => (real(ty, bytes) as f32).to_string(),
        _ if ty.is_float() => real(ty, bytes).to_string(),
        _ => integer(ty, bytes).to_string(),
    }
}

/// Prints the report of a mismatch: the contents of XLA's report, as a table.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |n: usize| 100.0 * n as f64 / self.elements.max(1) as f64;
        let Tolerance { rtol, atol } = self.tolerance;
        write!(f, "{} of {} elements ({:.4}%) ", self.mismatches, self.elements, percent(self.mismatches))?;
        if rtol == 0.0 && atol == 0.0 {
            writeln!(f, "differ in {}", self.shape)?
        } else {
            writeln!(f, "differ by more than {atol:e} + {rtol:e} * |expected| in {}", self.shape)?
        }
        if let Some(w) = &self.worst {
            let index: Vec<String> = w.index.iter().map(i64::to_string).collect();
            writeln!(
                f,
                "  worst at [{}]: got {}, expected {} (absolute error {:.3e}, relative {:.3e})",
                index.join(","),
                w.got,
                w.want,
                w.absolute,
                w.relative
            )?;
        }
        writeln!(f, "  error at least        absolute              relative")?;
        for (i, bound) in BUCKETS.iter().enumerate() {
            let cell = |n: usize| format!("{n} ({:.4}%)", percent(n));
            let (absolute, relative) = (cell(self.absolute[i]), cell(self.relative[i]));
            writeln!(f, "  {bound:<22}{absolute:<22}{relative}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(values: &[f32]) -> Literal {
        Literal::from_elements(Shape::array(ElementType::F32, [values.len() as i64]), values)
    }

    fn mismatches(got: &[f32], want: &[f32], rtol: f64, atol: f64) -> usize {
        compare(&f32s(got), &f32s(want), Tolerance { rtol, atol }).unwrap().mismatches
    }

    #[test]
    fn the_tolerance_is_absolute_plus_relative() {
        assert_eq!(mismatches(&[1.5, 10.0], &[1.0, 10.0], 0.25, 0.25), 0);
        assert_eq!(mismatches(&[1.75, 10.0], &[1.0, 10.0], 0.25, 0.25), 1);
        assert_eq!(mismatches(&[0.0], &[-0.0], 0.0, 0.0), 0);
    }

    #[test]
    fn the_absolute_part_goes_by_the_largest_magnitude() {
        let of = |values: &[f32]| Tolerance { rtol: 0.5, atol: 0.25 }.scaled(magnitude(&f32s(values)));
        assert_eq!(of(&[1.0, -8.0, f32::NAN, f32::INFINITY]), Tolerance { rtol: 0.5, atol: 2.0 });
        assert_eq!(of(&[0.125]), Tolerance { rtol: 0.5, atol: 0.25 });
    }

    #[test]
    fn special_values() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert_eq!(mismatches(&[nan, inf, -inf], &[-nan, inf, -inf], 0.0, 0.0), 0);
        assert_eq!(mismatches(&[nan, 1.0, inf, -inf, 1.0], &[1.0, nan, 1.0, inf, inf], 1.0, 1.0), 5);
    }

    #[test]
    fn integers_are_exact_whatever_the_tolerance() {
        let shape = Shape::array(ElementType::U64, [2]);
        let got = Literal::from_elements(shape.clone(), &[u64::MAX, 7]);
        let want = Literal::from_elements(shape, &[u64::MAX - 1, 7]);
        let result = compare(&got, &want, Tolerance { rtol: 2.0, atol: 2.0 }).unwrap();
        assert_eq!(result.mismatches, 1);
        assert_eq!(result.worst.unwrap().got, "18446744073709551615");
    }

    #[test]
    fn the_worst_element_and_the_counts() {
        let shape = Shape::array(ElementType::F32, [2, 2]);
        let got = Literal::from_elements(shape.clone(), &[1.0f32, 2.05, 3.5, 4.0]);
        let want = Literal::from_elements(shape, &[1.0f32, 2.0, 3.0, 4.0]);
        let result = compare(&got, &want, Tolerance { rtol: 0.0, atol: 1e-3 }).unwrap();
        assert_eq!((result.mismatches, result.worst.as_ref().unwrap().index.clone()), (2, vec![1, 0]));
        assert_eq!(result.absolute, [2, 2, 2, 1, 0]);
        assert_eq!((result.units, result.largest_absolute), (500.0, 0.5));
        assert!(result.to_string().starts_with("2 of 4 elements (50.0000%) differ by more than 1e-3"));
    }

    #[test]
    fn shapes_must_be_the_same() {
        let error =
            compare(&f32s(&[1.0]), &f32s(&[1.0, 2.0]), Tolerance { rtol: 0.0, atol: 0.0 }).unwrap_err();
        assert_eq!(error, "the result has shape f32[1], f32[2] is expected");
    }
}
