//! Errors in units in the last place, and the greatest of them.

use crate::big::{Big, to_f64};
use astro_float::BigFloat;
use hlo_ir::{ElementType, FloatFormat};

/// A reference: the nearest `f64` or so, and what it lacks, as a number and an exponent of two, because that may lie below
/// all numbers of `f64`.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The value, rounded.
    pub near: f64,
    rest: (f64, i32),
}

impl From<f64> for Reference {
    fn from(near: f64) -> Self {
        Self { near, rest: (0.0, 0) }
    }
}

impl Reference {
    /// A value of large precision.
    pub fn new(big: &Big, value: &BigFloat) -> Self {
        let near = to_f64(value);
        if !near.is_finite() {
            return near.into();
        }
        let mut rest = big.sub(value, &big.num(near));
        match rest.exponent() {
            Some(exponent) if !rest.is_zero() => {
                rest.set_exponent(0);
                Self { near, rest: (to_f64(&rest), exponent) }
            }
            _ => near.into(),
        }
    }

    /// The distance from a result in units of 2 to the power `place`.
    fn distance(self, format: &FloatFormat, got: f64, place: i32) -> f64 {
        // An infinity is the number that would follow the largest one (for `f64`, which has none: that itself).
        let largest = format.decode(format.max_bits());
        let next = largest + libm::ldexp(1.0, format.last_place(largest));
        let limit = if next.is_finite() { next } else { largest };
        let whole = libm::ldexp(got.clamp(-limit, limit) - self.near.clamp(-limit, limit), -place);
        let rest = libm::ldexp(self.rest.0, self.rest.1.saturating_sub(place));
        (whole - if self.near.abs() <= limit { rest } else { 0.0 }).abs()
    }

    /// The distance of `got` in units in the last place of the format; infinite for a NaN or a zero's sign that is wrong.
    pub fn error(self, format: &FloatFormat, got: f64) -> f64 {
        if got.is_nan() || self.near.is_nan() {
            return if got.is_nan() && self.near.is_nan() { 0.0 } else { f64::INFINITY };
        }
        let rounded = format.decode(format.encode(self.near));
        if got == rounded && (got == 0.0 || got.is_infinite()) {
            return if got.is_sign_negative() == rounded.is_sign_negative() { 0.0 } else { f64::INFINITY };
        }
        self.distance(format, got, last_place(format, self.near))
    }
}

/// The last place of a format's numbers of some size.
fn last_place(format: &FloatFormat, size: f64) -> i32 {
    let largest = format.decode(format.max_bits());
    format.last_place(if size == 0.0 { f64::from_bits(1) } else { size.clamp(-largest, largest) })
}

/// The error of a complex number: the distance of the part that is further off, in units in the last place of the
/// larger part. Infinite if just one of the two numbers has a NaN.
pub fn complex_error(format: &FloatFormat, got: [f64; 2], want: [Reference; 2]) -> f64 {
    let nan = |parts: [f64; 2]| parts.iter().any(|p| p.is_nan());
    let near = want.map(|w| w.near);
    if nan(got) || nan(near) {
        return if nan(got) && nan(near) { 0.0 } else { f64::INFINITY };
    }
    let place = last_place(format, near[0].abs().max(near[1].abs()));
    want[0].distance(format, got[0], place).max(want[1].distance(format, got[1], place))
}

/// The greatest error that was seen, and the arguments it was seen at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worst {
    /// The error.
    pub error: f64,
    /// The arguments; the parts of complex ones one after the other.
    pub at: Vec<f64>,
}

impl Worst {
    /// Takes notice of an error.
    pub fn record(&mut self, error: f64, at: impl FnOnce() -> Vec<f64>) {
        // A NaN would be a mistake of the measurement; it must not hide.
        if error > self.error || (error.is_nan() && !self.error.is_nan()) {
            *self = Self { error, at: at() };
        }
    }
}

/// The numbers of a type that has a format, from their bytes.
pub fn decoded(ty: ElementType, bytes: &[u8]) -> Vec<f64> {
    let ty = ty.real_type();
    let Some(format) = FloatFormat::of(ty) else { return Vec::new() };
    let number = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        format.decode(u64::from_le_bytes(wide))
    };
    bytes.chunks_exact(ty.byte_size()).map(number).collect()
}

/// Numbers, rounded to a type that has a format, as bytes.
pub fn encoded(ty: ElementType, numbers: &[f64]) -> Vec<u8> {
    let ty = ty.real_type();
    let Some(format) = FloatFormat::of(ty) else { return Vec::new() };
    numbers.iter().flat_map(|&x| format.encode(x).to_le_bytes()[..ty.byte_size()].to_vec()).collect()
}
