//! Tests of the types of a call.

use hlo_custom_call::{ArrayType, CallSite, Registry, ValueType};

fn array(element: &str, dims: &[usize], minor_to_major: &[usize]) -> ValueType {
    ValueType::Array(ArrayType {
        element: element.into(),
        element_bytes: 4,
        dims: dims.into(),
        minor_to_major: minor_to_major.into(),
    })
}

#[test]
fn types_that_lie_about_their_memory_are_refused() {
    // This target accepts all types.
    let mut registry = Registry::new();
    registry.register("any", |_| Ok(()));
    let site = |operand: ValueType| CallSite {
        target: "any".into(),
        operands: vec![operand],
        ..CallSite::default()
    };
    let fine = site(ValueType::Tuple(vec![array("f32", &[2, 3], &[0, 1]), ValueType::Token]));
    assert_eq!(registry.check(&fine), Ok(()));
    assert_eq!(fine.operands[0].to_string(), "(f32[2,3]{0,1}, token[])");
    assert_eq!(fine.operand_arrays()[0].strides(), [1, 2]);
    for wrong in [
        array("f64", &[2], &[0]),
        array("float", &[2], &[0]),
        array("f32", &[2, 3], &[1, 1]),
        array("f32", &[2, 3], &[0]),
        array("f32", &[2], &[1]),
        array("f32", &[usize::MAX, 0], &[1, 0]),
    ] {
        assert!(registry.check(&site(wrong.clone())).is_err(), "{wrong}");
    }
}
