//! Tests of the target `trace`.

use hlo_custom_call::{ArrayType, CallSite, Registry, TRACE, ValueType};
use hlo_ir::print::print_literal;
use std::sync::{Arc, Mutex};

#[test]
fn values_are_told_in_row_major_order_with_their_tag() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut registry = Registry::new();
    let to = told.clone();
    registry.set_tracer(move |tag, value| {
        to.lock().expect("no panic").push((tag.to_string(), print_literal(value, None)));
    });
    let array = |order: &[usize]| {
        ValueType::Array(ArrayType {
            element: "s32".into(),
            element_bytes: 4,
            dims: vec![2, 2],
            minor_to_major: order.to_vec(),
        })
    };
    let site = |operands: Vec<ValueType>| CallSite {
        target: TRACE.into(),
        config: b"x".to_vec(),
        operands,
        result: ValueType::Token,
        ..CallSite::default()
    };
    let bytes: Vec<u8> = [1, 2, 3, 4].into_iter().flat_map(i32::to_ne_bytes).collect();
    let one = registry.plan(site(vec![array(&[0, 1]), ValueType::Token])).expect("a token may come along");
    one.call_here(&[&bytes], &mut []).expect("traced");
    let two = registry.plan(site(vec![array(&[1, 0]), ValueType::Tuple(vec![array(&[0, 1])])]));
    two.expect("a tuple may be traced").call_here(&[&bytes, &bytes], &mut []).expect("traced");
    let expected = [
        ("x", "s32[2,2] { { 1, 3 }, { 2, 4 } }"),
        ("x", "(s32[2,2], (s32[2,2])) ( { { 1, 2 }, { 3, 4 } }, ( { { 1, 3 }, { 2, 4 } } ) )"),
    ];
    assert_eq!(*told.lock().expect("no panic"), expected.map(|(a, b)| (a.to_string(), b.to_string())));

    let wrong = CallSite { result: array(&[1, 0]), ..site(vec![]) };
    let error = registry.plan(wrong).expect_err("it has no result");
    assert_eq!(error.to_string(), "`trace`: gives a token, and no s32[2,2]");
}
