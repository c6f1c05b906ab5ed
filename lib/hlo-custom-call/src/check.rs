//! `check.expect_eq` and similar targets, with which StableHLO's tests check their results. If the operands
//! of a call do not match, the run fails with a message that lists the elements that differ.

use std::sync::Arc;

use crate::target::Target;
use crate::{Attribute, Attributes, Call, CallSite};
use hlo_ir::print::write_value;
use hlo_ir::{ElementType, FloatFormat, Literal, Number};
use hlo_runtime_core::Error;

/// The names of the targets.
pub(crate) const NAMES: &[&str] = &[
    EQ,
    "check.expect_almost_eq",
    "check.expect_almost_eq_const",
    "check.expect_close",
    "check.expect_eq",
    "check.expect_eq_const",
];

/// The target that returns a boolean.
const EQ: &str = "check.eq";

/// The maximum number of differing elements in a message.
const MAX_SHOWN_DIFFERENCES: usize = 5;

/// The condition under which two elements match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Match {
    /// Equality as numbers: a NaN equals nothing, and zeros of both signs are equal.
    Equal,
    /// The difference is at most this tolerance. A NaN matches any NaN.
    Near(f64),
    /// The distance in ULPs is in this range: minimum and maximum. A NaN matches any NaN.
    Close(u64, u64),
}

/// Returns the target with this name, if it is one of these.
pub(crate) fn target(name: &str) -> Option<Target> {
    let &name = NAMES.iter().find(|known| **known == name)?;
    Some(Target::new(move |site, attributes| {
        let element = plan(name, site)?;
        let how = match name {
            EQ if !element.is_float() && !element.is_complex() => Match::Equal,
            EQ => Match::Near(1e-4),
            "check.expect_eq" | "check.expect_eq_const" => Match::Equal,
            // The defaults are those of a custom call in `stablehlo-translate`, and those of the operation
            // with a constant.
            "check.expect_almost_eq" => Match::Near(number(attributes, "tolerance", 1e-3)?),
            "check.expect_almost_eq_const" => Match::Near(number(attributes, "tolerance", 1e-4)?),
            _ => Match::Close(
                count(attributes, "min_ulp_difference", 0)?,
                count(attributes, "max_ulp_difference", 3)?,
            ),
        };
        if how != Match::Equal && !element.is_float() && !element.is_complex() {
            return Err(Error(format!("compares floating-point numbers, found {}", element.name())));
        }
        Ok(Arc::new(move |call| run(how, call)))
    }))
}

/// Checks a call, and returns the element type of its operands.
fn plan(name: &str, site: &CallSite) -> Result<ElementType, Error> {
    let (operands, results) = (site.operand_arrays(), site.result_arrays());
    let &[actual, expected] = &operands[..] else {
        return Err(Error(format!("takes two arrays, found {}", operands.len())));
    };
    if actual.element != expected.element || actual.dims != expected.dims {
        return Err(Error(format!("compares arrays of one type, found {actual} and {expected}")));
    }
    let gives_truth = matches!(results[..], [truth] if truth.element == "pred" && truth.dims.is_empty());
    if name == EQ && !gives_truth {
        return Err(Error(format!("gives pred[], and no {}", site.result)));
    }
    if name != EQ && !results.is_empty() {
        return Err(Error(format!("gives nothing, and no {}", site.result)));
    }
    ElementType::from_name(&actual.element)
        .ok_or_else(|| Error(format!("internal error: there are no elements of type {}", actual.element)))
}

/// Returns the value of an optional number attribute.
fn number(attributes: &Attributes, name: &str, default: f64) -> Result<f64, Error> {
    match attributes.get(name) {
        None => Ok(default),
        Some(Attribute::Float(value, _)) => Ok(*value),
        Some(Attribute::Integer(value, _)) => Ok(*value as f64),
        Some(_) => Err(Error(format!("the attribute `{name}` must be a number"))),
    }
}

/// Returns the value of an optional attribute that is a non-negative integer.
fn count(attributes: &Attributes, name: &str, default: u64) -> Result<u64, Error> {
    if attributes.get(name).is_none() {
        return Ok(default);
    }
    let value = attributes.integer(name)?;
    u64::try_from(value).map_err(|_| Error(format!("the attribute `{name}` must not be {value}")))
}

fn run(how: Match, call: &mut Call<'_>) -> Result<(), Error> {
    let (actual, expected) = (call.operand_literal(0)?, call.operand_literal(1)?);
    compare(how, &actual, &expected)?;
    if !call.site.result_arrays().is_empty() {
        call.result_bytes(0)?.fill(1);
    }
    Ok(())
}

/// Compares two arrays of the same type.
///
/// # Errors
/// Returns an error that lists the elements that do not match, or an error if the values are not arrays.
pub fn compare(how: Match, actual: &Literal, expected: &Literal) -> Result<(), Error> {
    let Some(array) = actual.shape().as_array() else {
        return Err(Error("internal error: compares something that is no array".into()));
    };
    let (ty, size) = (array.element_type, array.element_type.byte_size());
    let elements = || actual.bytes().chunks_exact(size).zip(expected.bytes().chunks_exact(size));
    let (mut differ, mut shown) = (0usize, Vec::new());
    for (((index, a), (_, b)), bytes) in actual.numbers().zip(expected.numbers()).zip(elements()) {
        let apart = ulps(ty, bytes);
        let matches = match how {
            Match::Equal => a == b,
            Match::Near(tolerance) => near(a, b, tolerance),
            Match::Close(least, most) => (least..=most).contains(&apart),
        };
        if matches {
            continue;
        }
        differ += 1;
        if shown.len() < MAX_SHOWN_DIFFERENCES {
            let place: Vec<String> = index.iter().map(i64::to_string).collect();
            let place = if place.is_empty() { String::new() } else { format!("at [{}] ", place.join(",")) };
            let found = format!("{place}found {}, expected {}", text(ty, bytes.0), text(ty, bytes.1));
            shown.push(match how {
                Match::Close(..) if apart < u64::MAX => format!("{found} ({apart} ULPs apart)"),
                _ => found,
            });
        }
    }
    if differ == 0 {
        return Ok(());
    }
    let what = match how {
        Match::Equal => "are not equal".into(),
        Match::Near(tolerance) => format!("differ by more than {tolerance:?}"),
        Match::Close(0, most) => format!("are more than {most} ULPs apart"),
        Match::Close(least, most) => format!("are not {least} to {most} ULPs apart"),
    };
    let more = if differ > shown.len() { "; …" } else { "" };
    let all = array.element_count();
    Err(Error(format!("{differ} of {all} elements {what}: {}{more}", shown.join("; "))))
}

/// Returns the text form of an element.
fn text(ty: ElementType, bytes: &[u8]) -> String {
    let mut text = String::new();
    if let Some(element) = Literal::scalar_from_bytes(ty, bytes) {
        // Writing to a string does not fail.
        let _ = write_value(&mut text, &element, None);
    }
    text
}

/// Returns whether two numbers (for complex numbers, both parts) differ by at most `tolerance`, are the same
/// infinity, or are both NaN.
fn near(a: Number, b: Number, tolerance: f64) -> bool {
    let near = |a: f64, b: f64| {
        let finite = a.is_finite() && b.is_finite();
        a == b || (a.is_nan() && b.is_nan()) || (finite && (a - b).abs() <= tolerance)
    };
    match (a, b) {
        (Number::Complex(a), Number::Complex(b)) => near(a.re, b.re) && near(a.im, b.im),
        (a, b) => a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| near(a, b)),
    }
}

/// Returns the distance of two elements in floating-point numbers (ULPs). For complex numbers this is the
/// larger distance of the two parts. Returns `u64::MAX` for elements that are not floating-point, and for
/// different elements of which one is infinite or NaN.
pub fn ulps(ty: ElementType, (a, b): (&[u8], &[u8])) -> u64 {
    let Some(format) = FloatFormat::of(ty.real_type()) else { return u64::MAX };
    let part = ty.real_type().byte_size();
    let bits = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..part].copy_from_slice(bytes);
        u64::from_le_bytes(wide)
    };
    let parts = a.chunks_exact(part).zip(b.chunks_exact(part));
    parts.map(|(a, b)| apart(format, bits(a), bits(b))).max().unwrap_or(0)
}

fn apart(format: FloatFormat, a: u64, b: u64) -> u64 {
    let (x, y) = (format.decode(a), format.decode(b));
    if x == y || (x.is_nan() && y.is_nan()) {
        return 0;
    }
    if !x.is_finite() || !y.is_finite() {
        return u64::MAX;
    }
    // The total order, with both zeros at the same position.
    let place = |bits: u64| {
        let order = format.total_order(bits);
        if order < 0 { order + 1 } else { order }
    };
    place(a).abs_diff(place(b))
}
