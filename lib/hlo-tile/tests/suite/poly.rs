//! Tests of index expressions.

use hlo_tile::internals::{Poly, Rational};
use num_traits::Zero as _;

#[test]
fn affine_arithmetic_is_exact() {
    let (i, j) = (Poly::index(0), Poly::index(1));
    let half = i.plus(&j, -1).unwrap().times(Rational::new(1, 2)).unwrap();
    assert_eq!(half.coefficient(0), Rational::new(1, 2));
    assert_eq!(half.coefficient(1), Rational::new(-1, 2));
    let none = half.plus(&half, -1).unwrap();
    assert_eq!(none.as_constant(), Some(Rational::zero()));
    assert_eq!(half.indices().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn what_is_too_large_is_none() {
    assert!(Poly::constant(i64::MAX).is_none());
    let large = Poly::constant(1 << 59).unwrap();
    assert!(large.plus(&large, 1).is_none());
    assert!(large.times(Rational::from_integer(1 << 59)).is_none());
    assert!(Poly::index(0).times(Rational::new(1, 1 << 59)).unwrap().times(Rational::new(1, 4)).is_none());
}
