//! Tests of narrow element types as Rust types.

use hlo_ir::narrow::*;
use hlo_ir::{ElementType, Literal, Shape};

#[test]
fn ranges_of_integers() {
    assert_eq!([S1::MIN.get(), S1::MAX.get()], [-1, 0]);
    assert_eq!([S2::MIN.get(), S2::MAX.get()], [-2, 1]);
    assert_eq!([S4::MIN.get(), S4::MAX.get()], [-8, 7]);
    assert_eq!([U1::MAX.get(), U2::MAX.get(), U4::MAX.get()], [1, 3, 15]);
    assert_eq!(S4::wrapping(9), S4::new(-7).unwrap());
    assert_eq!([S4::new(8), S4::new(-9)], [None; 2]);
    assert_eq!([U2::new(4), U2::new(3)], [None, Some(U2::MAX)]);
}

/// Numbers that ml_dtypes computes for these bits.
#[test]
fn floats_of_bits() {
    assert_eq!(F8E5M2::from_bits(0x7b).to_f64(), 57344.0);
    assert_eq!(F8E4M3::from_bits(0x77).to_f64(), 240.0);
    assert_eq!(F8E4M3Fn::from_bits(0x7e).to_f64(), 448.0);
    assert_eq!(F8E4M3B11Fnuz::from_bits(0x7f).to_f64(), 30.0);
    assert_eq!(F8E3M4::from_bits(0x6f).to_f64(), 15.5);
    assert_eq!(F8E5M2Fnuz::from_bits(0x7f).to_f64(), 57344.0);
    assert_eq!(F8E4M3Fnuz::from_bits(0x7f).to_f64(), 240.0);
    assert_eq!(F8E8M0Fnu::from_bits(0x80).to_f64(), 2.0);
    assert_eq!(F4E2M1Fn::from_bits(0xf7).to_f64(), 6.0, "the high bits do not count");
    assert_eq!(F6E3M2Fn::from_bits(0x1f).to_f64(), 28.0);
    assert_eq!(F6E2M3Fn::from_bits(0x1f).to_f64(), 7.5);
}

#[test]
fn floats_compare_as_numbers() {
    let [one, nan] = [1.0, f64::NAN].map(F8E5M2::from_f64);
    assert!(one > F8E5M2::from_f64(0.5) && nan != nan);
    assert_eq!(F8E5M2::from_bits(0), F8E5M2::from_bits(0x80));
    assert_eq!(format!("{one} {one:?}"), "1 1.0");
}

/// Only the low bits count in bytes that are not valid in literals.
#[test]
fn high_bits_of_a_literal_do_not_count() {
    let literal = Literal::from_elements(Shape::array(ElementType::S4, [2]), &[0x17u8, 0x18]);
    assert_eq!(literal.values::<S4>().unwrap().map(S4::get).collect::<Vec<_>>(), [7, -8]);
    let literal = Literal::from_elements(Shape::array(ElementType::F4E2M1Fn, [1]), &[0x17u8]);
    assert_eq!(literal.get::<F4E2M1Fn>(&[0]).unwrap().to_f64(), 6.0);
}
