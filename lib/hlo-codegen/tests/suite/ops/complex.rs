//! Tests of functions of complex numbers near the ends of the range. `bench/ulp` measures errors in general,
//! and its tests compare them with the table in docs/numerics.md.

use super::Compiled;
use hlo_ir::{ElementType, Op};

#[test]
fn neither_the_absolute_value_nor_a_quotient_overflows_early() {
    let z = [3e38f32, 2e37, 3e-40, 4e-40, f32::INFINITY, f32::NAN, 0.0, 0.0];
    let abs: Vec<f32> = Compiled::new(Op::Abs, ElementType::F32, &[ElementType::C64]).on(&[&z]);
    assert!((abs[0] / 3.0066593e38 - 1.0).abs() < 1e-6, "{}", abs[0]);
    assert!((abs[1] / 5e-40 - 1.0).abs() < 1e-5, "{}", abs[1]);
    assert_eq!((abs[2], abs[3]), (f32::INFINITY, 0.0));
    let x = [3e38f32, 3e38, 1e-38, 0.0, 1.0, 2.0, 0.0, 0.0];
    let y = [3e38f32, 3e38, 1e-38, 1e-38, 0.0, 0.0, 0.0, 0.0];
    let q: Vec<f32> =
        Compiled::new(Op::Divide, ElementType::C64, &[ElementType::C64; 2]).on(&[x.as_slice(), &y]);
    assert_eq!(q[..2], [1.0, 0.0]);
    assert_eq!(q[2..4], [0.5, -0.5]);
    assert_eq!(q[4..6], [f32::INFINITY, f32::INFINITY]);
    assert!(q[6].is_nan() && q[7].is_nan());
}
