//! Tests of literals of Rust values.

use half::{bf16, f16};
use hlo_ir::laid_out::{from_buffer, to_buffer};
use hlo_ir::{AlignedBytes, ArrayShape, ElementType, Layout, Literal, NativeType};
use num_complex::{Complex32, Complex64};

#[test]
fn constructors_of_each_rank_agree_with_the_values_in_row_major_order() {
    let numbers: Vec<i32> = (0..24).collect();
    let cube = [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]];
    let rest = [[[12, 13, 14], [15, 16, 17]], [[18, 19, 20], [21, 22, 23]]];
    assert_eq!(Literal::r0(7u8), Literal::from_values(&[], &[7u8]).unwrap());
    assert_eq!(Literal::r1(&numbers), Literal::from_values(&[24], &numbers).unwrap());
    assert_eq!(Literal::r2(&cube[0]), Literal::from_values(&[2, 3], &numbers[..6]).unwrap());
    assert_eq!(Literal::r3(&cube), Literal::from_values(&[2, 2, 3], &numbers[..12]).unwrap());
    assert_eq!(Literal::r4(&[cube, rest]), Literal::from_values(&[2, 2, 2, 3], &numbers).unwrap());
    assert_eq!(Literal::r2::<f32, 0>(&[[], []]).shape().to_string(), "f32[2,0]");
}

#[test]
fn truth_values_are_bytes_of_0_and_1() {
    let literal = Literal::r1(&[true, false]);
    assert_eq!(literal.bytes(), [1, 0]);
    assert_eq!(literal.values::<bool>().unwrap().collect::<Vec<_>>(), [true, false]);
}

#[test]
fn what_does_not_fit_is_refused() {
    assert_eq!(Literal::from_values(&[2, 2], &[1, 2, 3]), None);
    assert_eq!(Literal::from_values(&[-1, -1], &[1]), None);
    assert_eq!(Literal::from_values::<u8>(&[i64::MAX, i64::MAX], &[]), None);
    assert_eq!(Literal::full(&[-2], 1.0f64), None);
    assert_eq!(Literal::full(&[2, 2], 1.5f64).unwrap().get::<f64>(&[1, 1]), Some(1.5));
    let matrix = Literal::r2(&[[1i64, 2], [3, 4]]);
    for index in [&[0, 2][..], &[-1, 0], &[0], &[0, 0, 0]] {
        assert_eq!(matrix.get::<i64>(index), None, "{index:?}");
    }
    assert_eq!(matrix.get::<u64>(&[0, 0]), None);
    assert_eq!(Literal::from_fn(&[-1, 0], |_| 0u8), None);
    assert_eq!(Literal::from_fn(&[1 << 40, 1 << 40], |_| 0u8), None);
    assert_eq!(Literal::token().get::<i64>(&[]), None);
}

#[test]
fn elements_are_written_by_index() {
    let mut matrix = Literal::r2(&[[1i64, 2], [3, 4]]);
    let before = matrix.clone();
    assert!(matrix.set(&[1, 0], 7i64));
    assert_eq!(matrix, Literal::r2(&[[1i64, 2], [7, 4]]));
    assert_eq!(before.get(&[1, 0]), Some(3i64), "a copy has its own elements");
    assert!(!matrix.set(&[2, 0], 7i64) && !matrix.set(&[1, 0], 7i32) && !Literal::token().set(&[], 0i64));
}

/// Calls a generic function with the Rust type of each element type.
macro_rules! of_all_types {
    ($call:ident) => {{
        use hlo_ir::narrow::*;
        [
            $call::<bool>(|n| n % 2 == 0),
            $call::<i8>(|n| n as i8 - 6),
            $call::<i16>(|n| n as i16 - 6),
            $call::<i32>(|n| n as i32 - 6),
            $call::<i64>(|n| n - 6),
            $call::<u8>(|n| n as u8),
            $call::<u16>(|n| n as u16),
            $call::<u32>(|n| n as u32),
            $call::<u64>(|n| n as u64),
            $call::<f16>(|n| f16::from_f64(n as f64 / 2.0)),
            $call::<bf16>(|n| bf16::from_f64(n as f64 / 2.0)),
            $call::<f32>(|n| n as f32 / 2.0),
            $call::<f64>(|n| n as f64 / 2.0),
            $call::<Complex32>(|n| Complex32::new(n as f32, -1.0)),
            $call::<Complex64>(|n| Complex64::new(n as f64, -1.0)),
            $call::<S1>(|n| S1::wrapping(n as i8)),
            $call::<S2>(|n| S2::wrapping(n as i8)),
            $call::<S4>(|n| S4::wrapping(n as i8)),
            $call::<U1>(|n| U1::wrapping(n as u8)),
            $call::<U2>(|n| U2::wrapping(n as u8)),
            $call::<U4>(|n| U4::wrapping(n as u8)),
            $call::<F8E5M2>(|n| F8E5M2::from_f64(n as f64)),
            $call::<F8E4M3>(|n| F8E4M3::from_f64(n as f64)),
            $call::<F8E4M3Fn>(|n| F8E4M3Fn::from_f64(n as f64)),
            $call::<F8E4M3B11Fnuz>(|n| F8E4M3B11Fnuz::from_f64(n as f64)),
            $call::<F8E3M4>(|n| F8E3M4::from_f64(n as f64)),
            $call::<F8E5M2Fnuz>(|n| F8E5M2Fnuz::from_f64(n as f64)),
            $call::<F8E4M3Fnuz>(|n| F8E4M3Fnuz::from_f64(n as f64)),
            $call::<F8E8M0Fnu>(|n| F8E8M0Fnu::from_f64(2f64.powi(n as i32))),
            $call::<F4E2M1Fn>(|n| F4E2M1Fn::from_f64(n as f64 / 2.0)),
            $call::<F6E3M2Fn>(|n| F6E3M2Fn::from_f64(n as f64 / 2.0)),
            $call::<F6E2M3Fn>(|n| F6E2M3Fn::from_f64(n as f64 / 2.0)),
        ]
    }};
}

/// A literal made by [`Literal::from_fn`] has these values at these indices, in any layout, and its
/// numbers are equal to them. The bytes are row-major.
fn values_are_at_their_indices<T: NativeType + PartialEq + std::fmt::Debug>(
    value: fn(i64) -> T,
) -> ElementType {
    let ty = T::ELEMENT_TYPE;
    let at = |index: &[i64]| value(index[0] * 6 + index[1] * 2 + index[2]);
    let literal = Literal::from_fn(&[2, 3, 2], at).unwrap();
    let flat: Vec<T> = (0..12).map(value).collect();
    assert_eq!(literal, Literal::from_values(&[2, 3, 2], &flat).unwrap(), "{ty}");
    for minor_to_major in [[0u32, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let shape = ArrayShape::new(ty, [2, 3, 2]).with_layout(Layout::new(minor_to_major));
        let laid_out = literal.clone().with_shape(shape.into());
        assert_eq!(laid_out.bytes(), literal.bytes(), "{ty}");
        assert!(laid_out.values::<T>().unwrap().eq(flat.iter().copied()), "{ty}");
        for (index, element) in laid_out.values::<T>().unwrap().indexed() {
            assert_eq!(element, at(&index), "{ty} {index:?}");
            assert_eq!(laid_out.get(&index), Some(element), "{ty} {index:?}");
            assert_eq!(laid_out.number(&index), Literal::r0(element).number(&[]), "{ty} {index:?}");
        }
    }
    ty
}

#[test]
fn every_element_type_has_a_native_type() {
    let types = of_all_types!(values_are_at_their_indices);
    for ty in ElementType::ALL {
        assert_eq!(types.iter().filter(|t| *t == ty).count(), 1, "{ty}");
    }
}

/// The examples of the preview's chapter on layouts: a literal is row-major in memory, and a buffer
/// follows the layout.
#[test]
fn the_layouts_of_the_preview() {
    let letters = Literal::r2(&[*b"abc", *b"def"]);
    for (minor_to_major, in_memory) in [([0, 1], b"adbecf"), ([1, 0], b"abcdef")] {
        let shape = ArrayShape::new(ElementType::U8, [2, 3]).with_layout(Layout::new(minor_to_major));
        let literal = letters.clone().with_shape(shape.clone().into());
        assert_eq!(literal.bytes(), b"abcdef");
        assert_eq!(literal.get(&[1, 0]), Some(b'd'));
        let buffer =
            to_buffer(&literal, literal.shape()).unwrap_or(AlignedBytes::from_slice(literal.bytes()));
        assert_eq!(&buffer[..], in_memory);
        assert_eq!(from_buffer(buffer, &shape), literal);
    }
}

#[test]
fn elements_know_their_indices_and_how_many_are_left() {
    let matrix = Literal::r2(&[[1i64, 2], [3, 4]]);
    let mut elements = matrix.values::<i64>().unwrap();
    assert_eq!(elements.next(), Some(1));
    assert_eq!(elements.len(), 3);
    let rest: Vec<(Vec<i64>, i64)> = elements.indexed().map(|(i, v)| (i.to_vec(), v)).collect();
    assert_eq!(rest, [(vec![0, 1], 2), (vec![1, 0], 3), (vec![1, 1], 4)]);
}
