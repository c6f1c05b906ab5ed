//! Tests of conversion between literals and buffers.

use hlo_ir::laid_out::{first_odd_byte, from_buffer, in_buffer, of_buffer, to_buffer};
use hlo_ir::{AlignedBytes, ArrayShape, ElementType, Layout, LayoutItems, Literal, Shape};
use std::sync::Arc;

#[test]
fn packed_there_and_back() {
    let items = LayoutItems { element_size_bits: 4, ..LayoutItems::default() };
    let layout = Layout::new([0, 1]).with_items(items);
    let shape = ArrayShape::new(ElementType::S4, [2, 2]).with_layout(layout);
    let literal = Literal::from_elements(Shape::array(ElementType::S4, [2, 2]), &[1i8, 2, -3, 4]);
    let buffer = to_buffer(&literal, &Shape::Array(shape.clone())).unwrap();
    assert_eq!(&buffer[..], [0xd1, 0x42]);
    assert_eq!(from_buffer(buffer, &shape).bytes(), literal.bytes());
}

#[test]
fn bytes_that_no_type_has_are_found() {
    let odd = |ty, bytes: &[u8]| first_odd_byte(&ArrayShape::new(ty, [4]), bytes);
    assert_eq!(odd(ElementType::Pred, &[0, 1, 1, 0]), None);
    assert_eq!(odd(ElementType::Pred, &[0, 1, 2]), Some(2));
    assert_eq!(odd(ElementType::S4, &[7, 0xf8]), None);
    assert_eq!(odd(ElementType::S4, &[8]), Some(0));
    assert_eq!(odd(ElementType::U2, &[3, 4]), Some(1));
    assert_eq!(odd(ElementType::U8, &[255]), None);
    assert_eq!(odd(ElementType::F32, &[255; 4]), None);
    let items = LayoutItems { element_size_bits: 4, ..LayoutItems::default() };
    let packed = ArrayShape::new(ElementType::S4, [1]).with_layout(Layout::new([0]).with_items(items));
    assert_eq!(first_odd_byte(&packed, &[0x1f]), None);
}

#[test]
fn memory_of_another_size_is_no_value() {
    let shape = Shape::array(ElementType::F32, [2]);
    assert!(of_buffer(shape.clone(), Arc::new(AlignedBytes::zeroed(4))).is_none());
    assert!(of_buffer(shape, Arc::new(AlignedBytes::zeroed(8))).is_some());
    let tuple = Literal::tuple(vec![Literal::r0(1i32)]);
    assert!(in_buffer(&tuple, tuple.shape()).is_err());
}

#[test]
fn there_and_back() {
    let shape = ArrayShape::new(ElementType::S16, [2, 3]).with_layout(Layout::new([0, 1]));
    let literal = Literal::from_elements(Shape::array(ElementType::S16, [2, 3]), &[1i16, 2, 3, 4, 5, 6]);
    let buffer = to_buffer(&literal, &Shape::Array(shape.clone())).unwrap();
    let elements: Vec<u8> = buffer.iter().copied().step_by(2).collect();
    assert_eq!(elements, [1, 4, 2, 5, 3, 6]);
    assert_eq!(from_buffer(AlignedBytes::from_slice(&buffer), &shape).bytes(), literal.bytes());
}
