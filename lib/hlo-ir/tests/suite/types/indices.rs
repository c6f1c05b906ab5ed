//! Tests of the indices of the elements of an array.

use hlo_ir::{ArrayShape, ElementType, unravel};

fn shape(dims: &[i64]) -> ArrayShape {
    ArrayShape::new(ElementType::F32, dims.iter().copied())
}

#[test]
fn indices_are_those_of_the_positions() {
    for dims in [&[][..], &[1], &[5], &[2, 3], &[3, 1, 2, 2, 2]] {
        let shape = shape(dims);
        let positions = (0..shape.element_count()).map(|position| unravel(position, dims));
        assert!(shape.indices().eq(positions), "{dims:?}");
        assert_eq!(shape.indices().len(), shape.element_count());
    }
}

#[test]
fn arrays_without_elements_have_no_indices() {
    for dims in [&[0][..], &[2, 0, 3], &[i64::MAX, 0, i64::MAX], &[-1], &[i64::MAX, i64::MAX]] {
        assert_eq!(shape(dims).indices().count(), 0, "{dims:?}");
    }
}
