//! Transfers of arrays between a program's memory and a device.

use hlo_client::{Buffer, Client};
use hlo_ir::{ElementType, HostLayout, Layout, Literal, PaddingValue, Shape};
use std::sync::Arc;

/// The examples of "Shapes and layout" in the preview: a 2x3 array in each order of dimensions, with and
/// without padding.
#[test]
fn arrays_come_and_go_in_any_order_of_dimensions_with_padding_or_without() {
    let client = Client::local();
    let array = Literal::r2(&[*b"abc", *b"def"]);
    let row_major = Shape::array(ElementType::U8, [2, 3]);
    let padded = HostLayout::new([0, 1]).padded([3, 5], PaddingValue::Zero);
    let on_device = client.transfer_to_laid_out(b"ad\0be\0cf\0\0\0\0\0\0\0", &padded, &row_major).unwrap();
    assert_eq!(on_device.bytes().unwrap(), b"abcdef");
    assert_eq!(client.transfer_from(&on_device).unwrap(), array);
    let column_major = row_major.as_array().unwrap().clone().with_layout(Layout::new([0, 1])).into();
    let turned = client.transfer_to_layout(&array, &column_major).unwrap();
    assert_eq!(turned.bytes().unwrap(), b"adbecf");
    for buffer in [&on_device, &turned] {
        let out = |layout: &HostLayout| client.transfer_from_laid_out(buffer, layout).unwrap().to_vec();
        assert_eq!(out(&padded), b"ad\0be\0cf\0\0\0\0\0\0\0");
        assert_eq!(out(&HostLayout::new([1, 0])), b"abcdef");
        assert_eq!(out(&HostLayout::new([0, 1])), b"adbecf");
    }
    let short = client.transfer_to_laid_out(b"ad", &padded, &row_major).unwrap_err().to_string();
    assert_eq!(short, "u8[2,3] takes 15 bytes in this layout, found 2");
    assert!(client.transfer_to(&Literal::tuple(vec![array])).is_err());
}

#[test]
fn elements_of_an_owner_are_not_copied_on_either_way() {
    let owner: Arc<[u128]> = Arc::from([1u128, 2]);
    let shape = Shape::array(ElementType::C128, [2]);
    let buffer = Buffer::from_owner(owner.clone(), &shape).unwrap();
    assert_eq!(buffer.bytes().unwrap().as_ptr(), owner.as_ptr().cast());
    let value = buffer.to_literal().unwrap();
    assert_eq!(value.bytes().as_ptr(), owner.as_ptr().cast());
    assert_eq!(Arc::strong_count(&owner), 2);
    drop((buffer, value));
    assert_eq!(Arc::strong_count(&owner), 1);
}

#[test]
fn elements_that_are_none_of_the_shape_are_refused() {
    let array = |ty, dims: &[i64]| Shape::array(ty, dims.iter().copied());
    let error = |made: Result<Buffer, hlo_client::Error>| made.unwrap_err().to_string();
    assert_eq!(
        error(Buffer::from_slice(&[1f32; 3], &array(ElementType::F32, &[2, 2]))),
        "an array of shape f32[2,2] takes 16 bytes, found 12"
    );
    assert_eq!(
        error(Buffer::from_slice(&[1f64; 2], &array(ElementType::F32, &[4]))),
        "an element of f32[4] has 4 bytes, one of `f64` has 8"
    );
    assert_eq!(
        error(Buffer::from_owner(vec![1u8, 0, 2], &array(ElementType::Pred, &[3]))),
        "element 2 of pred[3]: the byte 0x02 is no value of pred"
    );
    assert!(Buffer::from_slice(&[7i8, -8], &array(ElementType::S4, &[2])).is_ok());
    assert!(
        error(Buffer::from_slice(&[8i8], &array(ElementType::S4, &[1]))).contains("0x08 is no value of s4")
    );
    assert!(
        error(Buffer::from_slice(&[16u8], &array(ElementType::U4, &[1]))).contains("0x10 is no value of u4")
    );
    assert!(error(Buffer::from_slice::<u8>(&[], &Shape::Token)).contains("found token[]"));
    let numbers = Buffer::from_slice(&[1i32, 2], &array(ElementType::S32, &[2])).unwrap();
    assert_eq!(numbers.elements::<u32>().unwrap(), [1, 2]);
    assert_eq!(numbers.elements::<u8>().unwrap().len(), 8);
    assert!(numbers.elements::<u64>().is_err());
}
