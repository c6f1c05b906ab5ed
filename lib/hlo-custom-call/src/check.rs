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
enum Match {
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
fn compare(how: Match, actual: &Literal, expected: &Literal) -> Result<(), Error> {
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
fn ulps(ty: ElementType, (a, b): (&[u8], &[u8])) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ApiVersion, ArrayType, Registry, ValueType};
    use hlo_ir::narrow::{F8E4M3Fn, F8E8M0Fnu, S4};
    use num_complex::{Complex32, Complex64};

    fn difference(how: Match, actual: &Literal, expected: &Literal) -> String {
        compare(how, actual, expected).expect_err("they differ").to_string()
    }

    /// A NaN does not equal itself; zeros of both signs are equal (`Element::operator==` of StableHLO's
    /// reference).
    #[test]
    fn equal_as_numbers() {
        let same = |l: Literal| compare(Match::Equal, &l, &l);
        assert_eq!(same(Literal::r1(&[1i32, -2])), Ok(()));
        assert_eq!(same(Literal::r1(&[true, false])), Ok(()));
        assert_eq!(same(Literal::r1(&[Complex32::new(1.0, f32::INFINITY)])), Ok(()));
        assert_eq!(same(Literal::full(&[0, 2], 1u64).expect("small")), Ok(()));
        assert!(same(Literal::r0(f32::NAN)).is_err());
        assert_eq!(compare(Match::Equal, &Literal::r0(0.0f64), &Literal::r0(-0.0f64)), Ok(()));

        let (a, b) = (Literal::r2(&[[1i64, 2], [3, 4]]), Literal::r2(&[[1i64, 5], [6, 4]]));
        assert_eq!(
            difference(Match::Equal, &a, &b),
            "2 of 4 elements are not equal: at [0,1] found 2, expected 5; at [1,0] found 3, expected 6"
        );
        let small = |x| Literal::r0(S4::new(x).expect("four bits"));
        assert_eq!(
            difference(Match::Equal, &small(-8), &small(7)),
            "1 of 1 elements are not equal: found -8, expected 7"
        );
        let many = difference(Match::Equal, &Literal::r1(&[0u8; 9]), &Literal::r1(&[1u8; 9]));
        assert!(many.ends_with("at [4] found 0, expected 1; …"), "{many}");
    }

    #[test]
    fn near_by_an_absolute_difference() {
        let how = Match::Near(0.001);
        let near = |a: f32, b: f32| compare(how, &Literal::r0(a), &Literal::r0(b)).is_ok();
        assert!(near(1.0, 1.0009) && near(0.0, -0.0005) && near(f32::NAN, -f32::NAN));
        assert!(near(f32::INFINITY, f32::INFINITY) && !near(f32::INFINITY, f32::NEG_INFINITY));
        assert!(!near(1.0, 1.002) && !near(f32::NAN, 1.0) && !near(f32::MAX, f32::INFINITY));
        let z = |im| Literal::r0(Complex64::new(1.0, im));
        assert_eq!(compare(how, &z(0.5), &z(0.5005)), Ok(()));
        assert_eq!(
            difference(how, &z(0.5), &z(0.75)),
            "1 of 1 elements differ by more than 0.001: found (1, 0.5), expected (1, 0.75)"
        );
    }

    /// The values of `ULPDifference` in CheckOps.cpp.
    #[test]
    fn close_by_the_numbers_between() {
        let apart = |a: Literal, b: Literal| {
            let ty = a.shape().as_array().expect("an array").element_type;
            ulps(ty, (a.bytes(), b.bytes()))
        };
        let f = Literal::r0::<f32>;
        assert_eq!(apart(f(1.0), f(1.0 + 3.0 * f32::EPSILON)), 3);
        assert_eq!(apart(f(0.0), f(-0.0)), 0);
        assert_eq!(apart(f(f32::from_bits(2)), f(-f32::from_bits(3))), 5);
        assert_eq!(apart(f(f32::NAN), f(f32::from_bits(0xffc0_0001))), 0);
        assert_eq!(apart(f(f32::INFINITY), f(f32::INFINITY)), 0);
        assert_eq!(apart(f(f32::MAX), f(f32::INFINITY)), u64::MAX);
        assert_eq!(apart(Literal::r0(f64::MAX), Literal::r0(f64::MIN)), 2 * f64::MAX.to_bits());
        let parts = |re, im| Literal::r0(Complex32::new(re, im));
        assert_eq!(apart(parts(1.0, 2.0), parts(1.0 + f32::EPSILON, 2.0 + 4.0 * f32::EPSILON)), 2);
        let small = |bits| Literal::r0(F8E4M3Fn::from_bits(bits));
        assert_eq!(apart(small(0x7e), small(0xfe)), 2 * 0x7e);
        assert_eq!(apart(small(0x7f), small(0xff)), 0, "both are NaN");
        let power = |bits| Literal::r0(F8E8M0Fnu::from_bits(bits));
        assert_eq!(apart(power(0x80), power(0x7e)), 2);

        assert_eq!(
            difference(Match::Close(0, 2), &Literal::r1(&[1.0f64, 2.0]), &Literal::r1(&[1.0, 4.0])),
            "1 of 2 elements are more than 2 ULPs apart: at [1] found 2, expected 4 (4503599627370496 ULPs apart)"
        );
        assert!(difference(Match::Close(1, 2), &f(1.0), &f(1.0)).contains("are not 1 to 2 ULPs apart"));
    }

    #[test]
    fn calls() {
        let array = |element: &str, element_bytes, order: &[usize]| {
            let (element, dims) = (element.into(), vec![2; order.len()]);
            ValueType::Array(ArrayType { element, element_bytes, dims, minor_to_major: order.to_vec() })
        };
        let site = |target: &str, config: &str, operands: [ValueType; 2], result| CallSite {
            target: target.into(),
            api: ApiVersion::TypedFfi,
            config: config.into(),
            operands: operands.into(),
            result,
            ..CallSite::default()
        };
        let registry = Registry::new();
        let nothing = || ValueType::Tuple(Vec::new());
        let numbers = |values: [f32; 4]| values.map(f32::to_ne_bytes).concat();
        // The layouts are those of the types.
        let operands = [array("f32", 4, &[0, 1]), array("f32", 4, &[1, 0])];
        let planned = registry.plan(site("check.expect_close", "", operands, nothing())).expect("fits");
        let (columns, rows) = (numbers([1.0, 3.0, 2.0, 4.0]), numbers([1.0, 2.0, 3.0, 4.0]));
        assert_eq!(planned.call_here(&[&columns, &rows], &mut []), Ok(()));
        let error = planned.call_here(&[&rows, &rows], &mut []).expect_err("they differ").to_string();
        assert!(
            error.starts_with("`check.expect_close`: 2 of 4 elements are more than 3 ULPs apart"),
            "{error}"
        );

        let wide = || [array("f32", 4, &[0]), array("f32", 4, &[0])];
        let wider = "{max_ulp_difference = 5 : ui64, min_ulp_difference = 1 : ui64}";
        let planned =
            registry.plan(site("check.expect_close", wider, wide(), ValueType::Token)).expect("fits");
        let next = |n: u32| [1.0f32, 2.0].map(|x| f32::from_bits(x.to_bits() + n).to_ne_bytes()).concat();
        assert_eq!(planned.call_here(&[&next(0), &next(5)], &mut []), Ok(()));
        assert!(planned.call_here(&[&next(0), &next(6)], &mut []).is_err());
        assert!(planned.call_here(&[&next(1), &next(1)], &mut []).is_err());

        let truth = registry.plan(site("check.eq", "", wide(), array("pred", 1, &[]))).expect("fits");
        let mut result = [0];
        assert_eq!(truth.call_here(&[&next(0), &next(7)], &mut [&mut result]), Ok(()));
        assert_eq!(result, [1]);

        let refused = |site| registry.plan(site).expect_err("it can't be called so").to_string();
        let integers = || [array("s32", 4, &[0]), array("s32", 4, &[0])];
        for (wrong, why) in [
            (
                site("check.expect_close", "", integers(), nothing()),
                "compares floating-point numbers, found s32",
            ),
            (site("check.expect_eq", "", integers(), array("pred", 1, &[])), "gives nothing, and no pred[]"),
            (site("check.eq", "", integers(), nothing()), "gives pred[], and no ()"),
            (
                site("check.expect_eq", "", [array("s32", 4, &[0]), array("s32", 4, &[])], nothing()),
                "compares arrays of one type, found s32[2] and s32[]",
            ),
            (
                site("check.expect_almost_eq", "{tolerance = true}", wide(), nothing()),
                "the attribute `tolerance` must be a number",
            ),
            (
                site("check.expect_close", "{max_ulp_difference = -1 : i64}", wide(), nothing()),
                "the attribute `max_ulp_difference` must not be -1",
            ),
        ] {
            assert!(refused(wrong).ends_with(why), "{why}");
        }
    }
}
