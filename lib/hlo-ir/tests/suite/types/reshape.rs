//! Tests of the sizes of dynamic dimensions after a reshape.

use ReshapedSize::{Bound, Quotient, Same};
use hlo_ir::{ArrayShape, ElementType, ReshapedSize, reshaped_sizes};

fn sizes(from: &[i64], to: &[i64], inferred: Option<i64>) -> Result<Vec<ReshapedSize>, String> {
    // A negative size is that of a dynamic dimension.
    let shape = |dims: &[i64]| {
        let mut s = ArrayShape::new(ElementType::F32, dims.iter().map(|d| d.abs()));
        s.dynamic = dims.iter().map(|&d| d < 0).collect();
        s
    };
    let (from, to) = (shape(from), shape(to));
    reshaped_sizes(&from, &from.dynamic, &to, inferred)
}

#[test]
fn dimensions_are_kept_split_and_merged() {
    assert_eq!(sizes(&[3, -4], &[3, 1, -4], None), Ok(vec![Bound, Bound, Same(1)]));
    assert_eq!(sizes(&[1, -1, 2], &[-1, 2], None), Ok(vec![Same(1), Bound]));
    assert_eq!(sizes(&[-8], &[2, -4], None), Ok(vec![Bound, Quotient { of: 0..1, into: 0..2, by: 2 }]));
    assert_eq!(sizes(&[-4, 2, 5], &[-8, 5], None), Ok(vec![Quotient { of: 0..2, into: 0..1, by: 1 }, Bound]));
    assert_eq!(sizes(&[-4, -2], &[8], None), Ok(vec![Quotient { of: 0..2, into: 0..1, by: 1 }]));
    assert_eq!(sizes(&[-8], &[-2, -4], Some(0)), Ok(vec![Quotient { of: 0..1, into: 0..2, by: 4 }, Bound]));
    assert!(sizes(&[-8], &[-2, -4], None).is_err());
    assert!(sizes(&[-8], &[2, 4], None).is_err());
}

#[test]
fn no_dynamic_dimension_leaves_nothing_to_find() {
    assert_eq!(sizes(&[8], &[2, 4], None), Ok(vec![Bound, Bound]));
    assert_eq!(sizes(&[-8, 0], &[0], None), Ok(vec![Bound]));
}
