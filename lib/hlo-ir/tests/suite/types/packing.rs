//! Tests of packing of several elements into a byte.

use hlo_ir::{ArrayShape, ElementType, Layout, LayoutItems, Packing};

#[test]
fn elements_are_packed_from_the_lowest_bits_on() {
    let items = LayoutItems { element_size_bits: 4, ..LayoutItems::default() };
    let layout = Layout::row_major(1).with_items(items);
    let array = ArrayShape::new(ElementType::S4, [3]).with_layout(layout.clone());
    let packing = Packing::of(&array).unwrap();
    let mut packed = [0; 2];
    packing.pack(&[1, 0xff, 0xf8], &mut packed);
    assert_eq!(packed, [0xf1, 0x08]);
    let mut elements = [0; 3];
    packing.unpack(&packed, &mut elements);
    assert_eq!(elements, [1, 0xff, 0xf8]);
    assert_eq!(Packing::of(&ArrayShape::new(ElementType::S8, [3]).with_layout(layout)), None);
}
