//! Tests of conversion between literals and arrays of the crate `ndarray`.

use half::bf16;
use hlo_ir::narrow::{F8E4M3Fn, S4};
use hlo_ir::ndarray::ConversionError;
use hlo_ir::{ArrayShape, ElementType, Layout, Literal};
use ndarray::{Array, Array2, ArrayView, Axis, Dimension, Ix0, Ix3, IxDyn, ShapeBuilder, arr0, s};

/// The numbers 0 to 23 as f32[2,3,4].
fn cube() -> Array<f32, Ix3> {
    Array::from_iter((0..24).map(|n| n as f32)).into_shape_with_order((2, 3, 4)).unwrap()
}

/// A literal of a view has the values of the view at its indices.
#[track_caller]
fn check<D: Dimension>(view: ArrayView<'_, f32, D>) {
    let literal = Literal::try_from(view.view()).unwrap();
    let view = view.into_dyn();
    let sizes: Vec<usize> =
        literal.shape().as_array().unwrap().dims.iter().map(|&size| size as usize).collect();
    assert_eq!(sizes, view.shape());
    for (index, value) in literal.values::<f32>().unwrap().indexed() {
        let index: Vec<usize> = index.iter().map(|&i| i as usize).collect();
        assert_eq!(view[IxDyn(&index)], value, "{index:?}");
    }
    assert_eq!(literal.to_ndarray::<f32>().unwrap(), view);
    assert_eq!(literal.ndarray_view::<f32>().unwrap(), view);
    assert!(literal.ndarray_view::<f32>().unwrap().is_standard_layout());
}

#[test]
fn views_of_any_strides() {
    let cube = cube();
    check(cube.view());
    check(cube.t());
    check(cube.view().permuted_axes([1, 2, 0]));
    check(cube.slice(s![.., 1.., ..;2]));
    check(cube.slice(s![..;-1, 1, ..;-3]));
    check(cube.index_axis(Axis(2), 3));
    check(cube.slice(s![.., 0..0, ..]));
    check(arr0(7.0f32).view());
    let row = Array::from_vec(vec![1.0f32, 2.0, 3.0]);
    check(row.broadcast((4, 2, 3)).unwrap());
    let columns = Array2::from_shape_vec((2, 3).f(), (0..6).map(|n| n as f32).collect()).unwrap();
    assert_eq!(columns[[1, 0]], 1.0, "the first dimension is the fastest");
    check(columns.view());
    assert_eq!(Literal::try_from(&columns).unwrap(), Literal::r2(&[[0.0f32, 2.0, 4.0], [1.0, 3.0, 5.0]]));
}

#[test]
fn types_that_lie_otherwise_in_literals() {
    let truth = ndarray::array![[true, false], [false, true]];
    let literal = Literal::try_from(truth.t()).unwrap();
    assert_eq!(literal.shape().to_string(), "pred[2,2]");
    assert_eq!(literal.bytes(), [1, 0, 0, 1]);
    assert_eq!(literal.to_ndarray::<bool>().unwrap(), truth.into_dyn());
    let small = Array::from_vec(vec![S4::MIN, S4::MAX]);
    let literal = Literal::try_from(&small).unwrap();
    assert_eq!(literal.bytes(), [0xf8, 7]);
    assert_eq!(literal.to_ndarray::<S4>().unwrap(), small.into_dyn());
}

#[test]
fn narrow_floats_have_views() {
    let halves = Array::from_vec(vec![bf16::ONE, bf16::MAX]);
    assert_eq!(Literal::try_from(&halves).unwrap().ndarray_view::<bf16>().unwrap(), halves.into_dyn());
    let eighths = Array::from_vec(vec![F8E4M3Fn::from_f64(1.5)]);
    let literal = Literal::try_from(&eighths).unwrap();
    assert_eq!(literal.ndarray_view::<F8E4M3Fn>().unwrap(), eighths.into_dyn());
}

#[test]
fn a_view_shares_memory_and_layouts_do_not_count() {
    let shape = ArrayShape::new(ElementType::S32, [2, 2]).with_layout(Layout::new([0, 1]));
    let literal = Literal::r2(&[[1i32, 2], [3, 4]]).with_shape(shape.into());
    let view = literal.ndarray_view::<i32>().unwrap();
    assert_eq!(view.as_ptr().cast::<u8>(), literal.bytes().as_ptr());
    assert_eq!(view[[1, 0]], 3);
}

#[test]
fn what_can_not_be_converted() {
    let message = |error: ConversionError| error.to_diag().message;
    let literal = Literal::r1(&[1i32, 2]);
    assert_eq!(
        message(literal.to_ndarray::<f32>().unwrap_err()),
        "elements of type f32 are expected, this is s32[2]"
    );
    let pair = Literal::tuple(vec![literal, Literal::token()]);
    assert_eq!(
        message(pair.ndarray_view::<i32>().unwrap_err()),
        "an array is expected, this is (s32[2], token[])"
    );
    let empty = Literal::full(&[1 << 40, 0, 1 << 40], 1.0f64).unwrap();
    assert_eq!(empty.to_ndarray::<f64>().unwrap_err(), ConversionError::Sizes(empty.shape().clone()));
    assert_eq!(empty.ndarray_view::<f64>().unwrap_err(), ConversionError::Sizes(empty.shape().clone()));
    let one: Array<f64, Ix0> = arr0(1.0);
    let enormous = Literal::try_from(one.broadcast((1 << 30, 1 << 32)).unwrap()).unwrap_err();
    assert_eq!(message(enormous), "there is no memory for f64[1073741824,4294967296]");
}
