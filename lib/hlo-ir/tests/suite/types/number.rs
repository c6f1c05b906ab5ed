//! Tests of elements of any type as numbers.

use hlo_ir::{ArrayShape, ElementType, Layout, Literal, Number, Shape};
use num_complex::Complex64;

fn of(ty: ElementType, bytes: &[u8]) -> Number {
    Literal::scalar_from_bytes(ty, bytes).unwrap().number(&[]).unwrap()
}

#[test]
fn one_of_each_kind() {
    assert_eq!(of(ElementType::Pred, &[1]), Number::Bool(true));
    assert_eq!(of(ElementType::S2, &[0xfe]), Number::Signed(-2));
    assert_eq!(of(ElementType::U4, &[15]), Number::Unsigned(15));
    assert_eq!(of(ElementType::S64, &i64::MIN.to_le_bytes()), Number::Signed(i64::MIN));
    assert_eq!(of(ElementType::U64, &u64::MAX.to_le_bytes()), Number::Unsigned(u64::MAX));
    assert_eq!(of(ElementType::F8E4M3Fn, &[0x7e]), Number::Float(448.0));
    assert_eq!(of(ElementType::F64, &1e300f64.to_le_bytes()), Number::Float(1e300));
    let parts = [1.5f32.to_le_bytes(), (-2f32).to_le_bytes()].concat();
    assert_eq!(of(ElementType::C64, &parts), Number::Complex(Complex64::new(1.5, -2.0)));
}

#[test]
fn as_rust_numbers() {
    assert_eq!(Number::Bool(true).as_f64(), Some(1.0));
    assert_eq!(Number::Unsigned(u64::MAX).as_integer(), Some(u64::MAX.into()));
    assert_eq!(Number::Float(1.0).as_integer(), None);
    assert_eq!(Number::Complex(Complex64::new(1.0, 0.0)).as_f64(), None);
}

/// Tuples, tokens and arrays without elements have no numbers.
#[test]
fn what_has_no_numbers() {
    let pair = Literal::tuple(vec![Literal::r0(1i32), Literal::token()]);
    for literal in [pair, Literal::token(), Literal::full(&[0, 2], 1u8).unwrap()] {
        assert_eq!(literal.number(&[]), None);
        assert_eq!(literal.numbers().count(), 0);
    }
}

#[test]
fn every_type_gives_the_numbers_that_it_was_made_of() {
    for &ty in ElementType::ALL {
        let array = ArrayShape::new(ty, [2, 3]).with_layout(Layout::new([0, 1]));
        let zeros = Literal::try_zeros(&Shape::Array(array)).unwrap();
        let numbers: Vec<_> = zeros.numbers().collect();
        assert_eq!(numbers.len(), 6, "{ty}");
        for (index, number) in numbers {
            assert_eq!(zeros.number(&index), Some(number), "{ty}");
            // The type of powers of two has no zero.
            let zero = if ty == ElementType::F8E8M0Fnu { 2f64.powi(-127) } else { 0.0 };
            let value = number.as_f64().or(match number {
                Number::Complex(z) => Some(z.norm()),
                _ => None,
            });
            assert_eq!(value, Some(zero), "{ty}");
        }
    }
}
