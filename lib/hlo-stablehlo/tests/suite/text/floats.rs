//! Printed floating-point numbers.

use hlo_stablehlo::Tree;
use hlo_stablehlo::text::print;
use hlo_stablehlo::tree::{Attribute, FloatType, Number};

/// Returns the text of the number with the given bits, as the value of an attribute.
fn text(bits: u64, ty: FloatType) -> String {
    let mut tree = Tree::new();
    tree.module.attributes.set("x", Attribute::Float(Number { bits, ty: ty.into() }));
    let printed = print(&tree);
    let value = printed.strip_prefix("module attributes {x = ").and_then(|rest| rest.split_once(" : "));
    value.unwrap_or_else(|| panic!("{printed}")).0.to_owned()
}

/// The expected texts are those of jaxlib 0.10.2.
#[test]
fn numbers_are_printed_as_mlir_does() {
    let f32s: [(f32, &str); 14] = [
        (0.1, "1.000000e-01"),
        (std::f32::consts::PI, "3.14159274"),
        (1.0e10, "1.000000e+10"),
        (123_456_789.0, "0x4CEB79A3"),
        (1.0e-40, "9.999940e-41"),
        (-0.0, "-0.000000e+00"),
        (3.0e38, "3.000000e+38"),
        (1.175_494_4e-38, "1.17549435E-38"),
        (f32::INFINITY, "0x7F800000"),
        (f32::NEG_INFINITY, "0xFF800000"),
        (1.0, "1.000000e+00"),
        (-2.5, "-2.500000e+00"),
        (0.0, "0.000000e+00"),
        (1000.0, "1.000000e+03"),
    ];
    for (value, expected) in f32s {
        assert_eq!(text(value.to_bits().into(), FloatType::F32), expected);
    }
    assert_eq!(text(std::f64::consts::PI.to_bits(), FloatType::F64), "3.1415926535897931");
    assert_eq!(text(0x7FC0_0000, FloatType::F64), "1.0589256339680216E-314");
    assert_eq!(text(0xFFFF, FloatType::BF16), "0xFFFF");
    assert_eq!(text(0x2E66, FloatType::F16), "9.997550e-02");
    assert_eq!(text(0x4248, FloatType::F16), "3.140630e+00");
    assert_eq!(text(0x1D, FloatType::F8E4M3FN), "1.015630e-01");
}
