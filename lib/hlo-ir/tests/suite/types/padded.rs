//! Tests of layouts in the memory of a program.

use hlo_ir::{ElementType, HostLayout, Literal, PaddingValue, Shape};

fn padding(value: PaddingValue, ty: ElementType) -> Result<Vec<u8>, String> {
    let array = Literal::try_zeros(&Shape::array(ty, [1])).expect("memory");
    let memory = HostLayout::new([0]).padded([2], value).write(&array).map_err(|e| e.to_string())?;
    Ok(memory[ty.byte_size()..].to_vec())
}

/// The example in "Minor-to-major dimension ordering" of the preview.
#[test]
fn the_order_of_dimensions_is_the_one_that_is_named() {
    let array = Literal::r2(&[*b"abc", *b"def"]);
    assert_eq!(&*HostLayout::new([0, 1]).write(&array).unwrap(), b"adbecf");
    assert_eq!(&*HostLayout::new([1, 0]).write(&array).unwrap(), b"abcdef");
}

/// The example in "Padding" of the preview: the padded array determines the order of the elements.
#[test]
fn a_padded_array_lies_as_the_larger_array_with_padding_in_it() {
    let array = Literal::r2(&[*b"abc", *b"def"]);
    let padded = HostLayout::new([0, 1]).padded([3, 5], PaddingValue::Zero).write(&array).unwrap();
    let larger = Literal::r2(&[*b"abc\0\0", *b"def\0\0", *b"\0\0\0\0\0"]);
    assert_eq!(padded, HostLayout::new([0, 1]).write(&larger).unwrap());
    let rows = HostLayout::new([1, 0]).padded([3, 5], PaddingValue::One).write(&array).unwrap();
    assert_eq!(&*rows, b"abc\x01\x01def\x01\x01\x01\x01\x01\x01\x01");
}

#[test]
fn paddings_are_values_of_the_element_type() {
    use ElementType::{Bf16, C64, F8E4M3Fn, F8E4M3Fnuz, F8E8M0Fnu, F32, Pred, S4, S8, S16, U2, U16};
    use PaddingValue::{Highest, Lowest, One, Zero};
    let all = [
        (Zero, F32, 0f32.to_le_bytes().to_vec()),
        (One, F32, 1f32.to_le_bytes().to_vec()),
        (Lowest, F32, f32::NEG_INFINITY.to_le_bytes().to_vec()),
        (Highest, Bf16, half::bf16::INFINITY.to_le_bytes().to_vec()),
        // 448, -240 and 2^-127: types without infinity.
        (Highest, F8E4M3Fn, vec![0x7e]),
        (Lowest, F8E4M3Fnuz, vec![0xff]),
        (Lowest, F8E8M0Fnu, vec![0]),
        (Lowest, S8, vec![0x80]),
        (Highest, S8, vec![0x7f]),
        (Lowest, S4, vec![0xf8]),
        (Highest, S4, vec![7]),
        (Highest, U2, vec![3]),
        (Lowest, U16, vec![0, 0]),
        (Highest, S16, vec![0xff, 0x7f]),
        (Highest, Pred, vec![1]),
        (One, C64, [1f32.to_le_bytes(), 0f32.to_le_bytes()].concat()),
    ];
    for (value, ty, expected) in all {
        assert_eq!(padding(value, ty), Ok(expected), "{value:?} {ty}");
    }
    assert!(padding(Lowest, C64).is_err());
}

#[test]
fn what_does_not_fit_is_refused() {
    let array = Literal::r2(&[[1i32, 2, 3], [4, 5, 6]]);
    let refused = |layout: HostLayout| layout.write(&array).map(drop).map_err(|e| e.to_string());
    let order = |order: &str| Err(format!("{order} is no order of the 2 dimensions of s32[2,3]"));
    assert_eq!(refused(HostLayout::new([0])), order("[0]"));
    assert_eq!(refused(HostLayout::new([0, 0])), order("[0, 0]"));
    assert_eq!(refused(HostLayout::new([0, 2])), order("[0, 2]"));
    let pad =
        |sizes: &[i64]| refused(HostLayout::new([0, 1]).padded(sizes.iter().copied(), PaddingValue::Zero));
    assert!(pad(&[2]).unwrap_err().contains("expected 2 padded dimensions"));
    assert!(pad(&[2, 2]).unwrap_err().contains("more than the 2 that it is padded to"));
    assert!(pad(&[i64::MAX, i64::MAX]).unwrap_err().contains("larger than memory can be"));
    assert!(pad(&[2, 1 << 58]).is_err());
    assert!(HostLayout::new([]).write(&Literal::token()).is_err());
    assert!(HostLayout::new([0, 1]).read(&[0; 20], array.shape()).is_err());
    let read = HostLayout::new([0]).read(&[1, 2], &Shape::array(ElementType::Pred, [2]));
    assert_eq!(read.unwrap_err().to_string(), "element 1 of pred[2]: the byte 0x02 is no value of its type");
}

#[test]
fn arrays_of_any_rank_go_there_and_back() {
    let scalar = Literal::r0(7i64);
    let layout = HostLayout::new([]);
    assert_eq!(layout.read(&layout.write(&scalar).unwrap(), scalar.shape()).unwrap(), scalar);
    let empty = Literal::r2::<f32, 0>(&[[], []]);
    let layout = HostLayout::new([1, 0]).padded([2, 4], PaddingValue::Highest);
    let memory = layout.write(&empty).unwrap();
    assert_eq!(memory.len(), 32);
    assert_eq!(layout.read(&memory, empty.shape()).unwrap(), empty);
    let numbers: Vec<i16> = (0..24).collect();
    let cube = Literal::from_values(&[2, 3, 4], &numbers).unwrap();
    let layout = HostLayout::new([1, 2, 0]).padded([2, 5, 4], PaddingValue::Lowest);
    assert_eq!(layout.read(&layout.write(&cube).unwrap(), cube.shape()).unwrap(), cube);
}
