//! Tests of shapes.

use hlo_ir::{ElementType, Shape, ShapePool};

#[test]
fn tuples_that_are_equal_are_shared() {
    let nested = |depth: usize| {
        let leaf = Shape::array(ElementType::F32, [2]);
        (0..depth).fold(leaf, |inner, _| Shape::tuple(vec![inner, Shape::Token]))
    };
    let mut pool = ShapePool::default();
    let (inner, outer) = (pool.share(nested(3)), pool.share(nested(4)));
    assert_eq!(outer, nested(4));
    let (Shape::Tuple(inner), Some(Shape::Tuple(part))) = (&inner, outer.part(&[0])) else {
        panic!("tuples")
    };
    assert!(std::ptr::eq(inner.as_ptr(), part.as_ptr()));
    // Changing the shared list copies it.
    let mut changed = inner.clone();
    changed[1] = Shape::Opaque;
    assert_eq!(part[1], Shape::Token);
    assert_ne!(&changed, part);
}
