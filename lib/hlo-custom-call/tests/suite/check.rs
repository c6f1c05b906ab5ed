//! Tests of the targets that compare their operands.

use hlo_custom_call::internals::{Match, compare, ulps};
use hlo_custom_call::{ApiVersion, ArrayType, CallSite, Registry, ValueType};
use hlo_ir::Literal;
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
    assert!(error.starts_with("`check.expect_close`: 2 of 4 elements are more than 3 ULPs apart"), "{error}");

    let wide = || [array("f32", 4, &[0]), array("f32", 4, &[0])];
    let wider = "{max_ulp_difference = 5 : ui64, min_ulp_difference = 1 : ui64}";
    let planned = registry.plan(site("check.expect_close", wider, wide(), ValueType::Token)).expect("fits");
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
        (site("check.expect_close", "", integers(), nothing()), "compares floating-point numbers, found s32"),
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
